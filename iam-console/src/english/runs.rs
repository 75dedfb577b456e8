//! Actions on many users or role assignments at once.

use crate::run::step::Action;

// The selection in a list.
pub(crate) const SELECT: &str = "Select";
pub(crate) const SELECT_ALL: &str = "Select all on this page";
pub(crate) const SHOW_100: &str = "Show 100 on a page";
pub(crate) const WITH_SELECTED: &str = "With the selected ones";
pub(crate) const NONE_SELECTED: &str = "Nothing is selected.";
pub(crate) const COUNT_SELECTED: &str = "{count} selected";
pub(crate) const PREVIEW_FOLLOWS: &str = "You first see what would happen. At most 100 can be selected.";
pub(crate) const ASSIGN_MANY: &str = "Assign a role…";
pub(crate) const SUSPEND_MANY: &str = "Suspend…";
pub(crate) const REACTIVATE_MANY: &str = "Reactivate…";
pub(crate) const END_SESSIONS_MANY: &str = "End sessions…";
pub(crate) const REVOKE_MANY: &str = "Revoke…";
pub(crate) const CHANGE_END_MANY: &str = "Change the end…";
pub(crate) const NOTHING_SELECTED: &str = "must not be empty: select at least one line of the list";
pub(crate) const NOT_SELECTABLE: &str = "must be lines of the list";

pub(crate) fn too_many_selected(max: usize) -> String {
    format!("must be at most {max} lines")
}

// The preview.
pub(crate) const STEPS_TAKEN: &str = "What happens to whom";
pub(crate) const STEPS_LEFT_OUT: &str = "Left out";
pub(crate) const NOTHING_TO_DO: &str = "There is nothing to do.";
pub(crate) const DECIDED_AGAIN: &str =
    "Each one is decided again when it is done. If one is refused, the others are done nevertheless.";
pub(crate) const PREVIEW_IS_OLD: &str =
    "Nothing was begun, because this preview is too old. Look at the present one, and confirm it.";
pub(crate) const TOO_MANY_RUNS: &str =
    "Nothing was begun, because too many bulk actions go on. Confirm it when one of them has ended.";
pub(crate) const NOT_YOURSELF: &str = "This is your own account.";
pub(crate) const SUSPENDED_ALREADY: &str = "The user is suspended already.";
pub(crate) const ACTIVE_ALREADY: &str = "The user is active already.";
pub(crate) const ENDS_THEN_ALREADY: &str = "The role has this end already.";

// The run.
pub(crate) const RUNS: &str = "Bulk actions";
pub(crate) const NO_RUNS: &str =
    "You have begun no bulk action within the last hour, or this server does not know it any more.";
pub(crate) const RUN_GOES_ON: &str = "You can leave this page: it goes on, and each page leads back here.";
pub(crate) const RUN_PROGRESS: &str = "Progress";
pub(crate) const RELOAD: &str = "Load this page again";
pub(crate) const STEPS_DONE: &str = "Done";
pub(crate) const STEPS_REFUSED: &str = "Not done";
pub(crate) const STEPS_UNTRIED: &str = "Not tried";
pub(crate) const RUN_STOPPED: &str = "It has stopped: your session has ended, or could not be checked.";
pub(crate) const RUN_BROKE_OFF: &str = "It has broken off by an error of the server.";
pub(crate) const RUN_ENTRIES: &str = "The entries of this action in the audit log";
pub(crate) const TRY_THE_REST: &str = "Try the rest again…";
pub(crate) const RUN_UNKNOWN: &str = "This server does not know the bulk action";
pub(crate) const RUN_UNKNOWN_WHAT: &str = "Its progress is kept for an hour, for the person who began it, and not after a restart of the server. What it \
     has done stands in the audit log. You can begin it again: what was done before is then left out, or refused.";

/// The title of an action on so many.
pub(crate) fn run_title(action: Action, count: usize) -> String {
    let users = if count == 1 { "1 user".to_owned() } else { format!("{count} users") };
    let assignments = if count == 1 { "1 assignment".to_owned() } else { format!("{count} assignments") };
    match action {
        Action::Assign => format!("Make {assignments}"),
        Action::Suspend => format!("Suspend {users}"),
        Action::Reactivate => format!("Reactivate {users}"),
        Action::EndSessions => format!("End the sessions of {users}"),
        Action::Revoke => format!("Revoke {assignments}"),
        Action::ChangeEnd => format!("Change the end of {assignments}"),
    }
}

/// What an action does to each.
pub(crate) fn run_what(action: Action) -> &'static str {
    match action {
        Action::Assign => "Each user gets the role at once.",
        Action::Suspend => "Each user can no longer sign in until the account is reactivated. All sessions end.",
        Action::Reactivate => "Each user can sign in again, with the same roles as before.",
        Action::EndSessions => "Each user must sign in again on every device.",
        Action::Revoke => "Each user loses the role at once.",
        Action::ChangeEnd => "Each user holds the role until the new end.",
    }
}

/// The button that undoes what was done, by this action.
pub(crate) fn undo_run(action: Action) -> &'static str {
    match action {
        Action::Assign => "Assign these again…",
        Action::Suspend => "Suspend these again…",
        Action::Reactivate => "Reactivate these…",
        Action::EndSessions => "End these sessions…",
        Action::Revoke => "Revoke these assignments…",
        Action::ChangeEnd => "Set the earlier ends again…",
    }
}

/// How far an action has come.
pub(crate) fn run_progress(done: usize, refused: usize, total: usize) -> String {
    if refused == 0 { format!("{done} of {total} done") } else { format!("{done} of {total} done, {refused} not done") }
}

/// How many actions of a person go on, or have ended unseen.
pub(crate) fn runs_unseen(count: usize) -> String {
    if count == 1 {
        "A bulk action of yours goes on, or has ended".to_owned()
    } else {
        format!("{count} bulk actions of yours go on, or have ended")
    }
}
