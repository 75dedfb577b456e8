use std::collections::BTreeMap;

use chrono::{Days, NaiveTime};
use iam_model::audit::{
    ACTIONS, AuditEntry, AuditFilter, AuditPage, CATALOGUE, Cursor, Export, NewEvent, RESOURCE_TYPES, Recorded,
    ResourceType,
};
use iam_model::change::AuditChange;
use iam_model::clock::{Day, week_of};
use iam_model::error::{Error, Result};
use iam_model::page::check_limit;
use iam_model::permission;
use iam_model::validate::Fields;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::iam::Iam;
use crate::idempotency::Idempotency;

/// Reads the audit log, adds entries to it, and proves its content; see [`Iam::audit`](crate::iam::Iam::audit).
///
/// The log contains every change that is made through a service, with the values before and after. An application
/// adds its own events.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::audit::{AuditFilter, NewEvent};
///
/// let resource_id = Some("2026-0017".into());
/// let event = NewEvent { action: "SENT".into(), resource_type: "INVOICE".into(), resource_id, ..NewEvent::default() };
/// iam.audit().log(&ada, event).await?;
///
/// let filter = AuditFilter { resource_type: Some("INVOICE".into()), ..AuditFilter::default() };
/// let page = iam.audit().list(&ada, filter, None, 10).await?;
/// assert_eq!(page.entries[0].user_id, ada.user());
/// assert_eq!(page.next, None); // or where the next page begins
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Audit<'a>(pub(crate) &'a Engine);

