use chrono::TimeDelta;

use super::change::AuditChange;
use super::{Audit, LogHead};
use crate::access::permission;
use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::iam::Iam;

/// The longest retention that can be set: a hundred years.
const MAX_DAYS: u32 = 36_500;

impl Audit<'_> {
    /// For how many days the tenant keeps its entries; `None` means forever. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn retention(&self, caller: &Caller) -> Result<Option<u32>> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(self.head(caller.tenant()).await?.retention_days)
    }

    /// Sets for how many days (1–36,500) the tenant keeps its entries, or that it keeps them forever. Nothing is
    /// removed before [`apply_retention`](Self::apply_retention). Needs `audit-logs:update` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming `retentionDays`.
    pub async fn set_retention(&self, caller: &Caller, days: Option<u32>) -> Result<()> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_UPDATE)?;
        if days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            return Err(Error::field("retentionDays", format!("must be from 1 to {MAX_DAYS}, or null")));
        }
        let tenant = caller.tenant();
        let mut work = self.0.begin(caller).await?;
        work.locks().lock_tenant().await?;
        let before = work.locks().log_head().await?.and_then(|head| head.retention_days);
        if before == days {
            return Ok(());
        }
        work.apply(AuditChange::SetRetention { tenant, before, after: days }).await?;
        work.commit().await
    }

    /// Removes the entries that are older than the tenant's retention, and records that; tells how many. Without a
    /// retention it does nothing. Needs `audit-logs:delete` tenant-wide.
    ///
    /// Entries go in the order of their sequence, up to the first that is young enough, and only sealed ones. Their
    /// leaves stay, so that everything else can still be proven.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn apply_retention(&self, caller: &Caller) -> Result<u64> {
        let removed = self.give_up(caller).await?;
        if removed > 0 {
            self.0.store.purge_audit_entries().await?;
        }
        Ok(removed)
    }

    /// Records what retention gives up. From then on it may go at any time.
    async fn give_up(&self, caller: &Caller) -> Result<u64> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_DELETE)?;
        let tenant = caller.tenant();
        let mut work = self.0.begin(caller).await?;
        work.locks().lock_tenant().await?;
        let head = work.locks().log_head().await?.unwrap_or_else(|| LogHead::empty(tenant));
        let Some(days) = head.retention_days else { return Ok(0) };
        let Some(before) = work.now().checked_sub_signed(TimeDelta::days(days.into())) else { return Ok(0) };
        let (from, sealed) = (head.removed, head.frontier.size());
        let until = work.locks().first_sealed_since(from, before).await?.unwrap_or(sealed);
        if until <= from {
            return Ok(0);
        }
        work.apply(AuditChange::give_up(&self.0.log_key, tenant, from..until, before)).await?;
        work.commit().await?;
        Ok(until - from)
    }
}

impl Iam {
    /// Applies the retention of every tenant that has one; tells how many entries were removed. For a job that runs
    /// now and then.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]; what was removed before stays so.
    pub async fn apply_audit_retention(&self) -> Result<u64> {
        let tenants = self.0.store.audited_tenants().await?;
        let mut heads = self.0.store.log_heads(&tenants).await?;
        heads.retain(|head| head.retention_days.is_some());
        let mut removed = 0;
        for LogHead { tenant_id, .. } in heads {
            removed += self.audit().give_up(&Caller::system(tenant_id, "audit retention")).await?;
        }
        // Once for all of them, and for what an earlier run that was interrupted has left.
        self.0.store.purge_audit_entries().await?;
        Ok(removed)
    }
}
