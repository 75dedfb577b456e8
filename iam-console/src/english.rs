//! Every text that the console itself shows, in English. A translation replaces this file and those below it.
//!
//! Messages about a refused call come from the services, as in the API.

mod audit;
mod directory;

pub(crate) use self::audit::*;
pub(crate) use self::directory::*;

use iam_core::access::Denial;
use iam_core::factor::SecondFactorPolicy;
use iam_core::identity_provider::{Provisioning, SubjectClaim};
use iam_core::tenant::{PasswordLogin, PasswordPolicy};

pub(crate) const CONSOLE: &str = "Console";
pub(crate) const MENU: &str = "Menu";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const SKIP: &str = "Skip to the content";
pub(crate) const NAVIGATION: &str = "Main";
pub(crate) const SIGNED_IN_AS: &str = "Signed in as";
pub(crate) const SIGN_OUT: &str = "Sign out";
pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";

/// The time zone of all times on a page. A script names the one of the person.
pub(crate) const UTC_TIMES: &str = "Times are in UTC.";
pub(crate) const LOCAL_TIMES: &str = "Times are in your time zone ({zone}), except where a text says UTC.";

pub(crate) const OVERVIEW: &str = "Overview";
pub(crate) const WELCOME: &str = "Welcome";
pub(crate) const YOUR_TENANT: &str = "Your tenant";
pub(crate) const YOUR_ROLES: &str = "Your roles";
pub(crate) const YOUR_SESSION: &str = "Your session";
pub(crate) const SINCE: &str = "Since";
pub(crate) const FROM: &str = "From";
pub(crate) const NO_ROLES: &str = "You have no roles. Ask an administrator of your tenant for one.";
pub(crate) const WHOLE_TENANT: &str = "the whole tenant";

pub(crate) const SIGN_IN: &str = "Sign in";
pub(crate) const TENANT: &str = "Tenant";
pub(crate) const TENANT_HINT: &str = "The short name of your company or organization, such as acme. Only needed if you have accounts in several tenants.";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const SEVERAL_TENANTS: &str =
    "You have accounts in several tenants (companies or organizations). Choose one and type your password again.";
pub(crate) const INCORRECT: &str =
    "The e-mail address or the password is not correct. If you have accounts in several tenants, name the tenant.";
pub(crate) const SESSION_ENDED: &str = "Your session has ended. Sign in again.";
pub(crate) const SIGNED_OUT: &str = "You are signed out.";
pub(crate) const FIRST_RUN: &str = "There is no tenant yet.";
pub(crate) const FIRST_RUN_CLOSED: &str =
    "There is no tenant yet, and registration is closed. The operator creates one with: iam-server tenant create";
pub(crate) const REGISTER_FIRST: &str = "Register the first tenant";
pub(crate) const CONTINUE: &str = "Continue";

pub(crate) const SECOND_FACTOR: &str = "Second step";
pub(crate) const CODE: &str = "Code of your authenticator app";
/// The label of the first code of an app; an error continues it.
pub(crate) const APP_CODE: &str = "Code";
pub(crate) const WRONG_CODE: &str = "The code is wrong, or was used before.";
pub(crate) const RECOVERY_CODE: &str = "Recovery code";
pub(crate) const USE_RECOVERY_CODE: &str = "Use a recovery code instead";
pub(crate) const CODE_IS_NONE: &str = "A code of your app has six digits.";
pub(crate) const CODE_MISSING: &str = "Type the code that your app shows now.";
pub(crate) const RECOVERY_CODE_MISSING: &str = "Type a recovery code.";
pub(crate) const PASSWORD_MISSING: &str = "Type your password.";
pub(crate) const FORGOT_PASSWORD: &str = "I have forgotten my password";
pub(crate) const NEW_PASSWORD_BY_MAIL: &str = "Choose a new password";
pub(crate) const FORGOT_WHAT: &str =
    "If a user has this address, a message with a link to choose a new password is sent to it.";
pub(crate) const FORGOT_SENT: &str =
    "If a user has this address, the message is on its way. The link in it works for 30 minutes.";
pub(crate) const SIGN_IN_BY_PASSKEY: &str = "Sign in with a passkey";
pub(crate) const USE_PASSKEY: &str = "Use a passkey";
pub(crate) const PASSKEY_CANCELLED: &str = "No passkey was used. Try again, or choose another way.";
pub(crate) const PASSKEY_UNUSABLE: &str = "The browser has sent no answer of a passkey. Try again.";
pub(crate) const PASSKEY_NEEDS_SCRIPT: &str = "A passkey needs JavaScript. Allow it for this page.";
pub(crate) const SIGN_IN_LATE: &str = "The second step came too late. Sign in again.";
pub(crate) const START_AGAIN: &str = "Start again";

/// The button that leads to an identity provider.
pub(crate) fn sign_in_with(provider: &str) -> String {
    format!("Sign in with {provider}")
}

pub(crate) const PASSWORD_REFUSED: &str =
    "Your tenant does not allow passwords for your address. Sign in with the account of your company.";
pub(crate) const PASSWORD_OF_ADMINISTRATOR: &str =
    "If you hold all permissions in your tenant, you can also sign in with your password.";
pub(crate) const USE_PASSWORD: &str = "Use your password";
pub(crate) const FORM_TOO_LONG: &str =
    "The form that you sent is too long to be kept while you are at the provider. You must fill it in again.";
pub(crate) const PROVIDER_LATE: &str = "The sign-in took too long. Sign in again.";
pub(crate) const PROVIDER_DENIED: &str = "You were not let in at the provider. Try again, or choose another way.";
pub(crate) const PROVIDER_FAILED: &str =
    "The answer of the provider is not accepted. Try again. If that does not help, ask your administrator.";
pub(crate) const PROVIDER_NOT_LINKED: &str =
    "No user is linked to your account at the provider. Choose another way, or ask your administrator.";
pub(crate) const PROVIDER_UNAVAILABLE: &str = "The provider does not answer. Try again later, or choose another way.";

pub(crate) const REGISTER: &str = "Register a tenant";
pub(crate) const REGISTER_HINT: &str = "A tenant has its own users, roles and log, which no other tenant can see. \
     You become its first administrator.";
pub(crate) const TENANT_NAME: &str = "Name of the tenant";
pub(crate) const NEW_TENANT_HINT: &str = "Your company or organization. We call it a tenant.";
pub(crate) const FIRST_NAME: &str = "First name";
pub(crate) const LAST_NAME: &str = "Last name";

/// The rules for a new password.
pub(crate) fn password_hint(policy: PasswordPolicy, min_length: usize) -> String {
    match policy {
        PasswordPolicy::Seed => format!(
            "At least {min_length} characters, with an upper-case and a lower-case letter, a digit and one of \
             ! @ # $ % ^ & *"
        ),
        PasswordPolicy::Nist => format!("At least {min_length} characters of any kind, such as several words"),
        PasswordPolicy::Asvs => format!("At least {min_length} characters of any kind; 15 or more are better"),
    }
}

pub(crate) const NOT_FIRST: &str = "There is a tenant already. Sign in.";

pub(crate) const CONFIRM_IDENTITY: &str = "Confirm that it is you";
pub(crate) const CONFIRM_IDENTITY_WHY: &str = "You signed in some time ago, and this action needs a recent proof of your identity. \
     After it, the action goes on by itself.";
pub(crate) const CONFIRM_BY_FACTOR: &str = "Your tenant requires a second factor, and you have not used yours in this session. After it, the action goes on by \
     itself.";
/// The button that leads to the identity provider of a session to authenticate again.
pub(crate) fn confirm_at(provider: &str) -> String {
    format!("Confirm at {provider}")
}

pub(crate) const CONFIRM_AT_WHAT: &str = "After that, you see here what you sent, and send it again.";
pub(crate) const BEGAN_OTHERWISE: &str = "This session did not begin by that provider. Choose another way.";
pub(crate) const CONFIRMED_BY_OTHER: &str =
    "You used an account at the provider that is not linked to you here. Nothing is changed. Use your own account.";
pub(crate) const PROVIDER_DID_NOT_ASK: &str =
    "The provider did not ask you to sign in again, so nothing is proven. Try again, or choose another way.";
pub(crate) const PROVIDER_IS_NOT_ENOUGH: &str =
    "You have a second factor here, and the account at the provider does not replace it. Use your second factor.";
pub(crate) const CANCEL: &str = "Cancel";

pub(crate) const SESSION_ENDED_FORM_KEPT: &str =
    "Your session has ended. Sign in again. What you typed is kept, and you can send it after that.";
pub(crate) const SEND_AGAIN: &str = "Send the form again?";
pub(crate) const SEND_AGAIN_WHY: &str =
    "This form is from an earlier session, so nothing is changed yet. Check what it has, and send it again.";
pub(crate) const SEND_AFTER_PROOF: &str =
    "You have confirmed that it is you. Nothing is changed yet. Check what the form has, and send it again.";
pub(crate) const SEND: &str = "Send";
pub(crate) const NOTHING_IS_SAVED: &str = "Nothing is saved. Correct the marked fields.";

