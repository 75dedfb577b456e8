//! Logins with a second factor (`docs/http-api.md#a-login-with-a-factor`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_axum::Problem;
use iam_core::RequestContext;
use iam_core::mail::MailKind;
use iam_core::session::Login;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::authenticator::STEP;
use crate::mail::kinds;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, claims, profile};
use crate::request::members;

in_memory![
    a_right_password_gets_a_challenge_and_no_session,
    the_debug_text_of_the_answer_has_no_challenge,
    the_methods_are_those_that_the_user_has,
    a_code_finishes_the_login,
    a_recovery_code_finishes_a_login_once,
    a_recovery_code_may_be_typed_in_any_form,
    a_wrong_password_is_answered_as_without_a_factor,
    a_code_may_be_typed_with_blanks_and_dashes,
    what_is_not_six_digits_names_code_and_does_not_count,
    the_user_is_told_of_recovery_codes,
    a_code_is_accepted_one_step_early_or_late,
    the_same_code_is_refused_in_another_login,
    the_same_code_raced_on_two_replicas_logs_in_once,
    the_same_recovery_code_raced_on_two_replicas_logs_in_once,
    a_wrong_code_counts_like_a_wrong_password,
    a_wrong_recovery_code_counts_like_a_wrong_code,
    the_right_password_between_wrong_codes_does_not_reset_the_count,
    a_finished_login_resets_the_count,
    while_the_account_is_locked_the_right_code_is_refused,
    concurrent_guesses_of_codes_cannot_exceed_five,
    a_challenge_works_once,
    a_challenge_is_worth_five_tries,
    a_challenge_works_for_five_minutes,
    a_challenge_works_on_another_replica_and_after_a_restart,
    a_changed_password_ends_the_challenge,
    a_reset_password_ends_the_challenge,
    a_suspended_user_cannot_finish_a_login,
    a_deleted_user_cannot_finish_a_login,
    a_suspended_tenant_ends_every_challenge,
    invented_challenges_are_refused_alike,
    a_challenge_of_another_user_is_of_no_use,
    a_login_without_a_tenant_gets_a_challenge,
    either_of_two_apps_finishes_the_login,
    missing_and_invalid_fields_are_named,
    the_user_is_told_of_a_lock_by_wrong_codes,
    expired_challenges_are_removed,
];

async fn finish(app: &TestApp, challenge: &str, code: &str) -> Person {
    Person::logged_in(&app.answer(challenge, code).await.ok())
}

async fn a_right_password_gets_a_challenge_and_no_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let login = app.attempt_at(&ada.tenant, &ada.email, PASSWORD);
    let answer = app.unrecorded(&ada, login.send()).await;
    let problem = answer.problem("second-factor-required");
    assert_eq!(problem["methods"], json!(["totp", "recovery-code"]));
    assert_eq!(problem["expiresIn"], 300);
    assert!(problem["challenge"].as_str().unwrap().starts_with("iamc_"));
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    let sessions = app.get(&format!("/users/{}/sessions", ada.user)).by(&ada).send().await.ok();
    assert_eq!(sessions["data"].as_array().unwrap().len(), 1);
}

async fn the_debug_text_of_the_answer_has_no_challenge(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let login = Login { email: ada.email.clone(), password: PASSWORD.into(), tenant: Some(ada.tenant.clone()) };
    let error = app.iam.sessions().login(&RequestContext::default(), login).await.unwrap_err();
    assert!(!format!("{error:?}").contains("iamc_"));
    let problem = Problem::from(error);
    assert!(!format!("{problem:?}").contains("iamc_"));
}

async fn the_methods_are_those_that_the_user_has(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let methods = async || {
        let answer = app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await;
        answer.problem("second-factor-required")["methods"].clone()
    };
    for code in &authenticator.recovery_codes {
        assert_eq!(methods().await, json!(["totp", "recovery-code"]));
        let challenge = app.challenge(&ada).await;
        app.recover(&challenge, code).await.ok();
    }
    assert_eq!(methods().await, json!(["totp"]));
}

