//! Every operation enforces the permission that its `x-required-permission` names (`docs/http-api.md#authentication`).
//!
//! The operations come from the OpenAPI document. So these tests cover a new operation at once, or they fail.

use axum::http::Method;
use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Map, Value, json};
use test_support::identity_provider::ISSUER;

use crate::access_table::fresh;
use crate::app::{TestApp, shown};
use crate::openapi::{Operation, document, operations, resolved};
use crate::people::{PASSWORD, Person, with};
use crate::request::{Request, Response};

in_memory_with_mail![
    without_a_token_every_operation_that_is_not_public_is_401,
    public_operations_need_no_token,
    a_403_names_the_missing_permission_to_a_user_without_roles,
    the_required_permission_is_enough,
    the_wildcard_of_the_resource_is_enough,
    the_permission_in_another_organization_is_not_enough,
    all_other_permissions_together_are_not_enough,
    the_tenant_administrator_may_call_every_operation,
];

/// The resources of the built-in permissions.
const RESOURCES: [&str; 19] = [
    "users",
    "role-assignments",
    "roles",
    "permissions",
    "organizations",
    "audit-logs",
    "tenants",
    "sessions",
    "invitations",
    "api-keys",
    "webhooks",
    "access-reviews",
    "domains",
    "identity-providers",
    "directories",
    "impersonations",
    "eligibilities",
    "access-requests",
    "iam-legal-holds",
];
/// The actions of the built-in permissions on each resource.
const ACTIONS: [&str; 4] = ["create", "read", "update", "delete"];

/// The names of the built-in permissions.
pub(crate) fn built_in() -> impl Iterator<Item = String> {
    RESOURCES.iter().flat_map(|resource| ACTIONS.map(|action| format!("{resource}:{action}")))
}

/// The tenant for one operation: its administrator, another user, and the resource that the operation needs.
pub(crate) struct Fixture {
    pub(crate) administrator: Person,
    pub(crate) other: Person,
    /// A role without permissions. To assign it, a caller needs only the permission to assign.
    empty_role: String,
    /// The id in the path.
    subject: String,
    /// The id of an item in the path, if the operation has one.
    item: String,
    /// The id of a group in the path, if the operation has one.
    group: String,
    /// A time in the future.
    tomorrow: String,
    /// The token of a link, the challenge of a login or the id in the body, if the operation needs one.
    token: String,
    /// The code of an authenticator app, if the operation needs one.
    code: String,
    /// The response of a passkey, if the operation needs one.
    credential: Value,
}

/// An attribute that persons can change themselves.
const OWN: &str = "floor";

