//! Every text that the console itself shows, in English. A translation replaces this file and those below it.
//!
//! The texts of an area are in the file with the name of its pages. This file has the texts that belong to no single
//! area.
//!
//! Messages about a refused call come from the services, as in the API.

mod access;
mod access_requests;
mod access_reviews;
mod account;
mod assignments;
mod attributes;
mod audit;
mod directories;
mod domains;
mod eligibilities;
mod find;
mod identity_providers;
mod import;
mod invitations;
mod keys;
mod organizations;
mod overview;
mod permissions;
mod roles;
mod runs;
mod sign_in;
mod tenant;
mod users;
mod webhooks;

pub(crate) use self::access::*;
pub(crate) use self::access_requests::*;
pub(crate) use self::access_reviews::*;
pub(crate) use self::account::*;
pub(crate) use self::assignments::*;
pub(crate) use self::attributes::*;
pub(crate) use self::audit::*;
pub(crate) use self::directories::*;
pub(crate) use self::domains::*;
pub(crate) use self::eligibilities::*;
pub(crate) use self::find::*;
pub(crate) use self::identity_providers::*;
pub(crate) use self::import::*;
pub(crate) use self::invitations::*;
pub(crate) use self::keys::*;
pub(crate) use self::organizations::*;
pub(crate) use self::overview::*;
pub(crate) use self::permissions::*;
pub(crate) use self::roles::*;
pub(crate) use self::runs::*;
pub(crate) use self::sign_in::*;
pub(crate) use self::tenant::*;
pub(crate) use self::users::*;
pub(crate) use self::webhooks::*;

use iam_core::tenant::PasswordPolicy;

// The frame of each page.
pub(crate) const CONSOLE: &str = "Console";
pub(crate) const MENU: &str = "Menu";
pub(crate) const SKIP: &str = "Skip to the content";
pub(crate) const NAVIGATION: &str = "Main";
pub(crate) const SIGNED_IN_AS: &str = "Signed in as";
pub(crate) const YOU_ACT: &str = "You act as another user";
pub(crate) const ACTS_AS: &str = "as";
pub(crate) const ACTING_READS_ONLY: &str = "Nothing can be changed.";
pub(crate) const STOP_ACTING: &str = "Stop";
pub(crate) const SIGN_OUT: &str = "Sign out";
pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";
pub(crate) const ACCOUNT: &str = "Account";
pub(crate) const COMPACT_LINES: &str = "Compact lines";
pub(crate) const COMFORTABLE_LINES: &str = "Comfortable lines";

// The groups of the navigation, beside the one of the tenant.
pub(crate) const PEOPLE: &str = "People";
pub(crate) const ACCESS_OF_PEOPLE: &str = "Access";
pub(crate) const EVENTS: &str = "Events";

/// The time zone of all times on a page. A script names the one of the person.
pub(crate) const UTC_TIMES: &str = "Times are in UTC.";
pub(crate) const IN_YOUR_ZONE: &str = "In your time zone: {time}";
pub(crate) const LOCAL_TIMES: &str = "Times are in your time zone ({zone}), except where a text says UTC.";

// Forms, and their errors.
pub(crate) const SAVE: &str = "Save";
pub(crate) const SAVED: &str = "The changes are saved.";
pub(crate) const CANCEL: &str = "Cancel";
pub(crate) const CONTINUE: &str = "Continue";
pub(crate) const OPTIONAL: &str = "optional";
pub(crate) const SEND_LINK: &str = "Send the link";
pub(crate) const NOTHING_IS_SAVED: &str = "Nothing is saved. Correct the marked fields.";
pub(crate) const CORRECT_FIELDS: &str = "Correct the marked fields.";
pub(crate) const ONE_OF_THE_LIST: &str = "must be one of the list";
pub(crate) const MUST_BE_CHOSEN: &str = "must be chosen";
pub(crate) const MUST_BE_GIVEN: &str = "must be given";
pub(crate) const CHOOSE_AGAIN: &str = "must be chosen from the list";
pub(crate) const MUST_BE_A_NUMBER: &str = "must be a whole number";
pub(crate) const MUST_BE_DAY: &str = "must be a day, such as 2026-01-31";
pub(crate) const CHANGED_SINCE: &str =
    "This has changed since you opened the page, so nothing is saved. Open the page again before you save.";
pub(crate) const OPEN_AGAIN: &str = "Open it again";
pub(crate) const FOREIGN_FORM: &str =
    "This form is not from this page, or is older than your session. Open the page again.";
pub(crate) const NOT_OF_THIS_PAGE: &str = "is not a parameter of this page";
pub(crate) const GIVEN_TWICE: &str = "must be given once";
pub(crate) const BACK: &str = "Back to the overview";

// Fields of several forms.
pub(crate) const NAME: &str = "Name";
pub(crate) const PROFILE: &str = "Profile";
pub(crate) const FIRST_NAME: &str = "First name";
pub(crate) const LAST_NAME: &str = "Last name";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const VERIFIED: &str = "verified";
pub(crate) const NOT_VERIFIED: &str = "not verified";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const SHOW_PASSWORD: &str = "Show password";

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

pub(crate) const DESCRIPTION: &str = "Description";
pub(crate) const EXTERNAL_ID: &str = "External identifier";
pub(crate) const SLUG: &str = "Short name";
pub(crate) const SLUG_HINT: &str = "In lower-case letters, digits and hyphens, such as north-branch";
pub(crate) const NEW_SLUG_HINT: &str =
    "In lower-case letters, digits and hyphens. Leave it empty for one that is made from the name.";
