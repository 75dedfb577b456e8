//! Verifies a log page by page: recomputes it, compares it with kept checkpoints and stored hashes, and collects
//! excuses for missing data.

use std::collections::BTreeSet;
use std::ops::Range;

use iam_model::audit::{AuditEntry, Frontier, LogHead, PendingEntry, SequencedEntry, TreeHash, TreeNode};
use iam_model::id::{AuditEntryId, TenantId};

use crate::checkpoint::{Checkpoint, VerifierKey};
use crate::excuse::Excuse;
use crate::finding::{Finding, Tampering, Verification};

/// The maximum number of findings: an attacker who changed one entry may have changed all of them.
const FINDINGS: usize = 100;

/// The state of a verification: its position in the log, and the findings.
pub struct Verifier<'a> {
    tenant: TenantId,
    key: &'a VerifierKey,
    kept: Vec<Checkpoint>,
    frontier: Frontier,
    /// How many of the kept checkpoints have been compared.
    compared: usize,
    /// The size of the largest kept checkpoint that matches so far.
    held: u64,
    pending: u64,
    /// Runs of sequence numbers whose entries are missing, each with the identifier of its first entry.
    gone: Vec<(Range<u64>, AuditEntryId)>,
    /// Entries whose personal fields are erased, with their sequence numbers if they have one.
    erased_details: Vec<(AuditEntryId, Option<u64>)>,
    erased_origins: Vec<(AuditEntryId, Option<u64>)>,
    given_up_until: u64,
    excused_details: BTreeSet<AuditEntryId>,
    excused_origins: BTreeSet<AuditEntryId>,
    /// Whether a leaf is missing or cannot be read. The sequence numbers of all later entries are unknown then.
    is_broken_off: bool,
    /// The findings of the last pass over the queue. Each pass starts without findings, because entries that an
    /// earlier pass saw may be sequenced by then.
    pending_findings: Vec<Finding>,
    findings: Vec<Finding>,
}

