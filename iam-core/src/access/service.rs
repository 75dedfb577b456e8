use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use iam_model::access::{Authority, Decision, Denial, Rights, Snapshot};
use iam_model::assignment::by_user;
use iam_model::audit::ResourceType;
use iam_model::clock::Timestamp;
use iam_model::context::Actor;
use iam_model::error::{Error, Result};
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::organization::Ancestry;
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::user::User;

use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::Engine;
use crate::grouped::grouped;
use crate::history;

/// The maximum number of questions in one call (`docs/http-api.md#checks`).
pub const MAX_QUESTIONS: usize = 100;

/// The number of questions that are answered before other tasks get their turn: a user may hold a thousand roles, and
/// each answer reads all of them.
pub(crate) const ANSWERED_AT_ONCE: usize = 10;

/// Answers which user may do what; see [`Iam::access`](crate::iam::Iam::access).
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::access::{Denial, Question};
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let question = Question { permission: "users:read".parse()?, organization: None, user: Some(grace.id), at: None };
/// let decision = iam.access().check(&ada, question).await?;
/// assert_eq!(decision.denial, Some(Denial::NotHeld)); // an allowed decision names its grants
///
/// iam.access().require(&ada, "users:read", None).await?; // fails if it is missing; the API then answers 403
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Access<'a>(pub(crate) &'a Engine);

/// Asks whether a user may do something in a resource scope.
#[derive(Clone, Debug)]
pub struct Question {
    /// The permission.
    pub permission: Permission,
    /// The organization; `None` for tenant-wide.
    pub organization: Option<OrganizationId>,
    /// The user; `None` for the caller.
    pub user: Option<UserId>,
    /// The moment; `None` for now. For a future moment, the answer holds if nothing changes until then.
    pub at: Option<Timestamp>,
}

