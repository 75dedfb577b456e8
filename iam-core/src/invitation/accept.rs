use iam_model::access::Until;
use iam_model::assignment::{Grant, OfferedRole};
use iam_model::attribute::Attributes;
use iam_model::change::{AssignmentChange, InvitationChange, UserChange};
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Error, Result, Shortfall};
use iam_model::factor::AuthenticationMethods;
use iam_model::id::{SessionId, UserId};
use iam_model::invitation::{Invitation, InvitationStatus};
use iam_model::link::{Link, LinkPurpose};
use iam_model::secret::{LinkToken, Password, PasswordHash};
use iam_model::tenant::{QuotaKind, Tenant, TenantStatus};
use iam_model::user::User;
use iam_model::validate::Fields;

use crate::caller::Caller;
use crate::engine::{Engine, Once, UnitOfWork, hold_quota, hold_user_quota};
use crate::hashing::Share;
use crate::idempotency::Idempotency;
use crate::invitation::Invitations;
use crate::invitation::home::home_of;
use crate::invitation::pending_at;
use crate::invitation::service::{offer, references};
use crate::link;
use crate::session::{LoggedIn, open_session};
use crate::tenant::{Registered, TenantWithUser, log_in_again};
use crate::user::{NewProfile, NewUser};

/// The input with which an invited person accepts, as typed; see [`Invitations::accept`].
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The token of the link.
    pub token: LinkToken,
    /// By the policy of the tenant, like that of a [`NewUser`].
    pub password: Password,
    /// 1–100 characters.
    pub first_name: String,
    /// 1–100 characters.
    pub last_name: String,
}

/// The kind of request that an idempotency key is used for.
const ACCEPTANCE: &str = "INVITATION_ACCEPTANCE";

impl Invitations<'_> {
    /// Makes the invited person a user with a verified address and the roles of the invitation, and logs it in. Its home
    /// is the organization of one of the roles that is above those of all others, if there is one. Roles that have
    /// expired meanwhile are left out. The user who invited must still be allowed to invite with these roles.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names every invalid field, or `token` if it is unknown, used, replaced or expired,
    /// or if the invitation is not PENDING or its tenant is not ACTIVE; [`Conflict::InvitationOutdated`];
    /// [`Error::About`] with [`Conflict::EmailTaken`] for an address that a user has taken meanwhile;
    /// [`Error::FederationRequired`] if the person gets the account by its login at an identity provider;
    /// [`Error::Overloaded`]. After an error, the token can still be used.
    pub async fn accept(&self, context: &RequestContext, acceptance: Acceptance) -> Result<Registered> {
        self.accept_once(context, acceptance, None).await
    }

    /// Accepts an invitation as [`accept`](Self::accept) does, at most once for an idempotency key. Within a day, the
    /// same call under the same key logs in. `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`accept`](Self::accept), and for a repeat those of
    /// [`Sessions::login`](crate::session::Sessions::login).
    pub async fn accept_once(
        &self,
        context: &RequestContext,
        acceptance: Acceptance,
        idempotency: Option<&Idempotency>,
    ) -> Result<Registered> {
        let iam = self.0;
        let Acceptance { token, password, first_name, last_name } = acceptance;
        let once = Once::for_registration(&iam.keys.idempotency, idempotency, ACCEPTANCE);
        if once.has_key() {
            // A repeat needs no new hash. Hashing takes by far the longest.
            let caller = Caller::anonymous(iam.next_id(), context.clone());
            let mut work = iam.begin(&caller).await?;
            if let Some(created) = once.find(&mut work).await? {
                drop(work);
                return log_in_again(iam, context, &password, created).await;
            }
        }
        let (link, tenant) = link::find(iam, &token, LinkPurpose::Invitation).await?;
        let invitation = iam.store.invitation(tenant.id, link.subject.into()).await?;
        let invitation = pending_at(invitation, iam.now()).ok_or_else(link::refused)?;
        let instead = iam.logins_instead_of_acceptance(&tenant, &invitation).await?;
        if !instead.is_empty() {
            return Err(Error::FederationRequired(instead));
        }
        let new = NewUser { email: invitation.email.to_string(), password: password.clone(), first_name, last_name };
        let NewProfile { email, password: checked, first_name, last_name } =
            new.validate(Fields::default(), iam.password_rules.of(&tenant))?;
        let accepted = iam.password_rules.accept("password", &checked).await?;
        let hash = iam.passwords.hash(Share::of_client(context).in_tenant(tenant.id), &accepted).await?;
        iam.refresh_keys().await?;
        let (user_id, session_id): (UserId, SessionId) = (iam.next_id(), iam.next_id());
        let caller = Caller::founder(tenant.id, user_id, session_id, context.clone());
        let mut work = iam.begin(&caller).await?;
        if let Some(created) = once.find(&mut work).await? {
            drop(work);
            return log_in_again(iam, context, &password, created).await;
        }
        let profile = NewProfile { email, password: hash, first_name, last_name };
        let created = create_user(iam, &mut work, (&link, user_id), profile).await?;
        let login = open_session(iam, &mut work, created.user, session_id, AuthenticationMethods::default()).await?;
        let created = TenantWithUser { tenant: created.tenant, user: login.user.clone() };
        once.keep(&mut work, &created).await?;
        work.commit().await?;
        let enrol_by = created.tenant.factor_demand().enrol_by(login.user.created_at);
        Ok(Registered { tenant: created.tenant, login: LoggedIn { enrol_by, ..login } })
    }
}

