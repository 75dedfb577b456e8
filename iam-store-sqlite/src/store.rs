use iam_model::access::VisibleScope;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::store::LocalTurns;
use iam_model::store_error::StoreError;
use iam_store_sql::page::{Counted, offset, read_page};
use iam_store_sql::source::Source;
use iam_store_sql::store::SqlStore;
use sqlx::sqlite::SqliteRow;
use sqlx::types::Json;
use sqlx::{FromRow, QueryBuilder, Sqlite};
use uuid::Uuid;

use crate::column::millis;
use crate::error::store_error;
use crate::open;

/// A store in one SQLite file. Clones share the connections.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pub(crate) writer: Source<Sqlite>,
    pub(crate) readers: Source<Sqlite>,
    pub(crate) follower: Source<Sqlite>,
    pub(crate) turns: LocalTurns,
}

impl SqliteStore {
    /// Opens the file that a `sqlite://PATH` URL names. Creates it if it is missing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the file cannot be opened, is not a database, or the URL asks for a database in
    /// memory; [`StoreError::Unavailable`] when another process keeps it locked.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let options = open::options(url)?;
        open::make_private(options.get_filename())?;
        // The writer first: the readers can neither create the database nor turn on its write-ahead log.
        let writer = open::writer(options.clone()).await?;
        let readers = open::readers(options.clone()).await?;
        Ok(Self { writer, readers, follower: open::follower(options), turns: LocalTurns::default() })
    }

    pub(crate) fn reads(&self) -> Source<Sqlite> {
        self.readers.clone()
    }

    /// Where the reads of a tenant are executed.
    pub(crate) fn reads_of(&self, tenant: impl Into<Uuid>) -> Source<Sqlite> {
        self.readers.of_tenant(tenant.into())
    }

    pub(crate) fn writes(&self) -> Source<Sqlite> {
        self.writer.clone()
    }

    /// The statement of a list finds the organizations of the visible scope itself.
    pub(crate) async fn scope(
        &self,
        _tenant: TenantId,
        visible_scope: &VisibleScope,
    ) -> Result<VisibleScope, StoreError> {
        Ok(visible_scope.clone())
    }

    pub(crate) async fn answer<T>(&self, query: impl Future<Output = sqlx::Result<T>>) -> Result<T, StoreError> {
        query.await.map_err(store_error)
    }

    /// Reads a list of a tenant.
    pub(crate) async fn list<T, F: Future<Output = sqlx::Result<T>>>(
        &self,
        tenant: impl Into<Uuid>,
        read: impl Fn(Source<Sqlite>) -> F,
    ) -> Result<T, StoreError> {
        self.answer(read(self.reads_of(tenant))).await
    }

    /// Reads a page with the statement that `list` makes.
    pub(crate) async fn page<T, R>(
        &self,
        tenant: TenantId,
        request: PageRequest,
        list: impl Fn(PageRequest) -> QueryBuilder<Sqlite> + Sync,
    ) -> Result<Page<T>, StoreError>
    where
        T: TryFrom<R, Error = StoreError>,
        R: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
    {
        let list = &list;
        read_page(request, |request| {
            self.list(tenant, move |source| {
                let mut list = list(request);
                async move { list.build_query_as::<Counted<R>>().fetch_all(&source).await }
            })
        })
        .await
    }
}

/// Adds the limit, not as a parameter: the plan of SQLite depends on the value of a limit. So if the limit is a bare
/// parameter, SQLite prepares the statement again for each execution (but not if it is a sum with a parameter).
pub(crate) fn push_limit(query: &mut QueryBuilder<Sqlite>, limit: u32) {
    query.push(" LIMIT ").push(limit);
}

// A list whose rows are `found` first is MATERIALIZED, so that they are computed once for the count and the page.
impl SqlStore for SqliteStore {
    type Database = Sqlite;
    type Moment = i64;
    type Scope = VisibleScope;

    const SCHEMA: &'static str = "";
    // SQLite never changes the order of a CROSS JOIN: the page comes first.
    const JOIN: &'static str = " CROSS JOIN ";
    const POSITION: &'static str = "instr";
    const UNINDEXED: &'static str = "+";

    fn is_everywhere(scope: &VisibleScope) -> bool {
        matches!(scope, VisibleScope::Tenant)
    }

    fn push_scope(query: &mut QueryBuilder<Sqlite>, column: &'static str, tenant: TenantId, scope: &VisibleScope) {
        let VisibleScope::Organizations(roots) = scope else { return };
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

    fn direction(order: SortOrder, _is_nullable: bool) -> &'static str {
        match order {
            SortOrder::Ascending => " ASC",
            SortOrder::Descending => " DESC",
        }
    }

    fn push_stored_count(query: &mut QueryBuilder<Sqlite>, tenant: TenantId, count: &'static str) {
        query.push("(SELECT ").push(count).push(" FROM tenant_counts c WHERE c.tenant_id = ");
        query.push_bind(tenant.as_uuid()).push(")");
    }

    // Not `expires_at IS NULL OR …`: SQLite would search for the two halves one after the other.
    fn push_live(query: &mut QueryBuilder<Sqlite>, now: Timestamp) {
        query.push(" AND (a.expires_at <= ").push_bind(millis(now)).push(") IS NOT TRUE");
    }

    fn push_page(query: &mut QueryBuilder<Sqlite>, direction: &'static str, page: PageRequest) {
        query.push(" FROM (SELECT f.id, f.key FROM found f ORDER BY f.key").push(direction).push(", f.id");
        push_limit(query, page.limit());
        query.push(" OFFSET ").push_bind(offset(page)).push(") p");
    }

    fn stored(moment: Timestamp) -> i64 {
        millis(moment)
    }

    fn store_error(error: sqlx::Error) -> StoreError {
        store_error(error)
    }
}
