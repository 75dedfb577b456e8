//! Access requests: a user asks for a role for a time, and others decide.

pub(crate) const ACCESS_REQUESTS: &str = "Access requests";
pub(crate) const ACCESS_REQUEST: &str = "Access request";
pub(crate) const ACCESS_REQUESTS_WHAT: &str = "You ask for a role for a time. If others have to approve, they see what \
     it lets you do and why you need it. The role ends by itself, and does not count for API keys, nor to decide about \
     the access of others.";

// The lists.
pub(crate) const OWN_REQUESTS: &str = "Mine";
pub(crate) const REQUESTS_TO_DECIDE: &str = "To decide";
pub(crate) const REQUESTS_IN_FORCE: &str = "In force";
pub(crate) const ALL_REQUESTS: &str = "All";
pub(crate) const NO_OWN_REQUESTS: &str = "You have not asked for access.";
pub(crate) const NO_REQUESTS_TO_DECIDE: &str = "No request waits for your decision.";
pub(crate) const NO_REQUESTS_IN_FORCE: &str = "No access by a request is in force.";
pub(crate) const NO_REQUEST_MATCHES: &str = "No access request matches.";
pub(crate) const SHOW_ALL_REQUESTS: &str = "Show all access requests";
pub(crate) const REQUESTED_BY: &str = "Asked by";
pub(crate) const ROLE_GONE: &str = "a role that is gone";
pub(crate) const YOURSELF: &str = "you";
pub(crate) const WHEN: &str = "When";

pub(crate) fn requests_found(count: u64) -> String {
    if count == 1 { "1 access request".to_owned() } else { format!("{count} access requests") }
}

// The states. Those without a text here have a common one.
pub(crate) const REQUEST_APPROVED: &str = "Approved";
pub(crate) const REQUEST_IN_FORCE: &str = "In force";
pub(crate) const REQUEST_ENDED: &str = "Ended";
pub(crate) const REQUEST_DENIED: &str = "Refused";
pub(crate) const REQUEST_CANCELLED: &str = "Cancelled";
pub(crate) const REQUEST_LAPSED: &str = "Lapsed";
pub(crate) const LAPSES: &str = "lapses";
pub(crate) const BEGINS: &str = "begins";
pub(crate) const ENDS: &str = "ends";
pub(crate) const CLOSED_ON: &str = "closed";

// Why the service has cancelled a request.
pub(crate) const CANCELLED_AS_OUTDATED: &str = "Cancelled by the service: the eligibility or the role has changed since, \
     or an approval does not count any more. A new request may be possible.";
pub(crate) const CANCELLED_AS_NOT_ELIGIBLE: &str =
    "Cancelled by the service: the person may not ask for this role there any more.";
pub(crate) const CANCELLED_AS_ROLE_HELD: &str =
    "Cancelled by the service: the person holds this role there already, by other means.";
pub(crate) const CANCELLED_AS_USER_SUSPENDED: &str = "Cancelled by the service: the person was suspended.";
pub(crate) const CANCELLED_AS_USER_DELETED: &str = "Cancelled by the service: the account of the person was deleted.";

// Asking.
pub(crate) const ASK_FOR_ACCESS: &str = "Ask for access";
pub(crate) const NOTHING_TO_ASK_FOR: &str = "There is no role for which you may ask. An administrator of your tenant can \
     let you ask for one.";
pub(crate) const NO_ASKING_AS_ANOTHER: &str = "You act as another user, and cannot ask for access in its name.";
pub(crate) const AT_MOST: &str = "At most";
pub(crate) const APPROVALS: &str = "Approvals";
pub(crate) const HAS_OPEN_REQUEST: &str = "You have an open request for this role there.";
pub(crate) const OPEN_REQUEST: &str = "Your open request";
pub(crate) const ASK_AGAIN: &str = "Ask again";
pub(crate) const RECORDED_REASON_HINT: &str = "The audit log has it.";
pub(crate) const REQUEST_REASON_HINT: &str = "Those who decide and the audit log see it.";
pub(crate) const TICKET: &str = "Ticket";
pub(crate) const TICKET_HINT: &str = "What another system calls the reason, such as OPS-42";
pub(crate) const BEGIN_AT: &str = "Begin at (UTC)";
pub(crate) const BEGIN_AT_HINT: &str = "Empty: as soon as it is approved. At most 30 days from now.";
pub(crate) const BEGIN_AT_ONCE_HINT: &str = "Empty: at once. At most 30 days from now.";
pub(crate) const SEND_REQUEST: &str = "Send the request";

