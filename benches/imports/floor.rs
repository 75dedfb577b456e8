//! The floor: for each user a transaction that inserts it, its credential and an audit entry.

use std::time::{Duration, Instant};

use chrono::Utc;
use iam_benches::Outcome;
use iam_benches::database::Bare;
use serde_json::{Value, json};
use sqlx::types::Json;
use sqlx::{PgPool, SqlitePool, query};
use uuid::Uuid;

const HASH: &str = "$pbkdf2-sha256$i=10000$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I";

/// Inserts users, and returns how long it takes.
pub(crate) async fn insert(bare: &Bare, tenant: Uuid, count: u64) -> Outcome<Duration> {
    let began = Instant::now();
    for number in 0..count {
        let email = format!("floor-{number}@example.com");
        match bare {
            Bare::Postgres(pool) => postgres(pool, tenant, &email).await?,
            Bare::Sqlite(pool) => sqlite(pool, tenant, &email).await?,
        }
    }
    Ok(began.elapsed())
}

/// The new values in the entry.
fn entry(email: &str) -> Value {
    json!({
        "email": email,
        "firstName": "Ada",
        "lastName": "Lovelace",
        "homeOrganizationId": null,
        "status": "ACTIVE",
        "password": "[REDACTED]",
    })
}

async fn postgres(pool: &PgPool, tenant: Uuid, email: &str) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    let insert = query(
        "WITH made AS (
            INSERT INTO iam.users (
                tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, status,
                created_at, updated_at
            )
            VALUES ($1, $2, $3, $3, 'Ada', 'ada', 'Lovelace', 'lovelace', 'ACTIVE', $4, $4)
        ), kept AS (
            INSERT INTO iam.credentials (tenant_id, user_id, password_hash)
            VALUES ($1, $2, $5)
        )
        INSERT INTO iam.audit_unsealed (
            tenant_id, id, action, resource_type, resource_id, new_value, metadata, created_at, details_salt,
            origin_salt, digest
        )
        VALUES ($1, $6, 'CREATE', 'USER', $2::text, $7, $8, $4, uuid_send($6), uuid_send($6), sha256(uuid_send($6)))",
    );
    let insert = insert.bind(tenant).bind(Uuid::now_v7()).bind(email).bind(Utc::now()).bind(HASH);
    let insert = insert.bind(Uuid::now_v7()).bind(Json(entry(email))).bind(Json(json!({ "system": "bench" })));
    insert.execute(&mut *transaction).await?;
    transaction.commit().await
}

async fn sqlite(pool: &SqlitePool, tenant: Uuid, email: &str) -> sqlx::Result<()> {
    let (user, id, now) = (Uuid::now_v7(), Uuid::now_v7(), Utc::now().timestamp_millis());
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let insert = query(
        "INSERT INTO users (
            tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, status, created_at,
            updated_at
        )
        VALUES (?1, ?2, ?3, ?3, 'Ada', 'ada', 'Lovelace', 'lovelace', 'ACTIVE', ?4, ?4)",
    );
    insert.bind(tenant).bind(user).bind(email).bind(now).execute(&mut *transaction).await?;
    let insert = query("INSERT INTO credentials (tenant_id, user_id, password_hash) VALUES (?1, ?2, ?3)");
    insert.bind(tenant).bind(user).bind(HASH).execute(&mut *transaction).await?;
    let insert = query(
        "INSERT INTO audit_entries (
            tenant_id, id, action, resource_type, resource_id, new_value, metadata, created_at, details_salt,
            origin_salt
        )
        VALUES (?1, ?2, 'CREATE', 'USER', ?3, ?4, ?5, ?6, randomblob(16), randomblob(16))",
    );
    let insert = insert.bind(tenant).bind(id).bind(user.to_string()).bind(Json(entry(email)));
    insert.bind(Json(json!({ "system": "bench" }))).bind(now).execute(&mut *transaction).await?;
    let insert =
        query("INSERT INTO audit_unsealed (tenant_id, created_at, id, digest) VALUES (?1, ?2, ?3, randomblob(32))");
    insert.bind(tenant).bind(now).bind(id).execute(&mut *transaction).await?;
    transaction.commit().await
}
