//! A server on its database, with tenants full of data.

use std::ops::Range;

use argon2::PasswordHasher as _;
use iam_benches::database::Database;
use iam_benches::{Outcome, PASSWORD, argon2id, audit_log};
use iam_core::TenantId;
use iam_core::credential::HashingCost;
use serde_json::json;
use uuid::Uuid;

use crate::api::{ask, credentials, new_key, number, person, text};
use crate::client::Connection;
use crate::data::{self, Crowd, RARE};
use crate::process::Process;

pub(crate) struct Installation {
    // Dropped first, so that the server does not lose its database.
    pub(crate) server: Process,
    pub(crate) database: Database,
}

/// A tenant whose users have consecutive numbers. The administrator has the first number.
pub(crate) struct Tenant {
    pub(crate) id: TenantId,
    pub(crate) administrator: u64,
    /// The number of users in addition to the administrator.
    pub(crate) users: u64,
}

impl Tenant {
    /// The numbers of the users without the administrator.
    pub(crate) fn numbers(&self) -> Range<u64> {
        self.administrator + 1..self.administrator + 1 + self.users
    }
}

impl Installation {
    /// Starts the server on an empty database, which it migrates.
    pub(crate) async fn create(database: Database) -> Outcome<Self> {
        let server = Process::server(database.url()).await?;
        Ok(Self { server, database })
    }

    /// Creates a tenant whose users' passwords are hashed at this cost, and checks that the server counts all rows.
    pub(crate) async fn tenant(
        &self,
        administrator: u64,
        users: u64,
        organizations: u64,
        cost: HashingCost,
    ) -> Outcome<Tenant> {
        let mut connection = Connection::open(self.server.address).await?;
        let founder = Some(person(administrator));
        let registered = ask(&mut connection, "POST", "/auth/register", None, founder, 201).await?;
        let tenant = Tenant { id: text(&registered, "/tenant/id")?.parse()?, administrator, users };
        let password_hash = password_hash(cost)?;
        let crowd = Crowd { tenant: tenant.id, numbers: tenant.numbers(), password_hash };
        data::fill(&self.database, &crowd, organizations).await?;
        let token = self.token(&tenant).await?;
        // A new connection: the server closes connections that are idle for as long as the filling takes.
        let mut connection = Connection::open(self.server.address).await?;
        let search = format!("/users?search={RARE}");
        for (list, expected) in [("/users", users + 1), ("/organizations", organizations), (&search, 1)] {
            let page = ask(&mut connection, "GET", list, Some(&token), None, 200).await?;
            let total = number(&page, "/pagination/total")?;
            if total != expected {
                return Err(format!("GET {list} counts {total} instead of {expected}").into());
            }
        }
        Ok(tenant)
    }

    /// Adds this number of audit entries to a tenant, and checks that the server shows the last of them.
    pub(crate) async fn audit_log(&self, tenant: &Tenant, entries: u64) -> Outcome {
        audit_log::fill(&self.database, &[(tenant.id, entries)]).await?;
        let token = self.token(tenant).await?;
        let mut connection = Connection::open(self.server.address).await?;
        let last = format!("/audit-logs?limit=1&correlationId=request-{}", entries - 1);
        let page = ask(&mut connection, "GET", &last, Some(&token), None, 200).await?;
        text(&page, "/data/0/id").map(drop)
    }

    /// Creates a role with the permission to read users.
    pub(crate) async fn role(&self, tenant: &Tenant) -> Outcome<Uuid> {
        let token = self.token(tenant).await?;
        let mut connection = Connection::open(self.server.address).await?;
        let role = json!({ "name": "READER", "permissions": ["users:read"] });
        let made = ask(&mut connection, "POST", "/roles", Some(&token), Some(role), 201).await?;
        Ok(text(&made, "/id")?.parse()?)
    }

    /// Makes an API key of the administrator.
    pub(crate) async fn key(&self, tenant: &Tenant) -> Outcome<String> {
        let token = self.token(tenant).await?;
        let mut connection = Connection::open(self.server.address).await?;
        text(&new_key(&mut connection, &token).await?, "/key")
    }

    /// Logs the administrator in. The token is valid for a quarter of an hour.
    pub(crate) async fn token(&self, tenant: &Tenant) -> Outcome<String> {
        let mut connection = Connection::open(self.server.address).await?;
        let login = Some(credentials(tenant.administrator));
        text(&ask(&mut connection, "POST", "/auth/login", None, login, 200).await?, "/accessToken")
    }

    /// Returns the identifier of the user of a token.
    pub(crate) async fn user(&self, token: &str) -> Outcome<String> {
        let mut connection = Connection::open(self.server.address).await?;
        text(&ask(&mut connection, "GET", "/auth/me", Some(token), None, 200).await?, "/user/id")
    }
}

/// The hash of the password that all users have.
fn password_hash(cost: HashingCost) -> Outcome<String> {
    Ok(argon2id(cost)?.hash_password_with_salt(PASSWORD.as_bytes(), &[7; 16])?.to_string())
}
