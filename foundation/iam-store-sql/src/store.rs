//! What the ports need from the store of a database.
//!
//! Rust allows a crate to implement the ports of `iam-model` only for its own types. So each noun has a macro here, for
//! instance [`permission_ports!`](crate::permission_ports), which a store calls with its type and its statements. The
//! statements stay literals of the store, so that they are checked against its schema when it is compiled.
//!
//! Beside [`SqlStore`], the macros use these methods of the store and of its transaction:
//!
//! - `store.answer(query)` waits for the answer of the database and converts its error. `store.reads()` and
//!   `store.writes()` are the executors of statements that read and write.
//! - `store.list(read)` reads a list. `read` gets the executor, and may be called twice.
//! - `store.scope(tenant, visible_scope)` prepares a visible scope for the statement of a list.
//! - `transaction.connection()` is the connection, and `transaction.tenant()` the identifier of the tenant.
//! - `store.page(…)` reads a page of a list; [`list_pages!`](crate::list_pages) implements it.
//! - `execute_audited!(transaction, statement, arguments…)` executes a statement of a change, and may write the audit
//!   entry of the change with it. A file that calls one of these macros imports it.
//!
//! The parameters of a statement have the order of the arguments in the macro: first the tenant, then the identifier,
//! then the other values. With `execute_audited!`, PostgreSQL also gets the number of the parameter after the last one,
//! for the audit entry.
//!
//! The code of a macro stands in a constant without a name, so that its imports do not reach the file that calls it.

use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::{PageRequest, SortOrder};
use iam_model::store_error::StoreError;
use sqlx::{Database, Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, StoredMoments, StoredTexts};

/// The store of a database.
pub trait SqlStore {
    /// The driver.
    type Database: Database;
    /// How the database stores a moment.
    type Moment: StoredMoment;
    /// How the database stores a list of moments.
    type Moments: StoredMoments;

    /// How the database stores a list of texts.
    type Texts: StoredTexts;
    /// How a statement gets a list of identifiers.
    type Ids;
    /// The caller's visible scope as a statement of a list uses it.
    type Scope: Sync;

    /// What comes before the name of a table.
    const SCHEMA: &'static str;
    /// How a list joins other tables to the rows of its page.
    const JOIN: &'static str;
    /// The function that returns where a text contains another one, or 0.
    const POSITION: &'static str;

    /// Keeps the planner from using an index on the column after it.
    const UNINDEXED: &'static str;

    /// Whether the planner must see the values of a list to find a good plan. Then only the first page of a list whose
    /// plan is the same for all values is prepared once.
    const PLANS_BY_VALUE: bool;

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

    /// Converts moments to the value of a column.
    fn stored_list(moments: &[Timestamp]) -> Self::Moments;

    /// Converts identifiers to the value of a parameter.
    fn ids(ids: impl IntoIterator<Item = Uuid>) -> Self::Ids;

    /// Whether the database can store a text. A search for another text finds nothing.
    fn is_storable(_text: &str) -> bool {
        true
    }

    /// Converts an error of the driver.
    fn store_error(error: sqlx::Error) -> StoreError;
}

/// Executes the statements of a change.
#[macro_export]
macro_rules! write_change {
    ($transaction:expr, $change:expr) => {
        match $change {
            iam_model::change::Change::Tenant(change) => $transaction.write_tenant(change).await,
            iam_model::change::Change::User(change) => $transaction.write_user(change).await,
            iam_model::change::Change::Credential(change) => $transaction.write_credential(change).await,
            iam_model::change::Change::Session(change) => $transaction.write_session(change).await,
            iam_model::change::Change::Permission(change) => $transaction.write_permission(change).await,
            iam_model::change::Change::Role(change) => $transaction.write_role(change).await,
            iam_model::change::Change::Assignment(change) => $transaction.write_assignment(change).await,
            iam_model::change::Change::Organization(change) => $transaction.write_organization(change).await,
            iam_model::change::Change::Audit(change) => $transaction.write_audit(change).await,
            iam_model::change::Change::Idempotency(change) => $transaction.write_idempotency(change).await,
            iam_model::change::Change::Invitation(change) => $transaction.write_invitation(change).await,
            iam_model::change::Change::Link(change) => $transaction.write_link(change).await,
            iam_model::change::Change::Mail(change) => $transaction.write_mail(change).await,
            iam_model::change::Change::Factor(change) => $transaction.write_factor(change).await,
            iam_model::change::Change::Challenge(change) => $transaction.write_challenge(change).await,
            iam_model::change::Change::ApiKey(change) => $transaction.write_api_key(change).await,
            iam_model::change::Change::Webhook(change) => $transaction.write_webhook(change).await,
            iam_model::change::Change::AccessReview(change) => $transaction.write_access_review(change).await,
        }
    };
}
