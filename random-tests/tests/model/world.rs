//! A world of two tenants on a store, and its expected state.

#![cfg(test)]

mod ask;
mod caller;
mod compare;
mod directory;
mod entries;
mod execute;
mod foresight;
mod group;
mod kept;
mod provider;
mod read;
mod refused;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use chrono::TimeDelta;
use fastrand::Rng;
use iam_core::clock::testing::FixedClock;
use iam_core::clock::{Clock as _, Timestamp};
use iam_core::credential::HashingCost;
use iam_core::organization::OrganizationStatus;
use iam_core::page::PageRequest;
use iam_core::role::RoleScope;
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserStatus};
use iam_core::{
    AssignmentId, Caller, Conflict, DirectoryGroupId, DirectoryId, Error, Iam, IdentityId, IdentityProviderId,
    LegalHoldId, OrganizationId, PermissionId, RequestContext, RoleId, Settings, Store, TenantId, UserId,
};
use test_support::identity_provider::Providers;

use crate::contract::{Actor, Expectation, OperationContext};
use crate::operation::{Chooser, FOUNDING, Operation, Ref};
use crate::state::{Assignment, Key, Moment, NEVER, Registered, Role, Scope, Status, Tenant, User, uncovered_growth};
use provider::{CALLBACKS, REDIRECT};
use refused::{Refused, kind};

const PASSWORD: &str = "Passw0rd!";

/// The number of steps after which all data in the store is compared with the expected state.
const COMPARISON_INTERVAL: usize = 110;

/// The service on a store, for many worlds in sequence.
pub(crate) struct Installation {
    store: Arc<dyn Store>,
    iam: Iam,
    clock: FixedClock,
    providers: Providers,
}

impl Installation {
    pub(crate) async fn new(store: Arc<dyn Store>) -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        settings.access_token_lifetime = TimeDelta::days(1);
        settings.federation_redirects = vec![REDIRECT.to_owned()];
        // A step-up by a password that the user does not have is a failure, too.
        settings.lockout.failures = 1_000;
        let providers = Providers::default();
        let builder = Iam::builder(Arc::clone(&store)).clock(clock.clone()).settings(settings);
        let builder = builder.federation(Arc::new(providers.clone()), CALLBACKS.parse().unwrap());
        Self { store, iam: builder.build().await.unwrap(), clock, providers }
    }

    /// Plays a world. Returns a line about the result of each step.
    pub(crate) async fn play(&self, seed: u64, steps: usize) -> Vec<String> {
        // Removes all assignments of the previous world that have an end.
        self.clock.advance(TimeDelta::hours(3));
        self.iam.remove_expired_assignments().await.unwrap();
        let mut world = World::new(self, seed).await;
        for step in 0..steps {
            world.step(step).await;
            if step % COMPARISON_INTERVAL == COMPARISON_INTERVAL - 1 || step + 1 == steps {
                world.compare_all().await;
            }
        }
        world.outlast_retention().await;
        world.trace
    }
}

/// The ids in the service of the items that the test identifies by their index.
#[derive(Default)]
struct Names {
    users: Vec<UserId>,
    roles: Vec<RoleId>,
    permissions: Vec<PermissionId>,
    organizations: Vec<OrganizationId>,
    assignments: Vec<AssignmentId>,
    providers: Vec<IdentityProviderId>,
    identities: Vec<IdentityId>,
    directories: Vec<DirectoryId>,
    groups: Vec<DirectoryGroupId>,
    holds: Vec<LegalHoldId>,
    tokens: BTreeMap<usize, String>,
    /// The API keys, with their text.
    keys: Vec<(Key, String)>,
}

struct World<'a> {
    installation: &'a Installation,
    random: Rng,
    began: Timestamp,
    now: Moment,
    ids: [TenantId; 2],
    states: [Tenant; 2],
    names: [Names; 2],
    /// Callers from some steps ago. Their rights may have changed since then.
    stale: VecDeque<(usize, usize, Caller)>,
    /// The states after each step, with the moment.
    past: Vec<(Moment, [Tenant; 2])>,
    trace: Vec<String>,
}