/// What happens after a request is sent.
pub(crate) fn request_note(approvals: u8, begins_later: bool) -> &'static str {
    match (approvals, begins_later) {
        (0, false) => {
            "No approval is needed: you have the role at once. The administrators of the tenant get a message about it."
        }
        (0, true) => {
            "No approval is needed: you get the role at the moment below. The administrators of the tenant get a message \
             about it now."
        }
        (1, false) => {
            "This is what you have after another person has approved. The time runs from the approval. Those who can \
             approve get a message about your request."
        }
        (1, true) => {
            "This is what you have after another person has approved. The time runs from the moment below, or from the \
             approval if that is later. Those who can approve get a message about your request."
        }
        (_, false) => {
            "This is what you have after two other persons have approved. The time runs from the second approval. Those \
             who can approve get a message about your request."
        }
        (_, true) => {
            "This is what you have after two other persons have approved. The time runs from the moment below, or from \
             the second approval if that is later. Those who can approve get a message about your request."
        }
    }
}

/// What a person asks for.
pub(crate) fn ask_for(role: &str, place: &str, time: &str) -> String {
    format!("Ask for {role} in {place} for {time}")
}

/// How many others have to approve.
pub(crate) fn approvals_needed(approvals: &u8) -> &'static str {
    match approvals {
        0 => "no approval",
        1 => "1 other person",
        _ => "2 other persons",
    }
}

// The page of a request.
pub(crate) const REQUEST_SENT: &str = "The request is sent.";
pub(crate) const APPROVAL_SAVED: &str = "Your approval is saved. One more approval is needed.";
pub(crate) const DENIAL_SAVED: &str = "The request is refused.";
pub(crate) const REQUEST_IS_CANCELLED: &str = "The request is cancelled.";
pub(crate) const ACCESS_HAS_ENDED: &str = "The access has ended, with everything that was given by it.";
pub(crate) const REQUEST_CHANGED_MEANWHILE: &str = "The request or its role has changed since you opened this page, so \
     nothing is saved. Open the page again, and look at what the role gives now.";
pub(crate) const CANCELLED_MEANWHILE: &str = "This request is cancelled, so nothing is saved.";
pub(crate) const DENIED_MEANWHILE: &str = "This request is refused already, so nothing is saved.";
pub(crate) const APPROVED_MEANWHILE: &str = "This request is approved already, so nothing is saved.";
pub(crate) const ENDED_MEANWHILE: &str = "The access by this request has ended, so nothing is saved.";
pub(crate) const LAPSED_MEANWHILE: &str = "This request has lapsed, so nothing is saved.";

pub(crate) fn cancelled_by(user: &str) -> String {
    format!("{user} has cancelled this request, so nothing is saved.")
}

pub(crate) fn denied_by(user: &str) -> String {
    format!("{user} has refused this request already, so nothing is saved.")
}

// What follows from an action. A moment follows.
pub(crate) fn you_have(role: &str) -> String {
    format!("You have {role} until")
}

pub(crate) fn you_get(role: &str) -> String {
    format!("No more approval is needed. You get {role} on")
}

pub(crate) fn user_has(user: &str, role: &str) -> String {
    format!("Your approval is saved: {user} has {role} until")
}

pub(crate) fn user_gets(user: &str, role: &str) -> String {
    format!("Your approval is saved: {user} gets {role} on")
}

