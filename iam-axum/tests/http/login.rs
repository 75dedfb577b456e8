//! `POST /auth/login` (`docs/http-api.md#login`).

use futures_util::future::{join, join_all};
use iam_core::Caller;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};
use crate::request::{Response, members};

in_memory![
    answers_200_with_tokens_and_user,
    the_email_is_matched_in_any_case,
    a_tenant_is_named_by_id_or_slug,
    every_failure_of_identity_is_the_same_401,
    exactly_one_match_among_several_tenants_logs_in,
    a_wrong_guess_counts_even_if_it_is_right_in_another_tenant,
    several_matches_are_a_conflict_that_names_only_those_tenants,
    the_password_is_tried_in_at_most_five_tenants,
    a_failure_counts_once_on_each_of_several_candidates,
    a_locked_candidate_is_skipped,
    a_lock_is_reported_only_for_a_single_verified_account,
    a_suspended_user_with_the_right_password_is_forbidden,
    a_suspended_user_with_a_wrong_password_is_unauthorized,
    invalid_and_missing_fields_are_named,
    a_login_is_recorded,
    every_failure_is_recorded_with_its_reason,
    a_failure_for_an_unknown_email_is_not_recorded,
    a_password_is_right_in_every_form_in_which_it_can_be_typed,
    a_password_hashed_at_a_lower_cost_is_hashed_again,
    concurrent_logins_with_a_weak_hash_all_succeed,
    a_password_changed_during_its_verification_is_wrong,
];

async fn answers_200_with_tokens_and_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.pass(chrono::TimeDelta::hours(1));
    let body = app.attempt("ada@example.com", PASSWORD).send().await.ok();
    assert_eq!(members(&body), ["accessToken", "expiresIn", "refreshToken", "tokenType", "user"]);
    assert_eq!((&body["tokenType"], &body["expiresIn"]), (&json!("Bearer"), &json!(900)));
    assert_eq!(body["user"]["lastLoginAt"], app.now());
    let token = body["accessToken"].as_str().unwrap();
    assert_eq!(app.get(&format!("/users/{}", ada.user)).bearer(token).send().await.ok(), body["user"]);
}

async fn the_email_is_matched_in_any_case(app: TestApp) {
    app.register("Ada@Example.com").await;
    let body = app.attempt("aDA@eXAMPLE.COM", PASSWORD).send().await.ok();
    assert_eq!(body["user"]["email"], "Ada@Example.com");
}

async fn a_tenant_is_named_by_id_or_slug(app: TestApp) {
    let [first, second] = [app.register("ada@example.com").await, app.register("ada@example.com").await];
    let slug = slug_of(&app, &second).await;
    for (named, meant) in [(&first.tenant, &first), (&second.tenant, &second), (&slug, &second)] {
        let body = app.attempt_at(named, "ada@example.com", PASSWORD).send().await.ok();
        assert_eq!(body["user"]["id"], meant.user);
    }
}

