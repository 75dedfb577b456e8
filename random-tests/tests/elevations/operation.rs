//! The operations, and their random choice. It depends on the seed and on what the tenant has.

#![cfg(test)]

use fastrand::Rng;

use crate::state::{Held, Moment, NEVER, SPOTS, Spot, Tenant, Who};

pub(crate) const MINUTE: Moment = 60_000;

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Make {
        role: usize,
        spot: Spot,
        who: Who,
        max_seconds: i64,
        approvals: i64,
        approver: Option<usize>,
        until: Moment,
    },
    Change {
        eligibility: usize,
        change: Change,
    },
    Remove {
        eligibility: usize,
    },
    Ask {
        eligibility: usize,
        seconds: Option<i64>,
        start: Option<Moment>,
        by_key: bool,
    },
    Decide {
        request: usize,
        approves: bool,
        by_key: bool,
    },
    Cancel {
        request: usize,
    },
    End {
        request: usize,
    },
    Give {
        user: usize,
        role: usize,
        spot: Spot,
        until: Moment,
    },
    Edit {
        role: usize,
        permissions: Vec<&'static str>,
    },
    /// By trusted code, as what follows.
    Revoke {
        held: Held,
    },
    Suspend {
        user: usize,
    },
    Reactivate {
        user: usize,
    },
    Sweep,
    Wait {
        by: Moment,
    },
}

/// A change of an eligibility.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub(crate) max_seconds: Option<i64>,
    pub(crate) approvals: Option<i64>,
    pub(crate) approver: Option<Option<usize>>,
    pub(crate) until: Option<Moment>,
}

impl Operation {
    /// Whether a user does it. Otherwise, trusted code does.
    pub(crate) fn is_by_user(&self) -> bool {
        !matches!(
            self,
            Self::Revoke { .. } | Self::Suspend { .. } | Self::Reactivate { .. } | Self::Sweep | Self::Wait { .. }
        )
    }
}

/// The roles of the tenant, after `TENANT_ADMIN`: their names, and what they permit at first. The last ones are for
/// those who may ask, and for those who decide.
pub(crate) const ROLES: [(&str, &[&str]); 7] = [
    ("READER", &["users:read"]),
    ("WRITER", &["users:read", "users:update"]),
    ("GIVER", &["role-assignments:*", "users:read"]),
    ("DECIDER", &["access-requests:*", "eligibilities:*", "users:read"]),
    ("ALL", &["*"]),
    ("HELD", &[]),
    ("APPROVER", &[]),
];

/// The permissions of the questions, and of the changes of roles.
pub(crate) const ASKED: [&str; 8] = [
    "users:read",
    "users:update",
    "role-assignments:create",
    "role-assignments:delete",
    "access-requests:read",
    "access-requests:update",
    "eligibilities:create",
    "roles:update",
];

/// Chooses operations.
pub(crate) struct Chooser<'a> {
    pub(crate) random: &'a mut Rng,
    pub(crate) tenant: &'a Tenant,
    pub(crate) now: Moment,
}

