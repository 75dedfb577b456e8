//! How the statements of the store find their rows, in a database that is large enough for realistic plans.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

use chrono::DateTime;
use iam_conformance::Case;
use iam_core::access::VisibleScope;
use iam_core::access_request::{
    AccessRequestFilter, AccessRequestScope, AccessRequestStatus, AccessRequestStore as _, ApproverPlace,
};
use iam_core::api_key::ApiKeyStore as _;
use iam_core::assignment::{AssignmentFilter, AssignmentStore as _};
use iam_core::audit::{AuditFilter, AuditStore as _, Cursor};
use iam_core::factor::FactorStore as _;
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationSortKey, OrganizationStore as _};
use iam_core::page::{PageRequest, SortOrder};
use iam_core::session::SessionStore as _;
use iam_core::tenant::Directory;
use iam_core::user::{UserFilter, UserSort, UserSortKey, UserStatus, UserStore as _};
use iam_core::{Email, Store, TenantId, UserId};
use iam_model::directory::{
    Condition, GroupSortField, GroupTest, GroupText, TextOperator, UserSortField, UserTest, UserText,
};
use iam_model::store::{DirectoryGroupStore as _, DirectoryUserStore as _};
use serde_json::Value;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Connection as _, Executor as _};
use test_support::postgres::TestDatabase;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::explained::{self, Explained, one_line};

/// Tables that always stay small: a queue that is emptied all the time, tables with a few rows for each installation,
/// and PostgreSQL's own tables.
const SMALL: [&str; 5] = ["audit_unsealed", "signing_keys", "unchecked_permissions", "_migrations", "pg_"];

/// Statements that may read a whole table or index, by their beginning.
const WHOLE: [&str; 19] = [
    // The first one or two rows are enough.
    "SELECT NOT EXISTS (SELECT 1 FROM iam.tenants)",
    "SELECT EXISTS (SELECT 1 FROM iam.tenants LIMIT 1 OFFSET 1)",
    // The index contains only these tenants, and the first one is enough.
    "SELECT EXISTS ( SELECT FROM iam.tenants WHERE email_login = 'ON'",
    // The verification of all logs lists them.
    "SELECT id AS \"tenant_id!\" FROM iam.tenants UNION",
    // The index contains only logs with entries that must still be purged.
    "SELECT * FROM iam.audit_logs g WHERE g.purged < g.removed",
    // The delivery of events looks at every webhook.
    "SELECT w.tenant_id, w.id, w.failures > 0 AS \"is_failing!\" FROM iam.webhooks w JOIN iam.tenants t",
    "SELECT coalesce(max(g.size - greatest(w.attempted, g.removed)), 0)",
    // No message is in the line here. `the_places_in_the_line_are_found_by_an_index` has some.
    LAST_TURNS,
    // A month is read once before it is dropped.
    "SELECT EXISTS ( SELECT FROM iam.audit_entries_",
    // `keys.rs`: rows whose keys are to be made again, once, over indexes that have only these rows; and the counts,
    // with the migration.
    "SELECT tenant_id, id, email FROM iam.invitations WHERE NOT keyed",
    "SELECT tenant_id, email_key FROM iam.login_attempts WHERE octet_length(email_key)",
    "SELECT tenant_id, id, name, updated_at FROM iam.organizations WHERE keyed_at IS DISTINCT FROM updated_at",
    "SELECT DISTINCT tenant_id, email_key FROM iam.queued_messages WHERE octet_length(email_key)",
    "SELECT tenant_id, id, email, email_key, first_name, last_name, status, email_verified_at IS NOT NULL AS \
     \"is_verified!\", last_login_at, created_at, updated_at FROM iam.users WHERE email_key",
    "SELECT tenant_id, id, email, email_key, first_name, last_name, status, email_verified_at IS NOT NULL AS \
     \"is_verified!\", last_login_at, created_at, updated_at FROM iam.users WHERE keyed_at",
    // `maintenance.rs` gives the reasons.
    "SELECT (SELECT count(*) FROM iam.sessions",
    "WITH stale AS MATERIALIZED ( SELECT tenant_id, id FROM iam.sessions",
    "WITH stale AS MATERIALIZED ( SELECT tenant_id, email_key FROM iam.login_attempts",
    "WITH stale AS MATERIALIZED ( SELECT tenant_id, email_key, kind FROM iam.queued_messages",
];

