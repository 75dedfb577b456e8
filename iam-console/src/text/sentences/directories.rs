//! Directories and identity providers.

use iam_core::identity_provider::{Provisioning, SubjectClaim};

use crate::text::{of_service, t, t_with};

/// Why a directory is not created although its service account is.
pub(crate) fn account_is_made(why: &str) -> String {
    t_with("account-is-made", [("why", of_service(why).into())])
}

/// What to enter in the fields of Entra. Their names are those of Entra.
pub(crate) fn entra_fields() -> [(&'static str, &'static str); 2] {
    [("Tenant URL", t("the-address-above")), ("Secret token", t("key-of-the-account"))]
}

/// What to enter in the fields of Okta. Their names are those of Okta.
pub(crate) fn okta_fields() -> [(&'static str, &'static str); 3] {
    [
        ("SCIM connector base URL", t("the-address-above")),
        ("Unique identifier field for users", "userName"),
        ("Authentication mode", t("key-as-bearer-token")),
    ]
}

pub(crate) fn remove_directory(name: &str) -> String {
    t_with("remove-directory-named", [("name", name.into())])
}

pub(crate) fn groups_found(count: u64) -> String {
    t_with("groups-found", [("count", count.into())])
}

pub(crate) fn change_grants_of(group: &str) -> String {
    t_with("change-grants-of", [("group", group.into())])
}

/// A role with where it is held.
pub(crate) fn role_in(role: &str, place: &str) -> String {
    t_with("role-in", [("role", role.into()), ("place", place.into())])
}

/// Why the service account of a directory cannot give a role.
pub(crate) fn account_lacks(permission: &str) -> String {
    t_with("account-lacks", [("permission", permission.into())])
}

/// Names the group that gives a role.
pub(crate) fn by_group(group: &str, directory: &str) -> String {
    t_with("by-group", [("group", group.into()), ("directory", directory.into())])
}

/// The name of a claim that names a person.
pub(crate) fn subject_claim(claim: &SubjectClaim) -> &'static str {
    match claim {
        SubjectClaim::Sub => t("claim-sub"),
        SubjectClaim::Oid => t("claim-oid"),
    }
}

/// What happens with a person who is not linked to a user.
pub(crate) fn provisioning(provisioning: &Provisioning) -> &'static str {
    match provisioning {
        Provisioning::Off => t("provisioning-off"),
        Provisioning::Link => t("provisioning-link"),
        Provisioning::Create => t("provisioning-create"),
    }
}
