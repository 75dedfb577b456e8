//! The overview: what it shows of the tenant, of its sign-ins and of its log.

use iam_core::clock::Day;

pub(crate) const OVERVIEW: &str = "Overview";
pub(crate) const WELCOME: &str = "Welcome";
pub(crate) const YOUR_TENANT: &str = "Your tenant";
pub(crate) const YOUR_ROLES: &str = "Your roles";
pub(crate) const YOUR_SESSION: &str = "Your session";
pub(crate) const FROM: &str = "From";
pub(crate) const NO_ROLES_YET: &str = "You have no roles. You can ask for one:";
pub(crate) const NO_ROLES: &str = "You have no roles. Ask an administrator of your tenant for one.";

// What needs a hand.
pub(crate) const NEEDS_A_HAND: &str = "What needs a hand";
pub(crate) const NOTHING_NEEDS_A_HAND: &str =
    "Nothing needs a hand now. What waits for a decision, ends soon or fails will be listed here.";

/// How many directories had requests that were refused.
pub(crate) fn directories_refused(count: usize) -> String {
    match count {
        1 => "Requests of 1 directory were refused within the last 7 days".to_owned(),
        count => format!("Requests of {count} directories were refused within the last 7 days"),
    }
}

/// How many of the last requests of a directory were refused.
pub(crate) fn requests_refused(count: usize) -> String {
    if count == 1 { "1 request".to_owned() } else { format!("{count} requests") }
}

/// How many webhooks fail.
pub(crate) fn webhooks_fail(count: usize) -> String {
    match count {
        1 => "1 webhook fails: its receiver did not accept the last event".to_owned(),
        count => format!("{count} webhooks fail: their receivers did not accept the last event"),
    }
}

pub(crate) const IS_SWITCHED_OFF: &str = "switched off";

/// How many access reviews are due.
pub(crate) fn reviews_due(count: usize) -> String {
    match count {
        1 => "1 access review with undecided items is late, or due within 7 days".to_owned(),
        count => format!("{count} access reviews with undecided items are late, or due within 7 days"),
    }
}

/// How many items of an access review are undecided.
pub(crate) fn items_undecided(count: u64) -> String {
    format!("{count} undecided")
}

/// How many people have no second factor, where the tenant requires one.
pub(crate) fn have_no_factor(count: u64, people: u64) -> String {
    match count {
        1 => format!("1 of {people} active people has no second factor"),
        count => format!("{count} of {people} active people have no second factor"),
    }
}

pub(crate) const HAVE_NO_FACTOR_WHAT: &str =
    "Your tenant requires one. A person without one can do nothing else after the days of grace.";

/// How many API keys end soon: of all users, or of the person alone. Only this many are counted.
pub(crate) fn keys_end(count: usize, counted: usize, are_all: bool) -> String {
    match (count, are_all) {
        (1, true) => "1 API key ends within 30 days".to_owned(),
        (1, false) => "1 of your API keys ends within 30 days".to_owned(),
        (count, true) => format!("{} API keys end within 30 days", number(count, counted)),
        (count, false) => format!("{count} of your API keys end within 30 days"),
    }
}

/// How many role assignments end soon. Only this many are counted.
pub(crate) fn ending(next: usize, soon: usize, counted: usize) -> String {
    let (next, soon) = (number(next, counted), number(soon, counted));
    format!("Role assignments that end within 7 days: {next}; within 30 days: {soon}")
}

/// A number of which only so many are counted.
fn number(count: usize, counted: usize) -> String {
    if count < counted { count.to_string() } else { format!("{count} or more") }
}

/// How many invitations end soon. There may be more, if not all of them were looked at.
pub(crate) fn invitations_end(count: usize, are_all: bool) -> String {
    match (count, are_all) {
        (1, true) => "1 invitation ends within 2 days without an answer".to_owned(),
        (count, true) => format!("{count} invitations end within 2 days without an answer"),
        (count, false) => format!("{count} or more invitations end within 2 days without an answer"),
    }
}