/// The beginning of the statement that finds where the messages of some tenants enter the line.
const LAST_TURNS: &str = "SELECT tenant_id, lane AS \"lane!\", max(turn) AS \"turn!\" FROM iam.messages";

/// Cases that are left out. Some are about the whole database: no other tenant may have data in it, or the case reads
/// everything. The others send the statements of other cases, many times at once.
const LEFT_OUT: [&str; 15] = [
    "tenant::a_created_row_is_read_back",
    "tenant::several_tenants_are_two_or_more",
    "maintenance::totals_count_all_tenants",
    "maintenance::the_service_removes_sessions_and_attempts",
    "idempotency::old_answers_are_removed",
    "sequence::audited_tenants_are_listed_in_order",
    "sequence::batches_of_another_size_are_refused",
    "sequence::batches_of_entries_that_are_not_pending_are_refused",
    "sequence::batches_of_several_logs_are_all_or_nothing",
    "audit::combined_filters_select_matching_entries",
    "race::",
    "account::",
    "activation::",
    "overtaken::",
    "sequencers::",
];

/// A database with many rows, and its template. Filling takes long, so tests that wait for each other share a template.
async fn filled() -> (TestDatabase, Arc<TestDatabase>) {
    static TEMPLATE: Mutex<Weak<TestDatabase>> = Mutex::const_new(Weak::new());
    let mut shared = TEMPLATE.lock().await;
    let template = match shared.upgrade() {
        Some(template) => template,
        None => Arc::new(fill().await),
    };
    *shared = Arc::downgrade(&template);
    (template.copy().await, template)
}

async fn fill() -> TestDatabase {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let pool = database.pool();
    pool.execute(include_str!("plans.sql")).await.unwrap();
    // The planner needs statistics. Index-only scans need the visibility map.
    pool.execute("VACUUM ANALYZE").await.unwrap();
    pool.close().await;
    store.close().await;
    database
}

/// Every statement that the conformance suite causes finds its rows by an index condition. So does every checked
/// query that no case causes: it is taken from `.sqlx`, and explained without execution. Combined filters of the
/// audit log have their own test, because they are not checked queries, and their case takes long.
#[test]
fn every_query_finds_its_rows_by_an_index() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (database, template) = runtime.block_on(filled());
    let _alone = explained::ALONE.blocking_lock();
    let cases: Vec<(&str, Case)> = iam_conformance::conformance_cases!();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                runtime.block_on(async {
                    let database = template.copy().await;
                    let store = explained::store(&database).await;
                    let mut connection = PgConnection::connect(database.url()).await.unwrap();
                    while let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if !LEFT_OUT.iter().any(|left_out| name.starts_with(left_out)) {
                            case(Arc::new(store.clone()) as Arc<dyn Store>).await;
                            // Every case makes the same tenants.
                            connection.execute(include_str!("emptied.sql")).await.unwrap();
                        }
                    }
                    connection.close().await.unwrap();
                    store.close().await;
                });
            });
        }
    });
    let mut explained = explained::take();
    let seen: BTreeSet<String> = explained.iter().map(|explained| explained.statement.clone()).collect();
    runtime.block_on(async {
        let mut connection = PgConnection::connect(database.url()).await.unwrap();
        for query in checked_queries().iter().filter(|query| !seen.contains(*query)) {
            explained.push(Explained::without_execution(&mut connection, query).await);
        }
        connection.close().await.unwrap();
    });
    let wrong: BTreeSet<String> = explained.iter().flat_map(unconditioned).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the scans of a statement that read a growing table without an index condition.
