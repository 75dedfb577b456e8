//! The deletion of whole tenants (`docs/operating.md#deleted-tenants`).

use chrono::TimeDelta;
use iam_model::audit::{AuditEntry, AuditFilter, ResourceType};
use iam_model::change::{TenantChange, TenantDeletionChange};
use iam_model::clock::Timestamp;
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::TenantId;
use iam_model::legal_hold::Destroyed;
use iam_model::mail::MailKind;
use iam_model::permission;
use iam_model::session::EndReason;
use iam_model::tenant::{Tenant, TenantStatus};
use iam_model::tenant_deletion::{DeletedTenant, DeletionRecord, TenantContents, TenantDeletion};
use iam_model::validate::{Fields, Reason};
use serde_json::Value;

use crate::caller::Caller;
use crate::due_tenants::DueTenants;
use crate::engine::UnitOfWork;
use crate::iam::Iam;
use crate::session::end_all_sessions;
use crate::tenant::Tenants;
use crate::told::administrators;

/// How many rows are removed at once, so that no transaction waits long for a lock or makes others wait.
const BATCH: u32 = 1_000;

/// The name of the deletion in the entries that it causes.
const DELETION: &str = "tenant deletion";

/// How many entries of an erased log are looked at. The deletion itself leaves fewer.
const LEFT: u32 = 100;

/// The deletion of a tenant to schedule.
#[derive(Clone, Debug)]
pub struct NewTenantDeletion {
    /// How long it waits: up to [`TenantDeletion::MAX_WAIT`].
    pub after: TimeDelta,
    /// Whether the entries of the audit log stay.
    pub keeps_log: bool,
    /// Why, as typed.
    pub reason: String,
}