impl Fixture {
    pub(crate) async fn set(app: &TestApp, operation: &Operation) -> Self {
        // E-mail addresses must differ, because the public operations find the account only by its address.
        let name = operation.to_string().to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), "-");
        let name = name.trim_matches('-');
        // Beyond the limit for an address, no more links are sent to it within an hour.
        app.pass(TimeDelta::hours(1));
        let administrator = app.register(&format!("admin.{name}@example.com")).await;
        let other = app.colleague(&administrator, &format!("other.{name}@example.com")).await;
        let empty_role = app.role(&administrator, "EMPTY_ROLE", &[]).await;
        let tomorrow = shown(app.iam.now() + TimeDelta::days(1));
        let [subject, item, group, token, code] = [const { String::new() }; 5];
        let credential = Value::Null;
        let mut fixture =
            Self { administrator, other, empty_role, subject, item, group, tomorrow, token, code, credential };
        if operation.path.contains("{id}") {
            fixture.subject = fixture.make_subject(app, operation).await;
        }
        if operation.path.contains("{itemId}") {
            fixture.item = app.review_items(&fixture.administrator, &fixture.subject).await.remove(0);
        }
        if operation.path.contains("{groupId}") {
            fixture.group = app.directory_group(&fixture.administrator, &fixture.subject).await;
        }
        if operation.path == "/audit-logs/erasures" {
            let path = format!("/users/{}", fixture.other.user);
            app.delete(&path).by(&fixture.administrator).send().await.no_content();
        }
        match operation.path.as_str() {
            "/auth/login/second-factor" => {
                let authenticator = app.enrol(&fixture.other).await;
                fixture.token = app.challenge(&fixture.other).await;
                fixture.code = authenticator.code(app, 0);
            }
            "/auth/login/second-factor/options" => {
                app.passkey(&fixture.other).await;
                fixture.token = app.challenge(&fixture.other).await;
            }
            "/auth/passkeys/login" => {
                let mut laptop = app.passkey(&fixture.other).await;
                fixture.credential = laptop.answer(&app.passkey_options(&json!({})).await);
            }
            path if path.starts_with("/auth/factors/") => {
                let owner = fixture.administrator.clone();
                fixture.set_up_factor(app, operation, &owner).await;
            }
            "/auth/federation/start" | "/auth/identities/start" => {
                fixture.token = app.social_provider(&fixture.administrator.tenant).await;
            }
            "/auth/federation/finish" => {
                let provider = app.social_provider(&fixture.administrator.tenant).await;
                fixture.code = app.federated_code(&provider, &json!({ "email": fixture.fresh_email() })).await;
            }
            path if path.contains("/backchannel-logout/") => fixture.token = app.logout_token(),
            "/access-requests" => {
                let administrator = fixture.administrator.user.clone();
                fixture.token = fixture.eligibility_of(app, &administrator, 1).await;
            }
            "/auth/me" => {
                let definitions = json!([{ "key": OWN, "type": "STRING", "personWrites": true }]);
                app.define(&fixture.administrator, &definitions).await;
            }
            "/auth/introspect" => fixture.token = fixture.other.access.clone(),
            "/directories" => fixture.token = app.robot(&fixture.administrator, &[]).await,
            "/auth/email/verify" => fixture.token = app.token(MailKind::Verify, &fixture.other.email).await,
            "/auth/password/reset" => {
                let body = json!({ "email": fixture.other.email });
                app.post("/auth/password/forgot").json(&body).send().await.accepted();
                fixture.token = app.token(MailKind::Reset, &fixture.other.email).await;
            }
            "/auth/email-login/finish" => {
                app.allow_email_login(&fixture.other).await;
                fixture.token = app.email_login(&fixture.other).await.token;
            }
            "/invitations/lookup" | "/invitations/accept" => {
                let email = format!("invited.{}", fixture.other.email);
                app.invite(&fixture.administrator, &json!({ "email": email, "roles": [] })).await;
                fixture.token = app.token(MailKind::Invitation, &email).await;
            }
            _ => {}
        }
        app.sequence().await;
        fixture
    }

    /// Makes what an operation needs of its caller: a factor, or an eligibility or a request of its own.
    pub(crate) async fn set_up_for(&mut self, app: &TestApp, operation: &Operation, caller: &Person) {
        match operation.to_string().as_str() {
            "POST /access-requests" => self.token = self.eligibility_of(app, &caller.user, 1).await,
            "GET /access-requests/{id}" => {
                let eligibility = self.eligibility_of(app, &caller.user, 1).await;
                self.subject = app.access_request(caller, &eligibility).await;
            }
            _ if operation.path.starts_with("/auth/factors/") => self.set_up_factor(app, operation, caller).await,
            _ => {}
        }
    }

    /// Lets a user ask for a role without permissions, with so many approvals.
    async fn eligibility_of(&self, app: &TestApp, user: &str, approvals: u32) -> String {
        let members = json!({ "roleId": self.empty_role, "userId": user, "approvals": approvals });
        app.eligibility(&self.administrator, &members).await
    }

    /// Makes the factor that an operation needs, for its caller.
    async fn set_up_factor(&mut self, app: &TestApp, operation: &Operation, owner: &Person) {
        let authenticator = match operation.path.as_str() {
            "/auth/factors/totp" | "/auth/factors/passkeys/options" => return,
            "/auth/factors/passkeys" => {
                self.credential = app.new_passkey(owner).await;
                return;
            }
            "/auth/factors/totp/{id}/confirm" => app.set_up(owner).await,
            _ => app.enrol(owner).await,
        };
        self.code = authenticator.code(app, 0);
        self.subject = authenticator.id;
    }

    async fn make_subject(&self, app: &TestApp, operation: &Operation) -> String {
        let made = async |path: &str, body: Value| {
            let made = app.post(path).by(&self.administrator).json(&body).send().await.created();
            made["id"].as_str().unwrap().to_owned()
        };
        match operation.path.split('/').nth(1).unwrap() {
            "auth" if operation.path.contains("/backchannel-logout/") => {
                app.social_provider(&self.administrator.tenant).await
            }
            "auth" if operation.path.starts_with("/auth/federation/") => {
                let provider = app.social_provider(&self.administrator.tenant).await;
                let query = app.federated_query(&provider, &json!({ "email": self.fresh_email() })).await;
                format!("{provider}?{query}")
            }
            // Made later, for the caller.
            "auth" => String::new(),
            "users" => self.other.user.clone(),
            "sessions" => self.other.session.clone(),
            "tenants" => self.other.tenant.clone(),
            "api-keys" => {
                let key = app.key(&self.administrator, &self.other.user, &json!({ "permissions": [] })).await;
                key["id"].as_str().unwrap().to_owned()
            }
            "roles" => app.role(&self.administrator, "SOME_ROLE", &[]).await,
            "permissions" => made("/permissions", json!({ "name": "things:do" })).await,
            "organizations" => made("/organizations", json!({ "name": "Branch" })).await,
            "audit-logs" => made("/audit-logs", json!({ "action": "INVOICE_SENT", "resourceType": "INVOICE" })).await,
            "webhooks" => made("/webhooks", json!({ "url": "https://example.com", "types": ["USER.*"] })).await,
            "domains" => {
                let domain = app.domain(&self.administrator, &format!("{}.example", self.administrator.tenant)).await;
                app.publish(&domain);
                domain["id"].as_str().unwrap().to_owned()
            }
            "legal-holds" => made("/legal-holds", json!({ "userId": self.other.user, "reason": "Case 2026-17" })).await,
            "identities" => {
                let provider = app.social_provider(&self.administrator.tenant).await;
                app.linked(&provider, &self.other).await
            }
            "directories" => {
                let directory = app.directory(&self.administrator, &json!({})).await;
                directory["id"].as_str().unwrap().to_owned()
            }
            "identity-providers" => {
                let provider = app.provider(&self.administrator, &json!({})).await;
                provider["id"].as_str().unwrap().to_owned()
            }
            "invitations" => {
                let email = format!("invited.{}", self.other.email);
                app.invite(&self.administrator, &json!({ "email": email, "roles": [] })).await
            }
            "access-reviews" => {
                app.assign(&self.administrator, &self.other.user, "EMPTY_ROLE", None, None).await;
                let review = app.review(&self.administrator, &json!({ "userIds": [self.other.user] })).await;
                if operation.path.ends_with("/complete") {
                    let item = app.review_items(&self.administrator, &review).await.remove(0);
                    app.decide(&self.administrator, &review, &item, "KEEP").await.ok();
                }
                review
            }
            "eligibilities" => self.eligibility_of(app, &self.other.user, 1).await,
            "access-requests" => {
                let approvals = u32::from(!operation.path.ends_with("/end"));
                let eligibility = self.eligibility_of(app, &self.other.user, approvals).await;
                app.access_request(&self.other, &eligibility).await
            }
            "role-assignments" => {
                made("/role-assignments", json!({ "userId": self.other.user, "roleId": self.empty_role })).await
            }
            _ => panic!("the test does not know what {{id}} is in {operation}"),
        }
    }

    pub(crate) fn request<'a>(&self, app: &'a TestApp, document: &Value, operation: &Operation) -> Request<'a> {
        let prefix = if operation.at_the_root { "" } else { "/api/v1" };
        let path = operation.path.replace("{id}", &self.subject);
        let path = path.replace("{itemId}", &self.item).replace("{groupId}", &self.group);
        let request = app.request(operation.method.clone(), &format!("{prefix}{path}"));
        let parameters = operation.description["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        let is_needed = |parameter: &&Value| parameter["in"] == "query" && parameter["required"] == true;
        let request = parameters.iter().filter(is_needed).fold(request, |request, parameter| {
            let example = parameter["example"].as_str().map_or_else(|| parameter["example"].to_string(), str::to_owned);
            request.query(parameter["name"].as_str().unwrap(), &example)
        });
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        match &operation.method {
            _ if operation.path.contains("/backchannel-logout/") => {
                request.form(&json!({ "logout_token": self.token }))
            }
            _ if schema.is_null() => request,
            // Bodies with one of several members.
            _ if operation.path == "/auth/login/second-factor" => {
                request.json(&json!({ "challenge": self.token, "code": self.code }))
            }
            _ if operation.path == "/auth/email-login/finish" => request.json(&json!({ "token": self.token })),
            _ if operation.path == "/auth/step-up" => request.json(&json!({ "password": PASSWORD })),
            // The questions of AuthZEN.
            _ if operation.path.starts_with("/access/v1/") => request.json(&json!({
                "subject": { "type": "user", "id": self.other.user },
                "action": { "name": "read" },
                "resource": { "type": "users", "id": "any" },
            })),
            &Method::PATCH => request.json(&self.change(resolved(document, schema))),
            // It is a key for another user.
            _ if operation.to_string() == "POST /users/{id}/api-keys" => {
                request.json(&with(self.body(document, schema), &json!({ "permissions": [] })))
            }
            // An empty manifest changes nothing.
            _ if operation.to_string() == "POST /tenants/{id}/apply" => {
                request.json(&json!({ "settings": { "name": "Changed" } }))
            }
            // It also names who may ask.
            _ if operation.to_string() == "POST /eligibilities" => {
                request.json(&with(self.body(document, schema), &json!({ "userId": self.other.user })))
            }
            _ => request.json(&self.body(document, schema)),
        }
    }

    /// An address that no user has.
    fn fresh_email(&self) -> String {
        format!("federated.{}", self.other.email)
    }

    /// A body that changes one member: the first of these that the schema has.
    fn change(&self, schema: &Value) -> Value {
        let changes = [
            ("firstName", json!("Grace")),
            ("description", json!("Changed")),
            ("name", json!("Changed")),
            ("expiresAt", json!(self.tomorrow)),
            ("decision", json!("KEEP")),
            ("attributes", json!({ OWN: "changed" })),
        ];
        let (name, value) = changes.into_iter().find(|(name, _)| schema["properties"].get(name).is_some()).unwrap();
        json!({ name: value })
    }

    /// The smallest body that a schema allows, with valid credentials where it needs them.
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
            // A login needs the address of a user. A creation, whose schema has `maxLength`, needs an address that no
            // user of this tenant has.
            "email" if schema.get("maxLength").is_none() => json!(self.other.email),
            "email" => json!(format!("new.{}", self.other.email)),
            "password" | "currentPassword" => json!(PASSWORD),
            "newPassword" => json!("N3w&Password"),
            "refreshToken" => json!(self.other.refresh),
            "newEmail" => json!(format!("new.{}", self.other.email)),
            "token" | "challenge" => json!(self.token),
            "credential" => self.credential.clone(),
            "code" => json!(self.code),
            "types" => json!(["USER.*"]),
            "providerId" | "serviceAccountId" | "eligibilityId" => json!(self.token),
            "issuer" => json!(ISSUER),
            "dueAt" => json!(self.tomorrow),
            "userId" => json!(self.other.user),
            "roleId" => json!(self.empty_role),
            _ if schema["type"] == "array" => json!([self.body(document, &schema["items"])]),
            _ if !schema["example"].is_null() => schema["example"].clone(),
            _ => panic!("the test does not know a value for {name}"),
        }
    }
}

