//! Organizations.

use iam_model::id::{OrganizationId, TenantId};
use iam_model::organization::{Organization, OrganizationFilter, OrganizationSort, OrganizationSortKey, ParentFilter};
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use iam_model::validate::folded;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse};
use crate::store::SqlStore;

/// An organization as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct OrganizationRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub status: String,
    pub parent_id: Option<Uuid>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<OrganizationRow<T>> for Organization {
    type Error = StoreError;

    fn try_from(row: OrganizationRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: parse("organizations.name", &row.name)?,
            slug: parse("organizations.slug", &row.slug)?,
            status: parse("organizations.status", &row.status)?,
            parent_id: row.parent_id.map(OrganizationId::from),
            created_at: moment("organizations.created_at", row.created_at)?,
            updated_at: moment("organizations.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file
// and of the stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        o.tenant_id,
        o.id,
        o.name,
        o.slug,
        o.status,
        o.parent_id,
        o.created_at,
        o.updated_at,
        o.version";

/// Builds the statement for a page of the organizations that match a filter. A tenant has some thousands of
/// organizations, so the statement counts them.
pub fn list<S>(
    tenant: TenantId,
    filter: &OrganizationFilter,
    sort: OrganizationSort,
    page: PageRequest,
    scope: &S::Scope,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let direction = S::direction(sort.order, false);
    let mut query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT o.id, ");
    query.push(sort_column(sort.by)).push(" AS key FROM ").push(S::SCHEMA).push("organizations o WHERE o.tenant_id = ");
    query.push_bind(tenant.as_uuid());
    push_filter::<S>(&mut query, filter);
    S::push_scope(&mut query, "o.id", tenant, scope);
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    S::push_page(&mut query, direction, page);
    S::push_rows(&mut query, tenant, "organizations", "o");
    query.push(" ORDER BY p.key").push(direction).push(", p.id");
    query
}

fn push_filter<S>(query: &mut QueryBuilder<S::Database>, filter: &OrganizationFilter)
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    match filter.status {
        Some(status) => query.push(" AND o.status = ").push_bind(status.as_str().to_owned()),
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
            query.push(" OR ").push(S::POSITION).push("(").push(column).push(", ").push_bind(folded(search));
            query.push(") > 0");
        }
        query.push(")");
    }
}

fn sort_column(by: OrganizationSortKey) -> &'static str {
    match by {
        OrganizationSortKey::Name => "o.name_key",
        OrganizationSortKey::CreatedAt => "o.created_at",
        OrganizationSortKey::UpdatedAt => "o.updated_at",
    }
}

/// Selects organizations. The literals are: text before the columns, and text after them, from FROM on.
#[doc(hidden)]
#[macro_export]
macro_rules! select_organizations {
    ($row:ident, $before:literal, $from:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            $before + r#"
            SELECT
                o.tenant_id AS "tenant_id!",
                o.id AS "id!",
                o.name AS "name!",
                o.slug AS "slug!",
                o.status AS "status!",
                o.parent_id,
                o.created_at AS "created_at!",
                o.updated_at AS "updated_at!",
                o.version AS "version!"
            "# + $from,
            $($argument),+
        )
    };
}

