//! The floor: the statements of each request, on one connection, without authentication and rules.

mod postgres;
mod sqlite;

use iam_benches::Outcome;
use iam_benches::database::Bare;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::person::{Person, attributes};

/// What the statements name.
#[derive(Clone, Copy)]
pub(crate) struct Ids {
    pub(crate) tenant: Uuid,
    pub(crate) directory: Uuid,
    /// The service account of the directory.
    pub(crate) account: Uuid,
    pub(crate) group: Uuid,
    /// The user who comes and goes.
    pub(crate) member: Uuid,
}

pub(crate) struct Floor {
    bare: Bare,
    ids: Ids,
}

impl Floor {
    pub(crate) fn new(bare: Bare, ids: Ids) -> Self {
        Self { bare, ids }
    }

    /// Inserts a user, its empty credential, what the directory says of it, and two audit entries.
    pub(crate) async fn make_user(&self, person: &Person) -> Outcome {
        match &self.bare {
            Bare::Postgres(pool) => postgres::make_user(pool, self.ids, person).await?,
            Bare::Sqlite(pool) => sqlite::make_user(pool, self.ids, person).await?,
        }
        Ok(())
    }

    /// Reads the user of the directory who has a user name.
    pub(crate) async fn find(&self, user_name: &str) -> Outcome {
        match &self.bare {
            Bare::Postgres(pool) => postgres::find(pool, self.ids, user_name).await?,
            Bare::Sqlite(pool) => sqlite::find(pool, self.ids, user_name).await?,
        }
        Ok(())
    }

    /// Inserts a member of the group and, if the group is mapped, an assignment of its role, each with an entry.
    pub(crate) async fn come(&self, role: Option<Uuid>) -> Outcome {
        match &self.bare {
            Bare::Postgres(pool) => postgres::come(pool, self.ids, role).await?,
            Bare::Sqlite(pool) => sqlite::come(pool, self.ids, role).await?,
        }
        Ok(())
    }

    /// Removes a member of the group and, if the group is mapped, the assignment of its role, each with an entry.
    pub(crate) async fn go(&self, role: Option<Uuid>) -> Outcome {
        match &self.bare {
            Bare::Postgres(pool) => postgres::go(pool, self.ids, role).await?,
            Bare::Sqlite(pool) => sqlite::go(pool, self.ids, role).await?,
        }
        Ok(())
    }

    /// Reads the members of the group.
    pub(crate) async fn members(&self) -> Outcome<Vec<Uuid>> {
        Ok(match &self.bare {
            Bare::Postgres(pool) => postgres::members(pool, self.ids).await?,
            Bare::Sqlite(pool) => sqlite::members(pool, self.ids).await?,
        })
    }
}

impl Ids {
    /// The metadata of each entry.
    fn metadata(&self) -> Value {
        json!({ "apiKeyId": self.account, "directoryId": self.directory })
    }
}

/// The new values in the entry of a group.
fn entry_of_group() -> Value {
    json!({ "members": 5_000 })
}

/// The new values in the entries of a new user.
fn entries_of(person: &Person) -> [Value; 2] {
    let user = json!({
        "email": person.email,
        "firstName": "Ada",
        "lastName": "Lovelace",
        "homeOrganizationId": null,
        "status": "ACTIVE",
        "externalId": person.external_id,
        "password": "[REDACTED]",
    });
    [user, json!({ "userName": person.email, "attributes": attributes(&person.email) })]
}
