//! The overview, and the pages that Find knows.

use iam_core::clock::Day;

use crate::text::{t, t_with};

/// How many directories had requests that were refused.
pub(crate) fn directories_refused(count: usize) -> String {
    t_with("directories-refused", [("count", count.into())])
}

/// How many of the last requests of a directory were refused.
pub(crate) fn requests_refused(count: usize) -> String {
    t_with("requests-refused", [("count", count.into())])
}

/// How many webhooks fail.
pub(crate) fn webhooks_fail(count: usize) -> String {
    t_with("webhooks-fail", [("count", count.into())])
}

/// How many access reviews are due.
pub(crate) fn reviews_due(count: usize) -> String {
    t_with("reviews-due", [("count", count.into())])
}

/// How many items of an access review are undecided.
pub(crate) fn items_undecided(count: u64) -> String {
    t_with("items-undecided", [("count", count.into())])
}

/// How many people have no second factor, where the tenant requires one.
pub(crate) fn have_no_factor(count: u64, people: u64) -> String {
    t_with("have-no-factor", [("count", count.into()), ("people", people.into())])
}

/// How many of the people must set up a second factor if it is required.
pub(crate) fn must_set_up_factor(count: u64, people: u64) -> String {
    t_with("must-set-up-factor", [("count", count.into()), ("people", people.into())])
}

/// The filter of role assignments that end within some days.
pub(crate) fn within_days(days: i64) -> String {
    t_with("within-days", [("days", days.into())])
}

/// How many API keys end soon: of all users, or of the person alone. Only this many are counted.
pub(crate) fn keys_end(count: usize, counted: usize, are_all: bool) -> String {
    let shown = number(count, counted);
    if are_all {
        t_with("keys-end", [("count", count.into()), ("number", shown.into())])
    } else {
        t_with("own-keys-end", [("count", count.into())])
    }
}

/// How many role assignments end in the next days, and how many soon. Only this many are counted.
pub(crate) fn ending(next: usize, soon: usize, counted: usize) -> String {
    let of = |count: usize| [("count", count.into()), ("number", number(count, counted).into())];
    if next == 0 {
        t_with("assignments-end-soon", of(soon))
    } else if next == soon {
        t_with("assignments-end-next", of(next))
    } else {
        t_with("assignments-end-both", of(next).into_iter().chain([("soon", number(soon, counted).into())]))
    }
}

/// A number of which only so many are counted.
fn number(count: usize, counted: usize) -> String {
    if count < counted { count.to_string() } else { t_with("at-least", [("count", count.into())]) }
}

/// How many invitations end soon. There may be more, if not all of them were looked at.
pub(crate) fn invitations_end(count: usize, are_all: bool) -> String {
    let id = if are_all { "invitations-end" } else { "at-least-invitations-end" };
    t_with(id, [("count", count.into())])
}

/// How many holders of all permissions have a linked account.
pub(crate) fn linked_holders(count: usize) -> String {
    t_with("linked-holders", [("count", count.into())])
}

/// The numbers of a day, or of the week that begins with it, with what they count.
pub(crate) fn counted_on(day: Day, counts: impl Iterator<Item = (&'static str, Option<u64>)>) -> String {
    let shown = |count: Option<u64>| count.map_or_else(|| t("unknown-number").to_owned(), |count| count.to_string());
    let counts: Vec<String> = counts.map(|(what, count)| format!("{what}: {}", shown(count))).collect();
    format!("{day} · {}", counts.join(", "))
}

/// How many of the active people have a second factor.
pub(crate) fn have_a_factor(with: &str, people: u64) -> String {
    t_with("have-a-factor", [("with", with.into()), ("people", people.into())])
}

/// How many entries are not sequenced yet, as always for a moment, after so many that are.
pub(crate) fn entries_wait(size: &u64, count: &usize) -> String {
    if *size == 0 {
        return t("all-entries-wait").to_owned();
    }
    t_with("entries-wait", [("count", count.into()), ("number", number(*count, 100).into())])
}

/// How many entries are not sequenced after a long time. Only 100 are counted.
pub(crate) fn entries_late(count: usize) -> String {
    t_with("entries-late", [("number", number(count, 100).into())])
}

pub(crate) fn at_least(count: u64) -> String {
    t_with("at-least", [("count", count.into())])
}

/// How many results there are.
pub(crate) fn results(count: usize) -> String {
    t_with("results-found", [("count", count.into())])
}

/// Other words by which a page of the console is found, beside its name. The path is that below the console.
pub(crate) fn other_words(path: &str) -> &'static str {
    match path {
        "" => t("words-overview"),
        "/users" => t("words-users"),
        "/users?kind=SERVICE" => t("words-service-accounts"),
        "/users/new" => t("words-users-new"),
        "/users/import" => t("words-users-import"),
        "/invitations" => t("words-invitations"),
        "/invitations/new" => t("words-invitations-new"),
        "/roles" => t("words-roles"),
        "/roles/new" => t("words-roles-new"),
        "/assignments" => t("words-assignments"),
        "/assignments/new" => t("words-assignments-new"),
        "/runs" => t("words-runs"),
        "/organizations" => t("words-organizations"),
        "/organizations/new" => t("words-organizations-new"),
        "/access" => t("words-access"),
        "/access/who" => t("words-access-who"),
        "/access-requests" => t("words-access-requests"),
        "/access-requests/new" => t("words-access-requests-new"),
        "/eligibilities" => t("words-eligibilities"),
        "/eligibilities/new" => t("words-eligibilities-new"),
        "/audit" => t("words-audit"),
        "/access-reviews" => t("words-access-reviews"),
        "/access-reviews/new" => t("words-access-reviews-new"),
        "/webhooks" => t("words-webhooks"),
        "/webhooks/new" => t("words-webhooks-new"),
        "/domains" => t("words-domains"),
        "/domains/new" => t("words-domains-new"),
        "/identity-providers" => t("words-identity-providers"),
        "/identity-providers/new" => t("words-identity-providers-new"),
        "/directories" => t("words-directories"),
        "/directories/new" => t("words-directories-new"),
        "/tenant" => t("words-tenant"),
        "/account" => t("words-account"),
        "/account/password" => t("words-account-password"),
        "/account/email" => t("words-account-email"),
        _ => "",
    }
}
