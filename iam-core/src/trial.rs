//! Previews: what a change would do to the rights of users.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use iam_model::access::VisibleScope;
use iam_model::assignment::{RevokeReason, by_user};
use iam_model::change::{AssignmentChange, Change, UserChange};
use iam_model::credential::Account;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{AccessRequestId, OrganizationId, TenantId, UserId};
use iam_model::organization::{Ancestry, Organization};
use iam_model::page::{MAX_LIMIT, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::preview::{Comparison, Effects, RightChange, RightChanges, SubjectBefore};
use iam_model::user::UserStatus;

use crate::access_request::{AccessRequests, Obstacle};
use crate::assignment::Assignments;
use crate::caller::Caller;
use crate::directory::Directories;
use crate::distinct::distinct;
use crate::engine::{Engine, IsCancelled, PreviewPermit};
use crate::grouped::grouped;
use crate::iam::Iam;
use crate::organization::Organizations;
use crate::permission::Permissions;
use crate::role::Roles;
use crate::session::Sessions;
use crate::user::Users;

/// The maximum number of rows of a preview (`docs/foresight.md#before-a-change-the-preview`).
pub const MAX_PREVIEW_ROWS: usize = iam_model::preview::MAX_ROWS;

/// What a change would do, if it were made now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The rule that would refuse the change; `None` if it would be made.
    pub refusal: Option<Error>,
    /// The number of users who would gain or lose a right.
    pub users: u64,
    /// The rights that they would gain or lose, at most [`MAX_PREVIEW_ROWS`]: those in places in which the caller holds
    /// `role-assignments:read`. A preview of an access request, which the caller sees, has all of them.
    pub changes: Vec<RightChange>,
    /// Whether there are more rows than that, or with more than 50,000 assignments in
    /// [`via`](RightChange::via) of all of them.
    pub truncated: bool,
}

/// Tries changes out: the same services decide as for real changes, and nothing is written.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::assignment::NewAssignment;
/// use iam_core::preview::Direction;
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let member = iam.roles().by_name(&ada, "MEMBER").await?.ok_or("it is built in")?;
/// let new = NewAssignment { user: grace.id, role: member.id, organization: None, expires_at: None };
///
/// let trial = iam.trial();
/// let outcome = trial.assignments().create(&ada, new).await;
/// let preview = trial.preview(&ada, outcome).await?;
/// assert!(preview.refusal.is_none() && preview.users == 1);
/// assert!(preview.changes.iter().all(|change| change.direction == Direction::Gained));
/// assert!(iam.assignments().of_user(&ada, grace.id).await?.is_empty());
/// # Ok(())
/// # }
/// ```
pub struct Trial(pub(crate) Engine);

impl Iam {
    /// Returns the services whose changes can be tried out.
    #[must_use]
    pub fn trial(&self) -> Trial {
        Trial(self.0.on_trial())
    }
}

