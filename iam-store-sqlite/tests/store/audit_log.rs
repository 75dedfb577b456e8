//! The protection of the audit log in the file, also from other programs: refused changes, and erased text.

use std::collections::BTreeSet;
use std::sync::Arc;

use iam_conformance::World;
use iam_core::TenantId;
use iam_core::audit::{AuditChange, AuditEntry, Digest, ErasedDetails, ErasedOrigin, Salt};
use iam_core::tenant::TenantDeletionStore as _;
use iam_store_sqlite::SqliteStore;
use sqlx::sqlite::SqlitePool;
use test_support::sqlite::TestFile;

/// A log with sequenced entries, of which one is erased, and with a pending entry. `other` is another program that uses
/// the same file.
struct Fixture {
    world: World,
    tenant: TenantId,
    other: SqlitePool,
    _file: TestFile,
}

impl Fixture {
    async fn new() -> Self {
        let file = TestFile::create();
        let store = SqliteStore::open(file.url()).await.unwrap();
        store.migrate().await.unwrap();
        let world = World::new(Arc::new(store));
        let tenant = world.tenant("acme").await.id;
        // Enough for a node.
        world.record(world.new_entries(tenant, 300)).await;
        let erased = personal(&world, tenant, "ada@example.com");
        world.record(vec![erased.clone()]).await;
        world.sequence().await;
        world.commit(tenant, erase(&world, tenant, &[erased]).await).await;
        let other = SqlitePool::connect(file.url()).await.unwrap();
        Self { world, tenant, other, _file: file }
    }

    /// Marks the entries with a lower sequence number for removal, without purging them.
    async fn give_up(&self, until: u64) {
        let Self { world, tenant, .. } = self;
        world.commit(*tenant, world.give_up(*tenant, 0..until).await).await;
    }

    /// Fails unless the file refuses every statement with an error that contains `words`.
    async fn assert_refused(&self, statements: &[&'static str], words: &str) {
        for statement in statements {
            let refused = sqlx::query(*statement).execute(&self.other).await;
            let refused = refused.map_err(|error| error.to_string()).map(|done| done.rows_affected());
            let is_refused = refused.as_ref().is_err_and(|error| error.contains(words));
            assert!(is_refused, "{statement}: {refused:?}");
        }
    }
}

fn personal(world: &World, tenant: TenantId, email: &str) -> AuditEntry {
    let mut entry = world.new_entry(tenant);
    entry.metadata.insert("email".to_owned(), email.into());
    entry.context.user_agent = Some(iam_core::UserAgent::new(&format!("agent of {email}")));
    entry
}

/// Returns the change that erases all personal fields in these entries.
async fn erase(world: &World, tenant: TenantId, entries: &[AuditEntry]) -> AuditChange {
    let details = entries.iter().map(|entry| {
        let mut metadata = entry.metadata.clone();
        metadata.insert("email".to_owned(), "[ERASED]".into());
        ErasedDetails {
            created_at: entry.created_at,
            id: entry.id,
            old_value: None,
            new_value: None,
            metadata,
            salt: Salt::Destroyed(Digest([7; 32])),
        }
    });
    let origins = entries.iter().map(|entry| ErasedOrigin {
        created_at: entry.created_at,
        id: entry.id,
        salt: Salt::Destroyed(Digest([7; 32])),
    });
    world.erase(tenant, world.id(), details.collect(), origins.collect()).await
}

#[tokio::test]
async fn an_entry_cannot_be_changed() {
    let fixture = Fixture::new().await;
    let statements = [
        "UPDATE audit_entries SET metadata = '{}' WHERE action = 'SENT' AND length(details_salt) = 16",
        "UPDATE audit_entries SET ip_address = NULL WHERE length(details_salt) = 16",
        "UPDATE audit_entries SET details_salt = zeroblob(32) WHERE length(details_salt) = 16",
        "UPDATE OR REPLACE audit_entries SET created_at = 0",
    ];
    fixture.assert_refused(&statements, "an audit entry cannot be changed").await;
}

#[tokio::test]
async fn other_columns_of_an_erased_entry_cannot_be_changed() {
    const ERASED: &str = "length(details_salt) = 32";
    let fixture = Fixture::new().await;
    for column in [
        "rowid = rowid + 1000",
        "rowid = 1",
        "tenant_id = zeroblob(16)",
        "id = zeroblob(16)",
        "action = 'OTHER'",
        "resource_type = 'OTHER'",
        "resource_id = NULL",
        "organization_id = zeroblob(16)",
        "user_id = zeroblob(16)",
        "correlation_id = 'other'",
        "created_at = created_at + 1",
    ] {
        let sql = format!("UPDATE OR REPLACE audit_entries SET {column} WHERE {ERASED}");
        let refused = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&fixture.other).await;
        let refused = refused.map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|error| error.contains("cannot be changed")), "{column}: {refused:?}");
    }
}

