//! What an operation's `x-required-permission` says is what it enforces (decisions §7).
//!
//! The operations come from the document, so that a new one is covered, or fails here, from its first day on.

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Map, Value, json};

use crate::app::{TestApp, shown};
use crate::openapi::{Operation, document, operations};
use crate::people::{PASSWORD, Person};
use crate::request::{Request, Response};
use crate::table::fresh;

on_every_store![
    without_a_token_everything_but_the_public_is_401,
    the_public_needs_no_token,
    without_any_role_the_permission_is_missing_and_named,
    the_permission_alone_suffices,
    the_resources_wildcard_suffices_as_well,
    the_permission_elsewhere_does_not_suffice,
    every_other_permission_does_not_suffice,
    the_administrator_may_everything,
];

/// Every permission that comes built in.
const RESOURCES: [&str; 8] =
    ["users", "role-assignments", "roles", "permissions", "organizations", "audit-logs", "tenants", "sessions"];
const ACTIONS: [&str; 4] = ["create", "read", "update", "delete"];

/// A tenant of its own for one operation: its administrator, somebody else to do things to, and one of everything.
pub(crate) struct Scene {
    pub(crate) administrator: Person,
    other: Person,
    /// A role that permits nothing, so that who assigns it needs no more than the permission to assign.
    empty_role: String,
    /// What the path names.
    subject: String,
    /// A moment in the future.
    tomorrow: String,
}

impl Scene {
    pub(crate) async fn set(app: &TestApp, operation: &Operation) -> Self {
        // Addresses must differ: the public operations find the account by them alone.
        let name = operation.to_string().to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "-");
        let name = name.trim_matches('-');
        let administrator = app.register(&format!("admin.{name}@example.com")).await;
        let other = app.colleague(&administrator, &format!("other.{name}@example.com")).await;
        let empty_role = app.role(&administrator, "EMPTY_ROLE", &[]).await;
        let tomorrow = shown(app.iam.now() + TimeDelta::days(1));
        let mut scene = Self { administrator, other, empty_role, subject: String::new(), tomorrow };
        if operation.path.contains("{id}") {
            scene.subject = scene.make_subject(app, operation).await;
        }
        if operation.path == "/audit-logs/erasures" {
            let path = format!("/users/{}", scene.other.user);
            app.delete(&path).by(&scene.administrator).send().await.no_content();
        }
        app.seal().await;
        scene
    }

    async fn make_subject(&self, app: &TestApp, operation: &Operation) -> String {
        let made = async |path: &str, body: Value| {
            let made = app.post(path).by(&self.administrator).json(&body).send().await.created();
            made["id"].as_str().unwrap().to_owned()
        };
        match operation.path.split('/').nth(1).unwrap() {
            "users" => self.other.user.clone(),
            "sessions" => self.other.session.clone(),
            "tenants" => self.other.tenant.clone(),
            "roles" => app.role(&self.administrator, "SOME_ROLE", &[]).await,
            "permissions" => made("/permissions", json!({ "name": "things:do" })).await,
            "organizations" => made("/organizations", json!({ "name": "Branch" })).await,
            "audit-logs" => made("/audit-logs", json!({ "action": "INVOICE_SENT", "resourceType": "INVOICE" })).await,
            "role-assignments" => {
                made("/role-assignments", json!({ "userId": self.other.user, "roleId": self.empty_role })).await
            }
            _ => panic!("the test does not know what {{id}} is in {operation}"),
        }
    }

    pub(crate) fn request<'a>(&self, app: &'a TestApp, document: &Value, operation: &Operation) -> Request<'a> {
        let prefix = if operation.at_the_root { "" } else { "/api/v1" };
        let path = operation.path.replace("{id}", &self.subject);
        let request = app.request(operation.method.clone(), &format!("{prefix}{path}"));
        let parameters = operation.description["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        let is_needed = |parameter: &&Value| parameter["in"] == "query" && parameter["required"] == true;
        let request = parameters.iter().filter(is_needed).fold(request, |request, parameter| {
            request.query(parameter["name"].as_str().unwrap(), &parameter["example"].to_string())
        });
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        match &operation.method {
            _ if schema.is_null() => request,
            &Method::PATCH => request.json(&self.change(resolved(document, schema))),
            _ => request.json(&self.body(document, schema)),
        }
    }

    /// A body that changes something, by a member that every change of this kind has.
    fn change(&self, schema: &Value) -> Value {
        let changes = [
            ("firstName", json!("Grace")),
            ("description", json!("Changed")),
            ("name", json!("Changed")),
            ("expiresAt", json!(self.tomorrow)),
        ];
        let (name, value) = changes.into_iter().find(|(name, _)| schema["properties"].get(name).is_some()).unwrap();
        json!({ name: value })
    }

    /// The smallest body that a schema allows, with true credentials where some are asked for.
    fn body(&self, document: &Value, schema: &Value) -> Value {
        let schema = resolved(document, schema);
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let member = |name: &Value| {
            let name = name.as_str().unwrap();
            (name.to_owned(), self.value(document, name, &schema["properties"][name]))
        };
        Value::Object(required.iter().map(member).collect::<Map<_, _>>())
    }

    fn value(&self, document: &Value, name: &str, schema: &Value) -> Value {
        match name {
            // To log in it must be somebody's, to be made anew nobody's of this tenant.
            "email" if schema.get("maxLength").is_none() => json!(self.other.email),
            "email" => json!(format!("new.{}", self.other.email)),
            "password" | "currentPassword" => json!(PASSWORD),
            "newPassword" => json!("N3w&Password"),
            "refreshToken" => json!(self.other.refresh),
            "userId" => json!(self.other.user),
            "roleId" => json!(self.empty_role),
            _ if schema["type"] == "array" => json!([self.body(document, &schema["items"])]),
            _ if !schema["example"].is_null() => schema["example"].clone(),
            _ => panic!("the test does not know a value for {name}"),
        }
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// What an operation answers to somebody, chosen or made ready in its scene.
async fn answer(
    app: &TestApp,
    document: &Value,
    operation: &Operation,
    caller: impl AsyncFnOnce(&Scene) -> Option<Person>,
) -> Response {
    let scene = Scene::set(app, operation).await;
    let caller = caller(&scene).await;
    let request = scene.request(app, document, operation);
    match caller {
        Some(person) => request.by(&person).send().await,
        None => request.send().await,
    }
}

fn needs_permission(operation: &Operation) -> bool {
    !["public", "session"].contains(&operation.required_permission())
}

async fn without_a_token_everything_but_the_public_is_401(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        if operation.required_permission() != "public" {
            let answer = answer(&app, &document, &operation, async |_| None).await;
            assert_eq!(answer.status(), 401, "{operation}: {}", answer.text());
        }
    }
}

