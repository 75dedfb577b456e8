//! The command `demo`, and the examples in the OpenAPI document, which fit its tenant.

use std::path::Path;

use serde_json::{Value, json};

use crate::audit::wait_until_sequenced;
use crate::client::{Client, text};
use crate::factor::{Authenticator, challenge};
use crate::mail::{allow_email_login, wait_for_mail, with_mail};
use crate::process::{Home, TIMEOUT, wait_for};
use crate::store::Store;

const PASSWORD: &str = "Passw0rd!";
const GRACE: &str = "grace@example.com";

#[test]
fn the_demo_is_a_small_tenant_to_look_around_in() {
    for store in [Store::sqlite(), Store::postgres()] {
        let made = store.iam_server().args(["demo"]).run();
        assert_eq!(made.code, Some(0), "{made:?}");
        assert!(made.output.contains(&format!("ada@example.com, the administrator, or {GRACE}")), "{made:?}");
        assert!(made.output.contains(PASSWORD), "{made:?}");
        let first = made.output.lines().next().unwrap();
        assert!(first.starts_with("Start the server, open http://") && first.contains("/console and"), "{made:?}");

        let server = store.serve();
        let ada = logged_in(&server.client(), "ada@example.com");
        let total = |path: &str| ada.get(&format!("/api/v1/{path}")).expect(200)["pagination"]["total"].clone();
        assert_eq!(total("users"), 7);
        assert_eq!(total("users?kind=SERVICE"), 1);
        assert_eq!(total("users?status=SUSPENDED"), 1);
        assert_eq!(total("users?status=INACTIVE"), 1);
        assert_eq!(total("organizations"), 4);
        assert_eq!(total("role-assignments"), 6);
        assert_eq!(total("invitations?status=PENDING"), 1);
        let entries = ada.audit_entries("&action=CREATE");
        assert!(entries.iter().all(|entry| entry["metadata"]["system"] == "demo command"), "{entries:?}");
        // The clerk places orders in its branch and below, and nowhere else.
        let grace = log_in(&server.client(), GRACE)["user"]["id"].clone();
        let organizations = ada.get("/api/v1/organizations?limit=100").expect(200);
        for organization in organizations["data"].as_array().unwrap() {
            let check = json!({ "userId": grace, "permission": "orders:create", "organizationId": organization["id"] });
            let decision = ada.post("/api/v1/authz/check", &check).expect(200);
            let name = text(&organization["name"]);
            assert_eq!(decision["allowed"], ["Southern branch", "Portsmouth"].contains(&name.as_str()), "{name}");
        }
    }
}

#[test]
fn the_demo_is_refused_on_a_database_with_a_tenant() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let ada = server.client().register("ada@example.com");
        let refused = store.iam_server().args(["demo"]).run();
        assert_eq!((refused.code, refused.output.as_str()), (Some(1), ""), "{refused:?}");
        assert!(refused.log.contains("the database is not empty"), "{refused:?}");
        let client = server.client().with_token(&ada.access);
        assert_eq!(client.get("/api/v1/users").expect(200)["pagination"]["total"], 1);
        server.client().post("/api/v1/auth/login", &json!({ "email": GRACE, "password": PASSWORD })).expect(401);
    }
}

/// The operations that need a passkey, which no example can have: an authenticator signs a challenge. The tests of
/// `passkey` use one.
const BY_PASSKEY: [&str; 4] = ["addPasskey", "getSecondFactorOptions", "getStepUpOptions", "logInByPasskey"];

/// The operations that need a record in the DNS, or an identity provider. The HTTP tests have both.
const BY_OTHERS: [&str; 11] = [
    "createIdentityProvider",
    "deleteIdentity",
    "deleteIdentityProvider",
    "finishFederation",
    "getIdentityProvider",
    "logOutByFederation",
    "returnFromFederation",
    "startFederation",
    "startIdentity",
    "updateIdentityProvider",
    "verifyDomain",
];

