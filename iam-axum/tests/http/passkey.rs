//! Passkeys: registration, logins and step-ups (`docs/http-api.md#second-factors`).

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::authenticator::codes;
use crate::factor::set_policy;
use crate::mail::kinds;
use crate::people::{PASSWORD, Person, claims, says};
use crate::request::{Response, members};
use crate::webauthn::{Authentication, BE, BS, Key, RP_ID, Registration, encode};

in_memory![
    a_passkey_is_registered_and_listed,
    the_options_of_a_registration_ask_for_a_passkey_that_verifies_its_user,
    a_later_passkey_comes_without_recovery_codes,
    a_passkey_finishes_a_login,
    a_passkey_logs_in_without_a_password,
    every_algorithm_is_accepted,
    a_passkey_authenticates_again,
    a_counter_that_falls_back_is_recorded,
    an_authenticator_without_a_counter_is_not_suspected,
    a_passkey_satisfies_a_tenant_that_requires_a_factor,
    the_options_of_a_login_name_the_passkeys_of_its_user,
    a_user_without_a_passkey_gets_options_that_nothing_answers,
    options_for_a_tenant_are_for_its_users,
    another_replica_finishes_a_ceremony,
    a_removed_passkey_is_refused,
    where_factors_are_off_no_passkey_is_registered,
    where_factors_are_off_a_former_passkey_still_logs_in,
    a_passkey_without_a_name_gets_one,
    an_app_a_passkey_and_recovery_codes_are_three_methods,
    without_a_relying_party_passkeys_are_503,
    missing_and_invalid_fields_are_named,
    the_user_is_told_of_a_new_passkey,
];

/// A software authenticator with one passkey.
pub(crate) struct Laptop {
    pub(crate) id: Vec<u8>,
    pub(crate) key: Key,
    pub(crate) handle: Vec<u8>,
    pub(crate) counter: u32,
    /// The identifier of the factor.
    pub(crate) factor: String,
    pub(crate) recovery_codes: Vec<String>,
}

impl Laptop {
    /// The response to the options of a login or a step-up.
    pub(crate) fn answer(&mut self, options: &Value) -> Value {
        self.answer_with(options, |_| {})
    }

    /// Does the same, and changes a part of the response before it is signed.
    pub(crate) fn answer_with(&mut self, options: &Value, change: impl FnOnce(&mut Authentication)) -> Value {
        self.counter += 1;
        let mut answer = Authentication::of(&self.id, options);
        answer.data.counter = self.counter;
        answer.user_handle = Some(self.handle.clone());
        change(&mut answer);
        answer.json(&self.key)
    }
}

impl TestApp {
    pub(crate) async fn options(&self, path: &str, person: &Person) -> Value {
        self.post(path).by(person).send().await.ok()
    }

    /// The response of a new passkey to the options of its registration.
    pub(crate) async fn new_passkey(&self, person: &Person) -> Value {
        let options = self.options("/auth/factors/passkeys/options", person).await;
        let key = Key::es256();
        let id = digest(&SHA256, &encode(&key.cose())).as_ref().to_vec();
        Registration::of(&key, &id, &options).json()
    }

    /// Registers a passkey with this key.
    pub(crate) async fn register_passkey(&self, person: &Person, key: Key) -> Laptop {
        let options = self.options("/auth/factors/passkeys/options", person).await;
        let id = digest(&SHA256, &encode(&key.cose())).as_ref().to_vec();
        let credential = Registration::of(&key, &id, &options).json();
        let body = json!({ "name": "Laptop", "credential": credential });
        let made = self.post("/auth/factors/passkeys").by(person).json(&body).send().await.created();
        let handle = URL_SAFE_NO_PAD.decode(options["user"]["id"].as_str().unwrap()).unwrap();
        let recovery_codes = if made["recoveryCodes"].is_array() { codes(&made) } else { Vec::new() };
        let factor = made["id"].as_str().unwrap().to_owned();
        Laptop { id, key, handle, counter: 0, factor, recovery_codes }
    }

    pub(crate) async fn passkey(&self, person: &Person) -> Laptop {
        self.register_passkey(person, Key::es256()).await
    }

    /// The options of a login that waits for a second factor.
    pub(crate) async fn login_options(&self, challenge: &str) -> Value {
        let body = json!({ "challenge": challenge });
        self.post("/auth/login/second-factor/options").json(&body).send().await.ok()
    }

    pub(crate) async fn answer_by_passkey(&self, challenge: &str, credential: &Value) -> Response {
        let body = json!({ "challenge": challenge, "credential": credential });
        self.post("/auth/login/second-factor").json(&body).send().await
    }

