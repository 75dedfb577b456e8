use iam_model::access::{Rights, VisibleScope};
use iam_model::assignment::OfferedRole;
use iam_model::audit::ResourceType;
use iam_model::change::{InvitationChange, LinkChange};
use iam_model::clock::Timestamp;
use iam_model::credential::Account;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{InvitationId, OrganizationId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole, LIFETIME};
use iam_model::link::LinkPurpose;
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::secret::LinkToken;
use iam_model::tenant::{PasswordPolicy, QuotaKind};
use iam_model::validate::{Email, Name, PersonName};

use crate::assignment::{References, check_expiries, role_field};
use crate::caller::Caller;
use crate::engine::{Engine, UnitOfWork, hold_quota};
use crate::idempotency::Idempotency;
use crate::invitation::input::NewInvitation;
use crate::link::{self, LinkFor};

/// Invites people, who become users when they accept; see [`Iam::invitations`](crate::iam::Iam::invitations).
///
/// A permission that is held in organizations is for the invitations that have at least one role, and whose roles are
/// all in these organizations or below. To change something, it must be held by standing rights.
#[derive(Clone, Copy)]
pub struct Invitations<'a>(pub(crate) &'a Engine);

impl Invitations<'_> {
    /// Invites a person: sends a link to its address, which works for 7 days. Needs `invitations:create`, and
    /// everything that the roles permit, where they apply and for as long. This is checked again when the person
    /// accepts.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`], [`Error::Forbidden`], [`Forbidden::Escalation`], [`Error::Validation`] which names every
    /// invalid field; [`Error::About`] with [`Error::NotFound`] for a role or an organization that does not exist, with
    /// [`Error::Rule`] for a role of another scope, with [`Conflict::EmailTaken`] or [`Conflict::AlreadyInvited`] for
    /// the address; [`Conflict::OrganizationInactive`], [`Conflict::QuotaExceeded`].
    pub async fn create(&self, caller: &Caller, new: NewInvitation) -> Result<Invitation> {
        self.create_once(caller, new, None).await
    }

    /// Invites a person as [`create`](Self::create) does, at most once for an [idempotency key](crate::idempotency).
    /// `None` is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn create_once(
        &self,
        caller: &Caller,
        new: NewInvitation,
        idempotency: Option<&Idempotency>,
    ) -> Result<Invitation> {
        let iam = self.0;
        iam.standing(caller).rights().require_anywhere(&permission::INVITATIONS_CREATE)?;
        iam.require_mail()?;
        let new = new.validate()?;
        let once = iam.once(caller, idempotency, &ResourceType::INVITATION);
        let taken = iam.store.guarded_account(caller.tenant(), &new.email.key()).await?.account;
        let mut work = iam.begin(caller).await?;
        if let Some(made) = once.find(&mut work).await? {
            return Ok(made);
        }
        let inviter = work.lock_rights().await?.standing();
        hold_quota(&iam.settings.quota, &mut work, QuotaKind::Invitations, 1).await?;
        let now = work.now();
        let expiries =
            new.roles.iter().enumerate().map(|(number, role)| (role_field(number, "expiresAt"), role.expires_at));
        check_expiries(expiries, now)?;
        let references = references(&mut work, &new.roles).await?;
        let offered = offer(&references, inviter.rights(), &new.roles)?;
        if let Some(Account { user, .. }) = taken {
            // A unit of work must not wait for a second connection while it holds one.
            drop(work);
            return Err(iam.email_taken(caller, &user).await.about("email"));
        }
        let invitation = Invitation {
            id: iam.next_id(),
            tenant_id: caller.tenant(),
            email: new.email,
            first_name: new.first_name,
            last_name: new.last_name,
            roles: new.roles,
            status: InvitationStatus::Pending,
            invited_by: caller.user(),
            expires_at: now + LIFETIME,
            created_at: now,
        };
        let create = InvitationChange::Create { invitation: invitation.clone(), offered };
        work.apply(create).await.map_err(|error| error.about_what_it_names("email"))?;
        once.keep(&mut work, &invitation).await?;
        iam.queue_link(&mut work, LinkFor::Invitation(&invitation), None).await?;
        work.commit().await?;
        Ok(invitation)
    }

    /// Returns one invitation, in any status. Needs `invitations:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: InvitationId) -> Result<Invitation> {
        let scope = self.0.rights(caller).visible_scope(&permission::INVITATIONS_READ)?;
        let invitation = self.0.store.invitation(caller.tenant(), id).await?.ok_or_else(not_found)?;
        let ancestry = self.0.lineages(caller.tenant(), organizations(&invitation.roles)).await?;
        let above = |id| ancestry.position(id).map(|position| position.lineage().collect());
        if !is_visible(&invitation, &scope, above) {
            return Err(not_found());
        }
        Ok(seen_at(invitation, self.0.now()))
    }

    /// Returns a page of the invitations that pass a filter, newest first. Needs `invitations:read`. If the permission
    /// is held in organizations, the list is limited to their invitations.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(
        &self,
        caller: &Caller,
        filter: &InvitationFilter,
        page: PageRequest,
    ) -> Result<Page<Invitation>> {
        let scope = self.0.rights(caller).visible_scope(&permission::INVITATIONS_READ)?;
        let _turn = self.0.long_read(caller).await?;
        let now = self.0.now();
        let Page { items, total, request } =
            self.0.store.invitations(caller.tenant(), filter, &scope, page, now).await?;
        Ok(Page { items: items.into_iter().map(|found| seen_at(found, now)).collect(), total, request })
    }

    /// Sends an invitation again: with a new link, which works for 7 days and ends the link that was sent before. Needs
    /// `invitations:update`. Does nothing if three invitations were sent to the address in the last hour, and the
    /// link in the last one works.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`], [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::InvitationNotPending`].
    pub async fn resend(&self, caller: &Caller, id: InvitationId) -> Result<()> {
        self.0.standing(caller).rights().require_anywhere(&permission::INVITATIONS_UPDATE)?;
        self.0.require_mail()?;
        let mut work = self.0.begin(caller).await?;
        let before = lock_pending(&mut work, id, &permission::INVITATIONS_UPDATE).await?;
        let after = Invitation { expires_at: work.now() + LIFETIME, ..before.clone() };
        if self.0.queue_link(&mut work, LinkFor::Invitation(&after), None).await? {
            work.apply(InvitationChange::Renew { before, after }).await?;
        }
        work.commit().await
    }

    /// Revokes an invitation, and keeps its record. Its link ends. Needs `invitations:delete`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`], [`Conflict::InvitationNotPending`].
    pub async fn delete(&self, caller: &Caller, id: InvitationId) -> Result<()> {
        self.0.standing(caller).rights().require_anywhere(&permission::INVITATIONS_DELETE)?;
        let mut work = self.0.begin(caller).await?;
        let before = lock_pending(&mut work, id, &permission::INVITATIONS_DELETE).await?;
        let after = Invitation { status: InvitationStatus::Revoked, ..before.clone() };
        work.apply(InvitationChange::Revoke { before, after }).await?;
        work.apply(LinkChange::End { purpose: LinkPurpose::Invitation, subject: id.as_uuid() }).await?;
        work.commit().await
    }

    /// Returns the details of an invitation for a page, for a form that uses its token. The token can still be used
    /// afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `token`.
    pub async fn look_up(&self, token: &LinkToken) -> Result<InvitationDetails> {
        let (link, tenant) = link::find(self.0, token, LinkPurpose::Invitation).await?;
        let invitation = self.0.store.invitation(link.tenant_id, link.subject.into()).await?;
        let invitation = pending_at(invitation, self.0.now()).ok_or_else(link::refused)?;
        Ok(InvitationDetails {
            email: invitation.email,
            min_password_length: tenant.min_password_length(),
            tenant: tenant.name,
            first_name: invitation.first_name,
            last_name: invitation.last_name,
            password_policy: tenant.password_policy,
            expires_at: link.expires_at,
        })
    }
}

