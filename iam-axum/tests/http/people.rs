//! The users of the tests, and functions that create them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::request::Request;

/// The password of every test user. No answer may contain it.
pub(crate) const PASSWORD: &str = "Sup3r$ecret";
/// A password that no test user has.
pub(crate) const WRONG_PASSWORD: &str = "Wr0ng&Password";

/// A logged-in user with the tokens of one session, as its client knows it.
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

/// The claims of an access token. The signature is not verified.
pub(crate) fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap()
}

/// A body that creates a user, or registers a tenant with its first user. For the tenant, a test can add `tenantName`.
pub(crate) fn profile(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" })
}

/// The object with these members added or replaced.
pub(crate) fn with(mut object: Value, members: &Value) -> Value {
    object.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    object
}

impl TestApp {
    /// Registers a tenant. Returns its administrator.
    pub(crate) async fn register(&self, email: &str) -> Person {
        Person::logged_in(&self.post("/auth/register").json(&profile(email)).send().await.created())
    }

    /// Registers a tenant. Returns its administrator, who has this password.
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

    /// Logs the user in again. Returns the new session.
    pub(crate) async fn login(&self, person: &Person) -> Person {
        self.enter(&person.tenant, &person.email).await
    }

    async fn enter(&self, tenant: &str, email: &str) -> Person {
        Person::logged_in(&self.attempt_at(tenant, email, PASSWORD).send().await.ok())
    }

    /// Creates a user and returns its id. The user has never logged in.
    pub(crate) async fn add_user(&self, administrator: &Person, email: &str) -> String {
        let user = self.post("/users").by(administrator).json(&profile(email)).send().await.created();
        user["id"].as_str().unwrap().to_owned()
    }

    /// Creates a user without any role and logs it in.
    pub(crate) async fn colleague(&self, administrator: &Person, email: &str) -> Person {
        self.add_user(administrator, email).await;
        self.enter(&administrator.tenant, email).await
    }

    /// Creates another administrator of the same tenant and logs it in.
    pub(crate) async fn administrator_beside(&self, administrator: &Person) -> Person {
        let other = self.colleague(administrator, &crate::access_table::fresh_email()).await;
        self.assign(administrator, &other.user, "TENANT_ADMIN", None, None).await;
        other
    }

    /// A user as `GET /users/:id` shows it.
    pub(crate) async fn user(&self, reader: &Person, id: &str) -> Value {
        self.get(&format!("/users/{id}")).by(reader).send().await.ok()
    }

    /// Sets the status of a user by PATCH.
    pub(crate) async fn set_status(&self, administrator: &Person, id: &str, status: &str) {
        let body = json!({ "status": status });
        let user = self.patch(&format!("/users/{id}")).by(administrator).json(&body).send().await.ok();
        assert_eq!(user["status"], status);
    }

    /// Whether the person's access token is valid.
    pub(crate) async fn knows(&self, person: &Person) -> bool {
        let response = self.get("/auth/me").by(person).send().await;
        assert!(matches!(response.status(), 200 | 401), "{}", response.text());
        response.status() == 200
    }

    /// The audit entries that match a filter, newest first.
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

    /// The audit entries about one resource, newest first.
    pub(crate) async fn history(&self, reader: &Person, id: &str) -> Vec<Value> {
        self.audit(reader, &[("resourceId", id)]).await
    }

    /// Waits for an action and checks that it adds no audit entry.
    pub(crate) async fn unrecorded<T>(&self, reader: &Person, action: impl Future<Output = T>) -> T {
        let before = self.audit(reader, &[]).await;
        let done = action.await;
        assert_eq!(self.audit(reader, &[]).await, before);
        done
    }
}

/// Checks that an audit entry records this action of this user on this resource.
pub(crate) fn says(entry: &Value, by: &Person, action: &str, resource_type: &str, id: &str) {
    let found = [&entry["action"], &entry["resourceType"], &entry["resourceId"], &entry["userId"]];
    assert_eq!(found, [action, resource_type, id, &by.user], "{entry}");
}