    /// The options of a login without a password.
    pub(crate) async fn passkey_options(&self, body: &Value) -> Value {
        self.post("/auth/passkeys/options").json(body).send().await.ok()
    }

    pub(crate) async fn log_in_by_passkey(&self, credential: &Value) -> Response {
        self.post("/auth/passkeys/login").json(&json!({ "credential": credential })).send().await
    }
}

async fn a_passkey_is_registered_and_listed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let laptop = app.passkey(&ada).await;
    assert_eq!(laptop.recovery_codes.len(), 10);
    let list = app.get("/auth/factors").by(&ada).send().await.ok();
    let factor = json!({
        "id": laptop.factor,
        "type": "passkey",
        "name": "Laptop",
        "createdAt": app.now(),
        "lastUsedAt": null,
    });
    assert_eq!(list, json!({ "data": [factor], "recoveryCodesLeft": 10 }));
    let entry = &app.history(&ada, &laptop.factor).await[0];
    says(entry, &ada, "CREATE", "FACTOR", &laptop.factor);
    assert_eq!(entry["newValue"], json!({ "type": "passkey", "name": "Laptop" }));
}

async fn the_options_of_a_registration_ask_for_a_passkey_that_verifies_its_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let laptop = app.passkey(&ada).await;
    let options = app.options("/auth/factors/passkeys/options", &ada).await;
    assert_eq!(options["rp"]["id"], RP_ID);
    assert_eq!(
        (&options["user"]["name"], &options["user"]["displayName"]),
        (&json!("ada@example.com"), &json!("Ada Lovelace"))
    );
    let selection = &options["authenticatorSelection"];
    assert_eq!((&selection["userVerification"], &selection["residentKey"]), (&json!("required"), &json!("required")));
    assert_eq!(options["attestation"], "none");
    let algorithms =
        options["pubKeyCredParams"].as_array().unwrap().iter().map(|offered| offered["alg"].as_i64().unwrap());
    let mut algorithms: Vec<i64> = algorithms.collect();
    algorithms.sort_unstable();
    assert_eq!(algorithms, [-257, -8, -7]);
    let excluded = &options["excludeCredentials"];
    assert_eq!(excluded[0]["id"], URL_SAFE_NO_PAD.encode(&laptop.id));
}

async fn a_later_passkey_comes_without_recovery_codes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    assert!(app.passkey(&ada).await.recovery_codes.is_empty());
    assert_eq!(app.factors(&ada).await, (vec!["Authenticator app".to_owned(), "Laptop".to_owned()], 10));
}

async fn a_passkey_finishes_a_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let answer = app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await;
    let problem = answer.problem("second-factor-required");
    assert_eq!(problem["methods"], json!(["passkey", "recovery-code"]));
    let challenge = problem["challenge"].as_str().unwrap();
    let options = app.login_options(challenge).await;
    assert_eq!(options["userVerification"], "required");
    let login = app.answer_by_passkey(challenge, &laptop.answer(&options)).await.ok();
    assert_eq!(members(&login), ["accessToken", "expiresIn", "refreshToken", "tokenType", "user"]);
    let session = Person::logged_in(&login);
    assert_eq!(claims(&session.access)["amr"], json!(["pwd", "pop", "mfa"]));
    let entry = &app.history(&ada, &session.session).await[0];
    assert_eq!(entry["metadata"], json!({ "method": "password+passkey" }));
    let list = app.get("/auth/factors").by(&session).send().await.ok();
    assert_eq!(list["data"][0]["lastUsedAt"], json!(app.now()));
}

async fn a_passkey_logs_in_without_a_password(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let options = app.passkey_options(&json!({})).await;
    assert_eq!((&options["allowCredentials"], &options["userVerification"]), (&json!([]), &json!("required")));
    let login = app.log_in_by_passkey(&laptop.answer(&options)).await.ok();
    let session = Person::logged_in(&login);
    assert_eq!((&session.user, &claims(&session.access)["amr"]), (&ada.user, &json!(["pop", "mfa"])));
    let entry = &app.history(&ada, &session.session).await[0];
    says(entry, &ada, "LOGIN", "SESSION", &session.session);
    assert_eq!(entry["metadata"], json!({ "method": "passkey" }));
}

async fn every_algorithm_is_accepted(app: TestApp) {
    for (number, key) in [Key::es256(), Key::eddsa(), Key::rs256()].into_iter().enumerate() {
        let ada = app.register(&format!("ada{number}@example.com")).await;
        let mut laptop = app.register_passkey(&ada, key).await;
        let options = app.passkey_options(&json!({})).await;
        app.log_in_by_passkey(&laptop.answer(&options)).await.ok();
    }
}