pub(crate) const WHERE: &str = "Where";
pub(crate) const WHOLE_TENANT: &str = "the whole tenant";
pub(crate) const AS_OF_HINT: &str = "Empty: the present.";
pub(crate) const LAST_DAY: &str = "Last day (in UTC)";

// Fields in which a user, an organization or a role is typed.
pub(crate) const PICK_USER: &str = "Type a part of a name or of an e-mail address, and choose.";
pub(crate) const NO_SUCH_USER: &str = "must be the e-mail address or the name of one user: choose one that is offered";
pub(crate) const USER_BY_ID: &str = "must be the id of a user, because you may not see users";
pub(crate) const PICK_ORGANIZATION: &str = "Type a part of the name, and choose.";
pub(crate) const ORGANIZATION_OR_TENANT: &str =
    "Type a part of the name, and choose. Leave it empty for the whole tenant.";
pub(crate) const NO_SUCH_ORGANIZATION: &str = "must be the name of one organization: choose one that is offered";
pub(crate) const ORGANIZATION_BY_ID: &str = "must be the id of an organization, because you may not see organizations";
pub(crate) const ORGANIZATION_REQUIRED: &str = "must be chosen: this role is only held in an organization";
pub(crate) const ORGANIZATION_REFUSED: &str = "must be empty: this role is only held in the whole tenant";
pub(crate) const ROLE_MISSING: &str = "must not be empty";
pub(crate) const NO_SUCH_ROLE: &str = "must be the name of a role: choose one that is offered";
pub(crate) const ROLE_BY_ID: &str = "must be the id of a role, because you may not see roles";
pub(crate) const ONE_MORE_ROLE: &str = "Add a role";

/// Why a service does not accept the resource that a field names, as the end of a sentence that begins with the field.
pub(crate) fn not_accepted(reason: &str) -> String {
    format!("is not accepted: {reason}")
}

// Lists.
pub(crate) const SEARCH: &str = "Search";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const FILTERS_IN_FORCE: &str = "Filters in force";
pub(crate) const REMOVE_FILTER: &str = "Remove the filter";
pub(crate) const REMOVE_ALL_FILTERS: &str = "Remove all filters";
pub(crate) const COPY_LINK: &str = "Copy the link";
pub(crate) const LINK_NOT_COPIED: &str = "Not copied: your browser does not allow it. Copy the address of the page.";
pub(crate) const STATUS: &str = "Status";
pub(crate) const EVERY_STATUS: &str = "Every status";
pub(crate) const PAGES: &str = "Pages";
pub(crate) const PREVIOUS: &str = "Previous";
pub(crate) const NEXT: &str = "Next";
pub(crate) const PAGE: &str = "Page";
pub(crate) const OF: &str = "of";
pub(crate) const DETAILS: &str = "Details";
pub(crate) const ABOVE: &str = "Above";

// States and moments.
pub(crate) const ACTIVE: &str = "Active";
pub(crate) const SUSPENDED: &str = "Suspended";
pub(crate) const DELETED: &str = "Deleted";
pub(crate) const PENDING: &str = "Pending";
pub(crate) const SWITCHED_ON: &str = "On";
pub(crate) const SWITCHED_OFF: &str = "Off";
pub(crate) const CREATED: &str = "Created";
pub(crate) const CHANGED: &str = "Changed";
pub(crate) const SINCE: &str = "Since";
pub(crate) const UNTIL: &str = "until";
pub(crate) const LAST_LOGIN: &str = "Last sign-in";
pub(crate) const NEVER: &str = "Never";
pub(crate) const NEVER_IN_LINE: &str = "never";

// Actions.
pub(crate) const SUSPEND: &str = "Suspend";
pub(crate) const REACTIVATE: &str = "Reactivate";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const RESTORE: &str = "Restore";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const REVOKE: &str = "Revoke";

// Sessions of a person, and what they are used from.
pub(crate) const SESSIONS: &str = "Sessions";
pub(crate) const THIS_SESSION: &str = "this session";
pub(crate) const LAST_USED: &str = "Last used";
pub(crate) const UNKNOWN_ADDRESS: &str = "unknown address";
pub(crate) const UNKNOWN_DEVICE: &str = "Unknown device";
pub(crate) const ACTED_BY: &str = "In it, another person acts as this user:";
pub(crate) const END_SESSION: &str = "End";
pub(crate) const SESSION_WAS_ENDED: &str = "The session has ended.";

/// A browser and its system, such as `Chrome on Linux`.
pub(crate) fn browser_on(browser: &str, system: &str) -> String {
    format!("{browser} on {system}")
}

// A text to copy, such as a secret that is shown once.
pub(crate) const COPY: &str = "Copy";
pub(crate) const COPIED: &str = "Copied";
pub(crate) const NOT_COPIED: &str = "Not copied: your browser does not allow it. Mark the text and copy it.";
pub(crate) const DOWNLOAD: &str = "Download";
pub(crate) const DONE: &str = "Done";

// The effects of a change, before it is made.
pub(crate) const WHO_GAINS_AND_LOSES: &str = "Who gains and who loses what";
pub(crate) const WHAT_YOU_GAIN: &str = "What you gain";
pub(crate) const GAINS: &str = "Gains";
pub(crate) const LOSES: &str = "Loses";
pub(crate) const FROM_MOMENT: &str = "from";
pub(crate) const SHOW_EFFECTS: &str = "Show the effects";
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

pub(crate) fn permissions_in(count: usize) -> String {
    if count == 1 { "1 permission in".to_owned() } else { format!("{count} permissions in") }
}

// The audit log, on other pages.
pub(crate) const IN_THE_LOG: &str = "In the audit log";
pub(crate) const ALL_ABOUT_IT: &str = "all entries about it";
pub(crate) const CORRELATION: &str = "Correlation id";
