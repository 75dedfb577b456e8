//! `POST /users`, `GET /users/:id` and `PATCH /users/:id` (`docs/http-api.md#users`). The effects of a status
//! are in `status.rs`.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};
use crate::request::{Response, members};

in_memory![
    create_answers_201_with_the_full_user,
    a_new_user_can_log_in_and_has_no_permissions,
    create_is_recorded_with_the_password_redacted,
    create_names_every_invalid_field,
    a_taken_email_is_a_conflict_in_any_letter_case,
    the_email_of_a_deleted_user_stays_taken,
    a_caller_who_may_read_a_deleted_user_learns_that_its_email_is_that_of_a_deleted_user,
    one_of_several_concurrent_creations_gets_the_email,
    an_email_is_free_in_another_tenant,
    an_email_is_a_dot_atom_at_a_domain,
    the_spellings_of_an_email_are_one_account,
    names_are_stored_trimmed,
    names_are_composed_visible_and_cannot_turn_text_around,
    get_shows_the_full_user,
    get_of_an_unknown_user_is_not_found,
    patch_answers_200_with_the_update_shape,
    patch_leaves_absent_fields_unchanged,
    patch_takes_null_as_absent,
    a_patch_that_changes_nothing_writes_and_records_nothing,
    patch_records_only_the_changed_fields,
    patch_of_the_email_changes_the_login,
    patch_to_a_taken_email_is_a_conflict,
    patch_may_change_only_the_letter_case_of_an_email,
    patch_refuses_unknown_and_read_only_fields_by_name,
    patch_names_every_invalid_field,
    patch_of_an_unknown_user_is_not_found,
];

async fn create(app: &TestApp, by: &Person, members: &Value) -> Response {
    app.post("/users").by(by).json(&with(profile("bob@example.com"), members)).send().await
}

async fn patch(app: &TestApp, by: &Person, id: &str, body: &Value) -> Response {
    app.patch(&format!("/users/{id}")).by(by).json(body).send().await
}

async fn create_answers_201_with_the_full_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let user = create(&app, &ada, &json!({ "email": "Bob@Example.com" })).await.created();
    let expected = json!({
        "id": user["id"], "kind": "HUMAN", "email": "Bob@Example.com", "emailVerifiedAt": null,
        "firstName": "Ada", "lastName": "Lovelace", "externalId": null,
        "homeOrganizationId": null, "tenantId": ada.tenant, "status": "ACTIVE", "lastLoginAt": null,
        "createdAt": app.now(), "updatedAt": app.now(),
    });
    assert_eq!(user, expected);
    let id: uuid::Uuid = user["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(id.get_version_num(), 7);
}

async fn a_new_user_can_log_in_and_has_no_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let me = app.get("/auth/me").by(&bob).send().await.ok();
    assert_eq!((&me["roles"], &me["permissions"]), (&json!([]), &json!({ "tenant": [], "organizations": [] })));
}

async fn create_is_recorded_with_the_password_redacted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let entries = app.audit(&ada, &[("resourceId", &bob)]).await;
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    assert_eq!((&entry["action"], &entry["resourceType"]), (&json!("CREATE"), &json!("USER")));
    assert_eq!((&entry["userId"], &entry["oldValue"]), (&json!(ada.user), &Value::Null));
    let created = &entry["newValue"];
    assert_eq!((&created["email"], &created["password"]), (&json!("bob@example.com"), &json!("[REDACTED]")));
    assert_eq!((&created["firstName"], &created["lastName"]), (&json!("Ada"), &json!("Lovelace")));
}

async fn create_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let empty = app.post("/users").by(&ada).json(&json!({})).send().await;
    assert_eq!(empty.invalid_fields(), ["email", "password", "firstName", "lastName"]);
    let wrong = json!({ "email": "b", "password": "b", "firstName": "b".repeat(101), "lastName": "b\nb" });
    let wrong = create(&app, &ada, &wrong).await;
    assert_eq!(wrong.invalid_fields(), ["email", "password", "firstName", "lastName"]);
    for field in ["email", "password", "firstName", "lastName", "status", "tenantId", "id"] {
        assert_eq!(create(&app, &ada, &json!({ field: 17 })).await.invalid_fields(), [field]);
    }
    assert_eq!(app.get("/users").by(&ada).send().await.ok()["pagination"]["total"], 1);
}

