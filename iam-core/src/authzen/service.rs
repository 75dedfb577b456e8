use std::collections::HashSet;

use iam_model::access::{Authority, Decision, Denial, Snapshot};
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::TenantId;
use iam_model::permission;
use iam_model::permission::Permission;

use crate::access::{ANSWERED_AT_ONCE, Access};
use crate::authzen::names::{Named, Place};
use crate::authzen::request::{Evaluation, Resource, Subject, USER, permission_of};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::Engine;

/// The maximum number of evaluations in one call (`docs/authzen.md#evaluations`).
pub const MAX_EVALUATIONS: usize = 100;

/// Answers questions in the words of AuthZEN; see [`Iam::authzen`](crate::iam::Iam::authzen).
///
/// A subject is a user, and an action on a resource is the permission `<type of the resource>:<name of the action>`.
/// What does not exist for the caller is no error: it is denied, and no search finds it.
///
/// A question about the caller itself, in a session, needs no permission. All others need `role-assignments:read`
/// tenant-wide.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::authzen::{Evaluation, Resource, Subject};
/// use iam_core::page::PageRequest;
///
/// let user = ada.user().ok_or("she is a user")?.to_string();
/// let subject = Subject { kind: "user", id: &user };
/// let resource = Resource { kind: "users", id: "any", organization: None };
/// let decision = iam.authzen().evaluate(&ada, Evaluation { subject, action: "delete", resource }).await?;
/// assert!(decision.is_allowed());
///
/// let actions = iam.authzen().search_actions(&ada, subject, resource, PageRequest::default()).await?;
/// assert_eq!(actions.items, ["create", "delete", "read", "update"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Authzen<'a>(pub(crate) &'a Engine);

/// What a request is about, as far as it exists for its caller.
pub(super) struct Asked<'t> {
    named: Named<'t>,
    snapshot: Snapshot,
}

