use chrono::TimeDelta;
use iam_model::access::VisibleScope;
use iam_model::assignment::{Grant, OfferedRole};
use iam_model::attribute::Attributes;
use iam_model::challenge::ChallengePurpose;
use iam_model::change::{
    AssignmentChange, CredentialChange, IdentityChange, InvitationChange, LinkChange, SessionChange, UserChange,
};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Error, Result, Unauthenticated};
use iam_model::factor::{AuthenticationMethod, AuthenticationMethods};
use iam_model::id::{InvitationId, SessionId, TenantId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::{IdentityProvider, Provisioning};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus};
use iam_model::link::LinkPurpose;
use iam_model::mail::MailKind;
use iam_model::page::PageRequest;
use iam_model::permission::PermissionPattern;
use iam_model::secret::{ChallengeToken, PasswordHash};
use iam_model::session::{EndReason, ProviderSession, Session};
use iam_model::store::GrantQuery;
use iam_model::tenant::{QuotaKind, Tenant, TenantStatus};
use iam_model::user::User;
use iam_model::validate::{Email, Fields, PersonName};
use iam_openid::code_challenge;
use subtle::ConstantTimeEq as _;

use crate::api_key::revoke_keys_known_to_owner;
use crate::assignment::References;
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork, hold_quota, hold_user_quota};
use crate::federation::Federation;
use crate::federation::account::{Account, holds_everything, is_of_directory_now};
use crate::federation::callback::NOT_LINKED;
use crate::federation::state::{Person, Purpose, Returned, read};
use crate::guard::{AccountUnderLock, Refusal};
use crate::invitation::{home_of, offered_by_inviter, pending_at};
use crate::link::LinkFor;
use crate::session::{FRESH, LoggedIn, Proof, begin_second_factor, end_sessions_of, open_session, refuse};
use crate::user::NewProfile;

/// How far the clock of a provider may be ahead.
const CLOCK_SKEW: TimeDelta = TimeDelta::seconds(60);

/// How a person gets into an account.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// It is linked to it.
    Linked,
    /// A directory knows it by its name at the provider; see [`Account::OfDirectory`].
    OfDirectory,
    /// It has the address of it; see [`Account::ByAddress`].
    ByAddress { is_locked_out: bool },
}

/// What a client gets at the end.
#[derive(Debug)]
#[non_exhaustive]
pub enum Finished {
    /// The tokens of a new session.
    LoggedIn(Box<LoggedIn>),
    /// The account at the provider is linked to the caller's own user.
    Linked(Identity),
    /// The caller's session has authenticated again.
    SteppedUp,
}

