//! Casbin in three forms.

use std::iter::repeat;
use std::sync::Arc;

use ::casbin::rhai::ImmutableString;
use ::casbin::{CoreApi as _, DefaultModel, Enforcer, MgmtApi as _, NullAdapter};
use tokio::runtime::{Builder, Runtime};

use super::contest::{Contestant, Outcome};
use super::world::{Question, World};

/// The parent of every root.
const TENANT: &str = "tenant";

/// RBAC with domains, as Casbin's documentation describes it: a policy for each permission of each role, and users with
/// roles in domains. A domain is an organization.
///
/// Casbin has no nested domains, so it is asked for the organization of the question, for each of its ancestors, and
/// for the tenant.
const DOCUMENTED: &str = "
[request_definition]
r = sub, dom, act
[policy_definition]
p = role, act
[role_definition]
g = _, _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.act == p.act && g(r.sub, p.role, r.dom)
";

pub(crate) struct Documented {
    enforcer: Enforcer,
    names: Names,
    tenant: ImmutableString,
    questions: Vec<Question>,
}

impl Documented {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        let enforcer = runtime()?.block_on(async {
            let mut enforcer = enforcer(DOCUMENTED).await?;
            let policies = role_links(world).map(|(permission, role)| vec![role, permission]);
            enforcer.add_policies(policies.collect()).await?;
            let held = world.assignments.iter().map(|assigned| {
                let domain = assigned.organization.map_or_else(|| TENANT.to_owned(), organization);
                vec![user(assigned.user), role(assigned.role), domain]
            });
            enforcer.add_grouping_policies(held.collect()).await?;
            enforcer.build_role_links()?;
            Outcome::Ok(enforcer)
        })?;
        Ok(Box::new(Self { enforcer, names: Names::of(world), tenant: TENANT.into(), questions: Vec::new() }))
    }

    fn enforce(&self, question: &Question, domain: &ImmutableString) -> Option<bool> {
        let user = self.names.users.get(question.user)?;
        let permission = self.names.permissions.get(question.permission)?;
        self.enforcer.enforce(vec![user.clone(), domain.clone(), permission.clone()]).ok()
    }
}

impl Contestant for Documented {
    fn prepare(&mut self, world: &World) {
        self.questions.clone_from(&world.questions);
    }

    fn allows(&self, number: usize) -> bool {
        let Some(question) = self.questions.get(number) else { return false };
        let mut domains = self.names.lineage(question.organization).chain([&self.tenant]);
        domains.any(|domain| self.enforce(question, domain).unwrap_or(false))
    }
}

/// The same, reversed for speed. A request names the organization and its ancestors, so that one request is enough. A
/// policy is a role. The permissions of a role, and its tenant-wide holders, are links.
const REVERSED: &str = "
[request_definition]
r = sub, act, d0, d1, d2, d3, d4, d5
[policy_definition]
p = role
[role_definition]
g = _, _, _
g2 = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g2(r.act, p.role) && (g2(r.sub, p.role) || g(r.sub, p.role, r.d0) || g(r.sub, p.role, r.d1) \
    || g(r.sub, p.role, r.d2) || g(r.sub, p.role, r.d3) || g(r.sub, p.role, r.d4) || g(r.sub, p.role, r.d5))
";

/// The number of organizations in a request. If there are fewer, the rest is empty.
const LEVELS: usize = 6;

pub(crate) struct Reversed {
    enforcer: Enforcer,
    names: Names,
    none: ImmutableString,
    questions: Vec<Question>,
}

/// The names of everything, so that none is copied for a question.
struct Names {
    users: Vec<ImmutableString>,
    permissions: Vec<ImmutableString>,
    organizations: Vec<ImmutableString>,
    /// Each organization and its ancestors, from the organization to the root.
    lineages: Vec<Vec<usize>>,
}

impl Names {
    fn of(world: &World) -> Self {
        Self {
            users: (0..world.users).map(|number| user(number).into()).collect(),
            permissions: world.permissions.iter().map(Into::into).collect(),
            organizations: (0..world.parents.len()).map(|number| organization(number).into()).collect(),
            lineages: (0..world.parents.len()).map(|number| world.upwards(number).collect()).collect(),
        }
    }

    fn lineage(&self, organization: usize) -> impl Iterator<Item = &ImmutableString> {
        let numbers = self.lineages.get(organization).into_iter().flatten();
        numbers.filter_map(|number| self.organizations.get(*number))
    }
}

fn user(number: usize) -> String {
    format!("u{number}")
}

fn role(number: usize) -> String {
    format!("r{number}")
}

fn organization(number: usize) -> String {
    format!("o{number}")
}

async fn enforcer(model: &str) -> Outcome<Enforcer> {
    let mut enforcer = Enforcer::new(DefaultModel::from_str(model).await?, NullAdapter).await?;
    enforcer.enable_auto_save(false);
    // Links are built once, after all policies are added.
    enforcer.enable_auto_build_role_links(false);
    Ok(enforcer)
}

