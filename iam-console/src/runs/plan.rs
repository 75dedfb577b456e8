use std::collections::{BTreeMap, BTreeSet};

use iam_core::assignment::{Grant, NewAssignment};
use iam_core::audit::ResourceType;
use iam_core::clock::Timestamp;
use iam_core::user::{User, UserStatus};
use iam_core::{AssignmentId, Caller, Error, Forbidden, OrganizationId, RoleId, Unauthenticated, UserId};

use crate::confirm::Attempt;
use crate::names::{Names, label_of};
use crate::problem::if_allowed;
use crate::runs::step::Step;
use crate::state::Console;
use crate::text;

/// A step, as a person reads it: a run keeps its texts in the language in which it was begun.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) step: Step,
    /// The name of the user, or its id if the caller may not see the user.
    pub(super) name: String,
    /// The role with its place; empty for an action on the user as a whole.
    pub(super) detail: String,
    /// Until when the role is held from then on, or was held.
    pub(super) until: Option<Timestamp>,
    /// What undoes the step; `None` if nothing does, or if only its result tells.
    pub(super) undo: Option<Step>,
    /// Why the step is not taken; `None` if it is.
    pub(super) left_out: Option<String>,
}

/// What the caller sees of the users and role assignments of some steps.
struct Seen {
    users: BTreeMap<UserId, User>,
    grants: BTreeMap<AssignmentId, Grant>,
    /// Of roles that are to be assigned, and of their places.
    names: Names,
}

impl Seen {
    async fn read(console: &Console, caller: &Caller, steps: &[Step]) -> Result<Self, Error> {
        let iam = &console.iam;
        let ids: BTreeSet<UserId> = steps.iter().map(Step::user).collect();
        let ids: Vec<UserId> = ids.into_iter().collect();
        let users = if_allowed(iam.users().by_ids(caller, &ids).await)?.unwrap_or_default();
        let holders: BTreeSet<UserId> = steps.iter().filter_map(Step::held).map(|held| held.user).collect();
        let mut grants = BTreeMap::new();
        for user in holders {
            let held = if_allowed(iam.assignments().of_user(caller, user).await)?.unwrap_or_default();
            grants.extend(held.into_iter().map(|grant| (grant.assignment.id, grant)));
        }
        let new = |step: &Step| if let Step::Assign(new) = step { Some(*new) } else { None };
        let places: Vec<OrganizationId> =
            steps.iter().filter_map(new).filter_map(|NewAssignment { organization, .. }| organization).collect();
        let roles: Vec<RoleId> = steps.iter().filter_map(new).map(|NewAssignment { role, .. }| role).collect();
        let names = Names::read(iam, caller, [], places).await?.with_roles(iam, caller, roles).await?;
        Ok(Self { users: users.into_iter().map(|user| (user.id, user)).collect(), grants, names })
    }

    /// Returns the role assignment of a step, if it is that of its user.
    fn grant(&self, step: &Step) -> Option<&Grant> {
        let held = step.held()?;
        self.grants.get(&held.id).filter(|grant| grant.assignment.user_id == held.user)
    }

    fn line(&self, caller: &Caller, step: Step) -> Line {
        let user = step.user();
        let (detail, until) = self.detail(&step);
        Line {
            step,
            name: self.users.get(&user).map_or_else(|| user.to_string(), label_of),
            detail,
            until,
            undo: self.undo(&step),
            left_out: self.left_out(caller, &step),
        }
    }

    fn detail(&self, step: &Step) -> (String, Option<Timestamp>) {
        let of_grant = |grant: &Grant| {
            let place = grant.organization.as_ref().map_or(text::t("whole-tenant"), |place| place.name.as_str());
            text::role_in(grant.role.name.as_str(), place)
        };
        match step {
            Step::Assign(new) => {
                let place = new.organization.map(|id| self.names.organization(id));
                let place = place.as_deref().unwrap_or(text::t("whole-tenant"));
                (text::role_in(&self.names.role(new.role), place), new.expires_at)
            }
            Step::Suspend(_) | Step::Reactivate(_) | Step::EndSessions(_) => (String::new(), None),
            Step::Revoke(_) => {
                let grant = self.grant(step);
                (grant.map(of_grant).unwrap_or_default(), grant.and_then(|grant| grant.assignment.expires_at))
            }
            Step::ChangeEnd(_, end) => (self.grant(step).map(of_grant).unwrap_or_default(), *end),
        }
    }

