use iam_store_sql::access_review_ports;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;

access_review_ports! {
    PostgresStore,
    PostgresTransaction,
    list_moment: crate::column::Moment,
    by_id: "FROM iam.access_reviews WHERE tenant_id = $1 AND id = $2",
    lock: "FROM iam.access_reviews WHERE tenant_id = $1 AND id = $2 FOR UPDATE",
    lock_item: r#"
        FROM iam.access_review_items
        WHERE tenant_id = $1 AND review_id = $2 AND assignment_id = $3
        FOR UPDATE
    "#,
    progress: r#"
        SELECT
            review_id,
            count(*) AS "total!",
            count(*) FILTER (WHERE decision = 'KEEP') AS "keep!",
            count(*) FILTER (WHERE decision = 'REVOKE') AS "revoke!"
        FROM iam.access_review_items
        WHERE tenant_id = $1 AND review_id = ANY($2)
        GROUP BY review_id
    "#,
    to_revoke: r#"
        SELECT assignment_id
        FROM iam.access_review_items
        WHERE tenant_id = $1 AND review_id = $2 AND decision = $3
        ORDER BY assignment_id
    "#,
    reviewed: r#"
        WITH RECURSIVE within AS (
            SELECT o.id
            FROM iam.organizations o
            WHERE o.tenant_id = $1 AND o.id = $2
            UNION
            SELECT o.id
            FROM within w
            JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = w.id
        ),
        reviewed AS (
            SELECT a.*
            FROM iam.role_assignments a
            WHERE a.tenant_id = $1
                AND ($2::uuid IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
                AND (cardinality($3::uuid[]) = 0 OR a.role_id = ANY($3))
                AND (cardinality($4::uuid[]) = 0 OR a.user_id = ANY($4))
                AND (a.expires_at IS NULL OR a.expires_at > $5)
        )
    "#,
    count: r#"SELECT count(*) AS "count!" FROM (SELECT FROM reviewed LIMIT $6) found"#,
    freeze: r#"
        INSERT INTO iam.access_review_items (
            tenant_id,
            review_id,
            assignment_id,
            user_id,
            role_id,
            role_name,
            organization_id,
            organization_name,
            expires_at,
            assignment_created_at,
            granted_by,
            last_login_at
        )
        SELECT
            a.tenant_id,
            $6,
            a.id,
            a.user_id,
            a.role_id,
            r.name,
            a.organization_id,
            o.name,
            a.expires_at,
            a.created_at,
            a.created_by,
            u.last_login_at
        FROM reviewed a
        JOIN iam.users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
        JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
        LEFT JOIN iam.organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
    "#,
    distributed_freeze: "SELECT iam.freeze_access_review($1, $2, $3, $4, $5, $6)",
    insert: (
        "$11",
        r#"
        INSERT INTO iam.access_reviews (
            tenant_id, id, name, organization_id, role_ids, user_ids, due_at, status, created_at, created_by
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
        "#
    ),
    // The lock of the review waits for a completion in progress, and lets several decisions run at the same time.
    decide: (
        "$8",
        with r#"
        open AS (
            SELECT v.id
            FROM iam.access_reviews v
            WHERE v.tenant_id = $1 AND v.id = $2 AND v.status = 'OPEN'
            FOR SHARE
        )
        "#,
        r#"
        UPDATE iam.access_review_items i
        SET decision = $4, reason = $5, decided_by = $6, decided_at = $7
        FROM open
        WHERE i.tenant_id = $1 AND i.review_id = open.id AND i.assignment_id = $3
        "#
    ),
    close: (
        "$6",
        r#"
        UPDATE iam.access_reviews
        SET status = $3, closed_at = $4, closed_by = $5
        WHERE tenant_id = $1 AND id = $2 AND status = 'OPEN'
        "#
    ),
    set_outcomes: r#"
        UPDATE iam.access_review_items
        SET outcome = CASE
            WHEN decision = 'REVOKE' AND assignment_id = ANY($3) THEN 'GONE'
            WHEN decision = 'REVOKE' THEN 'REVOKED'
            ELSE 'KEPT'
        END
        WHERE tenant_id = $1 AND review_id = $2
    "#,
}
