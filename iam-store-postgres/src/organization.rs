use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::OrganizationChange;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId};
use iam_model::organization::{Organization, OrganizationFilter, OrganizationSort, OrganizationSortKey, ParentFilter};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{OrganizationStore, OrganizationTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::{Slug, folded};
use iam_store_sql::error::expect_row;
use iam_store_sql::page::direction;
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::column::is_storable;
use crate::error::store_error;
use crate::page::push_page;
use crate::transaction::PostgresTransaction;

pub(crate) type OrganizationRow = iam_store_sql::organization::OrganizationRow<Timestamp>;

/// Selects organizations. The literals are: text before the columns, and text after them, from FROM on.
macro_rules! select_organizations {
    ($before:literal, $from:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            OrganizationRow,
            $before
                + r#"
            SELECT
                o.tenant_id AS "tenant_id!",
                o.id AS "id!",
                o.name AS "name!",
                o.slug AS "slug!",
                o.status AS "status!",
                o.parent_id,
                o.created_at AS "created_at!",
                o.updated_at AS "updated_at!"
            "# + $from,
            $($argument),+
        )
    };
}

// The recursive statements use UNION and not UNION ALL: a row that was found is not followed again. So even a cycle,
// which the service never writes, would end. Every step selects whole rows, and each step up has a LIMIT, because the
// planner expects the steps to find ten times as many rows as the first part: to join so many, it would read all
// organizations of the tenant.

// The identifiers come from a subquery, whose rows the planner cannot count, so the plan is cached. For an array, the
// planner would make a new plan every time: the identifiers are fewer than it expects of any array, so a plan for
// just them seems better than a plan for all.

macro_rules! select_lineages {
    ($tenant:expr, $organizations:expr) => {
        select_organizations!(
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
            "FROM lineage o",
            $tenant,
            $organizations
        )
    };
}

macro_rules! select_subtree {
    ($tenant:expr, $root:expr) => {
        select_organizations!(
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
            r#"
            FROM subtree o
            ORDER BY o.created_at DESC, o.id
            "#,
            $tenant,
            $root
        )
    };
}

fn uuids(organizations: &[OrganizationId]) -> Vec<Uuid> {
    organizations.iter().map(|id| id.as_uuid()).collect()
}

fn organizations(rows: Vec<OrganizationRow>) -> Result<Vec<Organization>, StoreError> {
    rows.into_iter().map(Organization::try_from).collect()
}

#[async_trait]
impl OrganizationStore for PostgresStore {
    async fn lineages(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
    ) -> Result<Vec<Organization>, StoreError> {
        let rows = select_lineages!(tenant.as_uuid(), &uuids(organizations));
        self::organizations(self.answer(rows.fetch_all(&self.source())).await?)
    }

    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = select_subtree!(tenant.as_uuid(), root.as_uuid());
        organizations(self.answer(rows.fetch_all(&self.source())).await?)
    }

    async fn children(&self, tenant: TenantId, parent: OrganizationId) -> Result<Vec<Organization>, StoreError> {
        let rows = select_organizations!(
            "",
            r#"
            FROM iam.organizations o
            WHERE o.tenant_id = $1 AND o.parent_id = $2 AND o.status <> 'INACTIVE'
            ORDER BY o.created_at DESC, o.id
            "#,
            tenant.as_uuid(),
            parent.as_uuid()
        );
        organizations(self.answer(rows.fetch_all(&self.source())).await?)
    }

    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        visible_scope: &VisibleScope,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Result<Page<Organization>, StoreError> {
        if !filter.search.as_deref().is_none_or(is_storable) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let within = self.within(tenant, visible_scope).await?;
        let is_steady = filter.search.is_none() && within.is_none();
        let list = |page| list(tenant, filter, within.as_deref(), sort, page);
        self.page::<Organization, OrganizationRow>(page, is_steady, list).await
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

impl PostgresStore {
    /// Returns the organizations to which a list is restricted: those of the visible scope and all below them. `None`
    /// if the visible scope is the whole tenant.
    ///
    /// This is a separate statement: inside the statement of the list, the planner could not know how few these
    /// organizations are, and would read all users of the tenant.
    pub(crate) async fn within(
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
            &uuids(roots)
        );
        self.answer(organizations.fetch_one(&self.source())).await.map(Some)
    }
}