pub(crate) const FOREIGN_FORM: &str =
    "This form is not from this page, or is older than your session. Open the page again.";
pub(crate) const BACK: &str = "Back to the overview";
pub(crate) const CORRELATION: &str = "Correlation id";
pub(crate) const SHOW_PASSWORD: &str = "Show password";
pub(crate) const WRONG_PASSWORD: &str = "The password is not correct.";

pub(crate) const USERS: &str = "Users";
pub(crate) const USER: &str = "User";
pub(crate) const NEW_USER: &str = "New user";
pub(crate) const CREATE_USER: &str = "Create the user";
pub(crate) const SEARCH: &str = "Search";
pub(crate) const SEARCH_USERS_HINT: &str = "A part of a name or of an e-mail address";
pub(crate) const STATUS: &str = "Status";
pub(crate) const EVERY_STATUS: &str = "Every status";
pub(crate) const ACTIVE: &str = "Active";
pub(crate) const SUSPENDED: &str = "Suspended";
pub(crate) const DELETED: &str = "Deleted";
pub(crate) const LAST_LOGIN: &str = "Last sign-in";
pub(crate) const NEVER: &str = "Never";
pub(crate) const CREATED: &str = "Created";

/// How many users a search has found.
pub(crate) fn users_found(total: u64) -> String {
    if total == 1 { "1 user".to_owned() } else { format!("{total} users") }
}

pub(crate) const NO_USER_MATCHES: &str = "No user matches.";
pub(crate) const SHOW_ALL_USERS: &str = "Show all users";
pub(crate) const PAGES: &str = "Pages";
pub(crate) const PREVIOUS: &str = "Previous";
pub(crate) const NEXT: &str = "Next";
pub(crate) const PAGE: &str = "Page";
pub(crate) const OF: &str = "of";
pub(crate) const SERVICE_ACCOUNT: &str = "Service account";
pub(crate) const NAME: &str = "Name";
pub(crate) const PROFILE: &str = "Profile";
pub(crate) const SAVE: &str = "Save";
pub(crate) const SAVED: &str = "The changes are saved.";
pub(crate) const VERIFIED: &str = "verified";
pub(crate) const NOT_VERIFIED: &str = "not verified";
pub(crate) const ROLES: &str = "Roles";
pub(crate) const UNTIL: &str = "until";
pub(crate) const USER_HAS_NO_ROLES: &str = "This user holds no role, and so may do nothing. Assign one.";
pub(crate) const DELETED_HAS_NO_ROLES: &str = "This user holds no role.";
pub(crate) const ROLES_HIDDEN: &str = "You may not see the roles of this user.";
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const USER_HAS_NO_SESSIONS: &str = "This user is not signed in anywhere.";
pub(crate) const SESSIONS_HIDDEN: &str = "You may not see the sessions of this user.";
pub(crate) const THIS_SESSION: &str = "this session";
pub(crate) const LAST_USED: &str = "Last used";
pub(crate) const UNKNOWN_ADDRESS: &str = "unknown address";
pub(crate) const UNKNOWN_DEVICE: &str = "Unknown device";
pub(crate) const END_SESSION: &str = "End";
pub(crate) const END_ALL_SESSIONS: &str = "End all sessions";
pub(crate) const ACCOUNT: &str = "Account";
pub(crate) const SUSPEND: &str = "Suspend";
pub(crate) const SUSPEND_WHAT: &str =
    "The user can then no longer sign in until you reactivate the account. All sessions of the user end.";
pub(crate) const SUSPEND_CONFIRM: &str = "Suspend this user";
pub(crate) const SEND_RESET: &str = "Send a link for a new password";
pub(crate) const SEND_RESET_WHAT: &str =
    "The user gets a link by e-mail to choose a new password. The link works for 30 minutes.";
pub(crate) const RESET_SENT: &str = "The link is sent.";
pub(crate) const END_ALL_SESSIONS_WHAT: &str = "The user must sign in again on every device.";
pub(crate) const REVOKE_KEY: &str = "Revoke this key";
pub(crate) const REVOKE_KEY_WHAT: &str = "A program that uses this key is refused from now on.";
pub(crate) const NO_MAIL_NO_INVITATION: &str = "This installation sends no mail, so it cannot send invitations. You can create \
     users with a first password instead. The operator turns mail on with the setting IAM_SMTP_URL, or IAM_MAIL_DIR to \
     try it out.";
pub(crate) const REACTIVATE: &str = "Reactivate";
pub(crate) const REACTIVATE_WHAT: &str = "The user can then sign in again, with the same roles as before.";
pub(crate) const CHANGED_MEANWHILE: &str =
    "The user has changed since you opened this page, so nothing is saved. Open the page again before you save.";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const DELETE_WHAT: &str =
    "The user loses its roles and sessions and cannot sign in. Its record and its e-mail address stay.";
pub(crate) const DELETE_CONFIRM: &str = "Yes, delete this user";
pub(crate) const RESTORE: &str = "Restore";
pub(crate) const RESTORE_WHAT: &str = "The user can then sign in again, without roles.";
pub(crate) const USER_CREATED: &str = "The user is created, without a role.";
pub(crate) const USER_SUSPENDED: &str = "The user is suspended.";
pub(crate) const USER_REACTIVATED: &str = "The user is active again.";
pub(crate) const USER_DELETED: &str = "The user is deleted.";
pub(crate) const USER_RESTORED: &str = "The user is restored, without a role.";
pub(crate) const SESSIONS_ENDED: &str = "All sessions of the user have ended.";
pub(crate) const SESSION_WAS_ENDED: &str = "The session has ended.";

pub(crate) const EDIT: &str = "Edit";
pub(crate) const COPY: &str = "Copy";
pub(crate) const CHANGED: &str = "Changed";
pub(crate) const KIND: &str = "Kind";
pub(crate) const DESCRIPTION: &str = "Description";
pub(crate) const CHOOSE: &str = "Choose …";
pub(crate) const WHERE: &str = "Where";
pub(crate) const ORGANIZATION: &str = "Organization";
pub(crate) const ONE_OF_THE_LIST: &str = "must be one of the list";
pub(crate) const MUST_BE_CHOSEN: &str = "must be chosen";
pub(crate) const CORRECT_FIELDS: &str = "Correct the marked fields.";
pub(crate) const OPEN_AGAIN: &str = "Open it again";
pub(crate) const CHANGED_SINCE: &str =
    "This has changed since you opened the page, so nothing is saved. Open the page again before you save.";
pub(crate) const PICK_USER: &str = "Type a part of a name or of an e-mail address, and choose.";
pub(crate) const HOME: &str = "Home";
pub(crate) const HOME_OR_TENANT: &str = "The organization whose administrators may manage this account, if all roles of the account are there, too. Type a \
     part of the name, and choose. Leave it empty for the whole tenant.";
pub(crate) const EXTERNAL_ID: &str = "External identifier";
pub(crate) const EXTERNAL_ID_HINT: &str =
    "How another system, such as a directory, names this person. Leave it empty if none does.";
pub(crate) const PICK_ORGANIZATION: &str = "Type a part of the name, and choose.";
pub(crate) const ORGANIZATION_OR_TENANT: &str =
    "Type a part of the name, and choose. Leave it empty for the whole tenant.";
pub(crate) const NO_SUCH_USER: &str = "must be the e-mail address or the name of one user: choose one that is offered";
pub(crate) const USER_BY_ID: &str = "must be the id of a user, because you may not see users";
pub(crate) const NO_SUCH_ORGANIZATION: &str = "must be the name of one organization: choose one that is offered";
pub(crate) const ORGANIZATION_BY_ID: &str = "must be the id of an organization, because you may not see organizations";
pub(crate) const ORGANIZATION_REQUIRED: &str = "must be chosen: this role is only held in an organization";
pub(crate) const ORGANIZATION_REFUSED: &str = "must be empty: this role is only held in the whole tenant";

/// Why a service does not accept the resource that a field names, as the end of a sentence that begins with the field.
pub(crate) fn not_accepted(reason: &str) -> String {
    format!("is not accepted: {reason}")
}

pub(crate) const WHO_GAINS_AND_LOSES: &str = "Who gains and who loses what";
pub(crate) const GAINS: &str = "Gains";
pub(crate) const LOSES: &str = "Loses";
pub(crate) const FROM_MOMENT: &str = "from";
pub(crate) const CHANGE_IT: &str = "Change it";
pub(crate) const GO_BACK: &str = "Go back";

/// How many users a change affects.
pub(crate) fn users_affected(count: u64) -> String {
    match count {
        0 => "No user gains or loses a right.".to_owned(),
        1 => "1 user gains or loses rights:".to_owned(),
        count => format!("{count} users gain or lose rights:"),
    }
}

/// How many of them a page does not name.
pub(crate) fn others_affected(count: u64) -> String {
    match count {
        1 => "1 of them is not shown here.".to_owned(),
        count => format!("{count} of them are not shown here."),
    }
}

