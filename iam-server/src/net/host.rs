//! The name of the host that a request is for. A request that names none, several or an invalid one is refused: programs
//! before and behind the server would disagree about it.

use std::net::Ipv6Addr;

use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, Version, header};

/// Fails if the host of a request breaks the rules of its version of HTTP. The error names the rule.
pub(crate) fn check<B>(request: &Request<B>) -> Result<(), &'static str> {
    let mut values = request.headers().get_all(header::HOST).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err("must be given once");
    }
    if first.is_some_and(|value| host(value).is_none()) {
        return Err("must be a host name or an address, with or without a port");
    }
    match (request.version(), first) {
        (Version::HTTP_2 | Version::HTTP_3, host) => check_authority(request.uri().authority(), host),
        // RFC 9112 §3.2, also for a request with a whole URI in its first line.
        (Version::HTTP_11, None) => Err("is required"),
        // HTTP/1.0 does not know the header.
        _ => Ok(()),
    }
}

/// Checks the pseudo-header `:authority`, and the header `Host` if there is one (RFC 9113 §8.3.1).
fn check_authority(authority: Option<&Authority>, host: Option<&HeaderValue>) -> Result<(), &'static str> {
    let Some(authority) = authority else { return host.map(drop).ok_or("is required") };
    if !is_host(authority) {
        return Err("must be a host name or an address, with or without a port");
    }
    let is_same = |host: &HeaderValue| host.as_bytes().eq_ignore_ascii_case(authority.as_str().as_bytes());
    if host.is_none_or(is_same) { Ok(()) } else { Err("must be the same as :authority") }
}

fn host(value: &HeaderValue) -> Option<Authority> {
    value.to_str().ok()?.parse().ok().filter(is_host)
}

/// Whether an authority is a host with an optional port, and nothing else (RFC 9110 §7.2).
fn is_host(authority: &Authority) -> bool {
    let (text, host) = (authority.as_str(), authority.host());
    let is_address = host.strip_prefix('[').is_none_or(|rest| {
        let address = rest.strip_suffix(']').unwrap_or_default();
        address.parse::<Ipv6Addr>().is_ok()
    });
    let is_port = |rest: &str| match rest.strip_prefix(':') {
        Some("") => true,
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok(),
        None => rest.is_empty(),
    };
    // A user name before the host makes the text longer at its start.
    !host.is_empty() && is_address && text.strip_prefix(host).is_some_and(is_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(version: Version, uri: &str, hosts: &[&str]) -> Result<(), &'static str> {
        let mut request = Request::builder().version(version).uri(uri);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        check(&request.body(()).unwrap())
    }

    #[test]
    fn http_1_1_needs_exactly_one_valid_host() {
        for host in
            ["a", "a.example", "A.example:8080", "127.0.0.1", "127.0.0.1:80", "[::1]", "[2001:db8::1]:443", "a:"]
        {
            assert_eq!(checked(Version::HTTP_11, "/", &[host]), Ok(()), "{host}");
        }
        for hosts in [&[][..], &["a", "a"], &["a", "b"]] {
            assert!(checked(Version::HTTP_11, "/", hosts).is_err(), "{hosts:?}");
        }
        for host in [
            "",
            " ",
            "a b",
            "a/b",
            "a?b",
            "user@a",
            "user:secret@a",
            "http://a",
            "a:b",
            "a:80:80",
            "a:65536",
            "a:-1",
            ":80",
            "[::1",
            "::1",
            "[a]",
            "[]",
            "a, b",
            "a\tb",
            "ä",
        ] {
            assert!(checked(Version::HTTP_11, "/", &[host]).is_err(), "{host:?}");
        }
    }

    #[test]
    fn a_whole_uri_does_not_replace_the_host() {
        assert_eq!(checked(Version::HTTP_11, "http://a.example/health", &["b.example"]), Ok(()));
        assert!(checked(Version::HTTP_11, "http://a.example/health", &[]).is_err());
    }

    #[test]
    fn http_1_0_needs_no_host() {
        assert_eq!(checked(Version::HTTP_10, "/", &[]), Ok(()));
        assert_eq!(checked(Version::HTTP_10, "/", &["a"]), Ok(()));
        for hosts in [&["a", "a"][..], &["a b"]] {
            assert!(checked(Version::HTTP_10, "/", hosts).is_err(), "{hosts:?}");
        }
    }

    #[test]
    fn http_2_needs_an_authority_or_a_host() {
        for (uri, hosts) in
            [("https://a.example/", &[][..]), ("https://a.example/", &["A.example"]), ("/", &["a.example"])]
        {
            assert_eq!(checked(Version::HTTP_2, uri, hosts), Ok(()), "{uri} {hosts:?}");
        }
        for (uri, hosts) in [
            ("/", &[][..]),
            ("https://a.example/", &["b.example"]),
            ("https://a.example/", &["a.example", "a.example"]),
            ("https://user@a.example/", &[]),
        ] {
            assert!(checked(Version::HTTP_2, uri, hosts).is_err(), "{uri} {hosts:?}");
        }
    }
}
