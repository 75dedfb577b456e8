//! Second factors: how users set them up and remove them (`docs/http-api.md#second-factors`).

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::authenticator::{Authenticator, STEP, codes};
use crate::mail::kinds;
use crate::people::{Person, profile, says, with};
use crate::request::{each_sorted, members};

in_memory![
    an_app_is_set_up_and_confirmed_by_its_first_code,
    the_uri_names_the_tenant_and_the_user_and_the_image_shows_it,
    the_names_in_the_uri_are_shortened_where_the_qr_code_would_be_too_small,
    the_first_factor_comes_with_ten_recovery_codes,
    an_unconfirmed_app_is_neither_listed_nor_asked_for,
    a_newer_app_replaces_an_unconfirmed_one,
    a_wrong_code_at_the_confirmation_names_code,
    a_wrong_code_at_the_confirmation_does_not_count_as_a_failed_login,
    an_app_is_confirmed_once,
    the_code_of_the_confirmation_is_used_up,
    a_factor_is_renamed,
    a_removed_factor_is_gone_with_the_recovery_codes,
    the_recovery_codes_stay_while_a_factor_is_left,
    new_recovery_codes_end_the_former_ones,
    recovery_codes_need_a_factor,
    a_user_reaches_only_its_own_factors,
    the_log_records_factors_without_their_secrets,
    a_user_has_at_most_twenty_factors,
    where_factors_are_off_none_can_be_set_up,
    missing_and_invalid_fields_are_named,
    an_administrator_removes_all_factors_of_another_user,
    removing_the_factors_of_another_user_needs_what_that_user_may_do,
    an_administrator_does_not_remove_its_own_factors_in_this_way,
    removing_the_factors_of_a_user_without_any_changes_nothing,
    people_are_found_by_whether_they_have_a_factor,
    no_row_contains_a_secret,
];

async fn an_app_is_set_up_and_confirmed_by_its_first_code(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "Phone" });
    let setup = app.post("/auth/factors/totp").by(&ada).json(&body).send().await.created();
    assert_eq!(members(&setup), ["id", "qr", "secret", "uri"]);
    let authenticator = Authenticator::scan(&setup);
    app.confirm(&ada, &authenticator.id, &authenticator.code(&app, 0)).await.ok();
    let list = app.get("/auth/factors").by(&ada).send().await.ok();
    let factor = json!({
        "id": authenticator.id,
        "type": "totp",
        "name": "Phone",
        "createdAt": app.now(),
        "lastUsedAt": null,
    });
    assert_eq!(list, json!({ "data": [factor], "recoveryCodesLeft": 10 }));
}

async fn the_uri_names_the_tenant_and_the_user_and_the_image_shows_it(app: TestApp) {
    let body = with(profile("ada@example.com"), &json!({ "tenantName": "Acme: Söhne" }));
    let ada = Person::logged_in(&app.post("/auth/register").json(&body).send().await.created());
    let setup = app.post("/auth/factors/totp").by(&ada).json(&json!({})).send().await.created();
    let (uri, secret) = (setup["uri"].as_str().unwrap(), setup["secret"].as_str().unwrap());
    assert!(uri.starts_with("otpauth://totp/Acme%20%20S%C3%B6hne:ada%40example.com?"), "{uri}");
    assert!(uri.contains(&format!("secret={secret}&")) && secret.len() == 32, "{uri}");
    assert_eq!(Authenticator::scan(&setup).issuer(), Some("Acme  Söhne"));
    assert!(setup["qr"].as_str().unwrap().contains("<svg"));
}

