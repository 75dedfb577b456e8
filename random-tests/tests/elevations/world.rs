//! A world of one tenant on a store.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use chrono::TimeDelta;
use fastrand::Rng;
use iam_core::access::Question;
use iam_core::access_request::{AccessRequestFilter, AccessRequestStatus, NewAccessRequest};
use iam_core::api_key::NewApiKey;
use iam_core::assignment::NewAssignment;
use iam_core::clock::testing::FixedClock;
use iam_core::clock::{Clock as _, Timestamp};
use iam_core::credential::HashingCost;
use iam_core::eligibility::{EligibilityPatch, NewEligibility};
use iam_core::organization::NewOrganization;
use iam_core::role::{NewRole, RolePatch, RoleScope};
use iam_core::session::Login;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::version::Precondition;
use iam_core::{AssignmentId, Caller, Error, Forbidden, Iam, RequestContext, Settings, Store};

use crate::check::Step;
use crate::operation::{ASKED, Chooser, Operation, ROLES};
use crate::read::{Names, position};
use crate::state::{Counting, Held, Moment, NEVER, PARENTS, Request, SPOTS, Spot, Tenant, Who};

const PASSWORD: &str = "Passw0rd!";

/// The number of users, with the administrator.
const USERS: usize = 6;

/// What the users hold at first, apart from the administrator.
const FOUNDING: [(usize, usize, Spot); 5] = [(1, 3, None), (2, 4, None), (3, 5, Some(0)), (4, 6, None), (5, 7, None)];

/// The service on a store, for many worlds in sequence.
pub(crate) struct Installation {
    iam: Iam,
    clock: FixedClock,
}

impl Installation {
    pub(crate) async fn new(store: Arc<dyn Store>) -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        settings.access_token_lifetime = TimeDelta::days(1);
        let iam = Iam::builder(store).clock(clock.clone()).settings(settings).build().await.unwrap();
        Self { iam, clock }
    }

    /// Plays a world. Returns a line about the result of each step.
    pub(crate) async fn play(&self, seed: u64, steps: usize) -> Vec<String> {
        self.clock.advance(TimeDelta::hours(3));
        let mut world = World::new(self, seed).await;
        for step in 0..steps {
            world.step(step).await;
        }
        world.trace
    }
}

struct World<'a> {
    installation: &'a Installation,
    random: Rng,
    now: Moment,
    names: Names,
    emails: Vec<String>,
    /// One API key of each user, which has all that the user has.
    keys: Vec<String>,
    tenant: Tenant,
    assignments: BTreeMap<Held, AssignmentId>,
    trace: Vec<String>,
}