pub(crate) const ROLE: &str = "Role";
pub(crate) const NEW_ROLE: &str = "New role";
pub(crate) const EDIT_ROLE: &str = "Edit the role";
pub(crate) const CREATE_ROLE: &str = "Create the role";
pub(crate) const ROLE_CREATED: &str = "The role is created. No user holds it yet.";
pub(crate) const ROLE_DELETED: &str = "The role is deleted.";
pub(crate) const ROLE_NAME_HINT: &str = "A name such as Shift lead is written SHIFT_LEAD.";
pub(crate) const SEARCH_ROLES_HINT: &str = "A part of the name or of the description";
pub(crate) const NO_ROLE_MATCHES: &str = "No role matches.";
pub(crate) const SHOW_ALL_ROLES: &str = "Show all roles";
pub(crate) const HELD_WHERE: &str = "Can be held";
pub(crate) const SCOPE_TENANT: &str = "in the whole tenant only";
pub(crate) const SCOPE_ORGANIZATION: &str = "in an organization only";
pub(crate) const SCOPE_ANY: &str = "in the whole tenant or in an organization";
pub(crate) const BUILT_IN_ROLE: &str = "Built in";
pub(crate) const OWN_ROLE: &str = "Own";
pub(crate) const BUILT_IN_ROLE_WHAT: &str = "Built in: it cannot be changed, only copied";
pub(crate) const ROLE_MAY: &str = "What this role lets its holders do";
pub(crate) const ROLE_MAY_NOTHING: &str = "Nothing. Edit the role to give it permissions.";
pub(crate) const ROLE_HOLDERS: &str = "Who holds it";
pub(crate) const HOLDERS_HIDDEN: &str = "You may not see who holds this role.";
pub(crate) const NO_HOLDERS: &str = "No user holds this role.";
pub(crate) const ALL_HOLDERS: &str = "All who hold it";
pub(crate) const ASSIGN_THIS_ROLE: &str = "Assign this role";
pub(crate) const DELETE_ROLE_WHAT: &str = "Only a role that no user holds can be deleted.";
pub(crate) const DELETE_ROLE_CONFIRM: &str = "Yes, delete this role";
pub(crate) const PERMISSION: &str = "Permission";
pub(crate) const PERMISSIONS: &str = "Permissions";
pub(crate) const PERMISSIONS_HINT: &str = "You can give only what you may do yourself.";
pub(crate) const EVERYTHING: &str = "Everything";
pub(crate) const MAY_EVERYTHING: &str = "Do everything in the tenant, also what is added later.";

/// The meaning of the permission for all actions on a resource.
pub(crate) fn may_everything_with(resource: &str) -> String {
    format!("Do everything with {}, also what is added later.", resource.replace('-', " "))
}

/// Returns the title of the permissions of a resource.
pub(crate) fn title_of(resource: &str) -> String {
    let mut letters = resource.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let title = (first + letters.as_str()).replace('-', " ");
    title.strip_prefix("Api ").map_or(title.clone(), |rest| format!("API {rest}"))
}

pub(crate) fn change_role(name: &str) -> String {
    format!("Change the role {name}")
}

pub(crate) fn roles_found(count: u64) -> String {
    if count == 1 { "1 role".to_owned() } else { format!("{count} roles") }
}

pub(crate) const ASSIGNMENT: &str = "Assignment";
pub(crate) const ASSIGNMENTS: &str = "Assignments";
pub(crate) const ASSIGN: &str = "Assign";
pub(crate) const ASSIGN_ROLE: &str = "Assign a role";
pub(crate) const EVERY_ROLE: &str = "Every role";
pub(crate) const ONLY_TENANT: &str = " (whole tenant)";
pub(crate) const ONLY_ORGANIZATION: &str = " (in an organization)";
pub(crate) const ROLES_UNSEEN: &str = "You may not see roles: type the id of one.";
pub(crate) const AS_OF: &str = "Held at (UTC)";
pub(crate) const AS_OF_HINT: &str = "Empty: the present.";
pub(crate) const UNTIL_MOMENT: &str = "Until (UTC)";
pub(crate) const UNTIL_HINT: &str = "Empty: no end.";
pub(crate) const UNTIL_COLUMN: &str = "Until";
pub(crate) const NO_END: &str = "No end";
pub(crate) const NO_ASSIGNMENT_MATCHES: &str = "No assignment matches.";
pub(crate) const SHOW_ALL_ASSIGNMENTS: &str = "Show all assignments";
pub(crate) const ASSIGNED_BY: &str = "Assigned by";
pub(crate) const THE_SERVICE: &str = "the service";
pub(crate) const NOT_IN_FORCE: &str = "not active, so the role gives nothing";
pub(crate) const END_OF_ASSIGNMENT: &str = "End";
pub(crate) const REVOKE: &str = "Revoke";
pub(crate) const REVOKE_WHAT: &str = "The user loses the role at once. You first see what the user loses.";
pub(crate) const REVOKE_INVITATION_WHAT: &str =
    "The link stops working. The invitation stays in the list, as a revoked one.";
pub(crate) const ROLE_ASSIGNED: &str = "The role is assigned.";
pub(crate) const ROLE_REVOKED: &str = "The role is revoked.";
pub(crate) const END_CHANGED: &str = "The end of the role is changed.";

pub(crate) fn assignments_found(count: u64) -> String {
    if count == 1 { "1 assignment".to_owned() } else { format!("{count} assignments") }
}

pub(crate) fn permissions_in(count: usize) -> String {
    if count == 1 { "1 permission in".to_owned() } else { format!("{count} permissions in") }
}

pub(crate) fn revoke_role(role: &str, user: &str) -> String {
    format!("Revoke {role} of {user}")
}

pub(crate) fn assign_role(role: &str, user: &str, organization: Option<&str>) -> String {
    let place = organization.map_or_else(|| "the whole tenant".to_owned(), |name| format!("{name} and below"));
    format!("Assign {role} to {user} in {place}")
}

pub(crate) fn change_end_of(role: &str, user: &str) -> String {
    format!("Change the end of {role} of {user}")
}

pub(crate) const ACCESS: &str = "Access";
pub(crate) const WHY_MAY_USER: &str = "Why may a user do something?";
pub(crate) const WHO_MAY: &str = "Who may do something?";
pub(crate) const WHY_WHAT: &str =
    "Choose a permission, and a user. The answer names the roles that give the permission.";
pub(crate) const WHO_WHAT: &str = "Choose a permission. The answer names all users who hold it, and why.";
pub(crate) const USER_OR_YOU: &str = "User (empty for yourself)";
pub(crate) const PERMISSION_HINT: &str = "For example users:read";
pub(crate) const ONLY_ELSEWHERE: &str = "Not in the whole tenant, but in these organizations";
pub(crate) const IN_WHOLE_TENANT: &str = "in the whole tenant";
pub(crate) const ONLY_WHOLE_TENANT: &str = "These users may do it in the whole tenant. Other users may do it in single organizations. The roles with this \
     permission, each with all who hold it:";
pub(crate) const NO_SUCH_PERMISSION: &str = "must be a permission: choose one that is offered, such as users:read";
pub(crate) const AT_MOMENT: &str = "At (UTC)";
pub(crate) const ASK: &str = "Ask";
pub(crate) const ALLOWED: &str = "Yes";
pub(crate) const NOT_ALLOWED: &str = "No";
pub(crate) const ALLOWED_BECAUSE: &str = "Each of these roles is enough by itself:";
pub(crate) const INHERITED: &str = "inherited from above";
pub(crate) const PAGE_OF_USER: &str = "All roles of this user";
pub(crate) const BECAUSE_OF: &str = "Because of";
pub(crate) const NOBODY_MAY: &str = "No user holds this permission there.";

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

pub(crate) const ORGANIZATIONS: &str = "Organizations";
pub(crate) const NEW_ORGANIZATION: &str = "New organization";
pub(crate) const CREATE_ORGANIZATION: &str = "Create the organization";
pub(crate) const CREATE_BELOW: &str = "Create an organization below it";
pub(crate) const SEARCH_ORGANIZATIONS_HINT: &str = "A part of the name or of the short name";
pub(crate) const NOT_DELETED: &str = "Not deleted";
pub(crate) const NO_ORGANIZATIONS: &str =
    "There are no organizations. They are parts of the tenant in which roles can be held, such as branches or teams.";
pub(crate) const NO_ORGANIZATION_MATCHES: &str = "No organization matches.";
pub(crate) const SHOW_THE_TREE: &str = "Show the tree";
pub(crate) const TREE_HINT: &str = "Press a line with a triangle to see the organizations below it. Details leads to the page of an organization. To move \
     an organization, drag it onto another one, or use Move on its page.";