impl Authzen<'_> {
    /// Decides whether a subject may do something with a resource, and why. The decision is that of
    /// [`Access::check`]. But a permission that is not registered is denied to all.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] about another subject than the caller, without `role-assignments:read` tenant-wide.
    pub async fn evaluate(&self, caller: &Caller, evaluation: Evaluation<'_>) -> Result<Decision> {
        let decisions = self.decide(caller, &[evaluation]).await?;
        decisions.into_iter().next().ok_or_else(|| Error::internal("decision", "none was made"))
    }

    /// Decides 1–100 evaluations in the given order, each as [`evaluate`](Self::evaluate) does. The number of queries
    /// does not depend on their number.
    ///
    /// # Errors
    ///
    /// Those of [`evaluate`](Self::evaluate), if it fails for one of them; [`Error::Validation`] naming `evaluations`.
    pub async fn evaluate_all(&self, caller: &Caller, evaluations: &[Evaluation<'_>]) -> Result<Vec<Decision>> {
        if !(1..=MAX_EVALUATIONS).contains(&evaluations.len()) {
            return Err(Error::field("evaluations", format!("must have 1 to {MAX_EVALUATIONS} items")));
        }
        self.decide(caller, evaluations).await
    }

    async fn decide(&self, caller: &Caller, evaluations: &[Evaluation<'_>]) -> Result<Vec<Decision>> {
        let now = self.0.now();
        let subjects: Vec<Subject<'_>> = evaluations.iter().map(|evaluation| evaluation.subject).collect();
        let resources: Vec<Resource<'_>> = evaluations.iter().map(|evaluation| evaluation.resource).collect();
        let asked = self.asked(caller, &subjects, &resources).await?;
        let mut decisions = Vec::with_capacity(evaluations.len());
        // The permissions that may not be registered, with the number of the decision that allows each.
        let mut doubtful = Vec::new();
        for (number, evaluation) in evaluations.iter().enumerate() {
            if number % ANSWERED_AT_ONCE == ANSWERED_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
            let Evaluation { subject, action, resource } = *evaluation;
            let Some(permission) = permission_of(resource.kind, action) else {
                decisions.push(Decision::denied(Denial::Unknown));
                continue;
            };
            let decision = asked.explain(caller, subject, &permission, resource, now);
            if decision.is_allowed() && !asked.is_surely_registered(caller, subject, &permission, resource, now) {
                doubtful.push((number, permission));
            }
            decisions.push(decision);
        }
        let permissions: Vec<&Permission> = doubtful.iter().map(|(_, permission)| permission).collect();
        let registered = self.registered(caller.tenant(), &permissions).await?;
        for (number, permission) in &doubtful {
            if let Some(decision) = decisions.get_mut(*number).filter(|_| !registered.contains(permission)) {
                *decision = Decision::denied(Denial::Unknown);
            }
        }
        Ok(decisions)
    }

    /// Finds what a request names, and reads the rights of its subjects, if the caller may ask about them.
    pub(super) async fn asked<'t>(
        &self,
        caller: &Caller,
        subjects: &[Subject<'t>],
        resources: &[Resource<'t>],
    ) -> Result<Asked<'t>> {
        let users: Vec<&'t str> =
            subjects.iter().filter(|subject| subject.kind == USER).map(|subject| subject.id).collect();
        let places: Vec<&'t str> = resources.iter().filter_map(|resource| resource.place()).collect();
        let mut named = self.0.find_named(caller, users, places).await?;
        let is_own = |subject: &Subject<'_>| named.user(*subject).is_some_and(|user| caller.is_in_session_of(user));
        if !subjects.iter().all(is_own) {
            self.0.rights(caller).require(&permission::ROLE_ASSIGNMENTS_READ)?;
        }
        let ancestry = self.0.lineages(caller.tenant(), named.organizations()).await?;
        // The caller's own rights were read when the caller was authenticated.
        let others = distinct(named.users().filter(|user| !caller.is_in_session_of(*user)));
        if others.is_empty() {
            return Ok(Asked { named, snapshot: Snapshot::over(ancestry) });
        }
        let _turn = if others.len() > 1 { Some(self.0.long_read(caller).await?) } else { None };
        let mut found = match named.found.take() {
            Some(found) => found,
            None => self.0.store.users_by_id(caller.tenant(), &others).await?,
        };
        found.retain(|user| others.contains(&user.id));
        let snapshot = Access(self.0).snapshot_of(caller.tenant(), &others, found, ancestry).await?;
        Ok(Asked { named, snapshot })
    }

    /// Returns those of these permissions that are registered. Only those of the application are looked up.
    pub(super) async fn registered(
        &self,
        tenant: TenantId,
        permissions: &[&Permission],
    ) -> Result<HashSet<Permission>> {
        let (mut registered, others): (HashSet<Permission>, HashSet<Permission>) =
            permissions.iter().map(|permission| (*permission).clone()).partition(Permission::is_built_in);
        let resources = distinct(others.iter().map(Permission::resource));
        if !resources.is_empty() {
            registered.extend(self.0.store.permissions_about(tenant, &resources).await?);
        }
        Ok(registered)
    }
}

impl Asked<'_> {
    /// Where a resource is; `None` if that is unknown. An organization in which the caller holds nothing is unknown to
    /// it.
    pub(super) fn place(&self, caller: &Caller, resource: Resource<'_>, now: Timestamp) -> Option<Place> {
        let place = self.named.place(resource)?;
        let scope = self.snapshot.scope(place.organization())?;
        (place == Place::Tenant || caller.authority().sees(scope, now)).then_some(place)
    }

    /// The rights of a subject; `None` if it is unknown or not ACTIVE.
    pub(super) fn authority<'a>(&'a self, caller: &'a Caller, subject: Subject<'_>) -> Option<&'a Authority> {
        let user = self.named.user(subject)?;
        if caller.is_in_session_of(user) { Some(caller.authority()) } else { self.snapshot.authority(user) }
    }

    /// Whether a permission is held; see [`Authority::allows`].
    pub(super) fn allows(&self, authority: &Authority, permission: &Permission, place: Place, now: Timestamp) -> bool {
        let scope = self.snapshot.scope(place.organization());
        scope.is_some_and(|scope| authority.allows(permission, scope, now))
    }

    fn explain(
        &self,
        caller: &Caller,
        subject: Subject<'_>,
        permission: &Permission,
        resource: Resource<'_>,
        now: Timestamp,
    ) -> Decision {
        let decision = || {
            let organization = self.place(caller, resource, now)?.organization();
            let user = self.named.user(subject)?;
            if caller.is_in_session_of(user) {
                return Some(caller.authority().explain(permission, self.snapshot.scope(organization)?, now));
            }
            self.snapshot.explain(user, permission, organization, now)
        };
        decision().unwrap_or_else(|| Decision::denied(Denial::Unknown))
    }

    /// Whether a permission that a subject holds is registered, as far as that can be known without a query: because it
    /// is built in, or because a role of the subject names it.
    fn is_surely_registered(
        &self,
        caller: &Caller,
        subject: Subject<'_>,
        permission: &Permission,
        resource: Resource<'_>,
        now: Timestamp,
    ) -> bool {
        let is_named = || {
            let place = self.place(caller, resource, now)?;
            let scope = self.snapshot.scope(place.organization())?;
            Some(self.authority(caller, subject)?.names(permission, scope, now))
        };
        permission.is_built_in() || is_named().unwrap_or(false)
    }
}
