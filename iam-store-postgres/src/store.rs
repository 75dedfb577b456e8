use std::sync::{Arc, OnceLock};
use std::time::Duration;

use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::store_error::StoreError;
use iam_store_sql::host::SharedTransaction;
use iam_store_sql::page::{Counted, offset, read_page};
use iam_store_sql::pool::{Pool, PoolSettings};
use iam_store_sql::source::{Source, Transaction};
use iam_store_sql::store::SqlStore;
use sqlx::postgres::{PgConnectOptions, PgPool, PgRow};
use sqlx::{Executor as _, FromRow, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::column::in_range;
use crate::connections::Connections;
use crate::error::store_error;
use crate::months::KnownMonths;
use crate::replica::Replicas;

/// A store in PostgreSQL. Clones share one connection pool.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    pub(crate) connections: Arc<Connections>,
    /// Connections to the database itself, if [`connections`](Self::connections) lead to a pooler.
    pub(crate) direct: Option<Arc<Connections>>,
    pub(crate) months: Arc<KnownMonths>,
    /// Whether the tables are distributed, once that is known.
    pub(crate) distributed: Arc<OnceLock<bool>>,
    /// Copies of the database that answer lists.
    pub(crate) replicas: Option<Arc<Replicas>>,
    /// The host transaction in which every statement is executed, if there is one.
    pub(crate) host: Option<SharedTransaction<Postgres>>,
}

/// Always READ COMMITTED, also when the database has another default. A lock or a constraint guards every rule for
/// which two transactions can race. After waiting for a lock, a statement must see the writes of the other transaction.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

/// Fails on a standby. During a failover, an address can lead to a node that is not the primary yet. It would refuse
/// changes, and a session that has ended could still be valid there.
const IS_PRIMARY: &str = "BEGIN READ WRITE; ROLLBACK";

/// Behind a pooler, each transaction sets the values that a session of its own keeps: the three time limits, and no
/// just-in-time compilation, which takes up to three seconds for a statement that takes a tenth of one.
const BEGIN_WITH_LIMITS: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET LOCAL statement_timeout = '30s';
    SET LOCAL lock_timeout = '10s';
    SET LOCAL idle_in_transaction_session_timeout = '5s';
    SET LOCAL jit = off";

const SETTINGS: PoolSettings = PoolSettings {
    max_connections: 16,
    // An early error is better than a queue of requests whose clients have given up.
    acquire_timeout: Duration::from_secs(5),
    begin: BEGIN,
    check: Some(IS_PRIMARY),
    is_remote: true,
    session_per_transaction: false,
};

const POOLER_SETTINGS: PoolSettings =
    PoolSettings { begin: BEGIN_WITH_LIMITS, session_per_transaction: true, ..SETTINGS };

/// No statement comes near this limit. After it, the client has given up.
const STATEMENT_TIMEOUT: &str = "30s";
/// Locks are held for milliseconds. A longer wait means that the holder of the lock hangs.
const LOCK_TIMEOUT: &str = "10s";
/// A unit of work sends its statements one right after another. A process that stops halfway is lost, and its locks
/// would stay.
const IDLE_IN_TRANSACTION_TIMEOUT: &str = "5s";