/// The answer of an operation to the caller that `caller` chooses or creates in the fixture of the operation.
async fn answer(
    app: &TestApp,
    document: &Value,
    operation: &Operation,
    caller: impl AsyncFnOnce(&Fixture) -> Option<Person>,
) -> Response {
    let mut fixture = Fixture::set(app, operation).await;
    let caller = caller(&fixture).await;
    if let Some(person) = caller.as_ref().filter(|person| person.user != fixture.administrator.user) {
        fixture.set_up_for(app, operation, person).await;
    }
    let request = fixture.request(app, document, operation);
    match caller {
        Some(person) => request.by(&person).send().await,
        None => request.send().await,
    }
}

/// The permission that an operation needs beside the one that its description requires.
fn also_required(operation: &Operation) -> Option<&'static str> {
    match operation.to_string().as_str() {
        // The receiver of a webhook gets entries of the audit log.
        "POST /webhooks" | "POST /webhooks/{id}/replay" => Some("audit-logs:read"),
        // It has the entries of the log that concern the user.
        "GET /users/{id}/export" => Some("audit-logs:read"),
        // A review shows role assignments.
        "POST /access-reviews" => Some("role-assignments:read"),
        // A provider speaks for everybody in its domains.
        "POST /identity-providers" | "DELETE /identity-providers/{id}" => Some("*"),
        // Each change of a manifest needs its own permission, and a manifest names what several permissions show.
        "POST /tenants/{id}/apply" => Some("tenants:update"),
        "GET /tenants/{id}/manifest" => Some("*"),
        // The members of a group hold its roles.
        "PUT /directories/{id}/groups/{groupId}/grants" => Some("role-assignments:create"),
        _ => None,
    }
}

