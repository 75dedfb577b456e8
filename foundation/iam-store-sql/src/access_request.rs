//! Access requests.

use std::collections::{BTreeMap, BTreeSet};

use iam_model::access::VisibleScope;
use iam_model::access_request::{
    AccessDecision, AccessRequest, AccessRequestFilter, AccessRequestScope, AccessRequestStatus, ApproverPlace,
};
use iam_model::clock::{Timestamp, cut};
use iam_model::id::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse, smaller, text};
use crate::store::SqlStore;

/// A request as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct AccessRequestRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub eligibility_id: Uuid,
    pub role_id: Uuid,
    pub role_name: String,
    pub organization_id: Option<Uuid>,
    pub requested_by: Uuid,
    pub reason: String,
    pub ticket: Option<String>,
    pub seconds: i64,
    pub approvals_needed: i64,
    pub approver_role_id: Option<Uuid>,
    pub decisions: Json<Vec<AccessDecision>>,
    pub status: String,
    pub assignment_id: Option<Uuid>,
    pub starts_at: Option<T>,
    pub ends_at: Option<T>,
    pub lapses_at: T,
    pub created_at: T,
    pub closed_at: Option<T>,
    pub closed_by: Option<Uuid>,
    pub close_reason: Option<String>,
    pub cancel_cause: Option<String>,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<AccessRequestRow<T>> for AccessRequest {
    type Error = StoreError;

    fn try_from(row: AccessRequestRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            eligibility_id: row.eligibility_id.into(),
            role_id: row.role_id.into(),
            role_name: parse("access_requests.role_name", &row.role_name)?,
            organization_id: row.organization_id.map(OrganizationId::from),
            requested_by: row.requested_by.into(),
            reason: text("access_requests.reason", row.reason)?,
            ticket: row.ticket.map(|ticket| text("access_requests.ticket", ticket)).transpose()?,
            seconds: smaller("access_requests.seconds", row.seconds)?,
            approvals_needed: smaller("access_requests.approvals_needed", row.approvals_needed)?,
            approver_role_id: row.approver_role_id.map(RoleId::from),
            decisions: row.decisions.0,
            status: parse("access_requests.status", &row.status)?,
            assignment_id: row.assignment_id.map(AssignmentId::from),
            starts_at: moment_optional("access_requests.starts_at", row.starts_at)?,
            ends_at: moment_optional("access_requests.ends_at", row.ends_at)?,
            lapses_at: moment("access_requests.lapses_at", row.lapses_at)?,
            created_at: moment("access_requests.created_at", row.created_at)?,
            closed_at: moment_optional("access_requests.closed_at", row.closed_at)?,
            closed_by: row.closed_by.map(UserId::from),
            close_reason: row.close_reason.map(|reason| text("access_requests.close_reason", reason)).transpose()?,
            cancel_cause: row.cancel_cause.map(|cause| parse("access_requests.cancel_cause", &cause)).transpose()?,
            version: row.version.into(),
        })
    }
}

/// The scope of a list, with its visible scopes as a database uses them.
#[derive(Debug)]
pub struct ListScope<P> {
    /// The requests of this user.
    pub user: Option<UserId>,
    /// The requests in this visible scope.
    pub read: Option<P>,
    /// The requests with one of these approver roles in a visible scope, for each pair.
    pub deciding: Vec<(Vec<Option<RoleId>>, P)>,
}

/// Returns the places in which a user decides, as visible scopes with the approver roles that count there. Roles with
/// the same places are together, because a user often has several roles in one place.
#[must_use]
pub fn deciding_scopes(places: &[ApproverPlace]) -> Vec<(Vec<Option<RoleId>>, VisibleScope)> {
    let mut places_of: BTreeMap<Option<RoleId>, BTreeSet<Option<OrganizationId>>> = BTreeMap::new();
    for place in places {
        places_of.entry(place.role).or_default().insert(place.organization);
    }
    let mut roles_in: BTreeMap<Option<Vec<OrganizationId>>, Vec<Option<RoleId>>> = BTreeMap::new();
    for (role, places) in places_of {
        // One place that is the whole tenant has all others in it.
        roles_in.entry(places.into_iter().collect()).or_default().push(role);
    }
    let scope = |places: Option<Vec<OrganizationId>>| places.map_or(VisibleScope::Tenant, VisibleScope::Organizations);
    roles_in.into_iter().map(|(places, roles)| (roles, scope(places))).collect()
}

/// Whether a list is empty for all requests. Then it has no statement.
#[must_use]
pub fn shows_nothing(filter: &AccessRequestFilter, scope: &AccessRequestScope) -> bool {
    if filter.to_decide {
        scope.user.is_none() || scope.deciding.is_empty()
    } else {
        scope.user.is_none() && scope.read.is_none() && scope.deciding.is_empty()
    }
}