fn unconditioned(explained: &Explained) -> Vec<String> {
    if WHOLE.iter().any(|whole| explained.statement.starts_with(whole)) {
        return Vec::new();
    }
    // The other months of the audit log only have entries of the case.
    let is_filled = |month: &str| ["2026_01", "2026_02", "2026_03"].iter().any(|filled| month.starts_with(filled));
    let grows = |relation: &str| match relation.strip_prefix("audit_entries_") {
        Some(month) => is_filled(month),
        None => !SMALL.iter().any(|small| relation.starts_with(small)),
    };
    let wrong = explained.scans.iter().filter(|scan| scan.condition.is_none() && grows(&scan.relation));
    wrong.map(|scan| format!("{}: {}", scan.relation, explained.statement)).collect()
}

/// Returns the statements that are checked when the crate is compiled.
fn checked_queries() -> Vec<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
    let query = |entry: fs::DirEntry| {
        let data: Value = serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap();
        one_line(data["query"].as_str().unwrap())
    };
    fs::read_dir(data).unwrap().map(|entry| query(entry.unwrap())).collect()
}

/// If an index is missing, the check of this file finds a statement without an index condition.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_index_is_noticed() {
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let pool = PgPool::connect(database.url()).await.unwrap();
    // The index of the constraint has the key, too, behind the tenant.
    pool.execute("DROP INDEX iam.users_email_idx; ALTER TABLE iam.users DROP CONSTRAINT users_email_key")
        .await
        .unwrap();
    pool.close().await;
    let store = explained::store(&database).await;
    let email = "user7@example.com".parse::<Email>().unwrap();
    Directory::login_candidates(&store, &email.key(), 10).await.unwrap();
    let wrong: Vec<String> = explained::take().iter().flat_map(unconditioned).collect();
    assert!(wrong.iter().any(|wrong| wrong.contains("u.email_key = k.email_key")), "{wrong:?}");
}

/// Beside cases of mail, messages in the line would be sent.
#[tokio::test(flavor = "multi_thread")]
async fn the_places_in_the_line_are_found_by_an_index() {
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let pool = database.pool();
    pool.execute("UPDATE iam.messages SET lane = 0, turn = extract(epoch FROM created_at)").await.unwrap();
    pool.execute("VACUUM ANALYZE iam.messages").await.unwrap();
    let query = checked_queries().into_iter().find(|query| query.starts_with(LAST_TURNS)).unwrap();
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    let explained = Explained::without_execution(&mut connection, &query).await;
    connection.close().await.unwrap();
    pool.close().await;
    assert!(explained.scans.iter().all(|scan| scan.condition.is_some()), "{:?}", explained.scans);
}

/// All combinations of the filters of the audit log, without dates on the first page, and with dates on a later page.
#[tokio::test(flavor = "multi_thread")]
async fn combined_filters_of_the_audit_log_find_their_entries_by_an_index() {
    const PARTS: u32 = 6;
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let (from, until) = (Some("2026-01-05T00:00:00Z".parse().unwrap()), Some("2026-03-05T00:00:00Z".parse().unwrap()));
    let cursor = Cursor { created_at: "2026-03-01T00:00:00Z".parse().unwrap(), id: Uuid::nil().into() };
    for parts in 0..1_u32 << PARTS {
        let (has, id) = (|part: u32| parts >> part & 1 == 1, |text: &str| text.parse::<Uuid>().unwrap());
        let filter = AuditFilter {
            action: has(0).then(|| "ACTION_3".to_owned()),
            resource_type: has(1).then(|| "TYPE_3".to_owned()),
            resource_id: has(2).then(|| "resource-3".to_owned()),
            user_id: has(3).then(|| id("00000002-0000-7000-8000-00000000002a").into()),
            organization_id: has(4).then(|| id("00000004-0000-7000-8000-00000000002a").into()),
            correlation_id: has(5).then(|| "correlation-77".parse().unwrap()),
            ..AuditFilter::default()
        };
        for (filter, after) in [(filter.clone(), None), (AuditFilter { from, until, ..filter }, Some(cursor))] {
            store.audit_entries(tenant, &filter, after, 20).await.unwrap();
            let explained = explained::take();
            let wrong: Vec<String> = explained.iter().flat_map(unconditioned).collect();
            assert!(!explained.is_empty() && wrong.is_empty(), "{filter:?}: {wrong:#?}");
        }
    }
}

