//! Every text that the console itself shows, in English. A translation replaces this file.
//!
//! Messages about a refused call come from the services, as in the API.

use iam_core::tenant::PasswordPolicy;

pub(crate) const CONSOLE: &str = "Console";
pub(crate) const SKIP: &str = "Skip to the content";
pub(crate) const NAVIGATION: &str = "Main";
pub(crate) const SIGNED_IN_AS: &str = "Signed in as";
pub(crate) const SIGN_OUT: &str = "Sign out";
pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";

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
pub(crate) const TENANT_HINT: &str =
    "Its short name, such as acme. Only needed if you have accounts in several tenants.";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const SEVERAL_TENANTS: &str =
    "You have an account in several tenants. Choose one and type your password again.";
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
pub(crate) const RECOVERY_CODE: &str = "Recovery code";
pub(crate) const USE_RECOVERY_CODE: &str = "Use a recovery code instead";
pub(crate) const CODE_MISSING: &str = "Type the code that your app shows now.";
pub(crate) const RECOVERY_CODE_MISSING: &str = "Type a recovery code.";
pub(crate) const PASSWORD_MISSING: &str = "Type your password.";
pub(crate) const SIGN_IN_BY_PASSKEY: &str = "Sign in with a passkey";
pub(crate) const USE_PASSKEY: &str = "Use a passkey";
pub(crate) const PASSKEY_CANCELLED: &str = "No passkey was used. Try again, or choose another way.";
pub(crate) const PASSKEY_UNUSABLE: &str = "The browser has sent no answer of a passkey. Try again.";
pub(crate) const PASSKEY_NEEDS_SCRIPT: &str = "A passkey needs JavaScript. Allow it for this page.";
pub(crate) const SIGN_IN_LATE: &str = "The second step came too late. Sign in again.";
pub(crate) const START_AGAIN: &str = "Start again";

pub(crate) const REGISTER: &str = "Register a tenant";
pub(crate) const REGISTER_HINT: &str = "A tenant is a closed area with its own users, roles and log. \
     You become its first administrator.";
pub(crate) const TENANT_NAME: &str = "Name of the tenant";
pub(crate) const FIRST_NAME: &str = "First name";
pub(crate) const LAST_NAME: &str = "Last name";

/// What a new password must be.
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
pub(crate) const CANCEL: &str = "Cancel";

pub(crate) const SESSION_ENDED_FORM_KEPT: &str =
    "Your session has ended. Sign in again. What you typed is kept, and you can send it after that.";
pub(crate) const SEND_AGAIN: &str = "Send the form again?";
pub(crate) const SEND_AGAIN_WHY: &str =
    "This form is from an earlier session, so nothing is changed yet. Check what it has, and send it again.";
pub(crate) const SEND: &str = "Send";
pub(crate) const NOTHING_IS_SAVED: &str = "Nothing is saved. Correct the marked fields.";

pub(crate) const FOREIGN_FORM: &str =
    "This form is not from this page, or is older than your session. Open the page again.";
pub(crate) const BACK: &str = "Back to the overview";
pub(crate) const CORRELATION: &str = "Correlation id";
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
pub(crate) const USER_HAS_NO_ROLES: &str = "This user holds no role, and so may do nothing. Give it a role by the API.";
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
pub(crate) const SUSPEND_WHAT: &str = "The user cannot sign in until you reactivate it. Its sessions end now.";
pub(crate) const REACTIVATE: &str = "Reactivate";
pub(crate) const REACTIVATE_WHAT: &str = "The user can sign in again, with the roles that it holds.";
pub(crate) const CHANGED_MEANWHILE: &str =
    "The user has changed since you opened this page, so nothing is saved. Open the page again before you save.";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const DELETE_WHAT: &str =
    "The user loses its roles and sessions and cannot sign in. Its record and its e-mail address stay.";
