//! Access, and how a user gets it for a time.

use iam_core::access::Denial;
use iam_core::access_request::Obstacle;

use crate::text::{duration, of_service, t, t_with};

/// Why a user may not do something.
pub(crate) fn denial(denial: &Denial) -> String {
    let text = match denial {
        Denial::UserNotActive(_) => t("denial-user-not-active"),
        Denial::Expired => t("denial-expired"),
        Denial::OrganizationNotActive => t("denial-organization-not-active"),
        Denial::HeldElsewhere => t("denial-held-elsewhere"),
        Denial::DidNotExist => t("denial-did-not-exist"),
        Denial::NotHeld => t("denial-not-held"),
        other => return of_service(&other.to_string()),
    };
    text.to_owned()
}

/// Why a permission is not known: some of those that the typed words can mean.
pub(crate) fn several_permissions(names: &str) -> String {
    t_with("several-permissions", [("names", names.into())])
}

pub(crate) fn requests_found(count: u64) -> String {
    t_with("requests-found", [("count", count.into())])
}

/// What happens after a request is sent.
pub(crate) fn request_note(approvals: u8, begins_later: bool) -> &'static str {
    match (approvals, begins_later) {
        (0, false) => t("request-note-at-once"),
        (0, true) => t("request-note-later"),
        (1, false) => t("request-note-one-at-once"),
        (1, true) => t("request-note-one-later"),
        (_, false) => t("request-note-two-at-once"),
        (_, true) => t("request-note-two-later"),
    }
}

/// Who gets a message about a request.
pub(crate) fn told_of_request(approvals: u8, sends_mail: bool) -> &'static str {
    match (approvals, sends_mail) {
        (0, true) => t("administrators-are-told"),
        (0, false) => "",
        (_, true) => t("deciders-are-told"),
        (_, false) => t("tell-deciders"),
    }
}

/// For how long a role is held, from the approval or from a moment that stands before this text.
pub(crate) fn lasts(time: &str, from_approval: bool) -> String {
    let id = if from_approval { "lasts-from-approval" } else { "lasts" };
    t_with(id, [("time", time.into())])
}

/// The longest time for which a person may ask.
pub(crate) fn at_most_now(time: &str) -> String {
    t_with("at-most-now", [("time", time.into())])
}

/// That fewer others can decide about a request than have to approve. Empty if there are enough.
pub(crate) fn too_few_can_decide(needed: u8, others: usize) -> String {
    if others >= usize::from(needed) {
        return String::new();
    }
    t_with("too-few-can-decide", [("needed", needed.into()), ("others", others.into())])
}

/// What keeps a request from becoming effective.
pub(crate) fn obstacle(obstacle: Obstacle) -> String {
    let text = match obstacle {
        Obstacle::EligibilityEnded => t("obstacle-eligibility-ended"),
        Obstacle::TooLong { at_most } => return t_with("obstacle-too-long", [("time", duration(at_most).into())]),
        Obstacle::OtherDecisions => t("obstacle-other-decisions"),
        Obstacle::RoleNotOffered => t("obstacle-role-not-offered"),
        Obstacle::NotEligible => t("obstacle-not-eligible"),
        Obstacle::RoleHeld => t("obstacle-role-held"),
    };
    text.to_owned()
}

/// What a person asks for.
pub(crate) fn ask_for(role: &str, place: &str, time: &str) -> String {
    t_with("ask-for", [("role", role.into()), ("place", place.into()), ("time", time.into())])
}

/// How many others have to approve.
pub(crate) fn approvals_needed(approvals: &u8) -> &'static str {
    match approvals {
        0 => t("approvals-needed-none"),
        1 => t("approvals-needed-one"),
        _ => t("approvals-needed-two"),
    }
}

pub(crate) fn cancelled_by(user: &str) -> String {
    t_with("cancelled-by", [("user", user.into())])
}

pub(crate) fn denied_by(user: &str) -> String {
    t_with("denied-by", [("user", user.into())])
}

// What follows from an action. A moment follows.
pub(crate) fn you_have(role: &str) -> String {
    t_with("you-have", [("role", role.into())])
}

pub(crate) fn you_get(role: &str) -> String {
    t_with("you-get", [("role", role.into())])
}

pub(crate) fn user_has(user: &str, role: &str) -> String {
    t_with("user-has", [("user", user.into()), ("role", role.into())])
}

pub(crate) fn user_gets(user: &str, role: &str) -> String {
    t_with("user-gets", [("user", user.into()), ("role", role.into())])
}

/// How many of the approvals are there.
pub(crate) fn approvals_of(count: usize, needed: u8) -> String {
    if needed == 0 {
        return approvals_needed(&needed).to_owned();
    }
    t_with("approvals-of", [("count", count.into()), ("needed", needed.into())])
}

/// A role that is gone, by the name that it had.
pub(crate) fn deleted(role: &str) -> String {
    t_with("deleted-role", [("role", role.into())])
}

/// The holders of a role.
pub(crate) fn holders_of(role: &str) -> String {
    t_with("holders-of", [("role", role.into())])
}

/// How many requests wait for the decision of the person.
pub(crate) fn requests_wait(count: u64) -> String {
    t_with("requests-wait", [("count", count.into())])
}

/// The effects of the completion of a review, or why it cannot be completed yet.
pub(crate) fn completion(undecided: u64, keep: u64, revoke: u64) -> String {
    match (undecided, revoke) {
        (0, 0) => t_with("completion-all-stay", [("keep", keep.into())]),
        (0, _) => t_with("completion", [("revoke", revoke.into()), ("keep", keep.into())]),
        _ => t_with("completion-undecided", [("count", undecided.into())]),
    }
}

/// Why no user can ask by an eligibility for the holders of a role.
pub(crate) fn no_holder_can_ask(role: &str, place: &str, is_tenant_wide: bool) -> String {
    let id = if is_tenant_wide { "no-holder-in-tenant" } else { "no-holder-in-organization" };
    t_with(id, [("role", role.into()), ("place", place.into())])
}

/// How many requests that wait ask for more than their eligibility allows. Empty if none does.
pub(crate) fn requests_ask_too_much(count: usize) -> String {
    if count == 0 { String::new() } else { t_with("requests-ask-too-much", [("count", count.into())]) }
}

pub(crate) fn persons(count: usize) -> String {
    t_with("persons", [("count", count.into())])
}

/// How many others can have to approve, with the values of the form.
pub(crate) fn approval_choices() -> [(&'static str, &'static str); 3] {
    [("0", t("approvals-choice-none")), ("1", t("approvals-choice-one")), ("2", t("approvals-choice-two"))]
}