fn needs_permission(operation: &Operation) -> bool {
    !["public", "session"].contains(&operation.required_permission())
}

async fn without_a_token_every_operation_that_is_not_public_is_401(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        if operation.required_permission() != "public" {
            let answer = answer(&app, &document, &operation, async |_| None).await;
            assert_eq!(answer.status(), 401, "{operation}: {}", answer.text());
        }
    }
}

async fn public_operations_need_no_token(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        if operation.required_permission() == "public" {
            let answer = answer(&app, &document, &operation, async |_| None).await;
            assert!((200..400).contains(&answer.status()), "{operation}: {}", answer.text());
        }
    }
}

async fn a_403_names_the_missing_permission_to_a_user_without_roles(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        let without_role =
            async |fixture: &Fixture| Some(app.colleague(&fixture.administrator, "no-role@example.com").await);
        let answer = answer(&app, &document, &operation, without_role).await;
        let is_hidden = operation.path.starts_with("/organizations/{id}")
            || operation.path.starts_with("/access-requests/{id}") && needs_permission(&operation);
        if is_hidden {
            // Without a grant in an organization, a caller does not learn of it (`docs/http-api.md#403-or-404`). Nor does
            // it learn of a request that it may not see (`docs/access-requests.md#who-sees-requests`).
            answer.problem("not-found");
        } else if needs_permission(&operation) {
            let detail = answer.problem("forbidden")["detail"].as_str().unwrap().to_owned();
            assert!(names(&detail, operation.required_permission()), "{operation}: {detail}");
        } else {
            assert!((200..400).contains(&answer.status()), "{operation}: {}", answer.text());
        }
    }
}

