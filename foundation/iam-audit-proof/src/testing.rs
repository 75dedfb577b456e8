use aws_lc_rs::signature::Ed25519KeyPair;
use iam_model::audit::AuditEntry;
use iam_model::audit::testing::{author, entry};
use iam_model::change::{AuditBatch, AuditChange, Change};
use iam_model::id::{IdGenerator, TenantId};
use iam_model::random::SystemRandom;
use uuid::Uuid;

use crate::LogKey;

/// The key of an installation. Each seed gives a different key with the same name.
pub(crate) fn log_key(seed: u8) -> LogKey {
    LogKey::new(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap(), Uuid::from_u128(9).into())
}

/// The entry that records a change of a tenant's log.
pub(crate) fn record(tenant: TenantId, change: &AuditChange) -> AuditEntry {
    let now = entry(serde_json::json!({})).created_at;
    let change = Change::Audit(change.clone());
    let ids = IdGenerator::new();
    // Only a tenant with an identifier of version 7 has a log.
    let author = author(ids.next(now, &SystemRandom));
    let entry = AuditBatch::of(&change, &author, now, &ids, &SystemRandom).into_entries().remove(0);
    AuditEntry { tenant_id: tenant, ..entry }
}
