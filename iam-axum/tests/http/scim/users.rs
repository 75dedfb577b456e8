//! Users of directories (`docs/directories.md#users`).

use axum::http::Method;
use serde_json::{Value, json};

use super::{ENTERPRISE, Staff, USER, path, person, said};
use crate::app::TestApp;
use crate::people::with;
use crate::request::members;

in_memory![
    a_user_is_made_as_entra_sends_it,
    a_user_is_made_as_okta_sends_it,
    names_of_attributes_have_no_case_and_unknown_ones_are_ignored,
    an_answer_has_only_what_the_directory_has_said,
    the_email_is_the_primary_one_or_the_first_one_or_the_user_name,
    the_names_are_those_of_the_name_or_of_the_display_name_or_of_the_address,
    the_names_and_the_email_follow_from_what_the_directory_changes,
    the_address_is_verified_where_its_domain_is,
    no_mail_is_sent,
    a_user_who_is_not_active_is_suspended,
    an_absent_or_null_active_changes_nothing,
    what_is_kept_is_at_most_16_kib,
    put_replaces_what_was_said,
    a_user_that_is_sent_back_as_it_was_shown_changes_nothing,
    a_deleted_user_is_inactive_and_404,
    a_user_under_a_legal_hold_is_suspended_and_not_deleted,
    a_deleted_user_comes_back_without_roles,
    a_suspended_user_comes_back_with_its_roles,
    a_user_whom_an_administrator_has_deleted_stays_deleted,
    two_users_who_match_are_409,
    a_value_that_another_user_has_is_409_and_named,
    a_value_in_another_tenant_is_not_taken,
    a_user_of_the_tenant_is_adopted,
    a_user_is_not_adopted_where_an_administrator_does_not_allow_it,
    only_the_directory_changes_the_external_id,
    each_request_needs_a_permission_of_the_account,
    a_directory_changes_only_users_whose_rights_its_account_has,
    users_outside_of_the_directory_are_404,
    the_last_administrator_stays,
    entries_name_the_directory_and_the_key,
];

/// The body with which Entra ID makes a user. It has null for what it does not know.
fn by_entra() -> Value {
    json!({
        "schemas": [USER, ENTERPRISE],
        "externalId": "a91f",
        "userName": "grace@example.com",
        "active": true,
        "displayName": "Grace Hopper",
        "title": null,
        "preferredLanguage": null,
        "phoneNumbers": null,
        "addresses": null,
        "emails": [{ "primary": true, "type": "work", "value": "grace@example.com" }],
        "meta": { "resourceType": "User" },
        "name": { "formatted": "Grace Hopper", "familyName": "Hopper", "givenName": "Grace" },
        "roles": [],
        ENTERPRISE: { "department": "Navy", "manager": "12ab", "division": null },
    })
}

async fn a_user_is_made_as_entra_sends_it(app: TestApp) {
    let staff = Staff::of(&app).await;
    let answer = staff.post(&by_entra()).send().await;
    let user = answer.scim(201);
    let location = format!("http://localhost/scim/v2/Users/{}", user["id"].as_str().unwrap());
    let expected = json!({
        "schemas": [USER, ENTERPRISE],
        "id": user["id"],
        "externalId": "a91f",
        "userName": "grace@example.com",
        "active": true,
        "displayName": "Grace Hopper",
        "emails": [{ "primary": true, "type": "work", "value": "grace@example.com" }],
        "name": { "formatted": "Grace Hopper", "familyName": "Hopper", "givenName": "Grace" },
        ENTERPRISE: { "department": "Navy", "manager": { "value": "12ab" } },
        "meta": {
            "resourceType": "User",
            "created": app.now(),
            "lastModified": app.now(),
            "location": location,
            "version": answer.header("etag").unwrap(),
        },
    });
    assert_eq!(user, expected);
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(staff.shown(&user).await, user);
    let account = staff.account_of(&user).await;
    let profile = json!({
        "kind": "HUMAN", "email": "grace@example.com", "firstName": "Grace", "lastName": "Hopper",
        "externalId": "a91f", "status": "ACTIVE", "emailVerifiedAt": null, "homeOrganizationId": null,
        "lastLoginAt": null,
    });
    assert_eq!(with(account.clone(), &profile), account);
}

