//! Which parts of a page a person needs, by the rights of the person. The services decide again when a form is sent.

use iam_core::access::{Permission, Question};
use iam_core::{Caller, Error, Iam, OrganizationId};

/// Tells for each permission whether the caller holds it in an organization, or tenant-wide.
pub(crate) async fn held<const N: usize>(
    iam: &Iam,
    caller: &Caller,
    organization: Option<OrganizationId>,
    permissions: [Permission; N],
) -> Result<[bool; N], Error> {
    let question = |permission| Question { permission, organization, user: None, at: None };
    let decisions = match iam.access().check_all(caller, &permissions.map(question)).await {
        // A caller that holds nothing in an organization is not told that it exists.
        Err(Error::About { error, .. }) if matches!(*error, Error::NotFound(_)) => return Ok([false; N]),
        decisions => decisions?,
    };
    let mut decisions = decisions.into_iter();
    Ok(std::array::from_fn(|_| decisions.next().is_some_and(|decision| decision.is_allowed())))
}
