//! Who does things in the tests, and how they come to be.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::request::Request;

/// Everybody's password. No answer may ever show it.
pub(crate) const PASSWORD: &str = "Sup3r$ecret";
/// Nobody's password.
pub(crate) const WRONG_PASSWORD: &str = "Wr0ng&Password";

/// A user in a session, as its client knows it.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) tenant: String,
    pub(crate) user: String,
    pub(crate) email: String,
    pub(crate) session: String,
    pub(crate) access: String,
    pub(crate) refresh: String,
}

impl Person {
    pub(crate) fn logged_in(body: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let access = text(&body["accessToken"]);
        Self {
            tenant: text(&body["user"]["tenantId"]),
            user: text(&body["user"]["id"]),
            email: text(&body["user"]["email"]),
            session: text(&claims(&access)["sid"]),
            access,
            refresh: text(&body["refreshToken"]),
        }
    }
}

/// What an access token says.
pub(crate) fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

/// A user as it is sent to be made, or with `tenantName` to be registered.
pub(crate) fn profile(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" })
}

/// The same object with other members.
pub(crate) fn with(mut object: Value, members: &Value) -> Value {
    object.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    object
}

impl TestApp {
    /// The administrator of a new tenant.
    pub(crate) async fn register(&self, email: &str) -> Person {
        Person::logged_in(&self.post("/auth/register").json(&profile(email)).send().await.created())
    }

    /// The administrator of a new tenant with this password.
    pub(crate) async fn register_with_password(&self, email: &str, password: &str) -> Person {
        let body = with(profile(email), &json!({ "password": password }));
        Person::logged_in(&self.post("/auth/register").json(&body).send().await.created())
    }

    /// An attempt to log in without naming a tenant.
    pub(crate) fn attempt(&self, email: &str, password: &str) -> Request<'_> {
        self.post("/auth/login").json(&json!({ "email": email, "password": password }))
    }

    /// An attempt to log in to a tenant, named by id or slug.
    pub(crate) fn attempt_at(&self, tenant: &str, email: &str, password: &str) -> Request<'_> {
        let body = json!({ "email": email, "password": password, "tenant": tenant });
        self.post("/auth/login").json(&body)
    }

    /// Another session of somebody.
    pub(crate) async fn login(&self, person: &Person) -> Person {
        self.enter(&person.tenant, &person.email).await
    }

    async fn enter(&self, tenant: &str, email: &str) -> Person {
        Person::logged_in(&self.attempt_at(tenant, email, PASSWORD).send().await.ok())
    }

    /// The id of a new user who never logged in.
    pub(crate) async fn add_user(&self, administrator: &Person, email: &str) -> String {
        let user = self.post("/users").by(administrator).json(&profile(email)).send().await.created();
        user["id"].as_str().unwrap().to_owned()
    }

    /// A new user without any role, logged in.
    pub(crate) async fn colleague(&self, administrator: &Person, email: &str) -> Person {
        self.add_user(administrator, email).await;
        self.enter(&administrator.tenant, email).await
    }

    /// Another administrator of somebody's tenant.
    pub(crate) async fn administrator_beside(&self, administrator: &Person) -> Person {
        let other = self.colleague(administrator, &crate::table::fresh_email()).await;
        self.assign(administrator, &other.user, "TENANT_ADMIN", None, None).await;
        other
    }

    /// A user as `GET /users/:id` shows it.
    pub(crate) async fn user(&self, reader: &Person, id: &str) -> Value {
        self.get(&format!("/users/{id}")).by(reader).send().await.ok()
    }

    /// Brings a user into a state by PATCH.
    pub(crate) async fn set_status(&self, administrator: &Person, id: &str, status: &str) {
        let body = json!({ "status": status });
        let user = self.patch(&format!("/users/{id}")).by(administrator).json(&body).send().await.ok();
        assert_eq!(user["status"], status);
    }

    /// Whether the person's access token is still good.
    pub(crate) async fn knows(&self, person: &Person) -> bool {
        let response = self.get("/auth/me").by(person).send().await;
        assert!(matches!(response.status(), 200 | 401), "{}", response.text());
        response.status() == 200
    }

    /// The audit entries that pass a filter, newest first.
    pub(crate) async fn audit(&self, reader: &Person, filter: &[(&str, &str)]) -> Vec<Value> {
        let mut entries = Vec::new();
        let mut cursor = None;
        loop {
            let request = self.get("/audit-logs?limit=100").by(reader);
            let request = filter.iter().fold(request, |request, (name, value)| request.query(name, value));
            let request = cursor.iter().fold(request, |request, cursor: &String| request.query("cursor", cursor));
            let page = request.send().await.ok();
            entries.extend_from_slice(page["data"].as_array().unwrap());
            match page["pagination"]["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return entries,
            }
        }
    }

    /// What the audit log keeps of one thing, newest first.
    pub(crate) async fn history(&self, reader: &Person, id: &str) -> Vec<Value> {
        self.audit(reader, &[("resourceId", id)]).await
    }

    /// Waits for something of which the audit log keeps nothing.
    pub(crate) async fn unrecorded<T>(&self, reader: &Person, doing: impl Future<Output = T>) -> T {
        let before = self.audit(reader, &[]).await;
        let done = doing.await;
        assert_eq!(self.audit(reader, &[]).await, before);
        done
    }
}

/// An audit entry says that somebody did this to that.
pub(crate) fn says(entry: &Value, by: &Person, action: &str, resource_type: &str, id: &str) {
    let found = [&entry["action"], &entry["resourceType"], &entry["resourceId"], &entry["userId"]];
    assert_eq!(found, [action, resource_type, id, &by.user], "{entry}");
}
