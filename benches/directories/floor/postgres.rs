use chrono::Utc;
use sqlx::types::Json;
use sqlx::{PgPool, query, query_scalar};
use uuid::Uuid;

use super::{Ids, entries_of, entry_of_group};
use crate::person::{Person, attributes, search};

pub(super) async fn make_user(pool: &PgPool, ids: Ids, person: &Person) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    let insert = query(
        "WITH made AS (
            INSERT INTO iam.users (
                tenant_id, id, email, email_key, first_name, first_name_key, last_name, last_name_key, external_id,
                status, created_at, updated_at
            )
            VALUES ($1, $2, $3, $3, 'Ada', 'ada', 'Lovelace', 'lovelace', $4, 'ACTIVE', $5, $5)
        ), kept AS (
            INSERT INTO iam.credentials (tenant_id, user_id, password_hash)
            VALUES ($1, $2, '!')
        ), said AS (
            INSERT INTO iam.directory_users (
                tenant_id, user_id, directory_id, user_name, user_name_key, attributes, search, created_at, updated_at
            )
            VALUES ($1, $2, $6, $3, $3, $7, $8, $5, $5)
        )
        INSERT INTO iam.audit_unsealed (
            tenant_id, id, action, resource_type, resource_id, user_id, new_value, metadata, created_at, details_salt,
            origin_salt, digest
        )
        VALUES
            ($1, $9, 'CREATE', 'USER', $2::text, $10, $11, $12, $5, uuid_send($9), uuid_send($9),
                sha256(uuid_send($9))),
            ($1, $13, 'UPDATE', 'USER', $2::text, $10, $14, $12, $5, uuid_send($13), uuid_send($13),
                sha256(uuid_send($13)))",
    );
    let insert = insert.bind(ids.tenant).bind(Uuid::now_v7()).bind(&person.email).bind(&person.external_id);
    let insert = insert.bind(Utc::now()).bind(ids.directory).bind(Json(attributes(&person.email)));
    let [created, updated] = entries_of(person);
    let insert = insert.bind(Json(search(&person.email))).bind(Uuid::now_v7()).bind(ids.account).bind(Json(created));
    let insert = insert.bind(Json(ids.metadata())).bind(Uuid::now_v7()).bind(Json(updated));
    insert.execute(&mut *transaction).await?;
    transaction.commit().await
}

pub(super) async fn find(pool: &PgPool, ids: Ids, user_name: &str) -> sqlx::Result<()> {
    let select = query(
        "SELECT
            u.id, u.external_id, u.status, u.updated_at, d.user_name, d.attributes, d.created_at AS entry_created_at,
            d.updated_at AS entry_updated_at, d.version
        FROM iam.directory_users d
        JOIN iam.users u ON u.tenant_id = d.tenant_id AND u.id = d.user_id
        WHERE d.tenant_id = $1 AND d.directory_id = $2 AND d.user_name_key = $3 AND d.deleted_at IS NULL",
    );
    select.bind(ids.tenant).bind(ids.directory).bind(user_name).fetch_one(pool).await.map(drop)
}