fn runtime() -> Outcome<Runtime> {
    Ok(Builder::new_current_thread().build()?)
}

/// A link from each permission to each role with it.
fn role_links(world: &World) -> impl Iterator<Item = (String, String)> {
    let links = world.roles.iter().enumerate();
    links.flat_map(|(number, permissions)| {
        let of_role = permissions.iter().filter_map(|permission| world.permissions.get(*permission));
        of_role.map(move |permission| (permission.clone(), role(number)))
    })
}

impl Reversed {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        let enforcer = runtime()?.block_on(async {
            let mut enforcer = enforcer(REVERSED).await?;
            enforcer.add_policies((0..world.roles.len()).map(|number| vec![role(number)]).collect()).await?;
            let with_permissions = role_links(world).map(|(permission, role)| vec![permission, role]);
            let tenant_wide = world.assignments.iter().filter(|assigned| assigned.organization.is_none());
            let tenant_wide = tenant_wide.map(|assigned| vec![user(assigned.user), role(assigned.role)]);
            // Every user has at least one link: for a user without a link, Casbin searches all users that have one.
            let nothing = (0..world.users).map(|number| vec![user(number), "nothing".to_owned()]);
            let links = with_permissions.chain(tenant_wide).chain(nothing).collect();
            enforcer.add_named_grouping_policies("g2", links).await?;
            let in_organizations = world.assignments.iter().filter_map(|assigned| {
                Some(vec![user(assigned.user), role(assigned.role), organization(assigned.organization?)])
            });
            enforcer.add_grouping_policies(in_organizations.collect()).await?;
            enforcer.build_role_links()?;
            Outcome::Ok(enforcer)
        })?;
        Ok(Box::new(Self { enforcer, names: Names::of(world), none: ImmutableString::new(), questions: Vec::new() }))
    }

    fn enforce(&self, question: &Question) -> Option<bool> {
        let user = self.names.users.get(question.user)?;
        let permission = self.names.permissions.get(question.permission)?;
        let lineage = self.names.lineage(question.organization).chain(repeat(&self.none)).take(LEVELS);
        self.enforcer.enforce([user, permission].into_iter().chain(lineage).cloned().collect::<Vec<_>>()).ok()
    }
}

impl Contestant for Reversed {
    fn prepare(&mut self, world: &World) {
        self.questions.clone_from(&world.questions);
    }

    fn allows(&self, number: usize) -> bool {
        self.questions.get(number).and_then(|question| self.enforce(question)).unwrap_or(false)
    }
}

/// An enforcer for each user, with only the policies of that user. One role manager for all of them links permissions
/// to roles, and organizations to their parents.
const PER_USER: &str = "
[request_definition]
r = org, act
[policy_definition]
p = role, org
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.act, p.role) && g(r.org, p.org)
";

pub(crate) struct PerUser {
    enforcers: Vec<Enforcer>,
    names: Names,
    questions: Vec<Question>,
}

impl PerUser {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        let enforcers = runtime()?.block_on(async {
            let shared = enforcer(PER_USER).await?.get_role_manager();
            {
                let mut manager = shared.write();
                for (permission, role) in role_links(world) {
                    manager.add_link(&permission, &role, None);
                }
                for (number, parent) in world.parents.iter().enumerate() {
                    let above = parent.map_or_else(|| TENANT.to_owned(), organization);
                    manager.add_link(&organization(number), &above, None);
                }
            }
            let mut enforcers = Vec::new();
            for user in 0..world.users {
                let mut enforcer = enforcer(PER_USER).await?;
                enforcer.set_role_manager(Arc::clone(&shared))?;
                let held = world.assignments_of(user).iter().map(|assigned| {
                    let scope = assigned.organization.map_or_else(|| TENANT.to_owned(), organization);
                    vec![role(assigned.role), scope]
                });
                enforcer.add_policies(held.collect()).await?;
                enforcers.push(enforcer);
            }
            Outcome::Ok(enforcers)
        })?;
        Ok(Box::new(Self { enforcers, names: Names::of(world), questions: Vec::new() }))
    }

    fn enforce(&self, question: &Question) -> Option<bool> {
        let organization = self.names.organizations.get(question.organization)?;
        let permission = self.names.permissions.get(question.permission)?;
        self.enforcers.get(question.user)?.enforce(vec![organization.clone(), permission.clone()]).ok()
    }
}

impl Contestant for PerUser {
    fn prepare(&mut self, world: &World) {
        self.questions.clone_from(&world.questions);
    }

    fn allows(&self, number: usize) -> bool {
        self.questions.get(number).and_then(|question| self.enforce(question)).unwrap_or(false)
    }
}