pub(crate) const FOR_TIME_IN_LINE: &str = "for";
pub(crate) const FOR_TIME: &str = "For";
pub(crate) const WHO_DECIDES: &str = "Who decides";
pub(crate) const WHO_MAY_UPDATE_REQUESTS: &str = "those who may decide about access requests there";
pub(crate) const ASKED: &str = "Asked";
pub(crate) const BEGINS_AT: &str = "Begins";
pub(crate) const NOT_BEFORE: &str = "Not before";
pub(crate) const BEGAN_AT: &str = "Began";
pub(crate) const WAS_TO_BEGIN: &str = "Was to begin";
pub(crate) const ENDS_AT: &str = "Ends";
pub(crate) const WAS_TO_END: &str = "Was to end";
pub(crate) const LAPSES_AT: &str = "Lapses";
pub(crate) const DECISIONS: &str = "Decisions";
pub(crate) const NO_DECISIONS: &str = "No person has decided yet.";
pub(crate) const HAS_APPROVED: &str = "Approved";
pub(crate) const HAS_DENIED: &str = "Refused";
pub(crate) const COUNTS_NO_MORE: &str = "does not count any more: the role has changed since";
pub(crate) const APPROVE_AGAIN: &str = "Your approval does not count any more: the role has changed since. Look at what \
     the role gives now, and decide again.";
pub(crate) const YOUR_DECISION: &str = "Your decision";
pub(crate) const APPROVE: &str = "Approve";
pub(crate) const DENY: &str = "Refuse";
pub(crate) const DECISION_REASON_HINT: &str = "The person who asks and the audit log see it.";
pub(crate) const REASON_OF_END: &str = "Reason for the end";
pub(crate) const CANCEL_REQUEST: &str = "Cancel the request";
pub(crate) const CANCEL_REQUEST_WHAT: &str = "Then it cannot be approved any more. A new request is possible.";
pub(crate) const CANCEL_REQUEST_CONFIRM: &str = "Yes, cancel this request";
pub(crate) const END_ACCESS: &str = "End the access";
pub(crate) const END_ACCESS_WHAT: &str =
    "The role is lost at once, with everything that was given by it. It does not come back.";
pub(crate) const END_ACCESS_CONFIRM: &str = "Yes, end it now";
pub(crate) const ABOUT_THIS_REQUEST: &str = "what was done about this request";

pub(crate) const COMES_TO_NOTHING: &str = "This request cannot become effective any more: its eligibility has ended or \
     allows less than was asked for, the person may not ask any more, or the person has the role already. It is cancelled \
     as soon as a person decides about it.";
pub(crate) const CLOSE_REQUEST: &str = "Close it";

/// Why a request cannot become effective now. A sentence follows.
pub(crate) const CANNOT_BECOME_EFFECTIVE: &str = "It cannot become effective now:";
pub(crate) const EFFECTS_UNKNOWN: &str =
    "What the role would give cannot be shown at this moment. Open the page again before you decide.";

/// How many of the approvals are there.
pub(crate) fn approvals_of(count: usize, needed: u8) -> String {
    if needed == 0 { approvals_needed(&needed).to_owned() } else { format!("{count} of {needed}") }
}

/// A role that is gone, by the name that it had.
pub(crate) fn deleted(role: &str) -> String {
    format!("{role} (deleted)")
}

/// The holders of a role.
pub(crate) fn holders_of(role: &str) -> String {
    format!("the holders of {role}")
}

/// A length of time, such as `1 hour 30 minutes`.
pub(crate) fn duration(seconds: u32) -> String {
    let mut left = seconds;
    let units =
        [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")].into_iter().filter_map(|(size, unit)| {
            let count = left / size;
            left %= size;
            match count {
                0 => None,
                1 => Some(format!("1 {unit}")),
                count => Some(format!("{count} {unit}s")),
            }
        });
    units.collect::<Vec<_>>().join(" ")
}

// On other pages.
pub(crate) const ACCESS_FOR_A_TIME: &str = "Access for a time";
pub(crate) const YOU: &str = "You";
pub(crate) const BY_ACCESS_REQUEST: &str = "by an access request";
pub(crate) const OF_REQUEST_WHAT: &str = "An access request has given this role, or a person who held a role by one. It \
     ends with the request.";

/// How many requests wait for the decision of the person.
pub(crate) fn requests_wait(count: u64) -> String {
    if count == 1 {
        "1 access request waits for your decision".to_owned()
    } else {
        format!("{count} access requests wait for your decision")
    }
}
