//! Attacks by the content of a request: ids of another tenant, unexpected members, other methods.

use std::collections::BTreeSet;

use axum::http::Method;
use chrono::TimeDelta;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use super::Company;
use crate::access_table::{ROWS, Target, World, operation_of};
use crate::app::TestApp;
use crate::openapi::{document, operations};
use crate::people::Person;
use crate::request::{Request, Response};

in_memory_with_mail![
    ids_of_another_tenant_in_paths_are_404,
    other_spellings_of_an_id_are_refused,
    ids_of_another_tenant_in_bodies_are_404_and_named,
    ids_of_another_tenant_in_queries_find_nothing,
    a_token_gives_only_the_current_rights_of_its_user,
    unknown_members_are_refused_everywhere,
    a_duplicate_member_is_refused,
    a_method_cannot_be_overridden,
];

/// The id of the newest entry in the audit log of the reader's tenant.
async fn newest_entry(app: &TestApp, reader: &Person) -> Value {
    app.get("/audit-logs?limit=1").by(reader).send().await.ok()["data"][0]["id"].clone()
}

/// Sends a request and checks that the audit log of neither tenant gets an entry.
async fn unrecorded_anywhere(app: &TestApp, world: &World<'_>, request: Request<'_>) -> Response {
    let newest = async || [newest_entry(app, &world.owner).await, newest_entry(app, &world.foreign_owner).await];
    let before = newest().await;
    let answer = request.send().await;
    assert_eq!(newest().await, before);
    answer
}

async fn ids_of_another_tenant_in_paths_are_404(app: TestApp) {
    let world = World::of(&app).await;
    let eve = &world.foreign_owner;
    // These are public: a browser comes back to the provider of any tenant, and any provider logs its people out.
    let is_tried = |row: &str| row.contains("{id}") && !row.contains("/callback/") && !row.contains("/backchannel-");
    for (row, targets) in ROWS.iter().filter(|(row, _)| is_tried(row)) {
        for target in targets.iter().filter(|target| !matches!(target, Target::Oneself | Target::OtherTenant)) {
            let call = world.call(row, *target, &world.owner).await;
            let answer = unrecorded_anywhere(&app, &world, call.request(&app).by(eve)).await;
            assert_eq!(answer.status(), 404, "{row} {target:?}: {}", answer.text());
            answer.problem("not-found");
        }
    }
}

async fn other_spellings_of_an_id_are_refused(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let eve = app.register("eve@example.com").await;
    let south = company.south.to_string();
    let spellings = [
        south.to_uppercase(),
        south.replace('-', ""),
        format!("%7B{south}%7D"),
        format!("urn:uuid:{south}"),
        format!("{south}%00"),
        format!("{south}%20"),
    ];
    for spelling in spellings {
        let path = format!("/organizations/{spelling}");
        for by in [&mallory, &eve] {
            let attack = app.patch(&path).by(by).json(&json!({ "name": "Mine" }));
            let answer = company.attacked_by(attack).await;
            assert!(matches!(answer.status(), 400 | 404), "{spelling}: {}", answer.text());
        }
    }
}

/// Every id in a body: its name in an error, and its JSON pointer.
fn ids_in(body: &Value, name: &str, pointer: &str) -> Vec<(String, String)> {
    match body {
        Value::Object(members) => {
            let inner = |(member, value): (&String, &Value)| {
                let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                ids_in(value, &name, &format!("{pointer}/{member}"))
            };
            members.iter().flat_map(inner).collect()
        }
        Value::Array(items) => {
            let inner = |(number, value)| ids_in(value, &format!("{name}[{number}]"), &format!("{pointer}/{number}"));
            items.iter().enumerate().flat_map(inner).collect()
        }
        // The identifier in another system is any text.
        Value::String(_) if name.ends_with("Id") && name != "externalId" => vec![(name.to_owned(), pointer.to_owned())],
        _ => Vec::new(),
    }
}

/// The names of all members of a schema, at any depth.
fn members_in(document: &Value, schema: &Value) -> BTreeSet<String> {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let mut names = BTreeSet::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone());
        names.extend(members_in(document, member));
        names.extend(members_in(document, &member["items"]));
    }
    names
}