async fn a_taken_email_is_a_conflict_in_any_letter_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = app.audit(&ada, &[]).await;
    for email in ["ada@example.com", "ADA@Example.COM"] {
        create(&app, &ada, &json!({ "email": email })).await.problem("conflict");
    }
    assert_eq!(app.audit(&ada, &[]).await, before);
}

async fn the_email_of_a_deleted_user_stays_taken(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    create(&app, &ada, &json!({ "email": "BOB@example.com" })).await.problem("conflict");
    patch(&app, &ada, &ada.user, &json!({ "email": "bob@example.com" })).await.problem("conflict");
}

async fn a_caller_who_may_read_a_deleted_user_learns_that_its_email_is_that_of_a_deleted_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = create(&app, &ada, &json!({})).await.created()["id"].as_str().unwrap().to_owned();
    let other = app.add_user(&ada, "carol@example.com").await;
    let blind = app.colleague_who_may(&ada, "blind@example.com", &["users:create", "users:update"]).await;
    let seeing = app.colleague_who_may(&ada, "seeing@example.com", &["users:create", "users:*"]).await;
    let taken = json!({ "email": "BOB@example.com" });
    let details = async |by: &Person| {
        let created = create(&app, by, &taken).await.detail("conflict");
        let changed = patch(&app, by, &other, &taken).await.detail("conflict");
        [created, changed]
    };
    for person in [&ada, &seeing, &blind] {
        for detail in details(person).await {
            assert!(!detail.contains("deleted"), "{detail}");
        }
    }
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    for person in [&ada, &seeing] {
        for detail in details(person).await {
            assert!(detail.contains("deleted") && detail.contains("restore"), "{detail}");
        }
    }
    for detail in details(&blind).await {
        assert!(!detail.contains("deleted"), "{detail}");
    }
}

async fn one_of_several_concurrent_creations_gets_the_email(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({});
    let creates = join_all((0..6).map(|_| create(&app, &ada, &body))).await;
    let refused: Vec<&Response> = creates.iter().filter(|answer| answer.status() != 201).collect();
    assert_eq!(refused.len(), 5);
    refused.iter().for_each(|answer| drop(answer.problem("conflict")));
    assert_eq!(app.audit(&ada, &[("action", "CREATE"), ("resourceType", "USER")]).await.len(), 2);
}

async fn an_email_is_free_in_another_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    create(&app, &ada, &json!({ "email": "eve@example.com" })).await.created();
    patch(&app, &eve, &eve.user, &json!({ "email": "ada@example.com" })).await.ok();
}

async fn an_email_is_a_dot_atom_at_a_domain(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for email in ["राम@example.in", "u\u{308}n@exa\u{308}mple.de", "o'neil+x@mail.example.co", "用户@例子.公司"]
    {
        let user = create(&app, &ada, &json!({ "email": email })).await.created();
        assert_eq!(user["email"], email.replace("u\u{308}", "ü").replace("a\u{308}", "ä"));
    }
    for email in
        ["\"ada\"@example.com", "x@1.2.3.4", "x@[127.0.0.1]", "x@localhost", "x\u{202e}@example.com", "x@a..com"]
    {
        assert_eq!(create(&app, &ada, &json!({ "email": email })).await.invalid_fields(), ["email"], "{email}");
    }
}

