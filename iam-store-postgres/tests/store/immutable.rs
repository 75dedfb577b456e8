//! The changes that the triggers refuse, also from the owner of the tables.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::Caller;
use iam_core::audit::NewEvent;
use sqlx::{AssertSqlSafe, Executor as _};
use test_support::postgres::TestDatabase;

/// A database with three sequenced entries of a tenant.
struct Fixture {
    world: World,
    tenant: iam_core::TenantId,
    database: TestDatabase,
}

impl Fixture {
    async fn new() -> Self {
        let database = TestDatabase::create().await;
        let store = database.store().await;
        store.migrate().await.unwrap();
        let world = World::new(Arc::new(store));
        let tenant = world.tenant("acme").await;
        world.user(&tenant, "ada@example.com").await;
        world.user(&tenant, "grace@example.com").await;
        world.sequence().await;
        Self { world, tenant: tenant.id, database }
    }

    async fn run(&self, statement: &str) -> Result<u64, sqlx::Error> {
        Ok(self.database.pool().execute(AssertSqlSafe(statement.to_owned())).await?.rows_affected())
    }

    async fn assert_refused(&self, statement: &str, expected: &str) {
        let refused = self.run(statement).await.unwrap_err();
        let error = refused.as_database_error().unwrap();
        assert_eq!((error.code().as_deref(), error.message()), (Some("23001"), expected), "{statement}");
    }
}

const ENTRY: &str = "an audit entry cannot be changed, except that personal fields are erased";

/// Each column with a different value.
const OTHERWISE: [(&str, &str); 16] = [
    ("tenant_id", "gen_random_uuid()"),
    ("id", "gen_random_uuid()"),
    ("action", "'X'"),
    ("resource_type", "'X'"),
    ("resource_id", "NULL"),
    ("organization_id", "gen_random_uuid()"),
    ("user_id", "gen_random_uuid()"),
    ("old_value", "'{}'"),
    ("new_value", "'{\"a\": 1}'"),
    ("metadata", "'{\"a\": 1}'"),
    ("correlation_id", "'X'"),
    ("ip_address", "'192.0.2.1'"),
    ("user_agent", "'X'"),
    ("created_at", "created_at + interval '1 millisecond'"),
    ("details_salt", "decode(md5(''), 'hex')"),
    ("origin_salt", "decode(md5(''), 'hex')"),
];

#[tokio::test]
async fn entries_cannot_be_changed() {
    let fixture = Fixture::new().await;
    for (column, value) in OTHERWISE {
        fixture.assert_refused(&format!("UPDATE iam.audit_entries SET {column} = {value}"), ENTRY).await;
        fixture.assert_refused(&format!("UPDATE iam.audit_entries_2026_01 SET {column} = {value}"), ENTRY).await;
    }
    let erase = "UPDATE iam.audit_entries SET new_value = NULL, details_salt = sha256('')";
    fixture.assert_refused(erase, ENTRY).await;
    fixture.world.assert_clean(fixture.tenant, &[]).await;
}

#[tokio::test]
async fn an_erasure_changes_nothing_but_personal_fields() {
    let fixture = Fixture::new().await;
    let record = "INSERT INTO iam.audit_erasures SELECT tenant_id, created_at, id FROM iam.audit_entries";
    fixture.run(record).await.unwrap();
    for (column, value) in OTHERWISE {
        fixture.assert_refused(&format!("UPDATE iam.audit_entries SET {column} = {value}"), ENTRY).await;
        // Both parts are erased, and another column is changed as well.
        if !["old_value", "new_value", "metadata", "details_salt", "origin_salt"].contains(&column) {
            let parts = "details_salt = sha256(''), origin_salt = sha256('')";
            fixture.assert_refused(&format!("UPDATE iam.audit_entries SET {parts}, {column} = {value}"), ENTRY).await;
        }
    }
    let details = "UPDATE iam.audit_entries SET new_value = '{}', metadata = '{}', details_salt = sha256('')";
    assert_eq!(fixture.run(details).await.unwrap(), 3);
    let origins = "UPDATE iam.audit_entries SET ip_address = NULL, user_agent = NULL, origin_salt = sha256('')";
    assert_eq!(fixture.run(origins).await.unwrap(), 3);
    let back = "UPDATE iam.audit_entries SET origin_salt = decode(md5(''), 'hex')";
    fixture.assert_refused(back, ENTRY).await;
}

#[tokio::test]
async fn entries_cannot_be_deleted_before_retention_marks_them_for_removal() {
    let fixture = Fixture::new().await;
    let pending = NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), ..NewEvent::default() };
    fixture.world.iam().await.audit().log(&Caller::system(fixture.tenant, "test"), pending).await.unwrap();
    let expected = "an audit entry cannot be deleted before retention marks it for removal";
    for table in ["audit_entries", "audit_entries_2026_01"] {
        fixture.assert_refused(&format!("DELETE FROM iam.{table}"), expected).await;
    }
    let change = fixture.world.give_up(fixture.tenant, 0..1).await;
    fixture.world.commit(fixture.tenant, change).await;
    fixture.assert_refused("DELETE FROM iam.audit_entries", expected).await;
    let of_leaves = |condition: &str| {
        format!(
            "DELETE FROM iam.audit_entries e USING iam.audit_leaves l
            WHERE l.tenant_id = e.tenant_id AND l.entry_id = e.id AND {condition}"
        )
    };
    fixture.assert_refused(&of_leaves("l.sequence = 1"), expected).await;
    assert_eq!(fixture.run(&of_leaves("l.sequence = 0")).await.unwrap(), 1);
}

