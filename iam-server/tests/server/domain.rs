//! Domains, with a real name server.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, text};
use crate::process::{Process, clean_command, free_address};
use crate::store::Store;

/// A name server with these records of type TXT. It is killed when this is dropped.
struct NameServer(Process);

impl NameServer {
    fn start(address: SocketAddr, records: &[(&str, &str)]) -> Self {
        let mut command = clean_command(Path::new("dnsmasq"));
        command.args(["--no-daemon", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--bind-interfaces"]);
        command.args(["--local=/example/", "--pid-file="]);
        command.arg(format!("--listen-address={}", address.ip()));
        command.arg(format!("--port={}", address.port()));
        command.args(records.iter().map(|(name, value)| format!("--txt-record={name},{value}")));
        let server = Self(Process::start(command));
        server.0.log().wait_for_line("started");
        server
    }
}

fn add(client: &Client, domain: &str) -> Value {
    client.post("/api/v1/domains", &json!({ "domain": domain })).expect(201)
}

#[test]
fn a_domain_is_verified_by_its_record() {
    let (store, address) = (Store::sqlite(), free_address());
    let server = store.iam_server().env("IAM_DNS_SERVERS", address.to_string()).serve();
    let session = server.client().register("ada@acme.example");
    let client = server.client().with_token(&session.access);
    let domain = add(&client, "acme.example");
    let verify = || client.post_text(&format!("/api/v1/domains/{}/verify", text(&domain["id"])), "");
    let refusal = || text(&verify().expect(409)["detail"]);
    let [name, value] = ["name", "value"].map(|member| text(&domain["record"][member]));

    assert!(refusal().starts_with("The record could not be looked up: the name servers "));
    let empty = NameServer::start(address, &[]);
    assert_eq!(refusal(), "There is no record of type TXT with this name. New records may take an hour.");
    drop(empty);
    let other = NameServer::start(address, &[(&name, "iam-domain=other")]);
    assert_eq!(refusal(), "The record has another value: \"iam-domain=other\".");
    drop(other);
    // A record of 500 characters does not fit into an answer without EDNS, or into one string.
    let long = "x".repeat(250);
    let long = format!("{long},{long}");
    let _published = NameServer::start(address, &[(&name, &long), (&name, &value)]);
    assert_eq!(verify().expect(200)["status"], "VERIFIED");
}

#[test]
fn the_operator_verifies_a_domain_without_a_record() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let session = server.client().register("ada@acme.example");
        let client = server.client().with_token(&session.access);
        let tenant = text(&client.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
        let verify = |tenant: &str, domain: &str| {
            store.iam_server().args(["domain", "verify", "--tenant", tenant, "--domain", domain]).run()
        };
        // It has the domain, or gets it.
        add(&client, "acme.example");
        for domain in ["ACME.example", "mail.acme.example"] {
            let verified = verify(&tenant, domain);
            assert_eq!(verified.code, Some(0), "{verified:?}");
        }
        let domains = client.get("/api/v1/domains").expect(200);
        let shown =
            |number: usize| (text(&domains["data"][number]["domain"]), text(&domains["data"][number]["status"]));
        let verified = |domain: &str| (domain.to_owned(), "VERIFIED".to_owned());
        assert_eq!([shown(0), shown(1)], ["acme.example", "mail.acme.example"].map(verified));

        let other = server.client().register("eve@other.example");
        let other = server.client().with_token(&other.access).get("/api/v1/auth/me").expect(200);
        let refused = verify(&text(&other["tenant"]["id"]), "acme.example");
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.log.contains("verified in another tenant"), "{refused:?}");
        let refused = verify(&tenant, "localhost");
        assert!(refused.log.contains("must be a domain of two labels or more"), "{refused:?}");
    }
}
