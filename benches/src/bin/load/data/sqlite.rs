use std::ops::Range;
use std::str::FromStr as _;

use chrono::Utc;
use iam_benches::Outcome;
use iam_core::TenantId;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use uuid::Uuid;

use super::{Crowd, id, organization};

/// A connection that does not wait for the disk. Call [`checkpoint`] at the end.
pub(super) async fn connect(url: &str) -> Outcome<SqliteConnection> {
    let options = SqliteConnectOptions::from_str(url)?.foreign_keys(true).synchronous(SqliteSynchronous::Off);
    Ok(options.connect().await?)
}

pub(super) async fn users(connection: &mut SqliteConnection, crowd: &Crowd, numbers: Range<u64>) -> Outcome {
    let now = Utc::now();
    let row = |number| -> Outcome<Value> {
        let user = crowd.user(number, now)?;
        let (id, created_at) = (user.id.simple().to_string(), user.created_at.timestamp_millis());
        Ok(json!([id, user.email, user.first_name, user.last_name, created_at]))
    };
    let rows = Value::Array(numbers.map(row).collect::<Outcome<_>>()?).to_string();
    let tenant = crowd.tenant.as_uuid();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    // A row without a number gets the next number of the table. That is in the range of the tenant that was created
    // last.
    let users = sqlx::query(
        "INSERT INTO users (tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key,
            status, created_at, updated_at)
        SELECT ?1, unhex(value ->> 0), value ->> 1, value ->> 1, value ->> 2, lower(value ->> 2), value ->> 3,
            lower(value ->> 3), 'ACTIVE', value ->> 4, value ->> 4
        FROM json_each(?2)",
    );
    users.bind(tenant).bind(&rows).execute(&mut *transaction).await?;
    let credentials = sqlx::query(
        "INSERT INTO credentials (tenant_id, user_id, password_hash)
        SELECT ?1, unhex(value ->> 0), ?3 FROM json_each(?2)",
    );
    credentials.bind(tenant).bind(&rows).bind(&crowd.password_hash).execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}

pub(super) async fn organizations(connection: &mut SqliteConnection, tenant: TenantId, numbers: Range<u64>) -> Outcome {
    let row = |number| {
        let organization = organization(number);
        let parent = organization.parent.map(|parent| parent.simple().to_string());
        json!([organization.id.simple().to_string(), organization.name, organization.slug, parent])
    };
    let insert = sqlx::query(
        "INSERT INTO organizations (tenant_id, id, name, name_key, slug, status, parent_id, created_at, updated_at)
        SELECT ?1, unhex(value ->> 0), value ->> 1, lower(value ->> 1), value ->> 2, 'ACTIVE', unhex(value ->> 3), ?3, ?3
        FROM json_each(?2)",
    );
    let insert = insert.bind(tenant.as_uuid()).bind(Value::Array(numbers.map(row).collect()).to_string());
    insert.bind(Utc::now().timestamp_millis()).execute(connection).await?;
    Ok(())
}

pub(super) async fn assign(
    mut connection: SqliteConnection,
    tenant: TenantId,
    role: Uuid,
    organization: Option<Uuid>,
    users: Range<u64>,
) -> Outcome {
    let assign = sqlx::query(
        "INSERT INTO role_assignments (tenant_id, id, user_id, role_id, organization_id, created_at)
        SELECT tenant_id, id, id, ?2, ?5, created_at FROM users WHERE tenant_id = ?1 AND id >= ?3 AND id < ?4",
    );
    let assign = assign.bind(tenant.as_uuid()).bind(role).bind(id(users.start)).bind(id(users.end));
    assign.bind(organization).execute(&mut connection).await?;
    checkpoint(connection).await
}

/// Writes all changes into the database file and to the disk.
pub(super) async fn checkpoint(mut connection: SqliteConnection) -> Outcome {
    connection.execute("PRAGMA synchronous = FULL").await?;
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    Ok(connection.close().await?)
}
