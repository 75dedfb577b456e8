//! Deletions of tenants.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_core::session::Login;
use iam_core::tenant::{DeletedTenant, DeletionRecord, NewTenantDeletion};
use iam_core::{Caller, Iam};
use iam_model::audit::AuditEntry;
use iam_model::change::{Change, TenantDeletionChange};
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Error};
use iam_model::id::TenantId;
use iam_model::store::Store;
use iam_model::store_error::BoxError;
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::tenant_deletion::{TenantContents, TenantDeletion};

use crate::log::all;
use crate::race::{Fixture, both, new_user};
use crate::world::{World, assert_missing, everything};

/// The records of deleted tenants. The first ones may be refused.
#[derive(Default)]
struct Records {
    kept: Mutex<Vec<DeletedTenant>>,
    refusals: Mutex<u32>,
}

#[async_trait]
impl DeletionRecord for Records {
    async fn record(&self, deleted: &DeletedTenant) -> Result<(), BoxError> {
        let mut refusals = self.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return Err("the disk is full".into());
        }
        self.kept.lock().unwrap().push(deleted.clone());
        Ok(())
    }
}

fn new_deletion(world: &World, tenant: &Tenant, days: i64) -> TenantDeletion {
    TenantDeletion {
        tenant_id: tenant.id,
        due_at: world.now() + TimeDelta::days(days),
        keeps_log: days % 2 == 0,
        reason: "The contract has ended.".parse().unwrap(),
        scheduled_at: world.now(),
        begun_at: None,
        contents: None,
    }
}

async fn schedule(world: &World, tenant: &Tenant, days: i64) -> TenantDeletion {
    let deletion = new_deletion(world, tenant, days);
    world.commit(tenant.id, TenantDeletionChange::Schedule(deletion.clone())).await;
    deletion
}

fn cancel(deletion: &TenantDeletion) -> Change {
    TenantDeletionChange::Cancel { deletion: deletion.clone(), reason: "The customer stays.".parse().unwrap() }.into()
}

fn begin(tenant: &Tenant, after: &TenantDeletion) -> Change {
    TenantDeletionChange::Begin { tenant: tenant.clone(), after: after.clone() }.into()
}

/// A deletion, read in a unit of work and outside of one.
async fn read(world: &World, tenant: TenantId) -> Option<TenantDeletion> {
    let committed = world.store.tenant_deletion(tenant).await.unwrap();
    let locked = world.locked(tenant, async |locks| locks.tenant_deletion().await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

/// Each field of a deletion has the value that was written, also after it has begun. One that has begun is not called off,
/// and does not begin again.
pub async fn a_deletion_is_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    assert_eq!(read(&world, acme.id).await, None);
    let first = schedule(&world, &acme, 30).await;
    assert_eq!((read(&world, acme.id).await, read(&world, other.id).await), (Some(first.clone()), None));
    world.try_commit(acme.id, [cancel(&first)]).await.unwrap();
    assert_eq!(read(&world, acme.id).await, None);
    assert_missing(&world.try_commit(acme.id, [cancel(&first)]).await);
    let second = schedule(&world, &acme, 1).await;
    let contents = TenantContents { users: 1, organizations: 2, roles: 3, assignments: 4, entries: 5, legal_holds: 0 };
    let begun = TenantDeletion { begun_at: Some(second.due_at), contents: Some(contents), ..second.clone() };
    assert_missing(&world.try_commit(other.id, [begin(&other, &begun)]).await);
    world.try_commit(acme.id, [begin(&acme, &begun)]).await.unwrap();
    assert_eq!(read(&world, acme.id).await, Some(begun.clone()));
    for change in [cancel(&second), begin(&acme, &begun)] {
        assert_missing(&world.try_commit(acme.id, [change]).await);
    }
    assert_eq!(read(&world, acme.id).await, Some(begun));
}

/// Deletions that are due at a moment are found, the first one first.
pub async fn due_deletions_are_found_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    let mut deletions = Vec::new();
    for (slug, days) in [("later", 3), ("first", 1), ("second", 2)] {
        let tenant = world.tenant(slug).await;
        deletions.push(schedule(&world, &tenant, days).await);
    }
    let [later, first, second] = <[TenantDeletion; 3]>::try_from(deletions).unwrap();
    let due = async |moment, limit| world.store.due_tenant_deletions(moment, limit).await.unwrap();
    assert_eq!(due(first.due_at - TimeDelta::milliseconds(1), 10).await, []);
    assert_eq!(due(second.due_at, 10).await, [first.clone(), second.clone()]);
    assert_eq!(due(later.due_at, 1).await, std::slice::from_ref(&first));
    assert_eq!(due(later.due_at, 10).await, [first, second, later]);
}