impl Federation<'_> {
    /// Finishes a login, a link to the user of the caller's session, or a step-up of that session, by the code that the
    /// browser brought to the client and by the secret of the client. The code works once: a wrong secret spends it.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `code` for one that is unknown, used or expired, for a wrong secret, and for
    /// another session than the one that began; [`Unauthenticated::NotLinked`] if the person has no account any more, or
    /// not that of the session; [`Unauthenticated::NotFresh`] for a step-up at a provider that has not asked the person
    /// again; [`Unauthenticated::PasswordAlone`] for a step-up of a user with a second factor; [`Unauthenticated::Credentials`] for a deleted user;
    /// [`Forbidden::Suspended`](iam_model::error::Forbidden::Suspended),
    /// [`Forbidden::TenantSuspended`](iam_model::error::Forbidden::TenantSuspended),
    /// [`Error::SecondFactorRequired`] for a user with a second factor;
    /// [`Conflict::IdentityLinked`].
    pub async fn finish(
        &self,
        context: &RequestContext,
        caller: Option<&Caller>,
        code: &ChallengeToken,
        code_verifier: &str,
    ) -> Result<Finished> {
        let iam = self.0;
        let mut fields = Fields::default();
        fields.require("code", code.expose());
        fields.require("codeVerifier", code_verifier);
        fields.finish()?;
        let taken = iam.take_federation(context, code, ChallengePurpose::FederationFinish).await?;
        let taken = taken.ok_or_else(refused_code)?;
        let Returned { started, person } = read(taken.ceremony.as_ref())?;
        let challenge = code_challenge(code_verifier);
        if !bool::from(challenge.as_bytes().ct_eq(started.code_challenge.as_bytes())) {
            return Err(refused_code());
        }
        let provider = iam.store.identity_provider(taken.tenant_id, started.provider).await?;
        let is_same = |provider: &IdentityProvider| provider.enabled && person.is_named_by(provider);
        let provider = provider.filter(is_same).ok_or_else(refused_code)?;
        match started.purpose {
            Purpose::Login => Ok(Finished::LoggedIn(Box::new(self.log_in(context, &provider, &person).await?))),
            Purpose::Link(session) => {
                let caller = caller.filter(|caller| caller.is_session(session)).ok_or_else(refused_code)?;
                self.link(caller, &provider, &person).await.map(Finished::Linked)
            }
            Purpose::StepUp(session) => {
                let caller = caller.filter(|caller| caller.is_session(session)).ok_or_else(refused_code)?;
                self.step_up(caller, &provider, &person).await.map(|()| Finished::SteppedUp)
            }
        }
    }

    async fn log_in(&self, context: &RequestContext, provider: &IdentityProvider, person: &Person) -> Result<LoggedIn> {
        let iam = self.0;
        let tenant = iam.store.tenant(provider.tenant_id).await?.ok_or_else(refused_code)?;
        // Of several first logins of a person at the same time, one makes the account, and the others find it.
        for _ in 0..2 {
            let entered = match iam.account_of(provider, person).await? {
                Account::Linked(Identity { user_id, .. }) => match iam.store.user(tenant.id, user_id).await? {
                    Some(user) => self.enter(context, (&tenant, provider), person, (&user, Entry::Linked)).await?,
                    None => None,
                },
                Account::OfDirectory(user) => {
                    self.enter(context, (&tenant, provider), person, (&user, Entry::OfDirectory)).await?
                }
                Account::ByAddress { user, is_locked_out } => {
                    let entry = Entry::ByAddress { is_locked_out };
                    self.enter(context, (&tenant, provider), person, (&user, entry)).await?
                }
                Account::New(email) => self.make(context, (&tenant, provider), person, email).await?,
                Account::None => None,
            };
            if let Some(logged_in) = entered {
                return Ok(logged_in);
            }
        }
        iam.record_refusal(context, provider, NOT_LINKED).await?;
        Err(Unauthenticated::NotLinked.into())
    }

    /// Logs a user in who is linked to a person, or is linked now. `None` if it may not be linked any more.
    async fn enter(
        &self,
        context: &RequestContext,
        (tenant, provider): (&Tenant, &IdentityProvider),
        person: &Person,
        (user, entry): (&User, Entry),
    ) -> Result<Option<LoggedIn>> {
        let iam = self.0;
        iam.refresh_keys().await?;
        let caller = Caller::anonymous(tenant.id, context.clone());
        let mut work = iam.begin(&caller).await?;
        if entry != Entry::Linked {
            // Who holds what changes only under the lock of the tenant, which is taken before that of the account.
            work.reads().lock_tenant().await?;
        }
        let Some(account) = AccountUnderLock::lock(&mut work, user).await? else { return Ok(None) };
        let now = work.now();
        let identities = work.reads().identities(user.id).await?;
        let known = identities.iter().find(|identity| identity.is_at(provider)).cloned();
        let change = match known {
            Some(identity) if identity.subject == person.subject => {
                IdentityChange::Use(Identity { email: person.address(), last_login_at: Some(now), ..identity })
            }
            Some(_) => return Ok(None),
            None if may_be_linked_now(&mut work, (provider, person), &account.user, entry).await? => {
                IdentityChange::Create(new_identity(iam, provider, person, (account.user.id, now, Some(now))))
            }
            None => return Ok(None),
        };
        match account.admit(&mut work, tenant.status).await? {
            Ok(()) => {}
            // A deleted user.
            Err(Refusal::WrongFactor) => return refuse(work, Refusal::Wrong).await,
            Err(refusal) => return refuse(work, refusal).await,
        }
        let is_new = matches!(change, IdentityChange::Create(_));
        if is_new {
            end_outdated(&mut work, provider, identities).await?;
        }
        if is_new && entry == (Entry::ByAddress { is_locked_out: true }) {
            end_former_access(&mut work, &account.user).await?;
        }
        work.apply(change).await?;
        let methods = methods(provider, person);
        if !account.factors().is_empty() && !methods.include_factor() {
            let first_half = (ChallengePurpose::FederatedLogin, Some(provider_session(provider, person)));
            let pending = begin_second_factor(iam, &mut work, first_half, &account.user, account.factors()).await?;
            tell_of_link(iam, &mut work, is_new, &account.user).await?;
            work.commit().await?;
            return Err(Error::SecondFactorRequired(pending));
        }
        let enrol_by = tenant.factor_demand().enrol_by(account.user.created_at).filter(|_| !methods.include_factor());
        let proof = proof(provider, person, now);
        let logged_in = open_session(iam, &mut work, account.user, iam.next_id(), proof).await?;
        tell_of_link(iam, &mut work, is_new, &logged_in.user).await?;
        work.commit().await?;
        Ok(Some(LoggedIn { enrol_by, ..logged_in }))
    }

    /// Makes a user for a person, and logs it in. `None` if somebody has the address now, or no user is to be made any
    /// more.
    async fn make(
        &self,
        context: &RequestContext,
        (tenant, provider): (&Tenant, &IdentityProvider),
        person: &Person,
        email: Email,
    ) -> Result<Option<LoggedIn>> {
        let iam = self.0;
        iam.refresh_keys().await?;
        let (user_id, session_id): (UserId, SessionId) = (iam.next_id(), iam.next_id());
        let invitation = iam.pending_invitation(tenant.id, &email).await?;
        let caller = Caller::founder(tenant.id, user_id, session_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        if work.reads().lock_tenant().await?.is_none_or(|tenant| tenant.status != TenantStatus::Active) {
            return Ok(None);
        }
        let invited = match invitation {
            Some(id) => accepted_on_the_way(&mut work, id).await?,
            None => None,
        };
        // Only who reads the mail of the address gets all permissions.
        if invited.as_ref().is_some_and(|(_, offered)| offered.iter().any(offers_everything)) {
            return Ok(None);
        }
        // Who made or changed the provider held all permissions. The roles of the invitation are checked.
        work.lock_rights_of_inviter(None).await?;
        let current = work.reads().identity_providers().await?;
        let current = current.into_iter().find(|current| current.id == provider.id);
        let Some(provider) = current.filter(|current| current.enabled && current.provisioning == Provisioning::Create)
        else {
            return Ok(None);
        };
        let now = work.now();
        let (invitation, offered) = invited.unzip();
        let offered = offered.unwrap_or_default();
        let home_organization_id = home_of(&offered);
        let by = invitation.as_ref().and_then(|invitation| invitation.invited_by);
        let mut grants: Vec<Grant> =
            offered.into_iter().map(|offered| offered.granted(iam.next_id(), (user_id, by), now)).collect();
        for offered in roles_of(&mut work, &provider).await? {
            let grant = offered.granted(iam.next_id(), (user_id, None), now);
            let is_same = |held: &Grant| {
                held.assignment.role_id == grant.assignment.role_id
                    && held.assignment.organization_id == grant.assignment.organization_id
            };
            if !grants.iter().any(is_same) {
                grants.push(grant);
            }
        }
        grants.retain(|grant| grant.assignment.is_live(now));
        hold_quota(&iam.settings.quota, &mut work, QuotaKind::Users, 1).await?;
        hold_quota(&iam.settings.quota, &mut work, QuotaKind::Assignments, grants.len()).await?;
        hold_user_quota(&iam.settings.quota, &mut work, &grants, |_, error| error).await?;
        let (first_name, last_name) = person.names(&email);
        let profile = NewProfile { email, password: PasswordHash::unset(), first_name, last_name };
        let user = profile.user(user_id, tenant.id, now);
        // Without a domain, any person may run the provider and let it name any address. A verified address also counts
        // outside of the tenant, in logins and resets that name none.
        let is_proven = !provider.domain_ids.is_empty();
        let user = User { email_verified_at: is_proven.then_some(now), home_organization_id, ..user };
        let accepted = invitation.as_ref().map(|invitation| invitation.id);
        let create = UserChange::Create {
            user: user.clone(),
            password: Some(PasswordHash::unset()),
            invitation: accepted,
            attributes: Attributes::default(),
        };
        match work.apply(create).await {
            Err(Error::Conflict(Conflict::EmailTaken)) => return Ok(None),
            applied => applied?,
        }
        if !grants.is_empty() {
            work.apply(AssignmentChange::Create(grants)).await?;
        }
        if let Some(before) = invitation {
            work.apply(LinkChange::End { purpose: LinkPurpose::Invitation, subject: before.id.as_uuid() }).await?;
            let after = Invitation { status: InvitationStatus::Accepted, ..before.clone() };
            work.apply(InvitationChange::Accept { before, after }).await?;
        }
        let identity = new_identity(iam, &provider, person, (user_id, now, Some(now)));
        work.apply(IdentityChange::Create(identity)).await?;
        let proof = proof(&provider, person, now);
        let enrol_by = tenant.factor_demand().enrol_by(now).filter(|_| !proof.methods.include_factor());
        let logged_in = open_session(iam, &mut work, user, session_id, proof).await?;
        if !is_proven {
            iam.queue_link(&mut work, LinkFor::Address(&logged_in.user), None).await?;
        }
        work.commit().await?;
        Ok(Some(LoggedIn { enrol_by, ..logged_in }))
    }

    /// Authenticates the caller's session again, by the account at the provider to which its user is linked.
    async fn step_up(&self, caller: &Caller, provider: &IdentityProvider, person: &Person) -> Result<()> {
        let iam = self.0;
        let (user, session) = caller.require_user()?;
        let user = iam.store.user(caller.tenant(), user).await?.ok_or(Unauthenticated::InvalidToken)?;
        let mut work = iam.begin(caller).await?;
        let account = AccountUnderLock::lock(&mut work, &user).await?.ok_or(Unauthenticated::InvalidToken)?;
        let identities = work.reads().identities(user.id).await?;
        let is_own = identities.iter().any(|identity| identity.is_at(provider) && identity.subject == person.subject);
        if !is_own {
            work.apply(CredentialChange::RefuseFederated { provider: provider.id, cause: NOT_LINKED }).await?;
            work.commit().await?;
            return Err(Unauthenticated::NotLinked.into());
        }
        let now = work.now();
        let Proof { methods, authenticated_at, provider: provider_session } = proof(provider, person, now);
        let authenticated_at = authenticated_at.filter(|at| now - *at < FRESH);
        let authenticated_at =
            authenticated_at.ok_or(Unauthenticated::NotFresh { max_age: FRESH.to_std().unwrap_or_default() })?;
        if !account.factors().is_empty() && !methods.include_factor() {
            return Err(Unauthenticated::PasswordAlone.into());
        }
        let session = work.reads().lock_session(session).await?.ok_or(Unauthenticated::InvalidToken)?;
        let session = Session { methods, authenticated_at, provider: provider_session, ..session };
        work.apply(SessionChange::StepUp { session, method: AuthenticationMethod::Federation }).await?;
        work.commit().await
    }

    /// Links a person to the caller's own user.
    async fn link(&self, caller: &Caller, provider: &IdentityProvider, person: &Person) -> Result<Identity> {
        let iam = self.0;
        let (user, _) = caller.require_user()?;
        let mut work = iam.begin(caller).await?;
        // Who removes the provider counts its identities under this lock.
        work.reads().lock_tenant().await?;
        let user = work.reads().lock_user(user).await?.ok_or(Unauthenticated::InvalidToken)?;
        let identities = work.reads().identities(user.id).await?;
        end_outdated(&mut work, provider, identities).await?;
        let identity = new_identity(iam, provider, person, (user.id, work.now(), None));
        work.apply(IdentityChange::Create(identity.clone())).await?;
        iam.queue_notice(&mut work, MailKind::IdentityLinked, &user).await?;
        work.commit().await?;
        Ok(identity)
    }
}