impl World<'_> {
    async fn new(installation: &Installation, seed: u64) -> World<'_> {
        let (iam, began) = (&installation.iam, installation.clock.now());
        let emails: Vec<String> =
            (0..USERS).map(|number| format!("user{number}@acme-{}.example", began.timestamp())).collect();
        let new = |email: &String| NewUser {
            email: email.clone(),
            password: PASSWORD.into(),
            first_name: "Ada".to_owned(),
            last_name: "Lovelace".to_owned(),
        };
        let registration = Registration { user: new(&emails[0]), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let mut names = Names {
            began,
            tenant: registered.tenant.id,
            users: vec![registered.login.user.id],
            roles: Vec::new(),
            organizations: Vec::new(),
            eligibilities: Vec::new(),
            requests: Vec::new(),
        };
        let system = names.system();
        for email in &emails[1..] {
            names.users.push(iam.users().create(&system, new(email)).await.unwrap().id);
        }
        for (number, parent) in PARENTS.into_iter().enumerate() {
            let parent = names.organization(parent);
            let new = NewOrganization { name: format!("Organization {number}"), slug: None, parent };
            names.organizations.push(iam.organizations().create(&system, new).await.unwrap().organization.id);
        }
        let held = iam.assignments().of_user(&system, names.users[0]).await.unwrap();
        names.roles.push(held[0].role.id);
        for (name, permissions) in ROLES {
            let permissions = permissions.iter().map(ToString::to_string).collect();
            let new = NewRole { name: name.to_owned(), description: None, scope: RoleScope::Any, permissions };
            names.roles.push(iam.roles().create(&system, new).await.unwrap().id);
        }
        for (user, role, spot) in FOUNDING {
            let new = NewAssignment {
                user: names.users[user],
                role: names.roles[role],
                organization: names.organization(spot),
                expires_at: None,
            };
            iam.assignments().create(&system, new).await.unwrap();
        }
        let mut keys = Vec::new();
        for user in &names.users {
            let expires_at = Some(began + TimeDelta::days(300));
            let new = NewApiKey { name: "key".to_owned(), permissions: None, organization: None, expires_at };
            let made = iam.api_keys().create(&system, *user, new).await.unwrap();
            keys.push(made.token.expose().to_owned());
        }
        let (tenant, assignments) = names.read(iam).await;
        World {
            installation,
            random: Rng::with_seed(seed),
            now: 0,
            names,
            emails,
            keys,
            tenant,
            assignments,
            trace: Vec::new(),
        }
    }

    fn iam(&self) -> &Iam {
        &self.installation.iam
    }

    fn time(&self, moment: Moment) -> Timestamp {
        self.names.began + TimeDelta::milliseconds(moment)
    }

    fn expiry(&self, until: Moment) -> Option<Timestamp> {
        (until != NEVER).then(|| self.time(until))
    }

    /// The last steps, for failure messages.
    fn story(&self) -> String {
        let from = self.trace.len().saturating_sub(12);
        format!("now {}\n{}\n{:?}", self.now, self.trace[from..].join("\n"), self.tenant)
    }

    async fn authenticated(&self, token: &str) -> Caller {
        self.iam().authenticate(token, RequestContext::default()).await.unwrap()
    }

    /// A user in a new session.
    async fn session(&self, user: usize) -> Caller {
        let login = Login {
            email: self.emails[user].clone(),
            password: PASSWORD.into(),
            tenant: Some(self.names.tenant.to_string()),
        };
        let logged_in = self.iam().sessions().login(&RequestContext::default(), login).await.unwrap();
        self.authenticated(logged_in.tokens.access.expose()).await
    }

    /// Chooses a user who can log in, often the administrator.
    fn active(&mut self) -> usize {
        let active: Vec<usize> = (0..USERS).filter(|user| self.tenant.is_active[*user]).collect();
        if self.random.u8(..6) == 0 { 0 } else { active[self.random.usize(..active.len())] }
    }

    async fn step(&mut self, step: usize) {
        let author = self.active();
        let operation = Chooser { random: &mut self.random, tenant: &self.tenant, now: self.now }.operation(author);
        let by_user = operation.is_by_user().then_some(author);
        let by_key = matches!(operation, Operation::Ask { by_key: true, .. } | Operation::Decide { by_key: true, .. });
        let caller = match by_user {
            Some(user) if by_key => self.authenticated(&self.keys[user]).await,
            Some(user) => self.session(user).await,
            None => self.names.system(),
        };
        let refused = self.execute(&caller, &operation).await.err().map(|error| kind(&error));
        let (after, assignments) = self.names.read(self.iam()).await;
        let mut digest = DefaultHasher::new();
        format!("{after:?}").hash(&mut digest);
        let answer = refused.as_deref().unwrap_or("done");
        self.trace.push(format!("{step}: {by_user:?} {operation:?} -> {answer} {:016x}", digest.finish()));
        let answer = refused.as_deref().map_or(Ok(()), Err);
        let checked =
            Step { before: &self.tenant, after: &after, author: by_user, operation: &operation, answer, now: self.now };
        let broken = checked.broken();
        assert!(broken.is_empty(), "{}\n{}\nafter: {after:?}", broken.join("\n"), self.story());
        (self.tenant, self.assignments) = (after, assignments);
        let asking = self.active();
        self.ask(asking).await;
    }

    async fn execute(&mut self, caller: &Caller, operation: &Operation) -> Result<(), Error> {
        match operation {
            Operation::Make { .. }
            | Operation::Change { .. }
            | Operation::Remove { .. }
            | Operation::Ask { .. }
            | Operation::Decide { .. }
            | Operation::Cancel { .. }
            | Operation::End { .. } => self.execute_request(caller, operation).await,
            Operation::Give { user, role, spot, until } => {
                let new = NewAssignment {
                    user: self.names.users[*user],
                    role: self.names.roles[*role],
                    organization: self.names.organization(*spot),
                    expires_at: self.expiry(*until),
                };
                self.iam().assignments().create(caller, new).await.map(drop)
            }
            Operation::Edit { role, permissions } => {
                let permissions = permissions.iter().map(ToString::to_string).collect();
                let patch = RolePatch { permissions: Some(permissions), ..RolePatch::default() };
                self.iam().roles().update(caller, self.names.roles[*role], patch).await.map(drop)
            }
            Operation::Revoke { held } => self.iam().assignments().delete(caller, self.assignments[held]).await,
            Operation::Suspend { user } => self.iam().users().suspend(caller, self.names.users[*user]).await.map(drop),
            Operation::Reactivate { user } => {
                self.iam().users().reactivate(caller, self.names.users[*user]).await.map(drop)
            }
            Operation::Sweep => {
                self.iam().advance_access_requests().await?;
                self.iam().remove_expired_assignments().await.map(drop)
            }
            Operation::Wait { by } => {
                self.installation.clock.advance(TimeDelta::milliseconds(*by));
                self.now += by;
                Ok(())
            }
        }
    }

    async fn execute_request(&mut self, caller: &Caller, operation: &Operation) -> Result<(), Error> {
        let iam = &self.installation.iam;
        match operation {
            Operation::Make { role, spot, who, max_seconds, approvals, approver, until } => {
                let new = NewEligibility {
                    role: self.names.roles[*role],
                    organization: self.names.organization(*spot),
                    user: if let Who::User(user) = who { Some(self.names.users[*user]) } else { None },
                    held_role: if let Who::HoldersOf(role) = who { Some(self.names.roles[*role]) } else { None },
                    max_seconds: Some(*max_seconds),
                    approvals: Some(*approvals),
                    approver_role: approver.map(|role| self.names.roles[role]),
                    expires_at: self.expiry(*until),
                };
                let made = iam.eligibilities().create(caller, new).await?;
                self.names.eligibilities.push(made.id);
            }
            Operation::Change { eligibility, change } => {
                let patch = EligibilityPatch {
                    max_seconds: change.max_seconds,
                    approvals: change.approvals,
                    approver_role: change.approver.map(|role| role.map(|role| self.names.roles[role])),
                    expires_at: change.until.map(|until| self.expiry(until)),
                };
                iam.eligibilities().update(caller, self.names.eligibilities[*eligibility], patch).await?;
            }
            Operation::Remove { eligibility } => {
                iam.eligibilities().delete(caller, self.names.eligibilities[*eligibility]).await?;
            }
            Operation::Ask { eligibility, seconds, start, .. } => {
                let new = NewAccessRequest {
                    eligibility: self.names.eligibilities[*eligibility],
                    seconds: *seconds,
                    reason: "The disk is full.".to_owned(),
                    ticket: None,
                    starts_at: start.map(|start| self.time(start)),
                };
                let made = iam.access_requests().create(caller, new).await?;
                self.names.requests.push(made.id);
            }
            Operation::Decide { request, approves, .. } => {
                let (requests, id) = (iam.access_requests(), self.names.requests[*request]);
                if *approves {
                    requests.approve(caller, id, None, &Precondition::Exists).await?;
                } else {
                    requests.deny(caller, id, None, &Precondition::Exists).await?;
                }
            }
            Operation::Cancel { request } => {
                iam.access_requests().cancel(caller, self.names.requests[*request], None).await?;
            }
            Operation::End { request } => {
                iam.access_requests().end(caller, self.names.requests[*request], None).await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Asks as a user, in a session and by its API key, and compares the answers with those of the evaluator.
    async fn ask(&mut self, user: usize) {
        let (session, key) = (self.session(user).await, self.authenticated(&self.keys[user]).await);
        for _ in 0..4 {
            let permission = ASKED[self.random.usize(..ASKED.len())];
            let spot = SPOTS[self.random.usize(..SPOTS.len())];
            for (caller, counting) in [(&session, Counting::All), (&key, Counting::Standing)] {
                let found = self.is_allowed(caller, permission, spot).await;
                let expected = self.tenant.may(user, permission, spot, counting, self.now);
                assert_eq!(found, expected, "{user} {permission} {spot:?} {counting:?}\n{}", self.story());
            }
        }
        let now = self.time(self.now);
        let elevations = session.authority().elevations(now);
        let elevations: BTreeSet<usize> = elevations.keys().map(|id| position(&self.names.requests, id)).collect();
        let is_live = |held: &&Held| held.user == user && self.now < held.until;
        let marks: BTreeSet<usize> = self.tenant.held.iter().filter(is_live).filter_map(|held| held.mark).collect();
        assert_eq!(elevations, marks, "{user}\n{}", self.story());
        assert!(key.authority().elevations(now).is_empty(), "{user}\n{}", self.story());
        self.compare_lists(user, &session, &key).await;
    }

    async fn is_allowed(&self, caller: &Caller, permission: &str, spot: Spot) -> bool {
        let permission = permission.parse().unwrap();
        let organization = self.names.organization(spot);
        let question = Question { permission, organization, user: None, at: None };
        match self.iam().access().check(caller, question).await {
            Ok(decision) => decision.is_allowed(),
            // The caller holds nothing there.
            Err(Error::About { error, .. }) if matches!(*error, Error::NotFound(_)) => false,
            Err(Error::NotFound(_)) => false,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Compares which requests a user is shown, and which ones to decide.
    async fn compare_lists(&self, user: usize, session: &Caller, key: &Caller) {
        let (tenant, now) = (&self.tenant, self.now);
        let (all, to_decide) =
            (AccessRequestFilter::default(), AccessRequestFilter { to_decide: true, ..Default::default() });
        let sees = |request: &Request| tenant.sees(user, request, now);
        let reads = |request: &Request| tenant.may(user, "access-requests:read", request.spot, Counting::Standing, now);
        let can_decide = |request: &Request| {
            request.user != user
                && request.status == AccessRequestStatus::Pending
                && !tenant.has_decided(user, request)
                && tenant.decides(user, request, now)
        };
        self.compare_list(session, &all, sees).await;
        self.compare_list(session, &to_decide, can_decide).await;
        self.compare_list(key, &all, reads).await;
        self.compare_list(key, &to_decide, |_| false).await;
    }

    async fn compare_list(&self, caller: &Caller, filter: &AccessRequestFilter, shows: impl Fn(&Request) -> bool) {
        let shown = self.names.requests(self.iam(), caller, filter).await;
        let expected: BTreeMap<usize, Request> = self
            .tenant
            .requests
            .iter()
            .filter(|(_, request)| shows(request))
            .map(|(number, request)| (*number, request.clone()))
            .collect();
        assert_eq!(shown, expected, "{:?} {filter:?}\n{}", caller.actor(), self.story());
    }
}

/// The kind of a refusal: the name of its variant.
fn kind(error: &Error) -> String {
    match error {
        Error::About { error, .. } => kind(error),
        Error::Validation(_) => "Validation".to_owned(),
        Error::NotFound(_) => "NotFound".to_owned(),
        Error::Forbidden(Forbidden::Permission(_)) => "Permission".to_owned(),
        Error::Forbidden(inner) => variant(inner),
        Error::Rule(inner) => variant(inner),
        Error::Conflict(inner) => variant(inner),
        other => panic!("{other:?}"),
    }
}

/// The name of an enum's variant.
fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
}