/// Before a deletion has begun, no row is removed.
pub async fn nothing_is_removed_before_a_deletion_begins(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    for is_scheduled in [false, true] {
        if is_scheduled {
            schedule(&world, &tenant, 0).await;
        }
        assert_eq!(world.store.remove_rows_of_tenant(tenant.id, 100).await.unwrap(), 0);
        world.store.remove_tenant(tenant.id).await.unwrap();
        assert!(world.store.tenant(tenant.id).await.unwrap().is_some());
        assert_eq!(world.store.user(tenant.id, user.id).await.unwrap(), Some(user.clone()));
    }
}

/// Two tenants, of which one is to be deleted now.
async fn scheduled(store: Arc<dyn Store>, keeps_log: bool) -> (Fixture, Iam, Tenant) {
    let fixture = Fixture::new(store).await;
    let other = fixture.world.tenant("bystander").await;
    fixture.world.user(&other, "eve@example.com").await;
    let above = fixture.organization("above", None).await;
    let below = fixture.organization("below", Some(above.id)).await;
    let role = fixture.role("CLERK", &["users:read"]).await;
    fixture.member("grace@example.com", &role, Some(below.id)).await;
    fixture.iam.legal_holds().place(&fixture.system, None, "Case 2026-17").await.unwrap();
    let hold = fixture.iam.legal_holds().list(&fixture.system, everything()).await.unwrap().items.remove(0);
    let new = || NewTenantDeletion { after: TimeDelta::zero(), keeps_log, reason: "The contract has ended.".into() };
    let refused = fixture.iam.tenants().schedule_deletion(&fixture.system, new()).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::LegalHold(id))) if id == hold.id), "{refused:?}");
    fixture.iam.legal_holds().release(&fixture.system, hold.id, "The case is closed.").await.unwrap();
    fixture.iam.tenants().schedule_deletion(&fixture.system, new()).await.unwrap();
    let iam = fixture.iam.clone();
    (fixture, iam, other)
}

/// Runs deletions until the tenants that are due are gone.
async fn delete(iam: &Iam, records: &Records) -> u64 {
    let mut deleted = 0;
    // It waits until the log has the entry of its beginning. It waits once more if the log is to be erased, and has other
    // entries of the same millisecond.
    for _ in 0..3 {
        deleted += iam.delete_due_tenants(records).await.unwrap();
        iam.sequence_audit_logs().await.unwrap();
    }
    deleted
}

async fn assert_gone(fixture: &Fixture, other: &Tenant) {
    let (store, tenant) = (&fixture.world.store, fixture.tenant.id);
    assert_eq!(store.tenant(tenant).await.unwrap(), None);
    assert_eq!(store.tenant_deletion(tenant).await.unwrap(), None);
    assert_eq!(store.user(tenant, fixture.founder.id).await.unwrap(), None);
    assert_eq!(store.permissions(tenant, everything()).await.unwrap().total, 0);
    assert_eq!(store.remove_rows_of_tenant(tenant, 100).await.unwrap(), 0);
    assert!(store.tenant(other.id).await.unwrap().is_some());
    let eve = other_user(fixture, other).await;
    assert!(eve, "the user of another tenant");
}

async fn other_user(fixture: &Fixture, other: &Tenant) -> bool {
    let email: iam_model::validate::Email = "eve@example.com".parse().unwrap();
    fixture.world.store.guarded_account(other.id, &email.key()).await.unwrap().account.is_some()
}