async fn a_user_is_made_as_okta_sends_it(app: TestApp) {
    let staff = Staff::of(&app).await;
    let body = json!({
        "schemas": [USER],
        "userName": "ana@example.com",
        "name": { "givenName": "Ana", "familyName": "Ruiz" },
        "emails": [{ "primary": true, "value": "ana@example.com", "type": "work" }],
        "displayName": "Ana Ruiz",
        "locale": "es-ES",
        "externalId": "00u1",
        "groups": [],
        "password": "1mz050nq",
        "active": true,
    });
    let find = || staff.get("/Users?startIndex=1&count=100").query("filter", r#"userName eq "ana@example.com""#);
    assert_eq!(find().send().await.scim(200)["totalResults"], 0);
    let user = staff.post(&body).send().await.scim(201);
    let mut expected = with(body, &json!({ "id": user["id"] }));
    for ignored in ["groups", "password"] {
        expected.as_object_mut().unwrap().remove(ignored);
    }
    assert_eq!(said(user.clone()), expected);
    assert_eq!(find().send().await.scim(200)["Resources"], json!([user]));
    // A password of the directory is none of this service.
    app.attempt("ana@example.com", "1mz050nq").send().await.problem("unauthorized");
}

async fn names_of_attributes_have_no_case_and_unknown_ones_are_ignored(app: TestApp) {
    let staff = Staff::of(&app).await;
    let body = json!({
        "schemas": ["urn:scim:schemas:core:1.0", "http://example.com/own"],
        "USERNAME": "grace@example.com",
        "Active": "False",
        "displayname": "Grace",
        "EMAILS": [{ "Value": "grace@example.com", "TYPE": "work", "display": "Grace" }],
        "nickName": "Amazing",
        "urn:example:Own": { "userName": "other" },
    });
    let user = staff.post(&body).send().await.scim(201);
    let expected = json!({
        "schemas": [USER],
        "id": user["id"],
        "userName": "grace@example.com",
        "active": false,
        "displayName": "Grace",
        "emails": [{ "value": "grace@example.com", "type": "work" }],
    });
    assert_eq!(said(user), expected);
}

async fn an_answer_has_only_what_the_directory_has_said(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.post(&json!({ "userName": "grace@example.com" })).send().await.scim(201);
    assert_eq!(members(&user), ["active", "id", "meta", "schemas", "userName"]);
    assert_eq!(user["schemas"], json!([USER]));
    let account = staff.account_of(&user).await;
    assert_eq!((&account["email"], &account["firstName"]), (&json!("grace@example.com"), &json!("grace")));
}

async fn the_email_is_the_primary_one_or_the_first_one_or_the_user_name(app: TestApp) {
    let staff = Staff::of(&app).await;
    let [first, second] = ["one", "two"].map(|name| json!({ "value": format!("{name}@example.com"), "type": name }));
    let primary = with(second.clone(), &json!({ "value": "primary@example.com", "primary": true }));
    for (user_name, emails, expected) in [
        ("a", json!([first, primary]), Some("primary@example.com")),
        ("b", json!([first, second]), Some("one@example.com")),
        ("name@example.com", json!([]), Some("name@example.com")),
        ("c", json!([]), None),
        ("d@example.com", json!([{ "value": "no address" }]), None),
    ] {
        let body = json!({ "userName": user_name, "emails": emails });
        let answer = staff.post(&body).send().await;
        match expected {
            Some(email) => assert_eq!(staff.account_of(&answer.scim(201)).await["email"], email, "{body}"),
            None => assert!(answer.refused(400, Some("invalidValue")).contains("emails"), "{}", answer.text()),
        }
    }
}

async fn the_names_are_those_of_the_name_or_of_the_display_name_or_of_the_address(app: TestApp) {
    let staff = Staff::of(&app).await;
    let name = json!({ "givenName": "Grace", "familyName": "Hopper" });
    let longest = "x".repeat(100);
    for (number, (attributes, expected)) in [
        (json!({ "name": name, "displayName": "Amazing Grace" }), ["Grace", "Hopper"]),
        (json!({ "displayName": "Grace Brewster Hopper" }), ["Grace Brewster", "Hopper"]),
        (json!({ "name": { "familyName": "Murray" }, "displayName": "Grace" }), ["Grace", "Murray"]),
        (json!({ "name": { "givenName": format!("{longest}x") } }), [longest.as_str(), "-"]),
        (json!({}), ["user4", "-"]),
    ]
    .into_iter()
    .enumerate()
    {
        let body = with(json!({ "userName": format!("user{number}@example.com") }), &attributes);
        let account = staff.account_of(&staff.post(&body).send().await.scim(201)).await;
        assert_eq!([&account["firstName"], &account["lastName"]], expected, "{body}");
    }
}

async fn the_names_and_the_email_follow_from_what_the_directory_changes(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let changed = json!({ "name": { "givenName": "Amazing", "familyName": "Hopper" }, "displayName": "G" });
    staff.put(&user, &person("hopper", &changed)).send().await.scim(200);
    let account = staff.account_of(&user).await;
    let expected = json!({ "email": "hopper@example.com", "firstName": "Amazing", "externalId": "id-hopper" });
    assert_eq!(with(account.clone(), &expected), account);
}

async fn the_address_is_verified_where_its_domain_is(app: TestApp) {
    let staff = Staff::of(&app).await;
    staff.verify_domain("example.com").await;
    let user = staff.made("grace", &json!({})).await;
    assert_eq!(staff.account_of(&user).await["emailVerifiedAt"], app.now());
    let elsewhere = json!([{ "op": "replace", "path": "emails", "value": [{ "value": "grace@example.org" }] }]);
    staff.patched(&user, &elsewhere).await;
    assert_eq!(staff.account_of(&user).await["emailVerifiedAt"], Value::Null);
}

async fn no_mail_is_sent(app: TestApp) {
    let app = app.with_mail().await;
    let staff = Staff::of(&app).await;
    app.mails().await;
    let user = staff.made("grace", &json!({})).await;
    for active in [false, true] {
        staff.patched(&user, &json!([{ "op": "replace", "path": "active", "value": active }])).await;
    }
    staff.put(&user, &person("hopper", &json!({}))).send().await.scim(200);
    staff.delete(&path(&user)).send().await.no_content();
    assert!(app.mails().await.is_empty());
}

async fn a_user_who_is_not_active_is_suspended(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({ "active": false })).await;
    assert_eq!(user["active"], false);
    staff.assert_status(&user, "SUSPENDED").await;
    for (active, status) in [(true, "ACTIVE"), (true, "ACTIVE"), (false, "SUSPENDED"), (false, "SUSPENDED")] {
        let body = person("grace", &json!({ "active": active }));
        assert_eq!(staff.put(&user, &body).send().await.scim(200)["active"], active);
        staff.assert_status(&user, status).await;
    }
}

