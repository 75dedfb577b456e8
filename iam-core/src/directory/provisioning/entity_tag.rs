use iam_model::directory::ProvisionedUser;
use iam_model::error::{Error, Result};

/// Returns the entity tag of a user of a directory, for `ETag` and `meta.version`. It changes whenever the directory or
/// another caller changes the user. It is weak: a login changes nothing that a directory sees.
#[must_use]
pub fn entity_tag(found: &ProvisionedUser) -> String {
    format!("W/\"{}-{}\"", found.user.updated_at.timestamp_millis(), found.entry.version)
}

/// Whether one of the tags of `If-Match` or `If-None-Match` is that of a user, or is `*`. Tags are compared weakly (RFC
/// 9110, section 8.8.3.2): those of users are weak, and directories send them in both headers.
#[must_use]
pub fn has_entity_tag(found: &ProvisionedUser, listed: &str) -> bool {
    let current = entity_tag(found);
    listed.split(',').map(str::trim).any(|tag| tag == "*" || opaque(tag) == opaque(&current))
}

/// Checks `If-Match`, if there is one.
pub(super) fn require_tag(found: &ProvisionedUser, if_match: Option<&str>) -> Result<()> {
    let is_met = if_match.is_none_or(|listed| has_entity_tag(found, listed));
    if is_met { Ok(()) } else { Err(Error::PreconditionFailed) }
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
