//! Attacks on logins and registrations by passkeys. Each must be refused
//! (`docs/http-api.md#registering-a-passkey`, WebAuthn Level 3 §7).

use chrono::TimeDelta;
use iam_core::Caller;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::passkey::Laptop;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};
use crate::webauthn::{Authentication, BE, BS, Key, ORIGIN, Registration, UP, UV};

in_memory![
    a_forged_answer_does_not_log_in,
    a_forged_answer_does_not_finish_a_login,
    a_forged_answer_does_not_authenticate_again,
    a_forged_registration_is_refused,
    an_answer_works_once,
    an_answer_raced_on_two_replicas_logs_in_once,
    options_work_for_five_minutes,
    newer_options_of_a_login_end_the_older_ones,
    an_answer_to_another_purpose_is_refused,
    an_answer_to_the_options_of_another_user_is_refused,
    a_passkey_of_another_user_does_not_finish_a_login,
    a_passkey_belongs_to_one_user,
    registration_options_work_once,
    a_wrong_passkey_after_the_password_counts_like_a_wrong_code,
    a_wrong_passkey_without_a_password_locks_nobody_out,
    the_lock_of_wrong_passwords_does_not_refuse_a_passkey,
    a_suspended_user_or_tenant_cannot_log_in,
    invented_users_are_refused_alike,
];

/// What an attacker changes in an answer.
type Change = fn(&mut Authentication);
type ChangeOfRegistration = fn(&mut Registration);

/// Answers of which one part is wrong.
const FORGERIES: [(&str, Change); 9] = [
    ("another origin", |answer| answer.client_data["origin"] = json!("https://login.example.org")),
    ("another page in a frame", |answer| answer.client_data["crossOrigin"] = json!(true)),
    ("another relying party", |answer| answer.data.rp_id = "example.org".to_owned()),
    ("another challenge", |answer| answer.client_data["challenge"] = json!("A".repeat(43))),
    ("a registration", |answer| answer.client_data["type"] = json!("webauthn.create")),
    ("no user verification", |answer| answer.data.flags = UP),
    ("no user presence", |answer| answer.data.flags = UV),
    ("a passkey that became one that can be copied", |answer| answer.data.flags |= BE | BS),
    ("another user", |answer| answer.user_handle = Some(vec![7; 32])),
];

/// A laptop whose signatures are those of another key.
fn stolen(laptop: &Laptop) -> Laptop {
    let (id, handle, factor) = (laptop.id.clone(), laptop.handle.clone(), laptop.factor.clone());
    Laptop { id, key: Key::es256(), handle, counter: laptop.counter, factor, recovery_codes: Vec::new() }
}

async fn a_forged_answer_does_not_log_in(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for (forgery, change) in FORGERIES {
        let options = app.passkey_options(&json!({})).await;
        let answer = app.log_in_by_passkey(&laptop.answer_with(&options, change)).await;
        assert_eq!(answer.status(), 401, "{forgery}: {}", answer.text());
    }
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&stolen(&laptop).answer(&options)).await.problem("unauthorized");
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&laptop.answer(&options)).await.ok();
}

async fn a_forged_answer_does_not_finish_a_login(app: TestApp) {
    let app = app.with_settings(|settings| settings.lockout.failures = 100).await;
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for (forgery, change) in FORGERIES {
        let challenge = app.challenge(&ada).await;
        let options = app.login_options(&challenge).await;
        let answer = app.answer_by_passkey(&challenge, &laptop.answer_with(&options, change)).await;
        assert_eq!(answer.status(), 401, "{forgery}: {}", answer.text());
    }
    let challenge = app.challenge(&ada).await;
    let options = app.login_options(&challenge).await;
    app.answer_by_passkey(&challenge, &stolen(&laptop).answer(&options)).await.problem("unauthorized");
    // The ceremony is used up, and the challenge is not.
    app.answer_by_passkey(&challenge, &laptop.answer(&options)).await.problem("unauthorized");
    let options = app.login_options(&challenge).await;
    app.answer_by_passkey(&challenge, &laptop.answer(&options)).await.ok();
}

async fn a_forged_answer_does_not_authenticate_again(app: TestApp) {
    let app = app.with_settings(|settings| settings.lockout.failures = 100).await;
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for (forgery, change) in FORGERIES {
        let options = app.options("/auth/step-up/options", &ada).await;
        let body = json!({ "credential": laptop.answer_with(&options, change) });
        let answer = app.post("/auth/step-up").by(&ada).json(&body).send().await;
        assert_eq!(answer.status(), 401, "{forgery}: {}", answer.text());
    }
}