async fn an_absent_or_null_active_changes_nothing(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({ "active": false })).await;
    for members in [json!({}), json!({ "active": null })] {
        staff.put(&user, &person("grace", &members)).send().await.scim(200);
    }
    for operation in [
        json!({ "op": "replace", "path": "active", "value": null }),
        json!({ "op": "remove", "path": "active" }),
        json!({ "op": "replace", "value": { "title": "Admiral" } }),
    ] {
        assert_eq!(staff.patched(&user, &json!([operation])).await["active"], false);
    }
    staff.assert_status(&user, "SUSPENDED").await;
}

async fn what_is_kept_is_at_most_16_kib(app: TestApp) {
    let staff = Staff::of(&app).await;
    let with_title = |length: usize| person("grace", &json!({ "title": "x".repeat(length) }));
    let refused = staff.post(&with_title(16 * 1024)).send().await.refused(400, Some("invalidValue"));
    assert!(refused.contains("16384 bytes"), "{refused}");
    let user = staff.post(&with_title(15 * 1024)).send().await.scim(201);
    staff.put(&user, &with_title(16 * 1024)).send().await.refused(400, Some("invalidValue"));
    assert_eq!(staff.shown(&user).await, user);
}

async fn put_replaces_what_was_said(app: TestApp) {
    let staff = Staff::of(&app).await;
    let enterprise = json!({ "department": "Navy", "costCenter": "7" });
    let more = json!({ "title": "Admiral", "locale": "en-US", "active": false, ENTERPRISE: enterprise });
    let user = staff.made("grace", &more).await;
    let body = json!({
        "userName": "ghopper",
        "emails": [{ "value": "grace@example.com" }],
        "locale": "en-GB",
        ENTERPRISE: { "department": "Research" },
    });
    let replaced = staff.put(&user, &body).send().await.scim(200);
    let own = json!({ "schemas": [USER, ENTERPRISE], "id": user["id"], "active": false });
    assert_eq!(said(replaced.clone()), with(body, &own));
    assert_eq!(staff.shown(&user).await, replaced);
    assert_eq!(staff.account_of(&user).await["externalId"], Value::Null);
}

