//! The floor: the selects of each request, on one connection, without authentication and rules.

use iam_benches::Outcome;
use iam_benches::database::Bare;
use sqlx::{AssertSqlSafe, query};
use uuid::Uuid;

use crate::world::{PAGE, World};

/// What is held of the person with the identifier $2 in the tenant $1, beside the log.
const PARTS: [&str; 8] = [
    "SELECT * FROM iam.users WHERE tenant_id = $1 AND id = $2",
    "SELECT * FROM iam.attributes WHERE tenant_id = $1 AND owner_id = $2",
    "SELECT * FROM iam.factors WHERE tenant_id = $1 AND user_id = $2",
    "SELECT * FROM iam.identities WHERE tenant_id = $1 AND user_id = $2",
    "SELECT * FROM iam.sessions WHERE tenant_id = $1 AND user_id = $2",
    "SELECT * FROM iam.api_keys WHERE tenant_id = $1 AND user_id = $2",
    "SELECT * FROM iam.role_assignments WHERE tenant_id = $1 AND user_id = $2",
    "SELECT * FROM iam.past_assignments WHERE tenant_id = $1 AND user_id = $2",
];

/// The entries that are about the person, and those by the person.
const ENTRIES: &str = "
    SELECT * FROM iam.audit_entries
    WHERE tenant_id = $1 AND (resource_id = $2 OR user_id = $3)
    ORDER BY created_at DESC, id DESC";

/// A page of the users who have a value of an attribute.
const USERS: &str = "
    SELECT u.*
    FROM iam.attribute_values v
    JOIN iam.users u ON u.tenant_id = v.tenant_id AND u.id = v.owner_id
    WHERE v.tenant_id = $1 AND v.key = 'costCentre' AND v.value = $2
    ORDER BY u.created_at DESC, u.id
    LIMIT 20";

pub(crate) struct Floor {
    bare: Bare,
    tenant: Uuid,
    person: Uuid,
}

impl Floor {
    pub(crate) fn new(bare: Bare, world: &World) -> Self {
        Self { bare, tenant: world.tenant.as_uuid(), person: world.person.as_uuid() }
    }

    /// Reads the parts of an export.
    pub(crate) async fn export(&self) -> Outcome {
        let (tenant, person, text) = (self.tenant, self.person, self.person.to_string());
        match &self.bare {
            Bare::Postgres(pool) => {
                for part in PARTS {
                    query(part).bind(tenant).bind(person).fetch_all(pool).await?;
                }
                query(ENTRIES).bind(tenant).bind(text).bind(person).fetch_all(pool).await?;
            }
            Bare::Sqlite(pool) => {
                for part in PARTS {
                    query(of_sqlite(part)).bind(tenant).bind(person).fetch_all(pool).await?;
                }
                query(of_sqlite(ENTRIES)).bind(tenant).bind(text).bind(person).fetch_all(pool).await?;
            }
        }
        Ok(())
    }

    /// Reads the users with a value.
    pub(crate) async fn users_with(&self, value: &str) -> Outcome {
        let value = format!("s:{value}");
        let found = match &self.bare {
            Bare::Postgres(pool) => query(USERS).bind(self.tenant).bind(value).fetch_all(pool).await?.len(),
            Bare::Sqlite(pool) => query(of_sqlite(USERS)).bind(self.tenant).bind(value).fetch_all(pool).await?.len(),
        };
        if u64::try_from(found)? == PAGE { Ok(()) } else { Err(format!("{found} users have the value").into()) }
    }
}

/// Returns a statement for the tables of SQLite, which has no schemas.
fn of_sqlite(statement: &str) -> AssertSqlSafe<String> {
    AssertSqlSafe(statement.replace("iam.", "").replace('$', "?"))
}