impl Tenants<'_> {
    /// Returns how much the caller's tenant has. For trusted code only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`], [`Error::NotFound`].
    pub async fn contents(&self, caller: &Caller) -> Result<TenantContents> {
        require_trusted(caller)?;
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?.ok_or_else(not_found)?;
        contents_of(&mut work).await
    }

    /// Returns the deletion of the caller's tenant that is scheduled or has begun. Needs `tenants:read`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for any other tenant, [`Error::Forbidden`] without the permission.
    pub async fn deletion(&self, caller: &Caller, id: TenantId) -> Result<Option<TenantDeletion>> {
        if caller.tenant() != id {
            return Err(not_found());
        }
        self.0.rights(caller).require(&permission::TENANTS_READ)?;
        Ok(self.0.store.tenant_deletion(id).await?)
    }

    /// Schedules the deletion of the caller's tenant. Until it begins, nothing changes, and it can be
    /// [called off](Self::cancel_deletion). [`Iam::delete_due_tenants`] begins it. Up to 20 of those who administer the tenant
    /// get a message. For trusted code only.
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// use iam_core::tenant::NewTenantDeletion;
    ///
    /// let operator = Caller::system(ada.tenant(), "the contract has ended");
    /// let (after, reason) = (chrono::TimeDelta::days(30), "Contract 2026-17 has ended.".to_owned());
    /// let new = NewTenantDeletion { after, keeps_log: true, reason };
    /// let deletion = iam.tenants().schedule_deletion(&operator, new).await?;
    /// assert_eq!(iam.tenants().deletion(&ada, ada.tenant()).await?, Some(deletion));
    ///
    /// iam.tenants().cancel_deletion(&operator, "The customer stays.").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`], [`Error::NotFound`], [`Error::Validation`] which names `after` or `reason`,
    /// [`Conflict::TenantDeletionScheduled`], [`Conflict::TenantDeletionBegun`], [`Conflict::LegalHold`] for a hold on the
    /// tenant or on any of its users.
    pub async fn schedule_deletion(&self, caller: &Caller, new: NewTenantDeletion) -> Result<TenantDeletion> {
        require_trusted(caller)?;
        let mut fields = Fields::default();
        if !(TimeDelta::zero()..=TenantDeletion::MAX_WAIT).contains(&new.after) {
            fields.reject("after", format!("must be at most {} days", TenantDeletion::MAX_WAIT.num_days()));
        }
        let reason: Option<Reason> = fields.check("reason", new.reason.parse());
        let (Some(reason), true) = (reason, fields.is_empty()) else { return Err(fields.into_error().into()) };
        let told = administrators(self.0, caller.tenant()).await?;
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?.ok_or_else(not_found)?;
        if let Some(deletion) = work.reads().tenant_deletion().await? {
            let has_begun = deletion.begun_at.is_some();
            let conflict = if has_begun { Conflict::TenantDeletionBegun } else { Conflict::TenantDeletionScheduled };
            return Err(conflict.into());
        }
        let now = work.now();
        let deletion = TenantDeletion {
            tenant_id: caller.tenant(),
            due_at: now + new.after,
            keeps_log: new.keeps_log,
            reason,
            scheduled_at: now,
            begun_at: None,
            contents: None,
        };
        work.apply(TenantDeletionChange::Schedule(deletion.clone())).await?;
        for person in &told {
            self.0.queue_notice(&mut work, MailKind::TenantDeletionScheduled, person).await?;
        }
        work.commit().await?;
        Ok(deletion)
    }

    /// Calls the deletion of the caller's tenant off. Those who administer the tenant get a message, as when it was
    /// [scheduled](Self::schedule_deletion). For trusted code only.
    ///
    /// # Errors
    ///
    /// [`Forbidden::NotTrusted`], [`Error::NotFound`], [`Error::Validation`] which names `reason`,
    /// [`Conflict::TenantDeletionNotScheduled`], [`Conflict::TenantDeletionBegun`].
    pub async fn cancel_deletion(&self, caller: &Caller, reason: &str) -> Result<()> {
        require_trusted(caller)?;
        let mut fields = Fields::default();
        let Some(reason) = fields.check("reason", reason.parse()) else { return Err(fields.into_error().into()) };
        let told = administrators(self.0, caller.tenant()).await?;
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?.ok_or_else(not_found)?;
        let deletion = work.reads().tenant_deletion().await?.ok_or(Conflict::TenantDeletionNotScheduled)?;
        if deletion.begun_at.is_some() {
            return Err(Conflict::TenantDeletionBegun.into());
        }
        work.apply(TenantDeletionChange::Cancel { deletion, reason }).await?;
        for person in &told {
            self.0.queue_notice(&mut work, MailKind::TenantDeletionCancelled, person).await?;
        }
        work.commit().await
    }

    /// Begins a deletion that is due, unless it has begun before: no user can log in any more, and the last entry of the
    /// log says so. Returns it with the moment at which it began. `None` if it must wait.
    async fn begin_deletion(&self, caller: &Caller) -> Result<Option<(TenantDeletion, Timestamp)>> {
        match self.due_deletion(caller).await? {
            None => return Ok(None),
            Some(TenantDeletion { begun_at: None, .. }) => {}
            Some(deletion) => return Ok(deletion.begun_at.map(|begun_at| (deletion, begun_at))),
        }
        // In units of work of their own, and so that the log has their ends before its last entry. If the deletion is
        // called off now, the users have lost their sessions, and nothing else.
        end_all_sessions(self.0, caller, EndReason::TenantSuspended).await?;
        let mut work = self.0.begin(caller).await?;
        let Some((before, deletion)) = lock_due_deletion(&mut work).await? else { return Ok(None) };
        if let Some(begun_at) = deletion.begun_at {
            return Ok(Some((deletion, begun_at)));
        }
        let now = work.now();
        let contents = contents_of(&mut work).await?;
        let tenant = if before.status == TenantStatus::Suspended {
            before
        } else {
            let tenant = Tenant { status: TenantStatus::Suspended, ..before.clone() }.changed(now);
            work.apply(TenantChange::ChangeStatus { before, after: tenant.clone() }).await?;
            tenant
        };
        let after = TenantDeletion { begun_at: Some(now), contents: Some(contents), ..deletion };
        work.apply(TenantDeletionChange::Begin { tenant, after: after.clone() }).await?;
        work.commit().await?;
        Ok(Some((after, now)))
    }

    /// Returns the deletion that has begun, or can begin now.
    async fn due_deletion(&self, caller: &Caller) -> Result<Option<TenantDeletion>> {
        let mut work = self.0.begin(caller).await?;
        Ok(lock_due_deletion(&mut work).await?.map(|(_, deletion)| deletion))
    }

    /// Returns the number of the first entry since a deletion began. `None` while the entry of its beginning is pending.
    async fn sequence_since(&self, caller: &Caller, begun_at: Timestamp) -> Result<Option<u64>> {
        // Another entry of the same millisecond can be in the log before that of the beginning.
        if !self.0.store.pending_entries(caller.tenant(), None, 1).await?.is_empty() {
            return Ok(None);
        }
        let mut work = self.0.begin(caller).await?;
        Ok(work.reads().first_sequenced_since(0, begun_at).await?)
    }

    /// Removes the entries of the log before a number, all of them from before a moment, and records that in the log. Their
    /// hashes stay.
    async fn erase_log(&self, caller: &Caller, until: u64, before: Timestamp) -> Result<()> {
        let mut work = self.0.begin(caller).await?;
        work.reads().lock_tenant().await?;
        let from = work.reads().log_head().await?.map_or(0, |head| head.removed);
        if from < until {
            let change = self.0.keys.log.give_up(caller.tenant(), from..until, before);
            work.apply(change).await?;
            work.commit().await?;
        } else {
            // In a store with one writer at a time, the purge would wait for this unit of work.
            drop(work);
        }
        self.0.store.purge_audit_entries().await?;
        Ok(())
    }

    /// Removes all entries of an erased log if it still has one that is not of the deletion: a change that was under way
    /// when the deletion began has written it. Returns whether that is done; it must wait while entries are pending.
    async fn erase_late_entries(&self, caller: &Caller) -> Result<bool> {
        let (store, tenant) = (&self.0.store, caller.tenant());
        let left = store.audit_entries(tenant, &AuditFilter::default(), None, LEFT).await?;
        if left.iter().all(is_of_deletion) {
            return Ok(true);
        }
        if !store.pending_entries(tenant, None, 1).await?.is_empty() {
            return Ok(false);
        }
        let size = self.0.log_head(tenant).await?.frontier.size();
        self.erase_log(caller, size, self.0.now()).await?;
        Ok(true)
    }
}