// The list is built at run time, because its conditions vary from call to call. Only text of this file and of the
// stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        q.tenant_id,
        q.id,
        q.eligibility_id,
        q.role_id,
        q.role_name,
        q.organization_id,
        q.requested_by,
        q.reason,
        q.ticket,
        q.seconds,
        q.approvals_needed,
        q.approver_role_id,
        q.decisions,
        q.status,
        q.assignment_id,
        q.starts_at,
        q.ends_at,
        q.lapses_at,
        q.created_at,
        q.closed_at,
        q.closed_by,
        q.close_reason,
        q.cancel_cause,
        q.version";

/// How a database reads the decisions inside a request.
pub trait StoredDecisions: SqlStore {
    /// The decisions about a request `q`, as a table.
    const DECISIONS: &'static str;

    /// The user of a decision `d`.
    const DECIDER: &'static str;

    /// The version of the role for which a decision `d` counts; NULL for none.
    const ROLE_VERSION: &'static str;
}

/// One reason for which a list shows requests. Each reason is a part of the statement, because it has its own index.
enum Part<'a, P> {
    Own(UserId),
    Read(&'a P),
    Deciding,
}

/// Builds the statement for a page of the requests in a scope that pass a filter at a moment. The list must not be one
/// that [shows nothing](shows_nothing).
pub fn list<S>(
    tenant: TenantId,
    filter: &AccessRequestFilter,
    scope: &ListScope<S::Scope>,
    page: PageRequest,
    now: Timestamp,
) -> QueryBuilder<S::Database>
where
    S: StoredDecisions,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query = QueryBuilder::new("WITH found AS ");
    // The whole list has an index in its order.
    query.push(if is_whole::<S>(filter, scope) { "NOT MATERIALIZED (" } else { "MATERIALIZED (" });
    let mut separator = "";
    for part in parts::<S>(filter, scope) {
        query.push(separator).push("SELECT q.id, q.created_at AS key FROM ").push(S::SCHEMA);
        query.push("access_requests q WHERE q.tenant_id = ").push_bind(tenant.as_uuid());
        push_filter::<S>(&mut query, tenant, filter, scope, now);
        match part {
            Part::Own(user) => drop(query.push(" AND q.requested_by = ").push_bind(user.as_uuid())),
            Part::Read(visible) => S::push_scope(&mut query, "q.organization_id", tenant, visible),
            Part::Deciding => push_deciding::<S>(&mut query, tenant, scope),
        }
        separator = " UNION ";
    }
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    S::push_page(&mut query, " DESC", page);
    S::push_rows(&mut query, tenant, "access_requests", "q");
    query.push(" ORDER BY p.key DESC, p.id");
    query
}

/// Whether a list shows all requests of the tenant.
#[must_use]
pub fn is_whole<S: SqlStore>(filter: &AccessRequestFilter, scope: &ListScope<S::Scope>) -> bool {
    let AccessRequestFilter { status, user, role, organization, from, until, to_decide } = filter;
    let is_of_something = status.is_some() || user.is_some() || role.is_some() || organization.is_some();
    let is_filtered = is_of_something || from.is_some() || until.is_some() || *to_decide;
    !is_filtered && scope.read.as_ref().is_some_and(S::is_everywhere)
}

/// The parts of a list. What is to be decided is a part alone, and so is what is in the whole tenant.
fn parts<'a, S: SqlStore>(filter: &AccessRequestFilter, scope: &'a ListScope<S::Scope>) -> Vec<Part<'a, S::Scope>> {
    if filter.to_decide {
        return vec![Part::Deciding];
    }
    let read = scope.read.as_ref();
    if let Some(everywhere) = read.filter(|visible| S::is_everywhere(visible)) {
        return vec![Part::Read(everywhere)];
    }
    let deciding = (!scope.deciding.is_empty()).then_some(Part::Deciding);
    [scope.user.map(Part::Own), read.map(Part::Read), deciding].into_iter().flatten().collect()
}

fn push_filter<S>(
    query: &mut QueryBuilder<S::Database>,
    tenant: TenantId,
    filter: &AccessRequestFilter,
    scope: &ListScope<S::Scope>,
    now: Timestamp,
) where
    S: StoredDecisions,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    for (condition, id) in [
        (" AND q.requested_by = ", filter.user.map(UserId::as_uuid)),
        (" AND q.role_id = ", filter.role.map(RoleId::as_uuid)),
        (" AND q.organization_id = ", filter.organization.map(OrganizationId::as_uuid)),
    ] {
        if let Some(id) = id {
            query.push(condition).push_bind(id);
        }
    }
    if let Some(from) = filter.from {
        // Requests have whole milliseconds. A filter that begins within a millisecond excludes the request at its start.
        let is_whole = cut(from) == from;
        query.push(if is_whole { " AND q.created_at >= " } else { " AND q.created_at > " });
        query.push_bind(S::stored(cut(from)));
    }
    if let Some(until) = filter.until {
        query.push(" AND q.created_at <= ").push_bind(S::stored(cut(until)));
    }
    if let Some(status) = filter.status {
        push_status::<S>(query, status, now);
    }
    if let Some(user) = scope.user.filter(|_| filter.to_decide) {
        push_status::<S>(query, AccessRequestStatus::Pending, now);
        query.push(" AND q.requested_by <> ").push_bind(user.as_uuid());
        push_undecided::<S>(query, tenant, user);
    }
}