impl<'a> Verifier<'a> {
    /// Begins to verify a tenant's log. `kept` are checkpoints that a client kept elsewhere, the smallest first.
    #[must_use]
    pub fn new(tenant: TenantId, kept: Vec<Checkpoint>, key: &'a VerifierKey) -> Self {
        Self {
            tenant,
            key,
            kept,
            frontier: Frontier::default(),
            compared: 0,
            held: 0,
            pending: 0,
            gone: Vec::new(),
            erased_details: Vec::new(),
            erased_origins: Vec::new(),
            given_up_until: 0,
            excused_details: BTreeSet::new(),
            excused_origins: BTreeSet::new(),
            is_broken_off: false,
            pending_findings: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The tenant whose log is verified.
    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    /// The number of entries that were read and recomputed.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// Whether a leaf is missing or cannot be read, so that no later entry can be verified.
    #[must_use]
    pub fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }

    /// Begins to read the pending entries, again from the first one.
    pub fn begin_pending(&mut self) {
        self.pending = 0;
        self.pending_findings.clear();
    }

    /// Adds a finding, up to the maximum. The log is read in the order of the sequence, so findings beyond the
    /// maximum are about later entries.
    pub fn find(&mut self, what: Tampering, sequence: Option<Range<u64>>, entry: Option<AuditEntryId>) {
        let finding = Finding { what, sequence, entry };
        if self.findings.len() < FINDINGS && !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn find_at(&mut self, what: Tampering, place: u64, entry: Option<AuditEntryId>) {
        self.find(what, Some(place..place + 1), entry);
    }

    /// Recomputes the leaves of a page. Returns the subtrees that they complete.
    pub fn read(&mut self, page: Vec<SequencedEntry>, is_unreadable: bool) -> Vec<TreeNode> {
        let mut nodes = Vec::new();
        let is_empty = page.is_empty();
        for SequencedEntry { leaf, entry } in page {
            let place = self.frontier.size();
            if leaf.sequence != place {
                self.break_off(Tampering::Removed);
                return nodes;
            }
            match &entry {
                None => self.note_gone(place, leaf.entry_id),
                Some(entry) if TreeHash::of_leaf(place, entry.digest()) == leaf.hash => self.note(entry, Some(place)),
                Some(_) => self.find_at(Tampering::Changed, place, Some(leaf.entry_id)),
            }
            nodes.extend(self.frontier.append(leaf.hash));
            self.compare_with_kept();
        }
        if is_unreadable {
            self.break_off(Tampering::Changed);
        } else if is_empty {
            self.break_off(Tampering::Removed);
        }
        nodes
    }

    fn break_off(&mut self, what: Tampering) {
        self.is_broken_off = true;
        self.find_at(what, self.frontier.size(), None);
    }

    fn note_gone(&mut self, place: u64, id: AuditEntryId) {
        match self.gone.last_mut() {
            Some((run, _)) if run.end == place => run.end += 1,
            _ => self.gone.push((place..place + 1, id)),
        }
    }

    /// Notes which parts of an unchanged entry are erased, and the gaps elsewhere that the entry excuses.
    fn note(&mut self, entry: &AuditEntry, place: Option<u64>) {
        if entry.salts.details.is_destroyed() {
            self.erased_details.push((entry.id, place));
        }
        if entry.salts.origin.is_destroyed() {
            self.erased_origins.push((entry.id, place));
        }
        match Excuse::of(entry, self.key) {
            Some(Excuse::GivenUp { until }) => self.given_up_until = self.given_up_until.max(until),
            Some(Excuse::Erased { details, origins }) => {
                self.excused_details.extend(details);
                self.excused_origins.extend(origins);
            }
            None => {}
        }
    }

    /// Returns the entries that a record names as erased but that were not erased when they were read.
    pub fn not_seen_erased(&self) -> BTreeSet<AuditEntryId> {
        let parts = [(&self.erased_details, &self.excused_details), (&self.erased_origins, &self.excused_origins)];
        let missed = parts.into_iter().flat_map(|(erased, excused)| {
            let seen: BTreeSet<AuditEntryId> = erased.iter().map(|(id, _)| *id).collect();
            excused.iter().copied().filter(move |id| !seen.contains(id))
        });
        missed.collect()
    }

    /// Returns whether an entry contains a part that a record names as erased.
    pub fn is_restored(&self, entry: &AuditEntry) -> bool {
        (self.excused_details.contains(&entry.id) && !entry.salts.details.is_destroyed())
            || (self.excused_origins.contains(&entry.id) && !entry.salts.origin.is_destroyed())
    }

    fn compare_with_kept(&mut self) {
        let size = self.frontier.size();
        // The checkpoints are sorted by size, and each is compared once.
        let reached = self.kept.iter().skip(self.compared).take_while(|kept| kept.size <= size);
        self.compared += reached.clone().count();
        let roots: Vec<TreeHash> = reached.filter(|kept| kept.size == size).map(|kept| kept.root).collect();
        if roots.iter().any(|root| *root != self.frontier.root()) {
            self.find(Tampering::NotAsKept, Some(self.held..size), None);
        } else if !roots.is_empty() {
            self.held = size;
        }
    }

    /// Compares the subtrees with those that the store holds.
    pub fn compare(&mut self, nodes: &[TreeNode], kept: &[TreeHash]) {
        for (number, node) in nodes.iter().enumerate() {
            if kept.get(number) != Some(&node.hash) {
                let leaves = (node.position << node.level)..((node.position + 1) << node.level);
                self.find(Tampering::Rewritten, Some(leaves), None);
                return;
            }
        }
    }

    /// Recomputes the digest of a pending entry.
    pub fn read_pending(&mut self, PendingEntry { pending, entry, is_sequenced }: PendingEntry) {
        self.pending += 1;
        match &entry {
            _ if is_sequenced => self.find_pending(Tampering::Inserted, Some(pending.entry_id)),
            None => self.find_pending(Tampering::Removed, Some(pending.entry_id)),
            Some(entry) if entry.digest() == pending.digest => self.note(entry, None),
            Some(entry) => self.find_pending(Tampering::Changed, Some(entry.id)),
        }
    }

    /// Adds a finding about a pending entry.
    pub fn find_pending(&mut self, what: Tampering, entry: Option<AuditEntryId>) {
        self.pending_findings.push(Finding { what, sequence: None, entry });
    }

    /// Whether nothing is missing without an excuse, and no pending entry is wrong.
    #[must_use]
    pub fn is_all_excused(&self, head: &LogHead) -> bool {
        self.unexcused(head).is_empty() && self.pending_findings.is_empty()
    }

    /// Returns the result, after everything has been read.
    pub fn finish(mut self, head: &LogHead, is_signed: bool, stray: Option<AuditEntryId>) -> Verification {
        let (size, root) = (self.frontier.size(), self.frontier.root());
        let kept = self.kept.last().map_or(0, |kept| kept.size);
        let mut findings = std::mem::take(&mut self.findings);
        findings.append(&mut self.pending_findings);
        let mut find = |what, sequence, entry| findings.push(Finding { what, sequence, entry });
        if !is_signed || head.frontier != self.frontier {
            find(Tampering::Head, Some(0..size), None);
        }
        if is_signed && head.frontier.size() > 0 && head.leaves > head.frontier.size() {
            find(Tampering::Inserted, Some(size..head.leaves), None);
        }
        if kept > size {
            find(Tampering::Shorter, Some(size..kept), None);
        }
        // If leaves are missing, entries with excuses may be missing, too.
        let is_complete = !self.is_broken_off && head.leaves == head.frontier.size() && kept <= size;
        let mut unexcused = self.unexcused(head);
        unexcused.extend(stray.map(|id| Finding { what: Tampering::Inserted, sequence: None, entry: Some(id) }));
        if is_complete {
            findings.append(&mut unexcused);
        }
        findings.sort_by_key(|finding| finding.rank(size));
        findings.append(&mut unexcused);
        findings.truncate(FINDINGS);
        let removed = self.gone.iter().map(|(run, _)| run.end - run.start).sum();
        Verification { sequenced: size, removed, pending: self.pending, root, findings }
    }

    /// Returns the findings about missing data without an excuse: the first missing entry of each run that retention
    /// did not remove; the entries that only the head marks for removal; and, for each part of the personal fields,
    /// the first entry that lost it without an erasure.
    fn unexcused(&self, head: &LogHead) -> Vec<Finding> {
        let given_up_until = self.given_up_until;
        let removed = self.gone.iter().filter(|(run, _)| run.end > given_up_until).map(|(run, id)| {
            let place = run.start.max(given_up_until);
            let entry = (place == run.start).then_some(*id);
            Finding { what: Tampering::Removed, sequence: Some(place..place + 1), entry }
        });
        let marked = given_up_until..head.removed;
        let marked =
            (!marked.is_empty()).then_some(Finding { what: Tampering::GivenUp, sequence: Some(marked), entry: None });
        let erased = [(&self.erased_details, &self.excused_details), (&self.erased_origins, &self.excused_origins)];
        let erased = erased.into_iter().filter_map(|(erased, excused)| {
            let (id, place) = erased.iter().find(|(id, _)| !excused.contains(id))?;
            let sequence = place.map(|place| place..place + 1);
            Some(Finding { what: Tampering::Erased, sequence, entry: Some(*id) })
        });
        removed.take(FINDINGS).chain(marked).chain(erased).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::testing::{self, log_key};
    use iam_model::audit::testing::entry as sample;
    use iam_model::audit::{Leaf, Pending};
    use iam_model::change::{AuditChange, ErasedDetails};

    fn tenant() -> TenantId {
        Uuid::from_u128(2).into()
    }

    fn id(number: u64) -> AuditEntryId {
        Uuid::from_u128(100 + u128::from(number)).into()
    }

    fn entry(number: u64) -> AuditEntry {
        AuditEntry { id: id(number), ..sample(json!({ "email": "ada@example.com", "number": number })) }
    }

    fn erased(number: u64) -> AuditEntry {
        let mut entry = entry(number);
        entry.erase_details();
        entry
    }

    /// The entry that a change of the log itself records.
    fn record(number: u64, change: &AuditChange) -> AuditEntry {
        AuditEntry { id: id(number), created_at: entry(number).created_at, ..testing::record(tenant(), change) }
    }

    fn give_up(number: u64, until: u64) -> AuditEntry {
        record(number, &log_key(7).give_up(tenant(), 0..until, entry(number).created_at))
    }

    fn erase(number: u64, entries: &[u64]) -> AuditEntry {
        let details = entries.iter().map(|number| ErasedDetails::of(entry(*number))).collect();
        let user = Uuid::from_u128(3).into();
        record(number, &log_key(7).erase(tenant(), user, details, Vec::new()))
    }

    /// A record with changed metadata. Only a superuser of the database can put it into the queue.
    fn forged(mut record: AuditEntry, name: &str, value: serde_json::Value) -> AuditEntry {
        record.metadata.insert(name.to_owned(), value);
        record
    }

    /// The data of a log in a store, for tests that tamper with it.
    #[derive(Clone)]
    struct Log {
        sequenced: Vec<SequencedEntry>,
        pending: Vec<PendingEntry>,
        head: LogHead,
        kept: Vec<Checkpoint>,
        is_signed: bool,
        stray: Option<AuditEntryId>,
    }

    impl Log {
        /// A log of these entries, with a kept checkpoint over all but the last two.
        fn of(entries: impl IntoIterator<Item = AuditEntry>) -> Self {
            let (mut frontiers, mut sequenced) = (vec![Frontier::default()], Vec::new());
            for (sequence, entry) in (0..).zip(entries) {
                let hash = TreeHash::of_leaf(sequence, entry.digest());
                let mut frontier = frontiers.last().cloned().unwrap();
                frontier.append(hash);
                frontiers.push(frontier);
                let leaf = Leaf { sequence, created_at: entry.created_at, entry_id: entry.id, hash };
                sequenced.push(SequencedEntry { leaf, entry: Some(entry) });
            }
            let kept = frontiers.iter().rev().skip(2).take(1).map(checkpoint).collect();
            let (frontier, leaves) = (frontiers.pop().unwrap(), sequenced.len() as u64);
            let head = LogHead { frontier, leaves, ..LogHead::empty(tenant()) };
            Self { sequenced, pending: Vec::new(), head, kept, is_signed: true, stray: None }
        }

        fn long(size: u64) -> Self {
            Self::of((0..size).map(entry))
        }

        /// Adds a pending entry.
        fn waiting(mut self, entry: AuditEntry) -> Self {
            let AuditEntry { tenant_id, created_at, id: entry_id, .. } = entry;
            let pending = Pending { tenant_id, created_at, entry_id, digest: entry.digest() };
            self.pending.push(PendingEntry { pending, entry: Some(entry), is_sequenced: false });
            self
        }

        /// Returns a copy that was changed by an attacker without the key.
        fn tampered(&self, tamper: impl FnOnce(&mut Self)) -> Self {
            let mut log = self.clone();
            tamper(&mut log);
            log
        }

        fn put(&mut self, place: usize, entry: Option<AuditEntry>) {
            self.sequenced[place].entry = entry;
        }

        fn verify(&self) -> Verification {
            let key = log_key(7);
            let mut verifier = Verifier::new(tenant(), self.kept.clone(), key.verifier());
            for page in self.sequenced.chunks(3) {
                if !verifier.is_broken_off {
                    verifier.read(page.to_vec(), false);
                }
            }
            self.pending.iter().cloned().for_each(|entry| verifier.read_pending(entry));
            verifier.finish(&self.head, self.is_signed, self.stray)
        }

        fn findings(&self) -> Vec<(Tampering, Option<Range<u64>>, Option<AuditEntryId>)> {
            self.verify().findings.into_iter().map(|finding| (finding.what, finding.sequence, finding.entry)).collect()
        }
    }

    fn checkpoint(frontier: &Frontier) -> Checkpoint {
        Checkpoint { origin: "iam/test".to_owned(), size: frontier.size(), root: frontier.root() }
    }

    #[test]
    fn an_unchanged_log_has_no_findings_at_any_size() {
        for size in 0..20 {
            let log = Log::long(size).waiting(entry(50)).waiting(entry(51));
            let verification = log.verify();
            assert_eq!(verification.findings, [], "{size}");
            assert_eq!((verification.sequenced, verification.removed, verification.pending), (size, 0, 2));
            assert_eq!(verification.root, log.head.frontier.root());
        }
    }

    #[test]
    fn a_changed_entry_is_found() {
        let log = Log::long(8).tampered(|log| log.put(5, Some(AuditEntry { user_id: None, ..entry(5) })));
        assert_eq!(log.findings(), [(Tampering::Changed, Some(5..6), Some(id(5)))]);
    }

    #[test]
    fn swapped_entries_are_found() {
        let log = Log::long(8).tampered(|log| {
            log.put(2, Some(entry(6)));
            log.put(6, Some(entry(2)));
        });
        let changed = |place, id| (Tampering::Changed, Some(place..place + 1), Some(id));
        assert_eq!(log.findings(), [changed(2, id(2)), changed(6, id(6))]);
    }

    #[test]
    fn a_missing_entry_is_found_unless_retention_removed_it() {
        let gone = |places: Range<usize>| Log::long(8).tampered(|log| places.for_each(|place| log.put(place, None)));
        assert_eq!(gone(2..4).findings(), [(Tampering::Removed, Some(2..3), Some(id(2)))]);
        assert_eq!(gone(0..4).waiting(give_up(50, 4)).findings(), []);
        assert_eq!(gone(0..4).waiting(give_up(50, 4)).verify().removed, 4);
        assert_eq!(gone(0..4).waiting(give_up(50, 5)).findings(), [], "not all of the marked entries are removed yet");
        assert_eq!(gone(0..4).waiting(give_up(50, 3)).findings(), [(Tampering::Removed, Some(3..4), None)]);
        let twice = gone(0..8).tampered(|log| log.put(4, Some(entry(4)))).waiting(give_up(50, 4));
        assert_eq!(twice.findings(), [(Tampering::Removed, Some(5..6), Some(id(5)))]);
    }

    #[test]
    fn entries_marked_for_removal_without_a_retention_are_found() {
        let log = Log::long(8).tampered(|log| log.head.removed = 4);
        assert_eq!(log.findings(), [(Tampering::GivenUp, Some(0..4), None)]);
        assert_eq!(log.clone().waiting(give_up(50, 3)).findings(), [(Tampering::GivenUp, Some(3..4), None)]);
        assert_eq!(log.clone().waiting(give_up(50, 4)).findings(), []);
        assert_eq!(log.clone().waiting(give_up(50, 5)).findings(), []);
        let purged = log.tampered(|log| log.put(1, None));
        let found = [(Tampering::Removed, Some(1..2), Some(id(1))), (Tampering::GivenUp, Some(0..4), None)];
        assert_eq!(purged.findings(), found);
        let cut_off = purged.tampered(|log| log.sequenced.truncate(4));
        assert_eq!(cut_off.findings()[2..], found, "the record may be among the entries that were cut off");
    }

    #[test]
    fn only_an_unchanged_record_of_the_service_is_an_excuse() {
        let of = |last| Log::of((0..7).map(entry).chain([last])).tampered(|log| log.put(0, None));
        assert_eq!(of(give_up(7, 1)).findings(), []);
        let forged = of(entry(7)).tampered(|log| log.put(7, Some(give_up(7, 1))));
        let removed = (Tampering::Removed, Some(0..1), Some(id(0)));
        assert_eq!(forged.findings(), [removed, (Tampering::Changed, Some(7..8), Some(id(7)))]);
        let event = AuditEntry { resource_type: "INVOICE".to_owned().into(), ..give_up(7, 1) };
        assert_eq!(of(event).findings(), [(Tampering::Removed, Some(0..1), Some(id(0)))]);
    }

    #[test]
    fn a_record_with_an_invalid_signature_excuses_nothing() {
        let log = Log::long(8).tampered(|log| {
            log.put(0, None);
            log.put(3, Some(erased(3)));
        });
        assert_eq!(log.clone().waiting(give_up(50, 1)).waiting(erase(51, &[3])).findings(), []);
        let found = [(Tampering::Removed, Some(0..1), Some(id(0))), (Tampering::Erased, Some(3..4), Some(id(3)))];
        let (given_up, erased) = (give_up(50, 0), erase(51, &[2]));
        let raised = forged(given_up.clone(), "until", json!(1));
        let named = forged(erased.clone(), "details", json!([id(3)]));
        assert_eq!(log.clone().waiting(raised).waiting(named).findings(), found);
        let unsigned = |record: AuditEntry| forged(record, "signature", json!(null));
        let unsigned = log.waiting(unsigned(give_up(50, 1))).waiting(unsigned(erase(51, &[3])));
        assert_eq!(unsigned.findings(), found);
    }

    #[test]
    fn missing_personal_fields_are_found_unless_an_erasure_removed_them() {
        let log = Log::long(8).tampered(|log| log.put(3, Some(erased(3))));
        let found = [(Tampering::Erased, Some(3..4), Some(id(3)))];
        assert_eq!(log.findings(), found);
        assert_eq!(log.clone().waiting(erase(50, &[2, 4])).findings(), found);
        assert_eq!(log.waiting(erase(50, &[2, 3])).findings(), []);
        let mut origin = entry(3);
        origin.erase_origin();
        let log = Log::long(8).tampered(|log| log.put(3, Some(origin)));
        assert_eq!(log.waiting(erase(50, &[3])).findings(), found, "the record is about the other part");
        let waiting = Log::long(8).waiting(entry(50)).tampered(|log| log.pending[0].entry = Some(erased(50)));
        assert_eq!(waiting.findings(), [(Tampering::Erased, None, Some(id(50)))]);
        assert_eq!(waiting.waiting(erase(51, &[50])).findings(), []);
    }

    #[test]
    fn entries_that_a_record_names_but_that_are_not_erased_are_listed() {
        let mut origin = entry(4);
        origin.erase_origin();
        let log = Log::long(8).tampered(|log| {
            log.put(2, None);
            log.put(3, Some(erased(3)));
            log.put(4, Some(origin.clone()));
        });
        let (key, log) = (log_key(7), log.waiting(erase(50, &[2, 3, 4, 5])));
        let mut verifier = Verifier::new(tenant(), Vec::new(), key.verifier());
        verifier.read(log.sequenced, false);
        log.pending.into_iter().for_each(|entry| verifier.read_pending(entry));
        assert_eq!(verifier.not_seen_erased(), BTreeSet::from([id(2), id(4), id(5)]));
        for (entry, is_restored) in [(entry(5), true), (origin, true), (erased(5), false), (entry(6), false)] {
            assert_eq!(verifier.is_restored(&entry), is_restored, "{}", entry.id);
        }
    }

    #[test]
    fn a_value_in_place_of_an_erased_one_is_found() {
        let mut forged = erased(3);
        forged.new_value = entry(4).new_value;
        let log = Log::long(8).tampered(|log| log.put(3, Some(forged))).waiting(erase(50, &[3]));
        assert_eq!(log.findings(), [(Tampering::Changed, Some(3..4), Some(id(3)))]);
    }

    #[test]
    fn a_changed_or_missing_pending_entry_is_found() {
        let log = Log::long(3).waiting(entry(50)).waiting(entry(51));
        let gone = log.tampered(|log| log.pending[1].entry = None);
        assert_eq!(gone.findings(), [(Tampering::Removed, None, Some(id(51)))]);
        let changed = AuditEntry { action: "OTHER".into(), ..entry(50) };
        let changed = log.tampered(|log| log.pending[0].entry = Some(changed));
        assert_eq!(changed.findings(), [(Tampering::Changed, None, Some(id(50)))]);
    }

    #[test]
    fn a_sequenced_entry_that_is_queued_again_is_found() {
        let log = Log::long(8).waiting(entry(5)).tampered(|log| log.pending[0].is_sequenced = true);
        assert_eq!(log.findings(), [(Tampering::Inserted, None, Some(id(5)))]);
        let of_another_time = log.tampered(|log| log.pending[0].entry = None);
        assert_eq!(of_another_time.findings(), log.findings());
    }

    #[test]
    fn verification_stops_at_a_missing_leaf() {
        for place in [0, 3, 5] {
            let log = Log::long(8).tampered(|log| drop(log.sequenced.remove(place as usize)));
            let found = log.findings();
            assert_eq!(found[0], (Tampering::Removed, Some(place..place + 1), None));
            let expected = [(Tampering::Head, Some(0..place), None), (Tampering::Shorter, Some(place..6), None)];
            assert!(expected.iter().all(|finding| found.contains(finding)), "{found:?}");
        }
        let key = log_key(7);
        let mut verifier = Verifier::new(tenant(), Vec::new(), key.verifier());
        verifier.read(Vec::new(), false);
        assert!(verifier.is_broken_off, "the page should not be empty");
    }

    #[test]
    fn findings_that_a_lost_record_may_excuse_come_last() {
        let log = Log::of((0..7).map(entry).chain([give_up(7, 2)])).tampered(|log| {
            log.put(0, None);
            log.put(1, None);
        });
        assert_eq!(log.findings(), []);
        let removed = |place| (Tampering::Removed, Some(place..place + 1));
        let cut_off = log.tampered(|log| log.sequenced.truncate(4));
        let gap = log.tampered(|log| drop(log.sequenced.remove(4)));
        for log in [cut_off, gap.clone(), gap.tampered(|log| log.stray = Some(id(4)))] {
            let log = log.tampered(|log| log.put(2, Some(entry(9))));
            let found: Vec<_> = log.findings().into_iter().map(|(what, places, _)| (what, places)).collect();
            let last = found.iter().rposition(|(what, _)| *what == Tampering::Head).unwrap() + 1;
            assert_eq!(found[0], (Tampering::Changed, Some(2..3)));
            assert!(!found[..last].contains(&removed(0)) && found[last..].contains(&removed(0)), "{found:?}");
        }
    }

    #[test]
    fn entries_rewritten_with_their_leaves_differ_from_a_kept_checkpoint() {
        let entries = |changed: u64| (0..8).map(move |number| entry(number + 10 * u64::from(number == changed)));
        let log = |changed: u64| Log { kept: Log::long(8).kept, ..Log::of(entries(changed)) };
        assert_eq!(log(3).findings(), [(Tampering::NotAsKept, Some(0..6), None)]);
        assert_eq!(log(6).findings(), [], "the changed entry is newer than the kept checkpoint");
        let earlier = Log::long(5).kept.remove(0);
        let kept = |changed| log(changed).tampered(|log| log.kept.insert(0, earlier.clone()));
        assert_eq!(kept(4).findings(), [(Tampering::NotAsKept, Some(3..6), None)]);
        let head = Log { head: Log::long(8).head, ..log(6) };
        assert_eq!(head.findings(), [(Tampering::Head, Some(0..8), None)]);
    }

    #[test]
    fn a_truncated_log_is_shorter_than_a_kept_checkpoint() {
        let log = Log { kept: Log::long(8).kept, ..Log::long(4) };
        assert_eq!(log.findings(), [(Tampering::Shorter, Some(4..6), None)]);
        let nothing = Log { kept: Log::long(8).kept, ..Log::long(0) };
        assert_eq!(nothing.findings(), [(Tampering::Shorter, Some(0..6), None)]);
    }

    #[test]
    fn an_unsigned_head_is_found() {
        let log = Log { is_signed: false, ..Log::long(4) };
        assert_eq!(log.findings(), [(Tampering::Head, Some(0..4), None)]);
    }

    #[test]
    fn an_inserted_entry_or_leaf_is_found() {
        let log = Log { stray: Some(id(77)), ..Log::long(4) };
        assert_eq!(log.findings(), [(Tampering::Inserted, None, Some(id(77)))]);
        let log = Log::long(4).tampered(|log| log.head.leaves = 6);
        assert_eq!(log.findings(), [(Tampering::Inserted, Some(4..6), None)]);
    }

    #[test]
    fn subtrees_that_do_not_match_the_leaves_are_found() {
        let key = log_key(7);
        let mut verifier = Verifier::new(tenant(), Vec::new(), key.verifier());
        let nodes = verifier.read(Log::long(600).sequenced, false);
        let kept: Vec<TreeHash> = nodes.iter().map(|node| node.hash).collect();
        assert_eq!(kept.len(), 2);
        verifier.compare(&nodes, &kept);
        assert_eq!(verifier.findings, []);
        for (kept, places) in [(vec![kept[0]], 256..512), (vec![kept[1], kept[1]], 0..256), (Vec::new(), 0..256)] {
            verifier.findings.clear();
            verifier.compare(&nodes, &kept);
            assert_eq!(
                verifier.findings,
                [Finding { what: Tampering::Rewritten, sequence: Some(places), entry: None }]
            );
        }
    }

    #[test]
    fn single_entries_come_first_and_there_are_at_most_100_findings() {
        let log = Log::long(300).tampered(|log| {
            (0..300).rev().step_by(2).for_each(|place| log.put(place, Some(entry(1_000))));
            log.put(40, None);
            log.is_signed = false;
        });
        assert_eq!(log.findings().len(), FINDINGS);
        let removed = log.tampered(|log| log.put(20, None)).findings().swap_remove(10);
        assert_eq!(removed, (Tampering::Removed, Some(20..21), Some(id(20))), "later findings do not displace it");
        let few = Log::long(8).tampered(|log| {
            log.put(5, Some(entry(1_000)));
            log.put(6, None);
            log.is_signed = false;
        });
        let what: Vec<Tampering> = few.findings().into_iter().map(|(what, ..)| what).collect();
        assert_eq!(what, [Tampering::Changed, Tampering::Removed, Tampering::Head]);
        assert_eq!(few.findings()[1].1, Some(6..7));
    }
}
