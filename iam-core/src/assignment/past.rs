use std::cmp::Reverse;
use std::collections::HashMap;

use iam_model::access::{Coverage, VisibleScope};
use iam_model::assignment::{Assignment, AssignmentFilter, Grant, ListedAssignment};
use iam_model::clock::{Timestamp, cut};
#[cfg(doc)]
use iam_model::error::Error;
use iam_model::error::Result;
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::organization::{OrganizationSummary, Position};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::user::User;

use crate::access::require_visible;
use crate::assignment::Assignments;
use crate::assignment::service::cut_end;
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::history;

impl Assignments<'_> {
    /// A page of the assignments at a moment, as [`list`](Self::list) returns them for the present. Roles and
    /// organizations have the names of that moment. An earlier moment also needs `audit-logs:read` tenant-wide. For a
    /// future moment, the current assignments are listed that will not have expired by then.
    ///
    /// If `role-assignments:read` is held in organizations, the list is limited to the assignments that are within them
    /// now.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Validation`] naming `asOf` for a moment before the history of the tenant begins.
    pub async fn list_at(
        &self,
        caller: &Caller,
        filter: &AssignmentFilter,
        at: Timestamp,
        page: PageRequest,
    ) -> Result<Page<ListedAssignment>> {
        let (tenant, at) = (caller.tenant(), cut(at));
        let filter = &cut_end(filter);
        let visible_scope = self.0.rights(caller).visible_scope(&permission::ROLE_ASSIGNMENTS_READ)?;
        if at >= self.0.now() {
            let _turn = self.0.long_read(caller).await?;
            return Ok(self.0.store.assignments(tenant, filter, &visible_scope, page, at).await?);
        }
        history::may_look_back(self.0, caller, "asOf", at).await?;
        let _turn = self.0.long_read(caller).await?;
        let Page { items, total, request } =
            self.0.store.assignments_at(tenant, filter, &visible_scope, page, at).await?;
        Ok(Page { items: self.listed(tenant, items, at).await?, total, request })
    }

    /// The assignments of a user at a moment, as [`of_user`](Self::of_user) returns them for the present, with the
    /// roles and organizations of that moment. An earlier moment also needs `audit-logs:read` tenant-wide.
    ///
    /// # Errors
    ///
    /// Those of [`of_user`](Self::of_user); [`Error::Validation`] naming `asOf` for a moment before the history of the
    /// tenant begins.
    pub async fn of_user_at(&self, caller: &Caller, user: UserId, at: Timestamp) -> Result<Vec<Grant>> {
        let (tenant, at) = (caller.tenant(), cut(at));
        let visible_scope =
            require_visible(self.0, caller, user, &permission::ROLE_ASSIGNMENTS_READ, Coverage::Part).await?;
        let _turn = self.0.long_read(caller).await?;
        let mut grants = if at >= self.0.now() {
            self.0.store.grants_of(tenant, &[user]).await?
        } else {
            history::may_look_back(self.0, caller, "asOf", at).await?;
            history::read(self.0, tenant, &[user], &[], at).await?.grants_at(at)
        };
        grants.retain(|grant| grant.assignment.is_live(at));
        if let VisibleScope::Organizations(covered) = visible_scope {
            // In the tree of now: a caller does not see more because an organization was elsewhere before.
            let held_in = grants.iter().filter_map(|grant| grant.assignment.organization_id);
            let ancestry = self.0.lineages(tenant, held_in).await?;
            let is_within = |id: OrganizationId| {
                let mut above = ancestry.position(id).into_iter().flat_map(Position::lineage);
                above.any(|id| covered.binary_search(&id).is_ok())
            };
            grants.retain(|grant| grant.assignment.organization_id.is_some_and(is_within));
        }
        grants.sort_by_key(|grant| (Reverse(grant.assignment.created_at), grant.assignment.id));
        Ok(grants)
    }

    /// Adds the summaries of the users, roles and organizations of assignments at a moment.
    async fn listed(
        &self,
        tenant: TenantId,
        assignments: Vec<Assignment>,
        at: Timestamp,
    ) -> Result<Vec<ListedAssignment>> {
        let users = distinct(assignments.iter().map(|assignment| assignment.user_id));
        let users = self.0.store.users_by_id(tenant, &users).await?;
        let users: HashMap<UserId, User> = users.into_iter().map(|user| (user.id, user)).collect();
        let roles = distinct(assignments.iter().map(|assignment| assignment.role_id));
        let roles = history::roles(self.0, tenant, &roles, at).await?;
        let organizations = distinct(assignments.iter().filter_map(|assignment| assignment.organization_id));
        let organizations = history::organizations(self.0, tenant, organizations, at).await?;
        let listed = |assignment: Assignment| {
            let organization = assignment.organization_id.and_then(|id| organizations.at(id, at));
            Some(ListedAssignment {
                user: users.get(&assignment.user_id)?.summary(),
                role: roles.at(assignment.role_id, at)?.summary(),
                organization: organization
                    .map(|found| OrganizationSummary { id: found.id, name: found.name.to_string() }),
                assignment,
            })
        };
        Ok(assignments.into_iter().filter_map(listed).collect())
    }
}
