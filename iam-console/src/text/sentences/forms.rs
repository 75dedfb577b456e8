//! Forms, and parts of other texts.

use chrono::Datelike as _;
use iam_core::clock::Day;
use iam_core::tenant::PasswordPolicy;

use crate::text::t_with;

/// The rules for a new password.
pub(crate) fn password_hint(policy: PasswordPolicy, min_length: usize) -> String {
    let id = match policy {
        PasswordPolicy::Seed => "password-hint-seed",
        PasswordPolicy::Nist => "password-hint-nist",
        PasswordPolicy::Asvs => "password-hint-asvs",
    };
    t_with(id, [("length", min_length.into())])
}

/// Why a service does not accept the resource that a field names, as the end of a sentence that begins with the field.
pub(crate) fn not_accepted(reason: &str) -> String {
    t_with("not-accepted", [("reason", reason.into())])
}

/// A browser and its system, such as `Chrome on Linux`.
pub(crate) fn browser_on(browser: &str, system: &str) -> String {
    t_with("browser-on", [("browser", browser.into()), ("system", system.into())])
}

/// How many users a change affects, and how: whether there are gains, and losses.
pub(crate) fn users_affected(count: u64, gains: bool, losses: bool) -> String {
    let counted = [("count", count.into())];
    match (gains, losses) {
        (true, false) => t_with("users-gain", counted),
        (false, true) => t_with("users-lose", counted),
        _ => t_with("users-affected", counted),
    }
}

/// What the person can do about a page that it may not see.
pub(crate) fn needs_permission(permission: &str) -> String {
    t_with("needs-permission", [("permission", permission.into())])
}

/// How many of them a page does not name.
pub(crate) fn others_affected(count: u64) -> String {
    t_with("others-affected", [("count", count.into())])
}

pub(crate) fn permissions_in(count: usize) -> String {
    t_with("permissions-in", [("count", count.into())])
}

/// A length of time, such as `1 hour 30 minutes`.
pub(crate) fn duration(seconds: u32) -> String {
    let mut left = seconds;
    let sizes = [(86_400, "length-days"), (3_600, "length-hours"), (60, "length-minutes"), (1, "length-seconds")];
    let units = sizes.into_iter().filter_map(|(size, id)| {
        let count = left / size;
        left %= size;
        (count > 0).then(|| t_with(id, [("count", count.into())]))
    });
    units.collect::<Vec<_>>().join(" ")
}

/// A day below a chart, such as `31 Jan`.
pub(crate) fn short_day(day: Day) -> String {
    let id = match day.month() {
        1 => "short-day-1",
        2 => "short-day-2",
        3 => "short-day-3",
        4 => "short-day-4",
        5 => "short-day-5",
        6 => "short-day-6",
        7 => "short-day-7",
        8 => "short-day-8",
        9 => "short-day-9",
        10 => "short-day-10",
        11 => "short-day-11",
        _ => "short-day-12",
    };
    t_with(id, [("day", day.day().into())])
}
