use chrono::TimeDelta;
use iam_model::audit::{LogHead, Retention};
use iam_model::change::AuditChange;
use iam_model::clock::Timestamp;
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::TenantId;
use iam_model::permission;

use crate::audit::Audit;
use crate::caller::Caller;
use crate::iam::Iam;

/// The longest retention that can be set: a hundred years.
const MAX_DAYS: u32 = 36_500;

impl Audit<'_> {
    /// Returns for how long the tenant keeps its entries. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn retention(&self, caller: &Caller) -> Result<Retention> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(self.0.log_head(caller.tenant()).await?.retention.effective_at(self.0.now()))
    }

    /// Sets for how many days (at most 36,500) the tenant keeps its entries, or that it keeps them forever. Returns
    /// the resulting retention. Removes nothing before [`apply_retention`](Self::apply_retention). Needs
    /// `audit-logs:update` tenant-wide.
    ///
    /// An administrator cannot shorten the retention of entries about itself at once: a retention that is shorter
    /// than the current one takes effect after 30 days.
    /// [`Settings::audit_min_retention`](crate::settings::Settings::audit_min_retention) is the minimum. Needs
    /// a session that has authenticated within the last ten minutes.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], also for a caller by an API key, [`Error::Validation`] naming `retentionDays`,
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh).
    pub async fn set_retention(&self, caller: &Caller, days: Option<u32>) -> Result<Retention> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_UPDATE)?;
        let least = self.0.settings.least_retention_days();
        if days.is_some_and(|days| !(least..=MAX_DAYS).contains(&days)) {
            return Err(Error::field("retentionDays", format!("must be from {least} to {MAX_DAYS}, or null")));
        }
        self.change_retention(caller, |retention, now| retention.requested(days, now)).await
    }

    /// Puts a pending retention into effect at once. Returns the resulting retention. For trusted code only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`] for a user.
    pub async fn hasten_retention(&self, caller: &Caller) -> Result<Retention> {
        if !matches!(caller.actor(), Actor::System { .. }) {
            return Err(Forbidden::NotTrusted.into());
        }
        self.change_retention(caller, |retention, _| retention.hastened()).await
    }

    async fn change_retention(
        &self,
        caller: &Caller,
        change: impl FnOnce(Retention, Timestamp) -> Retention + Send,
    ) -> Result<Retention> {
        let tenant = caller.tenant();
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?;
        work.require_fresh().await?;
        let before = work.reads().log_head().await?.map(|head| head.retention).unwrap_or_default();
        let before = before.effective_at(work.now());
        let after = change(before, work.now());
        if after != before {
            work.apply(AuditChange::SetRetention { tenant, before, after }).await?;
            work.commit().await?;
        }
        Ok(after)
    }

    /// Removes the entries that are older than the tenant's retention, and records the removal. Returns the number of
    /// removed entries. Does nothing without a retention. Needs `audit-logs:delete` tenant-wide.
    ///
    /// Removes only sequenced entries, in the order of the sequence, up to the first entry that is not too old. Their
    /// leaves stay, so that all other entries can still be proven. Needs a session that has authenticated within the last
    /// ten minutes.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], also for a caller by an API key, [`Conflict::LegalHold`] if there is something to remove,
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh).
    pub async fn apply_retention(&self, caller: &Caller) -> Result<u64> {
        let removed = self.give_up(caller).await?;
        if removed > 0 {
            self.0.store.purge_audit_entries().await?;
        }
        Ok(removed)
    }

    /// Marks entries for removal, and records that. From then on they may be removed at any time.
    async fn give_up(&self, caller: &Caller) -> Result<u64> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_DELETE)?;
        let tenant = caller.tenant();
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?;
        work.require_fresh().await?;
        let head = work.reads().log_head().await?.unwrap_or_else(|| LogHead::empty(tenant));
        // The operator may have raised the minimum after the retention was set.
        let Some(days) = head.retention.days_at(work.now()) else { return Ok(0) };
        let days = days.max(self.0.settings.least_retention_days());
        let Some(before) = work.now().checked_sub_signed(TimeDelta::days(days.into())) else { return Ok(0) };
        let (from, sequenced) = (head.removed, head.frontier.size());
        let until = work.reads().first_sequenced_since(from, before).await?.unwrap_or(sequenced);
        if until <= from {
            return Ok(0);
        }
        work.apply(self.0.keys.log.give_up(tenant, from..until, before)).await?;
        work.commit().await?;
        Ok(until - from)
    }
}

impl Iam {
    /// Applies the retention of every tenant that has one, and no legal hold. Returns the number of removed entries. For
    /// a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]; removals before the error are not undone.
    pub async fn apply_audit_retention(&self) -> Result<u64> {
        self.apply_audit_retention_watched(|_| {}).await
    }

    /// Does the same as [`apply_audit_retention`](Self::apply_audit_retention), and tells `held` each tenant whose old
    /// entries stay because of a legal hold.
    ///
    /// # Errors
    ///
    /// The same as [`apply_audit_retention`](Self::apply_audit_retention).
    pub async fn apply_audit_retention_watched(&self, mut held: impl FnMut(TenantId) + Send) -> Result<u64> {
        let tenants = self.0.store.audited_tenants().await?;
        let mut heads = self.0.store.log_heads(&tenants).await?;
        heads.retain(|head| head.retention.days_at(self.0.now()).is_some());
        let mut removed = 0;
        for LogHead { tenant_id, .. } in heads {
            match self.audit().give_up(&Caller::system(tenant_id, "audit retention")).await {
                Ok(count) => removed += count,
                // The hold of one tenant must not stop the others.
                Err(Error::Conflict(Conflict::LegalHold(_))) => held(tenant_id),
                Err(error) => return Err(error),
            }
        }
        // Once for all tenants. This also removes the entries that an interrupted earlier run left.
        self.0.store.purge_audit_entries().await?;
        Ok(removed)
    }
}