async fn a_passkey_authenticates_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    app.age(&ada).await;
    app.post("/auth/factors/recovery-codes").by(&ada).send().await.problem("insufficient-authentication");
    let options = app.options("/auth/step-up/options", &ada).await;
    let body = json!({ "credential": laptop.answer(&options) });
    app.post("/auth/step-up").by(&ada).json(&body).send().await.no_content();
    app.post("/auth/factors/recovery-codes").by(&ada).send().await.ok();
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!(me["amr"], json!(["pwd", "pop", "mfa"]));
    // The options work once.
    app.post("/auth/step-up").by(&ada).json(&body).send().await.problem("unauthorized");
}

async fn a_counter_that_falls_back_is_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for (counter, fell_back) in [(7, false), (7, true), (3, true), (8, false)] {
        let options = app.passkey_options(&json!({})).await;
        let answer = laptop.answer_with(&options, |answer| answer.data.counter = counter);
        let before = app.audit(&ada, &[("action", "PASSKEY_COUNTER")]).await.len();
        app.log_in_by_passkey(&answer).await.ok();
        let entries = app.audit(&ada, &[("action", "PASSKEY_COUNTER")]).await;
        assert_eq!(entries.len() - before, usize::from(fell_back), "{counter}");
    }
    let entries = app.audit(&ada, &[("action", "PASSKEY_COUNTER")]).await;
    says(&entries[0], &ada, "PASSKEY_COUNTER", "FACTOR", &laptop.factor);
    for (entry, sent) in entries.iter().zip([3, 7]) {
        assert_eq!(entry["metadata"], json!({ "targetUserId": ada.user, "before": 7, "after": sent }));
    }
}

async fn an_authenticator_without_a_counter_is_not_suspected(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for _ in 0..2 {
        let options = app.passkey_options(&json!({})).await;
        let answer = laptop.answer_with(&options, |answer| answer.data.counter = 0);
        app.log_in_by_passkey(&answer).await.ok();
    }
    assert!(app.audit(&ada, &[("action", "PASSKEY_COUNTER")]).await.is_empty());
}

async fn a_passkey_satisfies_a_tenant_that_requires_a_factor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    app.get("/users").by(&ada).send().await.needs_factor();
    let mut laptop = app.passkey(&ada).await;
    app.get("/users").by(&ada).send().await.ok();
    let options = app.passkey_options(&json!({})).await;
    let session = Person::logged_in(&app.log_in_by_passkey(&laptop.answer(&options)).await.ok());
    app.get("/users").by(&session).send().await.ok();
    app.delete(&format!("/auth/factors/{}", laptop.factor)).by(&session).send().await.problem("conflict");
}

async fn the_options_of_a_login_name_the_passkeys_of_its_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let laptops = [app.passkey(&ada).await, app.passkey(&ada).await];
    let challenge = app.challenge(&ada).await;
    let options = app.login_options(&challenge).await;
    let named = options["allowCredentials"].as_array().unwrap().iter().map(|allowed| allowed["id"].as_str().unwrap());
    let mut named: Vec<&str> = named.collect();
    named.sort_unstable();
    let mut expected = laptops.map(|laptop| URL_SAFE_NO_PAD.encode(laptop.id));
    expected.sort_unstable();
    assert_eq!(named, expected);
}

async fn a_user_without_a_passkey_gets_options_that_nothing_answers(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut elsewhere = app.passkey(&app.register("grace@example.org").await).await;
    app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    let options = app.login_options(&challenge).await;
    assert_eq!(options["allowCredentials"], json!([]));
    let invented = json!({ "challenge": format!("{challenge}x") });
    app.post("/auth/login/second-factor/options").json(&invented).send().await.problem("unauthorized");
    app.answer_by_passkey(&challenge, &elsewhere.answer(&options)).await.problem("unauthorized");
}

async fn options_for_a_tenant_are_for_its_users(app: TestApp) {
    let (ada, eve) = (app.register("ada@example.com").await, app.register("eve@example.org").await);
    let (mut of_ada, mut of_eve) = (app.passkey(&ada).await, app.passkey(&eve).await);
    let options = app.passkey_options(&json!({ "tenant": ada.tenant })).await;
    app.log_in_by_passkey(&of_eve.answer(&options)).await.problem("unauthorized");
    app.log_in_by_passkey(&of_ada.answer(&options)).await.ok();
    // For a tenant that does not exist there are options, too, but for nobody.
    for tenant in ["no-such-tenant", "00000000-0000-0000-0000-000000000000", "00000004-0000-7000-8000-000000001053"] {
        let options = app.passkey_options(&json!({ "tenant": tenant })).await;
        app.log_in_by_passkey(&of_ada.answer(&options)).await.problem("unauthorized");
    }
}