/// Makes the caller a user of the tenant, with the roles of the invitation to which a link belongs.
async fn create_user(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    (link, user_id): (&Link, UserId),
    profile: NewProfile<PasswordHash>,
) -> Result<TenantWithUser> {
    let tenant = work.reads().lock_tenant().await?;
    let tenant: Tenant = tenant.filter(|tenant| tenant.status == TenantStatus::Active).ok_or_else(link::refused)?;
    let now = work.now();
    let before = work.reads().lock_invitation(link.subject.into()).await?;
    let before = pending_at(before, now).ok_or_else(link::refused)?;
    let offered = offered_by_inviter(work, &before).await?;
    let home_organization_id = home_of(&offered);
    let grant = |offered: OfferedRole| offered.granted(iam.next_id(), (user_id, before.invited_by), now);
    let grants = offered.into_iter().map(grant).filter(|grant| grant.assignment.is_live(now));
    let grants: Vec<Grant> = grants.collect();
    hold_quota(&iam.settings.quota, work, QuotaKind::Users, 1).await?;
    hold_quota(&iam.settings.quota, work, QuotaKind::Assignments, grants.len()).await?;
    hold_user_quota(&iam.settings.quota, work, &grants, |_, error| error).await?;
    link::spend(work, link).await?;
    let user = User { email_verified_at: Some(now), home_organization_id, ..profile.user(user_id, tenant.id, now) };
    let create = UserChange::Create {
        user: user.clone(),
        password: Some(profile.password),
        invitation: Some(before.id),
        attributes: Attributes::default(),
    };
    work.apply(create).await.map_err(|error| error.about_what_it_names("email"))?;
    if !grants.is_empty() {
        work.apply(AssignmentChange::Create(grants)).await?;
    }
    let after = Invitation { status: InvitationStatus::Accepted, ..before.clone() };
    work.apply(InvitationChange::Accept { before, after }).await?;
    Ok(TenantWithUser { tenant, user })
}

/// Returns the roles of an invitation, if the user who invited may still invite with all of them.
pub(crate) async fn offered_by_inviter(work: &mut UnitOfWork<'_>, invitation: &Invitation) -> Result<Vec<OfferedRole>> {
    let inviter = work.lock_rights_of_inviter(invitation.invited_by).await?;
    let references = references(work, &invitation.roles).await?;
    let offered = offer(&references, inviter.rights(), &invitation.roles).map_err(|error| match error {
        Error::Internal(_) | Error::Store(_) => error,
        _ => Conflict::InvitationOutdated.into(),
    })?;
    // The inviter also holds that to which these roles lead.
    let held = work.held_until(&inviter, offered).await?;
    let covered = |(offered, until): (OfferedRole, Result<Until, Shortfall>)| {
        let is_covered = until.is_ok_and(|until| until >= offered.expires_at.into());
        is_covered.then_some(offered).ok_or_else(|| Conflict::InvitationOutdated.into())
    };
    held.into_iter().map(covered).collect()
}