async fn a_code_finishes_the_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let plain = app.login(&ada).await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    let answer = app.answer(&challenge, &authenticator.code(&app, 0)).await.ok();
    assert_eq!(members(&answer), ["accessToken", "expiresIn", "refreshToken", "tokenType", "user"]);
    let session = Person::logged_in(&answer);
    let me = app.get("/auth/me").by(&session).send().await.ok();
    assert_eq!((&me["amr"], &me["authTime"]), (&json!(["pwd", "otp", "mfa"]), &json!(app.now())));
    assert_eq!(claims(&session.access)["amr"], json!(["pwd", "otp", "mfa"]));
    assert_eq!(claims(&plain.access)["amr"], json!(["pwd"]));
    let login = &app.history(&ada, &session.session).await[0];
    assert_eq!((&login["action"], &login["userId"]), (&json!("LOGIN"), &json!(ada.user)));
    assert_eq!(login["metadata"], json!({ "method": "password+totp" }));
    let list = app.get("/auth/factors").by(&session).send().await.ok();
    assert_eq!(list["data"][0]["lastUsedAt"], json!(app.now()));
}

async fn a_recovery_code_finishes_a_login_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let code = &authenticator.recovery_codes[3];
    let challenge = app.challenge(&ada).await;
    let session = Person::logged_in(&app.recover(&challenge, code).await.ok());
    assert_eq!(app.factors(&session).await.1, 9);
    let login = &app.history(&ada, &session.session).await[0];
    assert_eq!(login["metadata"], json!({ "method": "password+recovery-code" }));
    let used = &app.audit(&ada, &[("action", "RECOVERY_CODE_USED")]).await[0];
    assert_eq!((&used["resourceType"], &used["resourceId"]), (&json!("USER"), &json!(ada.user)));
    assert_eq!((&used["userId"], &used["metadata"]), (&json!(ada.user), &json!({ "left": 9 })));
    let challenge = app.challenge(&ada).await;
    app.recover(&challenge, code).await.problem("unauthorized");
    app.recover(&challenge, &authenticator.recovery_codes[4]).await.ok();
}

async fn a_recovery_code_may_be_typed_in_any_form(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let typed = authenticator.recovery_codes[0].to_lowercase().replace('-', " ");
    let challenge = app.challenge(&ada).await;
    app.recover(&challenge, &typed).await.ok();
}

async fn a_wrong_password_is_answered_as_without_a_factor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.enrol(&ada).await;
    let shape = async |person: &Person| {
        let answer = app.attempt_at(&person.tenant, &person.email, WRONG_PASSWORD).send().await;
        let mut problem = answer.problem("unauthorized");
        problem["correlationId"] = Value::Null;
        problem
    };
    assert_eq!(shape(&ada).await, shape(&grace).await);
}

async fn a_code_may_be_typed_with_blanks_and_dashes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let pending = app.set_up(&ada).await;
    let typed = |steps| {
        let code = pending.code(&app, steps);
        [format!("{} {}", &code[..3], &code[3..]), format!(" {}-{}\u{a0}", &code[..3], &code[3..])]
    };
    let [spaced, _] = typed(-1);
    app.confirm(&ada, &pending.id, &spaced).await.ok();
    let challenge = app.challenge(&ada).await;
    let [_, dashed] = typed(0);
    app.answer(&challenge, &dashed).await.ok();
    let [spaced, _] = typed(1);
    app.post("/auth/step-up").by(&ada).json(&json!({ "code": spaced })).send().await.no_content();
}

async fn what_is_not_six_digits_names_code_and_does_not_count(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let pending = app.set_up(&ada).await;
    let challenge = app.challenge(&ada).await;
    let attempts = async || {
        for typed in ["", "12345", "1234567", "12 34 5", "abcdef", "123x456", "１２３４５６"] {
            assert_eq!(app.answer(&challenge, typed).await.invalid_fields(), ["code"], "{typed}");
            let step_up = app.post("/auth/step-up").by(&ada).json(&json!({ "code": typed })).send().await;
            assert_eq!(step_up.invalid_fields(), ["code"], "{typed}");
            assert_eq!(app.confirm(&ada, &pending.id, typed).await.invalid_fields(), ["code"], "{typed}");
        }
    };
    app.unrecorded(&ada, attempts()).await;
    app.answer(&challenge, &authenticator.code(&app, 0)).await.ok();
}