/// Adds the condition that a user has not decided about requests since their role has changed last.
fn push_undecided<S>(query: &mut QueryBuilder<S::Database>, tenant: TenantId, user: UserId)
where
    S: StoredDecisions,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    query.push(" AND ").push_bind(user.as_uuid()).push(" NOT IN (SELECT ").push(S::DECIDER);
    query.push(" FROM ").push(S::DECISIONS).push(" d WHERE ").push(S::ROLE_VERSION);
    query.push(" = (SELECT r.version FROM ").push(S::SCHEMA).push("roles r WHERE r.tenant_id = ");
    query.push_bind(tenant.as_uuid()).push(" AND r.id = q.role_id))");
}

/// Adds the condition that requests have a status at a moment. The stored status may be older. It is text of the
/// statement, so that the planner finds the index of the PENDING requests.
fn push_status<S>(query: &mut QueryBuilder<S::Database>, status: AccessRequestStatus, now: Timestamp)
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let now = || S::stored(now);
    match status {
        AccessRequestStatus::Pending => {
            query.push(" AND q.status = 'PENDING' AND q.lapses_at > ").push_bind(now());
        }
        AccessRequestStatus::Approved => {
            query.push(" AND q.status = 'APPROVED' AND q.ends_at > ").push_bind(now());
        }
        AccessRequestStatus::Active => {
            query.push(" AND q.status = 'ACTIVE' AND q.ends_at > ").push_bind(now());
        }
        AccessRequestStatus::Ended => {
            query.push(" AND q.status IN ('ENDED', 'ACTIVE') AND (q.status = 'ENDED' OR q.ends_at <= ");
            query.push_bind(now()).push(")");
        }
        AccessRequestStatus::Lapsed => {
            query.push(" AND q.status IN ('LAPSED', 'PENDING', 'APPROVED') AND (q.status = 'LAPSED' OR ");
            query.push("(q.status = 'PENDING' AND q.lapses_at <= ").push_bind(now());
            query.push(") OR (q.status = 'APPROVED' AND q.ends_at <= ").push_bind(now()).push("))");
        }
        AccessRequestStatus::Denied => drop(query.push(" AND q.status = 'DENIED'")),
        AccessRequestStatus::Cancelled => drop(query.push(" AND q.status = 'CANCELLED'")),
    }
}

/// Adds the condition that the user decides about requests like these.
fn push_deciding<S>(query: &mut QueryBuilder<S::Database>, tenant: TenantId, scope: &ListScope<S::Scope>)
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut before = " AND (";
    for (roles, visible) in &scope.deciding {
        query.push(before);
        push_approver_roles::<S>(query, roles);
        S::push_scope(query, "q.organization_id", tenant, visible);
        query.push(")");
        before = " OR ";
    }
    query.push(")");
}

/// Adds the condition that requests have one of these approver roles, of which there is one at least, behind an open
/// bracket.
fn push_approver_roles<S>(query: &mut QueryBuilder<S::Database>, roles: &[Option<RoleId>])
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let named: Vec<Uuid> = roles.iter().flatten().map(|role| role.as_uuid()).collect();
    query.push("((");
    if roles.contains(&None) {
        query.push("q.approver_role_id IS NULL").push(if named.is_empty() { "" } else { " OR " });
    }
    if !named.is_empty() {
        let mut list = query.push("q.approver_role_id IN (").separated(", ");
        for role in named {
            list.push_bind(role);
        }
        query.push(")");
    }
    query.push(")");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_with_the_same_places_are_together() {
        let role = |number: u128| Some(RoleId::from(Uuid::from_u128(number)));
        let organization = |number: u128| OrganizationId::from(Uuid::from_u128(number));
        let places = [
            (role(1), Some(organization(7))),
            (role(2), Some(organization(8))),
            (None, Some(organization(7))),
            (role(3), None),
            (role(1), Some(organization(8))),
            (role(3), Some(organization(9))),
            (None, Some(organization(8))),
            (role(1), Some(organization(7))),
        ];
        let places = places.map(|(role, organization)| ApproverPlace { role, organization });
        let expected = [
            (vec![role(3)], VisibleScope::Tenant),
            (vec![None, role(1)], VisibleScope::Organizations(vec![organization(7), organization(8)])),
            (vec![role(2)], VisibleScope::Organizations(vec![organization(8)])),
        ];
        assert_eq!(deciding_scopes(&places), expected);
        assert!(deciding_scopes(&[]).is_empty());
    }
}