/// A part is erased only once. The erasure of the other part is allowed, and so is the same erasure by another process
/// at the same time.
#[tokio::test]
async fn an_erased_part_cannot_be_changed() {
    const ERASED: &str = "length(details_salt) = 32";
    let fixture = Fixture::new().await;
    for column in
        ["metadata = '{\"other\":1}'", "new_value = '{}'", "details_salt = zeroblob(32)", "ip_address = '192.0.2.9'"]
    {
        let sql = format!("UPDATE audit_entries SET {column} WHERE {ERASED}");
        let refused = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&fixture.other).await;
        let refused = refused.map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|error| error.contains("cannot be changed")), "{column}: {refused:?}");
    }
    let sql = format!("UPDATE audit_entries SET metadata = metadata, details_salt = details_salt WHERE {ERASED}");
    let done = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&fixture.other).await.unwrap();
    assert_eq!(done.rows_affected(), 1);
}

#[tokio::test]
async fn an_entry_cannot_be_deleted_before_retention_marks_it_for_removal() {
    let fixture = Fixture::new().await;
    let delete = "DELETE FROM audit_entries
        WHERE id IN (SELECT entry_id FROM audit_leaves WHERE sequence = 10)";
    let pending = "DELETE FROM audit_entries WHERE id IN (SELECT id FROM audit_unsealed)";
    fixture.assert_refused(&[delete, pending, "DELETE FROM audit_entries"], "cannot be deleted").await;
    fixture.give_up(10).await;
    fixture.assert_refused(&[delete, pending, "DELETE FROM audit_entries"], "cannot be deleted").await;
    fixture.give_up(11).await;
    let done = sqlx::query(delete).execute(&fixture.other).await.unwrap();
    assert_eq!(done.rows_affected(), 1);
    fixture.assert_refused(&[pending, "DELETE FROM audit_entries"], "cannot be deleted").await;
}

#[tokio::test]
async fn the_tree_cannot_be_changed() {
    let fixture = Fixture::new().await;
    fixture.assert_refused(&["UPDATE audit_leaves SET hash = zeroblob(32)"], "a leaf of").await;
    fixture.assert_refused(&["DELETE FROM audit_leaves"], "a leaf of").await;
    fixture.assert_refused(&["UPDATE audit_nodes SET hash = zeroblob(32)"], "a node of").await;
    fixture.assert_refused(&["DELETE FROM audit_nodes"], "a node of").await;
}

#[tokio::test]
async fn the_head_of_a_log_cannot_shrink_or_be_deleted() {
    let fixture = Fixture::new().await;
    fixture.give_up(20).await;
    fixture.world.store.purge_audit_entries().await.unwrap();
    let statements = [
        "UPDATE audit_logs SET size = size - 1",
        "UPDATE audit_logs SET removed = removed - 1",
        "UPDATE audit_logs SET purged = purged - 1",
        "UPDATE audit_logs SET tenant_id = zeroblob(16)",
    ];
    fixture.assert_refused(&statements, "an audit log cannot shrink").await;
    fixture.assert_refused(&["DELETE FROM audit_logs"], "cannot be deleted").await;
}