/// Implements the ports of organizations; see [`store`](crate::store). A pair of literals is the text before and after
/// the columns.
#[macro_export]
macro_rules! organization_ports {
    (
        $store:ident,
        $transaction:ident,
        lineages: ($lineages_with:literal, $lineages:literal),
        subtree: ($subtree_with:literal, $subtree:literal),
        children: $children:literal,
        is_slug_taken: $is_slug_taken:literal,
        insert: ($($insert:tt)+),
        update: ($($update:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::access::VisibleScope;
            use iam_model::change::OrganizationChange;
            use iam_model::id::{OrganizationId, TenantId};
            use iam_model::organization::{Organization, OrganizationFilter, OrganizationSort};
            use iam_model::page::{Page, PageRequest};
            use iam_model::store::{OrganizationStore, OrganizationTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::validate::{Slug, folded};
            use $crate::error::expect_row;
            use $crate::organization::list;
            use $crate::select_organizations;
            use $crate::store::SqlStore;

            type Row = $crate::organization::OrganizationRow<<$store as SqlStore>::Moment>;

            fn ids(organizations: &[OrganizationId]) -> <$store as SqlStore>::Ids {
                $store::ids(organizations.iter().map(|id| id.as_uuid()))
            }

            fn organizations(rows: Vec<Row>) -> Result<Vec<Organization>, StoreError> {
                rows.into_iter().map(Organization::try_from).collect()
            }

            #[async_trait::async_trait]
            impl OrganizationStore for $store {
                async fn lineages(
                    &self,
                    tenant: TenantId,
                    of: &[OrganizationId],
                ) -> Result<Vec<Organization>, StoreError> {
                    let rows =
                        select_organizations!(Row, $lineages_with, $lineages, tenant.as_uuid(), &ids(of));
                    organizations(self.answer(rows.fetch_all(&self.reads())).await?)
                }

                async fn subtree(
                    &self,
                    tenant: TenantId,
                    root: OrganizationId,
                ) -> Result<Vec<Organization>, StoreError> {
                    let rows =
                        select_organizations!(Row, $subtree_with, $subtree, tenant.as_uuid(), root.as_uuid());
                    organizations(self.answer(rows.fetch_all(&self.reads())).await?)
                }

                async fn children(
                    &self,
                    tenant: TenantId,
                    parent: OrganizationId,
                ) -> Result<Vec<Organization>, StoreError> {
                    let rows = select_organizations!(Row, "", $children, tenant.as_uuid(), parent.as_uuid());
                    organizations(self.answer(rows.fetch_all(&self.reads())).await?)
                }

                async fn organizations(
                    &self,
                    tenant: TenantId,
                    filter: &OrganizationFilter,
                    visible_scope: &VisibleScope,
                    sort: OrganizationSort,
                    page: PageRequest,
                ) -> Result<Page<Organization>, StoreError> {
                    if !filter.search.as_deref().is_none_or(Self::is_storable) {
                        return Ok(Page { items: Vec::new(), total: 0, request: page });
                    }
                    let scope = self.scope(tenant, visible_scope).await?;
                    let is_steady = filter.search.is_none() && Self::is_everywhere(&scope);
                    let list = |page| list::<Self>(tenant, filter, sort, page, &scope);
                    self.page::<Organization, Row>(page, is_steady, list).await
                }
            }

            #[async_trait::async_trait]
            impl OrganizationTransaction for $transaction {
                async fn lineages(&mut self, of: &[OrganizationId]) -> Result<Vec<Organization>, StoreError> {
                    let rows = select_organizations!(Row, $lineages_with, $lineages, self.tenant(), &ids(of));
                    organizations(rows.fetch_all(self.connection()).await.map_err($store::store_error)?)
                }

                async fn subtree(&mut self, root: OrganizationId) -> Result<Vec<Organization>, StoreError> {
                    let rows =
                        select_organizations!(Row, $subtree_with, $subtree, self.tenant(), root.as_uuid());
                    organizations(rows.fetch_all(self.connection()).await.map_err($store::store_error)?)
                }

                async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Result<bool, StoreError> {
                    let is_taken = sqlx::query_scalar!($is_slug_taken, self.tenant(), slug.as_str());
                    is_taken.fetch_one(self.connection()).await.map_err($store::store_error)
                }
            }

            impl $transaction {
                pub(crate) async fn write_organization(
                    &mut self,
                    change: &OrganizationChange,
                ) -> Result<(), StoreError> {
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
                        $($insert)+,
                        self.tenant(),
                        organization.id.as_uuid(),
                        organization.name.as_str(),
                        folded(organization.name.as_str()),
                        organization.slug.as_str(),
                        organization.status.as_str(),
                        organization.parent_id.map(OrganizationId::as_uuid),
                        $store::stored(organization.created_at),
                        $store::stored(organization.updated_at)
                    )?;
                    Ok(())
                }

                async fn update_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
                    let updated = execute_audited!(
                        self,
                        $($update)+,
                        self.tenant(),
                        organization.id.as_uuid(),
                        organization.name.as_str(),
                        folded(organization.name.as_str()),
                        organization.slug.as_str(),
                        organization.status.as_str(),
                        organization.parent_id.map(OrganizationId::as_uuid),
                        $store::stored(organization.updated_at)
                    )?;
                    expect_row(updated.rows_affected(), "organization")
                }
            }
        };
    };
}