async fn the_names_in_the_uri_are_shortened_where_the_qr_code_would_be_too_small(app: TestApp) {
    let email =
        format!("{}@{}.example.com", "a".repeat(64), ["b".repeat(60), "c".repeat(60), "d".repeat(40)].join("."));
    for (number, letter) in ["😀", "ü", "&", "A"].into_iter().enumerate() {
        let names = json!({ "tenantName": letter.repeat(120), "firstName": letter.repeat(100), "lastName": letter.repeat(100) });
        let body = with(profile(&format!("{number}{}", &email[1..])), &names);
        let ada = Person::logged_in(&app.post("/auth/register").json(&body).send().await.created());
        let setup =
            app.post("/auth/factors/totp").by(&ada).json(&json!({ "name": letter.repeat(120) })).send().await.created();
        assert!(setup["qr"].as_str().unwrap().contains("<svg"), "{letter}");
        let authenticator = Authenticator::scan(&setup);
        assert!(authenticator.issuer().is_some_and(|issuer| issuer.starts_with(&letter.repeat(50))), "{letter}");
        app.confirm(&ada, &authenticator.id, &authenticator.code(&app, 0)).await.ok();
        app.options("/auth/factors/passkeys/options", &ada).await;
    }
}

async fn the_first_factor_comes_with_ten_recovery_codes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let first = app.set_up(&ada).await;
    let answer = app.confirm(&ada, &first.id, &first.code(&app, 0)).await.ok();
    let codes = codes(&answer);
    assert_eq!(codes.len(), 10);
    assert!(codes.iter().all(|code| code.len() == 19), "{codes:?}");
    let second = app.set_up(&ada).await;
    assert_eq!(app.confirm(&ada, &second.id, &second.code(&app, 0)).await.ok(), json!({}));
    assert_eq!(app.factors(&ada).await.1, 10);
}

async fn an_unconfirmed_app_is_neither_listed_nor_asked_for(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let pending = app.set_up(&ada).await;
    assert_eq!(app.factors(&ada).await, (vec![], 0));
    app.login(&ada).await;
    let path = format!("/auth/factors/{}", pending.id);
    app.patch(&path).by(&ada).json(&json!({ "name": "Phone" })).send().await.problem("not-found");
    app.delete(&path).by(&ada).send().await.problem("not-found");
}

async fn a_newer_app_replaces_an_unconfirmed_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (older, newer) = (app.set_up(&ada).await, app.set_up(&ada).await);
    app.confirm(&ada, &older.id, &older.code(&app, 0)).await.problem("not-found");
    assert_eq!(app.confirm(&ada, &newer.id, &older.code(&app, 0)).await.invalid_fields(), ["code"]);
    app.confirm(&ada, &newer.id, &newer.code(&app, 0)).await.ok();
}

async fn a_wrong_code_at_the_confirmation_names_code(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.set_up(&ada).await;
    for steps in [-2, 2] {
        let answer = app.confirm(&ada, &authenticator.id, &authenticator.code(&app, steps)).await;
        assert_eq!(answer.invalid_fields(), ["code"]);
    }
    app.confirm(&ada, &authenticator.id, &authenticator.code(&app, 1)).await.ok();
}

async fn a_wrong_code_at_the_confirmation_does_not_count_as_a_failed_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.set_up(&ada).await;
    for _ in 0..6 {
        app.confirm(&ada, &authenticator.id, "000000").await.problem("validation-error");
    }
    app.login(&ada).await;
}

async fn an_app_is_confirmed_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    app.confirm(&ada, &authenticator.id, &authenticator.code(&app, 0)).await.problem("conflict");
}

async fn the_code_of_the_confirmation_is_used_up(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.set_up(&ada).await;
    let code = authenticator.code(&app, 0);
    app.confirm(&ada, &authenticator.id, &code).await.ok();
    let challenge = app.challenge(&ada).await;
    app.answer(&challenge, &code).await.problem("unauthorized");
    app.pass(TimeDelta::seconds(STEP));
    app.answer(&challenge, &authenticator.code(&app, 0)).await.ok();
}