async fn a_forged_registration_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let forgeries: [(&str, ChangeOfRegistration); 7] = [
        ("another origin", |answer| answer.client_data["origin"] = json!("https://login.example.org")),
        ("another relying party", |answer| answer.data.rp_id = "example.org".to_owned()),
        ("another challenge", |answer| answer.client_data["challenge"] = json!("A".repeat(43))),
        ("a login", |answer| answer.client_data["type"] = json!("webauthn.get")),
        ("no user verification", |answer| answer.data.flags &= !UV),
        ("no user presence", |answer| answer.data.flags &= !UP),
        ("another identifier", |answer| answer.attested_id = b"other".to_vec()),
    ];
    for (forgery, change) in forgeries {
        let options = app.options("/auth/factors/passkeys/options", &ada).await;
        let mut answer = Registration::of(&Key::es256(), b"laptop", &options);
        change(&mut answer);
        let body = json!({ "credential": answer.json() });
        let answer = app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await;
        assert_eq!(answer.invalid_fields(), ["credential"], "{forgery}");
    }
    assert_eq!(app.factors(&ada).await, (vec![], 0));
}

async fn an_answer_works_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let answer = laptop.answer(&app.passkey_options(&json!({})).await);
    app.log_in_by_passkey(&answer).await.ok();
    app.log_in_by_passkey(&answer).await.problem("unauthorized");
    let challenge = app.challenge(&ada).await;
    let answer = laptop.answer(&app.login_options(&challenge).await);
    app.answer_by_passkey(&challenge, &answer).await.ok();
    app.answer_by_passkey(&challenge, &answer).await.problem("unauthorized");
    let second = app.challenge(&ada).await;
    app.login_options(&second).await;
    app.answer_by_passkey(&second, &answer).await.problem("unauthorized");
}

async fn an_answer_raced_on_two_replicas_logs_in_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let other = app.restarted().await;
    for _ in 0..4 {
        let body = json!({ "credential": laptop.answer(&app.passkey_options(&json!({})).await) });
        let (first, second) = tokio::join!(
            app.post("/auth/passkeys/login").json(&body).send_in_race(),
            other.post("/auth/passkeys/login").json(&body).send_in_race()
        );
        let mut answers = [first.status(), second.status()];
        answers.sort_unstable();
        assert_eq!(answers, [200, 401]);
    }
}

async fn options_work_for_five_minutes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let [first, second] = [app.passkey_options(&json!({})).await, app.passkey_options(&json!({})).await];
    let (registration, step_up) =
        (app.options("/auth/factors/passkeys/options", &ada).await, app.options("/auth/step-up/options", &ada).await);
    app.pass(TimeDelta::minutes(5) - TimeDelta::milliseconds(1));
    app.log_in_by_passkey(&laptop.answer(&first)).await.ok();
    app.pass(TimeDelta::milliseconds(1));
    app.log_in_by_passkey(&laptop.answer(&second)).await.problem("unauthorized");
    let body = json!({ "credential": laptop.answer(&step_up) });
    app.post("/auth/step-up").by(&ada).json(&body).send().await.problem("unauthorized");
    let body = json!({ "credential": Registration::of(&Key::es256(), b"phone", &registration).json() });
    let late = app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await;
    assert_eq!(late.invalid_fields(), ["credential"]);
}

async fn newer_options_of_a_login_end_the_older_ones(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let challenge = app.challenge(&ada).await;
    let [older, newer] = [app.login_options(&challenge).await, app.login_options(&challenge).await];
    app.answer_by_passkey(&challenge, &laptop.answer(&older)).await.problem("unauthorized");
    let newest = app.login_options(&challenge).await;
    app.answer_by_passkey(&challenge, &laptop.answer(&newer)).await.problem("unauthorized");
    let newest = (newest, app.login_options(&challenge).await).1;
    app.answer_by_passkey(&challenge, &laptop.answer(&newest)).await.ok();
}

async fn an_answer_to_another_purpose_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let step_up = app.options("/auth/step-up/options", &ada).await;
    app.log_in_by_passkey(&laptop.answer(&step_up)).await.problem("unauthorized");
    let login = app.passkey_options(&json!({})).await;
    let body = json!({ "credential": laptop.answer(&login) });
    app.post("/auth/step-up").by(&ada).json(&body).send().await.problem("unauthorized");
    let challenge = app.challenge(&ada).await;
    app.answer_by_passkey(&challenge, &laptop.answer(&login)).await.problem("unauthorized");
    app.answer_by_passkey(&challenge, &laptop.answer(&step_up)).await.problem("unauthorized");
}

async fn an_answer_to_the_options_of_another_user_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let step_up = app.options("/auth/step-up/options", &grace).await;
    let body = json!({ "credential": laptop.answer(&step_up) });
    app.post("/auth/step-up").by(&ada).json(&body).send().await.problem("unauthorized");
    let registration = app.options("/auth/factors/passkeys/options", &grace).await;
    let body = json!({ "credential": Registration::of(&Key::es256(), b"phone", &registration).json() });
    let refused = app.post("/auth/factors/passkeys").by(&ada).json(&body).send().await;
    assert_eq!(refused.invalid_fields(), ["credential"]);
}

async fn a_passkey_of_another_user_does_not_finish_a_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let (_, mut of_grace) = (app.passkey(&ada).await, app.passkey(&grace).await);
    let challenge = app.challenge(&ada).await;
    let options = app.login_options(&challenge).await;
    app.answer_by_passkey(&challenge, &of_grace.answer(&options)).await.problem("unauthorized");
    let options = app.login_options(&challenge).await;
    // Not even under the name of Ada.
    let handle = app.passkey(&ada).await.handle;
    let forged = of_grace.answer_with(&options, |answer| answer.user_handle = Some(handle));
    app.answer_by_passkey(&challenge, &forged).await.problem("unauthorized");
}