/// A tenant is deleted with everything in it, and its log stays and can be verified. The last entry says what happened. The
/// record has the root of that log. Another tenant keeps everything.
pub async fn a_deleted_tenant_leaves_its_log(store: Arc<dyn Store>) {
    let (fixture, iam, other) = scheduled(store, true).await;
    let records = Records::default();
    let tenant = fixture.tenant.id;
    let written = all(&fixture.world, tenant).await.len() as u64;
    let counted = async || iam.tenants().contents(&fixture.system).await.unwrap().entries;
    assert_eq!(counted().await, written, "while they are pending");
    iam.sequence_audit_logs().await.unwrap();
    assert_eq!(counted().await, written);
    assert_eq!(delete(&iam, &records).await, 1);
    assert_gone(&fixture, &other).await;
    let entries = all(&fixture.world, tenant).await;
    let last = entries.iter().find(|entry| entry.action == "DELETE" && entry.resource_type.as_str() == "TENANT");
    let last = last.unwrap();
    assert_eq!((&last.metadata["keepsLog"], &last.metadata["contents"]["users"]), (&true.into(), &2.into()));
    assert!(entries.len() > 10, "{}", entries.len());
    let caller = Caller::system(tenant, "conformance");
    let verified = iam.audit().verify(&caller, &[]).await.unwrap();
    assert_eq!(verified.findings, []);
    let [record] = <[DeletedTenant; 1]>::try_from(records.kept.into_inner().unwrap()).unwrap();
    assert_eq!((record.tenant_id, record.slug), (tenant, Some(fixture.tenant.slug)));
    assert_eq!((record.log_size, record.log_root), (verified.sequenced, verified.root.to_string()));
    assert_eq!((record.contents.users, record.contents.organizations, record.keeps_log), (2, 2, true));
}

/// If the log is to be erased, its entries are gone but those of the deletion, and it can still be verified.
pub async fn a_deleted_tenant_leaves_the_hashes_of_an_erased_log(store: Arc<dyn Store>) {
    let (fixture, iam, other) = scheduled(store, false).await;
    let tenant = fixture.tenant.id;
    assert_eq!(delete(&iam, &Records::default()).await, 1);
    assert_gone(&fixture, &other).await;
    let left = all(&fixture.world, tenant).await;
    // Its suspension may have been in the same millisecond.
    let is_of_deletion =
        |entry: &AuditEntry| ["TENANT", "SESSION", "AUDIT_LOG"].contains(&entry.resource_type.as_str());
    assert!(left.len() < 8 && left.iter().all(is_of_deletion), "{left:?}");
    iam.sequence_audit_logs().await.unwrap();
    let verified = iam.audit().verify(&Caller::system(tenant, "conformance"), &[]).await.unwrap();
    assert_eq!(verified.findings, []);
}

/// A deletion that was interrupted in the middle goes on. Its record is written again if it could not be written before.
pub async fn an_interrupted_deletion_goes_on(store: Arc<dyn Store>) {
    let (fixture, iam, other) = scheduled(store, true).await;
    let records = Records { refusals: Mutex::new(1), ..Records::default() };
    iam.delete_due_tenants(&records).await.unwrap();
    iam.sequence_audit_logs().await.unwrap();
    for _ in 0..5 {
        fixture.world.store.remove_rows_of_tenant(fixture.tenant.id, 1).await.unwrap();
    }
    let refused = iam.delete_due_tenants(&records).await;
    assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
    assert!(fixture.world.store.tenant(fixture.tenant.id).await.unwrap().is_some());
    assert_eq!(iam.delete_due_tenants(&records).await.unwrap(), 1);
    assert_gone(&fixture, &other).await;
    assert_eq!(records.kept.into_inner().unwrap().len(), 1);
}

/// What a change writes that was under way when the deletion began goes, too, if the log is to be erased.
pub async fn a_late_entry_of_an_erased_log_goes_too(store: Arc<dyn Store>) {
    let (fixture, iam, other) = scheduled(store, false).await;
    let (tenant, records) = (fixture.tenant.id, Records::default());
    iam.delete_due_tenants(&records).await.unwrap();
    iam.sequence_audit_logs().await.unwrap();
    fixture.world.record(vec![fixture.world.new_entry(tenant)]).await;
    assert_eq!(iam.delete_due_tenants(&records).await.unwrap(), 0, "an entry is pending");
    iam.sequence_audit_logs().await.unwrap();
    assert_eq!(delete(&iam, &records).await, 1);
    assert_gone(&fixture, &other).await;
    let left = all(&fixture.world, tenant).await;
    assert!(left.iter().all(|entry| entry.resource_type.as_str() == "AUDIT_LOG"), "{left:?}");
    iam.sequence_audit_logs().await.unwrap();
    let verified = iam.audit().verify(&Caller::system(tenant, "conformance"), &[]).await.unwrap();
    assert_eq!(verified.findings, []);
}

