use iam_model::access::VisibleScope;
use iam_model::id::TenantId;
use iam_model::organization::{Organization, OrganizationFilter, OrganizationSort};
use iam_model::page::{Page, PageRequest};
use iam_model::store_error::StoreError;
use iam_store_sql::organization::{OrganizationRow, list};
use iam_store_sql::organization_ports;
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

organization_ports! {
    SqliteStore,
    SqliteTransaction,
    // The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a cycle,
    // which the service never writes, would end. They use CROSS JOIN, whose order SQLite never changes: in the other
    // order, it would read all organizations of the tenant at each step.
    lineages: (
        r#"
        WITH RECURSIVE lineage (id) AS (
            SELECT unhex(value, '-')
            FROM json_each(?2)
            UNION
            SELECT o.parent_id
            FROM lineage l
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
            WHERE o.parent_id IS NOT NULL
        )
        "#,
        "FROM lineage l CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id"
    ),
    subtree: (
        r#"
        WITH RECURSIVE subtree (id) AS (
            SELECT ?2
            UNION
            SELECT o.id
            FROM subtree s
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.parent_id = s.id
            WHERE o.status <> 'INACTIVE'
        )
        "#,
        r#"
        FROM subtree s
        CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = s.id
        ORDER BY o.created_at DESC, o.id
        "#
    ),
    children: r#"
        FROM organizations o
        WHERE o.tenant_id = ?1 AND o.parent_id = ?2 AND o.status <> 'INACTIVE'
        ORDER BY o.created_at DESC, o.id
    "#,
    is_slug_taken: r#"
        SELECT EXISTS (
            SELECT 1 FROM organizations WHERE tenant_id = ?1 AND slug = ?2 AND status <> 'INACTIVE'
        ) AS "exists!: bool"
    "#,
    insert: (
        r#"
        INSERT INTO organizations (
            tenant_id,
            id,
            name,
            name_key,
            slug,
            status,
            parent_id,
            created_at,
            updated_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        "#
    ),
    update: (
        r#"
        UPDATE organizations
        SET
            name = ?3,
            name_key = ?4,
            slug = ?5,
            status = ?6,
            parent_id = ?7,
            updated_at = ?8
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
}

impl SqliteStore {
    pub(crate) async fn list_organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        visible_scope: &VisibleScope,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        let list = |page| organizations(tenant, filter, visible_scope, sort, page);
        self.page::<Organization, OrganizationRow<i64>>(page, list).await
    }
}

/// Builds the statement for a page of the organizations in the visible scope that match a filter.
fn organizations(
    tenant: TenantId,
    filter: &OrganizationFilter,
    visible_scope: &VisibleScope,
    sort: OrganizationSort,
    page: PageRequest,
) -> QueryBuilder<Sqlite> {
    list::<SqliteStore>(tenant, filter, sort, page, |query, column| {
        push_visible_scope(query, column, tenant, visible_scope);
    })
}

/// Adds the condition that a column names an organization in the visible scope.
pub(crate) fn push_visible_scope(
    query: &mut QueryBuilder<Sqlite>,
    column: &'static str,
    tenant: TenantId,
    visible_scope: &VisibleScope,
) {
    let VisibleScope::Organizations(roots) = visible_scope else { return };
    query.push(" AND ").push(column).push(
        " IN (
            WITH RECURSIVE visible_scope (id) AS (
                SELECT unhex(value, '-')
                FROM json_each(",
    );
    query.push_bind(Json(roots.clone())).push(
        ")
                UNION
                SELECT o.id
                FROM visible_scope r
                CROSS JOIN organizations o ON o.parent_id = r.id AND o.tenant_id = ",
    );
    query.push_bind(tenant.as_uuid()).push(") SELECT r.id FROM visible_scope r)");
}

#[cfg(test)]
mod tests {
    use iam_model::id::OrganizationId;
    use iam_model::organization::ParentFilter;

    use super::*;
    use crate::plan::assert_list;

    /// All organizations that match are counted and sorted.
    #[tokio::test]
    async fn every_filter_finds_its_organizations_by_an_index() {
        let (plain, root) = (OrganizationFilter::default, ParentFilter::Of(OrganizationId::from(uuid::Uuid::nil())));
        let below = |parent| OrganizationFilter { parent: Some(parent), ..plain() };
        let within = VisibleScope::Organizations(Vec::new());
        for (filter, visible_scope, index) in [
            (plain(), &VisibleScope::Tenant, "organizations_created_idx (tenant_id=?)"),
            (
                below(ParentFilter::Root),
                &VisibleScope::Tenant,
                "organizations_parent_idx (tenant_id=? AND parent_id=?)",
            ),
            (below(root), &VisibleScope::Tenant, "organizations_parent_idx (tenant_id=? AND parent_id=?)"),
            (plain(), &within, "sqlite_autoindex_organizations_1 (tenant_id=? AND id=?)"),
        ] {
            let query = organizations(
                TenantId::NONE,
                &filter,
                visible_scope,
                OrganizationSort::default(),
                PageRequest::default(),
            );
            assert_list(query, &format!("SEARCH o USING INDEX {index}"), true).await;
        }
    }
}