impl Trial {
    /// As [`Iam::users`].
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(&self.0)
    }

    /// As [`Iam::roles`].
    #[must_use]
    pub fn roles(&self) -> Roles<'_> {
        Roles(&self.0)
    }

    /// As [`Iam::permissions`].
    #[must_use]
    pub fn permissions(&self) -> Permissions<'_> {
        Permissions(&self.0)
    }

    /// As [`Iam::organizations`].
    #[must_use]
    pub fn organizations(&self) -> Organizations<'_> {
        Organizations(&self.0)
    }

    /// As [`Iam::assignments`].
    #[must_use]
    pub fn assignments(&self) -> Assignments<'_> {
        Assignments(&self.0)
    }

    /// As [`Iam::access_requests`]. A new request is tried out as if it were approved at once.
    #[must_use]
    pub fn access_requests(&self) -> AccessRequests<'_> {
        AccessRequests(&self.0)
    }

    /// Tries out the last approval of a PENDING access request that the caller sees, whether or not the caller may
    /// approve it: it shows what its user would gain.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], and the conflicts of [`AccessRequests::approve`].
    pub async fn activate(&self, caller: &Caller, id: AccessRequestId) -> Result<()> {
        self.access_requests().try_activation(caller, id).await
    }

    /// Returns what keeps an access request that waits, and that the caller sees, from becoming effective. `None` if
    /// nothing does. It is the reason of a conflict of [`activate`](Self::activate).
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn obstacle(&self, caller: &Caller, id: AccessRequestId) -> Result<Option<Obstacle>> {
        self.access_requests().obstacle(caller, id).await
    }

    /// As [`Iam::directories`].
    #[must_use]
    pub fn directories(&self) -> Directories<'_> {
        Directories(&self.0)
    }

    /// Tries out the end of all sessions of a user. The other calls of [`Sessions`] cannot be tried out.
    ///
    /// # Errors
    ///
    /// Those of [`Sessions::logout_user`].
    pub async fn logout_user(&self, caller: &Caller, user: UserId) -> Result<()> {
        Sessions(&self.0).logout_user(caller, user).await
    }

    /// Returns what the calls since the last preview would have done. `outcome` is what the last one returned.
    ///
    /// The rights are compared after the locks of the calls are released, with the assignments of then.
    ///
    /// # Errors
    ///
    /// [`Conflict::PreviewsRunning`](iam_model::error::Conflict::PreviewsRunning) if two previews of the tenant are
    /// being computed. The error of the outcome, unless it is a rule that would refuse the change: an escalation, a
    /// conflict or a rule of the domain.
    pub async fn preview<T>(&self, caller: &Caller, outcome: Result<T>) -> Result<Preview> {
        self.preview_by(caller, outcome, None).await
    }

    /// Does the same as [`preview`](Self::preview), for a call that may have its permit already.
    pub(crate) async fn preview_by<T>(
        &self,
        caller: &Caller,
        outcome: Result<T>,
        permit: Option<PreviewPermit>,
    ) -> Result<Preview> {
        let changes = self.0.trial.as_ref().map(|trial| trial.taken()).unwrap_or_default();
        let outcome = match outcome {
            Ok(_) => self.check_taken(caller, &changes).await,
            Err(error) => Err(error),
        };
        match outcome {
            Err(error) if is_rule(&error) => {
                Ok(Preview { refusal: Some(error), users: 0, changes: Vec::new(), truncated: false })
            }
            Err(error) => Err(error),
            Ok(()) => {
                let permit = match permit {
                    Some(permit) => permit,
                    None => self.0.computing.admit_preview(caller.tenant())?,
                };
                self.compare(caller, Effects::of(&changes), shows_all(&changes), permit).await
            }
        }
    }

    /// Refuses an e-mail or an external identifier that another user of the tenant has, as the store would.
    async fn check_taken(&self, caller: &Caller, changes: &[Change]) -> Result<()> {
        for change in changes {
            let Change::User(UserChange::Update { before, after, .. }) = change else { continue };
            if before.email.key() != after.email.key() {
                let found = self.0.store.guarded_account(caller.tenant(), &after.email.key()).await?;
                if let Some(Account { user, .. }) = found.account {
                    return Err(self.0.email_taken(caller, &user).await);
                }
            }
            if before.external_id != after.external_id
                && let Some(external_id) = &after.external_id
                && self.0.store.user_by_external_id(caller.tenant(), external_id).await?.is_some()
            {
                return Err(Conflict::ExternalIdTaken.into());
            }
        }
        Ok(())
    }

    /// Compares the rights of all users whom the changes affect. The users are read here, and compared beside the async
    /// threads. If the caller gives up, the comparison breaks off, and only then releases the permit of its tenant.
    async fn compare(
        &self,
        caller: &Caller,
        effects: Effects,
        shows_all: bool,
        permit: PreviewPermit,
    ) -> Result<Preview> {
        let (tenant, permit) = (caller.tenant(), Arc::new(permit));
        // The users of a preview are read from the store in many steps.
        let _turn = self.0.long_read(caller).await?;
        let effects = Arc::new(effects);
        let affected = self.affected_organizations(tenant, &effects).await?;
        let mut users: BTreeSet<UserId> = effects.users().clone();
        let roles = effects.roles();
        if !(roles.is_empty() && affected.is_empty()) {
            users.extend(self.0.store.assigned_users(tenant, &roles, &affected).await?);
        }
        let users: Vec<UserId> = users.into_iter().collect();
        let mut catalogue = self.catalogue(tenant).await?;
        catalogue.extend_from_slice(effects.registered());
        let visible_scope = match shows_all {
            true => Some(VisibleScope::Tenant),
            false => self.0.rights(caller).visible_scope(&permission::ROLE_ASSIGNMENTS_READ).ok(),
        };
        let now = self.0.now();
        let mut comparison = Comparison::new(Arc::clone(&effects), catalogue, visible_scope.as_ref(), now);
        for users in grouped(&self.0, tenant, &users).await? {
            let (tree, subjects) = self.before(tenant, users, &effects).await?;
            let permit = Arc::clone(&permit);
            let compare = move |is_cancelled: IsCancelled<'_>| {
                let _permit = permit;
                comparison.set_tree(&tree);
                for subject in subjects.iter().take_while(|_| !is_cancelled()) {
                    comparison.add(subject);
                }
                comparison
            };
            comparison = self.0.computing.run(tenant, compare).await?;
        }
        let RightChanges { users, rows, truncated, .. } = comparison.into_changes();
        Ok(Preview { refusal: None, users, changes: rows, truncated })
    }

    /// Reads these users as they are before the changes, by id, with the organizations that a comparison needs.
    async fn before(
        &self,
        tenant: TenantId,
        users: &[UserId],
        effects: &Effects,
    ) -> Result<(Vec<Organization>, Vec<SubjectBefore>)> {
        let store = &self.0.store;
        let found = store.users_by_id(tenant, users).await?;
        let found = found.into_iter().map(|user| (user.id, user.status));
        // Without any role, each status is the same.
        let new = users.iter().filter(|user| effects.is_new_user(**user)).map(|user| (*user, UserStatus::Active));
        let mut grants = by_user(store.grants_of(tenant, users).await?);
        let held_in = grants.values().flatten().filter_map(|grant| grant.assignment.organization_id);
        let organizations = distinct(held_in.chain(named_organizations(effects)).chain(effects.given_in()));
        let tree = store.lineages(tenant, &organizations).await?;
        let mut subjects: Vec<SubjectBefore> = found
            .chain(new)
            .map(|(user, status)| SubjectBefore { user, status, grants: grants.remove(&user).unwrap_or_default() })
            .collect();
        subjects.sort_unstable_by_key(|subject| subject.user);
        Ok((tree, subjects))
    }

    /// The organizations whose assignments begin or cease to count somewhere.
    async fn affected_organizations(&self, tenant: TenantId, effects: &Effects) -> Result<Vec<OrganizationId>> {
        if effects.organizations().next().is_none() {
            return Ok(Vec::new());
        }
        let mut tree = self.0.store.lineages(tenant, &distinct(named_organizations(effects))).await?;
        for (before, _) in effects.organizations() {
            tree.extend(self.0.store.subtree(tenant, before.id).await?);
        }
        let tree: Ancestry = tree.iter().collect();
        // An organization below two changed ones is there twice.
        let before = Ancestry::merged([&tree]);
        Ok(effects.affected_organizations(&before, &effects.tree_after(&before)))
    }

    /// The registered permissions, by name.
    async fn catalogue(&self, tenant: TenantId) -> Result<Vec<Permission>> {
        let mut names = Vec::new();
        let mut number = 1;
        loop {
            let request = PageRequest::new(number, MAX_LIMIT)
                .map_err(|invalid| Error::internal("a page of permissions", invalid))?;
            let page = self.0.store.permissions(tenant, request).await?;
            let is_last = page.items.len() < MAX_LIMIT as usize;
            names.extend(page.items.into_iter().map(|registered| registered.name));
            if is_last {
                return Ok(distinct(names));
            }
            number += 1;
        }
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trial").field(&self.0.store.kind()).finish()
    }
}