/// Okta reads a user, changes it and sends it back, with what it did not change and with what it adds.
async fn a_user_that_is_sent_back_as_it_was_shown_changes_nothing(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.post(&by_entra()).send().await.scim(201);
    app.pass(chrono::TimeDelta::seconds(1));
    let mut body = with(user.clone(), &json!({ "groups": [] }));
    body["name"]["middleName"] = json!("");
    body["emails"][0]["display"] = json!("Grace");
    let answer = app.unrecorded(&staff.ada, staff.put(&user, &body).send()).await;
    assert_eq!(answer.scim(200), user);
}

async fn a_deleted_user_is_inactive_and_404(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    staff.delete(&path(&user)).send().await.no_content();
    staff.assert_status(&user, "INACTIVE").await;
    let change = json!([{ "op": "replace", "path": "active", "value": true }]);
    for request in [
        staff.get(&path(&user)),
        staff.put(&user, &person("grace", &json!({}))),
        staff.patch(&user, &change),
        staff.delete(&path(&user)),
    ] {
        request.send().await.refused(404, None);
    }
    assert_eq!(staff.get("/Users").send().await.scim(200)["totalResults"], 0);
}

async fn a_user_under_a_legal_hold_is_suspended_and_not_deleted(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let hold = json!({ "userId": user["id"], "reason": "Case 2026-17" });
    app.post("/legal-holds").by(&staff.ada).json(&hold).send().await.created();
    staff.delete(&path(&user)).send().await.refused(409, None);
    staff.assert_status(&user, "ACTIVE").await;
    staff.patched(&user, &json!([{ "op": "replace", "path": "active", "value": false }])).await;
    staff.assert_status(&user, "SUSPENDED").await;
}

async fn a_deleted_user_comes_back_without_roles(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let id = user["id"].as_str().unwrap();
    app.assign(&staff.ada, id, "MEMBER", None, None).await;
    for again in [json!({ "userName": "ghopper" }), json!({ "userName": "GHOPPER", "externalId": "other" })] {
        app.pass(chrono::TimeDelta::seconds(1));
        staff.delete(&path(&user)).send().await.no_content();
        let back = staff.post(&person("grace", &again)).send().await.scim(201);
        assert_eq!((&back["id"], &back["active"]), (&user["id"], &json!(true)));
        assert_eq!(back["userName"], again["userName"]);
        assert_eq!(back["meta"]["created"], user["meta"]["created"]);
        staff.assert_status(&user, "ACTIVE").await;
        let roles = app.get(&format!("/users/{id}/roles")).by(&staff.ada).send().await.ok();
        assert_eq!(roles["data"], json!([]));
    }
}

