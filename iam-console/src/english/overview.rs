//! The overview: what it shows of the tenant, of its sign-ins and of its log.

pub(crate) const OVERVIEW: &str = "Overview";
pub(crate) const WELCOME: &str = "Welcome";
pub(crate) const YOUR_TENANT: &str = "Your tenant";
pub(crate) const YOUR_ROLES: &str = "Your roles";
pub(crate) const YOUR_SESSION: &str = "Your session";
pub(crate) const FROM: &str = "From";
pub(crate) const NO_ROLES_YET: &str = "You have no roles. You can ask for one:";
pub(crate) const NO_ROLES: &str = "You have no roles. Ask an administrator of your tenant for one.";

pub(crate) const SIGN_INS_BY_DAY: &str = "Sign-ins of the last 14 days";
pub(crate) const SIGN_INS: &str = "Sign-ins";
pub(crate) const FAILURES: &str = "Failed attempts";
pub(crate) const DAYS_ARE_UTC: &str = "Days in UTC";
pub(crate) const NOT_ALL_COUNTED: &str = "There are too many to count those of the first days";
pub(crate) const AS_TABLE: &str = "As a table";
pub(crate) const DAY: &str = "Day";

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
