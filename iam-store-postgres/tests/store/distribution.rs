//! Tables that Citus distributes over several nodes: `scripts/check-citus` runs these tests.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use iam_conformance::{Case, World};
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserStore};
use iam_core::{Caller, Iam, RequestContext, Store, StoreError, TenantId, UserId};
use sqlx::{PgConnection, Row as _};
use test_support::postgres::TestDatabase;
use test_support::reused::empty;
use tokio::task::{JoinSet, LocalSet, spawn_local};
use uuid::Uuid;

use crate::explained;

/// Statements that are not sent to one shard as they are, by a part of them, with the reason.
const SEVERAL_SHARDS: &[(&str, &str)] = &[
    (
        "FROM iam.users u JOIN iam.tenants t ON t.id = u.tenant_id LEFT JOIN",
        "a login that names no tenant looks in all",
    ),
    ("WITH stale AS MATERIALIZED", "background: the sweeper removes what is stale"),
    ("SELECT DISTINCT tenant_id FROM iam.role_assignments", "background: the sweeper looks for expired assignments"),
    ("SELECT DISTINCT tenant_id FROM iam.access_requests", "background: the sweeper looks for due requests"),
    ("FROM iam.messages WHERE turn IS NULL AND next_attempt_at <= $1", "background: the outbox is sent"),
    ("FROM iam.messages WHERE turn IS NOT NULL", "background: the outbox is sent"),
    ("FROM iam.messages WHERE email_key = ANY", "background: the outbox is sent"),
    ("INSERT INTO iam.audit_leaves", "background: the sequencer writes leaves of several tenants"),
    ("INSERT INTO iam.audit_nodes", "background: the sequencer writes nodes of several tenants"),
    ("SELECT tenant_id AS queued_tenant_id", "background: the sequencer looks for entries"),
    ("SELECT (SELECT count(*) FROM iam.sessions", "background: metrics"),
    ("SELECT id AS \"tenant_id!\" FROM iam.tenants UNION", "background: all logs are verified"),
    ("SELECT w.tenant_id, w.id, w.failures > 0", "background: events are sent to webhooks"),
    ("SELECT coalesce(max(g.size - greatest(w.attempted, g.removed)), 0)", "background: metrics of webhooks"),
];

/// The statements of all conformance cases, except those in the list above.
#[test]
#[ignore = "needs Citus: run scripts/check-citus"]
fn every_statement_of_a_request_is_sent_to_one_shard() {
    let _alone = explained::ALONE.blocking_lock();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cases: Vec<(&str, Case)> = iam_conformance::conformance_cases!();
    let mut failed = Vec::new();
    runtime.block_on(async {
        let database = TestDatabase::create().await;
        database.migrate(&database.store().await).await;
        let mut owners = database.connect_to_all().await;
        for (name, case) in cases {
            let store = explained::distributed_store(&database).await;
            let of_case = Arc::new(store.clone()) as Arc<dyn Store>;
            let ended = LocalSet::new().run_until(async { spawn_local(case(of_case)).await }).await;
            if ended.is_err() {
                failed.push(name);
            }
            store.close().await;
            empty(&mut owners).await;
        }
    });
    // Where a case expects an error, Citus explains the statement in a transaction that has failed.
    assert!(failed.len() < 20, "{failed:?}");
    let explained = explained::take();
    let is_listed = |statement: &str| SEVERAL_SHARDS.iter().any(|(listed, _)| statement.contains(listed));
    // Citus executes a part of a statement in advance as a statement without a text. The whole then has subplans.
    let several = explained.iter().filter(|one| !one.is_routed && !one.statement.is_empty());
    let several: BTreeSet<&str> = several.map(|one| one.statement.as_str()).collect();
    let wrong: Vec<&&str> = several.iter().filter(|statement| !is_listed(statement)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A migration that adds a table must add it to `distributed.sql`.
#[tokio::test]
#[ignore = "needs Citus: run scripts/check-citus"]
async fn all_tables_are_distributed() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    for _ in 0..2 {
        store.migrate_distributed().await.unwrap();
    }
    let others = sqlx::query(
        "SELECT c.relname
        FROM pg_class c
        WHERE c.relnamespace = 'iam'::regnamespace
            AND c.relkind IN ('r', 'p')
            AND NOT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid)",
    );
    let others = others.fetch_all(&database.pool()).await.unwrap();
    let others: Vec<String> = others.iter().map(|row| row.get(0)).collect();
    assert_eq!(others, ["_migrations"]);
}

/// Without the extension, nothing is changed.
#[tokio::test]
async fn a_database_without_citus_is_not_distributed() {
    if test_support::postgres::runs_on_citus() {
        return;
    }
    let database = TestDatabase::create().await;
    let store = database.store().await;
    let error = store.migrate_distributed().await.unwrap_err();
    assert!(matches!(&error, StoreError::Failed(cause) if cause.to_string().contains("citus")), "{error:?}");
    assert!(!store.is_migrated().await.unwrap());
}

const PASSWORD: &str = "correct horse 1 Battery!";

