use iam_model::directory::{DirectoryGroup, ProvisionedUser};
use iam_model::error::{Error, Result};

/// Returns the entity tag of a user of a directory, for `ETag` and `meta.version`. It changes whenever the directory or
/// another caller changes the user. It is weak: a login changes nothing that a directory sees.
#[must_use]
pub fn entity_tag(found: &ProvisionedUser) -> String {
    format!("W/\"{}-{}\"", found.user.updated_at.timestamp_millis(), found.entry.version)
}

/// Returns the entity tag of a group of a directory, as [`entity_tag`] does for a user. It also changes when the group
/// is mapped to other roles, which a directory does not see.
#[must_use]
pub fn group_entity_tag(group: &DirectoryGroup) -> String {
    format!("W/\"{}\"", group.version)
}

/// Whether one of the tags of `If-Match` or `If-None-Match` is the present one of a resource, or is `*`. Tags are
/// compared weakly (RFC 9110, section 8.8.3.2): those of users and groups are weak, and directories send them in both
/// headers.
#[must_use]
pub fn has_entity_tag(current: &str, listed: &str) -> bool {
    listed.split(',').map(str::trim).any(|tag| tag == "*" || opaque(tag) == opaque(current))
}

/// Checks `If-Match`, if there is one.
pub(super) fn require_tag(current: &str, if_match: Option<&str>) -> Result<()> {
    let is_met = if_match.is_none_or(|listed| has_entity_tag(current, listed));
    if is_met { Ok(()) } else { Err(Error::PreconditionFailed) }
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