impl World<'_> {
    async fn new(installation: &Installation, seed: u64) -> World<'_> {
        let mut tenants = Vec::new();
        let domain = |number: usize| format!("acme{number}-{}.example", installation.clock.now().timestamp());
        for number in 0..2 {
            let user = NewUser { email: format!("admin@{}", domain(number)), ..template_user() };
            let registration = Registration { user, tenant_name: None };
            tenants.push(installation.iam.tenants().register(&RequestContext::default(), registration).await.unwrap());
        }
        let ids = [tenants[0].tenant.id, tenants[1].tenant.id];
        let mut states = [Tenant::default(), Tenant::default()];
        let mut names = [Names::default(), Names::default()];
        for number in 0..2 {
            let (state, names, user) = (&mut states[number], &mut names[number], &tenants[number].login.user);
            let system = Caller::system(ids[number], "test");
            state.domain = domain(number);
            state.users.push(User {
                email: user.email.to_string(),
                is_verified: user.email_verified_at.is_some(),
                has_password: true,
                first_name: user.first_name.to_string(),
                ..User::default()
            });
            names.users.push(user.id);
            let mut roles = installation.iam.roles().list(&system, all()).await.unwrap().items;
            roles.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
            for role in &roles {
                names.roles.push(role.id);
                state.roles.push(built_in(role.name.as_str()));
            }
            let mut permissions = installation.iam.permissions().list(&system, all()).await.unwrap().items;
            permissions.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
            for permission in permissions {
                names.permissions.push(permission.id);
                let name = permission.name.as_str().to_owned().leak();
                state.permissions.push(Registered { name, system: true, gone: false });
            }
            let grants = installation.store.grants_of(ids[number], &[user.id]).await.unwrap();
            assert_eq!(grants.len(), 1);
            names.assignments.push(grants[0].assignment.id);
            let role = names.roles.iter().position(|role| *role == grants[0].role.id).unwrap();
            state.assignments.push(Assignment { user: 0, role, spot: None, until: NEVER, group: None, gone: false });
        }
        World {
            installation,
            random: Rng::with_seed(seed),
            began: installation.clock.now(),
            now: 0,
            ids,
            states,
            names,
            stale: VecDeque::new(),
            past: Vec::new(),
            trace: Vec::new(),
        }
    }

    fn iam(&self) -> &Iam {
        &self.installation.iam
    }

    fn time(&self, moment: Moment) -> Timestamp {
        self.began + TimeDelta::milliseconds(moment)
    }

    fn expiry(&self, until: Moment) -> Option<Timestamp> {
        (until != NEVER).then(|| self.time(until))
    }

    fn moment(&self, expiry: Option<Timestamp>) -> Moment {
        expiry.map_or(NEVER, |expiry| (expiry - self.began).num_milliseconds())
    }

    async fn step(&mut self, step: usize) {
        let founding = step < FOUNDING;
        if step == FOUNDING {
            self.make_providers().await;
            self.make_directories().await;
            self.remember();
        }
        let mut tenant = if founding { step % 2 } else { self.random.usize(..2) };
        let is_stale = !founding && self.random.u8(..20) == 0 && !self.stale.is_empty();
        let chance = if founding || is_stale { u8::MAX } else { self.random.u8(..25) };
        let (provisions, maps, keeps) = (chance < 6, (6..8).contains(&chance), chance == 8);
        let directory = if provisions { self.directory_caller(tenant).await } else { None };
        let (actor, caller, state) = if let Some(found) = directory {
            found
        } else if maps || keeps {
            self.mapping_caller(tenant).await
        } else if founding {
            (Actor::System, self.system(tenant), self.states[tenant].clone())
        } else if is_stale {
            let (of, user, caller) = self.stale[self.random.usize(..self.stale.len())].clone();
            tenant = of;
            (Actor::User(user), caller, self.states[tenant].clone())
        } else {
            self.actor_with_caller(tenant).await
        };
        if let Actor::User(user) = actor {
            self.stale.push_back((tenant, user, caller.clone()));
            if self.stale.len() > 12 {
                self.stale.pop_front();
            }
        }
        let directory = state.owner_of_key.and_then(|account| state.directory_of(account));
        let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
        let operation = if founding {
            chooser.founding(step)
        } else if provisions {
            chooser.provision(directory)
        } else if maps {
            chooser.set_grants()
        } else if keeps {
            chooser.keep()
        } else {
            chooser.operation()
        };
        let line = format!("{step}: {tenant} {actor:?}{} {operation:?}", if is_stale { " (stale)" } else { "" });
        self.trace.push(line);
        let mut has_changed = false;
        match &operation {
            Operation::Sweep => has_changed = self.sweep().await,
            Operation::Wait { by } => {
                self.installation.clock.advance(TimeDelta::milliseconds(*by));
                self.now += by;
            }
            Operation::Read(read) => {
                let shown = self.read(tenant, &caller, *read).await;
                self.note(&shown);
                if !is_stale {
                    self.check_read(tenant, actor, &state, *read, shown);
                }
            }
            _ => has_changed = self.change(tenant, actor, &state, &caller, is_stale, &operation).await,
        }
        // The rights of the caller may have changed, so the question gets a new one.
        let (actor, caller, state) =
            if is_stale || has_changed { self.actor_with_caller(tenant).await } else { (actor, caller, state) };
        self.ask(tenant, actor, &state, &caller).await;
        if step.is_multiple_of(3) {
            self.check_random_snapshot(tenant).await;
        }
        self.check_ended_session(tenant).await;
        self.ask_about_another_moment(tenant).await;
        self.remember();
    }

    fn remember(&mut self) {
        // At one moment, only the last state was ever visible.
        self.past.pop_if(|(moment, _)| *moment == self.now);
        self.past.push((self.now, self.states.clone()));
    }

    fn note(&mut self, what: &impl std::fmt::Debug) {
        if let Some(last) = self.trace.last_mut() {
            *last = format!("{last} -> {what:?}");
        }
    }

    /// The last steps, for failure messages.
    fn story(&self) -> String {
        let from = self.trace.len().saturating_sub(12);
        format!("now {}\n{}\n", self.now, self.trace[from..].join("\n"))
    }

    /// Removes expired assignments. Groups give again what their accounts still cover. Returns whether there were any.
    async fn sweep(&mut self) -> bool {
        let former = self.states.clone();
        let last = [self.last_entry(0).await, self.last_entry(1).await];
        let count = self.iam().remove_expired_assignments().await.unwrap();
        let mut expected = 0;
        for state in &mut self.states {
            for assignment in state.expired(self.now) {
                state.hand_over(assignment, self.now);
                expected += 1;
            }
        }
        assert_eq!(count, expected, "{}", self.story());
        for tenant in 0..2 {
            self.learn_given(tenant).await;
            self.check_given(tenant, &former[tenant]);
            self.check_entries(tenant, &former[tenant], last[tenant], &Operation::Sweep).await;
            self.compare_assignments(tenant).await;
        }
        count > 0
    }

    /// Executes an operation and checks its result. Returns whether the operation succeeded.
    async fn change(
        &mut self,
        tenant: usize,
        actor: Actor,
        before: &Tenant,
        caller: &Caller,
        is_stale: bool,
        operation: &Operation,
    ) -> bool {
        let context = OperationContext { tenant, state: before, actor, now: self.now };
        // A login has no caller.
        let is_login = matches!(operation, Operation::LogIn { .. });
        let is_stale = is_stale && !is_login;
        let expectation = context.evaluate(operation);
        let former = self.states[tenant].clone();
        let preview = match operation.has_preview() {
            true => Some(self.preview(tenant, caller, operation).await),
            false => None,
        };
        let last_entry = self.last_entry(tenant).await;
        let answer = self.execute(tenant, caller, operation).await;
        if let Some((Err(expected), Err(found))) = preview.as_ref().map(|preview| (preview, &answer)) {
            assert_eq!(*expected, found.kind(), "{}", self.story());
        }
        self.note(&answer.as_ref().map(|_| ()).map_err(Refused::full_text));
        let kind = answer.as_ref().map_err(Refused::kind);
        let right = match &kind {
            Ok(_) => expectation.allows(Ok(())),
            Err(kind) => expectation.allows(Err(kind)),
        };
        let Expectation { gate, refusals, tolerated, .. } = &expectation;
        assert!(
            right || is_stale,
            "{}gate {gate:?}, refusals {refusals:?}, tolerated {tolerated:?}\n{before}",
            self.story()
        );
        if let Err(Refused::Service(Error::Conflict(Conflict::LegalHold(hold)))) = &answer
            && !is_stale
        {
            let named = position(&self.names[tenant].holds, hold);
            assert_eq!(Some(named), expectation.held_by, "{}{before}", self.story());
        }
        let Ok(new) = answer else {
            assert!(!matches!(preview, Some(Ok(_))), "{}the preview allowed it", self.story());
            return false;
        };
        // Trusted code passes every permission check, so its expectation contains the state after the operation. But it
        // links no user to itself, and has no attributes.
        let trusted = match operation {
            Operation::Link { .. } | Operation::ChangeOwn { .. } => context,
            _ => OperationContext { actor: Actor::System, ..context },
        };
        if !is_login && let Actor::User(author) | Actor::Key(author) = actor {
            // What groups give is checked below. Only who maps a group gives it, too.
            let after = match (trusted.evaluate(operation).after, operation) {
                (after, Operation::SetGrants { .. }) => after,
                (after, _) => after.without_gifts(before),
            };
            let growth = uncovered_growth(before, &after, Some(author), self.now, false);
            assert!(growth.is_empty(), "{}the author could not grant {growth:?}\n{before}", self.story());
        }
        let entered = if let New::Login { user, .. } = &new { Some(*user) } else { None };
        self.learn(tenant, new);
        self.states[tenant] = OperationContext { state: &self.states[tenant], ..trusted }.evaluate(operation).after;
        self.learn_given(tenant).await;
        let (users, expected) = (self.names[tenant].users.len(), self.states[tenant].users.len());
        assert_eq!(users, expected, "{}{before}", self.story());
        self.check_given(tenant, &former);
        self.check_entries(tenant, &former, last_entry, operation).await;
        self.compare_assignments(tenant).await;
        self.compare_directories_if_changed(tenant, &former).await;
        self.forget_keys(tenant);
        if let (Operation::StepUp, Actor::User(user)) = (operation, actor) {
            self.states[tenant].authenticated.insert(user, self.now);
        }
        if let (Operation::LogIn { person }, Some(user)) = (operation, entered) {
            self.check_login(tenant, person, user).await;
        }
        if let Some(preview) = preview {
            let preview = preview.unwrap_or_else(|refusal| panic!("{}the preview said {refusal}", self.story()));
            // The rows are for callers that may read all assignments.
            let sees_all = actor == Actor::System || context.may("role-assignments:read", None) && !is_stale;
            self.check_preview(tenant, &former, preview, sees_all);
        }
        let state = &self.states[tenant];
        assert!(!state.is_cyclic(), "{}", self.story());
        let depths = (0..state.organizations.len()).filter(|number| !state.is_inactive(*number));
        assert!(depths.map(|number| state.depth(number)).all(|depth| depth <= 5), "{}", self.story());
        assert!(state.administrators() > 0, "{}", self.story());
        true
    }

    fn learn(&mut self, tenant: usize, new: New) {
        let names = &mut self.names[tenant];
        match new {
            New::Nothing => {}
            New::User(id) => names.users.push(id),
            New::Role(id) => names.roles.push(id),
            New::Permission(id) => names.permissions.push(id),
            New::Organization(id) => names.organizations.push(id),
            New::Assignments(ids) => names.assignments.extend(ids),
            New::Identity(id) => names.identities.push(id),
            New::Directory(id) => names.directories.push(id),
            New::Group(id) => names.groups.push(id),
            New::Hold(id) => names.holds.push(id),
            // The user may have come back, or have been adopted.
            New::Provisioned(id) if names.users.contains(&id) => {}
            New::Provisioned(id) => names.users.push(id),
            New::Login { user, assignments, identity, token } => {
                // The user and the identity may be new.
                if !names.users.contains(&user) {
                    names.users.push(user);
                    names.assignments.extend(assignments);
                }
                if !names.identities.contains(&identity) {
                    names.identities.push(identity);
                }
                names.tokens.insert(position(&names.users, &user), token);
            }
        }
    }

    fn user(&self, user: Ref) -> UserId {
        self.names[user.tenant].users[user.index]
    }

    fn role(&self, role: Ref) -> RoleId {
        self.names[role.tenant].roles[role.index]
    }

    fn organization(&self, organization: Ref) -> OrganizationId {
        self.names[organization.tenant].organizations[organization.index]
    }

    fn assignment(&self, assignment: Ref) -> AssignmentId {
        self.names[assignment.tenant].assignments[assignment.index]
    }

    /// Checks that a user who is not ACTIVE has no session.
    async fn check_ended_session(&mut self, tenant: usize) {
        let is_out = |user: &&usize| self.states[tenant].users[**user].status != Status::Active;
        let out = self.names[tenant].tokens.keys().find(is_out).copied();
        if let Some(token) = out.and_then(|user| self.names[tenant].tokens.remove(&user)) {
            let refused = self.iam().authenticate(&token, RequestContext::default()).await;
            assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{}", self.story());
        }
    }
}

