//! Cedar, in its fastest form: a policy for each user, made once, and organizations and permissions as entities whose
//! ancestors are computed in advance. A role is a group of actions.

use std::collections::HashSet;

use cedar_policy::{Authorizer, Context, Decision, Entities, Entity, EntityUid, PolicySet, Request};

use super::contest::{Contestant, Outcome};
use super::world::World;

pub(crate) struct Cedar {
    authorizer: Authorizer,
    entities: Entities,
    /// The policies of each user.
    users: Vec<(EntityUid, PolicySet)>,
    permissions: Vec<EntityUid>,
    organizations: Vec<EntityUid>,
    /// User, permission, organization.
    questions: Vec<(usize, usize, usize)>,
}

impl Cedar {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        let many = |kind: &str, count: usize| -> Outcome<Vec<EntityUid>> {
            (0..count).map(|number| Ok(format!("{kind}::\"{number}\"").parse()?)).collect()
        };
        let users = many("U", world.users)?;
        let organizations = many("O", world.parents.len())?;
        let roles = (0..world.roles.len()).map(|number| Ok(format!("Action::\"{number}\"").parse()?));
        let roles = roles.collect::<Outcome<Vec<EntityUid>>>()?;
        let permissions = world.permissions.iter().map(|text| Ok(format!("Action::\"{text}\"").parse()?));
        let permissions = permissions.collect::<Outcome<Vec<EntityUid>>>()?;

        let in_organizations = organizations.iter().zip(&world.parents).map(|(uid, parent)| {
            let parents = parent.and_then(|parent| organizations.get(parent)).cloned();
            Entity::new_no_attrs(uid.clone(), parents.into_iter().collect())
        });
        let in_roles = permissions.iter().enumerate().map(|(permission, uid)| {
            let with = roles.iter().zip(&world.roles).filter(|(_, role)| role.contains(&permission));
            Entity::new_no_attrs(uid.clone(), with.map(|(role, _)| role.clone()).collect::<HashSet<_>>())
        });
        let groups = roles.iter().map(|role| Entity::new_no_attrs(role.clone(), HashSet::new()));
        let entities = Entities::from_entities(in_organizations.chain(in_roles).chain(groups), None)?;

        let policies = users.into_iter().enumerate().map(|(number, uid)| Ok((uid, policies(world, number)?)));
        Ok(Box::new(Self {
            authorizer: Authorizer::new(),
            entities,
            users: policies.collect::<Outcome<_>>()?,
            permissions,
            organizations,
            questions: Vec::new(),
        }))
    }

    fn request(&self, number: usize) -> Option<(Request, &PolicySet)> {
        let (user, permission, organization) = self.questions.get(number)?;
        let (user, policies) = self.users.get(*user)?;
        let (permission, organization) = (self.permissions.get(*permission)?, self.organizations.get(*organization)?);
        let request =
            Request::new(user.clone(), permission.clone(), organization.clone(), Context::empty(), None).ok()?;
        Some((request, policies))
    }
}

/// The policy of one user. It is only asked questions of this user, so it names no principal. With a policy for each
/// assignment, a decision takes one and a half times as long.
fn policies(world: &World, user: usize) -> Outcome<PolicySet> {
    let held = world.assignments_of(user).iter().map(|assigned| {
        let resource =
            assigned.organization.map(|number| format!(" && resource in O::\"{number}\"")).unwrap_or_default();
        format!("action in Action::\"{}\"{resource}", assigned.role)
    });
    let held: Vec<String> = held.collect();
    if held.is_empty() {
        return Ok(PolicySet::new());
    }
    Ok(format!("permit(principal, action, resource) when {{ ({}) }};", held.join(") || (")).parse()?)
}

impl Contestant for Cedar {
    fn prepare(&mut self, world: &World) {
        let questions = world.questions.iter();
        self.questions = questions.map(|it| (it.user, it.permission, it.organization)).collect();
    }

    fn allows(&self, number: usize) -> bool {
        self.request(number).is_some_and(|(request, policies)| {
            self.authorizer.is_authorized(&request, policies, &self.entities).decision() == Decision::Allow
        })
    }
}