async fn another_replica_finishes_a_ceremony(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.restarted().await;
    let mut laptop = app.passkey(&ada).await;
    let options = app.passkey_options(&json!({})).await;
    other.log_in_by_passkey(&laptop.answer(&options)).await.ok();
    let challenge = other.challenge(&ada).await;
    let options = app.login_options(&challenge).await;
    other.answer_by_passkey(&challenge, &laptop.answer(&options)).await.ok();
}

async fn a_removed_passkey_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let options = app.passkey_options(&json!({})).await;
    app.delete(&format!("/auth/factors/{}", laptop.factor)).by(&ada).send().await.no_content();
    app.log_in_by_passkey(&laptop.answer(&options)).await.problem("unauthorized");
}

async fn where_factors_are_off_no_passkey_is_registered(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let options = app.options("/auth/factors/passkeys/options", &ada).await;
    set_policy(&app, &ada, "OFF", 7).await;
    app.post("/auth/factors/passkeys/options").by(&ada).send().await.problem("conflict");
    let credential = Registration::of(&Key::es256(), b"laptop", &options).json();
    let body = json!({ "credential": credential });
    app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await.problem("conflict");
}

async fn where_factors_are_off_a_former_passkey_still_logs_in(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    set_policy(&app, &ada, "OFF", 7).await;
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&laptop.answer(&options)).await.ok();
}

async fn a_passkey_without_a_name_gets_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "credential": app.new_passkey(&ada).await });
    let made = app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await.created();
    assert_eq!(made["name"], "Passkey");
}

async fn an_app_a_passkey_and_recovery_codes_are_three_methods(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.passkey(&ada).await;
    app.enrol(&ada).await;
    let answer = app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await;
    assert_eq!(answer.problem("second-factor-required")["methods"], json!(["totp", "passkey", "recovery-code"]));
}

async fn without_a_relying_party_passkeys_are_503(app: TestApp) {
    let app = app.with_settings(|settings| settings.relying_party = None).await;
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    app.post("/auth/factors/passkeys/options").by(&ada).send().await.problem("unavailable");
    app.post("/auth/step-up/options").by(&ada).send().await.problem("unavailable");
    app.post("/auth/passkeys/options").json(&json!({})).send().await.problem("unavailable");
    let body = json!({ "challenge": challenge });
    app.post("/auth/login/second-factor/options").json(&body).send().await.problem("unavailable");
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let answer = laptop.answer(&app.passkey_options(&json!({})).await);
    for credential in [json!({}), json!("x"), json!(null), json!({ "id": 7 })] {
        let body = json!({ "credential": credential });
        assert_eq!(app.post("/auth/passkeys/login").json(&body).send().await.invalid_fields(), ["credential"]);
        let register = app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await;
        assert_eq!(register.invalid_fields(), ["credential"]);
    }
    assert_eq!(app.post("/auth/passkeys/login").json(&json!({})).send().await.invalid_fields(), ["credential"]);
    let options = app.options("/auth/factors/passkeys/options", &ada).await;
    let credential = Registration::of(&Key::es256(), b"laptop", &options).json();
    let body = json!({ "credential": credential, "name": "" });
    assert_eq!(app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await.invalid_fields(), ["name"]);
    let challenge = app.challenge(&ada).await;
    let body = json!({ "challenge": challenge, "code": "000000", "credential": answer });
    let both = app.post("/auth/login/second-factor").json(&body).send().await;
    assert_eq!(both.invalid_fields(), ["credential"]);
    let body = json!({ "password": PASSWORD, "credential": answer });
    assert_eq!(app.post("/auth/step-up").by(&ada).json(&body).send().await.invalid_fields(), ["credential"]);
}

async fn the_user_is_told_of_a_new_passkey(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let laptop = app.passkey(&ada).await;
    assert_eq!(kinds(&app.mails().await), [(MailKind::FactorAdded, "ada@example.com")]);
    app.pass(TimeDelta::minutes(1));
    app.delete(&format!("/auth/factors/{}", laptop.factor)).by(&ada).send().await.no_content();
    assert_eq!(kinds(&app.mails().await), [(MailKind::FactorRemoved, "ada@example.com")]);
    // Flags that a synchronized passkey sets.
    let synchronized =
        Registration::of(&Key::es256(), b"phone", &app.options("/auth/factors/passkeys/options", &ada).await);
    assert_eq!(synchronized.data.flags & (BE | BS), 0);
}
