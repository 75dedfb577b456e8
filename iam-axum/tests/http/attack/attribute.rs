//! Attacks on attributes: values that the caller must not read, write or find.

use serde_json::{Value, json};

use super::Company;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::each;

in_memory![
    a_stranger_and_another_tenant_find_nothing,
    a_search_finds_no_user_whom_the_caller_must_not_read,
    a_branch_is_the_limit_of_a_change,
    a_person_cannot_make_itself_what_the_tenant_says_it_is,
    a_change_needs_no_other_permission_than_that_of_the_fields,
    a_read_only_session_of_another_user_writes_nothing,
    no_attribute_takes_the_place_of_a_claim_or_a_field,
];

const SEARCHABLE: &str = "level";

async fn define(company: &Company<'_>) {
    let definition = json!({ "key": SEARCHABLE, "type": "STRING", "searchable": true, "inToken": true });
    company.app.define(&company.ada, &json!([definition])).await;
}

async fn give(company: &Company<'_>, user: &str, level: &str) {
    let body = json!({ "attributes": { SEARCHABLE: level } });
    company.app.patch(&format!("/users/{user}")).by(&company.ada).json(&body).send().await.ok();
}

fn attack(level: &str) -> Value {
    json!({ "attributes": { SEARCHABLE: level } })
}

async fn found(app: &TestApp, by: &Person, level: &str) -> Vec<String> {
    let answer = app.get("/users").by(by).query("attribute", &format!("{SEARCHABLE}:{level}")).send().await;
    each(&answer.ok(), "id")
}

async fn a_stranger_and_another_tenant_find_nothing(app: TestApp) {
    let company = Company::on(&app).await;
    define(&company).await;
    let victim = company.user_without_roles().await;
    give(&company, &victim.user, "gold").await;
    let eve = app.register("eve@example.org").await;
    app.define(&eve, &json!([{ "key": SEARCHABLE, "type": "STRING", "searchable": true }])).await;
    assert_eq!(found(&app, &eve, "gold").await, Vec::<String>::new());
    let path = format!("/users/{}", victim.user);
    company.attacked_by(app.patch(&path).by(&eve).json(&attack("none"))).await.problem("not-found");
    company.attacked_by(app.patch(&path).json(&attack("none"))).await.problem("unauthorized");
    company.attacked_by(app.patch("/auth/me").json(&attack("none"))).await.problem("unauthorized");
    app.get("/users").query("attribute", "level:gold").send().await.problem("unauthorized");
    let body = json!({ "userAttributes": [] });
    let tenant = format!("/tenants/{}", company.ada.tenant);
    company.attacked_by(app.patch(&tenant).by(&eve).json(&body)).await.problem("not-found");
}

async fn a_search_finds_no_user_whom_the_caller_must_not_read(app: TestApp) {
    let company = Company::on(&app).await;
    define(&company).await;
    let mallory = company.member(company.north, &["users:read"]).await;
    let (near, far) = (company.member(company.north, &[]).await, company.member(company.south, &[]).await);
    for victim in [&near, &far, &company.ada] {
        give(&company, &victim.user, "gold").await;
    }
    assert_eq!(found(&app, &mallory, "gold").await, std::slice::from_ref(&near.user));
    app.get(&format!("/users/{}", far.user)).by(&mallory).send().await.problem("not-found");
    let outsider = company.user_without_roles().await;
    // Whether a key is searchable, or what is wrong with the value, is for callers with the permission.
    for text in ["level:gold", "unknown:x", "x"] {
        app.get("/users").by(&outsider).query("attribute", text).send().await.problem("forbidden");
        app.get("/organizations").by(&outsider).query("attribute", text).send().await.problem("forbidden");
    }
}

async fn a_branch_is_the_limit_of_a_change(app: TestApp) {
    let company = Company::on(&app).await;
    define(&company).await;
    let mallory = company.member(company.north, &["users:update", "users:read"]).await;
    let far = company.member(company.south, &[]).await;
    // It holds a role in the branch, and belongs to the tenant.
    let guest = company.member(company.north, &[]).await;
    for (victim, answer) in [(&far, "not-found"), (&company.ada, "not-found"), (&guest, "forbidden")] {
        let path = format!("/users/{}", victim.user);
        company.attacked_by(app.patch(&path).by(&mallory).json(&attack("gold"))).await.problem(answer);
    }
    app.set_home(&company.ada, &guest.user, Some(company.north)).await;
    app.patch(&format!("/users/{}", guest.user)).by(&mallory).json(&attack("gold")).send().await.ok();
    let builder = company.member(company.north, &["organizations:update"]).await;
    let south = format!("/organizations/{}", company.south);
    company.attacked_by(app.patch(&south).by(&builder).json(&attack("gold"))).await.problem("not-found");
}

