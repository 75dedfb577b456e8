//! Forwards the audit logs to another system, which must receive every entry. A hook of
//! [`after_commit`](iam_core::Builder::after_commit) is simpler, but it misses entries if the process crashes after a
//! commit.

use iam_core::audit::AuditEntry;
use iam_core::{Store, TenantId};

use crate::Result;
use crate::billing::Billing;

const BATCH: u32 = 100;

/// Delivers every new entry to the other system, and stores the new position after that. So a crash can deliver some
/// entries twice: the other system ignores an entry if it already has its [`id`](AuditEntry::id).
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
    // In the order of the sequence numbers, and not by time: an entry that is committed late can have an earlier time
    // than an entry that was forwarded before, but it gets a later sequence number.
    let sequenced = store.sequenced_entries(tenant, billing.position(tenant).await?, BATCH).await?;
    let Some(last) = sequenced.last() else { return Ok(false) };
    // An entry that the retention has removed is missing, but its sequence number stays.
    for entry in sequenced.iter().filter_map(|sequenced| sequenced.entry.as_ref()) {
        deliver(entry).await?;
    }
    billing.move_to(tenant, last.leaf.sequence + 1).await?;
    Ok(true)
}