impl PostgresStore {
    /// Connects to the database that a `postgres://` URL names, with at most 16 connections. Units of work use at
    /// most three quarters of them. Each [feed](iam_model::store::Store::change_feed) has two more connections.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the server does not answer within five seconds, [`StoreError::Failed`] when
    /// the URL is invalid or the server refuses the connection.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        Self::connect_pools(Self::direct(url)?, None).await
    }

    /// Connects through a pooler that gives each transaction any session of the database, such as PgBouncer in
    /// transaction mode. `url` leads to the pooler, and `direct_url` to the database itself, for work that needs a
    /// session of its own: migrations, [turns](iam_model::store::MaintenanceStore::take_turn) and
    /// [feeds](iam_model::store::Store::change_feed). Each kind has at most 16 connections, beside those of feeds.
    ///
    /// A statement costs more than over a direct connection: it needs a transaction, and the database plans it again.
    ///
    /// # Errors
    ///
    /// Those of [`connect`](Self::connect), for both URLs.
    pub async fn connect_through_pooler(url: &str, direct_url: &str) -> Result<Self, StoreError> {
        // A pooler refuses settings of a session that it does not know. The driver asks for this one by default.
        let options = named(url)?.extra_float_digits(None);
        Self::connect_pools(Pool::new(options, POOLER_SETTINGS), Some(Self::direct(direct_url)?)).await
    }

    fn direct(url: &str) -> Result<Pool<Postgres>, StoreError> {
        Self::pool(url, SETTINGS)
    }

    /// Makes a pool whose sessions have the settings of [`BEGIN_WITH_LIMITS`].
    fn pool(url: &str, settings: PoolSettings) -> Result<Pool<Postgres>, StoreError> {
        let options = named(url)?.options([
            ("statement_timeout", STATEMENT_TIMEOUT),
            ("lock_timeout", LOCK_TIMEOUT),
            ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_TIMEOUT),
            ("jit", "off"),
            // When a machine is lost, its connections stay open until the server notices: by default after two hours.
            ("tcp_keepalives_idle", "30"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
        ]);
        Ok(Pool::new(options, settings))
    }

    /// Makes a store of these pools if both reach the database.
    async fn connect_pools(pool: Pool<Postgres>, direct: Option<Pool<Postgres>>) -> Result<Self, StoreError> {
        let store = Self::over(pool, direct);
        for connections in [Some(&store.connections), store.direct.as_ref()].into_iter().flatten() {
            connections.pool().acquire().await.map_err(store_error)?.give_back();
        }
        Ok(store)
    }

    /// Uses a pool of the host program, with the limits of that pool. Units of work use at most three quarters of its
    /// connections. Each [feed](iam_model::store::Store::change_feed) opens two more connections, with the connect
    /// options of the pool. Every connection returns to the pool after each use, so that the host program can use it,
    /// and the pool pings it: another round trip for every statement and every transaction, which a store with
    /// connections of its own does not need.
    #[must_use]
    pub fn from_pool(pool: PgPool) -> Self {
        Self::over(Pool::of_host(pool, BEGIN), None)
    }

    fn over(pool: Pool<Postgres>, direct: Option<Pool<Postgres>>) -> Self {
        let connections = |pool| Arc::new(Connections::new(pool));
        Self {
            connections: connections(pool),
            direct: direct.map(connections),
            months: Arc::default(),
            distributed: Arc::default(),
            replicas: None,
            host: None,
        }
    }

    /// Reads lists from streaming replicas of the database: pages, the audit log, and the reads of its verification.
    /// Sessions, rights and everything that decides something are read from the primary.
    ///
    /// A list is as new as from the primary: first the primary says up to where it has committed something, and then
    /// a replica answers that has replayed its log up to there. If it lags too much, or does not answer, the primary
    /// does. Each replica has at most 16 connections, and need not be reachable yet.
    ///
    /// A server that is no replica of the database, or was promoted, is not used. After a failover, the replicas are
    /// used again when the role can see that they follow the new primary: at once with `pg_read_all_stats`, else after
    /// their next restartpoint.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when a URL is invalid.
    pub fn with_replicas<'u>(mut self, urls: impl IntoIterator<Item = &'u str>) -> Result<Self, StoreError> {
        let pool = |url| Self::pool(url, PoolSettings { check: None, ..SETTINGS });
        let pools = urls.into_iter().map(pool).collect::<Result<Vec<_>, _>>()?;
        self.replicas = (!pools.is_empty()).then(|| Arc::new(Replicas::new(pools, &self.connections)));
        Ok(self)
    }

    /// The connections for work that needs a session of its own.
    pub(crate) fn sessions(&self) -> &Arc<Connections> {
        self.direct.as_ref().unwrap_or(&self.connections)
    }

    pub(crate) fn reads(&self) -> Source<Postgres> {
        match &self.host {
            Some(host) => Source::Host(host.clone()),
            None => Source::Pool(self.connections.pool()),
        }
    }

    /// Where the reads of a tenant are executed.
    pub(crate) fn reads_of(&self, tenant: impl Into<Uuid>) -> Source<Postgres> {
        self.reads().of_tenant(tenant.into())
    }

    pub(crate) fn writes(&self) -> Source<Postgres> {
        self.reads()
    }

    /// Reads a list of a tenant from a replica if there is one that can answer, else from the primary.
    pub(crate) async fn list<T, F>(
        &self,
        tenant: impl Into<Uuid>,
        read: impl Fn(Source<Postgres>) -> F + Send,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = sqlx::Result<T>> + Send,
    {
        let tenant = tenant.into();
        let read = |source: Source<Postgres>| read(source.of_tenant(tenant));
        if let (Some(replicas), None) = (&self.replicas, &self.host) {
            // In a box, so that the future of a store without replicas stays small.
            if let Some(answer) = Box::pin(replicas.list(&read)).await {
                return Ok(answer);
            }
        }
        self.answer(read(self.reads())).await
    }

    /// Reads a page with the statement that `list` makes. The planner must see the values of a list to find a good
    /// plan. So the statement is not prepared once for all, except that of the first page if `is_steady`: then its plan
    /// is the same for all values.
    pub(crate) async fn page<T, R>(
        &self,
        tenant: TenantId,
        request: PageRequest,
        is_steady: bool,
        list: impl Fn(PageRequest) -> QueryBuilder<Postgres> + Sync,
    ) -> Result<Page<T>, StoreError>
    where
        T: TryFrom<R, Error = StoreError>,
        R: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let list = &list;
        read_page(request, |request| {
            self.list(tenant, move |source| {
                let mut list = list(request);
                async move {
                    let rows = list.build_query_as::<Counted<R>>();
                    rows.persistent(is_steady && request.offset() == 0).fetch_all(&source).await
                }
            })
        })
        .await
    }

    pub(crate) async fn close_all(&self) {
        self.writes().close().await;
        if let Some(direct) = &self.direct {
            direct.pool().close().await;
        }
        if let Some(replicas) = &self.replicas {
            replicas.close().await;
        }
    }

    /// Waits for the database's answer to a query. Returns an error as soon as the database is found unreachable.
    pub(crate) fn answer<'a, T: 'a>(
        &'a self,
        query: impl Future<Output = sqlx::Result<T>> + Send + 'a,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'a {
        // In a box, because the future has some kilobytes, which would be copied several times before it is polled.
        let query = Box::pin(query);
        async move {
            match self.host {
                // The host program looks after its own connection.
                Some(_) => query.await.map_err(store_error),
                None => self.connections.answer(query).await,
            }
        }
    }

    pub(crate) async fn begin_transaction(&self) -> Result<Transaction<Postgres>, StoreError> {
        self.answer(self.writes().begin()).await
    }

    /// Begins a transaction without a statement timeout, for statements whose time grows with the data.
    pub(crate) async fn begin_unbounded(&self) -> Result<Transaction<Postgres>, StoreError> {
        let mut transaction = self.begin_transaction().await?;
        transaction.execute("SET LOCAL statement_timeout = 0").await.map_err(store_error)?;
        Ok(transaction)
    }
}

