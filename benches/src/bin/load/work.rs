//! The requests to the server and to the floor.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iam_benches::{Outcome, PASSWORD, email};
use iam_core::TenantId;
use serde_json::{Value, json};

use crate::api::{PREFIX, credentials};
use crate::client::{Answer, authorization, request};
use crate::data;

/// The destination of requests: the server with a prefix and a token, or the floor without them.
#[derive(Clone, Default)]
pub(crate) struct Destination {
    prefix: &'static str,
    token: Option<String>,
    /// The client address that a trusted proxy reports.
    address: Option<&'static str>,
}

/// Requests of one kind.
pub(crate) struct Work {
    /// The expected status.
    status: u16,
    /// Whether 503 is permitted, too.
    may_be_refused: bool,
    requests: Requests,
}

enum Requests {
    /// A random one of these.
    Prepared(Vec<Vec<u8>>),
    /// A new user each time.
    NewUsers { destination: Destination, next: Arc<AtomicU64> },
}

impl Destination {
    pub(crate) fn server(token: String) -> Self {
        Self { prefix: PREFIX, token: Some(token), address: None }
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
        let body = body.map(Value::to_string);
        self.text(method, path, body.as_deref())
    }

    /// The request that creates the user with this number.
    fn new_user(&self, number: u64) -> Vec<u8> {
        let email = email(number);
        let body = format!(r#"{{"email":"{email}","password":"{PASSWORD}","firstName":"Ada","lastName":"Lovelace"}}"#);
        self.text("POST", "/users", Some(&body))
    }

    fn text(&self, method: &str, path: &str, body: Option<&str>) -> Vec<u8> {
        let mut headers = self.token.as_deref().map(authorization).unwrap_or_default();
        if let Some(address) = self.address {
            headers.push_str(&format!("X-Forwarded-For: {address}\r\n"));
        }
        request(method, &format!("{}{path}", self.prefix), &headers, body)
    }
}

impl Work {
    /// Reads a random user with a number in this range.
    pub(crate) fn get_user(destination: &Destination, users: Range<u64>) -> Self {
        let get = |number| destination.request("GET", &format!("/users/{}", data::id(number)), None);
        Self::prepared(users.map(get).collect())
    }

    /// Reads the same path each time.
    pub(crate) fn get(destination: &Destination, path: &str) -> Self {
        Self::prepared(vec![destination.request("GET", path, None)])
    }

    /// Reads the children of a random organization with a number below this.
    pub(crate) fn get_children(destination: &Destination, organizations: u64) -> Self {
        let get = |number| destination.request("GET", &format!("/organizations/{}/children", data::id(number)), None);
        Self::prepared((0..organizations).map(get).collect())
    }

    /// Asks whether the caller may read users, tenant-wide.
    pub(crate) fn check(destination: &Destination) -> Self {
        Self::check_any(destination, &[json!({ "permission": "users:read" })])
    }

    /// Asks whether the caller may read users in a random organization with a number below this.
    pub(crate) fn check_in_organizations(destination: &Destination, organizations: u64) -> Self {
        let question = |number| json!({ "permission": "users:read", "organizationId": data::id(number) });
        Self::check_any(destination, &(0..organizations).map(question).collect::<Vec<_>>())
    }

    fn check_any(destination: &Destination, questions: &[Value]) -> Self {
        let check = |question| destination.request("POST", "/authz/check", Some(question));
        Self::prepared(questions.iter().map(check).collect())
    }

    /// Asks by AuthZEN whether the caller, who is this user, may read users, tenant-wide.
    pub(crate) fn evaluate(destination: &Destination, user: &str) -> Self {
        let question = json!({
            "subject": { "type": "user", "id": user },
            "action": { "name": "read" },
            "resource": { "type": "users", "id": "any" },
        });
        Self::prepared(vec![destination.request("POST", "/access/v1/evaluation", Some(&question))])
    }

    /// Logs in as a random user with a number in this range.
    pub(crate) fn login(users: Range<u64>) -> Self {
        Self::login_by(&Destination { prefix: PREFIX, ..Destination::default() }, users)
    }

    /// Logs in through a trusted proxy, which reports this client address.
    pub(crate) fn login_from(address: &'static str, users: Range<u64>) -> Self {
        Self::login_by(&Destination { prefix: PREFIX, address: Some(address), ..Destination::default() }, users)
    }

    /// Logs in to accounts that do not exist, through a trusted proxy.
    pub(crate) fn refused_login_from(address: &'static str, tenant: TenantId) -> Self {
        let destination = Destination { prefix: PREFIX, address: Some(address), ..Destination::default() };
        let login = |number| {
            let body =
                json!({ "email": format!("nobody{number}@example.com"), "password": PASSWORD, "tenant": tenant });
            destination.request("POST", "/auth/login", Some(&body))
        };
        Self { status: 401, ..Self::prepared((0..20_000).map(login).collect()) }
    }

    fn login_by(destination: &Destination, users: Range<u64>) -> Self {
        let login = |number| destination.request("POST", "/auth/login", Some(&credentials(number)));
        Self::prepared(users.map(login).collect())
    }

    fn prepared(requests: Vec<Vec<u8>>) -> Self {
        Self { status: 200, may_be_refused: false, requests: Requests::Prepared(requests) }
    }

    /// The same work, but an answer with 503 is permitted, too.
    pub(crate) fn or_refused(self) -> Self {
        Self { may_be_refused: true, ..self }
    }

    /// Returns an error if the answer is not the expected one.
    pub(crate) fn expect(&self, answer: &Answer<'_>) -> Outcome {
        if self.may_be_refused && answer.status == 503 {
            return Ok(());
        }
        answer.expect(self.status)
    }

    /// Creates users. All works with the same counter take their numbers from it.
    pub(crate) fn create_users(destination: &Destination, next: &Arc<AtomicU64>) -> Self {
        let requests = Requests::NewUsers { destination: destination.clone(), next: Arc::clone(next) };
        Self { status: 201, may_be_refused: false, requests }
    }

    /// The text of the next request.
    pub(crate) fn next(&self, random: &mut fastrand::Rng) -> Outcome<Cow<'_, [u8]>> {
        match &self.requests {
            Requests::Prepared(requests) => Ok(random.choice(requests).ok_or("there is no request")?.into()),
            Requests::NewUsers { destination, next } => {
                Ok(destination.new_user(next.fetch_add(1, Ordering::Relaxed)).into())
            }
        }
    }
}
