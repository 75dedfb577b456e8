//! What an operation's `x-required-permission` says is what it enforces (decisions §7).
//!
//! The operations come from the document, so that a new one is covered, or fails here, from its first day on.

use serde_json::{Map, Value, json};

use crate::app::TestApp;
use crate::openapi::{Operation, document, operations};
use crate::people::{PASSWORD, Person};
use crate::request::{Request, Response};

on_every_store![
    without_a_token_everything_but_the_public_is_401,
    the_public_needs_no_token,
    without_any_role_the_permission_is_missing_and_named,
    the_permission_alone_suffices,
    every_other_permission_does_not_suffice,
    the_administrator_may_everything,
];

/// Every permission that comes built in.
const RESOURCES: [&str; 8] =
    ["users", "role-assignments", "roles", "permissions", "organizations", "audit-logs", "tenants", "sessions"];
const ACTIONS: [&str; 4] = ["create", "read", "update", "delete"];

/// A tenant of its own for one operation: its administrator, and somebody else to do things to.
struct Scene {
    administrator: Person,
    other: Person,
}

impl Scene {
    async fn set(app: &TestApp, operation: &Operation) -> Self {
        // Addresses must differ: the public operations find the account by them alone.
        let name = operation.to_string().to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "-");
        let name = name.trim_matches('-');
        let administrator = app.register(&format!("admin.{name}@example.com")).await;
        let other = app.colleague(&administrator, &format!("other.{name}@example.com")).await;
        Self { administrator, other }
    }

    fn request<'a>(&self, app: &'a TestApp, document: &Value, operation: &Operation) -> Request<'a> {
        let prefix = if operation.at_the_root { "" } else { "/api/v1" };
        let noun = operation.path.split('/').nth(1).unwrap();
        let id = match noun {
            "users" => &self.other.user,
            "sessions" => &self.other.session,
            "tenants" => &self.other.tenant,
            _ if !operation.path.contains('{') => "",
            _ => panic!("the test does not know what {{id}} is in {operation}"),
        };
        let request = app.request(operation.method.clone(), &format!("{prefix}{}", operation.path.replace("{id}", id)));
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() { request } else { request.json(&self.body(document, schema)) }
    }

    /// The smallest body that a schema allows, with true credentials where some are asked for.
    fn body(&self, document: &Value, schema: &Value) -> Value {
        let schema = match schema["$ref"].as_str() {
            Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
            None => schema,
        };
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let member = |name: &Value| {
            let name = name.as_str().unwrap();
            (name.to_owned(), self.value(name, &schema["properties"][name]))
        };
        Value::Object(required.iter().map(member).collect::<Map<_, _>>())
    }

    fn value(&self, name: &str, schema: &Value) -> Value {
        match name {
            // To log in it must be somebody's, to be made anew nobody's of this tenant.
            "email" if schema.get("maxLength").is_none() => json!(self.other.email),
            "email" => json!(format!("new.{}", self.other.email)),
            "password" | "currentPassword" => json!(PASSWORD),
            "newPassword" => json!("N3w&Password"),
            "refreshToken" => json!(self.other.refresh),
            _ if !schema["example"].is_null() => schema["example"].clone(),
            _ => panic!("the test does not know a value for {name}"),
        }
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
        if needs_permission(&operation) {
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
        answer(&app, &document, &operation, others).await.problem("forbidden");
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