impl Person {
    /// Returns the address, if it is one.
    fn address(&self) -> Option<Email> {
        self.email.as_deref().and_then(|email| email.parse().ok())
    }

    /// Returns the first and the last name of a new user: those of the claims, as far as they are valid, or parts of
    /// the whole name or of the address.
    fn names(&self, email: &Email) -> (PersonName, PersonName) {
        let whole = self.name.as_deref().unwrap_or_default().trim();
        let (first, last) = whole.rsplit_once(' ').unwrap_or((whole, ""));
        let local = email.as_str().rsplit_once('@').map_or("", |(local, _)| local);
        let valid = |texts: [Option<&str>; 4]| texts.into_iter().flatten().find_map(|text| text.parse().ok());
        let first = valid([self.given_name.as_deref(), Some(first), Some(local), Some("-")]);
        let last = valid([self.family_name.as_deref(), Some(last), Some("-"), None]);
        (first.unwrap_or_else(no_name), last.unwrap_or_else(no_name))
    }
}

/// A name for a person whose name is not known.
fn no_name() -> PersonName {
    iam_model::validate::StoredText::stored("-".to_owned())
}

/// Whether a user may be linked to a person who gets into its account so, under the locks of its tenant and of its
/// account.
async fn may_be_linked_now(
    work: &mut UnitOfWork<'_>,
    by: (&IdentityProvider, &Person),
    user: &User,
    entry: Entry,
) -> Result<bool> {
    match entry {
        Entry::Linked => Ok(false),
        Entry::OfDirectory => is_of_directory_now(work, by, user).await,
        Entry::ByAddress { .. } => Ok(user.email_verified_at.is_some()
            && !work.reads().grants(GrantQuery::OfUser(user.id)).await?.iter().any(holds_everything)),
    }
}

