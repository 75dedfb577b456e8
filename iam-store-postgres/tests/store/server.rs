//! What a server can do whose role has only the privileges of `grants.sql`.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::audit::Tampering;
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserPatch};
use iam_core::{Caller, RequestContext, Store as _, UserAgent};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use test_support::postgres::{TestDatabase, runs_on_citus};

/// Roles belong to the whole database server. So all tests share this one, and no test removes it.
const ROLE: &str = "iam_test_server";

const MAKE_ROLE: &str = "DO $$ BEGIN
    CREATE ROLE iam_test_server LOGIN;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END $$";

/// Returns a store whose role owns nothing, in a database that its owner has migrated. On Citus the role owns the tables.
pub(crate) async fn store(database: &TestDatabase) -> PostgresStore {
    let owner = database.store().await;
    database.migrate(&owner).await;
    if runs_on_citus() {
        return owner;
    }
    database.pool().execute(MAKE_ROLE).await.unwrap();
    let grants = include_str!("../../grants.sql").replace("iam_server", ROLE);
    database.pool().execute(AssertSqlSafe(grants)).await.unwrap();
    owner.close().await;
    if database.is_behind_pooler() {
        let [pooler, direct] = [&database.pooler_url(), database.url()].map(|url| {
            let options: PgConnectOptions = url.parse().unwrap();
            options.username(ROLE).to_url_lossy()
        });
        return PostgresStore::connect_through_pooler(pooler.as_str(), direct.as_str()).await.unwrap();
    }
    PostgresStore::from_pool(pool(database).await)
}

async fn pool(database: &TestDatabase) -> PgPool {
    let options = PgPoolOptions::new().max_connections(16).after_connect(|connection, _| {
        Box::pin(async move { connection.execute("SET ROLE iam_test_server").await.map(|_| ()) })
    });
    options.connect(database.url()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_role_can_do_all_work_of_a_server() {
    let database = TestDatabase::create().await;
    let store = store(&database).await;
    // The schema is up to date, so this changes nothing and succeeds.
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store));
    let iam = world.iam().await;
    let user = NewUser {
        email: "ada@example.com".to_owned(),
        password: "correct horse 1 Battery!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let context = RequestContext { user_agent: Some(UserAgent::new("test/1.0")), ..RequestContext::default() };
    let registered = iam.tenants().register(&context, Registration { user, tenant_name: None }).await.unwrap();
    let (tenant, user) = (registered.tenant.id, registered.login.user.id);
    let system = Caller::system(tenant, "test");
    world.sequence().await;
    let kept = iam.audit().checkpoint(&system).await.unwrap().signed.note;

    let patch = UserPatch { first_name: Some("Augusta".to_owned()), ..UserPatch::default() };
    iam.users().update(&system, user, patch).await.unwrap();
    let other = NewUser {
        email: "grace@example.com".to_owned(),
        password: "correct horse 1 Battery!".into(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
    };
    let other = iam.users().create(&system, other).await.unwrap().id;
    iam.users().verify_email(&system, "grace@example.com").await.unwrap();
    iam.users().delete(&system, other).await.unwrap();
    assert!(iam.audit().erase(&system, other).await.unwrap() > 0);
    let key = iam.public_keys().await.unwrap()[0].id;
    iam.revoke_key(key).await.unwrap();
    iam.rotate_keys().await.unwrap();
    assert_eq!(iam.erase_replaced_keys().await.unwrap(), 0);
    iam.tenants().suspend(&system).await.unwrap();
    iam.tenants().reactivate(&system).await.unwrap();
    world.sequence().await;
    iam.audit().set_retention(&system, Some(30)).await.unwrap();
    world.clock.advance(chrono::TimeDelta::days(31));
    iam.audit().hasten_retention(&system).await.unwrap();
    world.store.prepare(world.now()).await.unwrap();
    assert!(iam.apply_audit_retention().await.unwrap() > 0);
    world.sequence().await;
    world.assert_clean(tenant, &[kept]).await;
}

#[tokio::test]
async fn the_server_role_cannot_change_recorded_data() {
    let database = TestDatabase::create().await;
    let world = World::new(Arc::new(store(&database).await));
    let role = pool(&database).await;
    world.tenant("acme").await;
    world.sequence().await;
    for statement in [
        "UPDATE iam.audit_entries SET action = 'X'",
        "UPDATE iam.audit_entries SET ip_address = NULL",
        "DELETE FROM iam.audit_entries",
        "TRUNCATE iam.audit_entries",
        "SELECT FROM iam.audit_entries_2026_01",
        "UPDATE iam.audit_entries_2026_01 SET action = 'X'",
        "DELETE FROM iam.audit_entries_2026_01",
        "TRUNCATE iam.audit_entries_2026_01",
        "DROP TABLE iam.audit_entries_2026_01",
        "ALTER TABLE iam.audit_entries DETACH PARTITION iam.audit_entries_2026_01",
        "ALTER TABLE iam.audit_entries DISABLE TRIGGER ALL",
        "CREATE TABLE iam.another ()",
        "UPDATE iam.audit_leaves SET created_at = now()",
        "DELETE FROM iam.audit_leaves",
        "TRUNCATE iam.audit_leaves",
        "UPDATE iam.audit_nodes SET hash = ''",
        "DELETE FROM iam.audit_nodes",
        "TRUNCATE iam.audit_nodes",
        "INSERT INTO iam.audit_entries SELECT * FROM iam.audit_entries",
        "UPDATE iam.audit_unsealed SET digest = ''",
        "DELETE FROM iam.audit_unsealed",
        "TRUNCATE iam.audit_unsealed",
        "INSERT INTO iam.audit_logs (tenant_id, removed) VALUES (gen_random_uuid(), 1)",
        "UPDATE iam.audit_logs SET tenant_id = gen_random_uuid()",
        "UPDATE iam.audit_logs SET purged = size",
        "DELETE FROM iam.audit_logs",
        "TRUNCATE iam.audit_logs",
        "INSERT INTO iam.audit_erasures SELECT tenant_id, created_at, id FROM iam.audit_entries",
        "DELETE FROM iam.audit_erasures",
        "UPDATE iam.signing_keys SET public_key = ''",
        "DELETE FROM iam.signing_keys",
        "DELETE FROM iam.users",
        "DELETE FROM iam._migrations",
    ] {
        let refused = role.execute(statement).await.unwrap_err();
        let code = refused.as_database_error().and_then(|error| error.code()).map(|code| code.into_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{statement}: {refused}");
    }
}

/// The functions that the role may call do only what the triggers allow. Verification detects an erasure that is not
/// recorded in the log.
#[tokio::test]
async fn an_unrecorded_erasure_by_the_server_role_is_detected() {
    let database = TestDatabase::create().await;
    let world = World::new(Arc::new(store(&database).await));
    let tenant = world.tenant("acme").await.id;
    world.sequence().await;
    let erase = "SELECT iam.erase_audit_entries(
            tenant_id, '{}', '{}', '{}', '{}', '{}', '{}', ARRAY[created_at], ARRAY[id], ARRAY[sha256('')]
        )
        FROM iam.audit_entries";
    pool(&database).await.execute(erase).await.unwrap();
    let iam = world.iam().await;
    let found = iam.audit().verify(&Caller::system(tenant, "test"), &[]).await.unwrap().findings;
    assert!(matches!(found[..], [ref finding] if finding.what == Tampering::Changed), "{found:?}");
}
