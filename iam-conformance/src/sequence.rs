//! The queue of pending entries, sequencing, and reads of sequenced entries.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_audit_proof::{Finding, Tampering};
use iam_core::Caller;
use iam_model::audit::{
    AuditEntry, Frontier, Leaf, LogHead, Pending, PendingEntry, Retention, SequencedBatch, SequencedEntry, TreeHash,
    TreeSpan,
};
use iam_model::change::{CredentialChange, LoginFailure};
use iam_model::context::RequestContext;
use iam_model::id::TenantId;
use iam_model::store::Store;

use crate::log::{all, pending, queue_order};
use crate::retention::set_retention;
use crate::tree;
use crate::world::{World, create};

/// Committed entries are pending with their digests. They are read oldest first, across all tenants and independently
/// of the order of the commits.
pub async fn committed_entries_are_pending_oldest_first(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (acme, other) = (world.tenant("acme").await, world.tenant("other").await);
    for minutes in [5, -5, 0, 7, -1, 7] {
        for tenant in [&other, &acme] {
            let created_at = world.now() + TimeDelta::minutes(minutes);
            world.record(vec![AuditEntry { created_at, ..world.new_entry(tenant.id) }]).await;
        }
    }
    let mut entries = [all(&world, acme.id).await, all(&world, other.id).await].concat();
    entries.sort_by_key(queue_order);
    let expected: Vec<Pending> = entries.iter().map(pending).collect();
    assert_eq!(expected.len(), 14);
    for limit in [0, 1, 5, 14, 100] {
        let expected: Vec<Pending> = expected.iter().take(limit as usize).cloned().collect();
        assert_eq!(world.store.pending(&[], limit).await.unwrap(), expected, "{limit}");
    }
    let others: Vec<Pending> = expected.iter().filter(|entry| entry.tenant_id == other.id).cloned().collect();
    assert_eq!(world.store.pending(&[acme.id, world.id()], 5).await.unwrap(), others[..5], "only other tenants");
    assert_eq!(world.store.pending(&[other.id, acme.id], 5).await.unwrap(), []);
    world.sequence().await;
    assert_eq!(world.store.pending(&[], 100).await.unwrap(), []);
}

/// A unit of work that is dropped or refused leaves nothing in the queue.
pub async fn uncommitted_entries_are_not_pending(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let taken = world.user(&tenant, "ada@example.com").await;
    let before = world.store.pending(&[], 100).await.unwrap();
    let caller = Caller::system(tenant.id, "conformance");
    let mut work = world.begin(caller.author()).await;
    work.apply(create(&world.new_user(&tenant, "grace@example.com"))).await.unwrap();
    drop(work);
    let fresh = create(&world.new_user(&tenant, "grace@example.com"));
    let double = create(&world.new_user(&tenant, taken.email.as_str()));
    world.try_commit(tenant.id, [fresh, double]).await.unwrap_err();
    assert_eq!(world.store.pending(&[], 100).await.unwrap(), before);
}

/// Sequenced entries are read back: head, leaves and stored subtrees are as RFC 6962 defines them.
pub async fn sequenced_entries_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    assert_eq!(world.store.log_heads(&[tenant.id, other.id]).await.unwrap(), []);
    assert_eq!(world.locked(tenant.id, async |locks| locks.log_head().await.unwrap()).await, None);
    world.record(world.new_entries(other.id, 20)).await;
    let pending = async |tenant| world.locked(tenant, async |locks| locks.count_pending().await.unwrap()).await;
    // With the creation of each.
    assert_eq!((pending(tenant.id).await, pending(other.id).await), (1, 21));
    let mut hashes: Vec<TreeHash> = Vec::new();
    for count in [3, 300, 400] {
        world.record(world.new_entries(tenant.id, count)).await;
        world.sequence().await;
        hashes = assert_tree(&world, tenant.id, &hashes).await;
    }
    assert_eq!(hashes.len(), 704);
    assert_spans(&world, tenant.id, &hashes).await;
    assert_tree(&world, other.id, &[]).await;
    assert_eq!((pending(tenant.id).await, pending(other.id).await), (0, 0));
    world.assert_sequenced(tenant.id).await;
    world.assert_sequenced(other.id).await;
}