impl Access<'_> {
    /// Requires that the caller holds a permission in an organization, or tenant-wide if no organization is given. The
    /// permission is a built-in one or one of the application's own.
    ///
    /// ```
    /// # use iam_core::{Caller, Iam, OrganizationId, Result};
    /// async fn refund(iam: &Iam, caller: &Caller, branch: OrganizationId) -> Result<()> {
    ///     iam.access().require(caller, "orders:refund", branch).await?;
    ///     iam.access().require(caller, "reports:create", None).await?;
    ///     // …
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Forbidden::Permission`](iam_model::error::Forbidden::Permission) with the missing permission;
    /// [`Error::NotFound`] for an organization that does not exist, or in which the caller holds nothing;
    /// [`Error::Validation`] for a text that is not a permission.
    pub async fn require<P>(
        &self,
        caller: &Caller,
        permission: P,
        organization: impl Into<Option<OrganizationId>> + Send,
    ) -> Result<()>
    where
        P: TryInto<Permission, Error: fmt::Display> + Send,
    {
        let permission = permission.try_into().map_err(|invalid| Error::field("permission", invalid.to_string()))?;
        let rights = self.0.rights(caller);
        let Some(organization) = organization.into() else { return rights.require(&permission) };
        let lineage = self.0.lineages(caller.tenant(), [organization]).await?;
        require_in(rights, &permission, &lineage, organization)
    }

    /// Decides whether a user may do something, and why.
    ///
    /// A question without a user is about the caller; for an API key, about the rights of the key. A question about
    /// another user needs `role-assignments:read` in the same resource scope; so does one by a key about its own user.
    /// A caller that holds this permission in organizations only is not told of the user's roles elsewhere. It is told
    /// that the user is not ACTIVE only if the user holds the permission of the question in that scope.
    ///
    /// A question about an earlier moment also needs `audit-logs:read` tenant-wide. It is answered from
    /// the assignments, the roles, the organization tree and the statuses of that moment. An API key can ask it only
    /// about a user.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Validation`] naming `at` for a moment before the history of the tenant begins;
    /// [`Error::About`] with [`Error::NotFound`] for a user who does not exist, or for an
    /// organization that does not exist or in which the caller holds nothing.
    pub async fn check(&self, caller: &Caller, question: Question) -> Result<Decision> {
        let decisions = self.decide(caller, &[question], |_, field| field.to_owned()).await?;
        decisions.into_iter().next().ok_or_else(|| Error::internal("decision", "none was made"))
    }

    /// Answers 1–100 questions in the given order, each like [`check`](Self::check).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check). An error names its question (`checks[3].userId`).
    pub async fn check_all(&self, caller: &Caller, questions: &[Question]) -> Result<Vec<Decision>> {
        if !(1..=MAX_QUESTIONS).contains(&questions.len()) {
            return Err(Error::field("checks", format!("must have 1 to {MAX_QUESTIONS} items")));
        }
        self.decide(caller, questions, |number, field| format!("checks[{number}].{field}")).await
    }

    async fn decide(
        &self,
        caller: &Caller,
        questions: &[Question],
        field: impl Fn(usize, &str) -> String,
    ) -> Result<Vec<Decision>> {
        let now = self.0.now();
        let organizations = questions.iter().filter_map(|question| question.organization);
        let ancestry = self.0.lineages(caller.tenant(), organizations).await?;
        let rights = self.0.rights(caller);
        for (number, question) in questions.iter().enumerate() {
            may_ask(rights, caller, question, &ancestry)
                .map_err(|error| error.about_what_it_names(field(number, "organizationId")))?;
        }
        let past = self.past_snapshots(caller, questions, now, &field).await?;
        let is_present = |question: &&Question| question.past(now).is_none();
        let other = |question: &Question| question.user.filter(|user| !caller.is_in_session_of(*user));
        let others = distinct(questions.iter().filter(is_present).filter_map(other));
        let present = self.snapshot(caller, &others, ancestry).await?;
        let answer = |(number, question): (usize, &Question)| {
            let Question { permission, organization, .. } = question;
            let (at, past_at) = (question.at.unwrap_or(now), question.past(now));
            // The caller's own present rights were read when the caller was authenticated.
            let Some(user) = past_at.map_or_else(|| other(question), |_| question.user.or(caller.user())) else {
                let missing = || Error::NotFound(ResourceType::ORGANIZATION).about(field(number, "organizationId"));
                let scope = present.scope(*organization).ok_or_else(missing)?;
                let own = Rights::new(caller.authority(), at);
                return Ok::<_, Error>(own.explain(permission, scope));
            };
            let no_user = || Error::NotFound(ResourceType::USER).about(field(number, "userId"));
            let snapshot = match past_at {
                None => &present,
                Some(at) => past.at(user, at).ok_or_else(no_user)?,
            };
            let decision = snapshot.explain(user, permission, *organization, at);
            let decision = match past_at {
                None => decision.ok_or_else(no_user)?,
                Some(_) => decision.unwrap_or_else(|| Decision::denied(Denial::DidNotExist)),
            };
            let knows_all = caller.is_in_session_of(user) || rights.require(&permission::ROLE_ASSIGNMENTS_READ).is_ok();
            let is_held_here = snapshot.holds(user, permission, *organization, at);
            Ok(if knows_all || is_held_here { decision } else { decision.without_outside_facts() })
        };
        let mut decisions = Vec::with_capacity(questions.len());
        for (number, question) in questions.iter().enumerate() {
            if number % ANSWERED_AT_ONCE == ANSWERED_AT_ONCE - 1 {
                tokio::task::yield_now().await;
            }
            decisions.push(answer((number, question))?);
        }
        Ok(decisions)
    }

    /// Reads the state at each past moment of the questions, if the caller may look back.
    async fn past_snapshots(
        &self,
        caller: &Caller,
        questions: &[Question],
        now: Timestamp,
        field: impl Fn(usize, &str) -> String,
    ) -> Result<PastSnapshots> {
        let numbered = || questions.iter().enumerate();
        let past = || numbered().filter_map(|(number, question)| Some((question.past(now)?, number, question)));
        let Some((earliest, first)) = past().map(|(at, number, _)| (at, number)).min() else {
            return Ok(PastSnapshots::default());
        };
        self.0.rights(caller).require(&permission::AUDIT_LOGS_READ)?;
        let by_key = matches!(caller.actor(), Actor::ApiKey { .. });
        if let Some((_, number, _)) = past().find(|(.., question)| by_key && question.user.is_none()) {
            let reason = "is required if an API key asks about an earlier moment";
            return Err(Error::field(field(number, "userId"), reason));
        }
        history::require_kept(self.0, caller.tenant(), &field(first, "at"), earliest).await?;
        let _turn = self.0.long_read(caller).await?;
        let users = distinct(past().filter_map(|(.., question)| question.user.or(caller.user())));
        let organizations = distinct(past().filter_map(|(.., question)| question.organization));
        let history = history::read(self.0, caller.tenant(), &users, &organizations, earliest).await?;
        let moments = distinct(past().map(|(at, ..)| at));
        let by_moment = moments.into_iter().map(|at| (at, history.snapshot_at(at))).collect();
        Ok(PastSnapshots { by_moment, users: users.into_iter().filter(|user| history.statuses.has(*user)).collect() })
    }

    /// Reads these users and their rights. It takes two queries for any number of users.
    async fn snapshot(&self, caller: &Caller, users: &[UserId], ancestry: Arc<Ancestry>) -> Result<Snapshot> {
        if users.is_empty() {
            return Ok(Snapshot::over(ancestry));
        }
        // A question about one user is asked often, and reads at most what its quota allows.
        let _turn = if users.len() > 1 { Some(self.0.long_read(caller).await?) } else { None };
        let found = self.0.store.users_by_id(caller.tenant(), users).await?;
        self.snapshot_of(caller.tenant(), users, found, ancestry).await
    }

    /// Reads the rights of these users, who were just found. A caller with more than one user has the turn of a long
    /// read.
    pub(crate) async fn snapshot_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        found: Vec<User>,
        ancestry: Arc<Ancestry>,
    ) -> Result<Snapshot> {
        let mut authorities = HashMap::new();
        for users in grouped(self.0, tenant, users).await? {
            let grants = by_user(self.0.store.grants_of(tenant, users).await?);
            authorities.extend(grants.into_iter().map(|(user, grants)| (user, Authority::of(&grants))));
        }
        let mut snapshot = Snapshot::over(ancestry);
        for user in found {
            let authority = authorities.remove(&user.id).unwrap_or_else(|| Authority::of([]));
            snapshot.insert(user.id, user.status, authority);
        }
        Ok(snapshot)
    }
}

