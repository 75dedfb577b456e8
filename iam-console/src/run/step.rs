//! What is done to each of many users or role assignments, and how a form names it.

use std::str::FromStr;

use chrono::SecondsFormat;
use iam_core::assignment::NewAssignment;
use iam_core::clock::Timestamp;
use iam_core::{AssignmentId, OrganizationId, RoleId, UserId};

/// Separates the parts of a text that names a step.
const SEPARATOR: &str = "/";
/// Stands for the whole tenant, or for no end.
const NONE: &str = "-";

/// What is done to each of the selected users or role assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Assign,
    Suspend,
    Reactivate,
    EndSessions,
    Revoke,
    ChangeEnd,
}

impl Action {
    const ALL: [Self; 6] =
        [Self::Assign, Self::Suspend, Self::Reactivate, Self::EndSessions, Self::Revoke, Self::ChangeEnd];

    /// Returns the value that names the action in a form.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Assign => "assign",
            Self::Suspend => "suspend",
            Self::Reactivate => "reactivate",
            Self::EndSessions => "end-sessions",
            Self::Revoke => "revoke",
            Self::ChangeEnd => "change-end",
        }
    }

    pub(crate) fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }

    /// The list of what the action is for, below the path of the console.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Assign | Self::Suspend | Self::Reactivate | Self::EndSessions => "/users",
            Self::Revoke | Self::ChangeEnd => "/assignments",
        }
    }

    /// Whether the action takes something away.
    pub(crate) fn is_dangerous(self) -> bool {
        matches!(self, Self::Suspend | Self::EndSessions | Self::Revoke)
    }

    /// Whether the action can change rights.
    pub(crate) fn changes_rights(self) -> bool {
        self != Self::EndSessions
    }

    /// Returns the part of a text that names what was selected, without what is done to it.
    pub(crate) fn selection(self, text: &str) -> String {
        let parts = match self {
            Self::Assign => 1,
            Self::ChangeEnd => 2,
            Self::Suspend | Self::Reactivate | Self::EndSessions | Self::Revoke => return text.to_owned(),
        };
        text.split(SEPARATOR).take(parts).collect::<Vec<_>>().join(SEPARATOR)
    }

    /// Whether a text names only what was selected, and the details of the action are still to be typed.
    pub(crate) fn needs_details(self, text: &str) -> bool {
        matches!(self, Self::Assign | Self::ChangeEnd) && self.selection(text) == text
    }
}

/// What a person types beside the selection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Details {
    /// Only for a new assignment.
    pub(crate) role: Option<RoleId>,
    pub(crate) organization: Option<OrganizationId>,
    pub(crate) until: Option<Timestamp>,
}

/// A role assignment and its user, by which it is found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) id: AssignmentId,
    pub(crate) user: UserId,
}

impl Held {
    fn parse(id: &str, user: &str) -> Option<Self> {
        Some(Self { id: id.parse().ok()?, user: user.parse().ok()? })
    }
}

/// What is done to one user or role assignment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Assign(NewAssignment),
    Suspend(UserId),
    Reactivate(UserId),
    EndSessions(UserId),
    Revoke(Held),
    ChangeEnd(Held, Option<Timestamp>),
}

impl Step {
    /// Reads a text that a form has sent. The details are for a text that needs them.
    pub(crate) fn parse(action: Action, text: &str, details: Option<Details>) -> Option<Self> {
        let parts: Vec<&str> = text.split(SEPARATOR).collect();
        match (action, parts.as_slice()) {
            (Action::Assign, [user]) => {
                let Details { role, organization, until } = details?;
                Some(Self::Assign(NewAssignment {
                    user: user.parse().ok()?,
                    role: role?,
                    organization,
                    expires_at: until,
                }))
            }
            (Action::Assign, [user, role, organization, until]) => Some(Self::Assign(NewAssignment {
                user: user.parse().ok()?,
                role: role.parse().ok()?,
                organization: parsed(organization)?,
                expires_at: parsed(until)?,
            })),
            (Action::Suspend, [user]) => Some(Self::Suspend(user.parse().ok()?)),
            (Action::Reactivate, [user]) => Some(Self::Reactivate(user.parse().ok()?)),
            (Action::EndSessions, [user]) => Some(Self::EndSessions(user.parse().ok()?)),
            (Action::Revoke, [id, user]) => Some(Self::Revoke(Held::parse(id, user)?)),
            (Action::ChangeEnd, [id, user]) => Some(Self::ChangeEnd(Held::parse(id, user)?, details?.until)),
            (Action::ChangeEnd, [id, user, until]) => Some(Self::ChangeEnd(Held::parse(id, user)?, parsed(until)?)),
            _ => None,
        }
    }