/// Fails unless a log is sequenced as RFC 6962 defines, and starts with the `known` leaves. Returns the hashes of its
/// leaves.
async fn assert_tree(world: &World, tenant: TenantId, known: &[TreeHash]) -> Vec<TreeHash> {
    let mut entries = all(world, tenant).await;
    entries.reverse();
    let leaf = |(sequence, entry): (u64, AuditEntry)| {
        let AuditEntry { created_at, id: entry_id, .. } = entry;
        let leaf = Leaf { sequence, created_at, entry_id, hash: tree::leaf_hash(sequence, entry.digest()) };
        SequencedEntry { leaf, entry: Some(entry) }
    };
    let expected: Vec<SequencedEntry> = (0..).zip(entries).map(leaf).collect();
    assert_eq!(world.sequenced(tenant).await, expected);
    let hashes: Vec<TreeHash> = expected.iter().map(|entry| entry.leaf.hash).collect();
    assert_eq!(&hashes[..known.len()], known, "existing leaves stay");
    let (size, head) = (hashes.len() as u64, world.head(tenant).await);
    let frontier = Frontier::new(size, tree::peaks(&hashes)).unwrap();
    let note = head.note.clone();
    assert!(note.contains(&format!("{tenant}\n{size}\n{}\n\n", tree::root(&hashes))), "{note}");
    let removed = 0;
    assert_eq!(
        head,
        LogHead { tenant_id: tenant, frontier, note, leaves: size, removed, retention: Retention::default() }
    );
    assert_eq!(world.locked(tenant, async |locks| locks.log_head().await.unwrap()).await, Some(head));
    for SequencedEntry { leaf, .. } in expected {
        assert_eq!(world.store.sequence_of(tenant, leaf.entry_id).await.unwrap(), Some(leaf.sequence));
    }
    hashes
}

/// Fails unless spans of stored hashes are read back in the requested order, with missing hashes left out.
async fn assert_spans(world: &World, tenant: TenantId, leaves: &[TreeHash]) {
    let nodes: Vec<TreeHash> = tree::nodes(leaves).into_iter().map(|node| node.hash).collect();
    let size = leaves.len() as u64;
    let span = |level, positions| TreeSpan { level, positions };
    for (spans, expected) in [
        (vec![], vec![]),
        (vec![span(0, 0..size)], leaves.to_vec()),
        (vec![span(0, size - 2..size + 300)], leaves[leaves.len() - 2..].to_vec()),
        (vec![span(8, 0..2)], nodes.clone()),
        (vec![span(8, 1..9)], vec![nodes[1]]),
        (vec![span(16, 0..1), span(8, 2..3), span(0, 5..5), span(0, size..size + 1)], vec![]),
        (
            vec![span(0, 600..602), span(8, 1..2), span(16, 0..1), span(0, 0..2), span(8, 0..1), span(0, 1..2)],
            vec![leaves[600], leaves[601], nodes[1], leaves[0], leaves[1], nodes[0], leaves[1]],
        ),
    ] {
        assert_eq!(world.store.tree_hashes(tenant, &spans).await.unwrap(), expected, "{spans:?}");
    }
}

