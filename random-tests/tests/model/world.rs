//! A world of two tenants on a store, and its expected state.

#![cfg(test)]

mod caller;
mod foresight;
mod provider;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chrono::TimeDelta;
use fastrand::Rng;
use iam_core::access::{Authority, Decision, Question, Snapshot};
use iam_core::assignment::{AssignmentFilter, AssignmentPatch, NewAssignment};
use iam_core::clock::testing::FixedClock;
use iam_core::clock::{Clock as _, Timestamp};
use iam_core::credential::HashingCost;
use iam_core::federation::Finished;
use iam_core::organization::{
    NewOrganization, OrganizationFilter, OrganizationPatch, OrganizationSort, OrganizationStatus, OrganizationTree,
};
use iam_core::page::PageRequest;
use iam_core::permission::NewPermission;
use iam_core::role::{NewRole, RolePatch, RoleScope};
use iam_core::session::StepUp;
use iam_core::tenant::Registration;
use iam_core::user::{NewUser, UserFilter, UserPatch, UserSort, UserStatus};
use iam_core::{
    AssignmentId, Caller, Error, Forbidden, Iam, IdentityId, IdentityProviderId, OrganizationId, PermissionId,
    RequestContext, RoleId, Settings, Store, TenantId, UserId,
};
use test_support::identity_provider::Providers;

