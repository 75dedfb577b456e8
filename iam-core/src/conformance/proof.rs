//! Proofs and verification of what a store keeps, judged by somebody who does not know the service.

use std::sync::Arc;

use super::World;
use super::log::all;
use super::tree;
use crate::audit::{AuditEntry, TreeHash};
use crate::caller::Caller;
use crate::error::{Conflict, Error};
use crate::store::Store;

/// Every proof convinces by the rules of RFC 9162, and by nothing that was changed.
pub async fn proofs_convince_a_stranger(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for count in [254, 3, 300] {
        world.tick();
        world.record(world.new_entries(tenant.id, count)).await;
        world.seal().await;
    }
    let (iam, caller) = (world.iam().await, Caller::system(tenant.id, "conformance"));
    let mut entries = all(&world, tenant.id).await;
    entries.reverse();
    let leaf = |(sequence, entry): (u64, &AuditEntry)| tree::leaf_hash(sequence, entry.digest());
    let leaves: Vec<TreeHash> = (0..).zip(&entries).map(leaf).collect();
    let root = |size: u64| tree::root(&leaves[..usize::try_from(size).unwrap()]);
    for (index, entry) in entries.iter().enumerate().filter(|(index, _)| index % 37 == 0 || index % 256 > 253) {
        let (number, leaf) = (index as u64, leaves[index]);
        for size in [number + 1, 255, 256, 257, 511, 512, 513, 558].into_iter().filter(|size| *size > number) {
            let proof = iam.audit().prove_inclusion(&caller, entry.id, Some(size)).await.unwrap();
            assert_eq!((&proof.entry, proof.index, proof.size, proof.root), (entry, number, size, root(size)));
            assert!(tree::is_included(leaf, number, size, &proof.hashes, root(size)), "{number} {size}");
            let other = leaves[(index + 1) % leaves.len()];
            assert!(!tree::is_included(other, number, size, &proof.hashes, root(size)), "{number} {size}");
        }
    }
    for old in [1, 2, 3, 100, 255, 256, 257, 511, 512, 513, 557, 558] {
        for new in [255, 256, 257, 300, 512, 513, 558].into_iter().filter(|new| *new >= old) {
            let proof = iam.audit().prove_consistency(&caller, old, Some(new)).await.unwrap();
            assert_eq!((proof.from, proof.to, proof.root), (old, new, root(new)));
            assert!(tree::is_consistent((old, root(old)), (new, root(new)), &proof.hashes), "{old} {new}");
            assert!(!tree::is_consistent((old, root(old - 1)), (new, root(new)), &proof.hashes), "{old} {new}");
        }
    }
}

/// A checkpoint says what is sealed and what is not, and an entry that waits has no proof yet.
pub async fn checkpoints_tell_what_is_sealed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (iam, caller) = (world.iam().await, Caller::system(tenant.id, "conformance"));
    let entries = all(&world, tenant.id).await;
    let state = iam.audit().checkpoint(&caller).await.unwrap();
    assert_eq!((state.signed.checkpoint.size, state.signed.checkpoint.root), (0, tree::root(&[])));
    assert_eq!(state.unsealed, [entries[0].id]);
    let refused = iam.audit().prove_inclusion(&caller, entries[0].id, None).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::NotSealed))), "{refused:?}");
    world.seal().await;
    let state = iam.audit().checkpoint(&caller).await.unwrap();
    let root = tree::leaf_hash(0, entries[0].digest());
    assert_eq!((state.signed.checkpoint.size, state.signed.checkpoint.root, state.unsealed), (1, root, vec![]));
    assert_eq!(state.signed.note, world.head(tenant.id).await.note, "the kept note is the same");
    let proof = iam.audit().prove_inclusion(&caller, entries[0].id, None).await.unwrap();
    assert_eq!((proof.index, proof.size, proof.root, proof.hashes), (0, 1, root, vec![]));
}

/// Verification finds nothing wrong with an untouched log, whatever checkpoints were kept.
pub async fn an_untouched_log_is_clean(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenants = [world.tenant("acme").await, world.tenant("other").await, world.tenant("third").await];
    let iam = world.iam().await;
    let mut notes: [Vec<String>; 3] = Default::default();
    for count in [0, 1, 254, 3, 700, 300] {
        for (number, tenant) in tenants.iter().enumerate() {
            let entries = world.new_entries(tenant.id, count / (number * number + 1));
            if !entries.is_empty() {
                world.record(entries).await;
            }
            let caller = Caller::system(tenant.id, "conformance");
            notes[number].push(iam.audit().checkpoint(&caller).await.unwrap().signed.note);
        }
        world.tick();
        world.seal().await;
    }
    for (tenant, notes) in tenants.iter().zip(notes) {
        world.record(world.new_entries(tenant.id, 7)).await;
        world.assert_clean(tenant.id, &[]).await;
        if tenant.slug.as_str() == "third" {
            for note in &notes {
                world.assert_clean(tenant.id, std::slice::from_ref(note)).await;
            }
        }
        let found = world.assert_clean(tenant.id, &notes).await;
        assert_eq!((found.removed, found.unsealed), (0, 7));
        assert_eq!(found.root, world.head(tenant.id).await.frontier.root());
        assert_eq!(found.sealed + 7, all(&world, tenant.id).await.len() as u64);
    }
    assert_eq!(world.assert_clean(world.id(), &[]).await.sealed, 0, "a log of nothing is what it was");
}