impl Audit<'_> {
    /// Records an event of the application (`docs/audit.md#events-of-an-application`). Needs `audit-logs:create`
    /// tenant-wide.
    ///
    /// ```
    /// use iam_core::{Caller, Iam, TenantId};
    /// use iam_core::audit::NewEvent;
    ///
    /// async fn invoice_sent(iam: &Iam, tenant: TenantId, number: &str) -> iam_core::Result<()> {
    ///     let event = NewEvent {
    ///         action: "SENT".to_owned(),
    ///         resource_type: "INVOICE".to_owned(),
    ///         resource_id: Some(number.to_owned()),
    ///         ..NewEvent::default()
    ///     };
    ///     iam.audit().log(&Caller::system(tenant, "billing"), event).await?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Validation`] naming every invalid field, and `action` for an action that the
    /// service itself records.
    pub async fn log(&self, caller: &Caller, event: NewEvent) -> Result<AuditEntry> {
        self.log_once(caller, event, None).await
    }

    /// Records an event as [`log`](Self::log) does, at most once for an [idempotency key](crate::idempotency). `None`
    /// is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`log`](Self::log), [`Error::IdempotencyKeyReused`],
    /// [`Conflict::StillRunning`](iam_model::error::Conflict::StillRunning).
    pub async fn log_once(
        &self,
        caller: &Caller,
        event: NewEvent,
        idempotency: Option<&Idempotency>,
    ) -> Result<AuditEntry> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_CREATE)?;
        let event = event.validate()?;
        let once = self.0.once(caller, idempotency, &ResourceType::AUDIT_ENTRY);
        let mut work = self.0.begin(caller).await?;
        if let Some(id) = once.find(&mut work).await? {
            // A unit of work must not wait for a second connection while it holds one.
            drop(work);
            let entry = self.0.store.audit_entry(caller.tenant(), id).await?;
            return entry.ok_or(Error::NotFound(ResourceType::AUDIT_ENTRY));
        }
        let entries = work.apply_returning_entries(AuditChange::Log(event)).await?;
        let entry = entries.into_iter().next();
        let entry = entry.ok_or_else(|| Error::internal("audit log", "the caller's tenant has no log"))?;
        once.keep(&mut work, &entry.id).await?;
        work.commit().await?;
        Ok(entry)
    }

    /// Returns the entries that match a filter, newest first: at most `limit` (1–100), from after the cursor on.
    ///
    /// Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden) without the permission,
    /// [`Error::Validation`](iam_model::error::Error::Validation) naming `limit`.
    pub async fn list(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<AuditPage> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let mut fields = Fields::default();
        check_limit(&mut fields, limit);
        fields.finish()?;
        let filter = filter.by_stored_names();
        let _turn = self.0.long_read(caller).await?;
        // One entry more than requested shows whether another page follows.
        let mut entries = self.0.store.audit_entries(caller.tenant(), &filter, after, limit + 1).await?;
        let has_next = entries.len() > limit as usize;
        entries.truncate(limit as usize);
        let next = entries.last().filter(|_| has_next).map(Cursor::after);
        Ok(AuditPage { entries, next })
    }

    /// Counts the entries with an action by their days in UTC, from a day on. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn count_by_day(&self, caller: &Caller, action: &str, from: Day) -> Result<DayCounts> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let moment = from.and_time(NaiveTime::MIN).and_utc();
        let _turn = self.0.long_read(caller).await?;
        let days = self.0.store.audit_entries_by_day(caller.tenant(), action, moment, MAX_COUNTED).await?;
        Ok(DayCounts::of(days, from, MAX_COUNTED))
    }

    /// Counts the different actors of the entries with an action by their weeks in UTC, from the week of a day on.
    /// Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn count_actors_by_week(&self, caller: &Caller, action: &str, from: Day) -> Result<ActorCounts> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let from = week_of(from);
        let moment = from.and_time(NaiveTime::MIN).and_utc();
        let _turn = self.0.long_read(caller).await?;
        let weeks = self.0.store.audit_actors_by_week(caller.tenant(), action, moment, MAX_COUNTED).await?;
        Ok(ActorCounts::of(&weeks, from, MAX_COUNTED))
    }

    /// Returns the main resource types in the log. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn resource_types(&self, caller: &Caller) -> Result<&'static [&'static str]> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(&RESOURCE_TYPES)
    }

    /// Returns the main actions in the log. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn actions(&self, caller: &Caller) -> Result<&'static [&'static str]> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(&ACTIONS)
    }

    /// Returns everything that the service records. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub fn catalogue(&self, caller: &Caller) -> Result<Vec<Recorded>> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        Ok(CATALOGUE.into())
    }

    /// Starts an export of the entries that match a filter, newest first, from after the cursor on, and records the
    /// export. `format` is only recorded, for instance `text/csv`. Needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn export(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        after: Option<Cursor>,
        format: &str,
    ) -> Result<AuditExport> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let filter = filter.by_stored_names();
        let export = Export::new(filter.clone(), format.to_owned(), after.is_some());
        let mut work = self.0.begin(caller).await?;
        work.apply(AuditChange::Export(caller.tenant(), export)).await?;
        work.commit().await?;
        Ok(AuditExport { caller: caller.clone(), filter, after, is_over: false })
    }
}

/// How many entries of an action are counted at most, so that the count does not become slow in a busy tenant.
const MAX_COUNTED: u32 = 50_000;

/// The numbers of entries by their days in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DayCounts {
    /// The days with entries, and their numbers.
    pub days: BTreeMap<Day, u64>,
    /// The first day of which all entries were counted. Only the newest 50,000 entries are counted.
    pub first_whole: Day,
}

impl DayCounts {
    /// Returns the numbers of a count from a day on, which has counted at most `limit` entries.
    fn of(days: Vec<(Day, u64)>, from: Day, limit: u32) -> Self {
        let counted: u64 = days.iter().map(|(_, count)| count).sum();
        let oldest = days.first().map(|(day, _)| *day).filter(|_| counted >= u64::from(limit));
        // The oldest day may have entries that were not counted.
        let first_whole = oldest.and_then(|day| day.succ_opt()).unwrap_or(from);
        Self { days: days.into_iter().collect(), first_whole }
    }

    /// Returns the number of entries of a day; `None` if not all of them were counted.
    #[must_use]
    pub fn on(&self, day: Day) -> Option<u64> {
        (day >= self.first_whole).then(|| self.days.get(&day).copied().unwrap_or(0))
    }
}