/// Every example is sent as it stands, by the administrator of the demo. A change is sent to a server of its own. What
/// is random comes from the server: a refresh token, a challenge, a code, and the ids of a session, of the invitation,
/// of a factor, of the API key, of a webhook, of a directory, of a group, of a domain, of an eligibility and of an
/// access request.
#[test]
fn the_example_of_every_request_succeeds_in_the_demo() {
    let demo = Home::new();
    assert_eq!(demo.iam_server().args(["demo"]).run().code, Some(0));
    let database = std::fs::read(demo.path().join("iam.db")).unwrap();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let document: Value = serde_json::from_slice(&std::fs::read(document).unwrap()).unwrap();

    // Without a public URL, AuthZEN has no configuration.
    let reads = with_mail(demo.iam_server(), &demo).env("IAM_PUBLIC_URL", "https://iam.example.com").serve();
    let ada = Ada::of(&reads.client(), &demo);
    // An entry has a proof once it has a leaf.
    wait_for("a checkpoint of all entries", TIMEOUT, || {
        let checkpoint = ada.client.get("/api/v1/audit-logs/checkpoint").expect(200);
        (checkpoint["unsealed"] == json!([])).then_some(())
    });
    let mut left_out = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(method, _)| *method != "servers") {
            let id = text(&operation["operationId"]);
            if BY_PASSKEY.contains(&id.as_str()) || BY_OTHERS.contains(&id.as_str()) {
                left_out.push(id);
            } else if method == "get" {
                ada.send_example(item, path, method, operation);
            } else {
                let home = Home::new();
                home.file("iam.db", &database);
                let server = with_mail(home.iam_server(), &home).serve();
                Ada::of(&server.client(), &home).send_example(item, path, method, operation);
            }
        }
    }
    left_out.sort_unstable();
    let mut expected = [&BY_PASSKEY[..], &BY_OTHERS].concat();
    expected.sort_unstable();
    assert_eq!(left_out, expected);
}

fn log_in(client: &Client, email: &str) -> Value {
    client.post("/api/v1/auth/login", &json!({ "email": email, "password": PASSWORD })).expect(200)
}

fn logged_in(client: &Client, email: &str) -> Client {
    client.with_token(&text(&log_in(client, email)["accessToken"]))
}

struct Ada<'a> {
    home: &'a Home,
    client: Client,
    refresh: Value,
}

impl<'a> Ada<'a> {
    fn of(client: &Client, home: &'a Home) -> Self {
        let tokens = log_in(client, "ada@example.com");
        Self { home, client: client.with_token(&text(&tokens["accessToken"])), refresh: tokens["refreshToken"].clone() }
    }

    /// The token of a link that was sent, for an operation that takes one.
    fn token(&self, operation: &str) -> String {
        let invitation = json!({ "email": "new@example.com", "roles": [] });
        let (path, body, kind, to) = match operation {
            "verifyEmail" => ("auth/email/verification", Value::Null, "VERIFY", "ada@example.com"),
            "resetPassword" => {
                ("auth/password/forgot", json!({ "email": "ada@example.com" }), "RESET", "ada@example.com")
            }
            "finishEmailLogin" => {
                allow_email_login(&self.client);
                let verify = json!({ "token": self.token("verifyEmail") });
                self.client.post("/api/v1/auth/email/verify", &verify).expect(204);
                ("auth/email-login", json!({ "email": "ada@example.com" }), "LOGIN", "ada@example.com")
            }
            "lookUpInvitation" | "acceptInvitation" => ("invitations", invitation, "INVITATION", "new@example.com"),
            _ => panic!("the test does not know which token {operation} takes"),
        };
        let body = (!body.is_null()).then(|| body.to_string());
        let answer = self.client.send("POST", &format!("/api/v1/{path}"), body.as_deref()).unwrap();
        assert!((200..300).contains(&answer.status), "{answer:?}");
        wait_for_mail(self.home, kind, to, 1).tokens().remove(0)
    }