/// A [`SequencedBatch`] that does not continue the log from its size is refused.
pub async fn batches_of_another_size_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    world.record(world.new_entries(tenant.id, 4)).await;
    let pending = world.store.pending(&[], 100).await.unwrap();
    let first = tree::sequence(&[], &pending[..2]);
    let hashes: Vec<TreeHash> = first.leaves.iter().map(|leaf| leaf.hash).collect();
    assert_refused(&world, &[tree::sequence(&hashes, &pending[2..])], "the log is shorter").await;
    assert!(world.store.sequence(&[first]).await.unwrap());
    assert_refused(&world, &[tree::sequence(&[], &pending[2..])], "the log is longer").await;
    assert_refused(&world, &[tree::sequence(&hashes[..1], &pending[2..])], "the log is longer").await;
    assert!(world.store.sequence(&[tree::sequence(&hashes, &pending[2..])]).await.unwrap());
    assert_eq!(world.head(tenant.id).await.leaves, 5);
}

/// A [`SequencedBatch`] with an entry that is not pending is refused as a whole.
pub async fn batches_of_entries_that_are_not_pending_are_refused(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    world.record(world.new_entries(tenant.id, 4)).await;
    let pending = world.store.pending(&[], 100).await.unwrap();
    let (of_other, pending): (Vec<_>, Vec<_>) = pending.into_iter().partition(|entry| entry.tenant_id == other.id);
    let first = tree::sequence(&[], &pending[..2]);
    let hashes: Vec<TreeHash> = first.leaves.iter().map(|leaf| leaf.hash).collect();
    assert!(world.store.sequence(&[first]).await.unwrap());
    let sequenced = [&pending[2..], &pending[1..2]].concat();
    assert_refused(&world, &[tree::sequence(&hashes, &sequenced)], "it is already sequenced").await;
    let unknown = Pending { entry_id: world.id(), ..pending[3].clone() };
    assert_refused(&world, &[tree::sequence(&hashes, &[pending[2].clone(), unknown])], "it does not exist").await;
    let foreign = Pending { tenant_id: tenant.id, ..of_other[0].clone() };
    assert_refused(&world, &[tree::sequence(&hashes, &[pending[2].clone(), foreign])], "it is of another tenant").await;
}

/// If one of two logs cannot be continued, neither is.
pub async fn batches_of_several_logs_are_all_or_nothing(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (a, b) = (world.tenant("acme").await, world.tenant("other").await);
    for tenant in [&a, &b] {
        world.record(world.new_entries(tenant.id, 4)).await;
    }
    let pending = world.store.pending(&[], 100).await.unwrap();
    let of = |tenant: TenantId| pending.iter().filter(move |entry| entry.tenant_id == tenant).cloned();
    let (of_a, of_b): (Vec<_>, Vec<_>) = (of(a.id).collect(), of(b.id).collect());
    let firsts = [tree::sequence(&[], &of_a[..2]), tree::sequence(&[], &of_b[..2])];
    let hashes = |batch: &SequencedBatch| batch.leaves.iter().map(|leaf| leaf.hash).collect::<Vec<_>>();
    let (hashes_a, hashes_b) = (hashes(&firsts[0]), hashes(&firsts[1]));
    assert!(world.store.sequence(&firsts).await.unwrap());
    let right = || (tree::sequence(&hashes_a, &of_a[2..]), tree::sequence(&hashes_b, &of_b[2..]));
    for stale in [tree::sequence(&[], &of_b[2..]), tree::sequence(&hashes_b, &of_b[1..])] {
        assert_refused(&world, &[right().0, stale.clone()], "the second is stale").await;
        assert_refused(&world, &[stale, right().0], "the first is stale").await;
    }
    assert!(world.store.sequence(&[right().1, right().0]).await.unwrap());
    assert_eq!([world.head(a.id).await.leaves, world.head(b.id).await.leaves], [5, 5]);
}

/// Fails unless these are refused and nothing of them is written.
async fn assert_refused(world: &World, batches: &[SequencedBatch], why: &str) {
    let before = sequenced_and_pending(world).await;
    assert!(!world.store.sequence(batches).await.unwrap(), "{why}");
    assert_eq!(sequenced_and_pending(world).await, before, "{why}");
}

type SequencedAndPending = Vec<(Vec<LogHead>, Vec<SequencedEntry>, Vec<PendingEntry>)>;

