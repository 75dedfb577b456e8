use iam_model::attribute::ChangedAttributes;
use iam_model::change::{ChallengeChange, DirectoryUserChange, UserChange};
use iam_model::directory::{DirectoryUser, ProvisionedUser};
use iam_model::domain::DomainStatus;
use iam_model::error::Result;
use iam_model::store::GrantQuery;
use iam_model::user::User;
use iam_model::validate::Email;

use crate::eligibility::with_sleeping;
use crate::engine::UnitOfWork;
use crate::link::end_links;
use crate::user::{StatusMove, apply_with_consequences};

/// Writes what changes of a user of a directory. The entry is written also if only the user changes, so that its entity
/// tag does.
pub(super) async fn write(
    work: &mut UnitOfWork<'_>,
    before: ProvisionedUser,
    user: User,
    entry: DirectoryUser,
    attributes: Option<Box<ChangedAttributes>>,
) -> Result<ProvisionedUser> {
    let user = write_user(work, before.user, user, attributes).await?;
    let entry = entry.changed(work.now());
    let before = Box::new(before.entry);
    work.apply(DirectoryUserChange::Update { before, after: entry.clone() }).await?;
    Ok(ProvisionedUser::new(user, entry))
}

/// Writes what changes of a user, with the consequences. Returns it as it is then.
pub(super) async fn write_user(
    work: &mut UnitOfWork<'_>,
    before: User,
    after: User,
    attributes: Option<Box<ChangedAttributes>>,
) -> Result<User> {
    if after == before && attributes.is_none() {
        return Ok(after);
    }
    let after = after.changed(work.now());
    let grants = work.reads().grants(GrantQuery::OfUser(after.id)).await?;
    let status_move = StatusMove::between(before.status, after.status);
    let has_new_email = after.email != before.email;
    let read = Some(with_sleeping(work, after.id, &grants).await?);
    let change = UserChange::Update { before, after: after.clone(), grants: read, attributes };
    apply_with_consequences(work, change, after.id, &status_move, grants).await?;
    if has_new_email {
        // They were sent to the former address.
        end_links(work, after.id).await?;
        work.apply(ChallengeChange::EndAll(after.id)).await?;
    }
    Ok(after)
}

/// Whether the domain of an address is VERIFIED in the tenant of the unit of work.
pub(super) async fn is_domain_verified(work: &mut UnitOfWork<'_>, email: &Email) -> Result<bool> {
    let Some(name) = email.domain() else { return Ok(false) };
    let domain = work.reads().domain_named(&name).await?;
    Ok(domain.is_some_and(|domain| domain.status() == DomainStatus::Verified))
}