    /// Sets up what an operation on second factors needs, and puts it into the body. Returns the id of the factor.
    fn prepare_factor(&self, operation: &str, body: &mut Value) -> String {
        match operation {
            "confirmTotp" => {
                let app = Authenticator::unconfirmed(&self.client);
                body["code"] = app.code(0).into();
                app.id
            }
            "finishLogin" => {
                let app = Authenticator::of(&self.client);
                body["challenge"] = challenge(&self.client, "ada@example.com", PASSWORD).into();
                body["code"] = app.code(0).into();
                app.id
            }
            "updateFactor" | "deleteFactor" | "issueRecoveryCodes" => Authenticator::of(&self.client).id,
            _ => String::new(),
        }
    }

    fn own_id(&self) -> Value {
        self.client.get("/api/v1/auth/me").expect(200)["user"]["id"].clone()
    }

    /// Lets a user ask for a role, with so many approvals. Returns the id of the eligibility.
    fn eligibility(&self, user: &Value, approvals: u32) -> Value {
        let roles = self.client.get("/api/v1/roles").expect(200)["data"].clone();
        let auditor = roles.as_array().unwrap().iter().find(|role| role["name"] == "AUDITOR").unwrap();
        let body = json!({ "roleId": auditor["id"], "userId": user, "approvals": approvals });
        self.client.post("/api/v1/eligibilities", &body).expect(201)["id"].clone()
    }

    /// Grace asks for a role. Returns the id of the request, which waits, or is ACTIVE.
    fn access_request(&self, is_active: bool) -> Value {
        let login = log_in(&self.client, GRACE);
        let eligibility = self.eligibility(&login["user"]["id"], u32::from(!is_active));
        let grace = self.client.with_token(&text(&login["accessToken"]));
        let body = json!({ "eligibilityId": eligibility, "reason": "A question about an order" });
        grace.post("/api/v1/access-requests", &body).expect(201)["id"].clone()
    }