#[tokio::test]
async fn the_record_of_an_erasure_cannot_be_changed_or_deleted() {
    let fixture = Fixture::new().await;
    let statements = ["UPDATE audit_erasures SET created_at = 0", "DELETE FROM audit_erasures"];
    fixture.assert_refused(&statements, "the record of an erasure").await;
}

/// INSERT OR REPLACE does not fire the DELETE triggers.
#[tokio::test]
async fn rows_of_the_audit_log_cannot_be_replaced() {
    let fixture = Fixture::new().await;
    let statements = [
        "INSERT OR REPLACE INTO audit_entries SELECT * FROM audit_entries LIMIT 1",
        "INSERT OR REPLACE INTO audit_entries (
            rowid, tenant_id, id, action, resource_type, metadata, created_at, details_salt, origin_salt
        ) SELECT rowid, tenant_id, zeroblob(16), action, resource_type, metadata, 0, details_salt, origin_salt
        FROM audit_entries LIMIT 1",
        "INSERT OR REPLACE INTO audit_leaves SELECT * FROM audit_leaves LIMIT 1",
        "INSERT OR REPLACE INTO audit_leaves
        SELECT tenant_id, sequence + 1000, created_at, entry_id, hash FROM audit_leaves LIMIT 1",
        "INSERT OR REPLACE INTO audit_nodes SELECT * FROM audit_nodes LIMIT 1",
        "INSERT OR REPLACE INTO audit_logs (tenant_id) SELECT tenant_id FROM audit_logs",
    ];
    fixture.assert_refused(&statements, "cannot be replaced").await;
}

/// Erased text is not in an unused part of a page or in a free page either.
#[tokio::test]
async fn erased_text_is_nowhere_in_the_file() {
    const PEOPLE: usize = 600;
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store));
    let tenant = world.id();
    let email = |number: usize| format!("person-{number:03}@example.com");
    let mut entries: Vec<AuditEntry> = (0..PEOPLE).map(|number| personal(&world, tenant, &email(number))).collect();
    for (number, entry) in entries.iter_mut().enumerate() {
        // Some entries take several pages, most take a part of one.
        let length = if number % 50 == 0 { 9_000 } else { number % 300 };
        entry.metadata.insert("detail".to_owned(), "x".repeat(length).into());
    }
    for entries in entries.chunks(7) {
        world.record(entries.to_vec()).await;
    }
    assert_eq!(people_in(&file), (0..PEOPLE).collect());
    let erased: Vec<AuditEntry> = entries.into_iter().step_by(3).collect();
    for entries in erased.chunks(40) {
        world.commit(tenant, erase(&world, tenant, entries).await).await;
    }
    assert_eq!(people_in(&file), (0..PEOPLE).filter(|number| number % 3 > 0).collect());
}

/// The write-ahead log has no rows of a deleted tenant.
#[tokio::test]
async fn the_end_of_a_deletion_empties_the_log_of_the_file() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let tenant = World::new(Arc::new(store.clone())).tenant("acme").await;
    let length = || std::fs::metadata(file.path().with_extension("db-wal")).unwrap().len();
    assert_ne!(length(), 0);
    store.remove_tenant(tenant.id).await.unwrap();
    assert_eq!(length(), 0);
}

/// Returns the people whose e-mail is anywhere in the file, or in the write-ahead log beside it.
fn people_in(file: &TestFile) -> BTreeSet<usize> {
    const NAME: &[u8] = b"person-";
    let log = std::fs::read(file.path().with_extension("db-wal")).unwrap();
    let content = [std::fs::read(file.path()).unwrap(), log].concat();
    let found = content.windows(NAME.len() + 3).filter(|window| window.starts_with(NAME));
    found.map(|window| std::str::from_utf8(&window[NAME.len()..]).unwrap().parse().unwrap()).collect()
}