async fn a_suspended_user_comes_back_with_its_roles(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({ "active": false })).await;
    app.role(&staff.ada, "READER", &["users:read"]).await;
    app.assign(&staff.ada, user["id"].as_str().unwrap(), "READER", None, None).await;
    let back = staff.made("grace", &json!({ "title": "Admiral" })).await;
    assert_eq!((&back["id"], &back["active"], &back["title"]), (&user["id"], &json!(true), &json!("Admiral")));
    let roles = app.get(&format!("/users/{}/roles", user["id"].as_str().unwrap())).by(&staff.ada).send().await.ok();
    assert_eq!(roles["data"].as_array().unwrap().len(), 1);
    // While it is active, a second one is refused.
    staff.post(&person("grace", &json!({}))).send().await.refused(409, Some("uniqueness"));
}

async fn a_user_whom_an_administrator_has_deleted_stays_deleted(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    app.delete(&format!("/users/{}", user["id"].as_str().unwrap())).by(&staff.ada).send().await.no_content();
    assert_eq!(staff.shown(&user).await["active"], false);
    let again = || staff.post(&person("grace", &json!({})));
    again().send().await.refused(409, Some("uniqueness"));
    let activation = json!([{ "op": "replace", "path": "active", "value": true }]);
    staff.patch(&user, &activation).send().await.refused(409, None);
    app.pass(chrono::TimeDelta::seconds(1));
    staff.delete(&path(&user)).send().await.no_content();
    again().send().await.refused(409, Some("uniqueness"));
    staff.assert_status(&user, "INACTIVE").await;
}

async fn two_users_who_match_are_409(app: TestApp) {
    let staff = Staff::of(&app).await;
    for name in ["grace", "alan"] {
        let user = staff.made(name, &json!({})).await;
        staff.delete(&path(&user)).send().await.no_content();
    }
    let both = person("grace", &json!({ "externalId": "id-alan" }));
    app.unrecorded(&staff.ada, staff.post(&both).send()).await.refused(409, Some("uniqueness"));
}

async fn a_value_that_another_user_has_is_409_and_named(app: TestApp) {
    let staff = Staff::of(&app).await;
    staff.made("grace", &json!({})).await;
    let alan = staff.made("alan", &json!({})).await;
    app.add_user(&staff.ada, "bob@example.com").await;
    let bob = |address: &str| json!({ "emails": [{ "value": address }] });
    for (taken, attribute) in [
        (bob("BOB@example.com"), "emails"),
        (json!({ "externalId": "id-grace" }), "externalId"),
        (json!({ "externalId": "bob@example.com" }), "externalId"),
        (json!({ "userName": "GRACE" }), "userName"),
    ] {
        let operations =
            json!([{ "op": "replace", "path": "title", "value": "x" }, { "op": "replace", "value": taken }]);
        for request in [
            staff.post(&person("new", &taken)),
            staff.put(&alan, &person("alan", &taken)),
            staff.patch(&alan, &operations),
        ] {
            let answer = app.unrecorded(&staff.ada, request.send()).await;
            let detail = answer.refused(409, Some("uniqueness"));
            assert!(detail.starts_with(&format!("{attribute}: ")), "{taken}: {detail}");
        }
    }
    assert_eq!(staff.shown(&alan).await, alan);
}

async fn a_value_in_another_tenant_is_not_taken(app: TestApp) {
    let staff = Staff::of(&app).await;
    staff.made("grace", &json!({})).await;
    let eve = app.register("eve@other.example").await;
    let theirs = Staff::at(&app, &eve, &["users:*"], &json!({})).await;
    theirs.made("grace", &json!({})).await;
    assert_eq!(theirs.get("/Users").send().await.scim(200)["totalResults"], 1);
}