/// Builds the statement for a page of the organizations in the visible scope that match a filter. A tenant has some
/// thousands of organizations, so the statement counts them.
fn list(
    tenant: TenantId,
    filter: &OrganizationFilter,
    within: Option<&[Uuid]>,
    sort: OrganizationSort,
    page: PageRequest,
) -> QueryBuilder<Postgres> {
    let direction = direction(sort.order);
    let mut query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT o.id, ");
    query.push(sort_column(sort.by)).push(" AS key");
    push_filter(&mut query, tenant, filter, within);
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    push_page(&mut query, direction, page);
    query.push(" JOIN iam.organizations o ON o.id = p.id AND o.tenant_id = ").push_bind(tenant.as_uuid());
    query.push(" ORDER BY p.key").push(direction).push(", p.id");
    query
}

/// Adds the FROM clause and the conditions for the organizations in the visible scope that match a filter.
fn push_filter(
    query: &mut QueryBuilder<Postgres>,
    tenant: TenantId,
    filter: &OrganizationFilter,
    within: Option<&[Uuid]>,
) {
    query.push(" FROM iam.organizations o WHERE o.tenant_id = ").push_bind(tenant.as_uuid());
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
        // Not LIKE, in which some characters of the text would have a special meaning.
        query.push(" AND (FALSE");
        for column in ["o.name_key", "o.slug"] {
            query.push(" OR strpos(").push(column).push(", ").push_bind(folded(search)).push(") > 0");
        }
        query.push(")");
    }
    push_within(query, "o.id", within);
}

/// Adds the condition that a column names one of the organizations to which a list is restricted.
pub(crate) fn push_within(query: &mut QueryBuilder<Postgres>, column: &'static str, within: Option<&[Uuid]>) {
    if let Some(organizations) = within {
        query.push(" AND ").push(column).push(" = ANY(").push_bind(organizations).push(")");
    }
}

fn sort_column(by: OrganizationSortKey) -> &'static str {
    match by {
        OrganizationSortKey::Name => "o.name_key",
        OrganizationSortKey::CreatedAt => "o.created_at",
        OrganizationSortKey::UpdatedAt => "o.updated_at",
    }
}

#[async_trait]
impl OrganizationTransaction for PostgresTransaction {
    async fn lineages(&mut self, organizations: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
        let rows = select_lineages!(self.tenant(), &uuids(organizations));
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
                SELECT FROM iam.organizations WHERE tenant_id = $1 AND slug = $2 AND status <> 'INACTIVE'
            ) AS "exists!"
            "#,
            self.tenant(),
            slug.as_str()
        )
        .fetch_one(self.connection())
        .await
        .map_err(store_error)
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_organization(&mut self, change: &OrganizationChange) -> Result<(), StoreError> {
        match change {
            OrganizationChange::Create(organization) => self.insert_organization(organization).await,
            OrganizationChange::Update { after, .. } | OrganizationChange::Delete { after, .. } => {
                self.update_organization(after).await
            }
        }
    }

    async fn insert_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        execute_audited!(
            self,
            "$10",
            r#"
            INSERT INTO iam.organizations (
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
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            organization.created_at,
            organization.updated_at
        )?;
        Ok(())
    }

    async fn update_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        let updated = execute_audited!(
            self,
            "$9",
            r#"
            UPDATE iam.organizations
            SET
                name = $3,
                name_key = $4,
                slug = $5,
                status = $6,
                parent_id = $7,
                updated_at = $8
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            folded(organization.name.as_str()),
            organization.slug.as_str(),
            organization.status.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            organization.updated_at
        )?;
        expect_row(updated.rows_affected(), "organization")
    }
}