async fn a_factor_is_renamed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    assert_eq!(app.factors(&ada).await.0, ["Authenticator app"]);
    let path = format!("/auth/factors/{}", authenticator.id);
    // A new name needs no recent authentication.
    app.pass(TimeDelta::minutes(11));
    let renamed = app.patch(&path).by(&ada).json(&json!({ "name": " Tablet " })).send().await.ok();
    assert_eq!((&renamed["name"], &renamed["id"]), (&json!("Tablet"), &json!(authenticator.id)));
    assert_eq!(app.factors(&ada).await.0, ["Tablet"]);
    let entry = &app.history(&ada, &authenticator.id).await[0];
    says(entry, &ada, "UPDATE", "FACTOR", &authenticator.id);
    assert_eq!(entry["oldValue"], json!({ "name": "Authenticator app" }));
    assert_eq!(entry["newValue"], json!({ "name": "Tablet" }));
    let again = app.patch(&path).by(&ada).json(&json!({ "name": "Tablet" }));
    app.unrecorded(&ada, again.send()).await.ok();
}

async fn a_removed_factor_is_gone_with_the_recovery_codes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let path = format!("/auth/factors/{}", authenticator.id);
    app.delete(&path).by(&ada).send().await.no_content();
    assert_eq!(app.factors(&ada).await, (vec![], 0));
    app.login(&ada).await;
    app.delete(&path).by(&ada).send().await.problem("not-found");
}

async fn the_recovery_codes_stay_while_a_factor_is_left(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (first, second) = (app.enrol(&ada).await, app.enrol(&ada).await);
    app.delete(&format!("/auth/factors/{}", first.id)).by(&ada).send().await.no_content();
    assert_eq!(app.factors(&ada).await.1, 10);
    let challenge = app.challenge(&ada).await;
    app.answer(&challenge, &first.code(&app, 0)).await.problem("unauthorized");
    app.answer(&challenge, &second.code(&app, 0)).await.ok();
}

async fn new_recovery_codes_end_the_former_ones(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let answer = app.post("/auth/factors/recovery-codes").by(&ada).send().await.ok();
    let (old, new) = (&authenticator.recovery_codes, codes(&answer));
    assert!(new.len() == 10 && new.iter().all(|code| !old.contains(code)));
    let challenge = app.challenge(&ada).await;
    app.recover(&challenge, &old[0]).await.problem("unauthorized");
    app.recover(&challenge, &new[0]).await.ok();
    assert_eq!(app.factors(&ada).await.1, 9);
    let issued = app.audit(&ada, &[("action", "RECOVERY_CODES_ISSUED")]).await;
    assert_eq!(issued.len(), 2);
    says(&issued[0], &ada, "RECOVERY_CODES_ISSUED", "USER", &ada.user);
    assert_eq!(issued[0]["metadata"], json!({ "count": 10 }));
}

async fn recovery_codes_need_a_factor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.set_up(&ada).await;
    app.post("/auth/factors/recovery-codes").by(&ada).send().await.problem("conflict");
}

async fn a_user_reaches_only_its_own_factors(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let stranger = app.register("eve@example.org").await;
    let (confirmed, pending) = (app.enrol(&grace).await, app.set_up(&grace).await);
    for other in [&ada, &stranger] {
        assert_eq!(app.factors(other).await, (vec![], 0));
        let path = format!("/auth/factors/{}", confirmed.id);
        app.patch(&path).by(other).json(&json!({ "name": "Mine" })).send().await.problem("not-found");
        app.delete(&path).by(other).send().await.problem("not-found");
        app.confirm(other, &pending.id, &pending.code(&app, 0)).await.problem("not-found");
    }
    app.delete(&format!("/users/{}/factors", grace.user)).by(&stranger).send().await.problem("not-found");
    assert_eq!(app.factors(&grace).await.1, 10);
}