async fn the_user_is_told_of_recovery_codes(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    app.mails().await;
    let challenge = app.challenge(&ada).await;
    app.recover(&challenge, &authenticator.recovery_codes[0]).await.ok();
    assert_eq!(kinds(&app.mails().await), [(MailKind::RecoveryCodeUsed, "ada@example.com")]);
    app.post("/auth/factors/recovery-codes").by(&ada).send().await.ok();
    assert_eq!(kinds(&app.mails().await), [(MailKind::RecoveryCodesReplaced, "ada@example.com")]);
}

async fn a_code_is_accepted_one_step_early_or_late(app: TestApp) {
    for (steps, is_accepted) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
        let ada = app.register(&format!("ada{steps}@example.com")).await;
        let authenticator = app.enrol(&ada).await;
        // Past the step of the confirmation.
        app.pass(TimeDelta::seconds(3 * STEP));
        let challenge = app.challenge(&ada).await;
        let answer = app.answer(&challenge, &authenticator.code(&app, steps)).await;
        assert_eq!(answer.status() == 200, is_accepted, "{steps}: {}", answer.text());
    }
}

async fn the_same_code_is_refused_in_another_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let [first, second] = [app.challenge(&ada).await, app.challenge(&ada).await];
    let code = authenticator.code(&app, 0);
    finish(&app, &first, &code).await;
    app.answer(&second, &code).await.problem("unauthorized");
    // An earlier step is refused, too, and a later one is accepted.
    app.answer(&second, &authenticator.code(&app, -1)).await.problem("unauthorized");
    finish(&app, &second, &authenticator.code(&app, 1)).await;
}

async fn the_same_code_raced_on_two_replicas_logs_in_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let other = app.restarted().await;
    for round in 0..4 {
        app.pass(TimeDelta::seconds(2 * STEP));
        let challenges = [app.challenge(&ada).await, other.challenge(&ada).await];
        let code = authenticator.code(&app, 0);
        let [first, second] = challenges.each_ref().map(|challenge| json!({ "challenge": challenge, "code": code }));
        let (first, second) = tokio::join!(
            app.post("/auth/login/second-factor").json(&first).send_in_race(),
            other.post("/auth/login/second-factor").json(&second).send_in_race()
        );
        let mut answers = [first.status(), second.status()];
        answers.sort_unstable();
        assert_eq!(answers, [200, 401], "{round}");
    }
}

async fn the_same_recovery_code_raced_on_two_replicas_logs_in_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let other = app.restarted().await;
    for code in authenticator.recovery_codes.iter().take(4) {
        let challenges = [app.challenge(&ada).await, other.challenge(&ada).await];
        let [first, second] =
            challenges.each_ref().map(|challenge| json!({ "challenge": challenge, "recoveryCode": code }));
        let (first, second) = tokio::join!(
            app.post("/auth/login/second-factor").json(&first).send_in_race(),
            other.post("/auth/login/second-factor").json(&second).send_in_race()
        );
        let mut answers = [first.status(), second.status()];
        answers.sort_unstable();
        assert_eq!(answers, [200, 401]);
        // The failure must not lock the account in a later round.
        app.pass(TimeDelta::minutes(15));
    }
}

