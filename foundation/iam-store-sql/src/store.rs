//! The interface of a database's store for the shared code: how its lists differ from those of other databases.
//!
//! The ports are implemented in the stores: Rust allows a crate to implement the ports of `iam-model` only for its own
//! types, and a statement that is a literal of the store is checked against its schema when it is compiled. The
//! statements of lists are built here at run time, because their conditions and their order vary from call to call.

use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::{PageRequest, SortOrder};
use iam_model::store_error::StoreError;
use sqlx::{Database, Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::StoredMoment;

/// The store of a database.
pub trait SqlStore {
    /// The driver.
    type Database: Database;
    /// How the database stores a moment.
    type Moment: StoredMoment;
    /// The caller's visible scope as a statement of a list uses it.
    type Scope: Sync;

    /// The text before the name of a table.
    const SCHEMA: &'static str;
    /// How a list joins other tables to the rows of its page.
    const JOIN: &'static str;
    /// The function that returns where a text contains another one, or 0.
    const POSITION: &'static str;

    /// Keeps the planner from using an index on the column after it.
    const UNINDEXED: &'static str;

    /// Whether the visible scope is the whole tenant.
    fn is_everywhere(scope: &Self::Scope) -> bool;

    /// Adds the condition that a column names an organization in the visible scope, unless that is the whole tenant.
    fn push_scope(
        query: &mut QueryBuilder<Self::Database>,
        column: &'static str,
        tenant: TenantId,
        scope: &Self::Scope,
    );

    /// Returns the sort direction. NULL sorts before every other value.
    fn direction(order: SortOrder, is_nullable: bool) -> &'static str;

    /// Adds a stored count of a tenant: an expression over columns of `tenant_counts c`.
    fn push_stored_count(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, count: &'static str);

    /// Adds the condition that an assignment `a` has not expired at a moment.
    fn push_live(query: &mut QueryBuilder<Self::Database>, now: Timestamp);

    /// Adds the page that is cut from `found`; see [`page`](crate::page).
    fn push_page(query: &mut QueryBuilder<Self::Database>, direction: &'static str, page: PageRequest);

    /// Joins the rows of the page: those of a table, under an alias. A database can have a better way than
    /// [`join_rows`](Self::join_rows).
    fn push_rows(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, table: &'static str, alias: &'static str)
    where
        Uuid: for<'q> Encode<'q, Self::Database> + Type<Self::Database>,
    {
        Self::join_rows(query, tenant, table, alias);
    }

    /// Joins the rows of the page by a plain join.
    fn join_rows(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, table: &'static str, alias: &'static str)
    where
        Uuid: for<'q> Encode<'q, Self::Database> + Type<Self::Database>,
    {
        query.push(Self::JOIN).push(Self::SCHEMA).push(table).push(" ").push(alias);
        query.push(" ON ").push(alias).push(".id = p.id AND ").push(alias).push(".tenant_id = ");
        query.push_bind(tenant.as_uuid());
    }

    /// Converts a moment to the value of a column.
    fn stored(moment: Timestamp) -> Self::Moment;

    /// Converts an error of the driver.
    fn store_error(error: sqlx::Error) -> StoreError;
}