async fn the_public_needs_no_token(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        if operation.required_permission() == "public" {
            let answer = answer(&app, &document, &operation, async |_| None).await;
            assert!((200..300).contains(&answer.status()), "{operation}: {}", answer.text());
        }
    }
}

async fn without_any_role_the_permission_is_missing_and_named(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        let nobody = async |scene: &Scene| Some(app.colleague(&scene.administrator, "nobody@example.com").await);
        let answer = answer(&app, &document, &operation, nobody).await;
        if operation.path.starts_with("/organizations/{id}") {
            // Who holds nothing in an organization does not learn that it exists (decisions §5).
            answer.problem("not-found");
        } else if needs_permission(&operation) {
            let detail = answer.problem("forbidden")["detail"].as_str().unwrap().to_owned();
            assert!(names(&detail, operation.required_permission()), "{operation}: {detail}");
        } else {
            assert!((200..300).contains(&answer.status()), "{operation}: {}", answer.text());
        }
    }
}

/// Whether a text names this permission and no other.
fn names(detail: &str, permission: &str) -> bool {
    let words = detail.split(|letter: char| letter.is_whitespace() || letter == '.');
    words.filter(|word| word.contains(':') && !word.ends_with(':')).eq([permission])
}

async fn the_permission_alone_suffices(app: TestApp) {
    let document = document();
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let required = operation.required_permission();
        let permitted = async |scene: &Scene| {
            Some(app.colleague_who_may(&scene.administrator, "permitted@example.com", &[required]).await)
        };
        let answer = answer(&app, &document, &operation, permitted).await;
        assert!((200..300).contains(&answer.status()), "{operation}: {}", answer.text());
    }
}

async fn the_resources_wildcard_suffices_as_well(app: TestApp) {
    let document = document();
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let wildcard = format!("{}:*", operation.required_permission().split_once(':').unwrap().0);
        let permitted = async |scene: &Scene| {
            Some(app.colleague_who_may(&scene.administrator, "permitted@example.com", &[&wildcard]).await)
        };
        let answer = answer(&app, &document, &operation, permitted).await;
        assert!((200..300).contains(&answer.status()), "{operation}: {}", answer.text());
    }
}

/// Held in an organization that has nothing to do with it, a permission is worth nothing.
async fn the_permission_elsewhere_does_not_suffice(app: TestApp) {
    let document = document();
    // Reading what belongs to the tenant as a whole needs the permission anywhere (decisions §4).
    let anywhere = ["GET /roles", "GET /roles/{id}", "GET /permissions"];
    // Lists show what there is in that organization.
    let lists = ["GET /users", "GET /role-assignments", "GET /organizations"];
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let required = operation.required_permission();
        let elsewhere = async |scene: &Scene| {
            let organization = app.organization(&scene.administrator, &fresh("elsewhere-")).await;
            Some(app.colleague_in(&scene.administrator, organization, "elsewhere@example.com", &[required]).await)
        };
        let answer = answer(&app, &document, &operation, elsewhere).await;
        let name = operation.to_string();
        if anywhere.contains(&name.as_str()) || lists.contains(&name.as_str()) {
            assert_eq!(answer.status(), 200, "{operation}: {}", answer.text());
        } else {
            assert!(matches!(answer.status(), 403 | 404), "{operation}: {}", answer.text());
        }
    }
}

async fn every_other_permission_does_not_suffice(app: TestApp) {
    let document = document();
    let all = RESOURCES.iter().flat_map(|resource| ACTIONS.map(|action| format!("{resource}:{action}")));
    let all: Vec<String> = all.collect();
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let required = operation.required_permission();
        assert!(all.iter().any(|permission| permission == required), "{operation}: {required} is not built in");
        let others: Vec<&str> = all.iter().map(String::as_str).filter(|other| *other != required).collect();
        let others = async |scene: &Scene| {
            Some(app.colleague_who_may(&scene.administrator, "others@example.com", &others).await)
        };
        answer(&app, &document, &operation, others).await.lacks(required);
    }
}

async fn the_administrator_may_everything(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        let administrator = async |scene: &Scene| Some(scene.administrator.clone());
        let answer = answer(&app, &document, &operation, administrator).await;
        // The body of a change of password holds everybody's password, so even that succeeds.
        assert!((200..300).contains(&answer.status()), "{operation}: {}", answer.text());
    }
}