async fn sequenced_and_pending(world: &World) -> SequencedAndPending {
    let mut found = Vec::new();
    for tenant in world.store.audited_tenants().await.unwrap() {
        let heads = world.store.log_heads(&[tenant]).await.unwrap();
        found.push((heads, world.sequenced(tenant).await, world.pending(tenant).await));
    }
    found
}

/// A log whose checkpoint was not written by the service is not continued. It does not stop other logs.
pub async fn a_tampered_log_is_not_continued(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let of_tenant = world.store.pending(&[other.id], 100).await.unwrap();
    assert!(world.store.sequence(&[tree::sequence(&[], &of_tenant)]).await.unwrap());
    world.record(world.new_entries(tenant.id, 2)).await;
    let (iam, head) = (world.iam().await, world.head(tenant.id).await);
    for pending in [1, 3] {
        let sequenced = iam.sequence_audit_logs().await.unwrap();
        assert_eq!((sequenced.entries, sequenced.broken), (pending, vec![tenant.id]));
        assert_eq!(world.pending(other.id).await, []);
        world.record(world.new_entries(other.id, 3)).await;
    }
    assert_eq!(world.head(tenant.id).await, head);
    assert_eq!(world.pending(tenant.id).await.len(), 2);
}

/// The continuation of a log keeps its retention and its removed entries, also if the retention was set before the
/// first entry was sequenced.
pub async fn sequencing_keeps_the_retention(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    let set = |before, after| set_retention(tenant.id, before, after);
    let retention = |days| Retention { days, pending: None };
    world.commit(tenant.id, set(None, Some(30))).await;
    let empty = LogHead { retention: retention(Some(30)), ..LogHead::empty(tenant.id) };
    assert_eq!(world.head(tenant.id).await, empty);
    world.sequence().await;
    let head = world.head(tenant.id).await;
    assert_eq!((head.leaves, head.frontier.size(), head.retention, head.removed), (2, 2, retention(Some(30)), 0));
    world.commit(tenant.id, world.give_up(tenant.id, 0..1).await).await;
    world.commit(tenant.id, set(Some(30), None)).await;
    world.sequence().await;
    let head = world.head(tenant.id).await;
    assert_eq!((head.leaves, head.frontier.size(), head.retention, head.removed), (4, 4, retention(None), 1));
}

/// The sequence number of an entry is known once the entry is sequenced, only in its own tenant.
pub async fn a_sequence_number_is_known_once_the_entry_is_sequenced(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let entries = world.new_entries(tenant.id, 3);
    world.record(entries.clone()).await;
    let sequence =
        async |tenant: TenantId, entry: &AuditEntry| world.store.sequence_of(tenant, entry.id).await.unwrap();
    assert_eq!(sequence(tenant.id, &entries[1]).await, None);
    world.sequence().await;
    assert_eq!(sequence(tenant.id, &entries[1]).await, Some(2));
    assert_eq!(sequence(other.id, &entries[1]).await, None);
    assert_eq!(sequence(tenant.id, &world.new_entry(tenant.id)).await, None);
}

