//! How many requests a second Citus answers with the shards on one worker, and on two. `scripts/bench-citus` runs it with
//! each node in a cgroup of its own.

use std::io::{Write as _, stdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_benches::{CHEAP, Outcome, fill, iam, register};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::user::{UserFilter, UserPatch, UserSort, UserSortKey};
use iam_core::{Caller, Iam, RequestContext, UserId};
use iam_store_postgres::PostgresStore;
use sqlx::{AssertSqlSafe, Executor as _, PgConnection};
use test_support::postgres::TestDatabase;
use tokio::task::JoinSet;

/// How many tenants each worker has.
const TENANTS: usize = 8;
/// How many users a tenant has.
const USERS: u64 = 50;
/// How many tasks send requests at the same time.
const TASKS: usize = 32;
/// How long they do.
const DURATION: Duration = Duration::from_secs(5);
/// How often each row is measured. The result is the median.
const ROUNDS: usize = 5;

/// Each reads the session first, because the store has no change feed.
#[derive(Clone, Copy, Debug)]
enum Request {
    ReadUser,
    ListUsers,
    UpdateUser,
}

/// A tenant with what its requests need.
struct TenantData {
    token: String,
    users: Vec<UserId>,
}

/// A database, whose shards are on some of the workers.
struct Installation {
    workers: usize,
    iam: Iam,
    tenants: Arc<[TenantData]>,
    _database: TestDatabase,
}

#[tokio::main]
async fn main() -> Outcome {
    let installations = [install(1).await?, install(2).await?];
    for request in [Request::ReadUser, Request::ListUsers, Request::UpdateUser] {
        for one in &installations {
            send(&one.iam, &one.tenants, request).await?;
        }
        // In turn, so that a slow minute of the machine changes no comparison.
        let mut rows = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            for (one, row) in installations.iter().zip(&mut rows) {
                row.push(send(&one.iam, &one.tenants, request).await?);
            }
        }
        let mut medians = Vec::new();
        for (one, row) in installations.iter().zip(&mut rows) {
            row.sort_by(f64::total_cmp);
            let median = row.get(ROUNDS / 2).copied().ok_or("there is no round")?;
            writeln!(stdout(), "{request:?}, shards on {} workers: {median:.0}/s", one.workers)?;
            medians.push(median);
        }
        let [alone, both] = medians.as_slice() else { return Err("there is no median".into()) };
        writeln!(stdout(), "{request:?}: {:.2} times as many", both / alone)?;
    }
    for one in installations {
        let (began, mut entries) = (Instant::now(), 0);
        while began.elapsed() < 2 * DURATION {
            match one.iam.sequence_audit_logs().await?.entries {
                0 => break,
                sequenced => entries += sequenced,
            }
        }
        let a_second = f64::from(u32::try_from(entries)?) / began.elapsed().as_secs_f64();
        writeln!(stdout(), "entries sequenced, shards on {} workers: {a_second:.0}/s", one.workers)?;
        one.iam.close().await;
    }
    Ok(())
}

/// Makes a database with shards on this number of workers, each with the same number of tenants. On a single worker there
/// are as many tenants as on two.
async fn install(workers: usize) -> Outcome<Installation> {
    let database = TestDatabase::create().await;
    let mut owner = database.connect().await;
    // The settings are in the database itself: the store opens other connections.
    let name: String = sqlx::query_scalar("SELECT current_database()").fetch_one(&mut owner).await?;
    let shards = format!("ALTER DATABASE {name} SET citus.shard_count = 32");
    owner.execute(AssertSqlSafe(shards)).await?;
    if workers == 1 {
        let leave = "
            SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', false)
            FROM (SELECT * FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeid DESC LIMIT 1) last";
        owner.execute(leave).await?;
    }
    let store = PostgresStore::connect(database.url()).await?;
    store.migrate_distributed().await?;
    let iam = iam(Arc::new(store), CHEAP).await?;
    let (mut tenants, mut counts) = (Vec::new(), Vec::<(i32, usize)>::new());
    while tenants.len() < 2 * TENANTS {
        let registered = register(&iam).await?;
        let port = port_of(&mut owner, registered.tenant.id.as_uuid()).await?;
        let most = 2 * TENANTS / workers;
        match counts.iter_mut().find(|(known, _)| *known == port) {
            Some((_, count)) if *count == most => continue,
            Some((_, count)) => *count += 1,
            None => counts.push((port, 1)),
        }
        let users = fill(&iam, registered.tenant.id, 1, USERS).await?;
        tenants.push(TenantData { token: registered.login.tokens.access.expose().to_owned(), users });
    }
    owner.execute("VACUUM ANALYZE").await?;
    Ok(Installation { workers, iam, tenants: tenants.into(), _database: database })
}

/// Returns the port of the node that has a tenant.
async fn port_of(owner: &mut PgConnection, tenant: sqlx::types::Uuid) -> Outcome<i32> {
    let port = sqlx::query_scalar(
        "SELECT nodeport
        FROM citus_shards
        WHERE shardid = get_shard_id_for_distribution_column('iam.users', $1)",
    );
    Ok(port.bind(tenant).fetch_one(owner).await?)
}

/// Sends requests in all tasks, each for a random tenant. Returns how many a second.
async fn send(iam: &Iam, tenants: &Arc<[TenantData]>, request: Request) -> Outcome<f64> {
    let began = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (iam, tenants) = (iam.clone(), Arc::clone(tenants));
        tasks.spawn(async move {
            let mut count = 0_u32;
            while began.elapsed() < DURATION {
                let tenant = fastrand::choice(&*tenants).ok_or("there is no tenant")?;
                let user = fastrand::choice(&tenant.users).copied().ok_or("there is no user")?;
                let caller = iam.authenticate(&tenant.token, RequestContext::default()).await?;
                answer(&iam, &caller, user, request).await?;
                count += 1;
            }
            Outcome::Ok(count)
        });
    }
    let counts: Vec<u32> = tasks.join_all().await.into_iter().collect::<Outcome<_>>()?;
    Ok(f64::from(counts.iter().sum::<u32>()) / began.elapsed().as_secs_f64())
}

async fn answer(iam: &Iam, caller: &Caller, user: UserId, request: Request) -> Outcome {
    match request {
        Request::ReadUser => iam.users().get(caller, user).await.map(drop)?,
        Request::ListUsers => {
            let sort = UserSort { by: UserSortKey::CreatedAt, order: SortOrder::Descending };
            iam.users().list(caller, &UserFilter::default(), sort, PageRequest::new(1, 20)?).await.map(drop)?;
        }
        Request::UpdateUser => {
            let name = Some(fastrand::alphabetic().to_string());
            let patch = UserPatch { first_name: name, ..UserPatch::default() };
            iam.users().update(caller, user, patch).await.map(drop)?;
        }
    }
    Ok(())
}
