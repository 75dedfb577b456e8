//! Legal holds.

use std::sync::Arc;

use iam_model::change::{Change, LegalHoldChange};
use iam_model::directory::DirectoryUser;
use iam_model::error::{Conflict, Error};
use iam_model::id::{LegalHoldId, UserId};
use iam_model::legal_hold::{Destroyed, LegalHold};
use iam_model::page::PageRequest;
use iam_model::store::Store;
use iam_model::store_error::Constraint;
use iam_model::tenant::Tenant;
use iam_model::user::UserStatus;
use serde_json::json;

use crate::directory::{directory, entered, new_entry, update_entry};
use crate::race::{Fixture, both};
use crate::world::{World, assert_conflict, assert_missing, assert_pages};

fn new_hold(world: &World, tenant: &Tenant, user: Option<UserId>) -> LegalHold {
    LegalHold {
        id: world.id(),
        tenant_id: tenant.id,
        user_id: user,
        reason: "Case 2026-17".parse().unwrap(),
        placed_by: None,
        created_at: world.now(),
    }
}

async fn place(world: &World, tenant: &Tenant, user: Option<UserId>) -> LegalHold {
    let hold = new_hold(world, tenant, user);
    world.commit(tenant.id, LegalHoldChange::Place(hold.clone())).await;
    hold
}

fn release(hold: &LegalHold) -> Change {
    LegalHoldChange::Release { hold: hold.clone(), reason: "The case is closed.".parse().unwrap() }.into()
}

/// A hold, read in a unit of work and outside of one.
async fn read(world: &World, hold: &LegalHold) -> Option<LegalHold> {
    let committed = world.store.legal_hold(hold.tenant_id, hold.id).await.unwrap();
    let locked = world.locked(hold.tenant_id, async |locks| locks.legal_hold(hold.id).await.unwrap()).await;
    assert_eq!(committed, locked);
    committed
}

/// The hold that keeps what would be destroyed.
async fn keeping(world: &World, tenant: &Tenant, destroyed: Destroyed) -> Option<LegalHoldId> {
    let hold = world.locked(tenant.id, async |locks| locks.legal_hold_of(destroyed).await.unwrap()).await;
    hold.map(|hold| hold.id)
}

async fn count(world: &World, tenant: &Tenant) -> u64 {
    world.locked(tenant.id, async |locks| locks.count_legal_holds().await.unwrap()).await
}

/// Each field of a hold has the value that was written. Another tenant does not find it. A hold that is released is gone,
/// and is not released again.
pub async fn a_hold_is_read_back_until_it_is_released(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let ada = world.user(&acme, "ada@example.com").await;
    let full = LegalHold { placed_by: Some(world.id()), ..new_hold(&world, &acme, Some(ada.id)) };
    world.commit(acme.id, LegalHoldChange::Place(full.clone())).await;
    let bare = place(&world, &acme, None).await;
    assert_eq!((read(&world, &full).await, read(&world, &bare).await), (Some(full.clone()), Some(bare.clone())));
    assert_eq!(read(&world, &LegalHold { tenant_id: other.id, ..full.clone() }).await, None);
    assert_missing(&world.try_commit(other.id, [release(&full)]).await);
    assert_eq!((count(&world, &acme).await, count(&world, &other).await), (2, 0));
    world.commit(acme.id, release(&full)).await;
    assert_eq!((read(&world, &full).await, count(&world, &acme).await), (None, 1));
    assert_missing(&world.try_commit(acme.id, [release(&full)]).await);
    assert_eq!(read(&world, &bare).await, Some(bare));
}

/// Pages follow each other without gaps or repetitions, newest first, then by identifier, and have the total.
pub async fn list_pages_and_counts(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut expected = Vec::new();
    for number in 0..8 {
        if number % 3 == 0 {
            world.tick();
        }
        expected.push(place(&world, &tenant, None).await);
        place(&world, &other, None).await;
    }
    expected.sort_by_key(|hold| (std::cmp::Reverse(hold.created_at), hold.id));
    assert_pages(&expected, async |page| world.store.legal_holds(tenant.id, page).await.unwrap()).await;
    let empty = world.store.legal_holds(world.id(), PageRequest::default()).await.unwrap();
    assert_eq!((empty.items, empty.total), (Vec::new(), 0));
}

