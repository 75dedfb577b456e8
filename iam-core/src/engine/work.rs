//! The unit of work: changes and their audit entries, committed together or not at all.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use iam_model::access::{Authority, GrantedRights, LeadingRoles, Until};
use iam_model::assignment::{Grant, GrantOrganization, OfferedRole};
use iam_model::audit::AuditEntry;
use iam_model::change::{AssignmentChange, AuditBatch, Change, InDeletedTenant, TenantChange};
use iam_model::clock::{Clock, Timestamp, cut};
use iam_model::context::Actor;
use iam_model::eligibility::Eligibility;
use iam_model::error::{Conflict, Error, Result, Shortfall, Unauthenticated};
use iam_model::id::{ApiKeyId, IdGenerator, OrganizationId, RoleId, UserId};
use iam_model::organization::Hierarchy;
use iam_model::random::Random;
use iam_model::role::Role;
use iam_model::store::{GrantQuery, Store, Transaction, TransactionReads};
use iam_model::user::UserStatus;
use uuid::Uuid;

use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::after_commit::{AfterCommit, PendingEffects};
use crate::engine::computing::{CHECKED_AT_ONCE, Computing};
use crate::engine::escalation::{Checked, leading_roles};
use crate::engine::impersonation::act_as;
use crate::engine::in_flight::Permit;
use crate::engine::locked_rights::LockedRights;
use crate::engine::trial::TrialChanges;

/// Changes of a caller in its tenant, with their audit entries.
///
/// ```text
/// begin → read under locks → decide (pure code) → apply changes → commit
/// ```
///
/// Every change that is [applied](Self::apply) is written with the audit entries that it defines, and gives no user
/// more rights than the caller holds. [`commit`](Self::commit) makes the changes and the entries durable. Dropping the
/// unit of work instead rolls it back.
#[must_use = "a unit of work that is dropped is rolled back"]
pub struct UnitOfWork<'a> {
    transaction: Box<dyn Transaction>,
    caller: &'a Caller,
    clock: &'a dyn Clock,
    now: Option<Timestamp>,
    ids: &'a IdGenerator,
    random: &'a dyn Random,
    computing: &'a Computing,
    pending: PendingEffects<'a>,
    ended_assignments: usize,
    /// `None` until the caller's rights are read under the tenant's lock.
    grantor: Option<LockedRights>,
    /// Whether a recent authentication, which giving the rights to change what protects the tenant needs, is already
    /// checked or not needed.
    may_give_protections: bool,
    /// Whether the deletion of the tenant has begun. `None` until that is read.
    is_deleted: Option<bool>,
    /// Receives the changes instead of the store, if this is only a trial.
    trial: Option<&'a TrialChanges>,
    /// Whether the store gets the changes of a trial too, until they are rolled back.
    writes_on_trial: bool,
    /// Dropped after the transaction: they permit the use of the transaction's connection.
    permits: [Option<Permit<'a>>; 2],
}

impl<'a> UnitOfWork<'a> {
    pub(crate) async fn begin(
        store: &dyn Store,
        caller: &'a Caller,
        clock: &'a dyn Clock,
        ids: &'a IdGenerator,
        random: &'a dyn Random,
        computing: &'a Computing,
        after_commit: &'a AfterCommit,
    ) -> Result<Self> {
        let transaction = store.begin(caller.tenant()).await?;
        Ok(Self {
            transaction,
            caller,
            clock,
            now: None,
            ids,
            random,
            computing,
            pending: PendingEffects::new(after_commit),
            ended_assignments: 0,
            grantor: None,
            may_give_protections: false,
            is_deleted: None,
            trial: None,
            writes_on_trial: false,
            permits: [None, None],
        })
    }