/// After the beginning of a deletion, it cannot be called off, no hold is placed, the tenant is not active again, and its log
/// gets no entries of other changes.
pub async fn a_deletion_that_has_begun_is_not_stopped(store: Arc<dyn Store>) {
    let (fixture, iam, _) = scheduled(store, true).await;
    iam.delete_due_tenants(&Records::default()).await.unwrap();
    let results = [
        iam.tenants().cancel_deletion(&fixture.system, "The customer stays.").await,
        iam.tenants().reactivate(&fixture.system).await.map(drop),
        iam.legal_holds().place(&fixture.system, None, "Case 2026-17").await.map(drop),
        iam.users().create(&fixture.system, new_user("late@example.com")).await.map(drop),
    ];
    for result in results {
        assert!(matches!(result, Err(Error::Conflict(Conflict::TenantDeletionBegun))), "{result:?}");
    }
    let before = all(&fixture.world, fixture.tenant.id).await;
    for email in ["ada@example.com", "stranger@example.com"] {
        let tenant = Some(fixture.tenant.id.to_string());
        let login = Login { email: email.to_owned(), password: "Wr0ng pass!".into(), tenant };
        let refused = iam.sessions().login(&RequestContext::default(), login).await.map(drop);
        assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
    }
    assert_eq!(all(&fixture.world, fixture.tenant.id).await, before);
}

async fn status(fixture: &Fixture, tenant: TenantId) -> TenantStatus {
    fixture.world.store.tenant(tenant).await.unwrap().unwrap().status
}

/// A deletion is called off while it begins. Either that is refused, or the tenant stays active.
pub async fn a_deletion_is_called_off_as_a_whole_or_begins(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..8 {
        let tenant = fixture.world.tenant(&format!("tenant-{round}")).await;
        let system = Caller::system(tenant.id, "conformance");
        let new = NewTenantDeletion { after: TimeDelta::zero(), keeps_log: true, reason: "It has ended.".into() };
        fixture.iam.tenants().schedule_deletion(&system, new).await.unwrap();
        let (cancelling, deleting) = ((fixture.iam.clone(), system.clone()), fixture.iam.clone());
        let cancel = async move { cancelling.0.tenants().cancel_deletion(&cancelling.1, "The customer stays.").await };
        let delete = async move { deleting.delete_due_tenants(&Records::default()).await };
        let (cancelled, begun) = both(round, cancel, delete).await;
        assert_eq!(begun.unwrap(), 0);
        let deletion = fixture.world.store.tenant_deletion(tenant.id).await.unwrap();
        match cancelled {
            Ok(()) => assert_eq!((deletion, status(&fixture, tenant.id).await), (None, TenantStatus::Active)),
            Err(Error::Conflict(Conflict::TenantDeletionBegun)) => {
                assert!(deletion.unwrap().begun_at.is_some());
                assert_eq!(status(&fixture, tenant.id).await, TenantStatus::Suspended);
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// A hold is placed while a deletion begins. Either the hold is refused, or the deletion waits.
pub async fn a_deletion_begins_before_a_hold_or_waits(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..8 {
        let tenant = fixture.world.tenant(&format!("tenant-{round}")).await;
        let system = Caller::system(tenant.id, "conformance");
        let new = NewTenantDeletion { after: TimeDelta::zero(), keeps_log: true, reason: "It has ended.".into() };
        fixture.iam.tenants().schedule_deletion(&system, new).await.unwrap();
        let (holding, deleting) = ((fixture.iam.clone(), system.clone()), fixture.iam.clone());
        let hold = async move { holding.0.legal_holds().place(&holding.1, None, "Case 2026-17").await };
        let delete = async move { deleting.delete_due_tenants(&Records::default()).await };
        let (held, begun) = both(round, hold, delete).await;
        assert_eq!(begun.unwrap(), 0);
        let deletion = fixture.world.store.tenant_deletion(tenant.id).await.unwrap().unwrap();
        match held {
            Ok(_) => {
                assert_eq!(deletion.begun_at, None);
                assert_eq!(status(&fixture, tenant.id).await, TenantStatus::Active);
            }
            Err(Error::Conflict(Conflict::TenantDeletionBegun)) => assert!(deletion.begun_at.is_some()),
            Err(error) => panic!("{error:?}"),
        }
    }
}
