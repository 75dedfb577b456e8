use iam_model::access::VisibleScope;
use iam_model::id::TenantId;
use iam_model::store_error::StoreError;
use iam_store_sql::organization_ports;
use iam_store_sql::store::SqlStore as _;
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;

organization_ports! {
    PostgresStore,
    PostgresTransaction,
    // The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a
    // cycle, which the service never writes, would end. Every step selects whole rows, and each step up has a LIMIT,
    // because the planner expects the steps to find ten times as many rows as the first part: to join so many, it would
    // read all organizations of the tenant.
    //
    // The identifiers come from a subquery, whose rows the planner cannot count, so the plan is cached. For an array,
    // the planner would make a new plan every time: the identifiers are fewer than it expects of any array, so a plan
    // for just them seems better than a plan for all.
    lineages: (
        r#"
        WITH RECURSIVE lineage AS (
            SELECT o.*
            FROM iam.organizations o
            WHERE o.tenant_id = $1 AND o.id = ANY(ARRAY(SELECT unnest($2::uuid[])))
            UNION
            SELECT o.*
            FROM lineage l
            CROSS JOIN LATERAL (
                SELECT o.*
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = l.parent_id
                LIMIT 1
            ) o
        )
        "#,
        "FROM lineage o"
    ),
    subtree: (
        r#"
        WITH RECURSIVE subtree AS (
            SELECT o.*
            FROM iam.organizations o
            WHERE o.tenant_id = $1 AND o.id = $2
            UNION
            SELECT o.*
            FROM subtree s
            JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = s.id
            WHERE o.status <> 'INACTIVE'
        )
        "#,
        "FROM subtree o ORDER BY o.created_at DESC, o.id"
    ),
    children: r#"
        FROM iam.organizations o
        WHERE o.tenant_id = $1 AND o.parent_id = $2 AND o.status <> 'INACTIVE'
        ORDER BY o.created_at DESC, o.id
    "#,
    is_slug_taken: r#"
        SELECT EXISTS (
            SELECT FROM iam.organizations WHERE tenant_id = $1 AND slug = $2 AND status <> 'INACTIVE'
        ) AS "exists!"
    "#,
    insert: (
        "$10",
        r#"
        INSERT INTO iam.organizations (
            tenant_id, id, name, name_key, slug, status, parent_id, created_at, updated_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        "#
    ),
    update: (
        "$9",
        r#"
        UPDATE iam.organizations
        SET
            name = $3,
            name_key = $4,
            slug = $5,
            status = $6,
            parent_id = $7,
            updated_at = $8,
            version = version + 1
        WHERE tenant_id = $1 AND id = $2
        "#
    ),
}

impl PostgresStore {
    /// Returns the organizations to which a list is restricted: those of the visible scope and all below them. `None`
    /// if the visible scope is the whole tenant.
    ///
    /// This is a separate statement: inside the statement of the list, the planner could not know how few these
    /// organizations are, and would read all users of the tenant.
    pub(crate) async fn scope(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        let VisibleScope::Organizations(roots) = visible_scope else { return Ok(None) };
        let organizations = sqlx::query_scalar!(
            r#"
            WITH RECURSIVE visible_scope AS (
                SELECT o.id
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = ANY($2)
                UNION
                SELECT o.id
                FROM visible_scope r
                JOIN iam.organizations o ON o.tenant_id = $1 AND o.parent_id = r.id
            )
            SELECT ARRAY(SELECT r.id FROM visible_scope r) AS "ids!"
            "#,
            tenant.as_uuid(),
            &Self::ids(roots.iter().map(|root| root.as_uuid()))
        );
        self.answer(organizations.fetch_one(&self.reads())).await.map(Some)
    }
}
