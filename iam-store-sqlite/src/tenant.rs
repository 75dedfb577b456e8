use iam_store_sql::tenant_ports;

use crate::SqliteStore;
use crate::transaction::SqliteTransaction;

tenant_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM tenants t WHERE t.id = ?1",
    by_slug: "FROM tenants t WHERE t.slug = ?1",
    lock: "FROM tenants t WHERE t.id = ?1",
    is_empty: r#"SELECT NOT EXISTS (SELECT 1 FROM tenants) AS "is_empty!: bool""#,
    has_several: r#"SELECT EXISTS (SELECT 1 FROM tenants LIMIT 1 OFFSET 1) AS "has_several!: bool""#,
    usage: r#"
        SELECT
            active_users + suspended_users + inactive_users AS "users!: i64",
            organizations,
            roles,
            role_assignments
        FROM tenant_counts
        WHERE tenant_id = ?1
    "#,
    insert: r#"
        INSERT INTO tenants (
            id, name, slug, status, created_at, updated_at, password_policy,
            second_factor, second_factor_grace_days, second_factor_required_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
    "#,
    update: r#"
        UPDATE tenants
        SET
            name = ?2,
            slug = ?3,
            status = ?4,
            updated_at = ?5,
            password_policy = ?6,
            second_factor = ?7,
            second_factor_grace_days = ?8,
            second_factor_required_at = ?9,
            version = version + 1
        WHERE id = ?1
    "#,
}
