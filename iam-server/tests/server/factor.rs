//! Second factors, with an authenticator app of another implementation: pyotp.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::process::{Launch, clean_command};
use crate::store::Store;

/// Prints the code of an app: its URI, and how many steps after the present one. Where the step ends within five
/// seconds, it waits for the next one: the code must still be of the same step when the server checks it.
const PROGRAM: &str = "
import pyotp, sys, time
app = pyotp.parse_uri(sys.argv[1])
left = app.interval - time.time() % app.interval
if left < 5:
    time.sleep(left)
print(app.at(int(time.time()) + int(sys.argv[2]) * app.interval))
";

/// The Python that has the authenticators.
pub(crate) fn python() -> Command {
    let python = std::env::var_os("IAM_TEST_AUTHENTICATOR_PYTHON");
    clean_command(Path::new(&python.expect("run scripts/test or scripts/with-authenticator")))
}

/// An authenticator app with the secret of one factor.
pub(crate) struct Authenticator {
    pub(crate) id: String,
    uri: String,
    pub(crate) recovery_codes: Vec<String>,
}

impl Authenticator {
    /// Sets up an app for the user of this client, which is not confirmed.
    pub(crate) fn unconfirmed(client: &Client) -> Self {
        Self::scan(&client.post("/api/v1/auth/factors/totp", &json!({ "name": "Phone" })).expect(201))
    }

    /// Reads the URI of an answer.
    pub(crate) fn scan(setup: &Value) -> Self {
        Self { id: text(&setup["id"]), uri: text(&setup["uri"]), recovery_codes: Vec::new() }
    }

    /// Sets up an app for the user of this client, and confirms it by the code of the step before. So the present code
    /// is not used.
    pub(crate) fn of(client: &Client) -> Self {
        let mut app = Self::unconfirmed(client);
        let path = format!("/api/v1/auth/factors/totp/{}/confirm", app.id);
        let confirmed = client.post(&path, &json!({ "code": app.code(-1) })).expect(200);
        app.recovery_codes = confirmed["recoveryCodes"].as_array().unwrap().iter().map(text).collect();
        app
    }

    /// The secret, as a person types it.
    pub(crate) fn secret(&self) -> &str {
        let (_, secret) = self.uri.split_once("?secret=").unwrap();
        secret.split('&').next().unwrap()
    }

    /// The code that the app shows, some steps after the present one.
    pub(crate) fn code(&self, steps: i64) -> String {
        let ended = python().args(["-c", PROGRAM, &self.uri, &steps.to_string()]).output();
        let ended = ended.unwrap();
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }
}

/// Logs in with the right password of a user with a factor. Returns the challenge.
pub(crate) fn challenge(client: &Client, email: &str, password: &str) -> String {
    let problem = client.post("/api/v1/auth/login", &json!({ "email": email, "password": password })).expect(401);
    assert!(text(&problem["type"]).ends_with("/second-factor-required"), "{problem}");
    text(&problem["challenge"])
}

fn finish(client: &Client, proof: &Value, status: u16) -> Value {
    client.post("/api/v1/auth/login/second-factor", proof).expect(status)
}

#[test]
fn another_implementation_of_an_authenticator_app_logs_in() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register("ada@example.com").access);
        let app = Authenticator::of(&ada);
        let first = challenge(&client, "ada@example.com", PASSWORD);
        finish(&client, &json!({ "challenge": first, "code": "000000" }), 401);
        let code = app.code(0);
        let login = finish(&client, &json!({ "challenge": first, "code": code }), 200);
        let me = client.with_token(&text(&login["accessToken"])).get("/api/v1/auth/me").expect(200);
        assert_eq!(me["amr"], json!(["pwd", "otp", "mfa"]));

        // A restart changes neither the secret nor which steps were used.
        server.stop();
        let server = store.serve();
        let client = server.client();
        let second = challenge(&client, "ada@example.com", PASSWORD);
        finish(&client, &json!({ "challenge": second, "code": code }), 401);
        finish(&client, &json!({ "challenge": second, "code": app.code(1) }), 200);
        let third = challenge(&client, "ada@example.com", PASSWORD);
        finish(&client, &json!({ "challenge": third, "recoveryCode": app.recovery_codes[0] }), 200);
    }
}

/// 32 bytes in base64.
const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const OTHER_MASTER_KEY: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

#[test]
fn a_new_master_key_needs_no_new_app() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let app = Authenticator::of(&server.client().with_token(&server.client().register("ada@example.com").access));
        server.stop();
        let first = || store.iam_server().env("IAM_MASTER_KEY", MASTER_KEY);
        let second = || store.iam_server().env("IAM_MASTER_KEY", OTHER_MASTER_KEY);
        let reencrypt = |launch: Launch| assert_eq!(launch.args(["keys", "reencrypt"]).run().code, Some(0));
        let log_in = |launch: Launch, code: &str| {
            let server = launch.serve();
            let challenge = challenge(&server.client(), "ada@example.com", PASSWORD);
            finish(&server.client(), &json!({ "challenge": challenge, "code": code }), 200);
            server.stop();
        };
        reencrypt(first());
        log_in(first(), &app.code(0));
        reencrypt(second().env("IAM_FORMER_MASTER_KEY", MASTER_KEY));
        log_in(second(), &app.code(1));
    }
}