/// Uniqueness, logins and lockouts have one key.
async fn the_spellings_of_an_email_are_one_account(app: TestApp) {
    let ada = app.register("νικοσ@exämple.de").await;
    for email in ["ΝΙΚΟΣ@exämple.de", "νικος@XN--EXMPLE-CUA.de"] {
        create(&app, &ada, &json!({ "email": email })).await.problem("conflict");
        app.attempt(email, PASSWORD).send().await.ok();
    }
    for email in ["νικοσ@exämple.de", "ΝΙΚΟΣ@exämple.de", "νικος@xn--exmple-cua.de"].iter().cycle().take(5)
    {
        app.attempt(email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt("Νικος@exämple.de", PASSWORD).send().await.problem("account-locked");
}

async fn names_are_composed_visible_and_cannot_turn_text_around(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let names = json!({ "firstName": " Rene\u{301}\u{a0}", "lastName": "Ō" });
    let user = create(&app, &ada, &names).await.created();
    assert_eq!((&user["firstName"], &user["lastName"]), (&json!("René"), &json!("Ō")));
    for name in ["\u{200b}", "A\u{202e}da", "A\u{2028}da", "A\u{2067}da", "\u{3164}", "A\u{85}da"] {
        let refused = create(&app, &ada, &json!({ "firstName": name, "lastName": name })).await;
        assert_eq!(refused.invalid_fields(), ["firstName", "lastName"], "{name:?}");
        let organization = app.post("/organizations").by(&ada).json(&json!({ "name": name })).send().await;
        assert_eq!(organization.invalid_fields(), ["name"], "{name:?}");
    }
}

async fn names_are_stored_trimmed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let user = create(&app, &ada, &json!({ "firstName": "  Bob ", "lastName": " van  Beek\t" })).await.created();
    assert_eq!((&user["firstName"], &user["lastName"]), (&json!("Bob"), &json!("van  Beek")));
    let id = user["id"].as_str().unwrap();
    let patched = patch(&app, &ada, id, &json!({ "firstName": " Rob " })).await.ok();
    assert_eq!(patched["firstName"], "Rob");
}

async fn get_shows_the_full_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let created = create(&app, &ada, &json!({})).await.created();
    let id = created["id"].as_str().unwrap();
    assert_eq!(app.user(&ada, id).await, created);
    app.pass(TimeDelta::minutes(1));
    app.attempt("bob@example.com", PASSWORD).send().await.ok();
    assert_eq!(app.user(&ada, id).await, with(created, &json!({ "lastLoginAt": app.now() })));
}

async fn get_of_an_unknown_user_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.get(&format!("/users/{}", ada.tenant)).by(&ada).send().await.problem("not-found");
    for malformed in ["17", "ada@example.com", "%20", "%FF"] {
        assert_eq!(app.get(&format!("/users/{malformed}")).by(&ada).send().await.invalid_fields(), ["id"]);
    }
}

async fn patch_answers_200_with_the_update_shape(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.pass(TimeDelta::minutes(1));
    let change = json!({ "firstName": "Rob", "lastName": "Roy", "email": "Rob@example.com", "status": "SUSPENDED" });
    let expected = with(change.clone(), &json!({ "id": bob, "kind": "HUMAN", "updatedAt": app.now() }));
    assert_eq!(patch(&app, &ada, &bob, &change).await.ok(), expected);
    let user = app.user(&ada, &bob).await;
    assert_eq!(with(user.clone(), &expected), user);
    assert_ne!(user["createdAt"], user["updatedAt"]);
}

async fn patch_leaves_absent_fields_unchanged(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let before = app.user(&ada, &bob).await;
    app.pass(TimeDelta::minutes(1));
    patch(&app, &ada, &bob, &json!({ "lastName": "Roy" })).await.ok();
    let expected = with(before, &json!({ "lastName": "Roy", "updatedAt": app.now() }));
    assert_eq!(app.user(&ada, &bob).await, expected);
}

async fn patch_takes_null_as_absent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let nulls = json!({ "firstName": null, "lastName": null, "email": null, "status": null });
    changes_nothing(&app, &ada, &bob, &nulls).await;
    let patched = patch(&app, &ada, &bob, &with(nulls, &json!({ "lastName": "Roy" }))).await.ok();
    assert_eq!((&patched["firstName"], &patched["lastName"]), (&json!("Ada"), &json!("Roy")));
}