async fn a_wrong_code_counts_like_a_wrong_password(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    for _ in 0..2 {
        app.attempt_at(&ada.tenant, &ada.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let challenge = app.challenge(&ada).await;
    for _ in 0..3 {
        app.answer(&challenge, "000000").await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
    let failures = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    let found = |entry: &Value| (entry["metadata"]["reason"].clone(), entry["metadata"]["attemptCount"].clone());
    assert_eq!(found(&failures[1]), (json!("SECOND_FACTOR"), json!(5)));
    assert_eq!(failures[1]["userId"], Value::Null);
    assert_eq!(found(&failures[4]), (json!("INVALID_PASSWORD"), json!(2)));
}

async fn a_wrong_recovery_code_counts_like_a_wrong_code(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    for code in ["AAAA-AAAA-AAAA-AAAA", "no code", "000000"] {
        app.recover(&challenge, code).await.problem("unauthorized");
    }
    for _ in 0..2 {
        app.answer(&challenge, "000000").await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
}

async fn the_right_password_between_wrong_codes_does_not_reset_the_count(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    for _ in 0..5 {
        let challenge = app.challenge(&ada).await;
        app.answer(&challenge, "000000").await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");
    app.pass(TimeDelta::minutes(15));
    // Nor does the current password of a session.
    let challenge = app.challenge(&ada).await;
    let session = finish(&app, &challenge, &authenticator.code(&app, 0)).await;
    let change = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    let back = json!({ "currentPassword": "N3w&Password", "newPassword": PASSWORD });
    for _ in 0..4 {
        app.pass(TimeDelta::seconds(10));
        let challenge = app.challenge(&ada).await;
        app.answer(&challenge, "000000").await.problem("unauthorized");
    }
    for body in [change, back] {
        app.post("/auth/password").by(&session).json(&body).send().await.no_content();
    }
    let challenge = app.challenge(&ada).await;
    app.answer(&challenge, "000000").await.problem("unauthorized");
    app.answer(&challenge, "000000").await.problem("account-locked");
}

async fn a_finished_login_resets_the_count(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    for steps in [0, 1] {
        let challenge = app.challenge(&ada).await;
        for _ in 0..4 {
            app.answer(&challenge, "000000").await.problem("unauthorized");
        }
        finish(&app, &challenge, &authenticator.code(&app, steps)).await;
    }
}

async fn while_the_account_is_locked_the_right_code_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, &ada.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let problem = app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("account-locked");
    assert_eq!(problem["retryAfter"], 900);
}

async fn concurrent_guesses_of_codes_cannot_exceed_five(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let mut challenges = Vec::new();
    for _ in 0..12 {
        challenges.push(app.challenge(&ada).await);
    }
    let guess = |challenge: &String| {
        let body = json!({ "challenge": challenge, "code": "000000" });
        app.post("/auth/login/second-factor").json(&body).send_in_race()
    };
    let answers = join_all(challenges.iter().map(guess)).await;
    let wrong = answers.iter().filter(|answer| answer.status() == 401).count();
    assert_eq!((wrong, answers.len() - wrong), (5, 7));
}

async fn a_challenge_works_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    finish(&app, &challenge, &authenticator.code(&app, 0)).await;
    let failures = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    app.answer(&challenge, &authenticator.code(&app, 1)).await.problem("unauthorized");
    assert_eq!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await, failures);
}

async fn a_challenge_is_worth_five_tries(app: TestApp) {
    let app = app.with_settings(|settings| settings.lockout.failures = 100).await;
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let [spent, other] = [app.challenge(&ada).await, app.challenge(&ada).await];
    for _ in 0..4 {
        app.answer(&spent, "000000").await.problem("unauthorized");
        app.answer(&other, "000000").await.problem("unauthorized");
    }
    app.answer(&spent, "000000").await.problem("unauthorized");
    app.answer(&spent, &authenticator.code(&app, 0)).await.problem("unauthorized");
    finish(&app, &other, &authenticator.code(&app, 0)).await;
}

async fn a_challenge_works_for_five_minutes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let [first, second] = [app.challenge(&ada).await, app.challenge(&ada).await];
    app.pass(TimeDelta::minutes(5) - TimeDelta::milliseconds(1));
    finish(&app, &first, &authenticator.code(&app, 0)).await;
    app.pass(TimeDelta::milliseconds(1));
    app.answer(&second, &authenticator.code(&app, 1)).await.problem("unauthorized");
}

async fn a_challenge_works_on_another_replica_and_after_a_restart(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    finish(&app.restarted().await, &challenge, &authenticator.code(&app, 0)).await;
}

async fn a_changed_password_ends_the_challenge(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    app.post("/auth/password").by(&ada).json(&body).send().await.no_content();
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("unauthorized");
    assert!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.is_empty());
}

async fn a_reset_password_ends_the_challenge(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    app.mails().await;
    app.post("/auth/password/forgot").json(&json!({ "email": ada.email })).send().await.accepted();
    let token = app.token(MailKind::Reset, &ada.email).await;
    let body = json!({ "token": token, "newPassword": "N3w&Password" });
    app.post("/auth/password/reset").json(&body).send().await.no_content();
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("unauthorized");
    // The reset does not remove the factor.
    let login = app.attempt_at(&ada.tenant, &ada.email, "N3w&Password").send().await;
    login.problem("second-factor-required");
}