/// Parses a URL, and gives its connections a name that those of no other store have.
fn named(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options: PgConnectOptions = url.parse().map_err(store_error)?;
    // The server cuts the name after 63 bytes. So the unique part comes first.
    let name = format!("{} {}", Uuid::now_v7(), options.get_application_name().unwrap_or("iam"));
    Ok(options.application_name(&name))
}

// A list whose rows are `found` first is MATERIALIZED, so that they are computed once. Otherwise the planner, which
// cannot know how few rows match, might read everything in the order of the list to fill a page.
impl SqlStore for PostgresStore {
    type Database = Postgres;
    type Moment = Timestamp;
    /// The organizations to which a list is restricted. `None` if the visible scope is the whole tenant.
    type Scope = Option<Vec<Uuid>>;

    const SCHEMA: &'static str = "iam.";
    const JOIN: &'static str = " JOIN ";
    const POSITION: &'static str = "strpos";
    const UNINDEXED: &'static str = "";

    fn is_everywhere(scope: &Option<Vec<Uuid>>) -> bool {
        scope.is_none()
    }

    fn push_scope(
        query: &mut QueryBuilder<Postgres>,
        column: &'static str,
        _tenant: TenantId,
        scope: &Option<Vec<Uuid>>,
    ) {
        if let Some(organizations) = scope {
            query.push(" AND ").push(column).push(" = ANY(").push_bind(organizations.clone()).push(")");
        }
    }