/// The items that an operation created.
#[derive(Debug)]
enum New {
    Nothing,
    User(UserId),
    Role(RoleId),
    Permission(PermissionId),
    Organization(OrganizationId),
    Assignments(Vec<AssignmentId>),
    Identity(IdentityId),
    Directory(DirectoryId),
    Group(DirectoryGroupId),
    Hold(LegalHoldId),
    Provisioned(UserId),
    Login { user: UserId, assignments: Vec<AssignmentId>, identity: IdentityId, token: String },
}

fn all() -> PageRequest {
    PageRequest::new(1, 100).unwrap()
}

fn template_user() -> NewUser {
    NewUser {
        email: String::new(),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

#[track_caller]
fn position<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).expect("it belongs to this tenant")
}

/// A built-in role as the contract defines it.
fn built_in(name: &str) -> Role {
    let (scope, permissions): (_, &[&'static str]) = match name {
        "TENANT_ADMIN" => (Scope::Tenant, &["*"]),
        "ORGANIZATION_ADMIN" => (
            Scope::Organization,
            &["organizations:*", "users:read", "role-assignments:*", "roles:read", "permissions:read"],
        ),
        "MEMBER" => (Scope::Any, &["users:read", "organizations:read"]),
        "AUDITOR" => (
            Scope::Tenant,
            &[
                "audit-logs:read",
                "users:read",
                "roles:read",
                "permissions:read",
                "role-assignments:read",
                "organizations:read",
            ],
        ),
        _ => panic!("{name} is no built-in role"),
    };
    Role { name: name.to_owned(), scope, permissions: permissions.iter().copied().collect(), system: true, gone: false }
}

fn role_scope(scope: Scope) -> RoleScope {
    match scope {
        Scope::Tenant => RoleScope::Tenant,
        Scope::Organization => RoleScope::Organization,
        Scope::Any => RoleScope::Any,
    }
}

pub(crate) fn user_status(status: Status) -> UserStatus {
    match status {
        Status::Active => UserStatus::Active,
        Status::Suspended => UserStatus::Suspended,
        Status::Inactive => UserStatus::Inactive,
    }
}

pub(crate) fn organization_status(status: Status) -> OrganizationStatus {
    match status {
        Status::Active => OrganizationStatus::Active,
        Status::Suspended => OrganizationStatus::Suspended,
        Status::Inactive => OrganizationStatus::Inactive,
    }
}

/// The name of an enum's variant.
pub(crate) fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned()
}