    fn undo(&self, step: &Step) -> Option<Step> {
        match *step {
            Step::Assign(_) | Step::EndSessions(_) => None,
            Step::Suspend(user) => Some(Step::Reactivate(user)),
            Step::Reactivate(user) => Some(Step::Suspend(user)),
            Step::Revoke(_) => {
                let held = &self.grant(step)?.assignment;
                // What was given for a time, after a request, must not come back without one.
                held.access_request_id.is_none().then_some(Step::Assign(NewAssignment {
                    user: held.user_id,
                    role: held.role_id,
                    organization: held.organization_id,
                    expires_at: held.expires_at,
                }))
            }
            Step::ChangeEnd(held, _) => Some(Step::ChangeEnd(held, self.grant(step)?.assignment.expires_at)),
        }
    }

    /// Says why a step would do nothing, or is not for many at once.
    fn left_out(&self, caller: &Caller, step: &Step) -> Option<String> {
        let status = self.users.get(&step.user()).map(|user| user.status);
        let is_self = caller.user() == Some(step.user());
        match step {
            Step::Suspend(_) | Step::EndSessions(_) if is_self => Some(text::t("not-yourself").to_owned()),
            Step::Suspend(_) if status == Some(UserStatus::Suspended) => Some(text::t("suspended-already").to_owned()),
            Step::Reactivate(_) if status == Some(UserStatus::Active) => Some(text::t("active-already").to_owned()),
            Step::Revoke(_) | Step::ChangeEnd(..) => match self.grant(step) {
                None => Some(Error::NotFound(ResourceType::ROLE_ASSIGNMENT).to_string()),
                Some(grant) => match step {
                    Step::ChangeEnd(_, end) if grant.assignment.expires_at == *end => {
                        Some(text::t("ends-then-already").to_owned())
                    }
                    _ => None,
                },
            },
            _ => None,
        }
    }
}

/// Returns the steps as a person reads them. What the services refuse is not known yet.
pub(super) async fn lines(console: &Console, caller: &Caller, steps: &[Step]) -> Result<Vec<Line>, Error> {
    let seen = Seen::read(console, caller, steps).await?;
    Ok(steps.iter().map(|step| seen.line(caller, *step)).collect())
}

/// Tries the steps out, and leaves out what the services refuse. Returns the trial of the others. A caller that lacks
/// the permission for all of them gets the error.
pub(super) async fn try_out(console: &Console, caller: &Caller, lines: &mut [Line]) -> Result<Attempt, Error> {
    let trial = Attempt::confirmed_if(console, false);
    let refused = try_each(&trial, caller, lines).await?;
    if refused.is_empty() {
        return Ok(trial);
    }
    if refused.len() == lines.len() && refused.iter().all(is_missing) {
        return refused.into_iter().next().map_or(Ok(trial), Err);
    }
    // A call that is refused late has changed something in its trial before.
    let trial = Attempt::confirmed_if(console, false);
    try_each(&trial, caller, lines).await?;
    Ok(trial)
}

async fn try_each(trial: &Attempt, caller: &Caller, lines: &mut [Line]) -> Result<Vec<Error>, Error> {
    let mut refused = Vec::new();
    for line in lines {
        if line.left_out.is_some() {
            continue;
        }
        let Err(error) = line.step.take(trial, caller).await else { continue };
        if !is_of_step(&error) {
            return Err(error);
        }
        line.left_out = Some(error.to_string());
        refused.push(error);
    }
    Ok(refused)
}

fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Forbidden(Forbidden::Permission(_)))
}

/// Whether an error is about one step, and the next one may be taken. An error that asks for a proof of identity is
/// about all.
fn is_of_step(error: &Error) -> bool {
    match error {
        Error::Forbidden(Forbidden::SecondFactorRequired) => false,
        Error::Unauthenticated(reason) => matches!(reason, Unauthenticated::ByEmail { .. }),
        Error::Validation(_)
        | Error::Forbidden(_)
        | Error::NotFound(_)
        | Error::Rule(_)
        | Error::Conflict(_)
        | Error::PreconditionFailed
        | Error::About { .. } => true,
        _ => false,
    }
}