/// The numbers of different actors by their weeks in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ActorCounts {
    /// The first days of the weeks with entries, which are Mondays, and the numbers of actors.
    pub weeks: BTreeMap<Day, u64>,
    /// The first day of the first week of which all entries were counted. Only the newest 50,000 entries are counted.
    pub first_whole: Day,
}

impl ActorCounts {
    /// Returns the numbers of a count from a Monday on, which has counted at most `limit` entries.
    fn of(weeks: &[(Day, u64, u64)], from: Day, limit: u32) -> Self {
        let counted: u64 = weeks.iter().map(|(_, entries, _)| entries).sum();
        let oldest = weeks.first().map(|(week, ..)| *week).filter(|_| counted >= u64::from(limit));
        // The oldest week may have entries that were not counted.
        let first_whole = oldest.and_then(|week| week.checked_add_days(Days::new(7))).unwrap_or(from);
        Self { weeks: weeks.iter().map(|(week, _, actors)| (*week, *actors)).collect(), first_whole }
    }

    /// Returns the number of actors in the week of a day; `None` if not all of its entries were counted.
    #[must_use]
    pub fn in_week_of(&self, day: Day) -> Option<u64> {
        let week = week_of(day);
        (week >= self.first_whole).then(|| self.weeks.get(&week).copied().unwrap_or(0))
    }
}

/// A recorded export, page by page. Only one page is in memory at a time. Entries that are created during the export
/// do not appear.
#[derive(Debug)]
pub struct AuditExport {
    caller: Caller,
    filter: AuditFilter,
    after: Option<Cursor>,
    is_over: bool,
}

/// How many entries an export reads at once.
const EXPORTED: u32 = 100;

impl AuditExport {
    /// Returns the next entries; none at the end. The export can be resumed at the cursor that [`Cursor::after`]
    /// returns for the last entry. The caller's session must still be valid and permit the export.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], [`Error::Forbidden`], [`Error::Store`].
    pub async fn next(&mut self, iam: &Iam) -> Result<Vec<AuditEntry>> {
        if self.is_over {
            return Ok(Vec::new());
        }
        let caller = iam.0.renewed(&self.caller).await?;
        iam.0.rights(&caller).require(&permission::AUDIT_LOGS_READ)?;
        let _turn = iam.0.long_read(&caller).await?;
        let entries = iam.0.store.audit_entries(caller.tenant(), &self.filter, self.after, EXPORTED).await?;
        self.is_over = entries.len() < EXPORTED as usize;
        self.after = entries.last().map(Cursor::after);
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_that_may_have_more_entries_has_no_number() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let (first, second, third) = (day("2026-01-30"), day("2026-01-31"), day("2026-02-01"));
        let days = vec![(second, 2), (third, 3)];
        let all = DayCounts::of(days.clone(), first, 6);
        assert_eq!([first, second, third].map(|day| all.on(day)), [Some(0), Some(2), Some(3)]);
        let cut = DayCounts::of(days, first, 5);
        assert_eq!([first, second, third].map(|day| cut.on(day)), [None, None, Some(3)]);
        assert_eq!(cut.on(day("2026-02-02")), Some(0));
    }

    #[test]
    fn a_week_that_may_have_more_entries_has_no_number() {
        let day = |text: &str| text.parse::<Day>().unwrap();
        let (first, second, third) = (day("2026-01-05"), day("2026-01-12"), day("2026-01-19"));
        let weeks = [(second, 2, 1), (third, 3, 2)];
        let all = ActorCounts::of(&weeks, first, 6);
        assert_eq!([first, second, third].map(|day| all.in_week_of(day)), [Some(0), Some(1), Some(2)]);
        let cut = ActorCounts::of(&weeks, first, 5);
        assert_eq!([first, day("2026-01-18"), day("2026-01-25")].map(|day| cut.in_week_of(day)), [None, None, Some(2)]);
        assert_eq!(cut.in_week_of(day("2026-01-26")), Some(0));
    }
}
