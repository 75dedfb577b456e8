//! What directories write (`docs/directories.md#the-protocol`). The tests of each rule of the services are those of
//! `iam-core`; these ones send what directories send.

mod attributes;
mod discovery;
mod groups;
mod patch;
mod protocol;
mod query;
mod race;
mod users;

use axum::http::Method;
use iam_core::Caller;
use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::TestApp;
use crate::people::{Person, with};
use crate::request::{Request, Response};

const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const PATCH_OP: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
const SCIM_JSON: &str = "application/scim+json";

impl TestApp {
    /// Lets a directory make a user by a key of its account. Returns the resource.
    pub(crate) async fn provision(&self, key: &str, body: &Value) -> Value {
        self.provision_at("/Users", key, body).await
    }

    /// Lets a directory make a group by a key of its account. Returns the resource.
    pub(crate) async fn provision_group(&self, key: &str, body: &Value) -> Value {
        self.provision_at("/Groups", key, body).await
    }

    async fn provision_at(&self, path: &str, key: &str, body: &Value) -> Value {
        let request = self.request(Method::POST, &format!("/scim/v2{path}")).bearer(key);
        let request = request.header("content-type", SCIM_JSON).body(body.to_string());
        request.send().await.scim(201)
    }
}

impl Response {
    /// The document of an answer to a directory.
    fn scim(&self, status: u16) -> Value {
        assert_eq!(self.status(), status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some(SCIM_JSON));
        self.json()
    }

    /// The text of an error that has this kind.
    fn refused(&self, status: u16, scim_type: Option<&str>) -> String {
        let error = self.scim(status);
        assert_eq!(error["scimType"].as_str(), scim_type, "{error}");
        error["detail"].as_str().unwrap().to_owned()
    }
}

/// A tenant with an administrator, and a directory.
struct Staff<'a> {
    app: &'a TestApp,
    ada: Person,
    directory: String,
    account: String,
    key: String,
    key_id: String,
}

impl<'a> Staff<'a> {
    /// A directory whose account may manage users.
    async fn of(app: &'a TestApp) -> Self {
        Self::with(app, &["users:*"], &json!({})).await
    }

    /// A directory with these members, whose account has these permissions.
    async fn with(app: &'a TestApp, permissions: &[&str], members: &Value) -> Self {
        Self::at(app, &app.register("ada@other.example").await, permissions, members).await
    }

    /// The same in the tenant of an administrator.
    async fn at(app: &'a TestApp, ada: &Person, permissions: &[&str], members: &Value) -> Self {
        let account = app.robot(ada, permissions).await;
        let directory = app.directory(ada, &with(json!({ "serviceAccountId": account }), members)).await;
        let directory = directory["id"].as_str().unwrap().to_owned();
        let key = app.key(ada, &account, &json!({})).await;
        let key_id = key["id"].as_str().unwrap().to_owned();
        Self { app, ada: ada.clone(), directory, account, key: text(&key).to_owned(), key_id }
    }

    /// The same directory at another process.
    fn on<'b>(&self, app: &'b TestApp) -> Staff<'b> {
        let Self { ada, directory, account, key, key_id, .. } = self;
        let (ada, directory) = (ada.clone(), directory.clone());
        Staff { app, ada, directory, account: account.clone(), key: key.clone(), key_id: key_id.clone() }
    }

    fn request(&self, method: Method, path: &str) -> Request<'a> {
        self.app.request(method, &format!("/scim/v2{path}")).bearer(&self.key)
    }

    fn get(&self, path: &str) -> Request<'a> {
        self.request(Method::GET, path)
    }

    fn delete(&self, path: &str) -> Request<'a> {
        self.request(Method::DELETE, path)
    }

    fn write(&self, method: Method, path: &str, body: &Value) -> Request<'a> {
        self.request(method, path).header("content-type", SCIM_JSON).body(body.to_string())
    }

    fn post(&self, body: &Value) -> Request<'a> {
        self.write(Method::POST, "/Users", body)
    }

    fn put(&self, resource: &Value, body: &Value) -> Request<'a> {
        self.write(Method::PUT, &path(resource), body)
    }

    /// A request that makes these changes.
    fn patch(&self, resource: &Value, operations: &Value) -> Request<'a> {
        let body = json!({ "schemas": [PATCH_OP], "Operations": operations });
        self.write(Method::PATCH, &path(resource), &body)
    }

    /// Makes a user at example.com, with these members in place of the usual ones.
    async fn made(&self, name: &str, members: &Value) -> Value {
        self.post(&person(name, members)).send().await.scim(201)
    }

    /// Changes a resource. Returns the answer.
    async fn patched(&self, resource: &Value, operations: &Value) -> Value {
        self.patch(resource, operations).send().await.scim(200)
    }

    /// A resource as the directory sees it.
    async fn shown(&self, resource: &Value) -> Value {
        self.get(&path(resource)).send().await.scim(200)
    }

    /// The directory as the administrator sees it.
    async fn of_administrator(&self) -> Value {
        self.app.get(&format!("/directories/{}", self.directory)).by(&self.ada).send().await.ok()
    }

    /// A user as the API shows it to the administrator.
    async fn account_of(&self, user: &Value) -> Value {
        self.app.user(&self.ada, user["id"].as_str().unwrap()).await
    }

    /// Whether the status of a user here is this one.
    async fn assert_status(&self, user: &Value, status: &str) {
        assert_eq!(self.account_of(user).await["status"], status);
    }

    /// Proves a domain of the tenant.
    async fn verify_domain(&self, name: &str) {
        let system = Caller::system(self.ada.tenant.parse().unwrap(), "test");
        let domain = self.app.iam.domains().create(&system, name).await.unwrap();
        self.app.iam.domains().trust(&system, domain.id).await.unwrap();
    }
}

/// The path of a group, or else of a user.
fn path(resource: &Value) -> String {
    let collection = if resource["meta"]["resourceType"] == "Group" { "Groups" } else { "Users" };
    format!("/{collection}/{}", resource["id"].as_str().unwrap())
}

/// A person with this name, at example.com, with other members in place of the usual ones.
fn person(name: &str, members: &Value) -> Value {
    let usual = json!({
        "schemas": [USER],
        "userName": name,
        "externalId": format!("id-{name}"),
        "name": { "givenName": name, "familyName": "Hopper" },
        "emails": [{ "value": format!("{name}@example.com"), "type": "work", "primary": true }],
    });
    with(usual, members)
}

/// A document without what the service says of it.
fn said(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("meta");
    document
}