/// Removes a link at an issuer that the provider had before. No person comes from there any more.
async fn end_outdated(work: &mut UnitOfWork<'_>, provider: &IdentityProvider, identities: Vec<Identity>) -> Result<()> {
    for identity in identities.into_iter().filter(|identity| identity.provider_id == provider.id) {
        if !identity.is_at(provider) {
            work.apply(IdentityChange::Delete { identity, grants: None }).await?;
        }
    }
    Ok(())
}

/// Ends what still gives access to an account into which no person could log in: its sessions, and the keys that a
/// person in them has made.
async fn end_former_access(work: &mut UnitOfWork<'_>, user: &User) -> Result<()> {
    revoke_keys_known_to_owner(work, user.id).await?;
    work.invalidate(user.id);
    end_sessions_of(work, user.id, EndReason::IdentityLinked, |_| true).await.map(drop)
}

fn new_identity(
    iam: &Engine,
    provider: &IdentityProvider,
    person: &Person,
    (user_id, linked_at, last_login_at): (UserId, Timestamp, Option<Timestamp>),
) -> Identity {
    Identity {
        id: iam.next_id(),
        tenant_id: provider.tenant_id,
        user_id,
        provider_id: provider.id,
        issuer: provider.issuer.clone(),
        subject: person.subject.clone(),
        email: person.address(),
        linked_at,
        last_login_at,
    }
}

