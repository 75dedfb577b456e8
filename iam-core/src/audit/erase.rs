//! Erasure: makes the personal fields of one person unreadable in every entry. Every proof still holds.

use std::collections::BTreeSet;

use iam_model::audit::{AuditEntry, AuditFilter, Cursor, ResourceType};
use iam_model::change::{
    AccessRequestChange, DirectoryUserChange, ErasedDetails, ErasedOrigin, IdempotencyChange, IdentityChange,
    UserChange,
};
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{TenantId, UserId};
use iam_model::permission;
use iam_model::user::UserStatus;

use crate::audit::Audit;
use crate::audit::person::Person;
use crate::caller::Caller;
use crate::engine::Engine;

/// How many entries are read at once.
const PAGE: u32 = 500;

/// The maximum number of entries that one unit of work erases: the record of the erasure names all of them.
const BATCH: usize = 200;

impl Audit<'_> {
    /// Makes the personal fields of an INACTIVE user unreadable in the whole log, and records the erasure. Returns
    /// the number of changed entries. Needs `audit-logs:delete` tenant-wide until the erasure ends. A user cannot
    /// erase its own entries. Begins only in a session that has authenticated within the last ten minutes.
    ///
    /// These entries lose the personal fields in their values and metadata:
    ///
    /// - entries about the user, about its factors, API keys and identities, and about the invitation that the user
    ///   accepted;
    /// - failed logins with an e-mail address that was the user's at that time, or earlier if no other user has it now;
    /// - other entries about no user that contain the user's full name, or an e-mail address that was the user's at
    ///   that time or earlier.
    ///
    /// Entries of the user's actions, also of those in which it acted as another user, and its failed logins, lose the
    /// client's address and user agent. All other data
    /// stays. The identities, the attributes and the access requests of the user are removed, and what a directory says of
    /// it, and the stored answer to the request that has created it. The user itself does not change otherwise: data that the tenant must not keep has to be changed separately.
    ///
    /// Reads the whole log, so it takes long with millions of entries. It may be interrupted and called again.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], also for a caller by an API key, [`Forbidden::OwnEntries`], [`Error::NotFound`],
    /// [`Conflict::UserNotInactive`], [`Conflict::LegalHold`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh).
    pub async fn erase(&self, caller: &Caller, user: UserId) -> Result<u64> {
        self.0.rights(caller).require(&permission::AUDIT_LOGS_DELETE)?;
        if caller.user() == Some(user) {
            return Err(Forbidden::OwnEntries.into());
        }
        self.0.require_fresh(caller).await?;
        let user = self.0.store.user(caller.tenant(), user).await?;
        let user = user.ok_or(Error::NotFound(ResourceType::USER))?;
        if user.status != UserStatus::Inactive {
            return Err(Conflict::UserNotInactive.into());
        }
        self.forget(caller, user.id).await?;
        let mut person = Person::of(&user);
        let about = person.entries_about();
        let mut pages = Pages::of(about.clone());
        while let Some(entries) = pages.next(self, caller).await? {
            entries.iter().for_each(|entry| person.learn(entry));
        }
        self.0.find_other_holders(caller, &mut person).await?;
        let mut erased = 0;
        // The entries about the user come last: they hold the names and addresses by which the other entries are
        // found, and a repeated call after an interruption needs them.
        for (filter, last) in [(AuditFilter::default(), false), (about.clone(), true)] {
            let mut pages = Pages::of(filter);
            while let Some(mut entries) = pages.next(self, caller).await? {
                entries.retain(|entry| about.matches(entry) == last);
                erased += self.erase_in(caller, &person, entries).await?;
            }
        }
        Ok(erased)
    }

    /// Removes the attributes and the identities of a deleted user and what a directory says of it, which name the person,
    /// and its access requests, which have texts by it.
    async fn forget(&self, caller: &Caller, user: UserId) -> Result<()> {
        let mut work = self.0.begin(caller).await?;
        let grantor = work.lock_rights().await?;
        grantor.rights().require(&permission::AUDIT_LOGS_DELETE)?;
        let locked = work.reads().lock_user(user).await?.filter(|user| user.status == UserStatus::Inactive);
        let locked = locked.ok_or(Conflict::UserNotInactive)?;
        if !work.reads().attributes(user.into()).await?.is_empty() {
            let after = locked.changed(work.now());
            work.apply(UserChange::ForgetAttributes { after }).await?;
        }
        for identity in work.reads().identities(user).await? {
            // A deleted user may do nothing, so that no one gains from it.
            work.apply(IdentityChange::Delete { identity, grants: Some(Vec::new()) }).await?;
        }
        if let Some(entry) = work.reads().directory_user(user).await? {
            work.apply(DirectoryUserChange::Forget(entry)).await?;
        }
        // The answer to the request that has created the user, which has its names, its e-mail and its attributes. That
        // to a registration belongs to no tenant.
        let text = format!("\"id\":\"{user}\"");
        for tenant_id in [caller.tenant(), TenantId::NONE] {
            work.apply(IdempotencyChange::Forget { tenant_id, text: text.clone() }).await?;
        }
        // All of them were closed when the user was deleted. A legal hold refuses this change, and so the whole erasure
        // before anything is gone.
        work.apply(AccessRequestChange::RemoveOldest { user, kept: 0 }).await?;
        work.commit().await
    }

    async fn erase_in(&self, caller: &Caller, person: &Person, entries: Vec<AuditEntry>) -> Result<u64> {
        let mut count = 0;
        for entries in entries.chunks(BATCH) {
            // Oldest first, as the sequencer writes them: two transactions that write the same entries must not
            // deadlock.
            let entries = || entries.iter().rev().cloned();
            let details: Vec<_> = entries().filter(|entry| person.has_details_in(entry)).collect();
            let origins: Vec<_> = entries().filter(|entry| person.has_origin_of(entry)).collect();
            let concerned = details.iter().chain(&origins).map(|entry| entry.id).collect::<BTreeSet<_>>().len();
            if concerned == 0 {
                continue;
            }
            let details = details.into_iter().map(ErasedDetails::of).collect();
            let origins = origins.into_iter().map(ErasedOrigin::of).collect();
            let change = self.0.keys.log.erase(caller.tenant(), person.user, details, origins);
            // The whole erasure may take minutes. The session, permission and status may have changed since its start.
            let caller = self.0.renewed(caller).await?;
            self.0.rights(&caller).require(&permission::AUDIT_LOGS_DELETE)?;
            let mut work = self.0.begin(&caller).await?;
            // Before the user, because a legal hold may be placed meanwhile.
            work.reads().lock_tenant().await?;
            let user = work.reads().lock_user(person.user).await?;
            if user.is_none_or(|user| user.status != UserStatus::Inactive) {
                return Err(Conflict::UserNotInactive.into());
            }
            work.apply(change).await?;
            work.commit().await?;
            count += concerned as u64;
        }
        Ok(count)
    }
}

/// Pages of entries that match a filter, newest first.
struct Pages {
    filter: AuditFilter,
    after: Option<Cursor>,
}

impl Pages {
    fn of(filter: AuditFilter) -> Self {
        Self { filter, after: None }
    }

    async fn next(&mut self, audit: &Audit<'_>, caller: &Caller) -> Result<Option<Vec<AuditEntry>>> {
        let entries = audit.0.store.audit_entries(caller.tenant(), &self.filter, self.after, PAGE).await?;
        self.after = entries.last().map(Cursor::after);
        Ok((!entries.is_empty()).then_some(entries))
    }
}

impl Engine {
    /// Finds out which of the former addresses of a person another user has now.
    pub(crate) async fn find_other_holders(&self, caller: &Caller, person: &mut Person) -> Result<()> {
        for address in person.addresses.iter_mut().filter(|address| address.until.is_some()) {
            let account = self.store.guarded_account(caller.tenant(), &address.email).await?.account;
            address.is_of_another = account.is_some_and(|account| account.user.id != person.user);
        }
        Ok(())
    }
}
