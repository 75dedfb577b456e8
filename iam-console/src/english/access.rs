//! Why a user may do something, who may do it, and who holds which roles.

use iam_core::access::Denial;

pub(crate) const ACCESS: &str = "Check access";
pub(crate) const WHY_MAY_USER: &str = "Why may a user do something?";
pub(crate) const WHO_MAY: &str = "Who may do something?";
pub(crate) const WHY_WHAT: &str =
    "Choose a permission, and a user. The answer names the roles that give the permission.";
pub(crate) const WHO_WHAT: &str = "Choose a permission. The answer names all users who hold it, and why.";
pub(crate) const USER_OR_YOU: &str = "User (empty for yourself)";
pub(crate) const PERMISSION_HINT: &str = "Its name, such as users:read, or words of its meaning";
pub(crate) const ONLY_ELSEWHERE: &str = "Not in the whole tenant, but in these organizations";
pub(crate) const IN_WHOLE_TENANT: &str = "in the whole tenant";
pub(crate) const ONLY_WHOLE_TENANT: &str = "These users may do it in the whole tenant. Other users may do it in single organizations. The roles with this \
     permission, each with all who hold it:";
pub(crate) const NO_SUCH_PERMISSION: &str = "must be a permission: choose one that is offered, such as users:read";
pub(crate) const SEVERAL_PERMISSIONS: &str = "means several permissions: choose one that is offered";
pub(crate) const AT_MOMENT: &str = "At (UTC)";
pub(crate) const ASK: &str = "Ask";
pub(crate) const ALLOWED: &str = "Yes";
pub(crate) const NOT_ALLOWED: &str = "No";
pub(crate) const ALLOWED_BECAUSE: &str = "Each of these roles is enough by itself:";
pub(crate) const INHERITED: &str = "inherited from above";
pub(crate) const PAGE_OF_USER: &str = "All roles of this user";
pub(crate) const BECAUSE_OF: &str = "Because of";
pub(crate) const NOBODY_MAY: &str = "No user holds this permission there.";

// Who holds which roles in a place.
pub(crate) const WHO_HOLDS: &str = "Who holds which roles?";
pub(crate) const WHO_HOLDS_WHAT: &str =
    "Choose an organization, or leave it empty for the whole tenant. The answer names all users who hold roles there.";
pub(crate) const HELD_HERE: &str = "Assigned here";
pub(crate) const HELD_ABOVE: &str = "Inherited";
pub(crate) const HELD_FROM: &str = "from";
pub(crate) const NO_ROLE_HERE: &str = "None";
pub(crate) const HOLDS_MORE: &str = "Holds more roles than are shown here.";
pub(crate) const NO_ROLE_HOLDERS: &str = "No user holds a role there.";
pub(crate) const HOLDERS_WHAT: &str = "Each role also counts in everything below its place. Users who are not active, and \
     roles in organizations that are not active, are left out: they give nothing.";

/// Why a user may not do something.
pub(crate) fn denial(denial: &Denial) -> String {
    match denial {
        Denial::UserNotActive(_) => "The user is not active, and so may do nothing.".to_owned(),
        Denial::Expired => "A role that gave this permission has ended.".to_owned(),
        Denial::OrganizationNotActive => {
            "A role with this permission is held there, but the organization or one above it is not active.".to_owned()
        }
        Denial::HeldElsewhere => "The user holds this permission in other organizations only.".to_owned(),
        Denial::DidNotExist => "The user or the organization did not exist at that moment.".to_owned(),
        Denial::NotHeld => "No role of the user has this permission.".to_owned(),
        other => other.to_string(),
    }
}
