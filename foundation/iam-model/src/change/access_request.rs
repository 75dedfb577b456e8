use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::access_request::{AccessRequest, CancelCause};
use crate::assignment::RevokeReason;
use crate::audit::{Record, ResourceType, action};
use crate::id::UserId;
use crate::validate::{Description, Reason};

/// A change of access requests. The assignments that they give are changes of their own. Requests change only under
/// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
#[derive(Clone, Debug)]
pub enum AccessRequestChange {
    /// A user asks for a role. If no approval is needed, the request may be ACTIVE already.
    Create(Box<AccessRequest>),
    /// A request changes.
    Update {
        /// The request before the change.
        before: Box<AccessRequest>,
        /// The request after the change.
        after: Box<AccessRequest>,
        /// What happens.
        event: AccessRequestEvent,
    },
    /// The oldest closed requests of a user are removed, so that they do not become too many: those that were made
    /// first, then by identifier.
    RemoveOldest {
        /// The user who has asked.
        user: UserId,
        /// How many closed requests stay.
        kept: u32,
    },
}

/// What happens to an access request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRequestEvent {
    /// A user approves it. With the last approval, it may become ACTIVE.
    Approved,
    /// A user refuses it.
    Denied,
    /// It is cancelled: by a person, or for this cause.
    Cancelled(Option<CancelCause>),
    /// The approvals did not come in time, or it could not begin in time.
    Lapsed,
    /// Its elevation begins at the time for which it was approved.
    Started,
    /// Its elevation ends, for the reason for which its assignment does.
    Ended(RevokeReason),
}

impl AccessRequestChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            // What has happened to them is recorded.
            Self::RemoveOldest { .. } => return Vec::new(),
            // The beginning of the assignment is recorded.
            Self::Update { event: AccessRequestEvent::Started, .. } => return Vec::new(),
            Self::Create(request) => of(action::CREATE, request).creating(&request.audited()),
            Self::Update { before, after, event } => of(action_of(*event), after)
                .changing(&before.audited(), &after.audited())
                .with_all(about(*event, after)),
        }]
    }

    // The assignment of the elevation is a change of its own.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create(_) | Self::Update { .. } | Self::RemoveOldest { .. } => Vec::new(),
        }
    }

    // The rights of a user change with the assignment.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Update { .. } | Self::RemoveOldest { .. } => Vec::new(),
        }
    }
}

fn action_of(event: AccessRequestEvent) -> &'static str {
    match event {
        AccessRequestEvent::Approved => action::APPROVED,
        AccessRequestEvent::Denied => action::DENIED,
        AccessRequestEvent::Cancelled(_) => action::CANCELLED,
        AccessRequestEvent::Lapsed => action::LAPSED,
        AccessRequestEvent::Started => action::UPDATE,
        AccessRequestEvent::Ended(_) => action::ENDED,
    }
}

