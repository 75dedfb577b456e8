use std::mem;
use std::sync::{Mutex, PoisonError};

use iam_model::change::{Change, OrganizationChange, RoleChange};
use iam_model::error::Result;
use iam_model::organization::Organization;
use iam_model::role::Role;
use iam_model::store::TransactionReads;
use iam_model::store_error::{Constraint, StoreError};

/// The changes that units of work would have made.
#[derive(Default)]
pub(crate) struct TrialChanges(Mutex<Vec<Change>>);

impl TrialChanges {
    /// Takes a change that is not written. Fails as the write would: a store refuses names that are taken.
    pub(super) async fn take(&self, change: &Change, reads: &mut dyn TransactionReads) -> Result<()> {
        if let Some(constraint) = violated(change, reads).await? {
            return Err(StoreError::Conflict(constraint).into());
        }
        self.keep(change);
        Ok(())
    }

    /// Takes a change that was written, in a unit of work that will be rolled back.
    pub(super) fn keep(&self, change: &Change) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(change.clone());
    }

    /// Returns the changes so far, and forgets them.
    pub(crate) fn taken(&self) -> Vec<Change> {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The constraint that the store would find violated, but for the e-mails and external identifiers of users
/// ([`Trial`](crate::Trial) compares these). The service itself checks everything else before it writes.
async fn violated(change: &Change, reads: &mut dyn TransactionReads) -> Result<Option<Constraint>> {
    let new_name = |before: Option<&Role>, after: &Role| before.is_none_or(|before| before.name != after.name);
    let new_slug = |before: Option<&Organization>, after: &Organization| {
        let is_kept = before.is_some_and(|before| before.slug == after.slug && !before.status.is_inactive());
        !is_kept && !after.status.is_inactive()
    };
    let (role, organization) = match change {
        Change::Role(RoleChange::Create(after)) => (Some((None, after)), None),
        Change::Role(RoleChange::Update { before, after, .. }) => (Some((Some(before), after)), None),
        Change::Organization(OrganizationChange::Create { organization: after, .. }) => (None, Some((None, after))),
        Change::Organization(OrganizationChange::Update { before, after, .. }) => (None, Some((Some(before), after))),
        _ => (None, None),
    };
    if let Some((_, after)) = role.filter(|(before, after)| new_name(*before, after))
        && reads.is_role_name_taken(&after.name).await?
    {
        return Ok(Some(Constraint::RoleName));
    }
    if let Some((_, after)) = organization.filter(|(before, after)| new_slug(*before, after))
        && reads.is_organization_slug_taken(&after.slug).await?
    {
        return Ok(Some(Constraint::OrganizationSlug));
    }
    Ok(None)
}