async fn a_user_of_the_tenant_is_adopted(app: TestApp) {
    let staff = Staff::with(&app, &["users:*"], &json!({ "adopt": true })).await;
    staff.verify_domain("example.com").await;
    let bob = app.colleague(&staff.ada, "bob@example.com").await;
    let adopted = staff.made("bob", &json!({ "name": { "givenName": "Robert", "familyName": "Noyce" } })).await;
    assert_eq!(adopted["id"], bob.user);
    let account = staff.account_of(&adopted).await;
    let expected = json!({
        "email": "bob@example.com", "firstName": "Robert", "lastName": "Noyce", "externalId": "id-bob",
        "status": "ACTIVE", "emailVerifiedAt": null,
    });
    assert_eq!(with(account.clone(), &expected), account);
    assert!(app.knows(&app.login(&bob).await).await, "it keeps its password");
    assert_eq!(staff.get("/Users").send().await.scim(200)["Resources"], json!([adopted]));
}

async fn a_user_is_not_adopted_where_an_administrator_does_not_allow_it(app: TestApp) {
    let staff = Staff::with(&app, &["users:*"], &json!({ "adopt": true })).await;
    let plain = Staff::at(&app, &staff.ada, &["users:*"], &json!({})).await;
    app.add_user(&staff.ada, "bob@example.com").await;
    let chief = app.colleague(&staff.ada, "chief@example.com").await;
    app.permit(&chief, &["roles:read"]).await;
    let create = async |staff: &Staff<'_>, name: &str| {
        let answer = app.unrecorded(&staff.ada, staff.post(&person(name, &json!({}))).send()).await;
        answer.refused(409, Some("uniqueness"))
    };
    let refused = create(&staff, "bob").await;
    assert!(refused.starts_with("emails: "), "{refused}");
    staff.verify_domain("example.com").await;
    // The same answer, whatever the reason is.
    assert_eq!(create(&plain, "bob").await, refused);
    assert_eq!(create(&staff, "chief").await, refused);
    staff.made("bob", &json!({})).await;
}

async fn only_the_directory_changes_the_external_id(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let change = async |body: Value| {
        app.patch(&format!("/users/{}", user["id"].as_str().unwrap())).by(&staff.ada).json(&body).send().await
    };
    for external_id in [json!("00u1"), Value::Null] {
        let answer = change(json!({ "externalId": external_id })).await;
        assert_eq!(answer.detail("conflict"), "the directory of this user sets this field.");
    }
    change(json!({ "firstName": "Amazing" })).await.ok();
    staff.patched(&user, &json!([{ "op": "replace", "path": "externalId", "value": "00u1" }])).await;
    assert_eq!(staff.account_of(&user).await["externalId"], "00u1");
}

async fn each_request_needs_a_permission_of_the_account(app: TestApp) {
    let ada = app.register("ada@other.example").await;
    for (number, missing) in ["users:create", "users:read", "users:update", "users:delete"].into_iter().enumerate() {
        let held: Vec<&str> = ["users:create", "users:read", "users:update", "users:delete"]
            .into_iter()
            .filter(|permission| *permission != missing)
            .collect();
        let staff = Staff::at(&app, &ada, &held, &json!({})).await;
        let user = json!({ "id": ada.tenant });
        let name = format!("user{number}");
        let operations = json!([{ "op": "replace", "path": "title", "value": "x" }]);
        for (needed, request) in [
            ("users:create", staff.post(&person(&name, &json!({})))),
            ("users:read", staff.get("/Users")),
            ("users:read", staff.get(&path(&user))),
            ("users:read", staff.write(Method::POST, "/Users/.search", &json!({}))),
            ("users:read", staff.write(Method::POST, "/.search", &json!({}))),
            ("users:update", staff.put(&user, &person(&name, &json!({})))),
            ("users:update", staff.patch(&user, &operations)),
            ("users:delete", staff.delete(&path(&user))),
        ] {
            let answer = request.send().await;
            if needed == missing {
                assert_eq!(answer.refused(403, None), format!("Missing permission: {missing}."));
            } else {
                assert_ne!(answer.status(), 403, "{missing}: {}", answer.text());
            }
        }
    }
}