    /// NULL before every other value is not PostgreSQL's default. For a column without NULL, the statement must not say
    /// where NULL sorts: an index in the default order could not be used.
    fn direction(order: SortOrder, is_nullable: bool) -> &'static str {
        match (order, is_nullable) {
            (SortOrder::Ascending, false) => " ASC",
            (SortOrder::Descending, false) => " DESC",
            (SortOrder::Ascending, true) => " ASC NULLS FIRST",
            (SortOrder::Descending, true) => " DESC NULLS LAST",
        }
    }

    /// The counts of a tenant are in several rows, so that transactions which change them do not wait for each other.
    fn push_stored_count(query: &mut QueryBuilder<Postgres>, tenant: TenantId, count: &'static str) {
        query.push("(SELECT coalesce(sum(").push(count).push("), 0)::bigint FROM iam.tenant_counts c");
        query.push(" WHERE c.tenant_id = ").push_bind(tenant.as_uuid()).push(")");
    }

    fn push_live(query: &mut QueryBuilder<Postgres>, now: Timestamp) {
        query.push(" AND (a.expires_at IS NULL OR a.expires_at > ").push_bind(in_range(now)).push(")");
    }

    fn push_page(query: &mut QueryBuilder<Postgres>, direction: &'static str, page: PageRequest) {
        query.push(" FROM (SELECT f.id, f.key FROM found f ORDER BY f.key").push(direction).push(", f.id");
        // Not a parameter: the planner would expect that the page has a tenth of all rows.
        query.push(" LIMIT ").push(page.limit());
        if page.offset() > 0 {
            query.push(" OFFSET ").push_bind(offset(page));
        }
        query.push(") p");
    }

    /// Reads each row by the primary key. The planner would prefer to read the whole of a table with a thousand rows;
    /// it cannot merge a subquery with OFFSET into the join.
    fn push_rows(query: &mut QueryBuilder<Postgres>, tenant: TenantId, table: &'static str, alias: &'static str) {
        query.push(" CROSS JOIN LATERAL (SELECT * FROM iam.").push(table).push(" WHERE tenant_id = ");
        query.push_bind(tenant.as_uuid()).push(" AND id = p.id OFFSET 0) ").push(alias);
    }

    fn stored(moment: Timestamp) -> Timestamp {
        in_range(moment)
    }

    fn store_error(error: sqlx::Error) -> StoreError {
        store_error(error)
    }
}

#[cfg(test)]
mod tests {
    use test_support::postgres::TestDatabase;

    use super::*;

    /// A statement or a lock wait that takes too long fails. Migrations run without these limits, and do not change
    /// them for other statements. No statement is compiled.
    #[tokio::test]
    async fn sessions_have_time_limits_and_no_compilation() {
        let database = TestDatabase::create().await;
        let direct = PostgresStore::connect(database.url()).await.unwrap();
        let pooled = PostgresStore::connect_through_pooler(&database.pooler_url(), database.url()).await.unwrap();
        for store in [direct, pooled] {
            let limits = [
                ("statement_timeout", STATEMENT_TIMEOUT),
                ("lock_timeout", LOCK_TIMEOUT),
                ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_TIMEOUT),
                ("jit", "off"),
            ];
            for (name, limit) in limits {
                store.migrate().await.unwrap();
                let setting = sqlx::query_scalar::<_, String>("SELECT current_setting($1)").bind(name);
                assert_eq!(setting.fetch_one(&store.reads()).await.unwrap(), limit, "{name}");
            }
        }
    }
}