impl Engine {
    /// Returns the invitation of an address that can be accepted. It is checked again under its lock.
    pub(super) async fn pending_invitation(&self, tenant: TenantId, email: &Email) -> Result<Option<InvitationId>> {
        let filter = InvitationFilter { status: Some(InvitationStatus::Pending), email: Some(email.key()) };
        let page = PageRequest::new(1, 1).map_err(|cause| Error::internal("page of invitations", cause))?;
        let found = self.store.invitations(tenant, &filter, &VisibleScope::Tenant, page, self.now()).await?;
        Ok(found.items.first().map(|invitation| invitation.id))
    }
}

fn offers_everything(offered: &OfferedRole) -> bool {
    offered.role.permissions.covers(&PermissionPattern::everything())
}

/// Returns an invitation with its roles, if it can still be accepted and the user who invited may still offer all of
/// them.
async fn accepted_on_the_way(
    work: &mut UnitOfWork<'_>,
    id: InvitationId,
) -> Result<Option<(Invitation, Vec<OfferedRole>)>> {
    let now = work.now();
    let Some(invitation) = pending_at(work.reads().lock_invitation(id).await?, now) else { return Ok(None) };
    match offered_by_inviter(work, &invitation).await {
        Ok(offered) => Ok(Some((invitation, offered))),
        Err(Error::Conflict(Conflict::InvitationOutdated)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the roles of a provider that exist, can be held there, and do not have all permissions, which they may have
/// got since the provider was made.
async fn roles_of(work: &mut UnitOfWork<'_>, provider: &IdentityProvider) -> Result<Vec<OfferedRole>> {
    let roles = provider.roles.iter().map(|role| role.role_id);
    let organizations = provider.roles.iter().filter_map(|role| role.organization_id);
    let references = References::load(work, roles, organizations).await?;
    let offered = provider
        .roles
        .iter()
        .filter_map(|provided| references.offer_freely(provided.role_id, provided.organization_id));
    Ok(offered.filter(|offered| !offers_everything(offered)).collect())
}

/// Returns the methods by which a person has authenticated.
fn methods(provider: &IdentityProvider, person: &Person) -> AuthenticationMethods {
    let methods = AuthenticationMethods::only(AuthenticationMethod::Federation);
    if provider.factor_is_trusted && person.has_used_factor() {
        methods.and(AuthenticationMethod::ProviderFactor)
    } else {
        methods
    }
}

/// Returns how the identity of a person was proven. Without a plausible time of the proof, it counts as long ago, so that
/// the session is not fresh.
fn proof(provider: &IdentityProvider, person: &Person, now: Timestamp) -> Proof {
    let is_plausible = |at: &Timestamp| *at <= now + CLOCK_SKEW;
    let authenticated_at = person.authenticated_at.filter(is_plausible);
    let authenticated_at = authenticated_at.map_or(Timestamp::UNIX_EPOCH, |at| iam_model::clock::cut(at.min(now)));
    Proof {
        methods: methods(provider, person),
        authenticated_at: Some(authenticated_at),
        provider: Some(provider_session(provider, person)),
    }
}

fn provider_session(provider: &IdentityProvider, person: &Person) -> ProviderSession {
    ProviderSession { provider_id: provider.id, session: person.session.clone() }
}

async fn tell_of_link(iam: &Engine, work: &mut UnitOfWork<'_>, is_new: bool, user: &User) -> Result<()> {
    if is_new { iam.queue_notice(work, MailKind::IdentityLinked, user).await } else { Ok(()) }
}

fn refused_code() -> Error {
    Error::field("code", "is unknown, used or expired, or the codeVerifier is wrong")
}