pub(crate) const WHAT_IS_BELOW: &str = "What is below";
pub(crate) const NOTHING_BELOW: &str = "No organization is below it.";
pub(crate) const MORE: &str = "More";
pub(crate) const DROP_HERE: &str = "Drop an organization here to move it to the top.";
pub(crate) const ABOVE: &str = "Above";
pub(crate) const BELOW: &str = "Below it";
pub(crate) const AT_THE_TOP: &str = "At the top";
pub(crate) const SLUG: &str = "Short name";
pub(crate) const SLUG_HINT: &str = "In lower-case letters, digits and hyphens, such as north-branch";
pub(crate) const TENANT_SLUG_HINT: &str =
    "Lower-case letters, digits and hyphens. People with accounts in several tenants type it.";
pub(crate) const NEW_SLUG_HINT: &str =
    "In lower-case letters, digits and hyphens. Leave it empty for one that is made from the name.";
pub(crate) const PARENT: &str = "Below";
pub(crate) const PARENT_OR_TOP: &str = "Type a part of the name, and choose. Leave it empty for the top.";
pub(crate) const MEMBERS: &str = "Roles held in it";
pub(crate) const MEMBERS_HIDDEN: &str = "You may not see who holds a role here.";
pub(crate) const NO_MEMBERS: &str =
    "No user holds a role in this organization itself. Roles from above apply here too.";
pub(crate) const ALL_MEMBERS: &str = "All roles held in it";
pub(crate) const LOG_HIDDEN: &str = "You may not see the audit log.";
pub(crate) const NO_ENTRIES: &str = "The log has no entries about it.";
pub(crate) const ABOUT_THIS_ORGANIZATION: &str = "What was changed in this organization";
pub(crate) const ORGANIZATION_CREATED: &str = "The organization is created.";
pub(crate) const ORGANIZATION_MOVED: &str = "The organization is moved.";
pub(crate) const ORGANIZATION_ACTIVE: &str = "The organization is active again.";
pub(crate) const ORGANIZATION_SUSPENDED: &str = "The organization is suspended.";
pub(crate) const ORGANIZATION_DELETED: &str = "The organization is deleted.";
pub(crate) const SUSPEND_ORGANIZATION_WHAT: &str =
    "Roles that are held in it or below it then give nothing until you reactivate it.";
pub(crate) const REACTIVATE_ORGANIZATION_WHAT: &str = "Roles that are held in it and below it are then in force again.";
pub(crate) const RESTORE_ORGANIZATION_WHAT: &str =
    "The organization comes back without the roles that were held in it.";
pub(crate) const DELETE_ORGANIZATION_WHAT: &str = "Roles that are held in it end, and another organization can get its short name. Organizations below it must be moved or deleted first. You can restore it later.";
pub(crate) const MOVE: &str = "Move";
pub(crate) const MOVE_WHAT: &str = "It moves with everything below it. You see first who gains and who loses what.";
pub(crate) const MOVE_NOTE: &str = "It moves with everything below it.";
pub(crate) const NEW_PLACE: &str = "New place";
pub(crate) const NEW_PARENT: &str = "Organization above";
pub(crate) const BELOW_ANOTHER: &str = "Below another organization";
pub(crate) const SHOW_EFFECTS: &str = "Show the effects";

pub(crate) fn organizations_found(count: u64) -> String {
    if count == 1 { "1 organization".to_owned() } else { format!("{count} organizations") }
}

pub(crate) fn move_organization(name: &str) -> String {
    format!("Move {name}")
}

pub(crate) fn move_below(name: &str, parent: &str) -> String {
    format!("Move {name} below {parent}")
}

pub(crate) fn move_to_top(name: &str) -> String {
    format!("Move {name} to the top")
}

pub(crate) fn suspend(name: &str) -> String {
    format!("Suspend {name}")
}

pub(crate) fn reactivate(name: &str) -> String {
    format!("Reactivate {name}")
}

pub(crate) fn delete(name: &str) -> String {
    format!("Delete {name}")
}

pub(crate) const AUDIT_LOG: &str = "Audit log";
pub(crate) const RESOURCE: &str = "About";
pub(crate) const EVERY_RESOURCE: &str = "Everything";
pub(crate) const ACTION: &str = "Action";
pub(crate) const EVERY_ACTION: &str = "Every action";
pub(crate) const FROM_DAY: &str = "From (day in UTC)";
pub(crate) const UNTIL_DAY: &str = "Until (day in UTC)";
pub(crate) const RESOURCE_ID: &str = "Id of the resource";
pub(crate) const ABOUT_WHICH: &str = "About which one";
pub(crate) const ABOUT_WHICH_HINT: &str = "Its id, or the e-mail address of a user";
pub(crate) const ACTING_USER: &str = "Acting user";
pub(crate) const MUST_BE_CORRELATION: &str = "must be a correlation id";
pub(crate) const ONLY_THE_USER_ITSELF: &str = "These are the changes of the user itself. What happened to sessions, roles, second factors and keys of the user is \
     in the log without this filter.";

/// How many entries of the log a page shows.
pub(crate) fn entries_shown(count: usize) -> String {
    match count {
        0 => NO_ENTRY_MATCHES.to_owned(),
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    }
}

pub(crate) const NO_ENTRY_MATCHES: &str = "No entry matches.";
pub(crate) const SHOW_ALL_ENTRIES: &str = "Show all entries";
pub(crate) const BY: &str = "by";
pub(crate) const DETAILS: &str = "Details";
pub(crate) const FIELD: &str = "Field";
pub(crate) const BEFORE: &str = "Before";
pub(crate) const AFTER: &str = "After";
pub(crate) const ALL_ABOUT_IT: &str = "all entries about it";
pub(crate) const ADDRESS: &str = "Address";
pub(crate) const DEVICE: &str = "Device";
pub(crate) const NEWEST: &str = "Newest";
pub(crate) const OLDER: &str = "Older";
pub(crate) const IN_THE_LOG: &str = "In the audit log";
pub(crate) const ABOUT_THIS_USER: &str = "what was done to this user";
pub(crate) const BY_THIS_USER: &str = "what this user did";

pub(crate) const SIGN_INS_BY_DAY: &str = "Sign-ins of the last 14 days";
pub(crate) const SIGN_INS: &str = "Sign-ins";
pub(crate) const FAILURES: &str = "Failed attempts";
pub(crate) const DAYS_ARE_UTC: &str = "Days in UTC";
pub(crate) const NOT_ALL_COUNTED: &str = "There are too many to count those of the first days";
pub(crate) const AS_TABLE: &str = "As a table";
pub(crate) const DAY: &str = "Day";

pub(crate) const ACCESS_REVIEWS: &str = "Access reviews";
pub(crate) const NEW_REVIEW: &str = "New review";
pub(crate) const BEGIN_REVIEW: &str = "Begin the review";
pub(crate) const REVIEW_WHAT: &str = "A review lists the role assignments of this moment. People decide about each of them \
     whether it stays. Nothing changes before the review is completed.";
pub(crate) const NO_REVIEWS: &str = "There is no such review.";
pub(crate) const SHOW_ALL_REVIEWS: &str = "Show all reviews";
pub(crate) const REVIEW_OPEN: &str = "Open";
pub(crate) const REVIEW_COMPLETED: &str = "Completed";
pub(crate) const REVIEW_CANCELLED: &str = "Cancelled";
pub(crate) const ALL_REVIEWS: &str = "All";
pub(crate) const DUE: &str = "Due";
pub(crate) const LATE: &str = "late";
pub(crate) const DUE_DAY: &str = "Due day";
pub(crate) const DUE_HINT: &str = "The review is due at the end of this day, in UTC. It stays open afterwards.";
pub(crate) const REVIEW_NAME_HINT: &str = "For example: Sales, spring";
pub(crate) const PROGRESS: &str = "Progress";
pub(crate) const DECIDED: &str = "decided";
pub(crate) const WHOLE_TENANT_OPTION: &str = "The whole tenant";
pub(crate) const WHERE_HINT: &str =
    "In an organization, the review is about the assignments in it and below it, and not about tenant-wide ones.";
pub(crate) const SEARCH_ORGANIZATIONS: &str = "Search organizations by name";
pub(crate) const MORE_ORGANIZATIONS: &str = "There are more. Type a part of the name to find another one.";
pub(crate) const ORGANIZATIONS_HIDDEN: &str = "You may not see the organizations.";
pub(crate) const WHICH_ROLES: &str = "Which roles";
pub(crate) const WHICH_ROLES_HINT: &str = "Without a choice, the review is about all roles.";
pub(crate) const ALL_ROLES: &str = "all roles";
pub(crate) const CHOICE_HIDDEN: &str = "You may not see the roles, so the review is about all of them.";
pub(crate) const CHOOSE_AGAIN: &str = "must be chosen from the list";
pub(crate) const MUST_BE_DAY: &str = "must be a day, such as 2026-01-31";
pub(crate) const MUST_DECIDE: &str = "must be to keep or to revoke";
pub(crate) const ABOUT_USERS: &str = "Users";
pub(crate) const BEGUN: &str = "Begun";
pub(crate) const CLOSED: &str = "Closed";
pub(crate) const OVERDUE: &str = "The review is late.";
pub(crate) const REVIEW_BEGUN: &str = "The review has begun. Decide about each item.";
pub(crate) const REVIEW_DECIDED: &str = "The decision is saved.";
pub(crate) const REVIEW_IS_COMPLETED: &str = "The review is completed. Each item shows what became of it.";
pub(crate) const REVIEW_IS_CANCELLED: &str = "The review is cancelled. No role assignment was revoked.";
pub(crate) const ITEMS: &str = "Items";
pub(crate) const ALL_ITEMS: &str = "All";
pub(crate) const UNDECIDED: &str = "Undecided";
pub(crate) const KEEP: &str = "Keep";
pub(crate) const DECISION: &str = "Decision";
pub(crate) const REASON: &str = "Reason";
pub(crate) const OPTIONAL: &str = "optional";
pub(crate) const GRANTED: &str = "Granted";
pub(crate) const BY_THE_SERVICE: &str = "by the service itself";
pub(crate) const OWN_ITEM: &str = "This is your own role. Another person must decide about it.";
pub(crate) const NO_ITEMS: &str =
    "No role assignment is in the scope of this review. Cancel it, and begin one with another scope.";