/// The hold of a tenant keeps everything of it. The hold of a user keeps the log and that user, and no other user. Of
/// several holds, the one that was placed first is found. What a unit of work places or releases counts in it.
pub async fn the_first_hold_that_keeps_something_is_found(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [ada, bob] = [world.user(&acme, "ada@example.com").await.id, world.user(&acme, "bob@example.com").await.id];
    let found = async || {
        let mut found = Vec::new();
        for destroyed in [Destroyed::Log, Destroyed::OfUser(ada), Destroyed::OfUser(bob)] {
            found.push(keeping(&world, &acme, destroyed).await);
            assert_eq!(keeping(&world, &other, destroyed).await, None);
        }
        found
    };
    assert_eq!(found().await, [None; 3]);
    let of_ada = place(&world, &acme, Some(ada)).await;
    assert_eq!(found().await, [Some(of_ada.id), Some(of_ada.id), None]);
    world.tick();
    let of_acme = place(&world, &acme, None).await;
    assert_eq!(found().await, [Some(of_ada.id), Some(of_ada.id), Some(of_acme.id)]);
    let mut work = world.begin(&World::system(acme.id)).await;
    work.apply(release(&of_ada)).await.unwrap();
    let log = work.reads().legal_hold_of(Destroyed::Log).await.unwrap().unwrap();
    assert_eq!((log.id, work.reads().count_legal_holds().await.unwrap()), (of_acme.id, 1));
    drop(work);
    assert_eq!(found().await, [Some(of_ada.id), Some(of_ada.id), Some(of_acme.id)]);
    world.commit(acme.id, release(&of_ada)).await;
    assert_eq!(found().await, [Some(of_acme.id); 3]);
}

/// The hold of a user keeps the directory that says something of the user, also if the directory has deleted the user,
/// and no other directory.
pub async fn a_hold_of_a_user_keeps_its_directory(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let [staff, guests] = [directory(&world, &acme, "staff").await, directory(&world, &acme, "guests").await];
    let [ada, bob] = [world.user(&acme, "ada@example.com").await, world.user(&acme, "bob@example.com").await];
    let entry = new_entry(&world, &staff, &ada, "ada", &json!({}));
    world.commit(acme.id, entered(&entry)).await;
    let found = async || {
        let of_staff = keeping(&world, &acme, Destroyed::OfDirectory(staff.id)).await;
        [of_staff, keeping(&world, &acme, Destroyed::OfDirectory(guests.id)).await]
    };
    place(&world, &acme, Some(bob.id)).await;
    assert_eq!(found().await, [None, None]);
    let of_ada = place(&world, &acme, Some(ada.id)).await;
    assert_eq!(found().await, [Some(of_ada.id), None]);
    assert_eq!(keeping(&world, &other, Destroyed::OfDirectory(staff.id)).await, None);
    let deleted = DirectoryUser { deleted_at: Some(world.now()), ..entry.clone() }.changed(world.now());
    world.commit(acme.id, update_entry(&entry, &deleted)).await;
    assert_eq!(found().await, [Some(of_ada.id), None]);
    world.commit(acme.id, release(&of_ada)).await;
    let of_acme = place(&world, &acme, None).await;
    assert_eq!(found().await, [Some(of_acme.id); 2]);
}

/// A hold on a user of another tenant, or in a tenant that does not exist, is refused.
pub async fn references_to_another_tenant_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    let ada = world.user(&acme, "ada@example.com").await;
    let missing = world.new_tenant("missing");
    for (tenant, user) in [(&other, Some(ada.id)), (&acme, Some(world.id())), (&missing, None)] {
        let hold = new_hold(&world, tenant, user);
        let refused = world.try_commit(tenant.id, [LegalHoldChange::Place(hold).into()]).await;
        assert_conflict(&refused, Constraint::Reference);
    }
}

/// A hold is placed on a user while the user is deleted. Either the user was deleted before, or the deletion is refused.
pub async fn a_deletion_comes_before_a_hold_or_fails(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..12 {
        let user = fixture.user(&format!("user{round}@example.com")).await;
        let (holding, deleting) =
            ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), fixture.system.clone()));
        // A hold on the tenant in every other pair of rounds.
        let held = (round / 2 % 2 == 0).then_some(user.id);
        let hold = async move { holding.0.legal_holds().place(&holding.1, held, "Case 2026-17").await };
        let delete = async move { deleting.0.users().delete(&deleting.1, user.id).await };
        let (hold, deleted) = both(round, hold, delete).await;
        let hold = hold.unwrap();
        let status = fixture.world.store.user(fixture.tenant.id, user.id).await.unwrap().unwrap().status;
        match deleted {
            Ok(()) => assert_eq!(status, UserStatus::Inactive),
            Err(Error::Conflict(Conflict::LegalHold(id))) => {
                assert_eq!((id, status), (hold.id, UserStatus::Active));
            }
            Err(error) => panic!("{error:?}"),
        }
        fixture.iam.legal_holds().release(&fixture.system, hold.id, "The case is closed.").await.unwrap();
    }
}

/// Of two concurrent releases of a hold, one succeeds.
pub async fn a_hold_is_released_once_by_concurrent_tasks(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..8 {
        let hold = fixture.iam.legal_holds().place(&fixture.system, None, "Case 2026-17").await.unwrap();
        let release = || {
            let (iam, caller) = (fixture.iam.clone(), fixture.system.clone());
            async move { iam.legal_holds().release(&caller, hold.id, "The case is closed.").await }
        };
        let (one, other) = both(round, release(), release()).await;
        let failed = [one, other].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert!(matches!(failed.as_slice(), [Error::NotFound(_)]), "{failed:?}");
    }
}
