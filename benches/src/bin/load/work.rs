//! What is asked of the server and of the floor.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iam_benches::{Outcome, PASSWORD, email};
use serde_json::{Value, json};

use crate::api::{PREFIX, credentials};
use crate::client::{Answer, authorization, request};
use crate::data;

/// Where requests go: the server with a prefix and a token, the floor with neither.
#[derive(Clone, Default)]
pub(crate) struct Manner {
    prefix: &'static str,
    token: Option<String>,
    /// From where a trusted proxy says that they come.
    address: Option<&'static str>,
}

/// Requests of one kind.
pub(crate) struct Work {
    /// The status of the right answer.
    status: u16,
    /// Whether 503 is right, too.
    may_be_refused: bool,
    requests: Requests,
}

enum Requests {
    /// Any of these, at random.
    Prepared(Vec<Vec<u8>>),
    /// A new user each time.
    NewUsers { manner: Manner, next: Arc<AtomicU64> },
}

impl Manner {
    pub(crate) fn server(token: String) -> Self {
        Self { prefix: PREFIX, token: Some(token), address: None }
    }

    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
        let body = body.map(Value::to_string);
        self.text(method, path, body.as_deref())
    }

    /// The request that makes the user of this number.
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
    /// Reads any of the users of these numbers.
    pub(crate) fn get_user(manner: &Manner, users: Range<u64>) -> Self {
        let get = |number| manner.request("GET", &format!("/users/{}", data::id(number)), None);
        Self::prepared(users.map(get).collect())
    }

    /// Reads the same each time.
    pub(crate) fn get(manner: &Manner, path: &str) -> Self {
        Self::prepared(vec![manner.request("GET", path, None)])
    }

    /// Reads what stands right below any of the organizations with numbers below this.
    pub(crate) fn get_children(manner: &Manner, organizations: u64) -> Self {
        let get = |number| manner.request("GET", &format!("/organizations/{}/children", data::id(number)), None);
        Self::prepared((0..organizations).map(get).collect())
    }

    /// Asks whether the caller may read users, tenant-wide.
    pub(crate) fn check(manner: &Manner) -> Self {
        Self::check_any(manner, &[json!({ "permission": "users:read" })])
    }

    /// Asks whether the caller may read users in any of the organizations with numbers below this.
    pub(crate) fn check_in_organizations(manner: &Manner, organizations: u64) -> Self {
        let question = |number| json!({ "permission": "users:read", "organizationId": data::id(number) });
        Self::check_any(manner, &(0..organizations).map(question).collect::<Vec<_>>())
    }

    fn check_any(manner: &Manner, questions: &[Value]) -> Self {
        let check = |question| manner.request("POST", "/authz/check", Some(question));
        Self::prepared(questions.iter().map(check).collect())
    }

    /// Logs in as any of the users of these numbers.
    pub(crate) fn login(users: Range<u64>) -> Self {
        Self::login_by(&Manner { prefix: PREFIX, ..Manner::default() }, users)
    }

    /// Logs in behind a trusted proxy, which says that the client has this address.
    pub(crate) fn login_from(address: &'static str, users: Range<u64>) -> Self {
        Self::login_by(&Manner { prefix: PREFIX, address: Some(address), ..Manner::default() }, users)
    }

    fn login_by(manner: &Manner, users: Range<u64>) -> Self {
        let login = |number| manner.request("POST", "/auth/login", Some(&credentials(number)));
        Self::prepared(users.map(login).collect())
    }

    fn prepared(requests: Vec<Vec<u8>>) -> Self {
        Self { status: 200, may_be_refused: false, requests: Requests::Prepared(requests) }
    }

    /// The same, which may be answered with 503 too.
    pub(crate) fn or_refused(self) -> Self {
        Self { may_be_refused: true, ..self }
    }

    /// Refuses an answer that is not right.
    pub(crate) fn expect(&self, answer: &Answer<'_>) -> Outcome {
        if self.may_be_refused && answer.status == 503 {
            return Ok(());
        }
        answer.expect(self.status)
    }

    /// Makes users, whose numbers are counted on by whoever shares the counter.
    pub(crate) fn create_users(manner: &Manner, next: &Arc<AtomicU64>) -> Self {
        let requests = Requests::NewUsers { manner: manner.clone(), next: Arc::clone(next) };
        Self { status: 201, may_be_refused: false, requests }
    }

    /// The text of the next request.
    pub(crate) fn next(&self, random: &mut fastrand::Rng) -> Outcome<Cow<'_, [u8]>> {
        match &self.requests {
            Requests::Prepared(requests) => Ok(random.choice(requests).ok_or("there is no request")?.into()),
            Requests::NewUsers { manner, next } => Ok(manner.new_user(next.fetch_add(1, Ordering::Relaxed)).into()),
        }
    }
}