async fn the_log_records_factors_without_their_secrets(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let setup = app.post("/auth/factors/totp").by(&ada).json(&json!({ "name": "Phone" }));
    let setup = app.unrecorded(&ada, setup.send()).await.created();
    let authenticator = Authenticator::scan(&setup);
    let code = authenticator.code(&app, 0);
    let recovery_codes = codes(&app.confirm(&ada, &authenticator.id, &code).await.ok());
    app.delete(&format!("/auth/factors/{}", authenticator.id)).by(&ada).send().await.no_content();
    let [deleted, created] = app.history(&ada, &authenticator.id).await.try_into().unwrap();
    says(&created, &ada, "CREATE", "FACTOR", &authenticator.id);
    says(&deleted, &ada, "DELETE", "FACTOR", &authenticator.id);
    let values = json!({ "type": "totp", "name": "Phone" });
    assert_eq!((&created["newValue"], &deleted["oldValue"]), (&values, &values));
    assert_eq!(created["metadata"]["targetUserId"], json!(ada.user));
    let log = format!("{:?}", app.audit(&ada, &[]).await);
    let secret = setup["secret"].as_str().unwrap();
    assert!(!log.contains(secret) && !log.contains(&code));
    assert!(recovery_codes.iter().all(|code| !log.contains(code)));
}

async fn a_user_has_at_most_twenty_factors(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..20 {
        app.enrol(&ada).await;
    }
    app.post("/auth/factors/totp").by(&ada).json(&json!({})).send().await.problem("conflict");
    assert_eq!(app.factors(&ada).await.0.len(), 20);
}

/// Sets the tenant's policy of second factors.
pub(crate) async fn set_policy(app: &TestApp, administrator: &Person, policy: &str, grace: u8) -> Value {
    let body = json!({ "secondFactor": policy, "secondFactorGraceDays": grace });
    app.patch(&format!("/tenants/{}", administrator.tenant)).by(administrator).json(&body).send().await.ok()
}

async fn where_factors_are_off_none_can_be_set_up(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (authenticator, pending) = (app.enrol(&ada).await, app.set_up(&ada).await);
    set_policy(&app, &ada, "OFF", 7).await;
    app.post("/auth/factors/totp").by(&ada).json(&json!({})).send().await.problem("conflict");
    app.confirm(&ada, &pending.id, &pending.code(&app, 0)).await.problem("conflict");
    // The factor that exists is still asked for, and can be removed.
    let challenge = app.challenge(&ada).await;
    app.answer(&challenge, &authenticator.code(&app, 0)).await.ok();
    app.delete(&format!("/auth/factors/{}", authenticator.id)).by(&ada).send().await.no_content();
    app.login(&ada).await;
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let path = format!("/auth/factors/{}", authenticator.id);
    for name in ["", "  ", &"x".repeat(121), "a\u{7}"] {
        let body = json!({ "name": name });
        assert_eq!(app.post("/auth/factors/totp").by(&ada).json(&body).send().await.invalid_fields(), ["name"]);
        assert_eq!(app.patch(&path).by(&ada).json(&body).send().await.invalid_fields(), ["name"]);
    }
    assert_eq!(app.patch(&path).by(&ada).json(&json!({})).send().await.invalid_fields(), ["name"]);
    let body = json!({ "kind": "totp" });
    assert_eq!(app.post("/auth/factors/totp").by(&ada).json(&body).send().await.invalid_fields(), ["kind"]);
    let pending = app.set_up(&ada).await;
    let confirm = format!("/auth/factors/totp/{}/confirm", pending.id);
    assert_eq!(app.post(&confirm).by(&ada).json(&json!({})).send().await.invalid_fields(), ["code"]);
    app.delete("/auth/factors/7").by(&ada).send().await.problem("validation-error");
}