/// An attacker inserts an entry with the identifier of an entry that is marked for removal, but with another time.
/// Such an entry is not deleted.
#[tokio::test]
async fn an_entry_with_a_reused_identifier_and_another_time_stays() {
    let fixture = Fixture::new().await;
    let later = "INSERT INTO iam.audit_entries
        SELECT later.*
        FROM iam.audit_leaves l
        JOIN iam.audit_entries e ON e.id = l.entry_id
        CROSS JOIN jsonb_populate_record(e, jsonb_build_object('created_at', e.created_at + interval '1 s')) later
        WHERE l.sequence = 0";
    assert_eq!(fixture.run(later).await.unwrap(), 1);
    let change = fixture.world.give_up(fixture.tenant, 0..3).await;
    fixture.world.commit(fixture.tenant, change).await;
    assert_eq!(fixture.world.store.purge_audit_entries().await.unwrap(), 3);
    let expected = "an audit entry cannot be deleted before retention marks it for removal";
    fixture.assert_refused("DELETE FROM iam.audit_entries WHERE created_at > '2026-01-31 09:15:01Z'", expected).await;
}

#[tokio::test]
async fn pending_entries_cannot_be_changed_or_deleted() {
    let fixture = Fixture::new().await;
    let mut pending = fixture.world.new_entries(fixture.tenant, 2);
    fixture.world.record(pending.clone()).await;
    for (column, value) in OTHERWISE {
        fixture.assert_refused(&format!("UPDATE iam.audit_unsealed SET {column} = {value}"), ENTRY).await;
    }
    let digest = "the digest of an audit entry cannot be changed";
    fixture.assert_refused("UPDATE iam.audit_unsealed SET digest = ''", digest).await;
    let delete = "an audit entry cannot be deleted before it is sequenced";
    fixture.assert_refused("DELETE FROM iam.audit_unsealed", delete).await;
    // The function that moves entries is refused, too.
    let moved = "SELECT iam.move_sealed_audit_entries(array_agg(tenant_id), array_agg(created_at), array_agg(id))
        FROM iam.audit_unsealed";
    fixture.assert_refused(moved, delete).await;
    // The leaf of an entry with another time does not count.
    let sequenced = fixture.world.sequenced(fixture.tenant).await.remove(0).leaf;
    pending.truncate(1);
    pending[0].id = sequenced.entry_id;
    pending[0].created_at = sequenced.created_at + chrono::TimeDelta::seconds(1);
    fixture.world.record(pending).await;
    let named = format!("DELETE FROM iam.audit_unsealed WHERE id = '{}'", sequenced.entry_id);
    fixture.assert_refused(&named, delete).await;
}

#[tokio::test]
async fn nothing_can_be_truncated() {
    let fixture = Fixture::new().await;
    for (table, expected) in [
        ("audit_entries", "audit entries cannot be truncated"),
        ("audit_entries_2026_01", "audit entries cannot be truncated"),
        ("audit_unsealed", "audit entries cannot be truncated"),
        ("audit_leaves", "a leaf of an audit log cannot be deleted"),
        ("audit_nodes", "a node of an audit log cannot be deleted"),
        ("audit_logs", "the head of an audit log cannot be deleted"),
        ("audit_erasures", "the record of an erasure cannot be deleted"),
    ] {
        fixture.assert_refused(&format!("TRUNCATE iam.{table}"), expected).await;
    }
    fixture.world.assert_clean(fixture.tenant, &[]).await;
}

#[tokio::test]
async fn leaves_nodes_and_erasures_cannot_be_changed_or_deleted() {
    let fixture = Fixture::new().await;
    for (table, what) in [
        ("audit_leaves", "a leaf of an audit log"),
        ("audit_nodes", "a node of an audit log"),
        ("audit_erasures", "the record of an erasure"),
    ] {
        let update = format!("UPDATE iam.{table} SET tenant_id = tenant_id");
        fixture.assert_refused(&update, &format!("{what} cannot be changed")).await;
        fixture.assert_refused(&format!("DELETE FROM iam.{table}"), &format!("{what} cannot be deleted")).await;
    }
}

#[tokio::test]
async fn a_log_cannot_shrink() {
    let fixture = Fixture::new().await;
    fixture.run("UPDATE iam.audit_logs SET removed = 2, purged = 1").await.unwrap();
    for change in ["size = size - 1", "removed = 1", "purged = 0", "tenant_id = gen_random_uuid()"] {
        fixture.assert_refused(&format!("UPDATE iam.audit_logs SET {change}"), "an audit log cannot shrink").await;
    }
    fixture.assert_refused("DELETE FROM iam.audit_logs", "the head of an audit log cannot be deleted").await;
    for change in ["removed = 4", "purged = 3"] {
        let impossible = fixture.run(&format!("UPDATE iam.audit_logs SET {change}")).await.unwrap_err();
        let constraint = impossible.as_database_error().and_then(|error| error.constraint());
        assert_eq!(constraint, Some("audit_logs_places_check"));
    }
}
