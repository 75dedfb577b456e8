//! Organizations in which roles give nothing for now, which a page says where a role is given.

use iam_core::organization::OrganizationStatus;
use iam_core::{Caller, Error, Iam, OrganizationId};

use crate::problem::if_allowed;
use crate::text;

/// Returns the warning about a role in an organization: it is suspended, or one above it. Empty if roles count there, in
/// the whole tenant, and if the caller may not see the organization.
pub(crate) async fn warning(
    iam: &Iam,
    caller: &Caller,
    organization: Option<OrganizationId>,
) -> Result<&'static str, Error> {
    let Some(id) = organization else { return Ok("") };
    let Some(found) = if_allowed(iam.organizations().get(caller, id).await)? else { return Ok("") };
    if found.organization.status == OrganizationStatus::Suspended {
        return Ok(text::t("place-suspended"));
    }
    let above = if_allowed(iam.organizations().ancestors(caller, id).await)?.unwrap_or_default();
    let is_suspended = above.iter().any(|found| found.organization.status == OrganizationStatus::Suspended);
    Ok(if is_suspended { text::t("place-above-suspended") } else { "" })
}