    fn send_example(&self, item: &Value, path: &str, method: &str, operation: &Value) {
        let mut body = operation["requestBody"]["content"]["application/json"]["example"].clone();
        let factor = self.prepare_factor(&text(&operation["operationId"]), &mut body);
        if !body.is_null() && operation["operationId"] == "refresh" {
            body["refreshToken"] = self.refresh.clone();
        }
        if operation["operationId"] == "createLegalHold" {
            // No other operation deletes this user.
            body["userId"] = self.own_id();
        }
        if !body["eligibilityId"].is_null() {
            body["eligibilityId"] = self.eligibility(&self.own_id(), 1);
        }
        // An introspection takes any text.
        if !body["token"].is_null() && operation["operationId"] != "introspect" {
            body["token"] = self.token(&text(&operation["operationId"])).into();
        }
        let mut url = path.to_owned();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let (name, example) = (text(&parameter["name"]), &parameter["example"]);
            if parameter["in"] == "path" {
                let own = || self.client.get("/api/v1/auth/me").expect(200)["session"]["id"].clone();
                let invitation = || self.client.get("/api/v1/invitations").expect(200)["data"][0]["id"].clone();
                let key = || {
                    let robot = self.client.get("/api/v1/users?kind=SERVICE").expect(200)["data"][0]["id"].clone();
                    self.client.get(&format!("/api/v1/users/{}/api-keys", text(&robot))).expect(200)["data"][0]["id"]
                        .clone()
                };
                // The command that makes the demo has no sender.
                let webhook = || {
                    wait_until_sequenced(&self.client);
                    let url = format!("https://warehouse.example.com/{}", fastrand::u64(..));
                    let body = json!({ "url": url, "types": ["USER.*"] });
                    self.client.post("/api/v1/webhooks", &body).expect(201)["id"].clone()
                };
                let review = || {
                    let users = json!(["019bb179-10a0-7000-8000-dadadadadada"]);
                    let body = json!({ "name": "Autumn", "userIds": users, "dueAt": "2031-12-31T23:59:59.000Z" });
                    let review = self.client.post("/api/v1/access-reviews", &body).expect(201)["id"].clone();
                    let items = format!("/api/v1/access-reviews/{}/items", text(&review));
                    for item in self.client.get(&items).expect(200)["data"].as_array().unwrap() {
                        let (item, body) = (format!("{items}/{}", text(&item["id"])), json!({ "decision": "KEEP" }));
                        self.client.send("PATCH", &item, Some(&body.to_string())).unwrap();
                    }
                    review
                };
                let item = || {
                    self.client.get(&format!("/api/v1{}", url.trim_end_matches("/{itemId}"))).expect(200)
                    ["data"][0]["id"].clone()
                };
                // Its account holds what a group may give. A manifest can only name accounts with different names.
                let directory = || {
                    let body = json!({ "name": format!("Staff {}", fastrand::u64(..)) });
                    let account = self.client.post("/api/v1/service-accounts", &body).expect(201)["id"].clone();
                    let roles = self.client.get("/api/v1/roles").expect(200)["data"].clone();
                    let administrator =
                        roles.as_array().unwrap().iter().find(|role| role["name"] == "TENANT_ADMIN").unwrap();
                    let body = json!({ "userId": account, "roleId": administrator["id"] });
                    self.client.post("/api/v1/role-assignments", &body).expect(201);
                    let body = json!({ "name": "Staff", "serviceAccountId": account });
                    self.client.post("/api/v1/directories", &body).expect(201)["id"].clone()
                };
                let group = || {
                    let directory = url.split("/groups").next().unwrap();
                    let account =
                        text(&self.client.get(&format!("/api/v1{directory}")).expect(200)["serviceAccountId"]);
                    let body = json!({ "name": "staff", "permissions": ["*"] });
                    let key = self.client.post(&format!("/api/v1/users/{account}/api-keys"), &body).expect(201);
                    let provider = self.client.with_token(&text(&key["key"]));
                    provider.post("/scim/v2/Groups", &json!({ "displayName": "Order clerks" })).expect(201)["id"]
                        .clone()
                };
                let domain = || {
                    let name = format!("d{}.example", fastrand::u64(..));
                    self.client.post("/api/v1/domains", &json!({ "domain": name })).expect(201)["id"].clone()
                };
                let hold = || {
                    // No user releases a hold on itself.
                    let account = json!({ "name": format!("Held {}", fastrand::u64(..)) });
                    let account = self.client.post("/api/v1/service-accounts", &account).expect(201);
                    let body = json!({ "userId": account["id"], "reason": "Case 2026-17" });
                    self.client.post("/api/v1/legal-holds", &body).expect(201)["id"].clone()
                };
                let value = match path {
                    _ if name == "itemId" => item(),
                    _ if name == "groupId" => group(),
                    _ if path.starts_with("/access-reviews") => review(),
                    _ if path.starts_with("/access-requests") => self.access_request(path.ends_with("/end")),
                    _ if path.starts_with("/eligibilities") => self.eligibility(&self.own_id(), 1),
                    _ if path.starts_with("/api-keys") => key(),
                    _ if path.starts_with("/directories") => directory(),
                    _ if path.starts_with("/domains") => domain(),
                    _ if path.starts_with("/legal-holds") => hold(),
                    _ if path.starts_with("/webhooks") => webhook(),
                    _ if path.starts_with("/sessions") => own(),
                    _ if path.starts_with("/invitations") => invitation(),
                    _ if path.starts_with("/auth/factors") => factor.clone().into(),
                    _ => example.clone(),
                };
                url = url.replace(&format!("{{{name}}}"), &text(&value));
            } else if parameter["required"] == true {
                let separator = if url.contains('?') { '&' } else { '?' };
                let example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
                url = format!("{url}{separator}{name}={example}");
            }
        }
        let prefix = if item["servers"].is_null() { "/api/v1" } else { "" };
        let body = (!body.is_null()).then(|| body.to_string());
        let answer = self.client.send(&method.to_uppercase(), &format!("{prefix}{url}"), body.as_deref()).unwrap();
        assert!((200..300).contains(&answer.status), "{method} {url} {body:?}: {answer:?}");
    }
}