async fn ids_of_another_tenant_in_bodies_are_404_and_named(app: TestApp) {
    let world = World::of(&app).await;
    let mallory = &world.owner;
    let mut tried = BTreeSet::new();
    for (row, targets) in ROWS {
        if !targets.contains(&Target::OwnBranch) {
            continue;
        }
        let own = world.call(row, Target::OwnBranch, mallory).await;
        let Some(body) = &own.body else { continue };
        let foreign = world.call(row, Target::OtherTenant, mallory).await.body.unwrap();
        for (name, pointer) in ids_in(body, "", "") {
            let mut attack = body.clone();
            *attack.pointer_mut(&pointer).unwrap() = foreign.pointer(&pointer).unwrap().clone();
            let request = own.with_body(&app, &attack).by(mallory);
            let answer = unrecorded_anywhere(&app, &world, request).await;
            assert_eq!(answer.status(), 404, "{row} {name}: {}", answer.text());
            assert_eq!(answer.fields("not-found"), [name.as_str()], "{row}");
            let operation = row.split(" (").next().unwrap();
            tried.insert((operation.to_owned(), name.rsplit('.').next().unwrap().to_owned()));
        }
    }
    let document = document();
    for operation in operations(&document) {
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        for name in members_in(&document, schema).into_iter().filter(|name| name.ends_with("Id")) {
            if (operation.to_string().as_str(), name.as_str()) == ("POST /audit-logs", "resourceId") {
                // The application chooses this text, and the service looks nothing up by it.
                continue;
            }
            if operation.path.starts_with("/identity-providers") || operation.path == "/tenants/{id}/apply" {
                // `clientId` is a text of the provider. What else a provider names has tests of its own. A manifest has
                // names, and no ids.
                continue;
            }
            if operation.path.starts_with("/access/v1/") {
                // What a question of AuthZEN names may be unknown. Tests of its own name what another tenant has.
                continue;
            }
            if operation.path.starts_with("/directories") {
                // The tests of directories name accounts and providers of another tenant.
                continue;
            }
            if name == "externalId" {
                continue;
            }
            if operation.path == "/legal-holds" {
                // The row has no place in the tree. A test of holds names a user of another tenant.
                continue;
            }
            if name == "providerId" {
                // Logins are public, and those of a link have a test of their own.
                continue;
            }
            assert!(tried.contains(&(operation.to_string(), name.clone())), "{name} of {operation} was not tried");
        }
    }
}

async fn ids_of_another_tenant_in_queries_find_nothing(app: TestApp) {
    let world = World::of(&app).await;
    let (mallory, victim) = (&world.owner, &world.foreign_owner);
    let member = world.call("POST /role-assignments", Target::OtherTenant, victim).await;
    member.request(&app).by(victim).send().await.created();
    let body = member.body.unwrap();
    for operation in operations(&document()) {
        for parameter in operation.description["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            if parameter["in"] != "query" || !name.ends_with("Id") || name == "correlationId" {
                continue;
            }
            let foreign = match name {
                "parentId" => &body["organizationId"],
                "resourceId" => &body["userId"],
                _ => &body[name],
            };
            let foreign = foreign.as_str().unwrap_or_else(|| panic!("the test does not know {name} of {operation}"));
            let request = app.get(&operation.path).by(mallory).query(name, foreign);
            if operation.path == "/authz/who" {
                // A question, not a filter: the organization does not exist.
                request.query("permission", "users:read").send().await.problem("not-found");
                continue;
            }
            let found = request.send().await;
            if operation.path.ends_with("/export") {
                assert_eq!(found.ok_of("application/x-ndjson"), "", "{operation} {name}");
            } else {
                assert_eq!(found.ok()["data"], json!([]), "{operation} {name}");
            }
            let twice = app.get(&operation.path).by(mallory).query(name, foreign).query(name, &mallory.user);
            twice.send().await.problem("validation-error");
        }
    }
}

async fn a_token_gives_only_the_current_rights_of_its_user(app: TestApp) {
    let company = Company::on(&app).await;
    let ada = &company.ada;
    let attack =
        |by: &Person, organization: OrganizationId| company.change(by, organization, &json!({ "name": "Mine" }));

    let mallory = company.user_without_roles().await;
    let revoked = app.permit(&mallory, &["organizations:update", "users:read"]).await;
    app.permit(&mallory, &["users:read"]).await;
    attack(&mallory, company.north).send().await.ok();
    app.delete(&format!("/role-assignments/{revoked}")).by(ada).send().await.no_content();
    company.attacked_by(attack(&mallory, company.north)).await.lacks("organizations:update");

    let weakened = company.held_role(&mallory.user, &["organizations:update"]).await;
    attack(&mallory, company.south).send().await.ok();
    company.edit_role(ada, &weakened, &[]).send().await.ok();
    company.attacked_by(attack(&mallory, company.south)).await.lacks("organizations:update");

    let expiry = company.within(TimeDelta::minutes(1));
    app.permit_until(&mallory, &["organizations:update"], None, Some(expiry)).await;
    app.pass(TimeDelta::minutes(1));
    company.attacked_by(attack(&mallory, company.south)).await.lacks("organizations:update");

    let bob = company.branch_admin(company.north).await;
    company.suspend(company.north).await;
    company.attacked_by(attack(&bob, company.north)).await.lacks("organizations:update");

    let carl = company.employee(&["organizations:update"]).await;
    app.set_status(ada, &carl.user, "SUSPENDED").await;
    company.attacked_by(attack(&carl, company.south)).await.problem("unauthorized");
    app.set_status(ada, &carl.user, "ACTIVE").await;
    company.attacked_by(attack(&carl, company.south)).await.problem("unauthorized");
}

