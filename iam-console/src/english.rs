//! Every text that the console itself shows, in English. A translation replaces this file.
//!
//! Messages about a refused call come from the services, as in the API.

use iam_core::factor::SecondFactorPolicy;
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
pub(crate) const PASSKEY_ONLY: &str =
    "The console does not accept passkeys yet. Use another second factor or a recovery code.";
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
pub(crate) const DESCRIPTION: &str = "Description";
pub(crate) const WEBHOOK_ENABLED: &str = "It sends events";
pub(crate) const SWITCHED_ON: &str = "On";
pub(crate) const SWITCHED_OFF: &str = "Off";
pub(crate) const WEBHOOK_CREATED: &str = "The webhook is created.";
pub(crate) const WEBHOOK_DELETED: &str = "The webhook is deleted.";
pub(crate) const WEBHOOK_CHANGED_MEANWHILE: &str =
    "The webhook has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const WHAT_IT_SENDS: &str = "What it sends";
pub(crate) const ABOUT_THIS_WEBHOOK: &str = "what was done to this webhook";
pub(crate) const SECRET: &str = "Secret";
pub(crate) const SECRET_ONCE: &str =
    "The receiver verifies requests with this secret. Copy it now: it is not shown again.";
pub(crate) const ROTATE_SECRET: &str = "Make a new secret";
pub(crate) const ROTATE_WHAT: &str = "For 24 hours, requests are signed with the former secret, too.";
pub(crate) const SECRET_ROTATED: &str = "The webhook has a new secret.";
pub(crate) const TEST: &str = "Test";
pub(crate) const TEST_WHAT: &str = "Sends an event of the type WEBHOOK.TEST, which is not in the audit log.";
pub(crate) const SEND_TEST: &str = "Send a test";
pub(crate) const DELETE_WEBHOOK_WHAT: &str = "It sends no more events, and its deliveries are removed.";
pub(crate) const DELETE_WEBHOOK_CONFIRM: &str = "Yes, delete this webhook";
pub(crate) const DELIVERIES: &str = "Deliveries";
pub(crate) const DELIVERIES_WHAT: &str =
    "The newest 200, by their last attempt. Those that have ended are removed after seven days.";
pub(crate) const NO_DELIVERIES: &str = "Nothing is delivered yet. Send a test, or wait for an event of these types.";
pub(crate) const DELIVERED: &str = "Delivered";
pub(crate) const DELIVERY_PENDING: &str = "Waiting for the next attempt";
pub(crate) const DELIVERY_FAILED: &str = "Failed";
pub(crate) const RECEIVER_ANSWER: &str = "Answer";
pub(crate) const NO_ANSWER: &str = "none";
pub(crate) const ATTEMPT: &str = "Attempts";
pub(crate) const NEXT_ATTEMPT: &str = "the next one at";
pub(crate) const SEQUENCE: &str = "Number of the event";
pub(crate) const SEND_AGAIN_FROM_HERE: &str = "Send again from this event on";
pub(crate) const SEND_AGAIN_EVENTS: &str = "Send events again";
pub(crate) const FROM_SEQUENCE: &str = "Number of the first event";
pub(crate) const FROM_SEQUENCE_HINT: &str = "This event and all later ones of these types are sent again.";
pub(crate) const EVENTS_ARE_SENT_AGAIN: &str = "The events are sent again. Open this page later to see the answers.";
pub(crate) const MUST_BE_A_NUMBER: &str = "must be a whole number";

/// What the receiver of a webhook has answered to a test.
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

// Settings of the tenant.
pub(crate) const TENANT_SETTINGS: &str = "Settings";
pub(crate) const TENANT_HIDDEN: &str = "You may not see the settings of the tenant.";
pub(crate) const ABOUT_THIS_TENANT: &str = "what was changed here";
pub(crate) const TENANT_CHANGED_MEANWHILE: &str =
    "The tenant has changed since you opened this page, so nothing is saved. Open the page again before you save.";
pub(crate) const SLUG: &str = "Short name";
pub(crate) const SLUG_HINT: &str =
    "Lower-case letters, digits and hyphens. People with accounts in several tenants type it.";
pub(crate) const PASSWORD_POLICY: &str = "Password policy";
pub(crate) const PASSWORD_POLICY_HINT: &str =
    "For passwords that are set from now on. All but the first refuse common passwords, and the person's own words.";
pub(crate) const SECOND_FACTORS: &str = "Second factors";
pub(crate) const SECOND_FACTORS_HINT: &str =
    "If they are required, a person without one must set one up within the grace. Afterwards it can do nothing else.";
pub(crate) const GRACE_DAYS: &str = "Grace in days";
pub(crate) const GRACE_DAYS_HINT: &str = "0 to 90, counted from the day on which second factors are required, or on which the user is created if it is later.";
pub(crate) const MUST_BE_CHOSEN: &str = "must be one of the choices";
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
        PasswordPolicy::Seed => "At least 8 characters of several kinds",
        PasswordPolicy::Nist => "NIST SP 800-63B-4: at least 15 characters, 8 if second factors are required",
        PasswordPolicy::Asvs => "OWASP ASVS 5.0: at least 8 characters",
    }
}

/// The name of a rule for second factors.
pub(crate) fn second_factor_policy(policy: &SecondFactorPolicy) -> &'static str {
    match policy {
        SecondFactorPolicy::Off => "Off: nobody can set one up",
        SecondFactorPolicy::Optional => "Optional: each person decides",
        SecondFactorPolicy::Required => "Required for everybody",
    }
}
