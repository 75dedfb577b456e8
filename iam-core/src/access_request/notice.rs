use std::slice;

use iam_model::access_request::AccessRequest;
use iam_model::eligibility::Eligibility;
use iam_model::error::Result;
use iam_model::id::{TenantId, UserId};
use iam_model::mail::MailKind;
use iam_model::permission;
use iam_model::user::{User, UserStatus};

use crate::distinct::distinct;
use crate::engine::{Engine, UnitOfWork};
use crate::told::{administrators, holders, in_order};

/// The persons to whom a message about a new request goes.
pub(super) struct Told {
    kind: MailKind,
    to: Vec<User>,
}

impl Told {
    /// Finds those who decide about a new request of a user, or, if it needs no approval, those who administer the
    /// tenant. To be called before the unit of work, which must not wait for a second connection.
    pub(super) async fn about(iam: &Engine, tenant: TenantId, eligibility: &Eligibility, user: UserId) -> Result<Self> {
        if iam.mail.is_none() {
            return Ok(Self { kind: MailKind::AccessRequested, to: Vec::new() });
        }
        if eligibility.approvals == 0 {
            return Ok(Self { kind: MailKind::AccessActivated, to: administrators(iam, tenant).await? });
        }
        let to = in_order(deciders(iam, tenant, eligibility, user).await?);
        Ok(Self { kind: MailKind::AccessRequested, to })
    }

    /// Queues the messages about the request. To be called after everything else that takes a lock.
    pub(super) async fn queue(&self, iam: &Engine, work: &mut UnitOfWork<'_>, request: &AccessRequest) -> Result<()> {
        for user in &self.to {
            iam.queue_access_notice(work, self.kind, user, request).await?;
        }
        Ok(())
    }
}

/// Returns persons who can decide about a request of a user by an eligibility. If there are many, only some of them.
pub(crate) async fn deciders(
    iam: &Engine,
    tenant: TenantId,
    eligibility: &Eligibility,
    user: UserId,
) -> Result<Vec<User>> {
    let roles = match eligibility.approver_role_id {
        Some(role) => vec![role],
        None => {
            let roles = iam.store.roles_allowing(tenant, &permission::ACCESS_REQUESTS_UPDATE).await?;
            roles.into_iter().map(|role| role.id).collect()
        }
    };
    let mut persons = holders(iam, tenant, roles, eligibility.organization_id).await?;
    persons.retain(|person| person.id != user);
    Ok(persons)
}

/// Tells the users of requests that are closed without the access.
pub(super) async fn tell_of_closing(iam: &Engine, work: &mut UnitOfWork<'_>, closed: &[AccessRequest]) -> Result<()> {
    tell_users(iam, work, MailKind::AccessDenied, closed).await
}

/// Tells the user of a request that another one has closed.
pub(super) async fn tell_unless_own(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    kind: MailKind,
    request: &AccessRequest,
) -> Result<()> {
    if work.caller().user() == Some(request.requested_by) {
        return Ok(());
    }
    tell_users(iam, work, kind, slice::from_ref(request)).await
}

/// Tells the users of requests, apart from users who are not ACTIVE any more. To be called after everything else that
/// takes a lock.
async fn tell_users(iam: &Engine, work: &mut UnitOfWork<'_>, kind: MailKind, closed: &[AccessRequest]) -> Result<()> {
    if iam.mail.is_none() || closed.is_empty() {
        return Ok(());
    }
    let users = distinct(closed.iter().map(|request| request.requested_by));
    let mut users = work.reads().users_by_id(&users).await?;
    users.retain(|user| user.status == UserStatus::Active);
    // In one order, as those of a new request.
    users.sort_by_key(|user| user.email.key());
    for user in &users {
        for request in closed.iter().filter(|request| request.requested_by == user.id) {
            iam.queue_access_notice(work, kind, user, request).await?;
        }
    }
    Ok(())
}
