//! Proofs and verification of a stored log. The proofs are checked without the code of the service.

use std::sync::Arc;

use iam_core::Caller;
use iam_model::audit::{AuditEntry, TreeHash};
use iam_model::error::{Conflict, Error};
use iam_model::store::Store;

use crate::log::all;
use crate::tree;
use crate::world::World;

/// Every proof is valid by the rules of RFC 9162, and is not valid for other hashes.
pub async fn proofs_are_valid_by_rfc_9162(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for count in [254, 3, 300] {
        world.tick();
        world.record(world.new_entries(tenant.id, count)).await;
        world.sequence().await;
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

/// A checkpoint shows the sequenced entries and the pending ones. A pending entry has no proof yet.
pub async fn checkpoints_show_sequenced_and_pending_entries(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let (iam, caller) = (world.iam().await, Caller::system(tenant.id, "conformance"));
    let entries = all(&world, tenant.id).await;
    let state = iam.audit().checkpoint(&caller).await.unwrap();
    assert_eq!((state.signed.checkpoint.size, state.signed.checkpoint.root), (0, tree::root(&[])));
    assert_eq!(state.pending, [entries[0].id]);
    let refused = iam.audit().prove_inclusion(&caller, entries[0].id, None).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::NotSequenced))), "{refused:?}");
    world.sequence().await;
    let state = iam.audit().checkpoint(&caller).await.unwrap();
    let root = tree::leaf_hash(0, entries[0].digest());
    assert_eq!((state.signed.checkpoint.size, state.signed.checkpoint.root, state.pending), (1, root, vec![]));
    assert_eq!(state.signed.note, world.head(tenant.id).await.note, "the stored note is the same");
    let proof = iam.audit().prove_inclusion(&caller, entries[0].id, None).await.unwrap();
    assert_eq!((proof.index, proof.size, proof.root, proof.hashes), (0, 1, root, vec![]));
}

/// The verification of an untouched log has no findings, for any earlier checkpoints that are compared with it.
pub async fn an_untouched_log_has_no_findings(store: Arc<dyn Store>) {
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
        world.sequence().await;
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
        assert_eq!((found.removed, found.pending), (0, 7));
        assert_eq!(found.root, world.head(tenant.id).await.frontier.root());
        assert_eq!(found.sequenced + 7, all(&world, tenant.id).await.len() as u64);
    }
    assert_eq!(world.assert_clean(world.id(), &[]).await.sequenced, 0, "a tenant without entries has an empty log");
}