/// How many holders of all permissions have a linked account.
pub(crate) fn linked_holders(count: usize) -> String {
    match count {
        0 => "Not all administrators were looked at for linked accounts".to_owned(),
        1 => "1 administrator has a linked account".to_owned(),
        count => format!("{count} administrators have a linked account"),
    }
}

pub(crate) const LINKED_HOLDERS_WHAT: &str = "These users hold all permissions in the whole tenant, and can sign in by an identity provider. Who controls it \
     can act as them. Each of them can remove the link on \"My account\".";
pub(crate) const LINKED_HOLDERS_CUT: &str = "Only 100 holders of all permissions were looked at. There are more.";

// The charts.
pub(crate) const CHARTS: &str = "Charts";
pub(crate) const SHOW_CHARTS: &str = "Show the charts of sign-ins and people";
pub(crate) const NO_CHARTS: &str = "The charts need the right to read the audit log, or all users.";
pub(crate) const SIGN_INS_BY_DAY: &str = "Sign-ins of the last 28 days";
pub(crate) const SIGN_INS: &str = "Sign-ins";
pub(crate) const FAILURES: &str = "Failed attempts";
pub(crate) const PEOPLE_BY_WEEK: &str = "People who signed in, by week";
pub(crate) const WEEK_FROM: &str = "Week from";
pub(crate) const DAYS_ARE_UTC: &str = "Days in UTC";
pub(crate) const NOT_ALL_COUNTED: &str =
    "Only the newest 50,000 were counted: the first days or weeks have no number, or are left out";
pub(crate) const AS_TABLE: &str = "As a table";
pub(crate) const DAY: &str = "Day";
pub(crate) const FACTOR_SHARE: &str = "Second factors";
pub(crate) const WITH_FACTOR: &str = "With a second factor";
pub(crate) const WITHOUT_FACTOR: &str = "Without one";
pub(crate) const HOW_MANY: &str = "How many";

/// A number that is not known.
pub(crate) const UNKNOWN_NUMBER: &str = "–";

/// A day below a chart, such as `31 Jan`.
pub(crate) fn short_day(day: Day) -> String {
    day.format("%-d %b").to_string()
}

/// The numbers of a day, or of the week that begins with it, with what they count.
pub(crate) fn counted_on(day: Day, counts: impl Iterator<Item = (&'static str, Option<u64>)>) -> String {
    let shown = |count: Option<u64>| count.map_or_else(|| UNKNOWN_NUMBER.to_owned(), |count| count.to_string());
    let counts: Vec<String> = counts.map(|(what, count)| format!("{what}: {}", shown(count))).collect();
    format!("{day} · {}", counts.join(", "))
}

/// How many of the active people have a second factor.
pub(crate) fn have_a_factor(with: &str, people: u64) -> String {
    format!("Active people with a second factor: {with} of {people}")
}

pub(crate) const ENTRIES_RECORDED: &str = "entries were recorded.";
pub(crate) const NO_ENTRY_WAITS: &str = "All of them can be checked.";
pub(crate) const LOG_LATE: &str = "This takes too long. Ask the operator to look at the log of the server.";
pub(crate) const LOG_FAILS: &str = "The audit log needs the operator";
pub(crate) const LOG_BROKEN: &str =
    "The log cannot be shown, or does not match its own checkpoint. Ask the operator to run: iam-server audit verify";

/// How many entries are not sequenced yet, as always for a moment, after so many that are.
pub(crate) fn entries_wait(size: &u64, count: &usize) -> String {
    match count {
        _ if *size == 0 => "They can be checked within a minute.".to_owned(),
        1 => "The newest one can be checked within a minute, the others now.".to_owned(),
        count => format!("The newest {} can be checked within a minute, the others now.", up_to_100(*count)),
    }
}

/// How many entries are not sequenced after a long time.
pub(crate) fn entries_late(count: usize) -> String {
    format!("Entries of the audit log that cannot be checked yet: {}", up_to_100(count))
}

pub(crate) const OLDEST_ENTRY: &str = "The oldest";

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