pub(crate) const NO_ITEM_MATCHES: &str = "No item matches.";
pub(crate) const SHOW_ALL_ITEMS: &str = "Show all items";
pub(crate) const AS_CSV: &str = "Download as CSV";
pub(crate) const DECISION_SAVED: &str = "Saved:";
pub(crate) const COMPLETE: &str = "Complete the review";
pub(crate) const COMPLETE_CONFIRM: &str = "Yes, complete it";
pub(crate) const CANCEL_REVIEW: &str = "Cancel the review";
pub(crate) const CANCEL_REVIEW_WHAT: &str =
    "Nothing is revoked. The review and its decisions stay, and cannot be changed any more.";
pub(crate) const CANCEL_CONFIRM: &str = "Yes, cancel it";
pub(crate) const DECISIONS_HIDDEN: &str = "You may see this review, and may not decide in it.";
pub(crate) const OUTCOME_KEPT: &str = "It stays.";
pub(crate) const OUTCOME_REVOKED: &str = "It is revoked.";
pub(crate) const OUTCOME_GONE: &str = "It had ended before.";

/// The effects of the completion of a review, or why it cannot be completed yet.
pub(crate) fn completion(undecided: u64, keep: u64, revoke: u64) -> String {
    match (undecided, revoke) {
        (0, 0) => format!("All role assignments stay: {keep}. This cannot be undone."),
        (0, _) => {
            format!("Role assignments that are revoked: {revoke}. Those that stay: {keep}. This cannot be undone.")
        }
        (1, _) => "One item has no decision yet. Decide about it before you complete the review.".to_owned(),
        _ => format!("{undecided} items have no decision yet. Decide about them before you complete the review."),
    }
}

pub(crate) const CHECK: &str = "Check";
pub(crate) const CHECK_LOG: &str = "Check the log";
pub(crate) const FOLLOW: &str = "Follow live";

pub(crate) const LINKED_HOLDERS: &str = "Administrators with a linked account";
pub(crate) const LINKED_HOLDERS_WHAT: &str = "These users hold all permissions in the whole tenant, and can sign in by an identity provider. Who controls it \
     can act as them. Each of them can remove the link on \"My account\".";
pub(crate) const LINKED_HOLDERS_CUT: &str = "Only 100 holders of all permissions were looked at. There are more.";

pub(crate) const ENDS_SOON: &str = "Ends soon";
pub(crate) const YOUR_KEYS_END: &str = "Your API keys that end within 30 days:";
pub(crate) const NONE_OF_YOUR_KEYS_ENDS: &str = "None of your API keys ends within 30 days.";
pub(crate) const ENTRIES_RECORDED: &str = "entries were recorded.";
pub(crate) const NO_ENTRY_WAITS: &str = "All of them can be checked.";
pub(crate) const LOG_LATE: &str = "This takes too long. Ask the operator to look at the log of the server.";
pub(crate) const LOG_BROKEN: &str =
    "The log cannot be shown, or does not match its own checkpoint. Ask the operator to run: iam-server audit verify";

/// How many role assignments end soon. Only this many are counted.
pub(crate) fn ending(next: usize, soon: usize, counted: usize) -> String {
    if soon == 0 {
        return "No role assignment ends within 30 days.".to_owned();
    }
    let number = |count: usize| if count < counted { count.to_string() } else { format!("{count} or more") };
    format!("Role assignments that end within 7 days: {}; within 30 days: {}.", number(next), number(soon))
}

/// How many invitations wait for an answer.
pub(crate) fn invitations_wait(count: &u64) -> String {
    match count {
        0 => "No invitation waits for an answer.".to_owned(),
        _ => format!("Invitations that wait for an answer: {count}. Each ends 7 days after it was sent."),
    }
}

/// How many entries are not sequenced yet, as always for a moment, after so many that are.
pub(crate) fn entries_wait(size: &u64, count: &usize) -> String {
    match count {
        _ if *size == 0 => "They can be checked within a minute.".to_owned(),
        1 => "The newest one can be checked within a minute, the others now.".to_owned(),
        count => format!("The newest {} can be checked within a minute, the others now.", up_to_100(*count)),
    }
}

/// How many entries are not sequenced after a long time. The moment of the oldest one follows.
pub(crate) fn entries_late(count: &usize) -> String {
    format!("Entries that cannot be checked yet: {}, the oldest since", up_to_100(*count))
}

/// Only so many are counted.
fn up_to_100(count: usize) -> String {
    if count < 100 { count.to_string() } else { at_least(100) }
}

pub(crate) fn at_least(count: u64) -> String {
    format!("{count} or more")
}

// The first steps of a new tenant.
pub(crate) const FIRST_STEPS: &str = "First steps";
pub(crate) const STEP_ORGANIZATION: &str = "Create an organization";
pub(crate) const STEP_INVITE: &str = "Invite a person";
pub(crate) const OR: &str = "or";
pub(crate) const STEP_IMPORT: &str = "import users";
pub(crate) const STEP_ROLE: &str = "Assign a role";
pub(crate) const STEP_FACTOR: &str = "Set up a second factor for your account";

pub(crate) const MY_ACCOUNT: &str = "My account";
pub(crate) const DONE: &str = "Done";
pub(crate) const COPIED: &str = "Copied";
pub(crate) const NOT_COPIED: &str = "Not copied: your browser does not allow it. Mark the text and copy it.";
pub(crate) const DOWNLOAD: &str = "Download";

/// A browser and its system, such as `Chrome on Linux`.
pub(crate) fn browser_on(browser: &str, system: &str) -> String {
    format!("{browser} on {system}")
}

pub(crate) const CHANGE_PASSWORD: &str = "Change the password";
pub(crate) const CHANGE_PASSWORD_WHAT: &str = "Your other sessions end.";
pub(crate) const CURRENT_PASSWORD: &str = "Current password";
pub(crate) const NEW_PASSWORD: &str = "New password";
pub(crate) const PASSWORD_CHANGED: &str = "Your password is changed. Your other sessions have ended.";
pub(crate) const CHANGE_EMAIL: &str = "Change the e-mail address";
pub(crate) const CHANGE_EMAIL_WHAT: &str =
    "We send a link to the new address. Your address changes when you open the link.";
pub(crate) const NEW_EMAIL: &str = "New e-mail address";
pub(crate) const SEND_LINK: &str = "Send the link";
pub(crate) const EMAIL_LINK_SENT: &str = "A link is on its way to the new address. Open it to change your address.";
pub(crate) const SEND_VERIFICATION: &str = "Send a link to verify the address";
pub(crate) const VERIFICATION_SENT: &str = "A link is on its way to your address.";
pub(crate) const END_OTHER_SESSIONS: &str = "End all other sessions";
pub(crate) const NO_OTHER_SESSIONS: &str = "You are not signed in anywhere else.";
pub(crate) const OTHER_SESSIONS_ENDED: &str = "Your other sessions have ended.";

pub(crate) const SECOND_FACTORS: &str = "Second factors";
pub(crate) const FACTOR_REQUIRED: &str = "Your tenant requires a second factor. Set one up to use the other pages. Then sign in again if a page asks for it.";
pub(crate) const FACTOR_UNUSED: &str =
    "Your tenant requires a second factor, and you have not used yours in this session. Use it to go on.";
pub(crate) const USE_FACTOR: &str = "Use your second factor";
pub(crate) const FACTOR_REQUIRED_SOON: &str =
    "Your tenant requires a second factor. Set one up, or sign in again with the one that you have, before";
pub(crate) const YOU_HAVE_NO_FACTORS: &str =
    "Your password alone protects your account. Add an authenticator app or a passkey.";
pub(crate) const AUTHENTICATOR: &str = "Authenticator app";
pub(crate) const PASSKEY: &str = "Passkey";
pub(crate) const NEVER_IN_LINE: &str = "never";
pub(crate) const RENAME: &str = "Rename";
pub(crate) const RENAME_FACTOR: &str = "Rename the factor";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const ADD_AUTHENTICATOR: &str = "Add an authenticator app";
pub(crate) const AUTHENTICATOR_WHAT: &str =
    "An app on your phone shows a new code every 30 seconds. After your password, you type the code.";