async fn an_administrator_removes_all_factors_of_another_user(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let authenticator = app.enrol(&grace).await;
    app.enrol(&grace).await;
    let challenge = app.challenge(&grace).await;
    app.mails().await;
    app.delete(&format!("/users/{}/factors", grace.user)).by(&ada).send().await.no_content();
    assert!(!app.knows(&grace).await);
    app.answer(&challenge, &authenticator.code(&app, 0)).await.problem("unauthorized");
    app.recover(&challenge, &authenticator.recovery_codes[0]).await.problem("unauthorized");
    let grace = app.login(&grace).await;
    assert_eq!(app.factors(&grace).await, (vec![], 0));
    assert_eq!(kinds(&app.mails().await), [(MailKind::FactorRemoved, "grace@example.com")]);
    let entries = app.history(&ada, &authenticator.id).await;
    says(&entries[0], &ada, "DELETE", "FACTOR", &authenticator.id);
    let ended = app.audit(&ada, &[("action", "LOGOUT")]).await;
    assert_eq!(ended[0]["metadata"]["reason"], "FACTORS_REMOVED");
}

async fn removing_the_factors_of_another_user_needs_what_that_user_may_do(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let boss = app.administrator_beside(&ada).await;
    let helper = app.colleague(&ada, "helper@example.com").await;
    app.enrol(&boss).await;
    let reset = async |by: &Person| app.delete(&format!("/users/{}/factors", boss.user)).by(by).send().await;
    reset(&helper).await.lacks("users:update");
    let role = json!({ "name": "HELP_DESK", "permissions": ["users:update"] });
    let role = app.post("/roles").by(&ada).json(&role).send().await.created();
    let body = json!({ "userId": helper.user, "roleId": role["id"] });
    app.post("/role-assignments").by(&ada).json(&body).send().await.created();
    let helper = app.login(&helper).await;
    reset(&helper).await.escalates();
    assert_eq!(app.factors(&boss).await.1, 10);
    reset(&ada).await.no_content();
}

async fn an_administrator_does_not_remove_its_own_factors_in_this_way(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    app.delete(&format!("/users/{}/factors", ada.user)).by(&ada).send().await.problem("conflict");
    assert_eq!(app.factors(&ada).await.1, 10);
}

async fn removing_the_factors_of_a_user_without_any_changes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let reset = app.delete(&format!("/users/{}/factors", grace.user)).by(&ada);
    app.unrecorded(&ada, reset.send()).await.no_content();
    assert!(app.knows(&grace).await);
}

async fn people_are_found_by_whether_they_have_a_factor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.enrol(&grace).await;
    app.set_up(&ada).await;
    app.post("/service-accounts").by(&ada).json(&json!({ "name": "Robot" })).send().await.created();
    let list =
        async |by: &Person, has_factor: &str| app.get("/users").by(by).query("hasFactor", has_factor).send().await;
    for (has_factor, expected) in [("true", "grace@example.com"), ("false", "ada@example.com")] {
        let found = list(&ada, has_factor).await.ok();
        assert_eq!(each_sorted(&found, "email"), [expected], "{has_factor}");
        assert_eq!(found["pagination"]["total"], 1);
    }
    assert_eq!(list(&ada, "maybe").await.invalid_fields(), ["hasFactor"]);
    // Who may only read users is not told whose account is protected by its password alone.
    let reader = app.colleague_who_may(&ada, "reader@example.com", &["users:read"]).await;
    app.get("/users").by(&reader).send().await.ok();
    let north = app.organization(&ada, "north").await;
    app.permit_in(&reader, north, &["users:update"]).await;
    let reader = app.login(&reader).await;
    for has_factor in ["true", "false"] {
        list(&reader, has_factor).await.lacks("users:update");
    }
}

async fn no_row_contains_a_secret(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let setup = app.post("/auth/factors/totp").by(&ada).json(&json!({})).send().await.created();
    let tenant = ada.tenant.parse().unwrap();
    let [factor] = app.store.factors(tenant, ada.user.parse().unwrap()).await.unwrap().try_into().unwrap();
    let secret = setup["secret"].as_str().unwrap();
    let decoded = totp_rs::Secret::try_from_base32(secret).unwrap();
    let bytes: &[u8] = decoded.as_ref();
    assert!(bytes.len() == 20 && !factor.key.0.windows(bytes.len()).any(|window| window == bytes));
}
