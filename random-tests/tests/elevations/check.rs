//! What every step must keep.

#![cfg(test)]

use std::collections::BTreeSet;

use iam_core::access_request::AccessRequestStatus as Status;

use crate::operation::Operation;
use crate::state::{Counting, Decision, Eligibility, Held, Moment, Request, Right, Spot, Tenant, is_covered};

/// A step, with the tenant before and after it.
pub(crate) struct Step<'a> {
    pub(crate) before: &'a Tenant,
    pub(crate) after: &'a Tenant,
    /// The user who did it, by a session.
    pub(crate) author: Option<usize>,
    pub(crate) operation: &'a Operation,
    /// The kind of the refusal.
    pub(crate) answer: Result<(), &'a str>,
    /// The moment after the step.
    pub(crate) now: Moment,
}

impl Step<'_> {
    /// What the step broke.
    pub(crate) fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        self.check_answer(&mut broken);
        self.check_decision(&mut broken);
        self.check_growth(&mut broken);
        self.check_marks(&mut broken);
        for (number, request) in &self.after.requests {
            self.check_request(*number, request, &mut broken);
        }
        self.check_open(&mut broken);
        if self.answer.is_err() && self.before != self.after && !self.may_cancel() {
            broken.push("a refused operation changed something".to_owned());
        }
        broken
    }

    /// Whether a refused approval may have cancelled the request.
    fn may_cancel(&self) -> bool {
        let has_cause = matches!(self.answer, Err("AccessRequestOutdated" | "RoleHeld"));
        has_cause && matches!(self.operation, Operation::Decide { approves: true, .. })
    }

    fn standing(&self, user: usize, permission: &str, spot: Spot) -> bool {
        self.before.may(user, permission, spot, Counting::Standing, self.now)
    }

    /// Compares the answer with the one that follows from the contract.
    fn check_answer(&self, broken: &mut Vec<String>) {
        let Some(author) = self.author else { return };
        if let Some(expected) = self.expected(author)
            && expected != self.answer
        {
            broken.push(format!("{expected:?} was expected"));
        }
        let (permission, spot) = match self.operation {
            Operation::Give { spot, .. } => ("role-assignments:create", *spot),
            Operation::Edit { .. } => ("roles:update", None),
            Operation::Change { eligibility, .. } => {
                return self.require_place(author, "eligibilities:update", *eligibility, broken);
            }
            Operation::Remove { eligibility } => {
                return self.require_place(author, "eligibilities:delete", *eligibility, broken);
            }
            _ => return,
        };
        if self.answer.is_ok() && !self.before.may(author, permission, spot, Counting::All, self.now) {
            broken.push("it had no permission".to_owned());
        }
    }

    /// A decision is about the role as it is.
    fn check_decision(&self, broken: &mut Vec<String>) {
        let (Ok(()), Some(user), Operation::Decide { request, approves, .. }) =
            (self.answer, self.author, self.operation)
        else {
            return;
        };
        let request = &self.after.requests[request];
        let version = Some(self.before.versions[request.role]);
        if request.decisions.last() != Some(&Decision { user, approves: *approves, version }) {
            broken.push(format!("the decision is another one: {request:?}"));
        }
    }

    /// Requires that the author of a change of an eligibility held a permission in its place by standing rights.
    fn require_place(&self, author: usize, permission: &str, eligibility: usize, broken: &mut Vec<String>) {
        let known = self.before.eligibilities.get(&eligibility);
        if self.answer.is_ok() && !known.is_some_and(|it| self.standing(author, permission, it.spot)) {
            broken.push("it had no permission by its standing rights".to_owned());
        }
    }

    /// The answer that the contract defines, for operations about which it defines one without looking at growth.
    fn expected(&self, author: usize) -> Option<Result<(), &'static str>> {
        match self.operation {
            Operation::Ask { by_key: true, .. } | Operation::Decide { by_key: true, .. } => Some(Err("ApiKey")),
            Operation::Ask { eligibility, seconds, start, .. } => {
                Some(self.asked(author, *eligibility, *seconds, *start))
            }
            Operation::Decide { request, approves, .. } => {
                Some(self.decided(author, &self.before.requests[request], *approves))
            }
            Operation::Cancel { request } => {
                let request = &self.before.requests[request];
                let may = self.standing(author, "access-requests:update", request.spot);
                let waits = matches!(request.status, Status::Pending | Status::Approved);
                Some(self.closed(author, request, may, waits.then_some(()).ok_or("AccessRequestNotWaiting")))
            }
            Operation::End { request } => {
                let request = &self.before.requests[request];
                let may = self.before.may(author, "role-assignments:delete", request.spot, Counting::All, self.now);
                let is_active = request.status == Status::Active;
                Some(self.closed(author, request, may, is_active.then_some(()).ok_or("AccessRequestNotActive")))
            }
            _ => None,
        }
    }

    fn asked(
        &self,
        author: usize,
        eligibility: usize,
        seconds: Option<i64>,
        start: Option<Moment>,
    ) -> Result<(), &'static str> {
        let by = self.before.eligibilities.get(&eligibility).ok_or("NotFound")?;
        if !self.before.is_eligible(author, by, self.now) {
            return Err("NotEligible");
        }
        if self.before.open(author).any(|request| request.eligibility == eligibility) {
            return Err("AccessRequestOpen");
        }
        if self.before.open(author).count() >= 20 {
            return Err("TooManyAccessRequests");
        }
        let begins_at = start.map_or(self.now, |start| start.max(self.now));
        if self.before.holds_there(author, by.role, by.spot, begins_at) {
            return Err("RoleHeld");
        }
        let is_short = seconds.is_none_or(|seconds| seconds <= i64::from(by.max_seconds));
        let begins = start.is_none_or(|start| start + 60_000 < by.until);
        if is_short && begins { Ok(()) } else { Err("Validation") }
    }

    fn decided(&self, author: usize, request: &Request, approves: bool) -> Result<(), &'static str> {
        if request.user == author {
            return Err("OwnRequest");
        }
        if !self.before.decides(author, request, self.now) {
            let refusal = if request.approver.is_some() { "NotApprover" } else { "Permission" };
            return Err(if self.before.sees(author, request, self.now) { refusal } else { "NotFound" });
        }
        if request.status != Status::Pending {
            return Err("AccessRequestNotPending");
        }
        if self.before.has_decided(author, request) {
            return Err("DecidedBefore");
        }
        if !approves {
            return Ok(());
        }
        let start = request.starts.map_or(self.now, |start| start.max(self.now));
        let is_allowed_by = |it: &&Eligibility| {
            start < it.until
                && it.max_seconds >= request.seconds
                && it.approvals <= request.approvals
                && it.approver == request.approver
        };
        let by = self.before.eligibilities.get(&request.eligibility).filter(is_allowed_by);
        let by = by.ok_or("AccessRequestOutdated")?;
        if !self.before.is_active[request.user] || !self.before.is_eligible(request.user, by, self.now) {
            return Err("AccessRequestOutdated");
        }
        if self.before.holds_there(request.user, request.role, request.spot, start) {
            return Err("RoleHeld");
        }
        Ok(())
    }

    fn closed(
        &self,
        author: usize,
        request: &Request,
        may: bool,
        answer: Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        if request.user == author || may {
            answer
        } else if self.before.sees(author, request, self.now) {
            Err("Permission")
        } else {
            Err("NotFound")
        }
    }

    /// No user has or can get more than before, unless the author holds it: by standing rights, or, for an assignment
    /// with a mark, by the elevation with that mark. Who gives a role also gives what its holders may ask for, and what
    /// they may approve.
    fn check_growth(&self, broken: &mut Vec<String>) {
        let given = match self.operation {
            Operation::Give { user, role, spot, .. } => self.given(*user, *role, *spot),
            _ => None,
        };
        let counting = given.and_then(|held| held.mark).map_or(Counting::Standing, Counting::With);
        let own = match (self.author, self.operation) {
            (
                Some(author),
                Operation::Make { .. } | Operation::Change { .. } | Operation::Edit { .. } | Operation::Give { .. },
            ) => self.before.rights(author, counting, self.now),
            _ => Vec::new(),
        };
        for user in 0..self.after.is_active.len() {
            let before = self.before.potential(user, self.now);
            let is_new = |right: &Right| !is_covered(right, &before) && !is_covered(right, &own);
            if let Some(right) = self.after.potential(user, self.now).into_iter().find(is_new) {
                broken.push(format!("{user} has, can get or can approve {right:?}, which no user could give"));
            }
        }
        // An eligibility is covered even if no user can ask by it yet.
        if let (Ok(()), Some(author), Operation::Make { role, spot, until, .. }) =
            (self.answer, self.author, self.operation)
        {
            let is_allowed = self.standing(author, "eligibilities:create", *spot);
            if !is_allowed || !self.before.rights_of(*role, *spot, *until).all(|right| is_covered(&right, &own)) {
                broken.push("the author could not offer it".to_owned());
            }
        }
    }

    /// The assignment that an operation made.
    fn given(&self, user: usize, role: usize, spot: Spot) -> Option<&Held> {
        let is_it = |held: &&Held| (held.user, held.role, held.spot) == (user, role, spot) && self.now < held.until;
        self.after.held.iter().find(is_it).filter(|held| !self.before.held.contains(held))
    }

    /// Everything with a mark ends with the request, at the latest.
    fn check_marks(&self, broken: &mut Vec<String>) {
        for held in &self.after.held {
            let Some(mark) = held.mark else { continue };
            let request = &self.after.requests[&mark];
            let is_within = request.ends.is_some_and(|end| held.until <= end);
            if !is_within || (self.now < held.until && request.status != Status::Active) {
                broken.push(format!("{held:?} outlasts {request:?}"));
            }
        }
    }

    fn check_request(&self, number: usize, request: &Request, broken: &mut Vec<String>) {
        let mut require = |holds: bool, what: &str| {
            if !holds {
                broken.push(format!("{number}: {what}: {request:?}"));
            }
        };
        let deciders: BTreeSet<usize> = request.decisions.iter().map(|it| it.user).collect();
        require(deciders.len() == request.decisions.len(), "a user decided twice");
        require(!deciders.contains(&request.user), "its user decided");
        let has_denial = request.decisions.iter().any(|it| !it.approves);
        require(has_denial == (request.status == Status::Denied), "one denial ends it, and nothing else denies it");
        if let Some(end) = request.ends {
            let start = request.starts.unwrap_or(end);
            require(end - start <= Moment::from(request.seconds) * 1_000, "it is longer than was asked for");
        }
        let is_approved = matches!(request.status, Status::Approved | Status::Active | Status::Ended);
        require(!is_approved || request.ends.is_some(), "it has no end");
        if let (Status::Active, Some(until)) = (request.status, request.ends) {
            let Request { user, role, spot, .. } = *request;
            let own = Held { user, role, spot, until, mark: Some(number) };
            require(self.after.held.contains(&own) && self.now < until, "it is ACTIVE without its assignment");
        }
        let before = self.before.requests.get(&number);
        let is_approved_now = request.ends.is_some() && before.is_none_or(|it| it.ends.is_none());
        let begins = request.status == Status::Active && before.is_none_or(|it| it.status != Status::Active);
        if is_approved_now || begins {
            let approvals = self.after.approvers(request).count();
            require(approvals == usize::from(request.approvals), "it has no approvals for the role as it is");
            let decides = |user: usize| self.before.decides(user, request, self.now);
            require(self.after.approvers(request).all(decides), "a user approved it who may not decide any more");
        }
        if let Some(end) = request.ends.filter(|_| is_approved_now || begins) {
            let by = self.before.eligibilities.get(&request.eligibility);
            require(by.is_some_and(|it| end <= it.until), "it outlasts its eligibility");
        }
        let follows = match (before.map(|it| it.status), request.status) {
            (None, status) => status.is_open() && matches!(self.operation, Operation::Ask { .. }),
            (Some(former), status) if former == status => true,
            (Some(Status::Pending), status) => status != Status::Ended,
            (Some(Status::Approved), status) => {
                matches!(status, Status::Active | Status::Cancelled | Status::Lapsed)
            }
            (Some(Status::Active), status) => status == Status::Ended,
            _ => false,
        };
        require(follows, "it had another status");
    }

    /// Only active users have open requests, at most one by an eligibility.
    fn check_open(&self, broken: &mut Vec<String>) {
        for (user, is_active) in self.after.is_active.iter().enumerate() {
            let open: Vec<usize> = self.after.open(user).map(|request| request.eligibility).collect();
            let distinct: BTreeSet<&usize> = open.iter().collect();
            if distinct.len() < open.len() || open.len() > 20 || (!is_active && !open.is_empty()) {
                broken.push(format!("{user} has open requests by {open:?}"));
            }
        }
    }
}