/// What the overview of a tenant counts has an index.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_overview_counts_is_found_by_an_index() {
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let (from, until) = ("2026-01-05T00:00:00Z".parse().unwrap(), "2026-03-05T00:00:00Z".parse().unwrap());
    store.audit_entries_by_day(tenant, "ACTION_3", from, 20).await.unwrap();
    store.audit_actors_by_week(tenant, "ACTION_3", from, 20).await.unwrap();
    store.expiring_assignments(tenant, &VisibleScope::Tenant, from, until, 20).await.unwrap();
    store.expiring_api_keys(tenant, from, until, 20).await.unwrap();
    store.people_with_factor(tenant, 20).await.unwrap();
    let explained = explained::take();
    let wrong: Vec<String> = explained.iter().flat_map(unconditioned).collect();
    assert!(explained.len() >= 5 && wrong.is_empty(), "{wrong:#?}");
}

/// A list of a tenant with thousands of rows reads only a few more rows than it shows, for each filter and order.
/// Without a stored count or an index in its order, it reads all rows that match the filter.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_reads_little_more_than_it_shows() {
    const LIMIT: u64 = 20;
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let (now, page) = (DateTime::from_timestamp_secs(1_800_000_000).unwrap(), PageRequest::default());
    let count = async |sql: &'static str| -> u64 {
        let count: i64 = sqlx::query_scalar(sql).bind(tenant.as_uuid()).fetch_one(&database.pool()).await.unwrap();
        count.unsigned_abs()
    };
    let read = || {
        let explained = explained::take();
        assert_eq!(explained.len(), 1, "one statement for a list: {explained:#?}");
        (explained[0].rows(), explained)
    };
    // The counts of the tenant, the index entries of the page, and the rows of the page.
    let page_alone = 16 + 2 * (LIMIT + 1);
    let all_users = count("SELECT count(*) FROM iam.users WHERE tenant_id = $1").await;

    for order in [SortOrder::Ascending, SortOrder::Descending] {
        for (by, most) in [
            (UserSortKey::CreatedAt, page_alone),
            (UserSortKey::UpdatedAt, page_alone),
            (UserSortKey::Email, page_alone),
            // Users with the same name are read together and sorted.
            (UserSortKey::FirstName, page_alone + 64),
            (UserSortKey::LastName, page_alone + 64),
            (UserSortKey::LastLoginAt, page_alone + all_users),
            (UserSortKey::Status, page_alone + all_users),
        ] {
            store
                .users(tenant, &UserFilter::default(), &VisibleScope::Tenant, UserSort { by, order }, page, now)
                .await
                .unwrap();
            let (rows, explained) = read();
            assert!(rows <= most, "{rows} rows by {by:?} {order:?}: {explained:#?}");
        }
    }
    let organization = "00000004-0000-7000-8000-00000000002a".parse().unwrap();
    for (filter, most) in [
        (UserFilter { status: Some(UserStatus::Active), ..UserFilter::default() }, page_alone + 2),
        (UserFilter { status: Some(UserStatus::Suspended), ..UserFilter::default() }, page_alone + 2),
        (UserFilter { search: Some("user3777@".into()), ..UserFilter::default() }, page_alone),
        (UserFilter { search: Some("nobody".into()), ..UserFilter::default() }, page_alone),
        (UserFilter { organization: Some(organization), ..UserFilter::default() }, page_alone + 500),
    ] {
        store.users(tenant, &filter, &VisibleScope::Tenant, UserSort::default(), page, now).await.unwrap();
        let (rows, explained) = read();
        assert!(rows <= most, "{rows} rows by {filter:?}: {explained:#?}");
    }
    let role: (Uuid, i64) = sqlx::query_as(
        "SELECT role_id, count(*) FROM iam.role_assignments WHERE tenant_id = $1 GROUP BY role_id LIMIT 1",
    )
    .bind(tenant.as_uuid())
    .fetch_one(&database.pool())
    .await
    .unwrap();
    // For each assignment its user, its role and its organization.
    let beside = 3 * LIMIT;
    for (filter, most) in [
        (AssignmentFilter::default(), page_alone + beside),
        (AssignmentFilter { include_expired: true, ..AssignmentFilter::default() }, page_alone + beside),
        (
            AssignmentFilter { role: Some(role.0.into()), ..AssignmentFilter::default() },
            page_alone + beside + role.1.unsigned_abs(),
        ),
    ] {
        store.assignments(tenant, &filter, &VisibleScope::Tenant, page, now).await.unwrap();
        let (rows, explained) = read();
        assert!(rows <= most, "{rows} rows by {filter:?}: {explained:#?}");
    }
    let organizations = count("SELECT count(*) FROM iam.organizations WHERE tenant_id = $1").await;
    for by in [OrganizationSortKey::Name, OrganizationSortKey::CreatedAt, OrganizationSortKey::UpdatedAt] {
        let sort = OrganizationSort { by, order: SortOrder::Ascending };
        store.organizations(tenant, &OrganizationFilter::default(), &VisibleScope::Tenant, sort, page).await.unwrap();
        let (rows, explained) = read();
        assert!(rows <= page_alone + 2 * organizations, "{rows} rows by {by:?}: {explained:#?}");
    }
    let user = "00000002-0000-7000-8000-000000000007".parse().unwrap();
    assert_eq!(store.sessions_of(tenant, user).await.unwrap().len(), 1);
    let (rows, explained) = read();
    assert!(rows <= 1, "{rows} rows: {explained:#?}");
}

