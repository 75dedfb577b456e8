//! Helpers that fill, sequence, read and verify audit logs.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use aws_lc_rs::signature::Ed25519KeyPair;
use iam_audit_proof::{LogKey, Verification};
use iam_core::credential::HashingCost;
use iam_core::{Caller, Iam, Settings};
use iam_model::audit::{
    AuditEntry, AuditFilter, LogHead, NewEvent, Pending, PendingEntry, Salt, Salts, SequencedEntry,
};
use iam_model::change::{AuditBatch, AuditChange, ErasedDetails, ErasedOrigin};
use iam_model::clock::Timestamp;
use iam_model::context::{RequestContext, UserAgent};
use iam_model::id::{AuditEntryId, TenantId, UserId};
use iam_model::random::SystemRandom;
use iam_model::signing_key::{KeyPurpose, PrivateKey};
use serde_json::{Map, Value};

use crate::world::World;

impl World {
    /// Builds the services over the same store, with the same clock.
    pub async fn iam(&self) -> Iam {
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let settings = {
            let mut settings = Settings::default();
            settings.hashing_cost = hashing_cost;
            settings
        };
        Iam::builder(Arc::clone(&self.store)).settings(settings).clock(self.clock.clone()).build().await.unwrap()
    }

    /// An entry that is not in the store yet.
    #[must_use]
    pub fn new_entry(&self, tenant: TenantId) -> AuditEntry {
        AuditEntry {
            id: self.id(),
            tenant_id: tenant,
            action: "SENT".into(),
            resource_type: "INVOICE".to_owned().into(),
            resource_id: Some("2026-0017".to_owned()),
            organization_id: None,
            user_id: None,
            old_value: None,
            new_value: None,
            metadata: Map::new(),
            context: RequestContext::default(),
            created_at: self.now(),
            salts: Salts { details: Salt::draw(&SystemRandom), origin: Salt::draw(&SystemRandom) },
        }
    }

    /// Entries that are not in the store yet.
    #[must_use]
    pub fn new_entries(&self, tenant: TenantId, count: usize) -> Vec<AuditEntry> {
        (0..count).map(|_| self.new_entry(tenant)).collect()
    }

    /// Commits entries of one tenant without any change.
    pub async fn record(&self, entries: Vec<AuditEntry>) {
        let event = NewEvent { action: "SENT".to_owned(), resource_type: "INVOICE".to_owned(), ..NewEvent::default() };
        let change = AuditChange::Log(event.validate().unwrap());
        let mut transaction = self.store.begin(entries[0].tenant_id).await.unwrap();
        transaction.write(&change.into(), AuditBatch::of_entries(entries)).await.unwrap();
        transaction.commit().await.unwrap();
    }

    /// The key that signs the logs of this store.
    async fn log_key(&self) -> LogKey {
        // The services make the key when they start.
        self.iam().await;
        let keys = self.store.signing_keys(KeyPurpose::Checkpoints).await.unwrap();
        let PrivateKey::Plain(seed) = &keys[0].private else { panic!("the key is not plain") };
        LogKey::new(Ed25519KeyPair::from_seed_unchecked(seed).unwrap(), keys[0].id)
    }

    /// The change by which the service marks a range of sequence numbers for removal by retention.
    pub async fn give_up(&self, tenant: TenantId, sequences: Range<u64>) -> AuditChange {
        self.log_key().await.give_up(tenant, sequences, self.now())
    }

    /// The change by which retention marks no entry, but removes the rows that ended before a moment.
    pub async fn give_up_before(&self, tenant: TenantId, before: Timestamp) -> AuditChange {
        self.log_key().await.give_up(tenant, 0..0, before)
    }

    /// The change by which the service erases the personal data of a user.
    pub async fn erase(
        &self,
        tenant: TenantId,
        user: UserId,
        details: Vec<ErasedDetails>,
        origins: Vec<ErasedOrigin>,
    ) -> AuditChange {
        self.log_key().await.erase(tenant, user, details, origins)
    }

    /// Sequences entries until none is pending. No other task may sequence at the same time.
    pub async fn sequence(&self) {
        let iam = self.iam().await;
        let mut pending = self.store.pending(&[], 100_000).await.unwrap().len();
        while pending > 0 {
            let sequenced = iam.sequence_audit_logs().await.unwrap();
            assert!((1..=pending).contains(&sequenced.entries) && sequenced.broken.is_empty(), "{sequenced:?}");
            pending -= sequenced.entries;
        }
        assert_eq!(self.store.pending(&[], 1).await.unwrap(), []);
    }

    /// The head of a log. The log must have a sequenced entry or a retention.
    pub async fn head(&self, tenant: TenantId) -> LogHead {
        self.store.log_heads(&[tenant]).await.unwrap().remove(0)
    }

    /// The sequenced entries of a log.
    pub async fn sequenced(&self, tenant: TenantId) -> Vec<SequencedEntry> {
        self.store.sequenced_entries(tenant, 0, 10_000).await.unwrap()
    }

    /// The pending entries of a log.
    pub async fn pending(&self, tenant: TenantId) -> Vec<PendingEntry> {
        self.store.pending_entries(tenant, None, 10_000).await.unwrap()
    }

    /// Fails if the verification of a log has findings.
    pub async fn assert_clean(&self, tenant: TenantId, kept: &[String]) -> Verification {
        let iam = self.iam().await;
        let verification = iam.audit().verify(&Caller::system(tenant, "conformance"), kept).await.unwrap();
        assert_eq!(verification.findings, []);
        verification
    }

    /// Fails unless every entry of a log is sequenced once, in one sequence without gaps, and the verification has no
    /// findings.
    pub(super) async fn assert_sequenced(&self, tenant: TenantId) {
        let sequenced = self.sequenced(tenant).await;
        let sequences: Vec<u64> = sequenced.iter().map(|entry| entry.leaf.sequence).collect();
        assert!(sequences.iter().copied().eq(0..sequenced.len() as u64), "{sequences:?}");
        let ids: BTreeSet<AuditEntryId> = sequenced.iter().map(|entry| entry.leaf.entry_id).collect();
        assert_eq!(ids.len(), sequenced.len(), "an entry is sequenced twice");
        let entries = all(self, tenant).await;
        assert!(entries.iter().all(|entry| ids.contains(&entry.id)), "an entry is not sequenced");
        assert_eq!(self.pending(tenant).await, []);
        let verification = self.assert_clean(tenant, &[]).await;
        assert_eq!(verification.sequenced, verification.removed + entries.len() as u64);
    }
}

/// All entries of a log, newest first.
pub(super) async fn all(world: &World, tenant: TenantId) -> Vec<AuditEntry> {
    world.store.audit_entries(tenant, &AuditFilter::default(), None, 10_000).await.unwrap()
}

/// The row of an entry in the queue of pending entries.
pub(super) fn pending(entry: &AuditEntry) -> Pending {
    let AuditEntry { tenant_id, created_at, id: entry_id, .. } = *entry;
    Pending { tenant_id, created_at, entry_id, digest: entry.digest() }
}

/// The key by which pending entries are ordered.
pub(super) fn queue_order(entry: &AuditEntry) -> (Timestamp, AuditEntryId) {
    (entry.created_at, entry.id)
}

/// The fields of a JSON object.
pub(super) fn fields(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// A request context with every field set.
pub(super) fn request(address: &str) -> RequestContext {
    RequestContext {
        correlation_id: Some("corr-1".parse().unwrap()),
        ip_address: Some(address.parse().unwrap()),
        user_agent: Some(UserAgent::new("conformance/1.0")),
    }
}