pub(crate) const AUTHENTICATOR_NAME_HINT: &str = "Such as the name of the phone";
pub(crate) const SCAN: &str = "Scan this code with your app:";
pub(crate) const QR_CODE: &str = "QR code for your authenticator app. The secret is also below, as text.";
pub(crate) const OR_TYPE: &str = "Or type this secret into your app:";
pub(crate) const OPEN_APP: &str = "Open the app on this device";
pub(crate) const CONFIRM: &str = "Confirm";
pub(crate) const ADD_PASSKEY: &str = "Add a passkey";
pub(crate) const PASSKEY_WHAT: &str = "Your device keeps the passkey, and asks for your finger, your face or a PIN. With it you sign in without a password.";
pub(crate) const PASSKEY_NAME: &str = "This device";
pub(crate) const PASSKEY_KNOWN: &str = "This device has a passkey of your account already.";
pub(crate) const PASSKEY_GO_ON: &str = "Your identity is confirmed. Add the passkey now.";
pub(crate) const PASSKEY_REFUSED: &str = "The answer of the passkey is not accepted. Try again.";
pub(crate) const FACTOR_ADDED: &str = "The factor is added. From now on, you sign in with it.";
pub(crate) const FACTOR_REMOVED: &str = "The factor is removed.";
pub(crate) const RECOVERY_CODES: &str = "Recovery codes";
pub(crate) const RECOVERY_CODES_LEFT: &str = "Codes that are left";
pub(crate) const RECOVERY_CODES_ONCE: &str = "They are shown only now: copy them before you leave this page. Keep them in a safe place. Each works once, in place of a second factor.";
pub(crate) const NEW_CODES: &str = "Get new codes";
pub(crate) const NEW_CODES_WHAT: &str = "With new codes, the old ones stop working.";

pub(crate) const LINKED_ACCOUNTS: &str = "Linked accounts";
pub(crate) const LINKED_WHAT: &str =
    "With an account at one of these providers, you sign in without a password of this console.";
pub(crate) const NOTHING_LINKED: &str = "No account is linked to yours.";
pub(crate) const NO_PROVIDERS: &str = "Your tenant has no provider of accounts.";
pub(crate) const LINKED_SINCE: &str = "Linked";
pub(crate) const ACCOUNT_LINKED: &str = "The account is linked. From now on, you can sign in with it.";
pub(crate) const LINK_REMOVED: &str = "The account is no longer linked to yours.";
pub(crate) const RETURN_LATE: &str = "It took too long to come back from the provider. Begin again.";

/// The button that leads to an identity provider to link an account there.
pub(crate) fn link_with(provider: &str) -> String {
    format!("Link {provider}")
}

pub(crate) const API_KEYS: &str = "API keys";
pub(crate) const NO_KEYS: &str = "There is no key. With a key, a program acts as this user.";
pub(crate) const KEYS_HIDDEN: &str = "You may not see the keys of this user.";
pub(crate) const VALID_UNTIL: &str = "Valid until";
pub(crate) const EXPIRED_AT: &str = "Expired at";
pub(crate) const ALL_PERMISSIONS: &str = "all permissions of the user";
pub(crate) const IN_ORGANIZATION: &str = "in organization";
pub(crate) const NEW_KEY: &str = "New API key";
pub(crate) const CREATE_KEY: &str = "Create the key";
pub(crate) const KEY_WHAT: &str = "A program that has the key may do what the user may do, within these limits.";
pub(crate) const KEY_NAME_HINT: &str = "Such as the name of the program";
pub(crate) const KEY_PERMISSIONS: &str = "Only these permissions";
pub(crate) const KEY_PERMISSIONS_HINT: &str =
    "Such as users:read or roles:*, with spaces between them. Empty: all permissions of the user";
pub(crate) const KEY_PERMISSIONS_OF_OTHER_HINT: &str =
    "Such as users:read or roles:*, with spaces between them. You must hold them yourself";
pub(crate) const KEY_ORGANIZATION_HINT: &str =
    "Type a part of the name, and choose. The key works only in it and below it. Empty: everywhere";
pub(crate) const LAST_DAY: &str = "Last day (in UTC)";
pub(crate) const KEY_EXPIRY_HINT: &str = "At most 365 days from now. Empty: 90 days from now";
pub(crate) const BAD_DAY: &str = "must be a day, such as 2026-01-31";
pub(crate) const KEY_ONCE: &str = "Copy the key now. It is not shown again. A program sends it as a bearer token.";
pub(crate) const KEY_REVOKED: &str = "The key is revoked.";

pub(crate) const RESET_FACTORS: &str = "Remove all second factors";
pub(crate) const RESET_FACTORS_WHAT: &str =
    "For a person who has lost the phone or the passkey, and the recovery codes.";
pub(crate) const RESET_FACTORS_AFTER: &str =
    "The sessions of the user end. Then the person signs in with the password alone, until a new factor is set up.";
pub(crate) const RESET_FACTORS_CONFIRM: &str = "Yes, remove the second factors";
pub(crate) const FACTORS_RESET: &str = "The user has no second factors now.";

pub(crate) const INVITATIONS: &str = "Invitations";
pub(crate) const INVITATION: &str = "Invitation";
pub(crate) const INVITE: &str = "Invite a person";
pub(crate) const INVITE_WHAT: &str = "The person gets a link by e-mail, which works for 7 days. With it, the person chooses a password and becomes a user.";
pub(crate) const INVITED_NAME: &str = "A proposal, which the person can change";
pub(crate) const ROLE_MISSING: &str = "must not be empty";
pub(crate) const NO_SUCH_ROLE: &str = "must be the name of a role: choose one that is offered";
pub(crate) const ROLE_BY_ID: &str = "must be the id of a role, because you may not see roles";
pub(crate) const INVITED_UNTIL: &str = "Empty: the role has no end";
pub(crate) const ONE_MORE_ROLE: &str = "Add a role";
pub(crate) const SEND_INVITATION: &str = "Send the invitation";
pub(crate) const PENDING: &str = "Pending";
pub(crate) const ACCEPTED: &str = "Accepted";
pub(crate) const REVOKED: &str = "Revoked";
pub(crate) const EXPIRED: &str = "Expired";
pub(crate) const EXPIRES: &str = "Expires";
pub(crate) const NO_INVITATION_MATCHES: &str = "There is no invitation here.";
pub(crate) const SHOW_ALL_INVITATIONS: &str = "Show all invitations";
pub(crate) const INVITED_BY: &str = "who invited";
pub(crate) const INVITED_WITHOUT_ROLES: &str = "The person gets no role, and so may do nothing at first.";
pub(crate) const INVITE_ANOTHER: &str = "Invite again";
pub(crate) const RESEND: &str = "Send a new link";
pub(crate) const RESEND_WHAT: &str = "Sends a new link, which works for 7 days. The old link then stops working.";
pub(crate) const REVOKE_CONFIRM: &str = "Yes, revoke this invitation";
pub(crate) const INVITED: &str = "The invitation is on its way.";
pub(crate) const INVITATION_RESENT: &str =
    "A new link is on its way, unless the address got three messages in the last hour.";
pub(crate) const INVITATION_REVOKED: &str = "The invitation is revoked.";

pub(crate) const IMPORT: &str = "Import";
pub(crate) const IMPORT_USERS: &str = "Import users";
pub(crate) const IMPORT_WHAT: &str = "Creates users from a CSV file, such as one that Excel saves. \
     First check the file: nothing is saved. Then import it. Rows with errors are left out.";
pub(crate) const IMPORT_COLUMNS: &str = "The first line names the columns, in any order:";
pub(crate) const IMPORT_TEMPLATE: &str = "Download an empty file with this line";
pub(crate) const IMPORT_EXAMPLE: &str = "Each person is a line below it, for example:";
pub(crate) const IMPORT_INVITES: &str = "Each person gets an invitation by e-mail: a link that works for 7 days, with which the person chooses a password. \
     The person gets no role.";
pub(crate) const IMPORT_HASHES: &str = "To take over users of another system with their passwords, add these columns:";
pub(crate) const IMPORT_HASH_FORMATS: &str = "A row with the hash of a password creates a user at once. The hash is as the other system stored it: Argon2, PBKDF2 or bcrypt. \
     The status is ACTIVE or SUSPENDED; without it, ACTIVE.";
pub(crate) const CSV_FILE: &str = "CSV file";
pub(crate) const CSV_TEXT: &str = "Or paste its text";
pub(crate) const CSV_HINT: &str = "Keep this page open until the import has ended. If you leave it, the rows after the last \
     one shown are not imported. Then import the file again: people who are users or invited already are refused, and stay as they are.";
pub(crate) const IMPORT_CHECK: &str = "Check";
pub(crate) const IMPORT_RUN: &str = "Import";
pub(crate) const IMPORT_RESULT: &str = "Result of each row";
pub(crate) const IMPORT_PROGRESS: &str = "{done} of {total} rows";
pub(crate) const IMPORT_CHECKED: &str =
    "Users that can be created: {created}. People who can be invited: {invited}. Rows with errors: {bad}.";
