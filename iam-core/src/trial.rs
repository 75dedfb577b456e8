//! Previews: what a change would do to the rights of users.

use std::collections::BTreeSet;
use std::fmt;

use iam_model::access::VisibleScope;
use iam_model::assignment::by_user;
use iam_model::change::{Change, UserChange};
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::organization::{AffectedTree, Ancestry, Hierarchy, Organization};
use iam_model::page::{MAX_LIMIT, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::preview::{Comparison, Effects, RightChange, SubjectBefore};

use crate::assignment::Assignments;
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::Engine;
use crate::iam::Iam;
use crate::organization::Organizations;
use crate::role::Roles;
use crate::user::Users;

/// The maximum number of rows of a preview (`foresight.md`).
pub const MAX_PREVIEW_ROWS: usize = 10_000;

/// How many users are read and compared at once, which bounds the memory of a preview that affects many.
const COMPARED_AT_ONCE: usize = 5_000;

/// What a change would do, if it were made now.
#[derive(Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The rule that would refuse the change; `None` if it would be made.
    pub refusal: Option<Error>,
    /// The number of users who would gain or lose a right.
    pub users: u64,
    /// The rights that they would gain or lose, at most [`MAX_PREVIEW_ROWS`]: those in places in which the caller holds
    /// `role-assignments:read`.
    pub changes: Vec<RightChange>,
    /// Whether there are more rows than that.
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
pub struct Trial(Engine);

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

    /// Returns what the calls since the last preview would have done. `outcome` is what the last one returned.
    ///
    /// The rights are compared after the locks of the calls are released, with the assignments of then.
    ///
    /// # Errors
    ///
    /// The error of the outcome, unless it is a rule that would refuse the change: an escalation, a conflict or a rule
    /// of the domain.
    pub async fn preview<T>(&self, caller: &Caller, outcome: Result<T>) -> Result<Preview> {
        let changes = self.0.trial.as_ref().map(|trial| trial.taken()).unwrap_or_default();
        let outcome = match outcome {
            Ok(_) => self.check_emails(caller.tenant(), &changes).await,
            Err(error) => Err(error),
        };
        match outcome {
            Err(error) if is_rule(&error) => {
                Ok(Preview { refusal: Some(error), users: 0, changes: Vec::new(), truncated: false })
            }
            Err(error) => Err(error),
            Ok(()) => self.compare(caller, &Effects::of(&changes)).await,
        }
    }

    /// Refuses an e-mail that another user of the tenant has, as the store would.
    async fn check_emails(&self, tenant: TenantId, changes: &[Change]) -> Result<()> {
        for change in changes {
            let Change::User(UserChange::Update { before, after, .. }) = change else { continue };
            let is_new = before.email.key() != after.email.key();
            if is_new && self.0.store.guarded_account(tenant, &after.email.key()).await?.account.is_some() {
                return Err(Conflict::EmailTaken.into());
            }
        }
        Ok(())
    }

    async fn compare(&self, caller: &Caller, effects: &Effects) -> Result<Preview> {
        let tenant = caller.tenant();
        let affected = self.affected_organizations(tenant, effects).await?;
        let mut users: BTreeSet<UserId> = effects.users().clone();
        let roles = effects.roles();
        if !(roles.is_empty() && affected.is_empty()) {
            users.extend(self.0.store.assigned_users(tenant, &roles, &affected).await?);
        }
        let users: Vec<UserId> = users.into_iter().collect();
        let catalogue = self.catalogue(tenant).await?;
        let visible_scope = self.0.rights(caller).visible_scope(&permission::ROLE_ASSIGNMENTS_READ).ok();
        let now = self.0.now();

        let mut preview = Preview { refusal: None, users: 0, changes: Vec::new(), truncated: false };
        for users in users.chunks(COMPARED_AT_ONCE) {
            let (tree, subjects) = self.before(tenant, users, effects).await?;
            let ancestry: Ancestry = tree.iter().collect();
            let mut comparison = Comparison::new(effects, tree, &catalogue, now);
            for subject in subjects {
                let rows = comparison.of(&subject);
                preview.users += u64::from(!rows.is_empty());
                let is_seen = |row: &RightChange| is_visible(visible_scope.as_ref(), &ancestry, row.organization);
                preview.changes.extend(rows.into_iter().filter(is_seen));
                if preview.changes.len() > MAX_PREVIEW_ROWS {
                    preview.truncated = true;
                    preview.changes.truncate(MAX_PREVIEW_ROWS);
                }
            }
        }
        Ok(preview)
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
        let mut grants = by_user(store.grants_of(tenant, users).await?);
        let held_in = grants.values().flatten().filter_map(|grant| grant.assignment.organization_id);
        let named = effects.organization().into_iter().flat_map(|(before, after)| [Some(before.id), after.parent_id]);
        let organizations = distinct(held_in.chain(named.flatten()).chain(effects.given_in()));
        let tree = store.lineages(tenant, &organizations).await?;
        let mut subjects: Vec<SubjectBefore> = found
            .into_iter()
            .map(|user| SubjectBefore {
                user: user.id,
                status: user.status,
                grants: grants.remove(&user.id).unwrap_or_default(),
            })
            .collect();
        subjects.sort_unstable_by_key(|subject| subject.user);
        Ok((tree, subjects))
    }

    /// The organizations whose assignments begin or cease to count somewhere.
    async fn affected_organizations(&self, tenant: TenantId, effects: &Effects) -> Result<Vec<OrganizationId>> {
        let Some((before, after)) = effects.organization() else { return Ok(Vec::new()) };
        let ids: Vec<OrganizationId> = [Some(before.id), after.parent_id].into_iter().flatten().collect();
        let above: Hierarchy = self.0.store.lineages(tenant, &ids).await?.into_iter().collect();
        let subtree = self.0.store.subtree(tenant, before.id).await?;
        let tree = AffectedTree::new(&above, &subtree);
        Ok(effects.organizations(tree.before(), &tree.after(after)))
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

/// Whether an error is the answer of a rule to the change, and not about the call.
fn is_rule(error: &Error) -> bool {
    match error {
        Error::About { error, .. } => is_rule(error),
        Error::Forbidden(Forbidden::Escalation(_)) | Error::Conflict(_) | Error::Rule(_) => true,
        _ => false,
    }
}

/// Whether a place is within the visible scope.
fn is_visible(scope: Option<&VisibleScope>, tree: &Ancestry, place: Option<OrganizationId>) -> bool {
    match (scope, place) {
        (None, _) => false,
        (Some(VisibleScope::Tenant), _) => true,
        (Some(VisibleScope::Organizations(_)), None) => false,
        (Some(VisibleScope::Organizations(roots)), Some(place)) => {
            tree.position(place).is_some_and(|position| roots.iter().any(|root| position.is_within(*root)))
        }
    }
}