async fn a_suspended_user_cannot_finish_a_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let authenticator = app.enrol(&grace).await;
    let challenge = app.challenge(&grace).await;
    app.set_status(&ada, &grace.user, "SUSPENDED").await;
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("forbidden");
    let failure = &app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await[0];
    assert_eq!(failure["metadata"]["reason"], "USER_SUSPENDED");
    // A login that began before the suspension is not finished after it.
    app.set_status(&ada, &grace.user, "ACTIVE").await;
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("unauthorized");
}

async fn a_deleted_user_cannot_finish_a_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let authenticator = app.enrol(&grace).await;
    let challenge = app.challenge(&grace).await;
    app.delete(&format!("/users/{}", grace.user)).by(&ada).send().await.no_content();
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("unauthorized");
}

async fn a_suspended_tenant_ends_every_challenge(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    let system = iam_core::Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&system).await.unwrap();
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("unauthorized");
}

async fn invented_challenges_are_refused_alike(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    let last = if challenge.ends_with('A') { 'B' } else { 'A' };
    let changed = format!("{}{last}", &challenge[..challenge.len() - 1]);
    let code = authenticator.code(&app, 0);
    for invented in ["x", "iamc_", &changed, &ada.refresh, &challenge[1..]] {
        let detail = app.answer(invented, &code).await.detail("unauthorized");
        assert!(detail.contains("challenge"), "{invented}: {detail}");
    }
    finish(&app, &challenge, &code).await;
}

async fn a_challenge_of_another_user_is_of_no_use(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let (of_ada, of_grace) = (app.enrol(&ada).await, app.enrol(&grace).await);
    let challenge = app.challenge(&ada).await;
    app.answer(&challenge, &of_grace.code(&app, 0)).await.problem("unauthorized");
    app.recover(&challenge, &of_grace.recovery_codes[0]).await.problem("unauthorized");
    assert_eq!(finish(&app, &challenge, &of_ada.code(&app, 0)).await.user, ada.user);
}

async fn a_login_without_a_tenant_gets_a_challenge(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge =
        app.attempt(&ada.email, PASSWORD).send().await.problem("second-factor-required")["challenge"].clone();
    assert_eq!(finish(&app, challenge.as_str().unwrap(), &authenticator.code(&app, 0)).await.user, ada.user);
    // Where the credentials are right in several tenants, no challenge begins.
    app.register("ada@example.com").await;
    app.attempt(&ada.email, PASSWORD).send().await.problem("conflict");
}

async fn either_of_two_apps_finishes_the_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for authenticator in [app.enrol(&ada).await, app.enrol(&ada).await] {
        let challenge = app.challenge(&ada).await;
        finish(&app, &challenge, &authenticator.code(&app, 0)).await;
    }
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let challenge = app.challenge(&ada).await;
    let code = authenticator.code(&app, 0);
    for (body, field) in [
        (json!({ "challenge": challenge }), "code"),
        (json!({ "challenge": challenge, "code": code, "recoveryCode": "x" }), "recoveryCode"),
        (json!({ "challenge": challenge, "code": code, "password": "x" }), "password"),
        (json!({ "challenge": 7, "code": code }), "challenge"),
        (json!({ "challenge": challenge, "code": 123456 }), "code"),
    ] {
        let answer = app.post("/auth/login/second-factor").json(&body).send().await;
        assert_eq!(answer.invalid_fields(), [field], "{body}");
    }
    finish(&app, &challenge, &code).await;
}

async fn the_user_is_told_of_a_lock_by_wrong_codes(app: TestApp) {
    let app = app.with_mail().await;
    let ada = Person::logged_in(&app.post("/auth/register").json(&profile("ada@example.com")).send().await.created());
    app.enrol(&ada).await;
    assert_eq!(kinds(&app.mails().await)[1..], [(MailKind::FactorAdded, "ada@example.com")]);
    let challenge = app.challenge(&ada).await;
    for _ in 0..5 {
        app.answer(&challenge, "000000").await.problem("unauthorized");
    }
    assert_eq!(kinds(&app.mails().await), [(MailKind::NewLoginBlocked, "ada@example.com")]);
}

async fn expired_challenges_are_removed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    app.challenge(&ada).await;
    app.pass(TimeDelta::minutes(5));
    let live = app.challenge(&ada).await;
    assert_eq!(app.iam.remove_expired_challenges().await.unwrap(), 1);
    finish(&app, &live, &authenticator.code(&app, 0)).await;
    assert_eq!(app.iam.remove_expired_challenges().await.unwrap(), 0);
}
