//! Forwards the audit logs to another system, which must not miss anything: the counterpart of
//! [`after_commit`](iam_core::Builder::after_commit), which a crash can keep from hearing what was committed.

use iam_core::audit::AuditEntry;
use iam_core::{Store, TenantId};

use crate::Result;
use crate::billing::Billing;

const BATCH: u32 = 100;

/// Hands every entry that is new to another system. The position moves on afterwards, so that after a crash some come
/// again: whoever receives them drops an [`id`](AuditEntry::id) that it has.
pub(crate) async fn forward(
    store: &dyn Store,
    billing: &Billing,
    deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>,
) -> Result<()> {
    for tenant in store.audited_tenants().await? {
        while forward_batch(store, billing, tenant, deliver).await? {}
    }
    Ok(())
}

async fn forward_batch(
    store: &dyn Store,
    billing: &Billing,
    tenant: TenantId,
    deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>,
) -> Result<bool> {
    // By the sequence in which the log is sealed and not by time: what is committed late gets a later place in the sequence,
    // but an earlier time than some that was read before.
    let sealed = store.sealed_entries(tenant, billing.position(tenant).await?, BATCH).await?;
    let Some(last) = sealed.last() else { return Ok(false) };
    // What retention has removed is gone, but has its place still.
    for entry in sealed.iter().filter_map(|sealed| sealed.entry.as_ref()) {
        deliver(entry).await?;
    }
    billing.move_to(tenant, last.leaf.sequence + 1).await?;
    Ok(true)
}