impl Chooser<'_> {
    fn one_in(&mut self, count: u8) -> bool {
        self.random.u8(..count) == 0
    }

    pub(crate) fn user(&mut self) -> usize {
        self.random.usize(..self.tenant.is_active.len())
    }

    pub(crate) fn role(&mut self) -> usize {
        self.random.usize(1..self.tenant.roles.len())
    }

    pub(crate) fn spot(&mut self) -> Spot {
        SPOTS[self.random.usize(..SPOTS.len())]
    }

    fn until(&mut self) -> Moment {
        if self.random.bool() { NEVER } else { self.now + MINUTE * self.random.i64(1..60) }
    }

    fn approver(&mut self) -> Option<usize> {
        self.one_in(3).then_some(ROLES.len())
    }

    fn who(&mut self) -> Who {
        // The last but one of the roles.
        if self.one_in(3) { Who::HoldersOf(ROLES.len() - 1) } else { Who::User(self.user()) }
    }

    fn seconds(&mut self) -> i64 {
        300 * self.random.i64(1..10)
    }

    /// Chooses an eligibility; one that is gone, too.
    fn eligibility(&mut self) -> Option<usize> {
        let known: Vec<usize> = self.tenant.eligibilities.keys().copied().collect();
        let last = *known.last()?;
        Some(if self.one_in(12) { self.random.usize(..=last) } else { known[self.random.usize(..known.len())] })
    }

    /// Chooses an eligibility by which a user may ask, most often.
    fn eligibility_for(&mut self, user: usize) -> Option<usize> {
        let own = self.tenant.eligibilities.iter();
        let own: Vec<usize> =
            own.filter(|(_, it)| self.tenant.is_eligible(user, it, self.now)).map(|(number, _)| *number).collect();
        if own.is_empty() || self.one_in(8) { self.eligibility() } else { Some(own[self.random.usize(..own.len())]) }
    }

    /// Chooses a request, most often an open one.
    fn request(&mut self) -> Option<usize> {
        let all: Vec<usize> = self.tenant.requests.keys().copied().collect();
        let is_open = |number: &usize| self.tenant.requests[number].status.is_open();
        let open: Vec<usize> = all.iter().copied().filter(is_open).collect();
        let from = if open.is_empty() || self.one_in(8) { all } else { open };
        (!from.is_empty()).then(|| from[self.random.usize(..from.len())])
    }

    /// Chooses a role to change, often one for which a user asks.
    fn edited(&mut self) -> usize {
        let request = if self.random.bool() { self.request() } else { None };
        match request {
            Some(request) => self.tenant.requests[&request].role,
            None => self.role(),
        }
    }

    fn make(&mut self) -> Operation {
        Operation::Make {
            role: self.role(),
            spot: self.spot(),
            who: self.who(),
            max_seconds: self.seconds(),
            approvals: self.random.i64(0..3),
            approver: self.approver(),
            until: self.until(),
        }
    }

    fn change(&mut self) -> Change {
        match self.random.u8(..5) {
            0 => Change { max_seconds: Some(self.seconds()), ..Change::default() },
            1 => Change { approvals: Some(self.random.i64(0..3)), ..Change::default() },
            2 => Change { approver: Some(self.approver()), ..Change::default() },
            3 => Change { until: Some(self.until()), ..Change::default() },
            _ => Change { max_seconds: Some(self.seconds()), until: Some(self.until()), ..Change::default() },
        }
    }

    fn give(&mut self) -> Operation {
        Operation::Give { user: self.user(), role: self.role(), spot: self.spot(), until: self.until() }
    }

    fn ask(&mut self, by: usize) -> Option<Operation> {
        Some(Operation::Ask {
            eligibility: self.eligibility_for(by)?,
            seconds: self.random.bool().then(|| 60 * self.random.i64(1..30)),
            start: self.one_in(3).then(|| self.now + MINUTE * self.random.i64(1..20)),
            by_key: self.one_in(12),
        })
    }

    /// Chooses an operation for a user.
    pub(crate) fn operation(&mut self, by: usize) -> Operation {
        let chosen = match self.random.u8(..64) {
            0..7 => None,
            7..11 => self.eligibility().map(|eligibility| Operation::Change { eligibility, change: self.change() }),
            11..13 => self.eligibility().map(|eligibility| Operation::Remove { eligibility }),
            13..26 => self.ask(by),
            26..40 => self.request().map(|request| Operation::Decide {
                request,
                approves: self.random.u8(..4) > 0,
                by_key: self.one_in(12),
            }),
            40..42 => self.request().map(|request| Operation::Cancel { request }),
            42..44 => self.request().map(|request| Operation::End { request }),
            44..51 => Some(self.give()),
            51..53 => {
                let count = self.random.usize(..3);
                let permissions = (0..count).map(|_| ASKED[self.random.usize(..ASKED.len())]).collect();
                Some(Operation::Edit { role: self.edited(), permissions })
            }
            53..55 => {
                // The first user keeps the administration.
                let held: Vec<&Held> = self.tenant.held.iter().filter(|held| held.role != 0).collect();
                let chosen = held.get(self.random.usize(..held.len().max(1)));
                chosen.map(|held| Operation::Revoke { held: (*held).clone() })
            }
            55 => Some(Operation::Suspend { user: self.random.usize(1..self.tenant.is_active.len()) }),
            56..58 => Some(Operation::Reactivate { user: self.user() }),
            58..60 => Some(Operation::Sweep),
            60 if self.one_in(3) => Some(Operation::Wait { by: MINUTE * 60 * self.random.i64(1..80) }),
            _ => Some(Operation::Wait { by: MINUTE * self.random.i64(1..8) - self.random.i64(0..2) }),
        };
        chosen.unwrap_or_else(|| self.make())
    }
}
