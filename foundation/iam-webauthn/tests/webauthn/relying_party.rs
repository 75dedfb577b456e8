//! The settings of a relying party.

use iam_webauthn::{RelyingParty, RelyingPartyError};

fn of(id: &str, origins: &[&str]) -> Result<RelyingParty, RelyingPartyError> {
    RelyingParty::new(id, "Example", origins.iter().copied())
}

#[test]
fn the_id_is_the_host_of_each_origin_or_a_parent_domain_of_it() {
    for (id, origins) in [
        ("example.com", vec!["https://example.com"]),
        ("example.com", vec!["https://login.example.com", "https://a.b.example.com:8443", "https://example.com"]),
        ("localhost", vec!["http://localhost", "http://localhost:8080", "https://localhost:8443"]),
        ("intranet", vec!["https://intranet"]),
        ("xn--bcher-kva.example", vec!["https://xn--bcher-kva.example:65535"]),
        ("3com.example", vec!["https://3com.example:1"]),
    ] {
        assert!(of(id, &origins).is_ok(), "{id}");
    }
}

#[test]
fn an_origin_outside_the_id_is_refused() {
    for (id, origin) in [
        ("example.com", "https://example.org"),
        ("example.com", "https://notexample.com"),
        ("login.example.com", "https://example.com"),
        ("Example.com", "https://example.com"),
        (".com", "https://example.com"),
        ("", "https://example.com"),
        ("https://example.com", "https://example.com"),
        ("example.com:8443", "https://example.com:8443"),
    ] {
        let expected = RelyingPartyError::Scope { origin: origin.to_owned(), id: id.to_owned() };
        assert_eq!(of(id, &[origin]), Err(expected));
    }
    assert!(of("example.com", &["https://example.com", "https://example.org"]).is_err());
}

#[test]
fn an_origin_that_browsers_do_not_accept_or_write_otherwise_is_refused() {
    for origin in [
        "",
        "example.com",
        "http://example.com",
        "http://sub.localhost",
        "http://127.0.0.1",
        "https://127.0.0.1",
        "https://[::1]",
        "https://",
        "https://example.com/",
        "https://example.com/login",
        "https://example.com?",
        "https://example.com#",
        "https://user@example.com",
        "https://Example.com",
        "HTTPS://example.com",
        "https://example.com.",
        "https://.example.com",
        "https://a..example.com",
        "https://-a.example.com",
        "https://a-.example.com",
        "https://a_b.example.com",
        "https://b\u{fc}cher.example.com",
        "https://*.example.com",
        "https://example.com:",
        "https://example.com:443",
        "https://example.com:0",
        "https://example.com:0443",
        "https://example.com:+1",
        "https://example.com:65536",
        "https://example.com:80:80",
        "http://localhost:80",
        " https://example.com",
        "wss://example.com",
        "null",
    ] {
        assert_eq!(of("example.com", &[origin]), Err(RelyingPartyError::Origin(origin.to_owned())));
    }
}

#[test]
fn labels_and_domains_have_a_maximum_length() {
    let label = |length| "a".repeat(length);
    assert!(of("example.com", &[&format!("https://{}.example.com", label(63))]).is_ok());
    assert!(of("example.com", &[&format!("https://{}.example.com", label(64))]).is_err());
    let domain = |last| format!("https://{}.{}.{}.{}.a", label(63), label(63), label(63), label(last));
    assert!(of("a", &[&domain(59)]).is_ok());
    assert!(of("a", &[&domain(60)]).is_err());
}

#[test]
fn ports_that_browsers_write_are_accepted() {
    assert!(of("example.com", &["https://example.com:80"]).is_ok());
    assert!(of("localhost", &["http://localhost:443"]).is_ok());
}

#[test]
fn a_relying_party_has_an_origin_and_a_name() {
    assert_eq!(of("example.com", &[]), Err(RelyingPartyError::NoOrigin));
    let unnamed = RelyingParty::new("example.com", " ", ["https://example.com"]);
    assert_eq!(unnamed, Err(RelyingPartyError::NoName));
}

#[test]
fn errors_name_the_setting() {
    let error = of("example.com", &["http://example.com"]).unwrap_err().to_string();
    assert!(error.contains("\"http://example.com\""), "{error}");
    let error = of("example.com", &["https://example.org"]).unwrap_err().to_string();
    assert!(error.contains("\"https://example.org\"") && error.contains("\"example.com\""), "{error}");
}