async fn a_patch_that_changes_nothing_writes_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let same = json!({ "firstName": "Ada ", "lastName": "Lovelace", "email": "bob@example.com", "status": "ACTIVE" });
    for body in [json!({}), same] {
        changes_nothing(&app, &ada, &bob, &body).await;
    }
}

async fn changes_nothing(app: &TestApp, by: &Person, id: &str, body: &Value) {
    let (user, entries) = (app.user(by, id).await, app.audit(by, &[]).await);
    app.pass(TimeDelta::minutes(1));
    assert_eq!(patch(app, by, id, body).await.ok()["updatedAt"], user["updatedAt"]);
    assert_eq!((app.user(by, id).await, app.audit(by, &[]).await), (user, entries));
}

async fn patch_records_only_the_changed_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let body = json!({ "firstName": "Rob", "lastName": "Lovelace", "email": "Rob@example.com" });
    patch(&app, &ada, &bob, &body).await.ok();
    let entries = app.audit(&ada, &[("resourceId", &bob), ("action", "UPDATE")]).await;
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    assert_eq!((&entry["resourceType"], &entry["userId"]), (&json!("USER"), &json!(ada.user)));
    assert_eq!(entry["oldValue"], json!({ "firstName": "Ada", "email": "bob@example.com" }));
    assert_eq!(entry["newValue"], json!({ "firstName": "Rob", "email": "Rob@example.com" }));
    let changed = entry["metadata"]["changedFields"].as_array().unwrap();
    assert!(changed.len() == 2 && changed.contains(&json!("firstName")) && changed.contains(&json!("email")));
}

async fn patch_of_the_email_changes_the_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    patch(&app, &ada, &bob.user, &json!({ "email": "rob@example.com" })).await.ok();
    app.attempt("rob@example.com", PASSWORD).send().await.ok();
    app.attempt("bob@example.com", PASSWORD).send().await.problem("unauthorized");
    assert!(app.knows(&bob).await);
    app.add_user(&ada, "bob@example.com").await;
}

async fn patch_to_a_taken_email_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let before = app.user(&ada, &bob).await;
    let body = json!({ "email": "ADA@example.com", "firstName": "Rob" });
    patch(&app, &ada, &bob, &body).await.problem("conflict");
    assert_eq!(app.user(&ada, &bob).await, before);
    assert!(app.audit(&ada, &[("action", "UPDATE")]).await.is_empty());
}

async fn patch_may_change_only_the_letter_case_of_an_email(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let patched = patch(&app, &ada, &ada.user, &json!({ "email": "Ada@Example.com" })).await.ok();
    assert_eq!(patched["email"], "Ada@Example.com");
    assert_eq!(app.audit(&ada, &[("action", "UPDATE")]).await.len(), 1);
}

async fn patch_refuses_unknown_and_read_only_fields_by_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for field in ["id", "tenantId", "password", "createdAt", "updatedAt", "lastLoginAt", "first_name", "role"] {
        assert_eq!(patch(&app, &ada, &ada.user, &json!({ field: null })).await.invalid_fields(), [field]);
    }
}

async fn patch_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let wrong = json!({ "email": "ada", "firstName": " ", "lastName": "a".repeat(101) });
    assert_eq!(patch(&app, &ada, &ada.user, &wrong).await.invalid_fields(), ["email", "firstName", "lastName"]);
    for field in ["email", "firstName", "lastName", "status"] {
        assert_eq!(patch(&app, &ada, &ada.user, &json!({ field: 17 })).await.invalid_fields(), [field]);
    }
    for status in ["active", "DELETED", ""] {
        assert_eq!(patch(&app, &ada, &ada.user, &json!({ "status": status })).await.invalid_fields(), ["status"]);
    }
}

async fn patch_of_an_unknown_user_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    patch(&app, &ada, &ada.tenant, &json!({ "firstName": "Rob" })).await.problem("not-found");
    assert_eq!(patch(&app, &ada, "17", &json!({})).await.invalid_fields(), ["id"]);
    assert_eq!(members(&patch(&app, &ada, &ada.user, &json!({})).await.ok()).len(), 7);
}
