//! Reads of callers, compared with the expected ones.

use iam_core::assignment::{AssignmentFilter, ListedAssignment};
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationTree};
use iam_core::page::PageRequest;
use iam_core::user::{UserFilter, UserSort};
use iam_core::{AssignmentId, Caller, DirectoryGroupId, Error, OrganizationId, RoleId, UserId};

use super::{World, all, kind, position};
use crate::contract::{Actor, OperationContext};
use crate::operation::{KEYS, Read};
use crate::state::Tenant;

impl World<'_> {
    pub(super) async fn read(&self, tenant: usize, caller: &Caller, read: Read) -> Result<Vec<usize>, String> {
        let (iam, names) = (self.iam(), &self.names[tenant]);
        // Each lookup panics on an id of the other tenant: the answer must not contain one.
        let users = |id: UserId| position(&names.users, &id);
        let roles = |id: RoleId| position(&names.roles, &id);
        let organizations = |id: OrganizationId| position(&names.organizations, &id);
        let assignments = |id: AssignmentId| position(&names.assignments, &id);
        let groups = |id: DirectoryGroupId| position(&names.groups, &id);
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
            Read::Directories => {
                let listed = iam.directories().list(caller).await;
                listed.map(|all| all.iter().map(|(it, _)| position(&names.directories, &it.id)).collect())
            }
            Read::Groups(directory) => {
                let id = self.names[directory.tenant].directories[directory.index];
                let page = iam.directories().groups(caller, id, None, all()).await;
                page.map(|page| page.items.iter().map(|group| groups(group.id)).collect())
            }
            Read::WithAttribute(key, text) => {
                match iam.users().attribute_filter(caller, &format!("{key}:{text}")).await {
                    Ok(attribute) => {
                        let filter = UserFilter { attribute: Some(attribute), ..UserFilter::default() };
                        let page = iam.users().list(caller, &filter, UserSort::default(), all()).await;
                        page.map(|page| page.items.iter().map(|user| users(user.id)).collect())
                    }
                    Err(error) => Err(error),
                }
            }
            Read::Own => iam.sessions().me(caller).await.map(|me| {
                let attributes = me.attributes.unwrap_or_default();
                (0..KEYS.len()).filter(|number| attributes.get(KEYS[*number]).is_some()).collect()
            }),
            Read::Holds => {
                let page = iam.legal_holds().list(caller, all()).await;
                page.map(|page| page.items.iter().map(|hold| position(&names.holds, &hold.id)).collect())
            }
            Read::Assignments => {
                let listed = self.listed(caller, &AssignmentFilter::default()).await;
                listed.map(|listed| listed.iter().map(|it| assignments(it.assignment.id)).collect())
            }
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

    /// All assignments that a caller is shown, page by page.
    pub(super) async fn listed(
        &self,
        caller: &Caller,
        filter: &AssignmentFilter,
    ) -> Result<Vec<ListedAssignment>, Error> {
        let mut listed = Vec::new();
        for page in 1.. {
            let found = self.iam().assignments().list(caller, filter, PageRequest::new(page, 100).unwrap()).await?;
            let has_next = found.has_next();
            listed.extend(found.items);
            if !has_next {
                break;
            }
        }
        Ok(listed)
    }

    pub(super) fn check_read(
        &self,
        tenant: usize,
        actor: Actor,
        state: &Tenant,
        read: Read,
        shown: Result<Vec<usize>, String>,
    ) {
        let context = OperationContext { tenant, state, actor, now: self.now };
        let (gate, mut expected, in_order) = context.shows(read);
        // The user that a key is, and its assignments, are in no list.
        let real = match read {
            Read::Users | Read::Members(_) | Read::WithAttribute(..) => self.states[tenant].users.len(),
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
}

fn flatten(tree: &OrganizationTree, into: &mut Vec<(OrganizationId, u32)>) {
    into.push((tree.organization.id, tree.depth));
    for child in &tree.children {
        flatten(child, into);
    }
}