async fn a_person_cannot_make_itself_what_the_tenant_says_it_is(app: TestApp) {
    let company = Company::on(&app).await;
    define(&company).await;
    let mallory = company.user_without_roles().await;
    give(&company, &mallory.user, "bronze").await;
    for body in [attack("gold"), json!({ "attributes": { SEARCHABLE: null } })] {
        let refused = company.attacked_by(app.patch("/auth/me").by(&mallory).json(&body)).await;
        assert_eq!(refused.invalid_fields(), [format!("attributes.{SEARCHABLE}")]);
        let own = format!("/users/{}", mallory.user);
        company.attacked_by(app.patch(&own).by(&mallory).json(&body)).await.problem("forbidden");
    }
    for body in [json!({ "firstName": "Eve" }), json!({ "status": "ACTIVE" }), json!({ "personWrites": true })] {
        company.attacked_by(app.patch("/auth/me").by(&mallory).json(&body)).await.problem("validation-error");
    }
    let body = json!({ "userAttributes": [{ "key": SEARCHABLE, "type": "STRING", "personWrites": true }] });
    let tenant = format!("/tenants/{}", mallory.tenant);
    company.attacked_by(app.patch(&tenant).by(&mallory).json(&body)).await.problem("forbidden");
}

async fn a_change_needs_no_other_permission_than_that_of_the_fields(app: TestApp) {
    let company = Company::on(&app).await;
    let clerk = company.employee(&["users:update"]).await;
    let victim = company.user_without_roles().await;
    let path = format!("/users/{}", victim.user);
    app.patch(&path).by(&clerk).json(&attack("gold")).send().await.ok();
    // What has changed is not shown to a caller that may not read it.
    app.get(&path).by(&clerk).send().await.problem("forbidden");
    let changed = app.patch(&path).by(&clerk).json(&attack("silver")).send().await.ok();
    assert_eq!(changed.get("attributes"), None);
}

async fn a_read_only_session_of_another_user_writes_nothing(app: TestApp) {
    let company = Company::on(&app).await;
    let definition = json!({ "key": SEARCHABLE, "type": "STRING", "personWrites": true });
    app.define(&company.ada, &json!([definition])).await;
    let victim = company.user_without_roles().await;
    let acting = app.acting_with(&company.ada, &victim, &json!({ "readOnly": true })).await;
    app.patch("/auth/me").by(&acting).json(&attack("gold")).send().await.problem("forbidden");
    assert_eq!(app.user(&company.ada, &victim.user).await.get("attributes"), None);
    let acting = app.acting_with(&company.ada, &victim, &json!({ "readOnly": false })).await;
    app.patch("/auth/me").by(&acting).json(&attack("gold")).send().await.ok();
    // The log names both.
    let entry = app.history(&company.ada, &victim.user).await.remove(0);
    assert_eq!(entry["userId"], json!(victim.user));
    assert_eq!(entry["metadata"]["actorId"], json!(company.ada.user));
}

async fn no_attribute_takes_the_place_of_a_claim_or_a_field(app: TestApp) {
    let company = Company::on(&app).await;
    let names = ["sub", "tenantId", "exp", "act", "status", "email", "attributes"];
    let definitions: Vec<Value> =
        names.iter().map(|name| json!({ "key": name, "type": "STRING", "inToken": true })).collect();
    app.define(&company.ada, &json!(definitions)).await;
    let victim = company.user_without_roles().await;
    let attributes: Value =
        names.iter().map(|name| ((*name).to_owned(), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    let path = format!("/users/{}", victim.user);
    app.patch(&path).by(&company.ada).json(&json!({ "attributes": attributes })).send().await.ok();
    let session = app.login(&victim).await;
    assert_eq!((&session.user, &session.tenant), (&victim.user, &victim.tenant));
    let me = app.get("/auth/me").by(&session).send().await.ok();
    assert_eq!((&me["user"]["status"], &me["user"]["email"]), (&json!("ACTIVE"), &json!(victim.email)));
}