/// What is to be decided is found among the requests that wait, of which there are few. So the other requests of the
/// tenant are not read.
#[tokio::test(flavor = "multi_thread")]
async fn requests_to_decide_are_found_by_an_index() {
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let user: UserId = "00000002-0000-7000-8000-00000000ffff".parse().unwrap();
    let branch = "00000004-0000-7000-8000-000000001053".parse().unwrap();
    let (now, page) = (DateTime::from_timestamp_secs(1_800_000_000).unwrap(), PageRequest::default());
    let waiting: i64 =
        sqlx::query_scalar("SELECT count(*) FROM iam.access_requests WHERE tenant_id = $1 AND status = 'PENDING'")
            .bind(tenant.as_uuid())
            .fetch_one(&database.pool())
            .await
            .unwrap();
    let read = || {
        let explained = explained::take();
        let scans = explained.iter().flat_map(|explained| &explained.scans);
        let requests = scans.filter(|scan| scan.relation.starts_with("access_requests"));
        (requests.map(|scan| scan.rows).sum::<u64>(), explained)
    };
    let decider = |organization| AccessRequestScope {
        user: Some(user),
        read: None,
        deciding: vec![ApproverPlace { role: None, organization }],
    };
    let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let found = store.access_requests(tenant, &to_decide, &decider(None), page, now).await.unwrap();
    assert!(found.total > 1_000);
    let (rows, explained) = read();
    let most = waiting.unsigned_abs() + 2 * u64::from(page.limit());
    assert!(rows <= most, "{rows} rows: {explained:#?}");

    let found = store.access_requests(tenant, &to_decide, &decider(Some(branch)), page, now).await.unwrap();
    assert!(found.total > 0 && found.total < 50);
    let (rows, explained) = read();
    assert!(rows <= 2 * found.total + u64::from(page.limit()), "{rows} rows: {explained:#?}");
    for filter in [
        to_decide,
        AccessRequestFilter::default(),
        AccessRequestFilter { status: Some(AccessRequestStatus::Lapsed), ..AccessRequestFilter::default() },
        AccessRequestFilter { from: Some(now), until: Some(now), ..AccessRequestFilter::default() },
    ] {
        for read in [None, Some(VisibleScope::Tenant), Some(VisibleScope::Organizations(vec![branch]))] {
            let scope = AccessRequestScope { read, ..decider(Some(branch)) };
            store.access_requests(tenant, &filter, &scope, page, now).await.unwrap();
        }
    }
    let wrong: BTreeSet<String> = explained::take().iter().flat_map(unconditioned).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Before a directory writes a user, it looks for the user by one of these.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_a_directory_is_found_by_its_name_or_an_identifier_alone() {
    const USER: &str = "00000002-0000-7000-8000-000000000007";
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let directory = "00000002-0000-7000-8000-000000000000".parse().unwrap();
    let sort = (UserSortField::Created, SortOrder::Ascending);
    for (field, value) in
        [(UserText::UserName, "USER7@example.com"), (UserText::ExternalId, USER), (UserText::Id, USER)]
    {
        let equals = Condition::Test(UserTest::Text { field, operator: TextOperator::Equals, value: value.to_owned() });
        for condition in [equals.clone(), Condition::All(vec![Condition::Test(UserTest::Active(true)), equals])] {
            let (users, total) = store.provisioned_users(tenant, directory, &condition, sort, 0, 100).await.unwrap();
            let found: Vec<String> = users.iter().map(|found| found.user.id.to_string()).collect();
            assert_eq!((found, total), (vec![USER.to_owned()], 1));
            let explained = explained::take();
            let rows: u64 = explained.iter().map(Explained::rows).sum();
            // The user and what the directory says of it, once to find them and once to read them.
            assert!(explained.len() == 1 && rows <= 4, "{rows} rows by {condition:?}: {explained:#?}");
        }
    }
}

/// Before a directory writes a group, it looks for the group by one of these, or for the groups of a user.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_of_a_directory_is_found_by_its_name_an_identifier_or_a_member_alone() {
    /// The group of all users, and that of one user, whose identifier it has.
    static GROUPS: [&str; 2] = ["00000002-0000-7000-8000-000000000000", "00000002-0000-7000-8000-000000000007"];
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let (directory, sort) = (GROUPS[0].parse().unwrap(), (GroupSortField::Created, SortOrder::Ascending));
    let equals =
        |field, value: &str| GroupTest::Text { field, operator: TextOperator::Equals, value: value.to_owned() };
    // A group and the membership by which it is found, once to find it and once to read it.
    for (test, expected, most) in [
        (equals(GroupText::DisplayName, "USER7@example.com"), &GROUPS[1..], 2),
        (equals(GroupText::ExternalId, GROUPS[1]), &GROUPS[1..], 2),
        (equals(GroupText::Id, GROUPS[1]), &GROUPS[1..], 2),
        (GroupTest::Member(GROUPS[1].to_owned()), &GROUPS[..], 6),
    ] {
        let test = Condition::Test(test);
        for condition in [test.clone(), Condition::All(vec![Condition::Test(GroupTest::HasMembers), test])] {
            let (groups, total) = store.directory_groups(tenant, directory, &condition, sort, 0, 100).await.unwrap();
            let found: Vec<String> = groups.iter().map(|group| group.id.to_string()).collect();
            assert_eq!(found, expected);
            assert_eq!(usize::try_from(total).unwrap(), expected.len());
            let explained = explained::take();
            let rows: u64 = explained.iter().map(Explained::rows).sum();
            assert!(explained.len() == 1 && rows <= most, "{rows} rows by {condition:?}: {explained:#?}");
        }
    }
}