/// The organizations that are changed, their parents after the changes, and the parents of new ones.
fn named_organizations(effects: &Effects) -> impl Iterator<Item = OrganizationId> {
    let changed = effects.organizations().flat_map(|(before, after)| [Some(before.id), after.parent_id]);
    changed.chain(effects.new_organizations().map(|new| new.parent_id)).flatten()
}

/// Whether the changes are those of an access request alone: the user who asks for a role, and those who see the
/// request, are shown what the role would give.
fn shows_all(changes: &[Change]) -> bool {
    let is_of_request = |change: &Change| {
        matches!(
            change,
            Change::AccessRequest(_)
                | Change::Mail(_)
                | Change::Assignment(AssignmentChange::Revoke { reason: Some(RevokeReason::Expired), .. })
        )
    };
    let mut others = changes.iter().filter(|change| !is_of_request(change));
    let is_activation = |change: &Change| matches!(change, Change::Assignment(AssignmentChange::Activate { .. }));
    others.next().is_some_and(is_activation) && others.next().is_none()
}

/// Whether an error is the answer of a rule to the change, and not about the call.
fn is_rule(error: &Error) -> bool {
    match error {
        Error::About { error, .. } => is_rule(error),
        Error::Forbidden(Forbidden::Escalation(_) | Forbidden::AccountEscalation(_))
        | Error::Conflict(_)
        | Error::Rule(_) => true,
        _ => false,
    }
}