    /// Returns the text from which the step can be read again. It has the details.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Assign(NewAssignment { user, role, organization, expires_at }) => {
                let place = organization.map_or_else(|| NONE.to_owned(), |id| id.to_string());
                format!("{user}{SEPARATOR}{role}{SEPARATOR}{place}{SEPARATOR}{}", written(*expires_at))
            }
            Self::Suspend(user) | Self::Reactivate(user) | Self::EndSessions(user) => user.to_string(),
            Self::Revoke(Held { id, user }) => format!("{id}{SEPARATOR}{user}"),
            Self::ChangeEnd(Held { id, user }, end) => {
                format!("{id}{SEPARATOR}{user}{SEPARATOR}{}", written(*end))
            }
        }
    }

    pub(crate) fn action(&self) -> Action {
        match self {
            Self::Assign(_) => Action::Assign,
            Self::Suspend(_) => Action::Suspend,
            Self::Reactivate(_) => Action::Reactivate,
            Self::EndSessions(_) => Action::EndSessions,
            Self::Revoke(_) => Action::Revoke,
            Self::ChangeEnd(..) => Action::ChangeEnd,
        }
    }

    /// The user whom the step is about.
    pub(crate) fn user(&self) -> UserId {
        match self {
            Self::Assign(new) => new.user,
            Self::Suspend(user) | Self::Reactivate(user) | Self::EndSessions(user) => *user,
            Self::Revoke(held) | Self::ChangeEnd(held, _) => held.user,
        }
    }

    /// The role assignment that the step ends or changes.
    pub(crate) fn held(&self) -> Option<Held> {
        match self {
            Self::Revoke(held) | Self::ChangeEnd(held, _) => Some(*held),
            Self::Assign(_) | Self::Suspend(_) | Self::Reactivate(_) | Self::EndSessions(_) => None,
        }
    }
}

fn written(end: Option<Timestamp>) -> String {
    end.map_or_else(|| NONE.to_owned(), |end| end.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Reads a part that may stand for nothing.
fn parsed<T: FromStr>(text: &str) -> Option<Option<T>> {
    if text == NONE { Some(None) } else { text.parse().ok().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn a_step_is_read_as_it_is_written() {
        for (action, text) in [
            (Action::Assign, format!("{ONE}/{ONE}/-/2026-01-31T09:15:00.125Z")),
            (Action::Assign, format!("{ONE}/{ONE}/{ONE}/-")),
            (Action::Suspend, ONE.to_owned()),
            (Action::Reactivate, ONE.to_owned()),
            (Action::EndSessions, ONE.to_owned()),
            (Action::Revoke, format!("{ONE}/{ONE}")),
            (Action::ChangeEnd, format!("{ONE}/{ONE}/-")),
        ] {
            let step = Step::parse(action, &text, None).unwrap();
            assert_eq!((step.action(), step.text()), (action, text.clone()));
            assert!(!action.needs_details(&text), "{text}");
        }
    }

    #[test]
    fn a_selection_gets_the_typed_details_and_no_others_do() {
        let details = Details { role: ONE.parse().ok(), organization: None, until: None };
        let full = format!("{ONE}/{ONE}/-/-");
        assert!(Action::Assign.needs_details(ONE) && Step::parse(Action::Assign, ONE, None).is_none());
        assert_eq!(Step::parse(Action::Assign, ONE, Some(details)).unwrap().text(), full);
        assert_eq!(Action::Assign.selection(&full), ONE);
        let held = format!("{ONE}/{ONE}");
        assert!(Action::ChangeEnd.needs_details(&held));
        assert_eq!(Step::parse(Action::ChangeEnd, &held, Some(details)).unwrap().text(), format!("{held}/-"));
        for (action, text) in [(Action::Suspend, "x"), (Action::Revoke, ONE), (Action::Assign, "x/y/-/-")] {
            assert!(Step::parse(action, text, Some(details)).is_none(), "{text}");
        }
    }
}