pub(crate) const DELETE_CONFIRM: &str = "Yes, delete this user";
pub(crate) const RESTORE: &str = "Restore";
pub(crate) const RESTORE_WHAT: &str = "The user can sign in again, without roles.";
pub(crate) const USER_CREATED: &str = "The user is created. It holds no role yet.";
pub(crate) const USER_SUSPENDED: &str = "The user is suspended.";
pub(crate) const USER_REACTIVATED: &str = "The user is active again.";
pub(crate) const USER_DELETED: &str = "The user is deleted.";
pub(crate) const USER_RESTORED: &str = "The user is restored. It holds no role yet.";
pub(crate) const SESSIONS_ENDED: &str = "All sessions of the user have ended.";
pub(crate) const SESSION_WAS_ENDED: &str = "The session has ended.";

pub(crate) const AUDIT_LOG: &str = "Audit log";
pub(crate) const RESOURCE: &str = "About";
pub(crate) const EVERY_RESOURCE: &str = "Everything";
pub(crate) const ACTION: &str = "Action";
pub(crate) const EVERY_ACTION: &str = "Every action";
pub(crate) const FROM_DAY: &str = "From (day in UTC)";
pub(crate) const UNTIL_DAY: &str = "Until (day in UTC)";
pub(crate) const RESOURCE_ID: &str = "Id of the resource";
pub(crate) const ACTOR_ID: &str = "Id of the acting user";

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
pub(crate) const NO_ACTOR: &str = "by no signed-in user";
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

pub(crate) const MY_ACCOUNT: &str = "My account";
pub(crate) const DONE: &str = "Done";
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
pub(crate) const FACTOR_REQUIRED_SOON: &str = "Your tenant requires a second factor. Set one up before";
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
pub(crate) const RECOVERY_CODES_ONCE: &str =
    "Keep these codes in a safe place. Each works once in place of a second factor. They are not shown again.";
pub(crate) const NEW_CODES: &str = "Get new codes";
pub(crate) const NEW_CODES_WHAT: &str = "New codes end the former ones.";

pub(crate) const API_KEYS: &str = "API keys";
pub(crate) const NO_KEYS: &str = "There is no key. With a key, a program acts as this user.";
pub(crate) const KEYS_HIDDEN: &str = "You may not see the keys of this user.";
pub(crate) const VALID_UNTIL: &str = "Valid until";
pub(crate) const EXPIRED_AT: &str = "Expired at";
pub(crate) const ALL_PERMISSIONS: &str = "all permissions of the user";
pub(crate) const IN_ORGANIZATION: &str = "in organization";
pub(crate) const REVOKE: &str = "Revoke";
pub(crate) const NEW_KEY: &str = "New API key";
pub(crate) const CREATE_KEY: &str = "Create the key";
pub(crate) const KEY_WHAT: &str = "A program that has the key may do what the user may do, within these limits.";
pub(crate) const KEY_NAME_HINT: &str = "Such as the name of the program";
pub(crate) const KEY_PERMISSIONS: &str = "Only these permissions";
pub(crate) const KEY_PERMISSIONS_HINT: &str =
    "Such as users:read or roles:*, with spaces between them. Empty: all permissions of the user";
pub(crate) const ORGANIZATION: &str = "Organization";
pub(crate) const KEY_ORGANIZATION_HINT: &str =
    "Its short name or its id. The key works only in it and below it. Empty: everywhere";
pub(crate) const NO_SUCH_ORGANIZATION: &str = "is not the short name or the id of an organization that you may see";
pub(crate) const LAST_DAY: &str = "Last day (in UTC)";
pub(crate) const KEY_EXPIRY_HINT: &str = "At most 365 days from now. Empty: 90 days from now";
pub(crate) const BAD_DAY: &str = "must be a day, such as 2026-01-31";
pub(crate) const KEY_ONCE: &str = "Copy the key now. It is not shown again. A program sends it as a bearer token.";
pub(crate) const KEY_REVOKED: &str = "The key is revoked.";

pub(crate) const RESET_FACTORS: &str = "Remove all second factors";
pub(crate) const RESET_FACTORS_WHAT: &str =
    "For a user that has lost its phone or its passkey, and its recovery codes.";
pub(crate) const RESET_FACTORS_AFTER: &str =
    "The sessions of the user end. It then signs in with its password alone, until it sets up a new factor.";
pub(crate) const RESET_FACTORS_CONFIRM: &str = "Yes, remove the second factors";
pub(crate) const FACTORS_RESET: &str = "The user has no second factors now.";