pub(crate) const IMPORT_DONE: &str =
    "Users that were created: {created}. People who were invited: {invited}. Rows that were refused: {bad}.";
pub(crate) const IMPORT_EMPTY: &str =
    "Choose a file, or paste its text: a line with the names of the columns, and rows.";
pub(crate) const FILE_CHANGED: &str = "The file has changed. Choose it again, and check it.";
pub(crate) const FILE_NOT_UTF8: &str = "The file is not in UTF-8. In Excel, save it as \u{201c}CSV UTF-8\u{201d}.";
pub(crate) const CONNECTION_LOST: &str = "The server does not answer.";
pub(crate) const CHECK_NOT_DONE: &str = "Nothing was checked.";
pub(crate) const CHECK_NOT_WHOLE: &str = "Only the rows below were checked. Check again.";
pub(crate) const IMPORT_NOT_DONE: &str = "Nothing was imported.";
pub(crate) const IMPORT_NOT_WHOLE: &str =
    "Only the rows below were imported. Import again: rows that are done are refused, and stay as they are.";
pub(crate) const IMPORT_STOPPED: &str = "The import has stopped here.";
pub(crate) const LINE: &str = "Line";
pub(crate) const RESULT: &str = "Result";
pub(crate) const THE_FILE: &str = "The file";
pub(crate) const TOO_MANY_ROWS: &str = "has too many rows for one form; the maximum is";
pub(crate) const ROW_VALID: &str = "can be created";
pub(crate) const ROW_CREATED: &str = "created";
pub(crate) const ROW_INVITABLE: &str = "can be invited";
pub(crate) const ROW_INVITED: &str = "invited";
pub(crate) const ROW_NEEDS_MAIL: &str = "A row without passwordHash invites the person by e-mail, and this installation sends no mail. The operator can set \
     IAM_SMTP_URL or IAM_MAIL_DIR.";
pub(crate) const ROW_ONLY_ACTIVE: &str = "must be empty or ACTIVE in a row without passwordHash";
pub(crate) const ROW_NOT_TRIED: &str = "not imported";
pub(crate) const ROW_REPEATED: &str = "A row before it has the same e-mail address.";
// Webhooks.
pub(crate) const WEBHOOKS: &str = "Webhooks";
pub(crate) const WEBHOOK: &str = "Webhook";
pub(crate) const WEBHOOKS_WHAT: &str =
    "A webhook sends events of this tenant to another system, as soon as they are in the audit log.";
pub(crate) const NO_WEBHOOKS: &str = "There is no webhook yet.";
pub(crate) const NEW_WEBHOOK: &str = "New webhook";
pub(crate) const CREATE_WEBHOOK: &str = "Create the webhook";
pub(crate) const WEBHOOK_URL: &str = "Address";
pub(crate) const WEBHOOK_URL_HINT: &str =
    "Where the events go, such as https://example.com/events. It must contain no secret: the audit log shows it.";
pub(crate) const EVENT_TYPES: &str = "Types of events";
pub(crate) const EVENT_TYPES_HINT: &str = "One on each line, such as USER.CREATE. USER.* means every action on users.";
pub(crate) const EVENT_CATALOGUE: &str = "All types of events";
pub(crate) const NEEDS_AUDIT_LOG: &str = "A webhook sends entries of the audit log. You may not read it, so you can change neither the address nor the types.";
pub(crate) const WEBHOOK_ENABLED: &str = "It sends events";
pub(crate) const SWITCHED_ON: &str = "On";
pub(crate) const SWITCHED_OFF: &str = "Off";
pub(crate) const WEBHOOK_DELETED: &str = "The webhook is deleted.";
pub(crate) const WEBHOOK_SECRET: &str = "Secret of the webhook";

pub(crate) fn unknown_types(types: &str) -> String {
    format!("The service itself records no event of this type: {types}. Only your own application can record it.")
}

pub(crate) const WEBHOOK_CHANGED_MEANWHILE: &str =
    "The webhook has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const WHAT_IT_SENDS: &str = "What it sends";
pub(crate) const ABOUT_THIS_WEBHOOK: &str = "what was done to this webhook";
pub(crate) const SECRET: &str = "Secret";
pub(crate) const SECRET_ONCE: &str =
    "The receiver verifies requests with this secret. Copy it now: it is not shown again.";
pub(crate) const ROTATE_SECRET: &str = "Make a new secret";
pub(crate) const ROTATE_WHAT: &str = "Requests are then signed with the old secret too, for 24 hours.";
pub(crate) const TEST: &str = "Test";
pub(crate) const TEST_WHAT: &str = "Sends an event of the type WEBHOOK.TEST at once, and shows the answer here. A test is neither in the audit log nor in the deliveries.";
pub(crate) const SEND_TEST: &str = "Send a test";
pub(crate) const DELETE_WEBHOOK_WHAT: &str = "It sends no more events, and its deliveries are removed.";
pub(crate) const DELETE_WEBHOOK_CONFIRM: &str = "Yes, delete this webhook";
pub(crate) const DELIVERIES: &str = "Deliveries";
pub(crate) const DELIVERIES_WHAT: &str =
    "The newest 200, by their last attempt. Those that have ended are removed after seven days.";
pub(crate) const NO_DELIVERIES: &str =
    "No event was sent yet. The next event of these types is. Tests are not listed here.";
pub(crate) const DELIVERED: &str = "Delivered";
pub(crate) const DELIVERY_PENDING: &str = "Waiting for the next attempt";
pub(crate) const DELIVERY_PAUSED: &str = "Waiting until the webhook is on";
pub(crate) const DELIVERY_FAILED: &str = "Failed";
pub(crate) const RECEIVER_ANSWER: &str = "Answer";
pub(crate) const NO_ANSWER: &str = "none";
pub(crate) const ATTEMPT: &str = "Attempts";
pub(crate) const NEXT_ATTEMPT: &str = "the next one at";
pub(crate) const SEQUENCE: &str = "Number of the event";
pub(crate) const SEND_AGAIN_FROM_HERE: &str = "Send again, with all later events";
pub(crate) const SEND_AGAIN_EVENTS: &str = "Send old events again";
pub(crate) const FROM_SEQUENCE: &str = "Number of the event to begin with";
pub(crate) const FROM_SEQUENCE_HINT: &str = "This event and all later ones of these types are sent again.";
pub(crate) const EVENTS_ARE_SENT_AGAIN: &str = "The events are sent again. Open this page later to see the answers.";
pub(crate) const MUST_BE_A_NUMBER: &str = "must be a whole number";
pub(crate) const NOT_OF_THIS_PAGE: &str = "is not a parameter of this page";
pub(crate) const GIVEN_TWICE: &str = "must be given once";

/// The answer of the receiver of a webhook to a test.
pub(crate) fn test_result(status: Option<u16>, error: Option<&str>, duration_ms: u32) -> String {
    let answer = match status {
        Some(status) => format!("The receiver answered {status} after {duration_ms} ms"),
        None => format!("The test failed after {duration_ms} ms"),
    };
    match error {
        Some(error) => format!("{answer}: {error}."),
        None => format!("{answer}. The test is accepted."),
    }
}

// Domains.
pub(crate) const DOMAINS: &str = "Domains";
pub(crate) const DOMAIN: &str = "Domain";
pub(crate) const DOMAINS_WHAT: &str =
    "A domain proves which e-mail addresses are those of your tenant. Identity providers speak for the people in it.";
pub(crate) const NO_DOMAINS: &str = "There is no domain yet.";
pub(crate) const NEW_DOMAIN: &str = "New domain";
pub(crate) const ADD_DOMAIN: &str = "Add the domain";
pub(crate) const DOMAIN_HINT: &str = "Such as example.com. A subdomain is a domain of its own.";
pub(crate) const DOMAIN_VERIFIED: &str = "Verified";
pub(crate) const VERIFIED_AT: &str = "Verified at";
pub(crate) const CHECKED_AT: &str = "Checked at";
pub(crate) const DOMAIN_ADDED: &str = "The domain is added. Publish the record below, and check it.";
pub(crate) const DOMAIN_IS_VERIFIED: &str = "The record was found. The domain is verified.";
pub(crate) const DOMAIN_REMOVED: &str = "The domain is removed.";
pub(crate) const ABOUT_THIS_DOMAIN: &str = "what was done to this domain";
pub(crate) const RECORD: &str = "Record to publish";
pub(crate) const RECORD_WHAT: &str =
    "Publish this record in the DNS of the domain, and leave it there. It is looked for again each day.";
pub(crate) const RECORD_TYPE: &str = "Type";
pub(crate) const RECORD_VALUE: &str = "Value";
pub(crate) const RECORD_NOT_NEEDED: &str = "The operator has verified this domain. It needs no record.";
pub(crate) const RECORD_ABSENT: &str =
    "The record is absent. After seven days without it, the domain is pending again. Absent since";
