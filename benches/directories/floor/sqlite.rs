use chrono::Utc;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{SqliteConnection, SqlitePool, query, query_scalar};
use uuid::Uuid;

use super::{Ids, entries_of, entry_of_group};
use crate::person::{Person, attributes, search};

pub(super) async fn make_user(pool: &SqlitePool, ids: Ids, person: &Person) -> sqlx::Result<()> {
    let (user, now) = (Uuid::now_v7(), Utc::now().timestamp_millis());
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let insert = query(
        "INSERT INTO users (
            tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, external_id, status,
            created_at, updated_at
        )
        VALUES (?1, ?2, ?3, ?3, 'Ada', 'ada', 'Lovelace', 'lovelace', ?4, 'ACTIVE', ?5, ?5)",
    );
    let insert = insert.bind(ids.tenant).bind(user).bind(&person.email).bind(&person.external_id).bind(now);
    insert.execute(&mut *transaction).await?;
    let insert = query("INSERT INTO credentials (tenant_id, user_id, password_hash) VALUES (?1, ?2, '!')");
    insert.bind(ids.tenant).bind(user).execute(&mut *transaction).await?;
    let insert = query(
        "INSERT INTO directory_users (
            tenant_id, user_id, directory_id, user_name, user_name_key, attributes, search, created_at, updated_at
        )
        VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?7)",
    );
    let insert = insert.bind(ids.tenant).bind(user).bind(ids.directory).bind(&person.email);
    let insert = insert.bind(Json(attributes(&person.email))).bind(Json(search(&person.email))).bind(now);
    insert.execute(&mut *transaction).await?;
    let [created, updated] = entries_of(person);
    for (action, new_value) in [("CREATE", created), ("UPDATE", updated)] {
        log(&mut transaction, ids, (action, "USER", user), Some(new_value), now).await?;
    }
    transaction.commit().await
}

pub(super) async fn find(pool: &SqlitePool, ids: Ids, user_name: &str) -> sqlx::Result<()> {
    let select = query(
        "SELECT
            u.id, u.external_id, u.status, u.updated_at, d.user_name, d.attributes, d.created_at AS entry_created_at,
            d.updated_at AS entry_updated_at, d.version
        FROM directory_users d
        JOIN users u ON u.tenant_id = d.tenant_id AND u.id = d.user_id
        WHERE d.tenant_id = ?1 AND d.directory_id = ?2 AND d.user_name_key = ?3 AND d.deleted_at IS NULL",
    );
    select.bind(ids.tenant).bind(ids.directory).bind(user_name).fetch_one(pool).await.map(drop)
}

pub(super) async fn come(pool: &SqlitePool, ids: Ids, role: Option<Uuid>) -> sqlx::Result<()> {
    let now = Utc::now().timestamp_millis();
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let insert = query("INSERT INTO directory_group_members (tenant_id, group_id, user_id) VALUES (?1, ?2, ?3)");
    insert.bind(ids.tenant).bind(ids.group).bind(ids.member).execute(&mut *transaction).await?;
    count(&mut transaction, ids, 1, now).await?;
    if let Some(role) = role {
        let id = Uuid::now_v7();
        let insert = query(
            "INSERT INTO role_assignments (
                tenant_id, id, user_id, role_id, created_at, created_by, directory_group_id
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        );
        let insert = insert.bind(ids.tenant).bind(id).bind(ids.member).bind(role).bind(now).bind(ids.account);
        insert.bind(ids.group).execute(&mut *transaction).await?;
        log(&mut transaction, ids, ("ROLE_ASSIGNED", "ROLE_ASSIGNMENT", id), None, now).await?;
    }
    transaction.commit().await
}

pub(super) async fn go(pool: &SqlitePool, ids: Ids, role: Option<Uuid>) -> sqlx::Result<()> {
    let now = Utc::now().timestamp_millis();
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let delete = query("DELETE FROM directory_group_members WHERE tenant_id = ?1 AND group_id = ?2 AND user_id = ?3");
    delete.bind(ids.tenant).bind(ids.group).bind(ids.member).execute(&mut *transaction).await?;
    count(&mut transaction, ids, -1, now).await?;
    if let Some(role) = role {
        let insert = query_scalar(
            "INSERT INTO past_assignments (
                tenant_id, id, until, user_id, role_id, created_at, created_by, since, directory_group_id
            )
            SELECT tenant_id, id, ?4, user_id, role_id, created_at, created_by, created_at, directory_group_id
            FROM role_assignments
            WHERE tenant_id = ?1 AND user_id = ?2 AND role_id = ?3 AND organization_id IS NULL
            RETURNING id",
        );
        let insert = insert.bind(ids.tenant).bind(ids.member).bind(role).bind(now);
        let id: Uuid = insert.fetch_one(&mut *transaction).await?;
        let delete = query("DELETE FROM role_assignments WHERE tenant_id = ?1 AND id = ?2");
        delete.bind(ids.tenant).bind(id).execute(&mut *transaction).await?;
        log(&mut transaction, ids, ("ROLE_REVOKED", "ROLE_ASSIGNMENT", id), None, now).await?;
    }
    transaction.commit().await
}

pub(super) async fn members(pool: &SqlitePool, ids: Ids) -> sqlx::Result<Vec<Uuid>> {
    let select = query_scalar(
        "SELECT user_id FROM directory_group_members WHERE tenant_id = ?1 AND group_id = ?2 ORDER BY user_id",
    );
    select.bind(ids.tenant).bind(ids.group).fetch_all(pool).await
}

/// Changes the number of members of the group, and records it.
async fn count(connection: &mut SqliteConnection, ids: Ids, more: i64, now: i64) -> sqlx::Result<()> {
    let update = query(
        "UPDATE directory_groups
        SET members = members + ?3, updated_at = ?4, version = version + 1
        WHERE tenant_id = ?1 AND id = ?2",
    );
    update.bind(ids.tenant).bind(ids.group).bind(more).bind(now).execute(&mut *connection).await?;
    log(connection, ids, ("UPDATE", "DIRECTORY_GROUP", ids.group), Some(entry_of_group()), now).await
}

/// Inserts an audit entry about a resource.
async fn log(
    connection: &mut SqliteConnection,
    ids: Ids,
    (action, resource_type, resource): (&str, &str, Uuid),
    new_value: Option<Value>,
    now: i64,
) -> sqlx::Result<()> {
    let id = Uuid::now_v7();
    let entry = query(
        "INSERT INTO audit_entries (
            tenant_id, id, action, resource_type, resource_id, user_id, new_value, metadata, created_at, details_salt,
            origin_salt
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, randomblob(16), randomblob(16))",
    );
    let entry = entry.bind(ids.tenant).bind(id).bind(action).bind(resource_type).bind(resource.to_string());
    let entry = entry.bind(ids.account).bind(new_value.map(Json)).bind(Json(ids.metadata())).bind(now);
    entry.execute(&mut *connection).await?;
    let queue =
        query("INSERT INTO audit_unsealed (tenant_id, created_at, id, digest) VALUES (?1, ?2, ?3, randomblob(32))");
    queue.bind(ids.tenant).bind(now).bind(id).execute(&mut *connection).await.map(drop)
}