pub(crate) const INVITATIONS: &str = "Invitations";
pub(crate) const INVITATION: &str = "Invitation";
pub(crate) const INVITE: &str = "Invite a person";
pub(crate) const INVITE_WHAT: &str = "The person gets a link by e-mail, which works for 7 days. With it, the person chooses a password and becomes a user.";
pub(crate) const INVITED_NAME: &str = "A proposal, which the person can change";
pub(crate) const ROLE: &str = "Role";
pub(crate) const ROLE_MISSING: &str = "must not be empty";
pub(crate) const NO_SUCH_ROLE: &str = "is not the name or the id of a role that you may see";
pub(crate) const INVITED_WHERE: &str = "Its short name or its id. Empty: the whole tenant";
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
pub(crate) const RESEND_WHAT: &str = "The new link works for 7 days, and ends the former one.";
pub(crate) const REVOKE_WHAT: &str = "The link stops working. The record of the invitation stays.";
pub(crate) const REVOKE_CONFIRM: &str = "Yes, revoke this invitation";
pub(crate) const INVITED: &str = "The invitation is on its way.";
pub(crate) const INVITATION_RESENT: &str =
    "A new link is on its way, unless the address got three messages in the last hour.";
pub(crate) const INVITATION_REVOKED: &str = "The invitation is revoked.";

pub(crate) const IMPORT: &str = "Import";
pub(crate) const IMPORT_USERS: &str = "Import users";
pub(crate) const IMPORT_WHAT: &str = "Takes over users of another system, with their passwords. \
     First check the file: nothing is saved. Then import it. Rows with errors are left out.";
pub(crate) const IMPORT_COLUMNS: &str = "The first line names the columns, in any order:";
pub(crate) const IMPORT_HASHES: &str = "The hash of the password is as the other system stored it: Argon2, PBKDF2 or bcrypt. \
     The status is ACTIVE or SUSPENDED; without it, ACTIVE.";
pub(crate) const IMPORT_NO_HASHES: &str = "Do you have no hashes?";
pub(crate) const CSV_FILE: &str = "CSV file";
pub(crate) const CSV_TEXT: &str = "Or paste its text";
pub(crate) const CSV_HINT: &str = "Keep this page open until the import has ended. If you leave it, the rows after the last \
     one shown are not imported. Then import the file again: users that exist are refused, and stay as they are.";
pub(crate) const IMPORT_CHECK: &str = "Check";
pub(crate) const IMPORT_RUN: &str = "Import";
pub(crate) const IMPORT_RESULT: &str = "Result of each row";
pub(crate) const IMPORT_PROGRESS: &str = "{done} of {total} rows";
pub(crate) const IMPORT_CHECKED: &str = "Rows that can be imported: {good}. Rows with errors: {bad}.";
pub(crate) const IMPORT_DONE: &str = "Users that were created: {good}. Rows that were refused: {bad}.";
pub(crate) const IMPORT_EMPTY: &str =
    "Choose a file, or paste its text: a line with the names of the columns, and rows.";
pub(crate) const IMPORT_LOST: &str = "The import has stopped. The rows below were done. Try again.";
pub(crate) const IMPORT_STOPPED: &str = "The import has stopped here.";
pub(crate) const LINE: &str = "Line";
pub(crate) const RESULT: &str = "Result";
pub(crate) const THE_FILE: &str = "The file";
pub(crate) const NO_HEADER: &str = "must begin with a line that names the columns";
pub(crate) const COLUMN_MISSING: &str = "has no column";
pub(crate) const COLUMN_UNKNOWN: &str = "has an unknown column";
pub(crate) const TOO_MANY_ROWS: &str = "has too many rows for one form; the maximum is";
pub(crate) const ROW_VALID: &str = "can be imported";
pub(crate) const ROW_CREATED: &str = "created";
pub(crate) const ROW_BROKEN: &str = "The row must be UTF-8 and have as many fields as the first line.";
pub(crate) const ROW_NOT_TRIED: &str = "not imported";
pub(crate) const ROW_REPEATED: &str = "A row before it has the same e-mail address.";
