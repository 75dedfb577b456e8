//! Reads a tenant from the service, by trusted code.

#![cfg(test)]

use std::collections::BTreeMap;

use iam_core::access_request::{AccessRequest, AccessRequestFilter, AccessVerdict};
use iam_core::assignment::{Assignment, AssignmentFilter};
use iam_core::clock::Timestamp;
use iam_core::eligibility::{Eligibility as Found, Eligible};
use iam_core::page::PageRequest;
use iam_core::user::UserStatus;
use iam_core::{AccessRequestId, AssignmentId, Caller, EligibilityId, Iam, OrganizationId, RoleId, TenantId, UserId};

use crate::state::{Decision, Eligibility, Held, Moment, NEVER, Request, Spot, Tenant, Who};

/// The ids in the service of what the test identifies by an index, and the start of the world.
pub(crate) struct Names {
    pub(crate) began: Timestamp,
    pub(crate) tenant: TenantId,
    pub(crate) users: Vec<UserId>,
    pub(crate) roles: Vec<RoleId>,
    pub(crate) organizations: Vec<OrganizationId>,
    pub(crate) eligibilities: Vec<EligibilityId>,
    pub(crate) requests: Vec<AccessRequestId>,
}

#[track_caller]
pub(crate) fn position<T: PartialEq>(all: &[T], one: &T) -> usize {
    all.iter().position(|other| other == one).expect("it belongs to this tenant")
}

pub(crate) fn page(number: u64) -> PageRequest {
    PageRequest::new(number, 100).unwrap()
}

impl Names {
    pub(crate) fn system(&self) -> Caller {
        Caller::system(self.tenant, "test")
    }

    pub(crate) fn organization(&self, spot: Spot) -> Option<OrganizationId> {
        spot.map(|number| self.organizations[number])
    }

    fn moment(&self, at: Timestamp) -> Moment {
        (at - self.began).num_milliseconds()
    }

    fn until(&self, expires_at: Option<Timestamp>) -> Moment {
        expires_at.map_or(NEVER, |at| self.moment(at))
    }

    fn spot(&self, organization: Option<OrganizationId>) -> Spot {
        organization.map(|id| position(&self.organizations, &id))
    }

    fn held(&self, found: &Assignment) -> Held {
        Held {
            user: position(&self.users, &found.user_id),
            role: position(&self.roles, &found.role_id),
            spot: self.spot(found.organization_id),
            until: self.until(found.expires_at),
            mark: found.access_request_id.map(|id| position(&self.requests, &id)),
        }
    }

    fn eligibility(&self, found: &Found) -> Eligibility {
        Eligibility {
            role: position(&self.roles, &found.role_id),
            spot: self.spot(found.organization_id),
            who: match found.eligible {
                Eligible::User(user) => Who::User(position(&self.users, &user)),
                Eligible::HoldersOf(role) => Who::HoldersOf(position(&self.roles, &role)),
            },
            max_seconds: found.max_seconds,
            approvals: found.approvals,
            approver: found.approver_role_id.map(|role| position(&self.roles, &role)),
            until: self.until(found.expires_at),
        }
    }

    fn request(&self, found: &AccessRequest) -> Request {
        let decisions = found.decisions.iter();
        Request {
            user: position(&self.users, &found.requested_by),
            eligibility: position(&self.eligibilities, &found.eligibility_id),
            role: position(&self.roles, &found.role_id),
            spot: self.spot(found.organization_id),
            seconds: found.seconds,
            approvals: found.approvals_needed,
            approver: found.approver_role_id.map(|role| position(&self.roles, &role)),
            decisions: decisions
                .map(|it| Decision {
                    user: position(&self.users, &it.user_id),
                    approves: it.decision == AccessVerdict::Approve,
                    version: it.role_version.map(i64::from),
                })
                .collect(),
            status: found.status,
            starts: found.starts_at.map(|at| self.moment(at)),
            ends: found.ends_at.map(|at| self.moment(at)),
            lapses: self.moment(found.lapses_at),
        }
    }

    /// The requests that a caller is shown, with their indexes.
    pub(crate) async fn requests(
        &self,
        iam: &Iam,
        caller: &Caller,
        filter: &AccessRequestFilter,
    ) -> BTreeMap<usize, Request> {
        let mut found = BTreeMap::new();
        for number in 1.. {
            let listed = iam.access_requests().list(caller, filter, page(number)).await.unwrap();
            let has_next = listed.has_next();
            found.extend(
                listed.items.iter().map(|it| (position(&self.requests, &it.request.id), self.request(&it.request))),
            );
            if !has_next {
                break;
            }
        }
        found
    }

    /// Reads the tenant, and which assignment is which.
    pub(crate) async fn read(&self, iam: &Iam) -> (Tenant, BTreeMap<Held, AssignmentId>) {
        let system = self.system();
        let mut tenant = Tenant::default();
        for user in &self.users {
            let user = iam.users().get(&system, *user).await.unwrap();
            tenant.is_active.push(user.status == UserStatus::Active);
        }
        for role in &self.roles {
            let role = iam.roles().get(&system, *role).await.unwrap();
            tenant.roles.push(role.permissions.iter().map(ToString::to_string).collect());
            tenant.versions.push(role.version.into());
        }
        let mut assignments = BTreeMap::new();
        let filter = AssignmentFilter { include_expired: true, ..AssignmentFilter::default() };
        for number in 1.. {
            let listed = iam.assignments().list(&system, &filter, page(number)).await.unwrap();
            let has_next = listed.has_next();
            assignments.extend(listed.items.iter().map(|it| (self.held(&it.assignment), it.assignment.id)));
            if !has_next {
                break;
            }
        }
        tenant.held = assignments.keys().cloned().collect();
        for number in 1.. {
            let listed = iam.eligibilities().list(&system, page(number)).await.unwrap();
            let has_next = listed.has_next();
            tenant.eligibilities.extend(
                listed
                    .items
                    .iter()
                    .map(|it| (position(&self.eligibilities, &it.eligibility.id), self.eligibility(&it.eligibility))),
            );
            if !has_next {
                break;
            }
        }
        tenant.requests = self.requests(iam, &system, &AccessRequestFilter::default()).await;
        (tenant, assignments)
    }
}
