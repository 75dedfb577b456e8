//! What is asked of the server and of the floor.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use iam_benches::{Outcome, PASSWORD, email};
use iam_core::UserId;
use serde_json::json;

use crate::client::request;

/// Where requests go: the server with a prefix and a token, the floor with neither.
#[derive(Clone, Default)]
pub(crate) struct Manner {
    pub(crate) prefix: &'static str,
    pub(crate) token: Option<String>,
}

/// Requests of one kind.
pub(crate) struct Work {
    /// The status of the right answer.
    pub(crate) status: u16,
    requests: Requests,
}

enum Requests {
    /// Any of these, at random.
    Prepared(Vec<Vec<u8>>),
    /// A new user each time.
    NewUsers { manner: Manner, next: Arc<AtomicU64> },
}

impl Work {
    pub(crate) fn get_user(manner: &Manner, users: &[UserId]) -> Self {
        let get = |id: &UserId| manner.request("GET", &format!("/users/{id}"), None);
        Self { status: 200, requests: Requests::Prepared(users.iter().map(get).collect()) }
    }

    pub(crate) fn list_users(manner: &Manner) -> Self {
        Self { status: 200, requests: Requests::Prepared(vec![manner.request("GET", "/users?limit=20", None)]) }
    }

    /// Logs in as any of the users of these numbers.
    pub(crate) fn login(manner: &Manner, users: impl Iterator<Item = u64>) -> Self {
        let login = |number| json!({ "email": email(number), "password": PASSWORD }).to_string();
        let prepared = users.map(|number| manner.request("POST", "/auth/login", Some(&login(number))));
        Self { status: 200, requests: Requests::Prepared(prepared.collect()) }
    }

    /// Makes users, whose numbers are counted on by whoever shares the counter.
    pub(crate) fn create_users(manner: &Manner, next: &Arc<AtomicU64>) -> Self {
        Self { status: 201, requests: Requests::NewUsers { manner: manner.clone(), next: Arc::clone(next) } }
    }

    /// The text of the next request.
    pub(crate) fn next(&self, random: &mut fastrand::Rng) -> Outcome<Cow<'_, [u8]>> {
        match &self.requests {
            Requests::Prepared(requests) => Ok(random.choice(requests).ok_or("there is no request")?.into()),
            Requests::NewUsers { manner, next } => Ok(manner.new_user(next.fetch_add(1, Ordering::Relaxed)).into()),
        }
    }
}

impl Manner {
    pub(crate) fn request(&self, method: &str, path: &str, body: Option<&str>) -> Vec<u8> {
        request(method, &format!("{}{path}", self.prefix), self.token.as_deref(), body)
    }

    /// The request that makes the user of this number.
    pub(crate) fn new_user(&self, number: u64) -> Vec<u8> {
        let email = email(number);
        let body = format!(r#"{{"email":"{email}","password":"{PASSWORD}","firstName":"Ada","lastName":"Lovelace"}}"#);
        self.request("POST", "/users", Some(&body))
    }
}
