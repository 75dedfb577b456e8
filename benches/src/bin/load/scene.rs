//! A filled database, with the server and the floor on it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use iam_benches::database::Database;
use iam_benches::{CHEAP, Outcome, PASSWORD, email, fill, iam};
use iam_core::{TenantId, UserId};
use serde_json::{Value, json};

use crate::client::{Connection, request};
use crate::compare::Side;
use crate::process::Process;
use crate::work::{Manner, Work};

/// How many users the tenant has, the administrator not counted.
const USERS: u64 = 1_000;
/// How many of them were made over HTTP, so that their passwords are hashed at the server's cost: the others' would
/// be hashed anew at their first login.
const LOGINS: u64 = 64;

const PREFIX: &str = "/api/v1";

pub(crate) struct Scene {
    server: Process,
    floor: Process,
    manner: Manner,
    users: Vec<UserId>,
    /// The number of the next user to be made, by the server or by the floor.
    next: Arc<AtomicU64>,
}

/// Who the administrator is.
struct Administrator {
    tenant: TenantId,
    token: String,
}

impl Scene {
    /// Starts the server on an empty database, fills that, and starts the floor.
    pub(crate) async fn set(database: &Database) -> Outcome<Self> {
        let server = Process::server(database.url()).await?;
        let mut connection = Connection::open(server.address).await?;
        let Administrator { tenant, token } = register(&mut connection).await?;
        let mut users = Vec::new();
        for number in 1..=LOGINS {
            users.push(create(&mut connection, &token, number).await?);
        }
        let iam = iam(database.store().await?, CHEAP).await?;
        users.extend(fill(&iam, tenant, LOGINS + 1, USERS - LOGINS).await?);
        iam.close().await;
        database.settle().await?;
        let floor = Process::floor(database.url(), tenant.as_uuid()).await?;
        let manner = Manner { prefix: PREFIX, token: Some(token) };
        Ok(Self { server, floor, manner, users, next: Arc::new(AtomicU64::new(USERS + 1)) })
    }

    pub(crate) fn get_user(&self) -> (Side, Side) {
        self.sides(|manner| Work::get_user(manner, &self.users))
    }

    pub(crate) fn list_users(&self) -> (Side, Side) {
        self.sides(Work::list_users)
    }

    pub(crate) fn create_users(&self) -> (Side, Side) {
        self.sides(|manner| Work::create_users(manner, &self.next))
    }

    pub(crate) fn login(&self) -> Side {
        let manner = Manner { prefix: PREFIX, token: None };
        Side::http(self.server.address, Work::login(&manner, 1..=LOGINS))
    }

    /// The same work for the server and for the floor.
    fn sides(&self, work: impl Fn(&Manner) -> Work) -> (Side, Side) {
        let server = Side::http(self.server.address, work(&self.manner));
        (server, Side::http(self.floor.address, work(&Manner::default())))
    }

    /// Stops both processes.
    pub(crate) async fn end(self) -> Outcome {
        self.floor.stop().await?;
        self.server.stop().await
    }
}

async fn register(connection: &mut Connection) -> Outcome<Administrator> {
    let registered = ask(connection, "POST", "/auth/register", None, Some(person(0)), 201).await?;
    Ok(Administrator { tenant: text(&registered, "/tenant/id")?.parse()?, token: text(&registered, "/accessToken")? })
}

async fn create(connection: &mut Connection, token: &str, number: u64) -> Outcome<UserId> {
    let user = ask(connection, "POST", "/users", Some(token), Some(person(number)), 201).await?;
    Ok(text(&user, "/id")?.parse()?)
}

/// What makes the user of this number.
pub(crate) fn person(number: u64) -> Value {
    json!({ "email": email(number), "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" })
}

/// What the API answers, which must be of this status.
pub(crate) async fn ask(
    connection: &mut Connection,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<Value>,
    status: u16,
) -> Outcome<Value> {
    let body = body.map(|body| body.to_string());
    let answer = connection.ask(&request(method, &format!("{PREFIX}{path}"), token, body.as_deref())).await?;
    answer.expect(status).map_err(|error| format!("{method} {path}: {error}"))?;
    if answer.body.is_empty() { Ok(Value::Null) } else { answer.json() }
}

pub(crate) fn text(value: &Value, pointer: &str) -> Outcome<String> {
    Ok(value.pointer(pointer).and_then(Value::as_str).ok_or_else(|| format!("{pointer} is missing"))?.to_owned())
}