/// Whether an entry is of the deletion of a tenant, or of its schedule. These name no person.
fn is_of_deletion(entry: &AuditEntry) -> bool {
    match entry.metadata.get("system").and_then(Value::as_str) {
        Some(DELETION) => true,
        Some(_) => entry.resource_type == ResourceType::TENANT,
        None => false,
    }
}

impl Iam {
    /// Deletes the tenants whose deletion is due, and writes a record of each outside of the database. Returns how many. A
    /// deletion that a legal hold stops waits until the hold is released. For a periodic job of one process at a time.
    ///
    /// It works in small steps. After an interruption, the next call continues. It may write a record again.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], and [`Error::Internal`] if a record cannot be written: the row of that tenant stays until it can.
    /// Other tenants are deleted all the same.
    pub async fn delete_due_tenants(&self, record: &dyn DeletionRecord) -> Result<u64> {
        let mut due = DueTenants::default();
        loop {
            let found = self.0.store.due_tenant_deletions(self.now(), due.limit()).await?;
            let tenants = due.select(found.iter().map(|deletion| deletion.tenant_id).collect());
            if tenants.is_empty() {
                return due.finish();
            }
            for tenant in tenants {
                let deleted = match self.delete_tenant(&Caller::system(tenant, DELETION), record).await {
                    // It was placed between two of the steps.
                    Err(Error::Conflict(Conflict::LegalHold(_))) => Ok(false),
                    deleted => deleted,
                };
                due.worked(tenant, deleted.map(u64::from));
            }
        }
    }

    /// Does what is left of the deletion of a tenant. Returns whether the tenant is gone.
    async fn delete_tenant(&self, caller: &Caller, record: &dyn DeletionRecord) -> Result<bool> {
        let (tenants, store, tenant) = (self.tenants(), &self.0.store, caller.tenant());
        let Some((deletion, begun_at)) = tenants.begin_deletion(caller).await? else { return Ok(false) };
        // The record has the checkpoint of a log that contains the entry of the deletion.
        let Some(until) = tenants.sequence_since(caller, begun_at).await? else { return Ok(false) };
        if !deletion.keeps_log {
            tenants.erase_log(caller, until, begun_at).await?;
        }
        while store.remove_rows_of_tenant(tenant, BATCH).await? > 0 {}
        if !deletion.keeps_log && !tenants.erase_late_entries(caller).await? {
            return Ok(false);
        }
        // What a late change has written, and what the removal of its entry has.
        while store.remove_rows_of_tenant(tenant, BATCH).await? > 0 {}
        let head = self.0.log_head(tenant).await?;
        let deleted = DeletedTenant {
            tenant_id: tenant,
            slug: store.tenant(tenant).await?.map(|Tenant { slug, .. }| slug),
            deleted_at: begun_at,
            keeps_log: deletion.keeps_log,
            reason: deletion.reason,
            contents: deletion.contents.unwrap_or_default(),
            log_size: head.frontier.size(),
            log_root: head.frontier.root().to_string(),
        };
        record.record(&deleted).await.map_err(|error| Error::internal("recording the deletion of a tenant", error))?;
        store.remove_tenant(tenant).await?;
        Ok(true)
    }
}

/// Locks the tenant, and returns it with its deletion that has begun or can begin now. `None` if the deletion was called
/// off or is not due, or if a legal hold keeps the tenant.
async fn lock_due_deletion(work: &mut UnitOfWork<'_>) -> Result<Option<(Tenant, TenantDeletion)>> {
    let Some(tenant) = work.reads().lock_tenant().await? else { return Ok(None) };
    let now = work.now();
    let Some(deletion) = work.reads().tenant_deletion().await? else { return Ok(None) };
    let can_begin = deletion.is_due(now) && work.reads().legal_hold_of(Destroyed::Log).await?.is_none();
    Ok((deletion.begun_at.is_some() || can_begin).then_some((tenant, deletion)))
}

/// Counts what the tenant has. To be called under the tenant's lock.
async fn contents_of(work: &mut UnitOfWork<'_>) -> Result<TenantContents> {
    let usage = work.reads().usage().await?;
    let head = work.reads().log_head().await?;
    let sequenced = head.map_or(0, |head| head.frontier.size().saturating_sub(head.removed));
    let pending = work.reads().count_pending().await?;
    Ok(TenantContents {
        users: usage.users,
        organizations: usage.organizations,
        roles: usage.roles,
        assignments: usage.assignments,
        entries: sequenced + pending,
        legal_holds: work.reads().count_legal_holds().await?,
    })
}

pub(super) fn require_trusted(caller: &Caller) -> Result<()> {
    match caller.actor() {
        Actor::System { .. } => Ok(()),
        Actor::User { .. } | Actor::ApiKey { .. } | Actor::Anonymous => Err(Forbidden::NotTrusted.into()),
    }
}

pub(super) fn not_found() -> Error {
    Error::NotFound(ResourceType::TENANT)
}
