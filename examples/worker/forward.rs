//! Forwards the audit logs to another system, which must receive every entry. A hook of
//! [`after_commit`](iam_core::Builder::after_commit) is simpler, but it misses entries if the process crashes after a
//! commit.

use std::time::Duration;

use iam_core::audit::AuditEntry;
use iam_core::{Caller, Error, Iam, TenantId};

use crate::Result;
use crate::billing::Billing;

const BATCH: u32 = 100;

/// Delivers every new entry to the other system, and stores the new position after that. So a crash can deliver some
/// entries twice: the other system ignores an entry if it already has its [`id`](AuditEntry::id).
pub(crate) async fn forward(
    iam: &Iam,
    billing: &Billing,
    deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>,
) -> Result<()> {
    for tenant in iam.audited_tenants().await? {
        while forward_batch(iam, billing, tenant, deliver).await? {}
    }
    Ok(())
}

async fn forward_batch(
    iam: &Iam,
    billing: &Billing,
    tenant: TenantId,
    deliver: &mut impl AsyncFnMut(&AuditEntry) -> Result<()>,
) -> Result<bool> {
    let caller = Caller::system(tenant, "forward the log");
    let position = billing.position(tenant).await?;
    // The worker runs in rounds, and does not wait. A worker for one tenant would call `next`.
    let page = match iam.audit().follow(&caller, Some(position), BATCH).next_within(Duration::ZERO).await {
        Err(Error::EventsRemoved { first }) => {
            tracing::warn!(%tenant, "retention has removed entries that were not forwarded");
            billing.move_to(tenant, first - 1).await?;
            return Ok(true);
        }
        page => page?,
    };
    for event in &page.events {
        deliver(&event.entry).await?;
    }
    billing.move_to(tenant, page.next).await?;
    Ok(!page.events.is_empty())
}
