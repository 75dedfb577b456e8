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

/// How long a shorter retention has to wait until it counts: long enough for an auditor to see it on record.
const DELAY: TimeDelta = TimeDelta::days(30);

impl Retention {
    /// What becomes of it when this is asked for: less counts later, everything else at once. Whatever is asked for takes
    /// the place of a pending one, unless it is the same.
    fn asked(self, days: Option<u32>, now: Timestamp) -> Self {
        match (days, self.days) {
            (Some(days), current) if current.is_none_or(|current| days < current) => {
                let same = self.pending.filter(|pending| pending.days == days);
                Self { pending: same.or(Some(PendingRetention { days, from: now + DELAY })), ..self }
            }
            _ => Self { days, pending: None },
        }
    }

    fn hastened(self) -> Self {
        Self { days: self.pending.map_or(self.days, |pending| Some(pending.days)), pending: None }
    }
}

impl Audit<'_> {
    /// For how long the tenant keeps its entries. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn retention(&self, caller: &Caller) -> Result<Retention> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(self.head(caller.tenant()).await?.retention.settled(self.0.now()))
    }

    /// Sets for how many days (at most 36,500) the tenant keeps its entries, or that it keeps them forever; gives what
    /// counts then. Nothing is removed before [`apply_retention`](Self::apply_retention). Needs `audit-logs:update`
    /// tenant-wide.
    ///
    /// Nobody shortens at once what is on record about themselves: a retention that is shorter than the one that counts
    /// takes its place after 30 days. [`Settings::audit_min_retention`](crate::Settings::audit_min_retention) is the least.
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
        self.change_retention(caller, |retention, now| retention.asked(days, now)).await
    }

    /// Lets a retention that is to count later count at once; gives what counts then. For trusted code alone.
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
        // The operator may have raised the least since it was set.
        let Some(days) = head.retention.days_at(work.now()) else { return Ok(0) };
        let days = days.max(self.0.settings.least_retention_days());
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
        heads.retain(|head| head.retention.days_at(self.0.now()).is_some());
        let mut removed = 0;
        for LogHead { tenant_id, .. } in heads {
            removed += self.audit().give_up(&Caller::system(tenant_id, "audit retention")).await?;
        }
        // Once for all of them, and for what an earlier run that was interrupted has left.
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
    fn less_counts_after_thirty_days_and_more_at_once() {
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
            // The same again does not put it off, another one counts from now, and the current one takes it back.
            (with(Some(90), 60, now), Some(60), with(Some(90), 60, now)),
            (with(Some(90), 60, now), Some(61), with(Some(90), 61, later)),
            (with(Some(90), 60, now), Some(90), lasting(Some(90))),
            (with(Some(90), 60, now), None, lasting(None)),
        ];
        for (before, asked, after) in rows {
            assert_eq!(before.asked(asked, later), after, "{before:?} {asked:?}");
        }
    }

    #[test]
    fn a_pending_retention_counts_from_its_instant_on() {
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