/// The ancestors and the descendants of an organization are found step by step. Other organizations of the tenant are
/// not read.
#[tokio::test(flavor = "multi_thread")]
async fn a_walk_through_the_tree_reads_only_organizations_on_its_way() {
    const LEVELS: u64 = 3;
    const OTHERS: &str = "
        INSERT INTO iam.organizations
        SELECT
            '00000001-0000-7000-8000-000000000000', gen_random_uuid(), 'Other', 'other', 'other-' || n, 'ACTIVE', NULL, now(), now()
        FROM generate_series(1, 10000) n;
        ANALYZE iam.organizations;
    ";
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    database.pool().execute(OTHERS).await.unwrap();
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let leaf = "00000004-0000-7000-8000-000000001053".parse().unwrap();
    let now = DateTime::from_timestamp_secs(1_800_000_000).unwrap();
    let users: Vec<UserId> =
        (0..20).map(|number| format!("00000002-0000-7000-8000-{number:012x}").parse().unwrap()).collect();
    let read = || {
        let explained = explained::take();
        let scans = explained.iter().flat_map(|explained| &explained.scans);
        let organizations = scans.filter(|scan| scan.relation.starts_with("organizations"));
        (organizations.map(|scan| scan.rows).sum::<u64>(), explained)
    };
    // A statement is planned five times before its plan may be cached.
    for _ in 0..7 {
        assert_eq!(store.lineages(tenant, &[leaf]).await.unwrap().len() as u64, LEVELS);
        let (rows, explained) = read();
        // PostgreSQL rounds the average number of rows for each step.
        assert!(rows <= LEVELS + 1, "{rows} rows: {explained:#?}");

        assert_eq!(store.subtree(tenant, leaf).await.unwrap().len(), 1);
        let (rows, explained) = read();
        assert!(rows <= 1, "{rows} rows: {explained:#?}");

        assert_eq!(store.children_of(tenant, &[leaf], 10, 10).await.unwrap().len(), 0);
        let (rows, explained) = read();
        assert_eq!(rows, 0, "{explained:#?}");

        assert_eq!(store.organization_counts(tenant, &[leaf], now, 100).await.unwrap()[0].below, 0);
        let (rows, explained) = read();
        assert!(rows <= 1, "{rows} rows: {explained:#?}");

        assert_eq!(store.grants_of(tenant, &users).await.unwrap().len(), users.len());
        let (rows, explained) = read();
        assert!(rows <= users.len() as u64 * (LEVELS + 1), "{rows} rows: {explained:#?}");
    }
}

