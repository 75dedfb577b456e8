use iam_store_sql::tenant_ports;

use crate::PostgresStore;
use crate::transaction::PostgresTransaction;

tenant_ports! {
    PostgresStore,
    PostgresTransaction,
    by_id: "FROM iam.tenants t WHERE t.id = $1",
    by_slug: "FROM iam.tenants t WHERE t.slug = $1",
    // NO KEY, because every new row that refers to the tenant, such as a user, takes a key share lock on it. FOR
    // UPDATE would make that lock wait.
    lock: "FROM iam.tenants t WHERE t.id = $1 FOR NO KEY UPDATE",
    // The tenants are on every node then, and Citus lets only one transaction at a time lock rows of such a table. The
    // coordinator has this lock, through which all servers go.
    distributed_lock: "SELECT pg_advisory_xact_lock(hashtextextended('iam.tenants ' || $1::uuid, 0))",
    is_empty: r#"SELECT NOT EXISTS (SELECT 1 FROM iam.tenants) AS "is_empty!""#,
    has_several: r#"SELECT EXISTS (SELECT 1 FROM iam.tenants LIMIT 1 OFFSET 1) AS "has_several!""#,
    usage: r#"
        SELECT
            coalesce(sum(active_users + suspended_users + inactive_users), 0)::bigint AS "users!",
            coalesce(sum(organizations), 0)::bigint AS "organizations!",
            coalesce(sum(roles), 0)::bigint AS "roles!",
            coalesce(sum(role_assignments), 0)::bigint AS "role_assignments!"
        FROM iam.tenant_counts
        WHERE tenant_id = $1
    "#,
    insert: r#"
        INSERT INTO iam.tenants (
            id, name, slug, status, created_at, updated_at, password_policy,
            second_factor, second_factor_grace_days, second_factor_required_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
    "#,
    update: r#"
        UPDATE iam.tenants
        SET
            name = $2,
            slug = $3,
            status = $4,
            updated_at = $5,
            password_policy = $6,
            second_factor = $7,
            second_factor_grace_days = $8,
            second_factor_required_at = $9,
            version = version + 1
        WHERE id = $1
    "#,
}
