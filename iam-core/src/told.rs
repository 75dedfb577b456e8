//! Who gets a message about what concerns those who hold a role.

use std::collections::HashSet;

use iam_model::assignment::Grant;
use iam_model::error::Result;
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::{MAX_LIMIT, PageRequest};
use iam_model::role::TENANT_ADMIN;
use iam_model::store::HolderQuery;
use iam_model::user::{User, UserKind};

use crate::access::counting_in;
use crate::engine::Engine;

/// How many persons get a message about one thing at most.
const MAX_TOLD: usize = 20;

/// How many pages of holders are read at most to find them: service accounts hold roles, too.
const MAX_PAGES: u64 = 10;

/// Returns persons who administer a tenant, as those to whom a message goes; none if mail is off. To be called before the
/// unit of work, which must not wait for a second connection.
pub(crate) async fn administrators(iam: &Engine, tenant: TenantId) -> Result<Vec<User>> {
    if iam.mail.is_none() {
        return Ok(Vec::new());
    }
    let roles = iam.store.role_by_name(tenant, TENANT_ADMIN).await?;
    Ok(in_order(holders(iam, tenant, roles.into_iter().map(|role| role.id).collect(), None).await?))
}

/// Returns those of some persons to whom messages go, in one order, because messages to one address are counted under a
/// lock that all tenants share.
pub(crate) fn in_order(mut persons: Vec<User>) -> Vec<User> {
    persons.sort_by_key(|person| person.email.key());
    persons.truncate(MAX_TOLD);
    persons
}

/// Returns ACTIVE persons who hold one of these roles in an organization, or tenant-wide, by a standing assignment. If
/// there are more than [`MAX_TOLD`], only some of them.
pub(crate) async fn holders(
    iam: &Engine,
    tenant: TenantId,
    roles: Vec<RoleId>,
    organization: Option<OrganizationId>,
) -> Result<Vec<User>> {
    let now = iam.now();
    let ancestry = iam.lineages(tenant, organization).await?;
    let position = organization.and_then(|id| ancestry.position(id));
    let query = HolderQuery { roles: Some(roles), organizations: counting_in(position), at: now };
    let counts = |grant: &Grant| grant.assignment.is_standing() && grant.is_effective(now);
    let mut persons = Vec::new();
    for number in 1..=MAX_PAGES {
        let found = iam.store.holders(tenant, &query, PageRequest::new(number, MAX_LIMIT)?, now).await?.items;
        let grants = iam.store.deciding_grants(tenant, &found, &query).await?;
        let standing: HashSet<UserId> =
            grants.into_iter().filter(counts).map(|grant| grant.assignment.user_id).collect();
        let mut users = iam.store.users_by_id(tenant, &found).await?;
        users.retain(|user| user.kind == UserKind::Human && standing.contains(&user.id));
        persons.append(&mut users);
        // One of them may be the user whose request it is.
        if found.len() < MAX_LIMIT as usize || persons.len() > MAX_TOLD {
            break;
        }
    }
    Ok(persons)
}