/// If the visible scope is one organization, a list of its members does not read the other users of the tenant. It
/// may read their organizations, which are few.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_reads_only_the_members_in_the_visible_scope() {
    const MEMBERS: u64 = 20;
    let (database, _template) = filled().await;
    let _alone = explained::ALONE.lock().await;
    let store = explained::store(&database).await;
    let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
    let visible_scope = VisibleScope::Organizations(vec!["00000004-0000-7000-8000-000000001053".parse().unwrap()]);
    let (now, page) = (DateTime::from_timestamp_secs(1_800_000_000).unwrap(), PageRequest::default());
    let read = || {
        let explained = explained::take();
        let scans = explained.iter().flat_map(|explained| &explained.scans);
        let members =
            scans.filter(|scan| ["users", "role_assignments"].iter().any(|table| scan.relation.starts_with(table)));
        (members.map(|scan| scan.rows).sum::<u64>(), explained)
    };
    // A statement is planned five times before its plan may be cached.
    for _ in 0..7 {
        for filter in [
            UserFilter::default(),
            UserFilter { status: Some(UserStatus::Active), ..UserFilter::default() },
            UserFilter { search: Some("example".into()), ..UserFilter::default() },
        ] {
            let users = store.users(tenant, &filter, &visible_scope, UserSort::default(), page, now).await.unwrap();
            assert!(users.total <= MEMBERS && users.total > 0);
            let (rows, explained) = read();
            // The members by their roles and by their homes, and their rows, and once more for the page.
            assert!(rows <= 4 * MEMBERS, "{rows} rows by {filter:?}: {explained:#?}");
        }
        let assignments =
            store.assignments(tenant, &AssignmentFilter::default(), &visible_scope, page, now).await.unwrap();
        assert_eq!(assignments.total, MEMBERS);
        let (rows, explained) = read();
        // Each assignment, and once more for the page, with its user.
        assert!(rows <= 3 * MEMBERS, "{rows} rows: {explained:#?}");
    }
}