fn new_user(name: &str) -> NewUser {
    NewUser {
        email: format!("{name}@example.com"),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

/// Registers tenants until each worker has so many of them. Returns them with the port of their worker.
async fn tenants(iam: &Iam, owner: &mut PgConnection, each: usize) -> Vec<(TenantId, i32)> {
    let mut tenants: Vec<(TenantId, i32)> = Vec::new();
    while tenants.len() < 2 * each {
        let registration = Registration { user: new_user("owner"), tenant_name: None };
        let tenant = iam.tenants().register(&RequestContext::default(), registration).await.unwrap().tenant.id;
        let port = port_of(owner, tenant).await;
        if tenants.iter().filter(|(_, known)| *known == port).count() < each {
            tenants.push((tenant, port));
        }
    }
    tenants
}

/// Returns the port of the worker that has a tenant.
async fn port_of(owner: &mut PgConnection, tenant: TenantId) -> i32 {
    let port = sqlx::query_scalar(
        "SELECT nodeport
        FROM citus_shards
        WHERE shardid = get_shard_id_for_distribution_column('iam.users', $1)",
    );
    port.bind(tenant.as_uuid()).fetch_one(owner).await.unwrap()
}

/// Creates users in a tenant until it is told to stop. Returns those that were acknowledged, and how many attempts
/// failed.
async fn create_users(iam: Iam, tenant: TenantId, ends: Arc<AtomicBool>) -> (TenantId, Vec<UserId>, u32) {
    let caller = Caller::system(tenant, "test");
    let (mut acknowledged, mut failed) = (Vec::new(), 0);
    for number in 0.. {
        if ends.load(Ordering::Relaxed) {
            break;
        }
        match iam.users().create(&caller, new_user(&format!("user{number}"))).await {
            Ok(user) => acknowledged.push(user.id),
            Err(_) => failed += 1,
        }
    }
    (tenant, acknowledged, failed)
}

/// Moves a shard from one port to another, with those of all other tables that have the same tenants.
const MOVE: &str = "SELECT citus_move_shard_placement(shardid, '127.0.0.1', nodeport, '127.0.0.1', $2, 'force_logical')
    FROM (
        SELECT shardid, nodeport
        FROM citus_shards
        WHERE table_name = 'iam.users'::regclass AND nodeport = $1
        ORDER BY shardid
        LIMIT 1
    ) shard";

/// All shards of one worker move to the other one while users are created in every tenant, and entries are sequenced.
/// Nothing that was acknowledged is lost.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Citus: run scripts/check-citus"]
async fn a_moved_shard_loses_nothing() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    database.migrate(&store).await;
    let mut owner = database.connect().await;
    let world = World::new(Arc::new(store));
    let iam = world.iam().await;
    let tenants = tenants(&iam, &mut owner, 3).await;
    let ends = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for (tenant, _) in &tenants {
        writers.spawn(create_users(iam.clone(), *tenant, Arc::clone(&ends)));
    }
    let sequencer = tokio::spawn({
        let (iam, ends) = (iam.clone(), Arc::clone(&ends));
        async move {
            while !ends.load(Ordering::Relaxed) {
                let _ = iam.sequence_audit_logs().await;
            }
        }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    let (from, to) = (tenants[0].1, tenants.iter().find(|(_, port)| *port != tenants[0].1).unwrap().1);
    for _ in 0..2 {
        sqlx::query(MOVE).bind(from).bind(to).execute(&mut owner).await.unwrap();
    }
    let took = began.elapsed();
    tokio::time::sleep(Duration::from_secs(1)).await;
    ends.store(true, Ordering::Relaxed);
    sequencer.await.unwrap();
    for (tenant, port) in &tenants {
        assert!(port_of(&mut owner, *tenant).await == to, "{tenant} was on {port}");
    }
    let written = writers.join_all().await;
    world.sequence().await;
    let (mut all, mut failures) = (0, 0);
    for (tenant, acknowledged, failed) in written {
        let users = UserStore::users_by_id(&*world.store, tenant, &acknowledged).await.unwrap();
        assert_eq!(users.len(), acknowledged.len());
        world.assert_clean(tenant, &[]).await;
        all += acknowledged.len();
        failures += failed;
    }
    println!("two shards were moved in {took:.1?}; {all} changes were acknowledged, {failures} failed");
}

/// A worker ends at once, the one with the failed logins that named no tenant. In the tenants of the other one, users log in, read and change as before.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "ends a worker of Citus: scripts/check-citus runs it alone"]
async fn alone_a_lost_worker_leaves_the_tenants_of_the_other() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    database.migrate(&store).await;
    let mut nodes = database.connect_to_all().await;
    let world = World::new(Arc::new(store));
    let iam = world.iam().await;
    let tenants = tenants(&iam, &mut nodes[0], 3).await;
    let lost = port_of(&mut nodes[0], Uuid::nil().into()).await;
    let mut process = String::new();
    for node in &mut nodes {
        let row = sqlx::query("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1), inet_server_port()");
        let row = row.fetch_one(node).await.unwrap();
        if row.get::<i32, _>(1) == lost {
            process = row.get(0);
        }
    }
    assert!(Command::new("kill").args(["-QUIT", &process]).status().unwrap().success());
    let (mut slowest, began) = (Duration::ZERO, Instant::now());
    while began.elapsed() < Duration::from_secs(5) {
        for (tenant, port) in &tenants {
            let caller = Caller::system(*tenant, "test");
            let login = Login {
                email: "owner@example.com".to_owned(),
                password: PASSWORD.into(),
                tenant: Some(tenant.to_string()),
            };
            let begun = Instant::now();
            let logged_in = iam.sessions().login(&RequestContext::default(), login).await;
            if *port == lost {
                logged_in.unwrap_err();
                continue;
            }
            let token = logged_in.unwrap().tokens.access;
            iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
            let name = format!("user{}", began.elapsed().as_nanos());
            let user = iam.users().create(&caller, new_user(&name)).await.unwrap();
            assert_eq!(iam.users().get(&caller, user.id).await.unwrap().id, user.id);
            slowest = slowest.max(begun.elapsed());
        }
    }
    for (tenant, _) in tenants.iter().filter(|(_, port)| *port != lost) {
        world.assert_clean(*tenant, &[]).await;
    }
    println!("the slowest login with a token, a change and a read took {slowest:.0?}");
}
