//! Organizations.

use iam_model::id::{OrganizationId, TenantId};
use iam_model::organization::{Organization, OrganizationFilter, OrganizationSort, OrganizationSortKey, ParentFilter};
use iam_model::page::PageRequest;
use iam_model::search::SearchWord;
use iam_model::store_error::StoreError;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::attribute::push_has;
use crate::column::{StoredMoment, moment, parse, text};
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
            name: text("organizations.name", row.name)?,
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
    if let Some(attribute) = &filter.attribute {
        push_has::<S>(&mut query, "o.id", tenant, attribute);
    }
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
    for word in SearchWord::all(filter.search.as_deref().unwrap_or_default()) {
        // Not LIKE, in which some characters of the text would have a special meaning.
        query.push(" AND (FALSE");
        for form in word.forms() {
            for column in ["o.name_key", "o.slug"] {
                query.push(" OR ").push(S::POSITION).push("(").push(column).push(", ").push_bind(form.clone());
                query.push(") > 0");
            }
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