/// What the metadata of an entry says of an event.
fn about(event: AccessRequestEvent, after: &AccessRequest) -> Map<String, Value> {
    let said = |reason: Option<&Reason>| reason.map(|reason| Value::from(reason.as_str()));
    let (decision_reason, cause) = match event {
        AccessRequestEvent::Approved | AccessRequestEvent::Denied => {
            (said(after.decisions.last().and_then(|decision| decision.reason.as_ref())), None)
        }
        AccessRequestEvent::Cancelled(cause) => (None, cause.map(|cause| Value::from(cause.as_str()))),
        AccessRequestEvent::Ended(reason) => (None, Some(Value::from(reason.as_str()))),
        AccessRequestEvent::Lapsed | AccessRequestEvent::Started => (None, None),
    };
    let facts =
        [("decisionReason", decision_reason), ("cause", cause), ("closeReason", said(after.close_reason.as_ref()))];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn of(action: &'static str, request: &AccessRequest) -> Record {
    Record::new(action, ResourceType::ACCESS_REQUEST, request.id)
        .in_organization(request.organization_id)
        .with("targetUserId", json!(request.requested_by))
        .with("roleId", json!(request.role_id))
        .with("roleName", request.role_name.as_str())
        .with("reason", request.reason.as_str())
        .with("ticket", json!(request.ticket.as_ref().map(Description::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::{at, id};
    use crate::access_request::tests::{decision, request};
    use crate::access_request::{AccessDecision, AccessRequestStatus, AccessVerdict};
    use crate::audit::AuditEntry;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::id::{AccessRequestId, IdGenerator, OrganizationId, TenantId};
    use crate::random::SystemRandom;

    fn recorded(change: AccessRequestChange) -> Option<AuditEntry> {
        let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
        let batch = AuditBatch::of(&Change::from(change), &author(tenant), at(1), &IdGenerator::new(), &SystemRandom);
        assert!(batch.entries().len() <= 1);
        batch.entries().first().cloned()
    }

    #[test]
    fn every_entry_says_who_asks_why() {
        let closed = |status| request().closed(status, at(9), Some(id("bob")));
        let said =
            AccessDecision { reason: Some("Go on.".parse().unwrap()), ..decision("bob", AccessVerdict::Approve) };
        let approved = request().with_decision(said);
        let denied = closed(AccessRequestStatus::Denied).with_decision(decision("bob", AccessVerdict::Deny));
        for (event, after, expected, more) in [
            (AccessRequestEvent::Approved, approved, "APPROVED", json!({ "decisionReason": "Go on." })),
            (AccessRequestEvent::Denied, denied, "DENIED", json!({})),
            (
                AccessRequestEvent::Cancelled(Some(CancelCause::NotEligible)),
                closed(AccessRequestStatus::Cancelled),
                "CANCELLED",
                json!({ "cause": "NOT_ELIGIBLE" }),
            ),
            (AccessRequestEvent::Cancelled(None), closed(AccessRequestStatus::Cancelled), "CANCELLED", json!({})),
            (
                AccessRequestEvent::Cancelled(None),
                closed(AccessRequestStatus::Cancelled).with_close_reason(Some(&"Not now.".parse().unwrap())),
                "CANCELLED",
                json!({ "closeReason": "Not now." }),
            ),
            (AccessRequestEvent::Lapsed, closed(AccessRequestStatus::Lapsed), "LAPSED", json!({})),
            (
                AccessRequestEvent::Ended(RevokeReason::Expired),
                closed(AccessRequestStatus::Ended),
                "ENDED",
                json!({ "cause": "EXPIRED" }),
            ),
        ] {
            let (before, after) = (request().into(), after.into());
            let entry = recorded(AccessRequestChange::Update { before, after, event }).unwrap();
            assert_eq!((&*entry.action, &entry.resource_type), (expected, &ResourceType::ACCESS_REQUEST));
            assert_eq!(entry.resource_id, Some(id::<AccessRequestId>("request").to_string()));
            assert_eq!(entry.organization_id, Some(id::<OrganizationId>("branch")));
            let mut metadata = json!({
                "targetUserId": id::<UserId>("user"),
                "roleId": request().role_id,
                "roleName": "READER",
                "reason": "The disk is full.",
                "ticket": "OPS-7",
            });
            metadata.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            let found: Value =
                entry.metadata.into_iter().filter(|(name, _)| name != "system").collect::<Map<_, _>>().into();
            assert_eq!(found, metadata);
        }
        let created = recorded(AccessRequestChange::Create(Box::new(request()))).unwrap();
        assert_eq!((&*created.action, json!(created.new_value)), ("CREATE", request().audited()));
        assert_eq!(created.metadata["reason"], json!("The disk is full."));
    }

    #[test]
    fn what_is_recorded_elsewhere_has_no_entry() {
        let (before, after) = (request().into(), request().active(id("assignment")).into());
        let started = AccessRequestChange::Update { before, after, event: AccessRequestEvent::Started };
        for change in [started, AccessRequestChange::RemoveOldest { user: id("user"), kept: 1 }] {
            assert!(change.granted_rights().is_empty() && change.invalidates().is_empty());
            assert!(recorded(change).is_none());
        }
    }
}
