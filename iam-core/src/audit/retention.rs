use chrono::TimeDelta;

use super::change::AuditChange;
use super::{Audit, LogHead, PendingRetention, Retention};
use crate::access::permission;
use crate::caller::{Actor, Caller};
use crate::clock::Timestamp;
use crate::error::{Error, Forbidden, Result};
use crate::iam::Iam;

/// The longest retention that can be set: a hundred years.
const MAX_DAYS: u32 = 36_500;

/// The delay before a shorter retention takes effect: long enough for an auditor to see it in the log.
const DELAY: TimeDelta = TimeDelta::days(30);

impl Retention {
    /// Returns the retention after a request for `days`. A shorter retention takes effect later, any other at once.
    /// The request replaces a pending retention, unless it asks for the same number of days.
    fn requested(self, days: Option<u32>, now: Timestamp) -> Self {
        match (days, self.days) {
            (Some(days), current) if current.is_none_or(|current| days < current) => {
                let same = self.pending.filter(|pending| pending.days == days);
                Self { pending: same.or(Some(PendingRetention { days, from: now + DELAY })), ..self }
            }
            _ => Self { days, pending: None },
        }
    }

    /// Returns the retention with the pending one in effect.
    fn hastened(self) -> Self {
        Self { days: self.pending.map_or(self.days, |pending| Some(pending.days)), pending: None }
    }
}

impl Audit<'_> {
    /// Returns for how long the tenant keeps its entries. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn retention(&self, caller: &Caller) -> Result<Retention> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(self.head(caller.tenant()).await?.retention.settled(self.0.now()))
    }

    /// Sets for how many days (at most 36,500) the tenant keeps its entries, or that it keeps them forever. Returns
    /// the resulting retention. Removes nothing before [`apply_retention`](Self::apply_retention). Needs
    /// `audit-logs:update` tenant-wide.
    ///
    /// An administrator cannot shorten the retention of entries about itself at once: a retention that is shorter
    /// than the current one takes effect after 30 days.
    /// [`Settings::audit_min_retention`](crate::Settings::audit_min_retention) is the minimum.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] naming `retentionDays`.
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
        work.locks().lock_tenant().await?;
        let before = work.locks().log_head().await?.map(|head| head.retention).unwrap_or_default();
        let before = before.settled(work.now());
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
    /// leaves stay, so that all other entries can still be proven.
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

    /// Marks entries for removal, and records that. From then on they may be removed at any time.
    async fn give_up(&self, caller: &Caller) -> Result<u64> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_DELETE)?;
        let tenant = caller.tenant();
        let mut work = self.0.begin(caller).await?;
        work.locks().lock_tenant().await?;
        let head = work.locks().log_head().await?.unwrap_or_else(|| LogHead::empty(tenant));
        // The operator may have raised the minimum after the retention was set.
        let Some(days) = head.retention.days_at(work.now()) else { return Ok(0) };
        let days = days.max(self.0.settings.least_retention_days());
        let Some(before) = work.now().checked_sub_signed(TimeDelta::days(days.into())) else { return Ok(0) };
        let (from, sequenced) = (head.removed, head.frontier.size());
        let until = work.locks().first_sequenced_since(from, before).await?.unwrap_or(sequenced);
        if until <= from {
            return Ok(0);
        }
        work.apply(self.0.log_key.give_up(tenant, from..until, before)).await?;
        work.commit().await?;
        Ok(until - from)
    }
}

impl Iam {
    /// Applies the retention of every tenant that has one. Returns the number of removed entries. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]; removals before the error are not undone.
    pub async fn apply_audit_retention(&self) -> Result<u64> {
        let tenants = self.0.store.audited_tenants().await?;
        let mut heads = self.0.store.log_heads(&tenants).await?;
        heads.retain(|head| head.retention.days_at(self.0.now()).is_some());
        let mut removed = 0;
        for LogHead { tenant_id, .. } in heads {
            removed += self.audit().give_up(&Caller::system(tenant_id, "audit retention")).await?;
        }
        // Once for all tenants. This also removes the entries that an interrupted earlier run left.
        self.0.store.purge_audit_entries().await?;
        Ok(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock as _;
    use crate::clock::testing::FixedClock;

    #[test]
    fn a_shorter_retention_takes_effect_after_30_days_a_longer_one_at_once() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let later = now + TimeDelta::days(1);
        let lasting = |days| Retention { days, pending: None };
        let with = |days, pending, since: Timestamp| Retention {
            days,
            pending: Some(PendingRetention { days: pending, from: since + TimeDelta::days(30) }),
        };
        let rows = [
            (lasting(None), None, lasting(None)),
            (lasting(None), Some(90), with(None, 90, later)),
            (lasting(Some(90)), Some(90), lasting(Some(90))),
            (lasting(Some(90)), Some(91), lasting(Some(91))),
            (lasting(Some(90)), None, lasting(None)),
            (lasting(Some(90)), Some(89), with(Some(90), 89, later)),
            // The same request again does not postpone the pending retention, a different one starts a new delay, and
            // a request for the current retention cancels it.
            (with(Some(90), 60, now), Some(60), with(Some(90), 60, now)),
            (with(Some(90), 60, now), Some(61), with(Some(90), 61, later)),
            (with(Some(90), 60, now), Some(90), lasting(Some(90))),
            (with(Some(90), 60, now), None, lasting(None)),
        ];
        for (before, days, after) in rows {
            assert_eq!(before.requested(days, later), after, "{before:?} {days:?}");
        }
    }

    #[test]
    fn a_pending_retention_takes_effect_at_its_start_time() {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        let retention = Retention { days: Some(90), pending: Some(PendingRetention { days: 60, from: now }) };
        assert_eq!(retention.days_at(now - TimeDelta::milliseconds(1)), Some(90));
        assert_eq!(retention.days_at(now), Some(60));
        assert_eq!(retention.settled(now), Retention { days: Some(60), pending: None });
        assert_eq!(retention.hastened(), Retention { days: Some(60), pending: None });
        let lasting = Retention { days: None, pending: None };
        assert_eq!((lasting.hastened(), lasting.settled(now)), (lasting, lasting));
    }
}