    /// Holds permits of its tenant until it ends.
    pub(crate) fn with_permits(self, permits: [Option<Permit<'a>>; 2]) -> Self {
        Self { permits, ..self }
    }

    /// Writes nothing if there is a receiver of the changes.
    pub(crate) fn on_trial(self, trial: Option<&'a TrialChanges>) -> Self {
        Self { trial, ..self }
    }

    /// On trial, writes the changes too, and rolls them back at the end: for changes that are decided after others of
    /// the same unit of work.
    pub(crate) fn write_on_trial(&mut self) {
        self.writes_on_trial = true;
    }

    /// Returns the time of everything that happens in this unit of work.
    ///
    /// The first call fixes it. A unit of work that reads the time after it has its locks gets a later time than the
    /// previous holder of those locks.
    pub fn now(&mut self) -> Timestamp {
        *self.now.get_or_insert_with(|| cut(self.clock.now()))
    }

    /// Returns the present moment without fixing the time of the unit of work. For decisions before it has its locks.
    pub(crate) fn clock_now(&self) -> Timestamp {
        cut(self.clock.now())
    }

    /// The caller that makes the changes.
    #[must_use]
    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// Returns the reads. Methods named `lock_…` lock their rows until the unit of work ends. What the others read stays
    /// valid only under the lock of the tenant or of the account.
    pub fn reads(&mut self) -> &mut dyn TransactionReads {
        self.transaction.as_mut()
    }

    /// Returns how many assignments its changes have ended so far.
    pub(crate) fn ended_assignments(&self) -> usize {
        self.ended_assignments
    }

    /// Invalidates an id when the unit of work ends, even if it changes nothing because the requested state already
    /// exists: another replica may have made that change, and the notification of it may not have arrived yet.
    pub(crate) fn invalidate(&mut self, id: impl Into<Uuid>) {
        self.pending.invalidate([id.into()]);
    }

    /// Locks the tenant and reads the caller's rights. A change that gives rights needs this.
    ///
    /// The lock serializes changes of rights, of the organization tree and of users' states. Everything that is read
    /// under the lock stays true until the unit of work ends. The caller's own roles are read again, so that a role
    /// that was revoked a moment ago has no effect.
    pub(crate) async fn lock_rights(&mut self) -> Result<LockedRights> {
        self.reads().lock_tenant().await?;
        let authority = match self.caller.actor() {
            Actor::System { .. } => Authority::everything(),
            Actor::Anonymous => Authority::of([]),
            Actor::User { user, .. } => {
                let grants = self.grants_of_active(*user).await?.ok_or(Unauthenticated::InvalidToken)?;
                self.require_impersonator_to_cover(&grants).await?;
                Authority::of(&grants)
            }
            Actor::ApiKey { user, key } => self.authority_of_key(*user, *key).await?.ok_or(Unauthenticated::ApiKey)?,
        };
        Ok(self.grant_by(authority))
    }

    /// Checks that the user who acts in the session of the caller, if another one does, may do so: it holds the rights
    /// that the user of the session has now.
    async fn require_impersonator_to_cover(&mut self, grants: &[Grant]) -> Result<()> {
        let Some(by) = self.caller.impersonator() else { return Ok(()) };
        let rights = self.authority_of(by.user).await?.ok_or(Unauthenticated::InvalidToken)?;
        let rights = LockedRights::new(rights, self.now()).standing();
        self.require_to_act_as(&rights, grants).await.map_err(|error| match error {
            Error::Forbidden(_) => Unauthenticated::InvalidToken.into(),
            other => other,
        })
    }

    /// Checks that the holder of rights may act as a user with these role assignments. A long comparison runs beside
    /// the async threads.
    ///
    /// # Errors
    ///
    /// Those of [`Rights::act_as`](iam_model::access::Rights::act_as).
    pub(crate) async fn require_to_act_as(&mut self, rights: &LockedRights, grants: &[Grant]) -> Result<()> {
        let (rights, grants) = (rights.clone(), Arc::from(grants));
        let until = act_as(self.computing, self.caller.tenant(), rights.authority(), &grants, rights.now());
        until.await.map(drop)
    }

    /// Locks the tenant and reads the standing rights of the user who has invited the caller, or of trusted code. They
    /// count for the changes of this unit of work in place of the caller's own. A user who is not ACTIVE has none.
    pub(crate) async fn lock_rights_of_inviter(&mut self, inviter: Option<UserId>) -> Result<LockedRights> {
        self.reads().lock_tenant().await?;
        let authority = match inviter {
            None => Authority::everything(),
            Some(user) => self.standing_authority_of(user).await?,
        };
        // The inviter had to authenticate when it offered the rights.
        self.may_give_protections = true;
        Ok(self.grant_by(authority))
    }

    /// Returns the present standing rights of a user, which do not count for the changes of this unit of work. To be
    /// called under the tenant's lock. A user who is not ACTIVE has none.
    pub(crate) async fn rights_of(&mut self, user: UserId) -> Result<LockedRights> {
        let authority = self.standing_authority_of(user).await?;
        Ok(LockedRights::new(authority, self.now()))
    }

    /// Returns the standing rights that these assignments of one user give, which do not count for the changes of this
    /// unit of work.
    pub(crate) fn rights_by(&mut self, grants: &[Grant]) -> LockedRights {
        LockedRights::new(Authority::of(grants), self.now()).standing()
    }

    /// Returns the present standing rights of a user. A user who is not ACTIVE has none.
    async fn standing_authority_of(&mut self, user: UserId) -> Result<Authority> {
        let authority = self.authority_of(user).await?;
        Ok(authority.map_or_else(|| Authority::of([]), |authority| authority.standing().into_owned()))
    }

    /// Returns the present rights of a user. `None` if the user is not ACTIVE.
    async fn authority_of(&mut self, user: UserId) -> Result<Option<Authority>> {
        Ok(self.grants_of_active(user).await?.map(|grants| Authority::of(&grants)))
    }

    /// Returns the present rights of an API key of a user. `None` if the key is not valid, or the user is not ACTIVE.
    async fn authority_of_key(&mut self, user: UserId, key: ApiKeyId) -> Result<Option<Authority>> {
        let now = self.clock_now();
        let key = self.reads().lock_api_key(key).await?.filter(|key| key.is_live(now));
        let Some(key) = key else { return Ok(None) };
        let Some(grants) = self.grants_of_active(user).await? else { return Ok(None) };
        let hierarchy = self.hierarchy_of(key.organization_id.as_slice()).await?;
        let organization = key.organization_id.and_then(|id| hierarchy.node(id)).map(GrantOrganization::from);
        Ok(Some(Authority::of(&key.narrowed(&grants, organization.as_ref()))))
    }

    /// Returns the role assignments of a user. `None` if the user is not ACTIVE.
    async fn grants_of_active(&mut self, user: UserId) -> Result<Option<Vec<Grant>>> {
        let users = self.reads().users_by_id(&[user]).await?;
        if users.first().is_none_or(|user| user.status != UserStatus::Active) {
            return Ok(None);
        }
        Ok(Some(self.reads().grants(GrantQuery::OfUser(user)).await?))
    }

    fn grant_by(&mut self, authority: Authority) -> LockedRights {
        let grantor = LockedRights::new(authority, self.now());
        self.grantor = Some(grantor.clone());
        grantor
    }

    /// Returns the latest time until which a user holds one of these roles, or gets it by accepting an invitation, as a
    /// new user of an identity provider, as a member of a group of a directory, or by asking for it. What is added to
    /// the roles is given until then.
    pub(crate) async fn given_until(&mut self, roles: &[RoleId]) -> Result<Until> {
        let providers = self.reads().identity_providers().await?;
        let mut provided = providers.iter().flat_map(|provider| &provider.roles);
        let is_provided = provided.any(|provided| roles.contains(&provided.role_id));
        if is_provided || !self.reads().mapped_groups(roles, &[]).await?.is_empty() {
            return Ok(Until::Forever);
        }
        let now = self.now();
        let held = self.reads().roles_held_until(roles, now).await?;
        let offered = self.reads().roles_offered_until(roles, now).await?;
        let mut eligibilities = self.reads().all_eligibilities().await?;
        eligibilities.retain(|eligibility| roles.contains(&eligibility.role_id) && eligibility.is_live(now));
        let eligible = eligibilities.iter().map(Eligibility::until).max();
        Ok(held.max(offered).max(eligible).unwrap_or(Until::Moment(now)))
    }

    /// Reads roles, as far as they exist.
    pub(crate) async fn roles_of(&mut self, ids: impl Iterator<Item = RoleId>) -> Result<HashMap<RoleId, Arc<Role>>> {
        let roles = self.reads().roles_by_id(&distinct(ids)).await?;
        Ok(roles.into_iter().map(|role| (role.id, Arc::new(role))).collect())
    }

    /// Reads organizations and all their ancestors.
    pub(crate) async fn hierarchy_of(&mut self, organizations: &[OrganizationId]) -> Result<Hierarchy> {
        if organizations.is_empty() {
            return Ok(Hierarchy::default());
        }
        Ok(self.reads().lineages(organizations).await?.into_iter().collect())
    }

    /// Does the escalation check for a change, and returns the change. A user who acts as another one can make only
    /// some changes. [`apply`](Self::apply) checks that for every change. A service calls this only if it can refuse
    /// the change for another reason after the check.
    pub(crate) async fn check_granted_rights(&mut self, change: impl Into<Change>) -> Result<Change> {
        let (author, now) = (self.caller.author().clone(), self.now());
        let change = change.into();
        change.check_impersonator(&author, now)?;
        let gives_protections = change.gives_protections(&author, now);
        let (change, checked) =
            self.check_escalation(change, move |change| change.granted_rights(&author, now)).await?;
        if let Some((_, error)) = checked.refused {
            return Err(error);
        }
        if gives_protections || checked.offers_protections {
            self.require_fresh_to_give().await?;
        }
        Ok(change)
    }

    /// Does the escalation check for new grants, and returns them. If the caller may not make one of them, the error
    /// comes with its number.
    pub(crate) async fn check_grants(&mut self, grants: Vec<Grant>) -> Result<(Vec<Grant>, Option<(usize, Error)>)> {
        self.caller.refuse_impersonator()?;
        let now = self.now();
        let gives_protections = |grant: &Grant| GrantedRights::of(grant).change_protections(now);
        let protecting = grants.iter().position(gives_protections);
        let (grants, checked) =
            self.check_escalation(grants, |grants| grants.iter().map(GrantedRights::of_new).collect()).await?;
        if checked.refused.is_none() && (protecting.is_some() || checked.offers_protections) {
            let may_give = self.require_fresh_to_give().await;
            match (protecting, may_give) {
                (_, Ok(())) => {}
                (Some(number), Err(error @ Error::Forbidden(_))) => return Ok((grants, Some((number, error)))),
                (_, Err(error)) => return Err(error),
            }
        }
        Ok((grants, checked.refused))
    }

    /// Returns new assignments with the marks of the access requests by whose rights the caller gives them; see
    /// [`LockedRights::mark`]. If it may not give one of them, the error comes with its number.
    pub(crate) async fn mark_grants(&mut self, grants: Vec<Grant>) -> Result<(Vec<Grant>, Option<(usize, Error)>)> {
        let not_locked =
            || Error::internal("granted rights", "the caller's rights were not read under the tenant's lock");
        let grantor = self.grantor.clone().ok_or_else(not_locked)?;
        if !grantor.has_elevations() {
            return Ok((grants, None));
        }
        let leading = self.leading(&grantor, grants.iter().map(|grant| grant.role.id).collect()).await?;
        let patterns: usize = grants.iter().map(|grant| grant.role.permissions.iter().count()).sum();
        let is_short = patterns + leading.patterns() + grantor.patterns() <= CHECKED_AT_ONCE;
        let mark = move || grantor.mark(grants, &leading);
        if is_short { Ok(mark()) } else { self.computing.run(self.caller.tenant(), move |_| mark()).await }
    }

    /// Requires a session that has authenticated recently, of a caller that gives the rights to change what protects
    /// the tenant; see [`GrantedRights::change_protections`].
    async fn require_fresh_to_give(&mut self) -> Result<()> {
        if !self.may_give_protections {
            self.require_fresh().await?;
            self.may_give_protections = true;
        }
        Ok(())
    }

    /// Returns to which others these roles lead. Trusted code covers them all, so for it none are read.
    async fn leading(&mut self, grantor: &LockedRights, roles: Vec<RoleId>) -> Result<LeadingRoles> {
        if roles.is_empty() || grantor.authority().is_trusted() {
            return Ok(LeadingRoles::default());
        }
        let now = self.now();
        leading_roles(self.reads(), &distinct(roles), now).await
    }

    /// Returns until when the holder of rights holds everything that each of these roles gives in its place, and all to
    /// which it leads, or what it lacks. A long comparison runs beside the async threads.
    pub(crate) async fn held_until(
        &mut self,
        holder: &LockedRights,
        offered: Vec<OfferedRole>,
    ) -> Result<Vec<(OfferedRole, Result<Until, Shortfall>)>> {
        let leading = self.leading(holder, offered.iter().map(|offered| offered.role.id).collect()).await?;
        let patterns: usize = offered.iter().map(|offered| offered.role.permissions.iter().count()).sum();
        let is_short = patterns + leading.patterns() + holder.patterns() <= CHECKED_AT_ONCE;
        let holder = holder.clone();
        let compare = move || {
            let (mut check, mut of_leading) = (holder.rights().escalation_check(), leading.check());
            let mut held = Vec::with_capacity(offered.len());
            for offered in offered {
                let until = {
                    let given = GrantedRights::of_offered(&offered);
                    let until = check.holds_all_until(&given.permissions, given.scope);
                    until.and_then(|until| of_leading.covered_until(&mut check, &given, until))
                };
                held.push((offered, until));
            }
            held
        };
        if is_short { Ok(compare()) } else { self.computing.run(self.caller.tenant(), move |_| compare()).await }
    }

    /// Does the escalation check for the rights that a value gives. A long one runs beside the async threads: a bulk
    /// assignment may give 500 roles of 500 permissions.
    async fn check_escalation<T: Send + 'static>(
        &mut self,
        given: T,
        granted: impl for<'v> Fn(&'v T) -> Vec<GrantedRights<'v>> + Send + 'static,
    ) -> Result<(T, Checked)> {
        let patterns: Vec<usize> = granted(&given).iter().map(|granted| granted.permissions.iter().count()).collect();
        if patterns.is_empty() {
            return Ok((given, Checked::NOTHING));
        }
        let roles: Vec<RoleId> = granted(&given).iter().filter_map(|granted| granted.role).collect();
        let not_locked =
            || Error::internal("granted rights", "the caller's rights were not read under the tenant's lock");
        let grantor = self.grantor.clone().ok_or_else(not_locked)?;
        let leading = self.leading(&grantor, roles).await?;
        let patterns = patterns.into_iter().sum::<usize>() + leading.patterns();
        let is_short = patterns + grantor.patterns() <= CHECKED_AT_ONCE;
        let check = move || {
            let checked = Checked::of(&grantor, &granted(&given), &leading);
            (given, checked)
        };
        if is_short { Ok(check()) } else { self.computing.run(self.caller.tenant(), move |_| check()).await }
    }

    /// Writes a change and its audit entries.
    ///
    /// # Errors
    ///
    /// [`Forbidden::Escalation`](iam_model::error::Forbidden::Escalation) if the change gives rights that the caller
    /// does not hold; [`Forbidden::Impersonator`](iam_model::error::Forbidden::Impersonator) and
    /// [`Forbidden::ReadOnly`](iam_model::error::Forbidden::ReadOnly) for a change that a user who acts as another one
    /// cannot make; [`Unauthenticated::NotFresh`] and [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) if
    /// it gives the rights to change what protects the tenant; [`Conflict::LegalHold`] if it
    /// [destroys](Change::destroys) what a legal hold keeps; [`Conflict::TenantDeletionBegun`] for a change that would
    /// be recorded after the entries of the deletion; and the errors of the store, for instance a violated constraint.
    /// After an error, the unit of work can only be dropped.
    pub async fn apply(&mut self, change: impl Into<Change>) -> Result<()> {
        let change = self.check_granted_rights(change).await?;
        self.refuse_if_held(&change).await?;
        let batch = self.record(&change).await?;
        self.write(&change, batch).await
    }

    /// Makes the assignments that groups of a directory give. The rights of the service account of the directory, or of
    /// its key, count for them, in place of the caller's own.
    pub(crate) async fn give_by_directory(&mut self, rights: &LockedRights, grants: Vec<Grant>) -> Result<()> {
        let grantor = self.grantor.replace(rights.clone());
        // The person who mapped the group to these roles, or who gave them more permissions since, had to authenticate.
        // A directory cannot: it acts by an API key.
        let may_give_protections = mem::replace(&mut self.may_give_protections, true);
        let given = self.apply(AssignmentChange::Create(grants)).await;
        (self.grantor, self.may_give_protections) = (grantor, may_give_protections);
        given
    }

    /// Does the same as [`apply`](Self::apply), and returns the audit entries.
    pub(crate) async fn apply_returning_entries(&mut self, change: impl Into<Change>) -> Result<Vec<AuditEntry>> {
        let change = self.check_granted_rights(change).await?;
        self.refuse_if_held(&change).await?;
        let batch = self.record(&change).await?;
        let entries = batch.entries().to_vec();
        self.write(&change, batch).await?;
        Ok(entries)
    }

    /// Refuses a change that destroys what a legal hold keeps.
    ///
    /// Holds are placed and released under the tenant's lock. A unit of work that locks something else before such a
    /// change must have taken this lock first.
    async fn refuse_if_held(&mut self, change: &Change) -> Result<()> {
        let Some(destroyed) = change.destroys() else { return Ok(()) };
        self.reads().lock_tenant().await?;
        match self.reads().legal_hold_of(destroyed).await? {
            Some(hold) => Err(Conflict::LegalHold(hold.id).into()),
            None => Ok(()),
        }
    }

    /// Returns whether the deletion of the tenant has begun. A change that is under way at that moment, without the
    /// tenant's lock, may not see it.
    async fn is_deleted(&mut self) -> Result<bool> {
        // Sessions end when the deletion begins, so a user has none any more.
        if self.caller.user().is_some() {
            return Ok(false);
        }
        if let Some(is_deleted) = self.is_deleted {
            return Ok(is_deleted);
        }
        let deletion = self.reads().tenant_deletion().await?;
        let is_deleted = deletion.is_some_and(|deletion| deletion.begun_at.is_some());
        self.is_deleted = Some(is_deleted);
        Ok(is_deleted)
    }

    /// Returns the audit entries of a change that the caller may make.
    ///
    /// # Errors
    ///
    /// [`Conflict::TenantDeletionBegun`] if it would be recorded after the entries of the deletion of the tenant.
    async fn record(&mut self, change: &Change) -> Result<AuditBatch> {
        let now = self.now();
        let mut batch = AuditBatch::of(change, self.caller.author(), now, self.ids, self.random);
        if !batch.entries().is_empty() && self.is_deleted().await? {
            match change.in_deleted_tenant() {
                InDeletedTenant::Recorded => {}
                InDeletedTenant::Unrecorded => batch = batch.without_entries(),
                InDeletedTenant::Refused => return Err(Conflict::TenantDeletionBegun.into()),
            }
        }
        self.pending.invalidate(change.invalidates());
        self.pending.record(batch.entries());
        match change {
            Change::Assignment(AssignmentChange::Revoke { grants, .. }) => self.ended_assignments += grants.len(),
            Change::Mail(_) => self.pending.queue_mail(),
            _ => {}
        }
        Ok(batch)
    }

    async fn write(&mut self, change: &Change, batch: AuditBatch) -> Result<()> {
        if let Some(trial) = self.trial.filter(|_| !self.writes_on_trial) {
            return trial.take(change, self.transaction.as_mut()).await;
        }
        self.transaction.write(change, batch).await?;
        if let Some(trial) = self.trial {
            trial.keep(change);
        }
        if matches!(change, Change::Tenant(TenantChange::Create(_))) {
            // The tenant is new, and no other unit of work finds it yet. No user holds rights in it, so there is
            // nothing with which the rights of its first user could be compared.
            self.grantor = Some(LockedRights::new(Authority::everything(), self.now()));
            self.may_give_protections = true;
        }
        Ok(())
    }

    /// Makes the changes and their entries durable together.
    ///
    /// # Errors
    ///
    /// The errors of the store. Nothing was written then, unless the connection was lost during the commit.
    pub async fn commit(self) -> Result<()> {
        if self.trial.is_some() {
            return Ok(());
        }
        let Self { transaction, pending, permits, .. } = self;
        transaction.commit().await?;
        drop(permits);
        pending.committed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iam_model::assignment::Assignment;
    use iam_model::change::RoleChange;
    use iam_model::context::RequestContext;
    use iam_model::error::Forbidden;
    use iam_model::id::SessionId;
    use iam_model::role::{Role, RoleScope};
    use iam_store_memory::MemoryStore;

    use super::*;
    use crate::assignment::NewAssignment;
    use crate::hashing::HashingCost;
    use crate::iam::Iam;
    use crate::role::NewRole;
    use crate::settings::Settings;
    use crate::tenant::{NewTenant, TenantWithUser};
    use crate::user::{NewServiceAccount, NewUser};

    async fn service() -> (Iam, TenantWithUser) {
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let settings = Settings { hashing_cost, ..Settings::default() };
        let iam = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).build().await.unwrap();
        let administrator = NewUser {
            email: "ada@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        let new = NewTenant { name: "Acme".into(), slug: None, administrator };
        let created = iam.tenants().create("test", new).await.unwrap();
        (iam, created)
    }

    fn role(iam: &Iam, tenant: &TenantWithUser, permission: &str) -> Role {
        let now = iam.0.now();
        Role {
            id: iam.0.next_id(),
            tenant_id: tenant.tenant.id,
            name: "TESTER".parse().unwrap(),
            description: "".parse().unwrap(),
            scope: RoleScope::Any,
            permissions: [permission.parse().unwrap()].into_iter().collect(),
            system: false,
            created_at: now,
            updated_at: now,
            version: iam_model::version::Version::FIRST,
        }
    }

    #[tokio::test]
    async fn a_change_that_gives_rights_fails_without_the_locked_rights() {
        let (iam, created) = service().await;
        let caller = Caller::system(created.tenant.id, "test");
        let role = role(&iam, &created, "users:read");
        let mut work = iam.0.begin(&caller).await.unwrap();
        let refused = work.apply(RoleChange::Create(role.clone())).await;
        assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
        let refused = work.apply_returning_entries(RoleChange::Create(role.clone())).await;
        assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
        // The lock alone is not enough: the caller's rights must be read under it.
        work.reads().lock_tenant().await.unwrap();
        let refused = work.apply(RoleChange::Create(role.clone())).await;
        assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
        assert_eq!(work.reads().roles_by_id(&[role.id]).await.unwrap(), []);
        work.lock_rights().await.unwrap();
        work.apply(RoleChange::Create(role.clone())).await.unwrap();
        work.commit().await.unwrap();

        let mut work = iam.0.begin(&caller).await.unwrap();
        work.apply(RoleChange::Delete(role)).await.expect("it gives no rights");
    }

    #[tokio::test(start_paused = true)]
    async fn trials_count_for_the_limit_of_units_of_work_of_the_tenant() {
        let (iam, created) = service().await;
        let caller = Caller::system(created.tenant.id, "test");
        let mut permits = Vec::new();
        while let Ok(permit) = iam.0.in_flight.acquire(created.tenant.id).await {
            permits.push(permit);
        }
        let trial = iam.0.on_trial();
        assert!(matches!(trial.begin(&caller).await, Err(Error::Overloaded { .. })));
        permits.pop();
        drop(trial.begin(&caller).await.unwrap());
    }

    #[tokio::test]
    async fn the_rights_of_an_account_count_only_for_what_it_gives() {
        let (iam, created) = service().await;
        let system = Caller::system(created.tenant.id, "test");
        let new = NewServiceAccount { name: "Robot".into() };
        let account = iam.users().create_service_account(&system, new).await.unwrap().id;
        let mut grants = Vec::new();
        for (name, permission) in [("READER", "users:read"), ("WRITER", "users:update")] {
            let new = NewRole { name: name.into(), permissions: vec![permission.into()], ..NewRole::default() };
            let role = Arc::new(iam.roles().create(&system, new).await.unwrap());
            let assignment = Assignment {
                id: iam.0.next_id(),
                tenant_id: created.tenant.id,
                user_id: created.user.id,
                role_id: role.id,
                organization_id: None,
                expires_at: None,
                created_at: iam.0.now(),
                created_by: None,
                directory_group_id: None,
                access_request_id: None,
            };
            grants.push(Grant { assignment, role, organization: None });
        }
        let new = NewAssignment {
            user: account,
            role: grants[0].role.id,
            organization: None,
            expires_at: Some(iam.0.now() + chrono::TimeDelta::days(1)),
        };
        let until = iam.assignments().create(&system, new).await.unwrap().expires_at;
        grants[0].assignment.expires_at = until;
        let mut work = iam.0.begin(&system).await.unwrap();
        work.reads().lock_tenant().await.unwrap();
        let account = work.rights_of(account).await.unwrap();
        let offered = grants.iter().map(|grant| OfferedRole {
            role: Arc::clone(&grant.role),
            organization: None,
            expires_at: None,
        });
        let held = work.held_until(&account, offered.collect()).await.unwrap();
        let held: Vec<Option<Until>> = held.into_iter().map(|(_, until)| until.ok()).collect();
        assert_eq!(held, [Some(Until::from(until)), None]);
        work.give_by_directory(&account, grants[..1].to_vec()).await.unwrap();
        // The caller's own rights were not read.
        let refused = work.apply(AssignmentChange::Create(grants[1..].to_vec())).await;
        assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
        work.lock_rights().await.unwrap();
        let refused = work.give_by_directory(&account, grants[1..].to_vec()).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
        work.apply(AssignmentChange::Create(grants[1..].to_vec())).await.unwrap();
    }

    #[tokio::test]
    async fn a_change_gives_no_more_rights_than_the_caller_holds_under_the_lock() {
        let (iam, created) = service().await;
        let role = role(&iam, &created, "users:*");
        let system = Caller::system(created.tenant.id, "test");
        let new = NewUser {
            email: "grace@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Grace".into(),
            last_name: "Hopper".into(),
        };
        let user = iam.users().create(&system, new).await.unwrap().id;
        // The rights of the caller are outdated: its user holds no role.
        let (session, context): (SessionId, _) = (iam.0.next_id(), RequestContext::default());
        let caller = Caller::user_session(created.tenant.id, user, session, Authority::everything(), context);
        let mut work = iam.0.begin(&caller).await.unwrap();
        work.lock_rights().await.unwrap();
        let refused = work.apply(RoleChange::Create(role.clone())).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
        assert_eq!(work.reads().roles_by_id(&[role.id]).await.unwrap(), []);
    }
}