/// The details of an invitation that a page shows before it is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvitationDetails {
    /// The address of the person.
    pub email: Email,
    /// The name of the tenant.
    pub tenant: Name,
    /// A proposal for the given name.
    pub first_name: Option<PersonName>,
    /// A proposal for the family name.
    pub last_name: Option<PersonName>,
    /// The rules for the password.
    pub password_policy: PasswordPolicy,
    /// The minimum number of characters of the password.
    pub min_password_length: usize,
    /// Until when the link works.
    pub expires_at: Timestamp,
}

/// Reads the roles and organizations of an invitation under the tenant's lock.
pub(super) async fn references(work: &mut UnitOfWork<'_>, roles: &[InvitedRole]) -> Result<References> {
    References::load(work, roles.iter().map(|role| role.role_id), organizations(roles)).await
}

/// Returns the roles that an invitation offers, if a user with these rights may offer them. The permission to invite
/// without roles must be held tenant-wide.
pub(super) fn offer(references: &References, rights: Rights<'_>, roles: &[InvitedRole]) -> Result<Vec<OfferedRole>> {
    let needed = &permission::INVITATIONS_CREATE;
    if roles.is_empty() {
        rights.require(needed)?;
    }
    let mut check = rights.escalation_check();
    let offer = |(number, role): (usize, &InvitedRole)| {
        references.offer((rights, &mut check), needed, role, |name| role_field(number, name)).map_err(|error| {
            match error {
                Error::Forbidden(_) | Error::Conflict(_) => error.about(format!("roles[{number}]")),
                error => error,
            }
        })
    };
    roles.iter().enumerate().map(offer).collect()
}

