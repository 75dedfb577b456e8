//! Users.

pub(crate) const USERS: &str = "Users";
pub(crate) const USER: &str = "User";
pub(crate) const NEW_USER: &str = "New user";
pub(crate) const CREATE_USER: &str = "Create the user";
pub(crate) const SEARCH_USERS_HINT: &str = "A part of a name or of an e-mail address";

/// How many users a search has found.
pub(crate) fn users_found(total: u64) -> String {
    if total == 1 { "1 user".to_owned() } else { format!("{total} users") }
}

pub(crate) const NO_USER_MATCHES: &str = "No user matches.";
pub(crate) const SHOW_ALL_USERS: &str = "Show all users";
pub(crate) const SERVICE_ACCOUNT: &str = "Service account";
pub(crate) const MAY_CHANGE_ONLY_IN: &str =
    "You may change only users whose home, and all of whose roles, are in one of these organizations or below:";
pub(crate) const ON_THIS_PAGE: &str = "On this page";
pub(crate) const WHAT_USER_MAY: &str = "What this user may do";
pub(crate) const IN_THE_WHOLE_TENANT: &str = "In the whole tenant";
pub(crate) const HELD_EVERYWHERE: &str = "These roles apply in every organization, too.";
pub(crate) const PLACE_NOT_ACTIVE: &str =
    "This organization or one above it is not active, so the roles give nothing here.";
pub(crate) const PERMISSIONS_BEHIND: &str = "Permissions";
pub(crate) const WHY_HELD: &str = "Why?";

/// How many permissions of a role the page does not show.
pub(crate) fn more_permissions(count: &usize) -> String {
    if *count == 1 { "1 more permission".to_owned() } else { format!("{count} more permissions") }
}

/// How many roles of a user the page does not show.
pub(crate) fn more_roles(count: &usize) -> String {
    if *count == 1 { "1 more role".to_owned() } else { format!("{count} more roles") }
}

pub(crate) const TIME_LINE: &str = "Time line";
pub(crate) const TIME_LINE_WHAT: &str = "The newest of what this user did, and of what was done to its account and to the roles that it holds. What others did \
     to earlier roles, sessions, second factors and keys of the user is only in the audit log.";
pub(crate) const TIME_LINE_EMPTY: &str = "The log has no entries about this user.";
pub(crate) const DEVICES: &str = "Devices";
pub(crate) const SIGNED_IN_FROM: &str = "Signed in from";
pub(crate) const USER_HAS_NO_ROLES: &str = "This user holds no role, and so may do nothing. Assign one.";
pub(crate) const DELETED_HAS_NO_ROLES: &str = "This user holds no role.";
pub(crate) const ROLES_HIDDEN: &str = "You may not see the roles of this user.";
pub(crate) const USER_HAS_NO_SESSIONS: &str = "This user is not signed in anywhere.";
pub(crate) const SESSIONS_HIDDEN: &str = "You may not see the sessions of this user.";
pub(crate) const END_ALL_SESSIONS: &str = "End all sessions";
pub(crate) const ACT_AS_USER: &str = "Act as this user";
pub(crate) const ACT_AS_USER_WHAT: &str = "You see and do what this user may see and do, for a limited time. The user \
     gets a message, and the log names both of you.";
pub(crate) const ACT_REASON_HINT: &str = "The user and the log see it.";
pub(crate) const FOR_HOW_LONG: &str = "For how long";
pub(crate) const ACTING_TIMES: [(u32, &str); 4] =
    [(300, "5 minutes"), (900, "15 minutes"), (1_800, "30 minutes"), (3_600, "1 hour")];
pub(crate) const ACT_READ_ONLY: &str = "Only look: nothing can be changed";
pub(crate) const SUSPEND_WHAT: &str =
    "The user can then no longer sign in until you reactivate the account. All sessions of the user end.";
pub(crate) const SUSPEND_CONFIRM: &str = "Suspend this user";
pub(crate) const SEND_RESET: &str = "Send a link for a new password";
pub(crate) const SEND_RESET_WHAT: &str =
    "The user gets a link by e-mail to choose a new password. The link works for 30 minutes.";
pub(crate) const RESET_SENT: &str = "The link is sent.";
pub(crate) const END_ALL_SESSIONS_WHAT: &str = "The user must sign in again on every device.";
pub(crate) const REACTIVATE_WHAT: &str = "The user can then sign in again, with the same roles as before.";
pub(crate) const CHANGED_MEANWHILE: &str =
    "The user has changed since you opened this page, so nothing is saved. Open the page again before you save.";
pub(crate) const DELETE_WHAT: &str =
    "The user loses its roles and sessions and cannot sign in. Its record and its e-mail address stay.";
pub(crate) const DELETE_CONFIRM: &str = "Yes, delete this user";
pub(crate) const RESTORE_WHAT: &str = "The user can then sign in again, without roles.";
pub(crate) const USER_CREATED: &str = "The user is created, without a role.";
pub(crate) const USER_SUSPENDED: &str = "The user is suspended.";
pub(crate) const USER_REACTIVATED: &str = "The user is active again.";
pub(crate) const USER_DELETED: &str = "The user is deleted.";
pub(crate) const USER_RESTORED: &str = "The user is restored, without a role.";
pub(crate) const SESSIONS_ENDED: &str = "All sessions of the user have ended.";

pub(crate) const HOME: &str = "Home";
pub(crate) const HOME_OR_TENANT: &str = "The organization whose administrators may manage this account, if all roles of the account are there, too. Type a \
     part of the name, and choose. Leave it empty for the whole tenant.";
pub(crate) const EXTERNAL_ID_HINT: &str =
    "How another system, such as a directory, names this person. Leave it empty if none does.";

pub(crate) const ABOUT_THIS_USER: &str = "what was done to this user";
pub(crate) const BY_THIS_USER: &str = "what this user did";

pub(crate) const RESET_FACTORS: &str = "Remove all second factors";
pub(crate) const RESET_FACTORS_WHAT: &str =
    "For a person who has lost the phone or the passkey, and the recovery codes.";
pub(crate) const RESET_FACTORS_AFTER: &str =
    "The sessions of the user end. Then the person signs in with the password alone, until a new factor is set up.";
pub(crate) const RESET_FACTORS_CONFIRM: &str = "Yes, remove the second factors";
pub(crate) const FACTORS_RESET: &str = "The user has no second factors now.";

pub(crate) const EXPORT_USER: &str = "Download what is held about this user";
pub(crate) const EXPORT_USER_WHAT: &str =
    "A page with everything that is held about the user, and what the log has of it. The download is recorded.";
