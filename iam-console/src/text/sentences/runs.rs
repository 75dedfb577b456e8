//! Actions on many.

use crate::run::step::Action;
use crate::text::{t, t_with};

pub(crate) fn too_many_selected(max: usize) -> String {
    t_with("too-many-selected", [("max", max.into())])
}

/// The title of an action on so many.
pub(crate) fn run_title(action: Action, count: usize) -> String {
    let id = match action {
        Action::Assign => "run-assign",
        Action::Suspend => "run-suspend",
        Action::Reactivate => "run-reactivate",
        Action::EndSessions => "run-end-sessions",
        Action::Revoke => "run-revoke",
        Action::ChangeEnd => "run-change-end",
    };
    t_with(id, [("count", count.into())])
}

/// What an action does to each.
pub(crate) fn run_what(action: Action) -> &'static str {
    match action {
        Action::Assign => t("run-assign-what"),
        Action::Suspend => t("run-suspend-what"),
        Action::Reactivate => t("run-reactivate-what"),
        Action::EndSessions => t("run-end-sessions-what"),
        Action::Revoke => t("run-revoke-what"),
        Action::ChangeEnd => t("run-change-end-what"),
    }
}

/// The button that undoes what was done, by this action.
pub(crate) fn undo_run(action: Action) -> &'static str {
    match action {
        Action::Assign => t("undo-by-assign"),
        Action::Suspend => t("undo-by-suspend"),
        Action::Reactivate => t("undo-by-reactivate"),
        Action::EndSessions => t("undo-by-end-sessions"),
        Action::Revoke => t("undo-by-revoke"),
        Action::ChangeEnd => t("undo-by-change-end"),
    }
}

/// How far an action has come.
pub(crate) fn run_progress(done: usize, refused: usize, total: usize) -> String {
    let (done, total) = (("done", done.into()), ("total", total.into()));
    if refused == 0 {
        t_with("run-done", [done, total])
    } else {
        t_with("run-done-and-refused", [done, total, ("refused", refused.into())])
    }
}

/// How many actions of a person go on, or have ended unseen.
pub(crate) fn runs_unseen(count: usize) -> String {
    t_with("runs-unseen", [("count", count.into())])
}
