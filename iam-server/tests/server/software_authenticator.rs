//! Passkeys of another implementation: python-fido2 (`authenticator.py`).

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::factor::{challenge, python};
use crate::process::{Home, Server};
use crate::store::Store;

/// The origin of the pages of the application.
const ORIGIN: &str = "https://app.example.com";

/// The host of the passkeys is that of the public URL.
fn serve(store: &Store) -> Server {
    store.iam_server().env("IAM_PUBLIC_URL", "https://example.com").env("IAM_WEBAUTHN_ORIGINS", ORIGIN).serve()
}

/// An authenticator with one passkey.
struct Authenticator {
    passkey: PathBuf,
}

impl Authenticator {
    fn in_home(home: &Home) -> Self {
        Self { passkey: home.path().join("passkey.json") }
    }

    fn create(&self, options: &Value, algorithm: &str, fault: Option<&str>) -> Value {
        self.run(options, &["create", algorithm, ORIGIN], fault)
    }

    fn get(&self, options: &Value, fault: Option<&str>) -> Value {
        self.run(options, &["get", ORIGIN], fault)
    }

    fn run(&self, options: &Value, arguments: &[&str], fault: Option<&str>) -> Value {
        let mut command = python();
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/authenticator.py"));
        command.arg(&self.passkey).args(arguments).args(fault);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        write!(process.stdin.take().unwrap(), "{options}").unwrap();
        let ended = process.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        serde_json::from_slice(&ended.stdout).unwrap()
    }
}

/// Registers a passkey for the user of this client, with one fault in the response.
fn register(
    client: &Client,
    authenticator: &Authenticator,
    algorithm: &str,
    fault: Option<&str>,
    status: u16,
) -> Value {
    let options = client.post("/api/v1/auth/factors/passkeys/options", &json!({})).expect(200);
    let credential = authenticator.create(&options, algorithm, fault);
    client.post("/api/v1/auth/factors/passkeys", &json!({ "name": algorithm, "credential": credential })).expect(status)
}

/// Logs in without a password, with one fault in the response.
fn log_in(client: &Client, authenticator: &Authenticator, fault: Option<&str>, status: u16) -> Value {
    let options = client.post("/api/v1/auth/passkeys/options", &json!({})).expect(200);
    let credential = authenticator.get(&options, fault);
    client.post("/api/v1/auth/passkeys/login", &json!({ "credential": credential })).expect(status)
}

#[test]
fn another_implementation_of_an_authenticator_logs_in_by_every_algorithm() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = serve(&store);
        let client = server.client();
        for (email, algorithm) in
            [("ada@example.com", "ES256"), ("bob@example.com", "EdDSA"), ("eve@example.com", "RS256")]
        {
            let home = Home::new();
            let authenticator = Authenticator::in_home(&home);
            let user = client.with_token(&client.register(email).access);
            register(&user, &authenticator, algorithm, None, 201);

            let login = log_in(&client, &authenticator, None, 200);
            let session = client.with_token(&text(&login["accessToken"]));
            assert_eq!(session.get("/api/v1/auth/me").expect(200)["amr"], json!(["pop", "mfa"]), "{algorithm}");

            let challenge = challenge(&client, email, PASSWORD);
            let path = "/api/v1/auth/login/second-factor";
            let options = client.post(&format!("{path}/options"), &json!({ "challenge": challenge })).expect(200);
            let credential = authenticator.get(&options, None);
            client.post(path, &json!({ "challenge": challenge, "credential": credential })).expect(200);

            let options = session.post("/api/v1/auth/step-up/options", &json!({})).expect(200);
            let credential = authenticator.get(&options, None);
            session.post("/api/v1/auth/step-up", &json!({ "credential": credential })).expect(204);
        }
    }
}

#[test]
fn a_faulty_response_of_another_implementation_is_refused() {
    let store = Store::sqlite();
    let server = serve(&store);
    let client = server.client();
    let ada = client.with_token(&client.register("ada@example.com").access);
    let home = Home::new();
    let authenticator = Authenticator::in_home(&home);
    let faults = ["origin", "challenge", "relying-party", "no-verification"];
    for fault in faults {
        let problem = register(&ada, &authenticator, "ES256", Some(fault), 400);
        assert_eq!(problem["errors"][0]["field"], "credential", "{fault}: {problem}");
    }
    register(&ada, &authenticator, "ES256", None, 201);
    for fault in faults.into_iter().chain(["key"]) {
        log_in(&client, &authenticator, Some(fault), 401);
    }
    log_in(&client, &authenticator, None, 200);
}
