//! The operations, and their random choice. It depends on the seed and the expected state, never on a store's answers.

#![cfg(test)]

mod directory;
mod kept;

use fastrand::Rng;

pub(crate) use directory::{EntryPatch, GroupPatch, MemberPatch, NewEntry, Placed, Provision};
pub(crate) use kept::KEYS;

use crate::state::{Attributes, Key, Moment, NEVER, Rules, Scope, Status, Tenant};

/// An item of a tenant, by its index. It can belong to the other tenant: then it must look as if it did not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ref {
    pub(crate) tenant: usize,
    pub(crate) index: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) user: Ref,
    pub(crate) role: Ref,
    pub(crate) organization: Option<Ref>,
    pub(crate) until: Moment,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    CreateRole { name: String, scope: Scope, permissions: Vec<&'static str> },
    PatchRole { role: Ref, name: Option<String>, scope: Option<Scope>, permissions: Option<Vec<&'static str>> },
    DeleteRole { role: Ref },
    Register { name: &'static str },
    Unregister { permission: Ref },
    Assign { item: Item },
    AssignAll { items: Vec<Item> },
    Revoke { assignment: Ref },
    Expire { assignment: Ref, until: Moment },
    CreateOrganization { name: String, slug: Option<String>, parent: Option<Ref> },
    PatchOrganization { organization: Ref, patch: OrganizationPatch },
    DeleteOrganization { organization: Ref },
    CreateUser { email: String, home: Option<Ref> },
    PatchUser { user: Ref, patch: UserPatch },
    Suspend { user: Ref },
    Reactivate { user: Ref },
    DeleteUser { user: Ref },
    VerifyEmail { user: usize },
    LogIn { person: Person },
    Link { person: Person },
    Unlink { identity: Ref },
    CreateAccount,
    CreateDirectory { account: Ref, adopts: bool },
    DeleteDirectory { directory: Ref, suspends: bool },
    SetGrants { group: Ref, grants: Vec<Placed> },
    Provision { directory: Option<usize>, provision: Provision },
    Review { user: Ref, kept: Option<Ref> },
    DefineAttributes { rules: Rules },
    ChangeOwn { patch: Attributes },
    PlaceHold { user: Option<Ref> },
    ReleaseHold { hold: Ref },
    Erase { user: Ref },
    StepUp,
    Sweep,
    Wait { by: Moment },
    Read(Read),
}

/// A person, as a provider of the tenant describes it.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) provider: usize,
    pub(crate) subject: String,
    pub(crate) email: String,
    /// Whether the provider says that the address is verified.
    pub(crate) is_verified: bool,
    /// Whether the provider says when the person has authenticated: now.
    pub(crate) has_auth_time: bool,
}

/// The provider that speaks for the domain of its tenant. The other one has no domains.
pub(crate) const COMPANY: usize = 0;

impl Operation {
    /// Whether the effect of the operation on rights can be previewed.
    pub(crate) fn has_preview(&self) -> bool {
        match self {
            Self::CreateRole { .. }
            | Self::PatchRole { .. }
            | Self::DeleteRole { .. }
            | Self::Assign { .. }
            | Self::AssignAll { .. }
            | Self::Revoke { .. }
            | Self::Expire { .. }
            | Self::CreateOrganization { .. }
            | Self::PatchOrganization { .. }
            | Self::DeleteOrganization { .. }
            | Self::PatchUser { .. }
            | Self::Suspend { .. }
            | Self::Reactivate { .. }
            | Self::DeleteUser { .. }
            | Self::SetGrants { .. } => true,
            Self::Register { .. }
            | Self::Unregister { .. }
            | Self::CreateUser { .. }
            | Self::VerifyEmail { .. }
            | Self::LogIn { .. }
            | Self::Link { .. }
            | Self::Unlink { .. }
            | Self::CreateAccount
            | Self::CreateDirectory { .. }
            | Self::DeleteDirectory { .. }
            | Self::Provision { .. }
            | Self::Review { .. }
            | Self::DefineAttributes { .. }
            | Self::ChangeOwn { .. }
            | Self::PlaceHold { .. }
            | Self::ReleaseHold { .. }
            | Self::Erase { .. }
            | Self::StepUp
            | Self::Sweep
            | Self::Wait { .. }
            | Self::Read(_) => false,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct UserPatch {
    pub(crate) email: Option<String>,
    pub(crate) first_name: Option<String>,
    pub(crate) status: Option<Status>,
    pub(crate) home: Option<Option<Ref>>,
    pub(crate) attributes: Option<Attributes>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct OrganizationPatch {
    pub(crate) name: Option<String>,
    pub(crate) slug: Option<String>,
    pub(crate) status: Option<Status>,
    pub(crate) parent: Option<Option<Ref>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    Users,
    Members(Ref),
    Roles,
    Permissions,
    Organizations,
    Directories,
    Groups(Ref),
    Assignments,
    User(Ref),
    Role(Ref),
    Organization(Ref),
    Tree(Ref),
    Children(Ref),
    Ancestors(Ref),
    RolesOf(Ref),
    /// The users with a value of an attribute: the key, and the text of the value.
    WithAttribute(&'static str, &'static str),
    /// What the caller sees of its own attributes.
    Own,
    Holds,
}

/// The permissions that an application registers, in addition to the built-in ones.
pub(crate) const REGISTRABLE: &[&str] = &["orders:read", "orders:refund", "stock:move"];

/// The permissions of the questions.
pub(crate) const ASKED: &[&str] = &[
    "users:read",
    "users:update",
    "role-assignments:create",
    "role-assignments:read",
    "roles:create",
    "organizations:read",
    "organizations:update",
    "organizations:delete",
    "audit-logs:read",
    "orders:refund",
    "stock:count",
];

/// The permission patterns for roles.
const PATTERNS: &[&str] = &[
    "*",
    "users:*",
    "users:create",
    "users:read",
    "users:update",
    "users:delete",
    "role-assignments:*",
    "role-assignments:*",
    "role-assignments:create",
    "role-assignments:read",
    "role-assignments:update",
    "role-assignments:delete",
    "roles:*",
    "roles:create",
    "roles:read",
    "roles:update",
    "permissions:*",
    "permissions:create",
    "directories:*",
    "directories:create",
    "directories:read",
    "directories:update",
    "access-reviews:*",
    "iam-legal-holds:*",
    "organizations:*",
    "organizations:*",
    "organizations:create",
    "organizations:read",
    "organizations:update",
    "organizations:delete",
    "orders:*",
    "orders:read",
    "orders:refund",
    "stock:*",
];

pub(crate) const MINUTE: Moment = 60_000;

/// The number of steps at the start of a world, in which trusted code fills it.
pub(crate) const FOUNDING: usize = 44;

/// Chooses operations for the callers of a tenant.
pub(crate) struct Chooser<'a> {
    pub(crate) random: &'a mut Rng,
    pub(crate) tenants: &'a [Tenant; 2],
    pub(crate) tenant: usize,
    pub(crate) now: Moment,
}

impl Chooser<'_> {
    /// Chooses one of `count` items, now and then an item of the other tenant.
    fn any(&mut self, count: impl Fn(&Tenant) -> usize) -> Ref {
        let foreign = self.random.u8(..) < 8;
        let tenant = if foreign { 1 - self.tenant } else { self.tenant };
        Ref { tenant, index: self.random.usize(..count(&self.tenants[tenant]).max(1)) }
    }

    /// Does the same, but prefers items for which `is_good` holds. Now and then it still chooses another one, such as a
    /// deleted item.
    fn good(&mut self, count: impl Fn(&Tenant) -> usize, is_good: impl Fn(&Tenant, usize) -> bool) -> Ref {
        let mut found = self.any(&count);
        for _ in 0..4 {
            if is_good(&self.tenants[found.tenant], found.index) {
                break;
            }
            found = self.any(&count);
        }
        found
    }

    pub(crate) fn user(&mut self) -> Ref {
        self.good(|tenant| tenant.users.len(), |tenant, user| tenant.users[user].status != Status::Inactive)
    }

    fn role(&mut self) -> Ref {
        self.good(|tenant| tenant.roles.len(), |tenant, role| !tenant.roles[role].gone)
    }

    /// Chooses an organization for a change. A deleted one is often chosen, because a reactivation has many failures.
    pub(crate) fn organization_to_change(&mut self) -> Option<Ref> {
        let deleted = |tenant: &Tenant, it: usize| {
            tenant.organizations.get(it).is_some_and(|found| found.status == Status::Inactive)
        };
        if self.random.u8(..) >= 64 {
            return self.organization();
        }
        let found = self.good(|tenant| tenant.organizations.len(), deleted);
        (found.index < self.tenants[found.tenant].organizations.len()).then_some(found)
    }

    /// Chooses an organization. `None` if the tenant has none.
    pub(crate) fn organization(&mut self) -> Option<Ref> {
        let found = self.good(
            |tenant| tenant.organizations.len(),
            |tenant, organization| {
                tenant.organizations.get(organization).is_some_and(|found| found.status != Status::Inactive)
            },
        );
        (found.index < self.tenants[found.tenant].organizations.len()).then_some(found)
    }

    fn assignment(&mut self) -> Ref {
        self.good(|tenant| tenant.assignments.len(), |tenant, assignment| !tenant.assignments[assignment].gone)
    }

    fn until(&mut self) -> Moment {
        match self.random.u8(..20) {
            0..9 => NEVER,
            9 => self.now - MINUTE * self.random.i64(0..2),
            _ => self.now + MINUTE * self.random.i64(1..80),
        }
    }

    fn permissions(&mut self) -> Vec<&'static str> {
        let count = self.random.usize(1..=4);
        let mut chosen: Vec<_> = (0..count).map(|_| PATTERNS[self.random.usize(..PATTERNS.len())]).collect();
        if self.random.u8(..6) > 0 {
            chosen.retain(|pattern| *pattern != "*");
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Chooses the limits of a key of a user.
    pub(crate) fn key(&mut self, user: usize) -> Key {
        let permissions = self.maybe(2, Self::permissions);
        let limit = if self.random.bool() { None } else { self.organization() };
        let limit = limit.filter(|it| it.tenant == self.tenant && !self.tenants[it.tenant].is_inactive(it.index));
        Key { user, permissions, limit: limit.map(|it| it.index) }
    }

    fn scope(&mut self) -> Scope {
        match self.random.u8(..8) {
            0 => Scope::Tenant,
            1 => Scope::Organization,
            _ => Scope::Any,
        }
    }

    fn status(&mut self) -> Status {
        [Status::Active, Status::Active, Status::Suspended, Status::Inactive][self.random.usize(..4)]
    }

    fn maybe<T>(&mut self, of: u8, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.random.u8(..of) == 0).then(|| make(self))
    }

    /// Chooses the home of a user, most often an organization.
    fn home(&mut self) -> Option<Ref> {
        if self.random.u8(..4) == 0 { None } else { self.organization() }
    }

    fn role_name(&mut self) -> String {
        format!("ROLE_{}", self.random.u8(..30))
    }

    fn slug(&mut self) -> String {
        format!("given-{}", self.random.u8(..12))
    }

    fn email(&mut self) -> String {
        let tenants = self.tenants;
        let domain: &str = match self.random.u8(..8) {
            0 => "example.com",
            1 => &tenants[1 - self.tenant].domain,
            _ => &tenants[self.tenant].domain,
        };
        format!("user{}@{domain}", self.random.u8(..40))
    }

    /// Chooses a person, in any status.
    fn own_person(&mut self) -> usize {
        let users = &self.tenants[self.tenant].users;
        let people: Vec<usize> = (0..users.len()).filter(|user| !users[*user].is_service).collect();
        people[self.random.usize(..people.len())]
    }

    /// Chooses a person, often with the address of a user.
    fn person(&mut self) -> Person {
        let (user, other) = (self.own_person(), self.email());
        let email = if self.random.bool() { self.tenants[self.tenant].users[user].email.clone() } else { other };
        Person {
            provider: usize::from(self.random.u8(..4) == 0),
            subject: format!("subject-{}", self.random.u8(..6)),
            email,
            is_verified: self.random.u8(..6) > 0,
            has_auth_time: self.random.u8(..3) > 0,
        }
    }

    /// Chooses an identity. `None` if there is none.
    fn identity(&mut self) -> Option<Ref> {
        let is_there = |tenant: &Tenant, it: usize| tenant.identities.get(it).is_some_and(|found| !found.gone);
        let found = self.good(|tenant| tenant.identities.len(), is_there);
        (found.index < self.tenants[found.tenant].identities.len()).then_some(found)
    }

    pub(crate) fn item(&mut self) -> Item {
        let account = if self.random.u8(..6) == 0 { self.account_of_directory() } else { None };
        let user = account.unwrap_or_else(|| self.user());
        let role = self.role();
        let scope = self.tenants[role.tenant].roles[role.index].scope;
        // Most items fit the scope of the role, so that the other reasons for a refusal are tested, too.
        let in_organization = match scope {
            Scope::Tenant => self.random.u8(..10) == 0,
            Scope::Organization => self.random.u8(..10) > 0,
            Scope::Any => self.random.u8(..3) > 0,
        };
        let organization = if in_organization { self.organization() } else { None };
        Item { user, role, organization, until: self.until() }
    }

    fn create_organization(&mut self) -> Operation {
        let name = format!("Organization {}", self.random.u8(..40));
        let slug = self.maybe(3, Self::slug);
        let parent = if self.random.u8(..5) == 0 { None } else { self.organization() };
        Operation::CreateOrganization { name, slug, parent }
    }

    fn patch_organization(&mut self, organization: Ref) -> Operation {
        let mut patch = OrganizationPatch::default();
        match self.random.u8(..10) {
            0 => patch.name = Some(format!("Organization {}", self.random.u8(..40))),
            1 => patch.slug = Some(self.slug()),
            2..5 => patch.status = Some(self.status()),
            5..9 => patch.parent = Some(if self.random.u8(..6) == 0 { None } else { self.organization() }),
            _ => {
                patch.status = self.maybe(2, Self::status);
                patch.parent = Some(if self.random.u8(..6) == 0 { None } else { self.organization() });
                patch.slug = self.maybe(2, Self::slug);
            }
        }
        Operation::PatchOrganization { organization, patch }
    }

    /// The operations with which trusted code fills a world: users, roles, an organization tree, and assignments.
    pub(crate) fn founding(&mut self, step: usize) -> Operation {
        match step / 2 {
            0..5 => Operation::CreateUser { email: self.email(), home: None },
            5..9 => {
                let permissions = self.permissions();
                Operation::CreateRole { name: self.role_name(), scope: Scope::Any, permissions }
            }
            9..15 => self.create_organization(),
            // Without a home, a permission that is held in an organization changes no user.
            15..17 => {
                let patch = UserPatch { home: Some(self.organization()), ..UserPatch::default() };
                Operation::PatchUser { user: self.user(), patch }
            }
            17..19 => Operation::VerifyEmail { user: self.own_person() },
            _ => Operation::AssignAll { items: vec![self.item(), self.item()] },
        }
    }

    pub(crate) fn operation(&mut self) -> Operation {
        match self.random.u8(..139) {
            0..4 => {
                let (name, scope) = (self.role_name(), self.scope());
                Operation::CreateRole { name, scope, permissions: self.permissions() }
            }
            4..10 => {
                let role = self.role();
                let (name, scope) = (self.maybe(6, Self::role_name), self.maybe(6, Self::scope));
                let permissions = if self.random.u8(..6) > 0 { Some(self.permissions()) } else { None };
                Operation::PatchRole { role, name, scope, permissions }
            }
            10..12 => Operation::DeleteRole { role: self.role() },
            12..15 => Operation::Register { name: REGISTRABLE[self.random.usize(..REGISTRABLE.len())] },
            15..17 => {
                let permission = self.good(
                    |tenant| tenant.permissions.len(),
                    |tenant, permission| !tenant.permissions[permission].gone && !tenant.permissions[permission].system,
                );
                Operation::Unregister { permission }
            }
            17..35 => Operation::Assign { item: self.item() },
            35..38 => {
                let count = self.random.usize(1..=4);
                Operation::AssignAll { items: (0..count).map(|_| self.item()).collect() }
            }
            38..43 => Operation::Revoke { assignment: self.assignment() },
            43..50 => Operation::Expire { assignment: self.assignment(), until: self.until() },
            50..55 => self.create_organization(),
            55..67 => match self.organization_to_change() {
                Some(organization) => self.patch_organization(organization),
                None => self.create_organization(),
            },
            67..69 => match self.organization() {
                Some(organization) => Operation::DeleteOrganization { organization },
                None => self.create_organization(),
            },
            69..71 => Operation::CreateUser { email: self.email(), home: self.home() },
            71..75 => {
                let user = self.any(|tenant| tenant.users.len());
                let (email, status) = (self.maybe(4, Self::email), self.maybe(2, Self::status));
                let first_name = self.maybe(4, |chooser| format!("Name {}", chooser.random.u8(..4)));
                let home = self.maybe(2, Self::home);
                let attributes = self.maybe(2, Self::attributes);
                Operation::PatchUser { user, patch: UserPatch { email, first_name, status, home, attributes } }
            }
            75..77 => Operation::Suspend { user: self.user() },
            77..80 => Operation::Reactivate { user: self.any(|tenant| tenant.users.len()) },
            80 => Operation::DeleteUser { user: self.user() },
            81 => Operation::Sweep,
            82..84 => Operation::StepUp,
            84..88 => Operation::Wait { by: MINUTE * self.random.i64(1..15) - self.random.i64(0..2) },
            88..100 => Operation::LogIn { person: self.person() },
            100..103 => Operation::Link { person: self.person() },
            103..107 => match self.identity() {
                Some(identity) => Operation::Unlink { identity },
                None => Operation::LogIn { person: self.person() },
            },
            107..109 => Operation::VerifyEmail { user: self.own_person() },
            109 => Operation::CreateAccount,
            110..113 => self.create_directory(),
            113 => self.delete_directory(),
            114..118 => self.set_grants(),
            118..123 => self.review(),
            123..125 => Operation::ChangeOwn { patch: self.attributes() },
            125 => self.keep(),
            _ => Operation::Read(self.read()),
        }
    }

    fn read(&mut self) -> Read {
        let organization = self.organization();
        match (self.random.u8(..23), organization) {
            (16, Some(organization)) => Read::Members(organization),
            (0..2, _) => Read::Users,
            (2, _) => Read::Roles,
            (3, _) => Read::Permissions,
            (4..6, _) => Read::Organizations,
            (6..8, _) => Read::Assignments,
            (8, _) => Read::User(self.any(|tenant| tenant.users.len())),
            (9, _) => Read::Role(self.role()),
            (10, Some(organization)) => Read::Organization(organization),
            (11, Some(organization)) => Read::Tree(organization),
            (12, Some(organization)) => Read::Children(organization),
            (13, Some(organization)) => Read::Ancestors(organization),
            (17, _) => Read::Directories,
            (18, _) => self.directory().map_or(Read::Directories, Read::Groups),
            (19..21, _) => self.search(),
            (21, _) => Read::Own,
            (22, _) => Read::Holds,
            _ => Read::RolesOf(self.any(|tenant| tenant.users.len())),
        }
    }
}