async fn a_passkey_belongs_to_one_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let eve = app.register("eve@example.org").await;
    let register = async |person: &Person| {
        let options = app.options("/auth/factors/passkeys/options", person).await;
        let body = json!({ "credential": Registration::of(&Key::es256(), b"shared", &options).json() });
        app.post("/auth/factors/passkeys").by(person).json(&body).send().await
    };
    register(&ada).await.created();
    assert_eq!(register(&ada).await.invalid_fields(), ["credential"]);
    register(&grace).await.problem("conflict");
    // The answer to a user of another tenant is the same. Who asks knows the identifier.
    let of_eve = register(&eve).await.detail("conflict");
    assert_eq!(of_eve, register(&grace).await.detail("conflict"));
}

async fn registration_options_work_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let options = app.options("/auth/factors/passkeys/options", &ada).await;
    let register = async |id: &[u8], change: fn(&mut Registration)| {
        let mut answer = Registration::of(&Key::es256(), id, &options);
        change(&mut answer);
        app.post("/auth/factors/passkeys").by(&ada).json(&json!({ "credential": answer.json() })).send().await
    };
    // A refused answer uses them up, too.
    assert_eq!(register(b"laptop", |answer| answer.data.flags &= !UV).await.invalid_fields(), ["credential"]);
    assert_eq!(register(b"laptop", |_| {}).await.invalid_fields(), ["credential"]);
}

async fn a_wrong_passkey_after_the_password_counts_like_a_wrong_code(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let laptop = app.passkey(&ada).await;
    for _ in 0..5 {
        let challenge = app.challenge(&ada).await;
        let options = app.login_options(&challenge).await;
        app.answer_by_passkey(&challenge, &stolen(&laptop).answer(&options)).await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
    let failures = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    assert_eq!(failures[failures.len() - 1]["metadata"]["reason"], "SECOND_FACTOR");
}

async fn a_wrong_passkey_without_a_password_locks_nobody_out(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for _ in 0..6 {
        let options = app.passkey_options(&json!({})).await;
        app.log_in_by_passkey(&stolen(&laptop).answer(&options)).await.problem("unauthorized");
    }
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&laptop.answer(&options)).await.ok();
    let failures = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    let found = |entry: &Value| (entry["metadata"]["reason"].clone(), entry["metadata"]["attemptCount"].clone());
    assert_eq!((failures.len(), found(&failures[0])), (6, (json!("SECOND_FACTOR"), json!(0))));
}

async fn the_lock_of_wrong_passwords_does_not_refuse_a_passkey(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, &ada.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&stolen(&laptop).answer(&options)).await.problem("unauthorized");
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&laptop.answer(&options)).await.ok();
    // It proves no password, and ends no lock.
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
}

async fn a_suspended_user_or_tenant_cannot_log_in(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let (mut of_ada, mut of_grace) = (app.passkey(&ada).await, app.passkey(&grace).await);
    app.set_status(&ada, &grace.user, "SUSPENDED").await;
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&of_grace.answer(&options)).await.problem("forbidden");
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&system).await.unwrap();
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&of_ada.answer(&options)).await.problem("forbidden");
    app.iam.tenants().reactivate(&system).await.unwrap();
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&of_ada.answer(&options)).await.ok();
    app.delete(&format!("/users/{}", grace.user)).by(&app.login_again(&mut of_ada).await).send().await.no_content();
    let options = app.passkey_options(&json!({})).await;
    app.log_in_by_passkey(&of_grace.answer(&options)).await.problem("unauthorized");
}

impl TestApp {
    async fn login_again(&self, laptop: &mut Laptop) -> Person {
        let options = self.passkey_options(&json!({})).await;
        Person::logged_in(&self.log_in_by_passkey(&laptop.answer(&options)).await.ok())
    }
}

async fn invented_users_are_refused_alike(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut laptop = app.passkey(&ada).await;
    let stranger = app.register("eve@example.org").await;
    let mut details = Vec::new();
    for handle in [None, Some(vec![]), Some(vec![1; 31]), Some(vec![1; 32])] {
        let options = app.passkey_options(&json!({})).await;
        assert_eq!(options["rpId"], json!(ORIGIN.trim_start_matches("https://login.")));
        let answer = laptop.answer_with(&options, |answer| answer.user_handle = handle);
        details.push(app.log_in_by_passkey(&answer).await.detail("unauthorized"));
    }
    let options = app.passkey_options(&json!({})).await;
    let other = app.passkey(&stranger).await.handle;
    let answer = laptop.answer_with(&options, |answer| answer.user_handle = Some(other));
    details.push(app.log_in_by_passkey(&answer).await.detail("unauthorized"));
    assert!(details.iter().all(|detail| *detail == details[0]), "{details:?}");
}