pub(super) async fn come(pool: &PgPool, ids: Ids, role: Option<Uuid>) -> sqlx::Result<()> {
    let now = Utc::now();
    let mut transaction = pool.begin().await?;
    let insert = query(
        "WITH came AS (
            INSERT INTO iam.directory_group_members (tenant_id, group_id, user_id)
            VALUES ($1, $2, $3)
        ), counted AS (
            UPDATE iam.directory_groups
            SET members = members + 1, updated_at = $4, version = version + 1
            WHERE tenant_id = $1 AND id = $2
        )
        INSERT INTO iam.audit_unsealed (
            tenant_id, id, action, resource_type, resource_id, user_id, new_value, metadata, created_at, details_salt,
            origin_salt, digest
        )
        VALUES
            ($1, $5, 'UPDATE', 'DIRECTORY_GROUP', $2::text, $6, $7, $8, $4, uuid_send($5), uuid_send($5),
                sha256(uuid_send($5)))",
    );
    let insert = insert.bind(ids.tenant).bind(ids.group).bind(ids.member).bind(now).bind(Uuid::now_v7());
    let insert = insert.bind(ids.account).bind(Json(entry_of_group())).bind(Json(ids.metadata()));
    insert.execute(&mut *transaction).await?;
    if let Some(role) = role {
        let insert = query(
            "WITH given AS (
                INSERT INTO iam.role_assignments (
                    tenant_id, id, user_id, role_id, created_at, created_by, directory_group_id
                )
                VALUES ($1, $2, $3, $4, $5, $6, $7)
            )
            INSERT INTO iam.audit_unsealed (
                tenant_id, id, action, resource_type, resource_id, user_id, metadata, created_at, details_salt,
                origin_salt, digest
            )
            VALUES
                ($1, $8, 'ROLE_ASSIGNED', 'ROLE_ASSIGNMENT', $2::text, $6, $9, $5, uuid_send($8), uuid_send($8),
                    sha256(uuid_send($8)))",
        );
        let insert = insert.bind(ids.tenant).bind(Uuid::now_v7()).bind(ids.member).bind(role).bind(now);
        let insert = insert.bind(ids.account).bind(ids.group).bind(Uuid::now_v7()).bind(Json(ids.metadata()));
        insert.execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

pub(super) async fn go(pool: &PgPool, ids: Ids, role: Option<Uuid>) -> sqlx::Result<()> {
    let now = Utc::now();
    let mut transaction = pool.begin().await?;
    let delete = query(
        "WITH went AS (
            DELETE FROM iam.directory_group_members
            WHERE tenant_id = $1 AND group_id = $2 AND user_id = $3
        ), counted AS (
            UPDATE iam.directory_groups
            SET members = members - 1, updated_at = $4, version = version + 1
            WHERE tenant_id = $1 AND id = $2
        )
        INSERT INTO iam.audit_unsealed (
            tenant_id, id, action, resource_type, resource_id, user_id, new_value, metadata, created_at, details_salt,
            origin_salt, digest
        )
        VALUES
            ($1, $5, 'UPDATE', 'DIRECTORY_GROUP', $2::text, $6, $7, $8, $4, uuid_send($5), uuid_send($5),
                sha256(uuid_send($5)))",
    );
    let delete = delete.bind(ids.tenant).bind(ids.group).bind(ids.member).bind(now).bind(Uuid::now_v7());
    let delete = delete.bind(ids.account).bind(Json(entry_of_group())).bind(Json(ids.metadata()));
    delete.execute(&mut *transaction).await?;
    if let Some(role) = role {
        let delete = query(
            "WITH ended AS (
                DELETE FROM iam.role_assignments
                WHERE tenant_id = $1 AND user_id = $2 AND role_id = $3 AND organization_id IS NULL
                RETURNING id, created_at, created_by, directory_group_id
            ), past AS (
                INSERT INTO iam.past_assignments (
                    tenant_id, id, until, user_id, role_id, created_at, created_by, since, directory_group_id
                )
                SELECT $1, id, $4, $2, $3, created_at, created_by, created_at, directory_group_id
                FROM ended
            )
            INSERT INTO iam.audit_unsealed (
                tenant_id, id, action, resource_type, resource_id, user_id, metadata, created_at, details_salt,
                origin_salt, digest
            )
            SELECT
                $1, $5, 'ROLE_REVOKED', 'ROLE_ASSIGNMENT', id::text, $6, $7, $4, uuid_send($5), uuid_send($5),
                sha256(uuid_send($5))
            FROM ended",
        );
        let delete = delete.bind(ids.tenant).bind(ids.member).bind(role).bind(now).bind(Uuid::now_v7());
        delete.bind(ids.account).bind(Json(ids.metadata())).execute(&mut *transaction).await?;
    }
    transaction.commit().await
}

pub(super) async fn members(pool: &PgPool, ids: Ids) -> sqlx::Result<Vec<Uuid>> {
    let select = query_scalar(
        "SELECT user_id FROM iam.directory_group_members WHERE tenant_id = $1 AND group_id = $2 ORDER BY user_id",
    );
    select.bind(ids.tenant).bind(ids.group).fetch_all(pool).await
}