pub(crate) const CHECK_RECORD: &str = "Check the record now";
pub(crate) const REMOVE_DOMAIN_WHAT: &str =
    "Another tenant can verify it at once. A domain that an identity provider names cannot be removed.";
pub(crate) const REMOVE_DOMAIN_CONFIRM: &str = "Yes, remove this domain";

// Identity providers.
pub(crate) const IDENTITY_PROVIDERS: &str = "Identity providers";
pub(crate) const IDENTITY_PROVIDER: &str = "Identity provider";
pub(crate) const IDENTITY_PROVIDERS_WHAT: &str = "By an identity provider, such as Entra, Okta, Google or Keycloak, people sign in with the accounts that they have.";
pub(crate) const NO_IDENTITY_PROVIDERS: &str = "There is no identity provider yet.";
pub(crate) const NEW_IDENTITY_PROVIDER: &str = "New identity provider";
pub(crate) const CREATE_IDENTITY_PROVIDER: &str = "Create the identity provider";
pub(crate) const IDENTITY_PROVIDER_CREATED: &str =
    "The identity provider is created. Register the addresses below at the provider.";
pub(crate) const IDENTITY_PROVIDER_REMOVED: &str = "The identity provider is removed.";
pub(crate) const IDENTITY_PROVIDER_CHANGED_MEANWHILE: &str =
    "The identity provider has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const ABOUT_THIS_IDENTITY_PROVIDER: &str = "what was done to this identity provider";
pub(crate) const IDENTITY_PROVIDER_READ_ONLY: &str = "You may see this identity provider, and may not change it.";
pub(crate) const PROVIDER_SETTINGS: &str = "Settings of the provider";
pub(crate) const ISSUER: &str = "Issuer";
pub(crate) const ISSUER_HINT: &str = "Such as https://login.example.com, to the letter as the provider names itself.";
pub(crate) const CLIENT_ID: &str = "Client id";
pub(crate) const CLIENT_ID_HINT: &str = "How the provider names this service";
pub(crate) const CLIENT_SECRET: &str = "Client secret";
pub(crate) const CLIENT_SECRET_HINT: &str = "Leave it empty if the provider gives none. It is never shown again.";
pub(crate) const CLIENT_SECRET_KEPT: &str = "It is never shown. Leave it empty to keep the secret that is stored.";
pub(crate) const REMOVE_SECRET: &str = "Remove the secret";
pub(crate) const SECRET_AND_REMOVED: &str = "must be empty if the secret is to be removed";
pub(crate) const SCOPES: &str = "Scopes";
pub(crate) const SCOPES_HINT: &str = "What the provider is asked for, with spaces between them. One of them is openid.";
pub(crate) const PROVIDER_DOMAINS_HINT: &str =
    "The provider speaks for the people in these domains. A pending domain has no effect.";
pub(crate) const PROVIDER_NEEDS_DOMAIN: &str = "The tenant has no domain.";
pub(crate) const DOMAINS_HIDDEN: &str = "You may not see the domains.";
pub(crate) const TRUSTS_EMAIL: &str = "An e-mail address counts as verified, although the provider does not say so";
pub(crate) const SUBJECT_CLAIM: &str = "What names a person";
pub(crate) const PROVISIONING: &str = "Accounts of people who sign in for the first time";
pub(crate) const PROVIDED_ROLES: &str = "Roles of new users";
pub(crate) const PROVIDED_ROLES_HINT: &str = "The users that the provider makes get these roles. An empty row counts for nothing. No role may have all permissions.";
pub(crate) const FACTOR_IS_TRUSTED: &str = "A second factor at the provider counts here";
pub(crate) const PROVIDER_ENABLED: &str = "People sign in by it";
pub(crate) const ADDRESSES: &str = "Addresses of this service";
pub(crate) const ADDRESSES_WHAT: &str = "Register these addresses at the provider.";
pub(crate) const CALLBACK_URL: &str = "Callback";
pub(crate) const LOGOUT_URL: &str = "Back-channel logout";
pub(crate) const FEDERATION_OFF: &str =
    "This installation reaches no identity providers. The operator can turn federation on.";
pub(crate) const REMOVE_PROVIDER_WHAT: &str =
    "Linked persons cannot sign in by it any more, and their links are removed. Sessions go on.";
pub(crate) const REMOVE_PROVIDER_CONFIRM: &str = "Yes, remove this identity provider";

/// The name of a claim that names a person.
pub(crate) fn subject_claim(claim: &SubjectClaim) -> &'static str {
    match claim {
        SubjectClaim::Sub => "sub: the subject",
        SubjectClaim::Oid => "oid: the object identifier of Entra",
    }
}

/// What happens with a person who is not linked to a user.
pub(crate) fn provisioning(provisioning: &Provisioning) -> &'static str {
    match provisioning {
        Provisioning::Off => "Nothing happens: people link their own accounts.",
        Provisioning::Link => "The user with the verified address of the person is linked.",
        Provisioning::Create => "The user with the verified address of the person is linked, or a new user is made.",
    }
}

// Settings of the tenant.
pub(crate) const TENANT_SETTINGS: &str = "Settings";
pub(crate) const TENANT_HIDDEN: &str = "You may not see the settings of the tenant.";
pub(crate) const ABOUT_THIS_TENANT: &str = "what was changed here";
pub(crate) const TENANT_CHANGED_MEANWHILE: &str =
    "The tenant has changed since you opened this page, so nothing is saved. Open the page again before you save.";
pub(crate) const PASSWORD_POLICY: &str = "Password policy";
pub(crate) const PASSWORD_POLICY_HINT: &str = "For new passwords. Mixed: with a digit, a special character, and letters in upper and lower case. \
     Long: NIST SP 800-63B-4; 8 characters where second factors are required. Simple: OWASP ASVS 5.0. Long and Simple \
     refuse common passwords, and those that consist of the name or the e-mail address of the person.";
pub(crate) const SECOND_FACTORS_HINT: &str = "If they are required, each person without one must set one up within the days below. \
     After these days, the person can only set one up.";
pub(crate) const GRACE_DAYS: &str = "Days to set one up";
pub(crate) const GRACE_DAYS_HINT: &str = "0 to 90, counted from the day on which second factors are required, or on which the user is created if it is later.";
pub(crate) const PASSWORD_LOGIN: &str = "Sign-in by password";
pub(crate) const PASSWORD_LOGIN_HINT: &str = "Who has all permissions in the whole tenant may always use the password, so that a failing identity provider locks no \
     person out.";
pub(crate) const RETENTION: &str = "Retention of the audit log";
pub(crate) const RETENTION_HIDDEN: &str = "You may not see how long the audit log is kept.";
pub(crate) const RETENTION_DAYS: &str = "Days";
pub(crate) const RETENTION_HINT: &str =
    "Empty means forever. A longer time is in force at once, a shorter one after 30 days.";
pub(crate) const SAVE_RETENTION: &str = "Save the retention";
pub(crate) const ENTRIES_ARE_KEPT_FOREVER: &str = "All entries are kept forever.";
pub(crate) const APPLY_RETENTION: &str = "Remove old entries";
pub(crate) const APPLY_RETENTION_WHAT: &str =
    "Removes the entries that are older than the retention. Proofs of all other entries stay valid.";
pub(crate) const APPLY_RETENTION_CONFIRM: &str = "Yes, remove old entries";

/// How long entries are kept now.
pub(crate) fn entries_are_kept(days: &u32) -> String {
    format!("Entries are kept for {}.", days_of(days))
}

/// How long entries are kept later; a moment follows.
pub(crate) fn entries_will_be_kept(days: &u32) -> String {
    format!("They are kept for {} from", days_of(days))
}

fn days_of(days: &u32) -> String {
    if *days == 1 { "1 day".to_owned() } else { format!("{days} days") }
}

/// How many entries the retention has removed.
pub(crate) fn entries_removed(count: u64) -> String {
    match count {
        0 => "No entry is older than the retention.".to_owned(),
        1 => "1 entry is removed.".to_owned(),
        count => format!("{count} entries are removed."),
    }
}

/// The name of a password policy.
pub(crate) fn password_policy(policy: &PasswordPolicy) -> &'static str {
    match policy {
        PasswordPolicy::Seed => "Mixed: at least 8 characters",
        PasswordPolicy::Nist => "Long: at least 15 characters",
        PasswordPolicy::Asvs => "Simple: at least 8 characters",
    }
}

/// The name of a rule for passwords.
pub(crate) fn password_login(login: &PasswordLogin) -> &'static str {
    match login {
        PasswordLogin::Allowed => "Allowed",
        PasswordLogin::Federated => "Not for persons whose identity provider is known",
    }
}

/// The name of a rule for second factors.
pub(crate) fn second_factor_policy(policy: &SecondFactorPolicy) -> &'static str {
    match policy {
        SecondFactorPolicy::Off => "Off: no person can set one up",
        SecondFactorPolicy::Optional => "Optional: each person decides",
        SecondFactorPolicy::Required => "Required for all persons",
    }
}
