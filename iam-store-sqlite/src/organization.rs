use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::OrganizationChange;
use iam_model::id::{OrganizationId, TenantId};
use iam_model::organization::{Organization, OrganizationFilter, OrganizationSort, OrganizationSortKey, ParentFilter};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{OrganizationStore, OrganizationTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::{Slug, folded};
use iam_store_sql::error::expect_row;
use iam_store_sql::page::direction;
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::page::push_page;
use crate::transaction::SqliteTransaction;

pub(crate) type OrganizationRow = iam_store_sql::organization::OrganizationRow<i64>;

/// Selects organizations. The literals are: text before the columns, and text after them, from FROM on.
macro_rules! select_organizations {
    ($before:literal, $from:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            OrganizationRow,
            $before
                + r#"
            SELECT
                o.tenant_id,
                o.id,
                o.name,
                o.slug,
                o.status,
                o.parent_id,
                o.created_at,
                o.updated_at
            "# + $from,
            $($argument),+
        )
    };
}

// The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a cycle,
// which the service never writes, would end. They use CROSS JOIN, whose order SQLite never changes: in the other order,
// it would read all organizations of the tenant at each step.

macro_rules! select_lineages {
    ($tenant:expr, $organizations:expr) => {
        select_organizations!(
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
            "FROM lineage l CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id",
            $tenant,
            Json($organizations)
        )
    };
}

macro_rules! select_subtree {
    ($tenant:expr, $root:expr) => {
        select_organizations!(
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
            "#,
            $tenant,
            $root
        )
    };
}

fn organizations(rows: Vec<OrganizationRow>) -> Result<Vec<Organization>, StoreError> {
    rows.into_iter().map(Organization::try_from).collect()
}

#[async_trait]
impl OrganizationStore for SqliteStore {
    async fn lineages(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
    ) -> Result<Vec<Organization>, StoreError> {
        let rows = select_lineages!(tenant.as_uuid(), organizations);
        self::organizations(rows.fetch_all(&self.readers).await.map_err(store_error)?)
    }

    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = select_subtree!(tenant.as_uuid(), root.as_uuid());
        organizations(rows.fetch_all(&self.readers).await.map_err(store_error)?)
    }

    async fn children(&self, tenant: TenantId, parent: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = select_organizations!(
            "",
            r#"
            FROM organizations o
            WHERE o.tenant_id = ?1 AND o.parent_id = ?2 AND o.status <> 'INACTIVE'
            ORDER BY o.created_at DESC, o.id
            "#,
            tenant.as_uuid(),
            parent.as_uuid()
        );
        organizations(rows.fetch_all(&self.readers).await.map_err(store_error)?)
    }

    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        visible_scope: &VisibleScope,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        let list = |page| list(tenant, filter, visible_scope, sort, page);
        self.page::<Organization, OrganizationRow>(page, list).await
    }
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file
// is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        o.tenant_id,
        o.id,
        o.name,
        o.slug,
        o.status,
        o.parent_id,
        o.created_at,
        o.updated_at";

/// Builds the statement for a page of the organizations in the visible scope that match a filter. A tenant has some
/// thousands of organizations, so the statement counts them.
fn list(
    tenant: TenantId,
    filter: &OrganizationFilter,
    visible_scope: &VisibleScope,
    sort: OrganizationSort,
    page: PageRequest,
) -> QueryBuilder<Sqlite> {
    let direction = direction(sort.order);
    let mut query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT o.id, ");
    query.push(sort_column(sort.by)).push(" AS key");
    push_filter(&mut query, tenant, filter, visible_scope);
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    push_page(&mut query, direction, page);
    query.push(" CROSS JOIN organizations o ON o.id = p.id AND o.tenant_id = ").push_bind(tenant.as_uuid());
    query.push(" ORDER BY p.key").push(direction).push(", p.id");
    query
}

/// Adds the FROM clause and the conditions for the organizations in the visible scope that match a filter.
fn push_filter(
    query: &mut QueryBuilder<Sqlite>,
    tenant: TenantId,
    filter: &OrganizationFilter,
    visible_scope: &VisibleScope,
) {
    query.push(" FROM organizations o WHERE o.tenant_id = ").push_bind(tenant.as_uuid());
    match filter.status {
        Some(status) => query.push(" AND o.status = ").push_bind(status.as_str()),
        None => query.push(" AND o.status <> 'INACTIVE'"),
    };
    match filter.parent {
        Some(ParentFilter::Root) => query.push(" AND o.parent_id IS NULL"),
        Some(ParentFilter::Of(parent)) => query.push(" AND o.parent_id = ").push_bind(parent.as_uuid()),
        None => &mut *query,
    };
    if let Some(search) = &filter.search {
        // Not LIKE, in which some characters of the text would have a special meaning, and which limits the length
        // of the text.
        query.push(" AND (FALSE");
        for column in ["o.name_key", "o.slug"] {
            query.push(" OR instr(").push(column).push(", ").push_bind(folded(search)).push(") > 0");
        }
        query.push(")");
    }
    push_visible_scope(query, "o.id", tenant, visible_scope);
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

fn sort_column(by: OrganizationSortKey) -> &'static str {
    match by {
        OrganizationSortKey::Name => "o.name_key",
        OrganizationSortKey::CreatedAt => "o.created_at",
        OrganizationSortKey::UpdatedAt => "o.updated_at",
    }
}

#[async_trait]
impl OrganizationTransaction for SqliteTransaction {
    async fn lineages(&mut self, organizations: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        let rows = select_lineages!(self.tenant(), organizations);
        self::organizations(rows.fetch_all(self.connection()).await.map_err(store_error)?)
    }

    async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = select_subtree!(self.tenant(), root.as_uuid());
        organizations(rows.fetch_all(self.connection()).await.map_err(store_error)?)
    }

    async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Result<bool, StoreError> {
        sqlx::query_scalar!(
            r#"
            SELECT EXISTS (
                SELECT 1 FROM organizations WHERE tenant_id = ?1 AND slug = ?2 AND status <> 'INACTIVE'
            ) AS "exists!: bool"
            "#,
            self.tenant(),
            slug.as_str()
        )
        .fetch_one(self.connection())
        .await
        .map_err(store_error)
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_organization(&mut self, change: &OrganizationChange) -> Result<(), StoreError> {
        match change {
            OrganizationChange::Create(organization) => self.insert_organization(organization).await,
            OrganizationChange::Update { after, .. } | OrganizationChange::Delete { after, .. } => {
                self.update_organization(after).await
            }
        }
    }

    async fn insert_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        sqlx::query!(
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
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            millis(organization.created_at),
            millis(organization.updated_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn update_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        let updated = sqlx::query!(
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
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            millis(organization.updated_at)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        expect_row(updated.rows_affected(), "organization")
    }
}

#[cfg(test)]
mod tests {
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
            let query =
                list(TenantId::NONE, &filter, visible_scope, OrganizationSort::default(), PageRequest::default());
            assert_list(query, &format!("SEARCH o USING INDEX {index}"), true).await;
        }
    }
}