/// Returns an invitation if it can be accepted at a moment.
pub(crate) fn pending_at(invitation: Option<Invitation>, now: Timestamp) -> Option<Invitation> {
    invitation.filter(|found| found.status_at(now) == InvitationStatus::Pending)
}

fn organizations(roles: &[InvitedRole]) -> impl Iterator<Item = OrganizationId> {
    roles.iter().filter_map(|role| role.organization_id)
}

/// Returns an invitation as callers see it at a moment.
fn seen_at(invitation: Invitation, now: Timestamp) -> Invitation {
    Invitation { status: invitation.status_at(now), ..invitation }
}

/// Whether an invitation is in a visible scope. `above` returns the ids of an organization and of all its ancestors.
fn is_visible(
    invitation: &Invitation,
    scope: &VisibleScope,
    above: impl Fn(OrganizationId) -> Option<Vec<OrganizationId>>,
) -> bool {
    invitation.is_visible(scope, |id| match scope {
        VisibleScope::Tenant => true,
        VisibleScope::Organizations(covered) => {
            above(id).is_some_and(|above| above.iter().any(|id| covered.contains(id)))
        }
    })
}

/// Locks a PENDING invitation that the caller may change.
async fn lock_pending(work: &mut UnitOfWork<'_>, id: InvitationId, needed: &Permission) -> Result<Invitation> {
    let locked = work.lock_rights().await?.standing();
    let rights = locked.rights();
    let scope = rights.visible_scope(needed)?;
    let invitation = work.reads().lock_invitation(id).await?.ok_or_else(not_found)?;
    let hierarchy = work.hierarchy_of(&organizations(&invitation.roles).collect::<Vec<_>>()).await?;
    let above = |id| hierarchy.node(id).map(|node| node.lineage().collect());
    if !is_visible(&invitation, &scope, above) {
        let is_known = rights
            .visible_scope(&permission::INVITATIONS_READ)
            .is_ok_and(|scope| is_visible(&invitation, &scope, above));
        return Err(if is_known { Forbidden::Permission(needed.clone()).into() } else { not_found() });
    }
    match invitation.status_at(work.now()) {
        InvitationStatus::Pending => Ok(invitation),
        _ => Err(Conflict::InvitationNotPending.into()),
    }
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::INVITATION)
}