async fn every_failure_of_identity_is_the_same_401(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let gone = app.add_user(&ada, "gone@example.com").await;
    app.delete(&format!("/users/{gone}")).by(&ada).send().await.no_content();
    let other = app.register("other@example.com").await;
    let attempts = [
        app.attempt("ada@example.com", WRONG_PASSWORD),
        app.attempt("unknown@example.com", WRONG_PASSWORD),
        app.attempt("gone@example.com", PASSWORD),
        app.attempt_at("no-such-tenant", "ada@example.com", PASSWORD),
        app.attempt_at("No such slug", "ada@example.com", PASSWORD),
        app.attempt_at("00000000-0000-0000-0000-000000000000", "ada@example.com", PASSWORD),
        app.attempt_at(&other.tenant, "ada@example.com", PASSWORD),
        app.attempt("ada@example.com", &"a".repeat(1000)),
    ];
    let mut answers = Vec::new();
    for attempt in attempts {
        let answer = attempt.header("x-correlation-id", "the-same").send().await;
        answer.problem("unauthorized");
        answers.push((answer.headers.clone(), answer.text()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

async fn exactly_one_match_among_several_tenants_logs_in(app: TestApp) {
    let first = app.register("ada@example.com").await;
    let second = app.register_with_password("ada@example.com", WRONG_PASSWORD).await;
    for (password, meant) in [(WRONG_PASSWORD, &second), (PASSWORD, &first)] {
        let body = app.attempt("ada@example.com", password).send().await.ok();
        assert_eq!(body["user"]["id"], meant.user);
    }
}

async fn a_wrong_guess_counts_even_if_it_is_right_in_another_tenant(app: TestApp) {
    // Otherwise, an attacker who has an account with the victim's e-mail could guess without limit: the attacker sets
    // each guess as the password of that account and logs in.
    let ada = app.register("ada@example.com").await;
    app.register_with_password("ada@example.com", WRONG_PASSWORD).await;
    for _ in 0..5 {
        app.attempt("ada@example.com", WRONG_PASSWORD).send().await.ok();
    }
    app.attempt_at(&ada.tenant, "ada@example.com", PASSWORD).send().await.problem("account-locked");
}

async fn several_matches_are_a_conflict_that_names_only_those_tenants(app: TestApp) {
    let first = app.register("ada@example.com").await;
    app.register_with_password("ada@example.com", WRONG_PASSWORD).await;
    let third = app.register("ADA@example.com").await;
    let problem = app.attempt("ada@example.com", PASSWORD).send().await.problem("conflict");
    let mut expected = Vec::new();
    for person in [&first, &third] {
        let tenant = app.get(&format!("/tenants/{}", person.tenant)).by(person).send().await.ok();
        expected.push(json!({ "id": tenant["id"], "slug": tenant["slug"], "name": tenant["name"] }));
    }
    let by_id = |tenant: &Value| tenant["id"].as_str().unwrap().to_owned();
    let mut found = problem["tenants"].as_array().unwrap().clone();
    found.sort_by_key(by_id);
    expected.sort_by_key(by_id);
    assert_eq!(found, expected);
}

async fn the_password_is_tried_in_at_most_five_tenants(app: TestApp) {
    for _ in 0..6 {
        app.register("ada@example.com").await;
    }
    let problem = app.attempt("ada@example.com", PASSWORD).send().await.problem("conflict");
    assert_eq!(problem["tenants"].as_array().unwrap().len(), 5);
}

async fn a_failure_counts_once_on_each_of_several_candidates(app: TestApp) {
    let people = [app.register("ada@example.com").await, app.register("ada@example.com").await];
    for count in 1..=2 {
        app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
        for person in &people {
            let failures = app.audit(person, &[("action", "LOGIN_FAILURE")]).await;
            assert_eq!(failures.len(), count);
            assert_eq!(failures[0]["metadata"]["attemptCount"], count);
        }
    }
}

async fn a_locked_candidate_is_skipped(app: TestApp) {
    let locked = app.register("ada@example.com").await;
    let open = app.register_with_password("ada@example.com", "An0ther!Password").await;
    lock(&app, &locked).await;
    app.attempt("ada@example.com", PASSWORD).send().await.problem("unauthorized");
    assert_eq!(app.audit(&open, &[("action", "LOGIN_FAILURE")]).await.len(), 1);
    let failures = app.audit(&locked, &[("action", "LOGIN_FAILURE")]).await;
    assert_eq!((failures.len(), &failures[0]["metadata"]["reason"]), (6, &json!("ACCOUNT_LOCKED")));
    let body = app.attempt("ada@example.com", "An0ther!Password").send().await.ok();
    assert_eq!(body["user"]["id"], open.user);
}

async fn a_lock_is_reported_only_for_a_single_verified_account(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    lock(&app, &ada).await;
    app.attempt("ada@example.com", PASSWORD).send().await.problem("unauthorized");
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&system, "ada@example.com").await.unwrap();
    let problem = app.attempt("ada@example.com", PASSWORD).send().await.problem("account-locked");
    assert_eq!(problem["retryAfter"], 900);
    // An unverified account with the same e-mail in another tenant does not matter.
    app.register_with_password("ada@example.com", WRONG_PASSWORD).await;
    app.attempt("ada@example.com", PASSWORD).send().await.problem("account-locked");
    // The refused attempts did not count against the e-mail.
    app.pass(chrono::TimeDelta::minutes(15));
    for _ in 0..4 {
        app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt("ada@example.com", PASSWORD).send().await.ok();
}

async fn a_suspended_user_with_the_right_password_is_forbidden(app: TestApp) {
    let (ada, bob) = with_suspended_bob(&app).await;
    let problem = app.attempt("bob@example.com", PASSWORD).send().await.problem("forbidden");
    assert!(problem["detail"].as_str().unwrap().contains("suspended"), "{problem}");
    assert_eq!(app.user(&ada, &bob).await["lastLoginAt"], Value::Null);
}

async fn a_suspended_user_with_a_wrong_password_is_unauthorized(app: TestApp) {
    with_suspended_bob(&app).await;
    app.attempt("bob@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
}

async fn invalid_and_missing_fields_are_named(app: TestApp) {
    app.register("ada@example.com").await;
    let refused = async |body: Value| -> Response { app.post("/auth/login").json(&body).send().await };
    assert_eq!(refused(json!({})).await.invalid_fields(), ["email", "password"]);
    assert_eq!(refused(json!({ "email": "ada@example.com" })).await.invalid_fields(), ["password"]);
    assert_eq!(refused(json!({ "email": "ada", "password": PASSWORD })).await.invalid_fields(), ["email"]);
    for field in ["email", "password", "tenant", "remember"] {
        let body = crate::people::with(json!({ "email": "ada@example.com", "password": "x" }), &json!({ field: 17 }));
        assert_eq!(refused(body).await.invalid_fields(), [field]);
    }
}

async fn a_login_is_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let again = app.login(&ada).await;
    let entry = &app.audit(&ada, &[("action", "LOGIN")]).await[0];
    assert_eq!((&entry["resourceType"], &entry["resourceId"]), (&json!("SESSION"), &json!(again.session)));
    assert_eq!((&entry["userId"], &entry["metadata"]["method"]), (&json!(ada.user), &json!("password")));
}

async fn every_failure_is_recorded_with_its_reason(app: TestApp) {
    let (ada, _) = with_suspended_bob(&app).await;
    let gone = app.add_user(&ada, "gone@example.com").await;
    app.delete(&format!("/users/{gone}")).by(&ada).send().await.no_content();
    lock(&app, &app.colleague(&ada, "locked@example.com").await).await;
    let attempts = [
        ("unknown@example.com", WRONG_PASSWORD, "UNKNOWN_USER", 1),
        ("ada@example.com", WRONG_PASSWORD, "INVALID_PASSWORD", 1),
        ("bob@example.com", PASSWORD, "USER_SUSPENDED", 0),
        ("gone@example.com", PASSWORD, "USER_INACTIVE", 1),
        ("locked@example.com", PASSWORD, "ACCOUNT_LOCKED", 5),
    ];
    for (email, password, reason, count) in attempts {
        let id = format!("trying-{email}");
        app.attempt_at(&ada.tenant, email, password).header("x-correlation-id", &id).send().await;
        let entries = app.audit(&ada, &[("correlationId", &id)]).await;
        assert_eq!(entries.len(), 1, "{email}");
        let entry = &entries[0];
        assert_eq!((&entry["action"], &entry["resourceType"]), (&json!("LOGIN_FAILURE"), &json!("USER")));
        assert_eq!((&entry["resourceId"], &entry["userId"]), (&Value::Null, &Value::Null));
        assert_eq!(entry["metadata"], json!({ "email": email, "reason": reason, "attemptCount": count }));
    }
}

async fn a_failure_for_an_unknown_email_is_not_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.attempt("unknown@example.com", PASSWORD).send().await.problem("unauthorized");
    assert!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.is_empty());
}

async fn a_password_is_right_in_every_form_in_which_it_can_be_typed(app: TestApp) {
    const TYPED: [&str; 3] = ["Passé w0rd!", "Passe\u{301} w0rd!", "Passe\u{301}\u{a0}w0rd!"];
    let mut ada = app.register_with_password("ada@example.com", TYPED[2]).await;
    for password in TYPED {
        ada = Person::logged_in(&app.attempt("ada@example.com", password).send().await.ok());
    }
    for password in ["Passe w0rd!", "Passé w0rd! ", " Passé w0rd!", "Passé\u{200b} w0rd!"] {
        app.attempt("ada@example.com", password).send().await.problem("unauthorized");
    }
    for (current, new) in [(TYPED[1], "Stra\u{30a}ße 1!x"), ("Stråße\u{2003}1!x", TYPED[0])] {
        let change = json!({ "currentPassword": current, "newPassword": new });
        app.post("/auth/password").by(&ada).json(&change).send().await.no_content();
    }
    // The bounds count the form that is compared.
    let long = |characters: usize| format!("Aa1!{}", "e\u{301}".repeat(characters - 4));
    for (characters, field) in [(128, None), (129, Some("newPassword"))] {
        let change = json!({ "currentPassword": TYPED[0], "newPassword": long(characters) });
        let answer = app.post("/auth/password").by(&ada).json(&change).send().await;
        match field {
            Some(field) => assert_eq!(answer.invalid_fields(), [field]),
            None => {
                answer.no_content();
                let back = json!({ "currentPassword": long(characters), "newPassword": TYPED[0] });
                app.post("/auth/password").by(&ada).json(&back).send().await.no_content();
            }
        }
    }
}

async fn a_password_hashed_at_a_lower_cost_is_hashed_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let email = "ada@example.com".parse::<iam_core::Email>().unwrap().key();
    let hash = async || {
        let guarded = app.store.guarded_account(ada.tenant.parse().unwrap(), &email).await.unwrap();
        guarded.account.unwrap().password.expose().to_owned()
    };
    let (cheap, entries) = (hash().await, app.audit(&ada, &[]).await.len());
    app.login(&ada).await;
    assert_eq!(hash().await, cheap);
    let dearer = app.with_settings(|settings| settings.hashing_cost.memory_kib *= 2).await;
    dearer.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    assert_eq!(hash().await, cheap);
    dearer.login(&ada).await;
    assert!(hash().await.starts_with("$argon2id$v=19$m=128,t=1,p=1$"));
    // A higher cost is another one, too: it would be paid at every login.
    app.login(&ada).await;
    assert!(hash().await.starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
    assert_eq!(app.audit(&ada, &[]).await.len(), entries + 4, "three logins, one failure and nothing else");
}

/// Each login hashes the password again, and all but one may find that the hash was already replaced.
async fn concurrent_logins_with_a_weak_hash_all_succeed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let dearer = app.with_settings(|settings| settings.hashing_cost.memory_kib *= 2).await;
    let logins = (0..8).map(|_| dearer.attempt(&ada.email, PASSWORD).send());
    for answer in join_all(logins).await {
        answer.ok();
    }
    let failures = app.get("/audit-logs").query("action", "LOGIN_FAILURE").by(&ada).send().await.ok();
    assert_eq!(failures["data"], json!([]));
}

/// The old password is wrong as soon as the change has committed.
async fn a_password_changed_during_its_verification_is_wrong(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let change = json!({ "currentPassword": PASSWORD, "newPassword": "An0ther$ecret" });
    let logins = join_all((0..4).map(|_| app.attempt(&ada.email, PASSWORD).send()));
    let (logins, changed) = join(logins, app.post("/auth/password").by(&ada).json(&change).send()).await;
    changed.no_content();
    for login in logins {
        if login.status() == 200 {
            // This login came before the change, which ended its session.
            let session = Person::logged_in(&login.ok());
            app.get("/auth/me").by(&session).send().await.problem("unauthorized");
        } else {
            login.problem("unauthorized");
        }
    }
}

async fn slug_of(app: &TestApp, person: &Person) -> String {
    let tenant = app.get(&format!("/tenants/{}", person.tenant)).by(person).send().await.ok();
    tenant["slug"].as_str().unwrap().to_owned()
}

/// An administrator, and the id of a suspended user.
async fn with_suspended_bob(app: &TestApp) -> (Person, String) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    (ada, bob)
}

/// Locks the person's account, in its own tenant only.
async fn lock(app: &TestApp, person: &Person) {
    for _ in 0..5 {
        app.attempt_at(&person.tenant, &person.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
}