async fn a_directory_changes_only_users_whose_rights_its_account_has(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    app.role(&staff.ada, "READER", &["roles:read"]).await;
    app.assign(&staff.ada, user["id"].as_str().unwrap(), "READER", None, None).await;
    let replace = |value: Value| staff.patch(&user, &json!([{ "op": "replace", "value": value }]));
    let email = || json!({ "emails": [{ "value": "other@example.com" }] });
    for taking in [email(), json!({ "externalId": "other" })] {
        app.unrecorded(&staff.ada, replace(taking).send()).await.refused(403, None);
    }
    replace(json!({ "title": "Admiral", "active": false })).send().await.scim(200);
    replace(json!({ "active": true })).send().await.refused(403, None);
    staff.assert_status(&user, "SUSPENDED").await;
    app.assign(&staff.ada, &staff.account, "READER", None, None).await;
    replace(with(email(), &json!({ "externalId": "other", "active": true }))).send().await.scim(200);
    staff.assert_status(&user, "ACTIVE").await;
}

async fn users_outside_of_the_directory_are_404(app: TestApp) {
    let staff = Staff::of(&app).await;
    let eve = app.register("eve@other.example").await;
    let beside = Staff::at(&app, &staff.ada, &["users:*"], &json!({})).await;
    let elsewhere = Staff::at(&app, &eve, &["users:*"], &json!({})).await;
    let own = app.add_user(&staff.ada, "bob@example.com").await;
    let ids = [
        json!(own),
        json!(staff.ada.user),
        json!(staff.account),
        beside.made("grace", &json!({})).await["id"].clone(),
        elsewhere.made("grace", &json!({})).await["id"].clone(),
        json!(staff.ada.tenant),
        json!("77c"),
        json!("%F0"),
    ];
    for id in ids {
        let user = json!({ "id": id });
        let operations = json!([{ "op": "replace", "path": "title", "value": "x" }]);
        for request in [
            staff.get(&path(&user)),
            staff.put(&user, &person("new", &json!({}))),
            staff.patch(&user, &operations),
            staff.delete(&path(&user)),
        ] {
            let answer = app.unrecorded(&staff.ada, request.send()).await;
            assert_eq!(answer.refused(404, None), "User not found.", "{id}");
        }
    }
    assert_eq!(staff.get("/Users").send().await.scim(200)["totalResults"], 0);
}

async fn the_last_administrator_stays(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    app.assign(&staff.ada, user["id"].as_str().unwrap(), "TENANT_ADMIN", None, None).await;
    let bob = app.colleague_who_may(&staff.ada, "bob@example.com", &["*"]).await;
    app.delete(&format!("/users/{}", staff.ada.user)).by(&bob).send().await.no_content();
    let leaving = json!([{ "op": "replace", "path": "active", "value": false }]);
    for request in [staff.patch(&user, &leaving), staff.delete(&path(&user))] {
        app.unrecorded(&bob, request.send()).await.refused(409, None);
    }
    assert_eq!(staff.shown(&user).await, user);
}

async fn entries_name_the_directory_and_the_key(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let change = json!([{ "op": "replace", "value": { "title": "Admiral", "active": false } }]);
    let request = staff.patch(&user, &change).header("x-correlation-id", "leaving");
    request.header("user-agent", "directory/1").send().await.scim(200);
    staff.delete(&path(&user)).send().await.no_content();
    let entries = app.history(&staff.ada, user["id"].as_str().unwrap()).await;
    let actions: Vec<&str> = entries.iter().rev().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions.first(), Some(&"CREATE"));
    assert_eq!(actions.last(), Some(&"DELETE"));
    assert!(actions.contains(&"USER_SUSPENDED"), "{actions:?}");
    for entry in &entries {
        let metadata = &entry["metadata"];
        assert_eq!([&metadata["directoryId"], &metadata["apiKeyId"]], [&staff.directory, &staff.key_id], "{entry}");
        assert_eq!(entry["userId"], staff.account, "{entry}");
    }
    let leaving = app.audit(&staff.ada, &[("correlationId", "leaving")]).await;
    assert!(leaving.iter().all(|entry| entry["userAgent"] == "directory/1"), "{leaving:?}");
    assert!(leaving.iter().any(|entry| entry["newValue"]["attributes"]["title"] == "Admiral"), "{leaving:?}");
}