/// Members by which mass assignment attacks on other services have succeeded.
const UNASKED: [&str; 16] = [
    "id",
    "tenantId",
    "tenant",
    "userId",
    "system",
    "status",
    "role",
    "roles",
    "roleId",
    "permissions",
    "createdBy",
    "createdAt",
    "updatedAt",
    "passwordHash",
    "isAdmin",
    "__proto__",
];

async fn unknown_members_are_refused_everywhere(app: TestApp) {
    let world = World::of(&app).await;
    let document = document();
    for operation in operations(&document) {
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        // AuthZEN lets a question have further members.
        if schema.is_null() || operation.path.starts_with("/access/v1/") {
            continue;
        }
        let known = members_in(&document, schema);
        let (row, targets) = ROWS.iter().find(|(row, _)| operation_of(row) == operation.to_string()).unwrap();
        let call = world.call(row, targets[0], &world.owner).await;
        let body = call.body.clone().unwrap_or_else(|| json!({}));
        let lists = body.as_object().unwrap().iter().find(|(_, value)| value[0].is_object());
        let list = lists.map(|(name, _)| name.as_str());
        for name in UNASKED.into_iter().filter(|name| !known.contains(*name)) {
            let mut attack = body.clone();
            attack[name] = json!("00000000-0000-7000-8000-000000000000");
            let request = call.with_body(&app, &attack).by(&world.owner);
            let answer = unrecorded_anywhere(&app, &world, request).await;
            assert_eq!(answer.status(), 400, "{row} {name}: {}", answer.text());
            assert_eq!(answer.invalid_fields(), [name], "{row}");
            if let Some(list) = list {
                let mut attack = body.clone();
                attack[list][0][name] = json!(true);
                let request = call.with_body(&app, &attack).by(&world.owner);
                let answer = unrecorded_anywhere(&app, &world, request).await;
                assert_eq!(answer.invalid_fields(), [format!("{list}[0].{name}")], "{row}");
            }
        }
    }
}

/// Parsers differ: one takes the first value, another the last.
async fn a_duplicate_member_is_refused(app: TestApp) {
    let company = Company::on(&app).await;
    let (ada, bob) = (&company.ada, company.user_without_roles().await);
    let role = company.role(&[]).await;
    let north = company.north;
    for (request, body) in [
        (app.post("/roles"), r#"{"name": "MINE", "permissions": [], "permissions": ["*"]}"#.to_owned()),
        (app.patch(&format!("/roles/{role}")), r#"{"permissions": [], "permissions": ["*"]}"#.to_owned()),
        (
            app.post("/role-assignments"),
            format!(r#"{{"userId": "{}", "userId": "{}", "roleId": "{role}"}}"#, ada.user, bob.user),
        ),
        (app.patch(&format!("/organizations/{north}")), r#"{"parentId": null, "parentId": null}"#.to_owned()),
        (app.patch(&format!("/users/{}", bob.user)), r#"{"status": "ACTIVE", "status": "SUSPENDED"}"#.to_owned()),
    ] {
        let attack = request.by(ada).header("content-type", "application/json").body(body);
        company.attacked_by(attack).await.problem("validation-error");
    }
}

async fn a_method_cannot_be_overridden(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.user_without_roles().await;
    let path = format!("/users/{}", bob.user);
    for header in ["x-http-method-override", "x-http-method", "x-method-override"] {
        company.attacked_by(app.get(&path).by(&company.ada).header(header, "DELETE")).await.ok();
    }
    let in_query = app.get(&path).by(&company.ada).query("_method", "DELETE");
    assert_eq!(company.attacked_by(in_query).await.invalid_fields(), ["_method"]);
    for path in [format!("/users//{}", bob.user), format!("{path}/"), format!("/users/../users/{}", bob.user)] {
        let answer = company.attacked_by(app.delete(&path).by(&company.ada)).await;
        assert!(matches!(answer.status(), 400 | 404 | 405), "{path}: {}", answer.text());
    }
    let trace = app.request(Method::TRACE, &format!("/api/v1{path}")).by(&company.ada);
    company.attacked_by(trace).await.problem("method-not-allowed");
}
