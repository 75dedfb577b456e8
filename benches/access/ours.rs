//! The decisions of `iam-core`: a snapshot that is asked by identifiers and by the text of a permission.

use std::sync::Arc;

use iam_core::access::{Authority, Snapshot};
use iam_core::assignment::{Assignment, Grant, GrantOrganization};
use iam_core::clock::Timestamp;
use iam_core::organization::{Hierarchy, Organization, OrganizationStatus};
use iam_core::permission::Permission;
use iam_core::role::{Role, RoleScope};
use iam_core::user::UserStatus;
use iam_core::version::Version;
use iam_core::{OrganizationId, TenantId, UserId};
use uuid::Uuid;

use super::contest::{Contestant, Outcome};
use super::world::World;

/// Answers whether it is allowed, without a reason.
pub(crate) struct Allowing(Ours);

/// Answers whether it is allowed, and why.
pub(crate) struct Explaining(Ours);

struct Ours {
    snapshot: Snapshot,
    users: Vec<UserId>,
    permissions: Vec<Permission>,
    organizations: Vec<OrganizationId>,
    now: Timestamp,
    /// User, the permission's number, organization.
    questions: Vec<(UserId, usize, OrganizationId)>,
}

impl Allowing {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        Ok(Box::new(Self(Ours::load(world)?)))
    }
}

impl Explaining {
    pub(crate) fn load(world: &World) -> Outcome<Box<dyn Contestant>> {
        Ok(Box::new(Self(Ours::load(world)?)))
    }
}

impl Ours {
    fn load(world: &World) -> Outcome<Self> {
        let tenant_id = TenantId::from(Uuid::now_v7());
        let now: Timestamp = "2026-01-31T09:15:00Z".parse()?;
        let users: Vec<UserId> = (0..world.users).map(|_| Uuid::now_v7().into()).collect();
        let organizations: Vec<OrganizationId> = world.parents.iter().map(|_| Uuid::now_v7().into()).collect();
        let id_of = |number: usize| organizations.get(number).copied().ok_or("there is no such organization");

        let hierarchy: Hierarchy = (world.parents.iter().enumerate())
            .map(|(number, parent)| {
                Ok(Organization {
                    id: id_of(number)?,
                    tenant_id,
                    name: format!("Organization {number}").parse()?,
                    slug: format!("organization-{number}").parse()?,
                    status: OrganizationStatus::Active,
                    parent_id: parent.map(id_of).transpose()?,
                    created_at: now,
                    updated_at: now,
                    version: Version::FIRST,
                })
            })
            .collect::<Outcome<_>>()?;
        let mut roles = Vec::new();
        for (number, role) in world.roles.iter().enumerate() {
            let permissions = role.iter().filter_map(|number| world.permissions.get(*number));
            roles.push(Arc::new(Role {
                id: Uuid::now_v7().into(),
                tenant_id,
                name: format!("ROLE_{number}").parse()?,
                description: "".parse()?,
                scope: RoleScope::Any,
                permissions: permissions.map(|text| text.parse()).collect::<Result<_, _>>()?,
                system: false,
                created_at: now,
                updated_at: now,
                version: Version::FIRST,
            }));
        }

        let mut snapshot = Snapshot::new(hierarchy);
        for (number, user) in users.iter().enumerate() {
            let mut grants = Vec::new();
            for assigned in world.assignments_of(number) {
                let role = roles.get(assigned.role).ok_or("there is no such role")?;
                let organization = assigned.organization.map(|number| {
                    let lineage = world.upwards(number).map(id_of).collect::<Result<_, _>>()?;
                    Outcome::Ok(GrantOrganization {
                        id: id_of(number)?,
                        name: String::new(),
                        lineage,
                        is_lineage_active: true,
                    })
                });
                let organization = organization.transpose()?;
                let assignment = Assignment {
                    id: Uuid::now_v7().into(),
                    tenant_id,
                    user_id: *user,
                    role_id: role.id,
                    organization_id: organization.as_ref().map(|it| it.id),
                    expires_at: None,
                    created_at: now,
                    created_by: None,
                    directory_group_id: None,
                    access_request_id: None,
                };
                grants.push(Grant { assignment, role: Arc::clone(role), organization });
            }
            snapshot.insert(*user, UserStatus::Active, Authority::of(&grants));
        }
        let permissions = world.permissions.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok(Self { snapshot, users, permissions, organizations, now, questions: Vec::new() })
    }

    fn prepare(&mut self, world: &World) {
        let by_id = world.questions.iter().filter_map(|question| {
            let user = self.users.get(question.user)?;
            Some((*user, question.permission, *self.organizations.get(question.organization)?))
        });
        self.questions = by_id.collect();
    }

    fn question(&self, number: usize) -> Option<(UserId, &Permission, Option<OrganizationId>)> {
        let (user, permission, organization) = self.questions.get(number)?;
        Some((*user, self.permissions.get(*permission)?, Some(*organization)))
    }
}

impl Contestant for Allowing {
    fn prepare(&mut self, world: &World) {
        self.0.prepare(world);
    }

    fn allows(&self, number: usize) -> bool {
        let Self(ours) = self;
        ours.question(number).is_some_and(|(user, permission, organization)| {
            ours.snapshot.allows(user, permission, organization, ours.now)
        })
    }
}

impl Contestant for Explaining {
    fn prepare(&mut self, world: &World) {
        self.0.prepare(world);
    }

    fn allows(&self, number: usize) -> bool {
        let Self(ours) = self;
        let decision = ours.question(number).and_then(|(user, permission, organization)| {
            ours.snapshot.explain(user, permission, organization, ours.now)
        });
        decision.is_some_and(|decision| std::hint::black_box(decision).is_allowed())
    }
}