use crate::contract::{Actor, Expectation, OperationContext};
use crate::foresight::Services;
use crate::operation::{ASKED, Chooser, FOUNDING, Item, Operation, Read, Ref};
use crate::state::{
    Assignment, Key, Moment, NEVER, Organization, Registered, Role, Scope, Spot, Status, Tenant, User, uncovered_growth,
};
use provider::{CALLBACKS, REDIRECT};

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
                status: Status::Active,
                home: None,
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
            state.assignments.push(Assignment { user: 0, role, spot: None, until: NEVER, gone: false });
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
        }
        let mut tenant = if founding { step % 2 } else { self.random.usize(..2) };
        let is_stale = !founding && self.random.u8(..20) == 0 && !self.stale.is_empty();
        let (actor, caller, state) = if founding {
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
        let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
        let operation = if founding { chooser.founding(step) } else { chooser.operation() };
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

    /// Removes expired assignments. Returns whether there were any.
    async fn sweep(&mut self) -> bool {
        let count = self.iam().remove_expired_assignments().await.unwrap();
        let mut expected = 0;
        for state in &mut self.states {
            for assignment in state.expired(self.now) {
                state.assignments[assignment].gone = true;
                expected += 1;
            }
        }
        assert_eq!(count, expected, "{}", self.story());
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
        let answer = self.execute(tenant, caller, operation).await;
        if let Some((Err(expected), Err(found))) = preview.as_ref().map(|preview| (preview, &answer)) {
            assert_eq!(*expected, kind(found), "{}", self.story());
        }
        self.note(&answer.as_ref().map(|_| ()).map_err(full_text));
        let kind = answer.as_ref().map_err(kind);
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
        let Ok(new) = answer else {
            assert!(!matches!(preview, Some(Ok(_))), "{}the preview allowed it", self.story());
            return false;
        };
        // Trusted code passes every permission check, so its expectation contains the state after the operation. But it
        // links nobody to itself.
        let trusted = match operation {
            Operation::Link { .. } => context,
            _ => OperationContext { actor: Actor::System, ..context },
        };
        if !is_login && let Actor::User(author) | Actor::Key(author) = actor {
            let growth = uncovered_growth(before, &trusted.evaluate(operation).after, Some(author), self.now, false);
            assert!(growth.is_empty(), "{}the author could not grant {growth:?}\n{before}", self.story());
        }
        let entered = if let New::Login { user, .. } = &new { Some(*user) } else { None };
        self.learn(tenant, new);
        self.states[tenant] = OperationContext { state: &self.states[tenant], ..trusted }.evaluate(operation).after;
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

    fn new_assignment(&self, item: &Item) -> NewAssignment {
        NewAssignment {
            user: self.user(item.user),
            role: self.role(item.role),
            organization: item.organization.map(|organization| self.organization(organization)),
            expires_at: self.expiry(item.until),
        }
    }

    async fn execute(&mut self, tenant: usize, caller: &Caller, operation: &Operation) -> Result<New, Error> {
        let iam = self.iam();
        Ok(match operation {
            operation if operation.has_preview() => self.attempt(iam, tenant, caller, operation).await?,
            Operation::Register { name } => {
                let new = NewPermission { name: (*name).to_owned(), description: None };
                New::Permission(iam.permissions().create(caller, new).await?.id)
            }
            Operation::Unregister { permission } => {
                let id = self.names[permission.tenant].permissions[permission.index];
                iam.permissions().delete(caller, id).await?;
                New::Nothing
            }
            Operation::CreateUser { email, home } => {
                let new = NewUser { email: email.clone(), ..template_user() };
                let home = home.map(|home| self.organization(home));
                New::User(iam.users().create_once(caller, new, home, None, None).await?.id)
            }
            Operation::VerifyEmail { user } => {
                // For trusted code only, whatever the rights of the caller are.
                let email = &self.states[tenant].users[*user].email;
                iam.users().verify_email(&self.system(tenant), email).await?;
                New::Nothing
            }
            Operation::LogIn { person } => self.log_in(tenant, person).await?,
            Operation::Link { person } => match self.come_back(tenant, Some(caller), person).await? {
                Finished::Linked(identity) => New::Identity(identity.id),
                other => panic!("{other:?}"),
            },
            Operation::Unlink { identity } => {
                let id = self.names[identity.tenant].identities[identity.index];
                iam.federation().unlink(caller, id).await?;
                New::Nothing
            }
            Operation::StepUp => {
                iam.sessions().step_up(caller, StepUp::Password(PASSWORD.into())).await?;
                New::Nothing
            }
            _ => New::Nothing,
        })
    }

    /// Makes a change that has a preview, or tries it out.
    async fn attempt(
        &self,
        services: &impl Services,
        tenant: usize,
        caller: &Caller,
        operation: &Operation,
    ) -> Result<New, Error> {
        Ok(match operation {
            Operation::CreateRole { name, scope, permissions } => {
                let permissions = permissions.iter().map(ToString::to_string).collect();
                let new = NewRole { name: name.clone(), description: None, scope: role_scope(*scope), permissions };
                New::Role(services.roles().create(caller, new).await?.id)
            }
            Operation::PatchRole { role, name, scope, permissions } => {
                let patch = RolePatch {
                    name: name.clone(),
                    scope: scope.map(role_scope),
                    permissions: permissions.as_ref().map(|all| all.iter().map(ToString::to_string).collect()),
                    ..RolePatch::default()
                };
                services.roles().update(caller, self.role(*role), patch).await?;
                New::Nothing
            }
            Operation::DeleteRole { role } => {
                services.roles().delete(caller, self.role(*role)).await?;
                New::Nothing
            }
            Operation::Assign { item } => {
                let made = services.assignments().create(caller, self.new_assignment(item)).await?;
                assert_eq!(made.tenant_id, self.ids[tenant]);
                New::Assignments(vec![made.id])
            }
            Operation::AssignAll { items } => {
                let new: Vec<_> = items.iter().map(|item| self.new_assignment(item)).collect();
                let made = services.assignments().create_all(caller, &new).await?;
                New::Assignments(made.into_iter().map(|made| made.id).collect())
            }
            Operation::Revoke { assignment } => {
                services.assignments().delete(caller, self.assignment(*assignment)).await?;
                New::Nothing
            }
            Operation::Expire { assignment, until } => {
                let patch = AssignmentPatch { expires_at: Some(self.expiry(*until)) };
                services.assignments().update(caller, self.assignment(*assignment), patch).await?;
                New::Nothing
            }
            Operation::CreateOrganization { name, slug, parent } => {
                let parent = parent.map(|parent| self.organization(parent));
                let new = NewOrganization { name: name.clone(), slug: slug.clone(), parent };
                New::Organization(services.organizations().create(caller, new).await?.organization.id)
            }
            Operation::PatchOrganization { organization, patch } => {
                let patch = OrganizationPatch {
                    name: patch.name.clone(),
                    slug: patch.slug.clone(),
                    status: patch.status.map(organization_status),
                    parent: patch.parent.map(|parent| parent.map(|parent| self.organization(parent))),
                };
                services.organizations().update(caller, self.organization(*organization), patch).await?;
                New::Nothing
            }
            Operation::DeleteOrganization { organization } => {
                services.organizations().delete(caller, self.organization(*organization)).await?;
                New::Nothing
            }
            Operation::PatchUser { user, patch } => {
                let patch = UserPatch {
                    email: patch.email.clone(),
                    first_name: patch.first_name.clone(),
                    status: patch.status.map(user_status),
                    home: patch.home.map(|home| home.map(|home| self.organization(home))),
                    ..UserPatch::default()
                };
                services.users().update(caller, self.user(*user), patch).await?;
                New::Nothing
            }
            Operation::Suspend { user } => {
                services.users().suspend(caller, self.user(*user)).await?;
                New::Nothing
            }
            Operation::Reactivate { user } => {
                services.users().reactivate(caller, self.user(*user)).await?;
                New::Nothing
            }
            Operation::DeleteUser { user } => {
                services.users().delete(caller, self.user(*user)).await?;
                New::Nothing
            }
            _ => New::Nothing,
        })
    }

    /// The items that a reader is shown, by their index in the tenant's state, in the order of the answer.
    async fn read(&self, tenant: usize, caller: &Caller, read: Read) -> Result<Vec<usize>, String> {
        let (iam, names) = (self.iam(), &self.names[tenant]);
        // Each lookup panics on an id of the other tenant: the answer must not contain one.
        let users = |id: UserId| position(&names.users, &id);
        let roles = |id: RoleId| position(&names.roles, &id);
        let organizations = |id: OrganizationId| position(&names.organizations, &id);
        let assignments = |id: AssignmentId| position(&names.assignments, &id);
        let shown = match read {
            Read::Users => iam
                .users()
                .list(caller, &UserFilter::default(), UserSort::default(), all())
                .await
                .map(|page| page.items.iter().map(|user| users(user.id)).collect()),
            Read::Members(organization) => {
                let filter =
                    UserFilter { organization: Some(self.organization(organization)), ..UserFilter::default() };
                let page = iam.users().list(caller, &filter, UserSort::default(), all()).await;
                page.map(|page| page.items.iter().map(|user| users(user.id)).collect())
            }
            Read::Roles => {
                iam.roles().list(caller, all()).await.map(|page| page.items.iter().map(|role| roles(role.id)).collect())
            }
            Read::Permissions => iam
                .permissions()
                .list(caller, all())
                .await
                .map(|page| page.items.iter().map(|it| position(&names.permissions, &it.id)).collect()),
            Read::Organizations => iam
                .organizations()
                .list(caller, &OrganizationFilter::default(), OrganizationSort::default(), all())
                .await
                .map(|page| page.items.iter().map(|it| organizations(it.organization.id)).collect()),
            Read::Assignments => iam
                .assignments()
                .list(caller, &AssignmentFilter::default(), all())
                .await
                .map(|page| page.items.iter().map(|it| assignments(it.assignment.id)).collect()),
            Read::User(user) => iam.users().get(caller, self.user(user)).await.map(|user| vec![users(user.id)]),
            Read::Role(role) => iam.roles().get(caller, self.role(role)).await.map(|role| vec![roles(role.id)]),
            Read::Organization(organization) => iam
                .organizations()
                .get(caller, self.organization(organization))
                .await
                .map(|it| vec![organizations(it.organization.id)]),
            Read::Tree(organization) => {
                iam.organizations().tree(caller, self.organization(organization)).await.map(|tree| {
                    let mut found = Vec::new();
                    flatten(&tree, &mut found);
                    let depth = |number: usize| u32::try_from(self.states[tenant].depth(number)).unwrap();
                    let number_of = |(id, shown): (OrganizationId, u32)| {
                        let number = organizations(id);
                        assert_eq!(shown, depth(number), "{}", self.story());
                        number
                    };
                    found.into_iter().map(number_of).collect()
                })
            }
            Read::Children(organization) => iam
                .organizations()
                .children(caller, self.organization(organization))
                .await
                .map(|children| children.iter().map(|it| organizations(it.id)).collect()),
            Read::Ancestors(organization) => iam
                .organizations()
                .ancestors(caller, self.organization(organization))
                .await
                .map(|above| above.iter().map(|it| organizations(it.organization.id)).collect()),
            Read::RolesOf(user) => iam
                .assignments()
                .of_user(caller, self.user(user))
                .await
                .map(|grants| grants.iter().map(|it| assignments(it.assignment.id)).collect()),
        };
        shown.map_err(|error| kind(&error))
    }

    fn check_read(&self, tenant: usize, actor: Actor, state: &Tenant, read: Read, shown: Result<Vec<usize>, String>) {
        let context = OperationContext { tenant, state, actor, now: self.now };
        let (gate, mut expected, in_order) = context.shows(read);
        // The user that a key is, and its assignments, are in no list.
        let real = match read {
            Read::Users | Read::Members(_) => self.states[tenant].users.len(),
            Read::Assignments | Read::RolesOf(_) => self.states[tenant].assignments.len(),
            _ => usize::MAX,
        };
        if let Some(expected) = &mut expected {
            expected.retain(|number| *number < real);
        }
        let story = || format!("{}gate {gate:?}, expected {expected:?}\n{state}", self.story());
        match shown {
            Ok(mut shown) => {
                if !in_order {
                    shown.sort_unstable();
                }
                assert!(gate.is_empty() && Some(&shown) == expected.as_ref(), "{}", story());
            }
            Err(kind) if expected.is_none() && gate.is_empty() => assert_eq!(kind, "NotFound", "{}", story()),
            Err(kind) => assert!(gate.contains(&&*kind), "{}", story()),
        }
    }

    /// Asks the service a question, and checks the answer and its reason.
    async fn ask(&mut self, tenant: usize, actor: Actor, state: &Tenant, caller: &Caller) {
        let mut chooser = Chooser { random: &mut self.random, tenants: &self.states, tenant, now: self.now };
        let about = (chooser.random.u8(..3) > 0).then(|| chooser.user());
        let organization = if chooser.random.u8(..4) > 0 { chooser.organization() } else { None };
        let permission = ASKED[self.random.usize(..ASKED.len())];
        let question = Question {
            permission: permission.parse().unwrap(),
            organization: organization.map(|organization| self.organization(organization)),
            user: about.map(|user| self.user(user)),
            at: None,
        };
        let answer = self.iam().access().check(caller, question).await;
        let shown = match &answer {
            Ok(decision) => format!("{:?} {}", decision.denial, decision.grants.len()),
            Err(error) => kind(error),
        };
        self.note(&format!("{actor:?}: {about:?} {permission} {organization:?}? {shown}"));
        let context = OperationContext { tenant, state, actor, now: self.now };
        let gate = context.question_gate(about, organization);
        let story = || format!("{}gate {gate:?}\n{state}", self.story());
        let decision = match answer {
            Err(error) => {
                let kind = kind(&error);
                return assert!(gate.contains(&&*kind), "{}", story());
            }
            Ok(decision) => {
                assert!(gate.is_empty(), "{}", story());
                decision
            }
        };
        let spot = organization.map(|organization| organization.index);
        let asked = match (about, actor) {
            (Some(user), _) => user.index,
            (None, Actor::User(user)) => user,
            (None, Actor::Key(_)) => {
                return assert_eq!(decision.is_allowed(), context.may(permission, spot), "{}", story());
            }
            (None, Actor::System) => return assert!(decision.is_allowed(), "{}", story()),
        };
        let knows_all = actor == Actor::User(asked) || context.may("role-assignments:read", None);
        if !knows_all && !state.holds_here(asked, permission, spot, self.now) {
            // Not every caller may learn what the user holds in other scopes, and which status the user has.
            let denial = decision.denial.map(|denial| variant(&denial));
            assert!(matches!(denial.as_deref(), Some("NotHeld" | "Expired" | "OrganizationNotActive")), "{}", story());
            return;
        }
        self.check_decision(tenant, asked, permission, spot, &decision);
    }

    fn check_decision(&self, tenant: usize, user: usize, permission: &str, spot: Spot, decision: &Decision) {
        let (state, names) = (&self.states[tenant], &self.names[tenant]);
        let story = || format!("{}{user} {permission} {spot:?}: {decision:?}\n{state}", self.story());
        let granting: BTreeSet<_> = state.granting(user, permission, spot, self.now).into_iter().collect();
        let named: BTreeSet<_> =
            decision.grants.iter().map(|grant| position(&names.assignments, &grant.assignment)).collect();
        assert_eq!(granting, named, "{}", story());
        assert_eq!(decision.is_allowed(), !granting.is_empty(), "{}", story());
        for grant in &decision.grants {
            let assignment = &state.assignments[position(&names.assignments, &grant.assignment)];
            let held = assignment.spot.map(|number| names.organizations[number]);
            let inherited = held.filter(|_| assignment.spot != spot);
            assert_eq!((grant.organization, grant.inherited_from), (held, inherited), "{}", story());
            assert_eq!(grant.role, names.roles[assignment.role], "{}", story());
        }
        if let Some(denial) = decision.denial {
            let name = variant(&denial);
            assert!(state.denials(user, permission, spot, self.now).contains(&&*name), "{}", story());
        }
    }

    /// Loads a user from the store, and checks the answers of the user's snapshot without the service.
    async fn check_random_snapshot(&mut self, tenant: usize) {
        let user = self.random.usize(..self.states[tenant].users.len());
        let organization = match self.states[tenant].organizations.len() {
            0 => None,
            count => Some(self.random.usize(..count)),
        };
        let snapshot = self.snapshot(tenant, &[user], organization.into_iter().collect()).await;
        let permissions = [ASKED[self.random.usize(..ASKED.len())], ASKED[self.random.usize(..ASKED.len())]];
        for spot in [None, organization] {
            for permission in permissions {
                self.check_snapshot(&snapshot, tenant, user, permission, spot);
            }
        }
    }

    async fn snapshot(&self, tenant: usize, users: &[usize], organizations: Vec<usize>) -> Snapshot {
        let (state, names, store) = (&self.states[tenant], &self.names[tenant], &self.installation.store);
        let ids: Vec<_> = organizations.iter().map(|number| names.organizations[*number]).collect();
        let lineages = store.lineages(self.ids[tenant], &ids).await.unwrap();
        let mut snapshot = Snapshot::new(lineages.into_iter().collect());
        let ids: Vec<_> = users.iter().map(|user| names.users[*user]).collect();
        let grants = store.grants_of(self.ids[tenant], &ids).await.unwrap();
        for user in users {
            let id = names.users[*user];
            let own = grants.iter().filter(|grant| grant.assignment.user_id == id);
            snapshot.insert(id, user_status(state.users[*user].status), Authority::of(own));
        }
        snapshot
    }

    fn check_snapshot(&self, snapshot: &Snapshot, tenant: usize, user: usize, permission: &str, spot: Spot) {
        let names = &self.names[tenant];
        let organization = spot.map(|number| names.organizations[number]);
        let (id, asked, now) = (names.users[user], permission.parse().unwrap(), self.time(self.now));
        let allows = snapshot.allows(id, &asked, organization, now);
        assert_eq!(allows, self.states[tenant].may(user, permission, spot, self.now), "{}", self.story());
        let decision = snapshot.explain(id, &asked, organization, now).unwrap();
        self.check_decision(tenant, user, permission, spot, &decision);
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

    /// Compares all data in the store with the expected state, and every answer with that of the naive evaluator.
    async fn compare_all(&self) {
        for tenant in 0..2 {
            self.compare_lists(tenant).await;
            self.compare_identities(tenant).await;
            let state = &self.states[tenant];
            let users: Vec<_> = (0..state.users.len()).collect();
            let organizations: Vec<_> = (0..state.organizations.len()).collect();
            let snapshot = self.snapshot(tenant, &users, organizations.clone()).await;
            let names = &self.names[tenant];
            for user in users {
                for spot in std::iter::once(None).chain(organizations.iter().copied().map(Some)) {
                    for permission in ["users:read", "role-assignments:create", "orders:refund"] {
                        let asked = permission.parse().unwrap();
                        let organization = spot.map(|number| names.organizations[number]);
                        let found = snapshot.allows(names.users[user], &asked, organization, self.time(self.now));
                        let expected = state.may(user, permission, spot, self.now);
                        assert_eq!(found, expected, "{}{user} {permission} {spot:?}\n{state}", self.story());
                    }
                }
            }
        }
    }

    async fn compare_lists(&self, tenant: usize) {
        let (iam, state, names) = (self.iam(), &self.states[tenant], &self.names[tenant]);
        let system = self.system(tenant);
        let story = || self.story();
        let users = iam.users().list(&system, &UserFilter::default(), UserSort::default(), all()).await.unwrap();
        assert_eq!(users.total, state.users.len() as u64);
        for user in users.items {
            let kept = &state.users[position(&names.users, &user.id)];
            let found = User {
                email: user.email.to_string(),
                is_verified: user.email_verified_at.is_some(),
                has_password: kept.has_password,
                first_name: user.first_name.to_string(),
                status: status_of(user.status),
                home: user.home_organization_id.map(|home| position(&names.organizations, &home)),
            };
            assert_eq!(found, *kept, "{}", story());
        }
        let roles = iam.roles().list(&system, all()).await.unwrap();
        assert_eq!(roles.total, state.roles.iter().filter(|role| !role.gone).count() as u64, "{}", story());
        for role in roles.items {
            let kept = &state.roles[position(&names.roles, &role.id)];
            let permissions: Vec<_> = role.permissions.iter().map(ToString::to_string).collect();
            assert_eq!(permissions, kept.permissions.iter().copied().collect::<Vec<_>>(), "{}", story());
            assert_eq!((role.name.as_str(), role.scope), (&*kept.name, role_scope(kept.scope)), "{}", story());
        }
        let permissions = iam.permissions().list(&system, all()).await.unwrap();
        let registered: BTreeSet<_> =
            state.permissions.iter().filter(|found| !found.gone).map(|found| found.name.to_owned()).collect();
        let found: BTreeSet<_> = permissions.items.iter().map(|found| found.name.to_string()).collect();
        assert_eq!(found, registered, "{}", story());
        let mut count = 0;
        for status in [OrganizationStatus::Active, OrganizationStatus::Suspended, OrganizationStatus::Inactive] {
            let filter = OrganizationFilter { status: Some(status), ..OrganizationFilter::default() };
            let list = iam.organizations().list(&system, &filter, OrganizationSort::default(), all()).await.unwrap();
            for placed in list.items {
                let number = position(&names.organizations, &placed.organization.id);
                let kept = &state.organizations[number];
                let slug = kept.slug.as_ref().map(|_| placed.organization.slug.to_string());
                let parent = placed.organization.parent_id.map(|parent| position(&names.organizations, &parent));
                let name = placed.organization.name.to_string();
                let found = Organization { name, slug, parent, status: kept.status };
                assert_eq!((found, status), (kept.clone(), organization_status(kept.status)), "{}", story());
                assert_eq!(placed.depth as usize, state.depth(number), "{}", story());
                count += 1;
            }
        }
        assert_eq!(count, state.organizations.len(), "{}", story());
        let filter = AssignmentFilter { include_expired: true, ..AssignmentFilter::default() };
        let mut kept: BTreeSet<_> = (0..state.assignments.len()).filter(|it| !state.assignments[*it].gone).collect();
        for page in 1.. {
            let request = PageRequest::new(page, 100).unwrap();
            let list = iam.assignments().list(&system, &filter, request).await.unwrap();
            for listed in &list.items {
                let number = position(&names.assignments, &listed.assignment.id);
                let known = &state.assignments[number];
                let found = Assignment {
                    user: position(&names.users, &listed.assignment.user_id),
                    role: position(&names.roles, &listed.assignment.role_id),
                    spot: listed.assignment.organization_id.map(|id| position(&names.organizations, &id)),
                    until: self.moment(listed.assignment.expires_at),
                    gone: false,
                };
                assert_eq!(found, *known, "{}", story());
                assert!(kept.remove(&number), "{}", story());
            }
            if !list.has_next() {
                break;
            }
        }
        assert_eq!(kept, BTreeSet::new(), "{}", story());
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

fn flatten(tree: &OrganizationTree, into: &mut Vec<(OrganizationId, u32)>) {
    into.push((tree.organization.id, tree.depth));
    for child in &tree.children {
        flatten(child, into);
    }
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

fn status_of(status: UserStatus) -> Status {
    match status {
        UserStatus::Active => Status::Active,
        UserStatus::Suspended => Status::Suspended,
        UserStatus::Inactive => Status::Inactive,
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
        // The session of a stale caller has ended.
        Error::Unauthenticated(inner) => variant(inner),
        other => panic!("{other:?}"),
    }
}

/// The full text of a refusal, which must be the same on every store.
fn full_text(error: &Error) -> String {
    match error {
        Error::About { field, error } => format!("{field}: {}", full_text(error)),
        Error::Validation(fields) => format!("{fields:?}"),
        other => format!("{}: {other}", kind(other)),
    }
}
