use iam_store_sql::access_review_ports;

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

access_review_ports! {
    SqliteStore,
    SqliteTransaction,
    list_moment: i64,
    by_id: "FROM access_reviews WHERE tenant_id = ?1 AND id = ?2",
    lock: "FROM access_reviews WHERE tenant_id = ?1 AND id = ?2",
    lock_item: "FROM access_review_items WHERE tenant_id = ?1 AND review_id = ?2 AND assignment_id = ?3",
    progress: r#"
        SELECT
            review_id,
            count(*) AS "total!: i64",
            count(*) FILTER (WHERE decision = 'KEEP') AS "keep!: i64",
            count(*) FILTER (WHERE decision = 'REVOKE') AS "revoke!: i64"
        FROM access_review_items
        WHERE tenant_id = ?1 AND review_id IN (SELECT unhex(value, '-') FROM json_each(?2))
        GROUP BY review_id
    "#,
    to_revoke: r#"
        SELECT assignment_id
        FROM access_review_items
        WHERE tenant_id = ?1 AND review_id = ?2 AND decision = ?3
        ORDER BY assignment_id
    "#,
    reviewed: r#"
        WITH RECURSIVE within (id) AS (
            SELECT o.id
            FROM organizations o
            WHERE o.tenant_id = ?1 AND o.id = ?2
            UNION
            SELECT o.id
            FROM within w
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = w.id
        ),
        reviewed AS (
            SELECT a.*
            FROM role_assignments a
            WHERE a.tenant_id = ?1
                AND (?2 IS NULL OR a.organization_id IN (SELECT w.id FROM within w))
                AND (?3 = '[]' OR a.role_id IN (SELECT unhex(value, '-') FROM json_each(?3)))
                AND (?4 = '[]' OR a.user_id IN (SELECT unhex(value, '-') FROM json_each(?4)))
                AND (a.expires_at <= ?5) IS NOT TRUE
        )
    "#,
    count: r#"SELECT count(*) AS "count!: i64" FROM (SELECT 1 FROM reviewed LIMIT ?6)"#,
    freeze: r#"
        INSERT INTO access_review_items (
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
            ?6,
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
        CROSS JOIN users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
        CROSS JOIN roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
        LEFT JOIN organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
    "#,
    insert: (
        r#"
        INSERT INTO access_reviews (
            tenant_id, id, name, organization_id, role_ids, user_ids, due_at, status, created_at, created_by
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
        "#
    ),
    decide: (
        r#"
        UPDATE access_review_items
        SET decision = ?4, reason = ?5, decided_by = ?6, decided_at = ?7
        WHERE tenant_id = ?1
            AND review_id = ?2
            AND assignment_id = ?3
            AND EXISTS (
                SELECT 1
                FROM access_reviews v
                WHERE v.tenant_id = ?1 AND v.id = ?2 AND v.status = 'OPEN'
            )
        "#
    ),
    close: (
        r#"
        UPDATE access_reviews
        SET status = ?3, closed_at = ?4, closed_by = ?5
        WHERE tenant_id = ?1 AND id = ?2 AND status = 'OPEN'
        "#
    ),
    set_outcomes: r#"
        UPDATE access_review_items
        SET outcome = CASE
            WHEN decision = 'REVOKE'
                AND assignment_id IN (SELECT unhex(value, '-') FROM json_each(?3)) THEN 'GONE'
            WHEN decision = 'REVOKE' THEN 'REVOKED'
            ELSE 'KEPT'
        END
        WHERE tenant_id = ?1 AND review_id = ?2
    "#,
}

#[cfg(test)]
mod tests {
    use iam_model::access::VisibleScope;
    use iam_model::access_review::{AccessReviewFilter, AccessReviewStatus, ReviewItemFilter};
    use iam_model::id::TenantId;
    use iam_model::page::PageRequest;
    use iam_store_sql::access_review::{all_items, list, list_items};
    use uuid::Uuid;

    use crate::SqliteStore;
    use crate::plan::assert_list;

    /// The reviews of a tenant are few, so they are sorted.
    #[tokio::test]
    async fn every_filter_finds_its_reviews_by_an_index() {
        for (status, key) in [(None, "tenant_id=?"), (Some(AccessReviewStatus::Open), "tenant_id=? AND status=?")] {
            let (filter, page) = (AccessReviewFilter { status }, PageRequest::default());
            let reviews = list::<SqliteStore>(TenantId::NONE, &filter, page, &VisibleScope::Tenant);
            assert_list(reviews, &format!("SEARCH v USING COVERING INDEX access_reviews_status_idx ({key})"), true)
                .await;
        }
    }

    #[tokio::test]
    async fn every_filter_finds_its_items_by_an_index() {
        let (tenant, review) = (TenantId::NONE, Uuid::nil().into());
        let index = "access_review_items_decision_idx (tenant_id=? AND review_id=?";
        for (filter, key) in [
            (None, ")"),
            (Some(ReviewItemFilter::Keep), " AND decision=?)"),
            (Some(ReviewItemFilter::Undecided), " AND decision=?)"),
        ] {
            let page = list_items::<SqliteStore>(tenant, review, filter, PageRequest::default());
            assert_list(page, &format!("SEARCH i USING COVERING INDEX {index}{key}"), true).await;
        }
        let all = all_items::<SqliteStore>(tenant, review, None);
        let key = "sqlite_autoindex_access_review_items_1 (tenant_id=? AND review_id=?)";
        assert_list(all, &format!("SEARCH i USING INDEX {key}"), false).await;
    }
}