/// Whether a text names this permission and no other.
fn names(detail: &str, permission: &str) -> bool {
    let words = detail.split(|letter: char| letter.is_whitespace() || letter == '.');
    words.filter(|word| word.contains(':') && !word.ends_with(':')).eq([permission])
}

async fn the_required_permission_is_enough(app: TestApp) {
    let document = document();
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let all: Vec<_> = also_required(&operation).into_iter().chain([operation.required_permission()]).collect();
        let permitted = async |fixture: &Fixture| {
            Some(app.colleague_who_may(&fixture.administrator, "permitted@example.com", &all).await)
        };
        let answer = answer(&app, &document, &operation, permitted).await;
        assert!((200..400).contains(&answer.status()), "{operation}: {}", answer.text());
    }
}

async fn the_wildcard_of_the_resource_is_enough(app: TestApp) {
    let document = document();
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let wildcard = format!("{}:*", operation.required_permission().split_once(':').unwrap().0);
        let all: Vec<_> = also_required(&operation).into_iter().chain([&*wildcard]).collect();
        let permitted = async |fixture: &Fixture| {
            Some(app.colleague_who_may(&fixture.administrator, "permitted@example.com", &all).await)
        };
        let answer = answer(&app, &document, &operation, permitted).await;
        assert!((200..400).contains(&answer.status()), "{operation}: {}", answer.text());
    }
}

/// A permission in an unrelated organization does not allow the operation.
async fn the_permission_in_another_organization_is_not_enough(app: TestApp) {
    let document = document();
    // To read roles and permissions, the permission in any scope is enough (`docs/http-api.md#roles-and-permissions`).
    let anywhere = ["GET /roles", "GET /roles/{id}", "GET /permissions"];
    // Lists show the resources in that organization.
    let lists = [
        "GET /users",
        "GET /role-assignments",
        "GET /organizations",
        "GET /invitations",
        "GET /access-reviews",
        "GET /eligibilities",
    ];
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let required = operation.required_permission();
        let elsewhere = async |fixture: &Fixture| {
            let organization = app.organization(&fixture.administrator, &fresh("elsewhere-")).await;
            Some(app.colleague_in(&fixture.administrator, organization, "elsewhere@example.com", &[required]).await)
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

async fn all_other_permissions_together_are_not_enough(app: TestApp) {
    let document = document();
    let all: Vec<String> = built_in().collect();
    for operation in operations(&document).into_iter().filter(needs_permission) {
        let required = operation.required_permission();
        assert!(all.iter().any(|permission| permission == required), "{operation}: {required} is not built in");
        let others: Vec<&str> = all.iter().map(String::as_str).filter(|other| *other != required).collect();
        let others = async |fixture: &Fixture| {
            Some(app.colleague_who_may(&fixture.administrator, "others@example.com", &others).await)
        };
        answer(&app, &document, &operation, others).await.lacks(required);
    }
}

async fn the_tenant_administrator_may_call_every_operation(app: TestApp) {
    let document = document();
    for operation in operations(&document) {
        let administrator = async |fixture: &Fixture| Some(fixture.administrator.clone());
        let answer = answer(&app, &document, &operation, administrator).await;
        // The body of a password change contains the password of every test user, so this call succeeds, too.
        assert!((200..400).contains(&answer.status()), "{operation}: {}", answer.text());
    }
}