/// Sequenced entries are read in pages by sequence number. Pending entries are read in pages by time and identifier.
pub async fn sequenced_and_pending_entries_are_read_in_pages(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await, world.tenant("other").await);
    let mut entries = Vec::new();
    for _ in 0..4 {
        world.tick();
        entries.extend(world.new_entries(tenant.id, 3));
    }
    // Not in the order in which pending entries are read.
    world.record(entries.iter().rev().cloned().collect()).await;
    world.record(world.new_entries(other.id, 5)).await;
    let mut expected = all(&world, tenant.id).await;
    expected.reverse();
    let expected: Vec<PendingEntry> = expected
        .into_iter()
        .map(|entry| PendingEntry { pending: pending(&entry), entry: Some(entry), is_sequenced: false })
        .collect();
    let (mut paged, mut after) = (Vec::new(), None);
    for length in [4, 4, 4, 1, 0] {
        let page = world.store.pending_entries(tenant.id, after, 4).await.unwrap();
        assert_eq!(page.len(), length);
        after = page.last().map(|entry| (entry.pending.created_at, entry.pending.entry_id));
        paged.extend(page);
    }
    assert_eq!(paged, expected);

    world.sequence().await;
    assert_eq!(world.pending(tenant.id).await, []);
    let sequenced = world.sequenced(tenant.id).await;
    assert_eq!(sequenced.len(), 13);
    for (from, limit) in [(0, 5), (5, 5), (10, 5), (12, 1), (13, 5), (1_000, 5), (u64::MAX, 5), (0, 0)] {
        let expected: Vec<_> = sequenced.iter().skip(usize::try_from(from).unwrap()).take(limit).cloned().collect();
        let limit = u32::try_from(limit).unwrap();
        assert_eq!(world.store.sequenced_entries(tenant.id, from, limit).await.unwrap(), expected, "{from} {limit}");
    }
}

/// A pending entry with the identifier of a sequenced entry of the same tenant is marked, and verification reports
/// it.
pub async fn a_pending_entry_that_has_a_leaf_is_reported(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (tenant, other) = (world.tenant("acme").await.id, world.tenant("other").await.id);
    let entry = world.new_entry(tenant);
    world.record(vec![entry.clone()]).await;
    world.sequence().await;
    world.tick();
    world.record(vec![AuditEntry { created_at: world.now(), ..entry.clone() }, world.new_entry(tenant)]).await;
    world.record(vec![AuditEntry { created_at: world.now(), tenant_id: other, ..entry.clone() }]).await;
    let is_sequenced = |pending: Vec<PendingEntry>| pending.iter().map(|entry| entry.is_sequenced).collect::<Vec<_>>();
    assert_eq!(is_sequenced(world.pending(tenant).await), [true, false]);
    assert_eq!(is_sequenced(world.pending(other).await), [false]);
    let caller = Caller::system(tenant, "conformance");
    let found = world.iam().await.audit().verify(&caller, &[]).await.unwrap().findings;
    assert_eq!(found, [Finding { what: Tampering::Inserted, sequence: None, entry: Some(entry.id) }]);
}

/// No entry that the service wrote is a stray entry, pending or sequenced.
pub async fn no_entry_of_the_service_is_stray(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tenant = world.tenant("acme").await;
    for _ in 0..3 {
        world.record(world.new_entries(tenant.id, 5)).await;
        assert_eq!(world.store.stray_entry(tenant.id).await.unwrap(), None);
        world.tick();
        world.sequence().await;
        assert_eq!(world.store.stray_entry(tenant.id).await.unwrap(), None);
    }
    assert_eq!(world.store.stray_entry(world.id()).await.unwrap(), None);
}

/// Tenants with a log are listed in the order of their identifiers, before and after their entries are sequenced.
/// [`TenantId::NONE`] is not listed.
pub async fn audited_tenants_are_listed_in_order(store: Arc<dyn Store>) {
    let world = World::new(store);
    assert_eq!(world.store.audited_tenants().await.unwrap(), []);
    let mut tenants = Vec::new();
    for slug in ["one", "two", "three"] {
        tenants.push(world.tenant(slug).await.id);
    }
    assert_eq!(world.store.audited_tenants().await.unwrap(), tenants);
    world.sequence().await;
    tenants.push(world.tenant("four").await.id);
    let anonymous = World::anonymous(TenantId::NONE, RequestContext::default());
    let mut work = world.begin(&anonymous).await;
    let (email, reason) = ("unknown@example.com".parse().unwrap(), LoginFailure::UnknownUser);
    work.apply(CredentialChange::Refuse { email, reason, attempt_count: 5 }).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(world.store.audited_tenants().await.unwrap(), tenants);
}
