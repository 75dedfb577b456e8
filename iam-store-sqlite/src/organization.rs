use iam_store_sql::organization_ports;

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

organization_ports! {
    SqliteStore,
    SqliteTransaction,
    // The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a
    // cycle, which the service never writes, would end. They use CROSS JOIN, whose order SQLite never changes: in the
    // other order, it would read all organizations of the tenant at each step.
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
            tenant_id, id, name, name_key, slug, status, parent_id, created_at, updated_at
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
            updated_at = ?8,
            version = version + 1
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
}

#[cfg(test)]
mod tests {
    use iam_model::access::VisibleScope;
    use iam_model::id::{OrganizationId, TenantId};
    use iam_model::organization::{OrganizationFilter, OrganizationSort, ParentFilter};
    use iam_model::page::PageRequest;
    use iam_store_sql::organization::list;

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
            let (sort, page) = (OrganizationSort::default(), PageRequest::default());
            let query = list::<SqliteStore>(TenantId::NONE, &filter, sort, page, visible_scope);
            assert_list(query, &format!("SEARCH o USING INDEX {index}"), true).await;
        }
    }
}