impl Question {
    /// The moment of the question, if it is before the present.
    fn past(&self, now: Timestamp) -> Option<Timestamp> {
        self.at.filter(|at| *at < now)
    }
}

/// The state at the past moments of some questions.
#[derive(Default)]
struct PastSnapshots {
    by_moment: HashMap<Timestamp, Snapshot>,
    /// The users of the questions that exist or have ever existed.
    users: HashSet<UserId>,
}

impl PastSnapshots {
    /// Returns the state at a moment. `None` if there is no such user.
    fn at(&self, user: UserId, at: Timestamp) -> Option<&Snapshot> {
        self.by_moment.get(&at).filter(|_| self.users.contains(&user))
    }
}

/// Requires a permission in an organization, or tenant-wide if none is given.
pub(super) fn require_there(
    rights: Rights<'_>,
    permission: &Permission,
    organization: Option<OrganizationId>,
    ancestry: &Ancestry,
) -> Result<()> {
    match organization {
        None => rights.require(permission),
        Some(organization) => require_in(rights, permission, ancestry, organization),
    }
}

/// Checks that the caller may ask a question. A question about the caller itself needs any role in the organization,
/// and needs nothing if it is tenant-wide. A question about another user needs `role-assignments:read`.
fn may_ask(rights: Rights<'_>, caller: &Caller, question: &Question, ancestry: &Ancestry) -> Result<()> {
    let is_about_itself = question.user.is_none_or(|user| caller.is_in_session_of(user));
    match (question.organization, is_about_itself) {
        (None, true) => Ok(()),
        (organization, false) => require_there(rights, &permission::ROLE_ASSIGNMENTS_READ, organization, ancestry),
        (Some(organization), true) => {
            let position = ancestry.position(organization);
            let sees = position.is_some_and(|position| rights.sees(position.scope()));
            if sees { Ok(()) } else { Err(Error::NotFound(ResourceType::ORGANIZATION)) }
        }
    }
}

fn require_in(
    rights: Rights<'_>,
    permission: &Permission,
    ancestry: &Ancestry,
    organization: OrganizationId,
) -> Result<()> {
    let position = ancestry.position(organization).ok_or(Error::NotFound(ResourceType::ORGANIZATION))?;
    rights.require_at(permission, position.scope(), ResourceType::ORGANIZATION)
}
