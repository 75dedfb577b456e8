use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::{GrantedRights, Until};
use crate::assignment::{Assignment, Grant, RevokeReason};
use crate::audit::{Record, ResourceType, action};
use crate::clock::shown;
use crate::id::UserId;

/// A change of role assignments.
#[derive(Clone, Debug)]
pub enum AssignmentChange {
    /// Users get roles. Only the assignments are written.
    Create(Vec<Grant>),
    /// An access request becomes effective: its user gets the role. The eligibility was covered when it was made, and
    /// what was added to the role since, too. So it needs no escalation check. Only the assignment is written.
    Activate {
        /// The grant, with the mark of the request.
        grant: Box<Grant>,
        /// The users who have approved the request.
        approved_by: Vec<UserId>,
    },
    /// The expiries of assignments change, or the groups of directories that give them. Each assignment is there once.
    Update(Vec<ChangedAssignment>),
    /// Assignments end, all for the same reason.
    Revoke {
        /// The grants that end.
        grants: Vec<Grant>,
        /// The reason; `None` if the only reason is a request to revoke the assignment.
        reason: Option<RevokeReason>,
    },
}

/// An assignment that changes.
#[derive(Clone, Debug)]
pub struct ChangedAssignment {
    /// The grant before the change.
    pub grant: Grant,
    /// The assignment after the change.
    pub after: Assignment,
}

impl AssignmentChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create(grants) => grants.iter().map(|grant| record(action::ROLE_ASSIGNED, grant)).collect(),
            Self::Activate { grant, approved_by } => {
                vec![record(action::ROLE_ASSIGNED, grant).with("approvedBy", json!(approved_by))]
            }
            Self::Update(changed) => changed.iter().map(updated).collect(),
            Self::Revoke { grants, reason } => grants.iter().map(|grant| revoked(grant, *reason)).collect(),
        }
    }

    pub(crate) fn ended_versions(&self) -> Vec<&Grant> {
        match self {
            Self::Create(_) | Self::Activate { .. } => Vec::new(),
            Self::Update(changed) => changed.iter().map(|changed| &changed.grant).collect(),
            Self::Revoke { grants, .. } => grants.iter().collect(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create(grants) => grants.iter().map(GrantedRights::of_new).collect(),
            Self::Update(changed) => changed.iter().filter_map(prolonged).collect(),
            Self::Activate { .. } | Self::Revoke { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(grants) | Self::Revoke { grants, .. } => {
                grants.iter().map(|grant| grant.assignment.user_id.into()).collect()
            }
            Self::Activate { grant, .. } => vec![grant.assignment.user_id.into()],
            Self::Update(changed) => changed.iter().map(|changed| changed.grant.assignment.user_id.into()).collect(),
        }
    }
}

/// The fields that can change.
fn audited(assignment: &Assignment) -> Value {
    let expires_at = assignment.expires_at.map(shown);
    json!({ "expiresAt": expires_at, "directoryGroupId": assignment.directory_group_id })
}

/// Returns the rights that an assignment gives by a later expiry.
fn prolonged(ChangedAssignment { grant, after }: &ChangedAssignment) -> Option<GrantedRights<'_>> {
    let until = Until::from(after.expires_at);
    let is_longer = until > grant.assignment.expires_at.into();
    is_longer.then(|| GrantedRights { until, role: Some(grant.role.id), ..GrantedRights::of(grant) })
}

fn updated(ChangedAssignment { grant, after }: &ChangedAssignment) -> Record {
    let changed = Grant { assignment: after.clone(), ..grant.clone() };
    let record = record(action::UPDATE, &changed);
    record.changing(&audited(&grant.assignment), &audited(after)).listing_changed_fields()
}

fn revoked(grant: &Grant, reason: Option<RevokeReason>) -> Record {
    let record = record(action::ROLE_REVOKED, grant);
    match reason {
        Some(reason) => record.with("reason", reason.as_str()),
        None => record,
    }
}

fn record(action: &'static str, Grant { assignment, role, .. }: &Grant) -> Record {
    let record = of(action, assignment)
        .with("targetUserId", json!(assignment.user_id))
        .with("roleId", json!(assignment.role_id))
        .with("roleName", role.name.as_str())
        .with("organizationId", json!(assignment.organization_id));
    let record = match assignment.directory_group_id {
        Some(group) => record.with("directoryGroupId", json!(group)),
        None => record,
    };
    match assignment.access_request_id {
        Some(request) => record.with("accessRequestId", json!(request)),
        None => record,
    }
}

fn of(action: &'static str, assignment: &Assignment) -> Record {
    Record::new(action, ResourceType::ROLE_ASSIGNMENT, assignment.id).in_organization(assignment.organization_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::CoveredBy;
    use crate::access::testing::{TestTree, at, id};
    use crate::audit::AuditEntry;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::history::EndedVersion;
    use crate::id::{AccessRequestId, DirectoryGroupId, IdGenerator, OrganizationId, RoleId, TenantId};
    use crate::random::SystemRandom;

    fn given_by(group: Option<&str>) -> Grant {
        let mut grant = TestTree::new().grant("users:read", Some("branch"), Some(at(50)));
        grant.assignment.directory_group_id = group.map(id);
        grant
    }

    fn batch(change: &Change) -> AuditBatch {
        let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
        AuditBatch::of(change, &author(tenant), at(1), &IdGenerator::new(), &SystemRandom)
    }

    fn recorded(change: AssignmentChange) -> AuditEntry {
        let batch = batch(&change.into());
        let [entry] = batch.entries() else { panic!("{} entries", batch.entries().len()) };
        assert_eq!(entry.resource_id, Some(given_by(None).assignment.id.to_string()));
        assert_eq!(entry.organization_id, Some(id::<OrganizationId>("branch")));
        entry.clone()
    }

    #[test]
    fn an_entry_names_the_group_that_gives_the_role() {
        let group = id::<DirectoryGroupId>("group");
        for (given_by, expected) in [(given_by(None), None), (given_by(Some("group")), Some(json!(group)))] {
            let assigned = recorded(AssignmentChange::Create(vec![given_by.clone()]));
            let reason = Some(RevokeReason::DirectoryGroup);
            let revoked = recorded(AssignmentChange::Revoke { grants: vec![given_by], reason });
            assert_eq!((&*assigned.action, &*revoked.action), ("ROLE_ASSIGNED", "ROLE_REVOKED"));
            for entry in [&assigned, &revoked] {
                assert_eq!(entry.metadata.get("directoryGroupId"), expected.as_ref());
            }
            assert_eq!(revoked.metadata["reason"], json!("DIRECTORY_GROUP"));
        }
    }

    #[test]
    fn an_entry_names_the_access_request_and_who_has_approved_it() {
        let mut grant = given_by(None);
        grant.assignment.access_request_id = Some(id("request"));
        let approved_by = vec![id::<UserId>("ada"), id("bob")];
        let boxed = Box::new(grant.clone());
        let activated = recorded(AssignmentChange::Activate { grant: boxed, approved_by: approved_by.clone() });
        let assigned = recorded(AssignmentChange::Create(vec![grant.clone()]));
        let reason = Some(RevokeReason::Ended);
        let revoked = recorded(AssignmentChange::Revoke { grants: vec![grant.clone()], reason });
        for entry in [&activated, &assigned, &revoked] {
            assert_eq!(entry.metadata["accessRequestId"], json!(id::<AccessRequestId>("request")));
        }
        assert_eq!((&*activated.action, &activated.metadata["approvedBy"]), ("ROLE_ASSIGNED", &json!(approved_by)));
        assert_eq!(assigned.metadata.get("approvedBy"), None);
        assert_eq!(revoked.metadata["reason"], json!("ENDED"));
        let activate = Change::from(AssignmentChange::Activate { grant: Box::new(grant), approved_by });
        assert!(activate.ended_versions().is_empty());
        assert_eq!(activate.invalidates(), [Uuid::from(id::<UserId>("user"))]);
        let standing = recorded(AssignmentChange::Create(vec![given_by(None)]));
        assert_eq!(standing.metadata.get("accessRequestId"), None);
    }

    #[test]
    fn only_a_new_assignment_with_the_mark_of_an_elevation_is_covered_by_it() {
        let mut grant = given_by(None);
        let covered_by = |change: AssignmentChange| -> Vec<CoveredBy> {
            change.granted_rights().iter().map(|granted| granted.covered_by).collect()
        };
        assert_eq!(covered_by(AssignmentChange::Create(vec![grant.clone()])), [CoveredBy::Standing]);
        grant.assignment.access_request_id = Some(id("request"));
        let (standing, elevation) = (given_by(None), CoveredBy::Elevation(id("request")));
        let both = AssignmentChange::Create(vec![grant.clone(), standing]);
        assert_eq!(covered_by(both), [elevation, CoveredBy::Standing]);
        let after = Assignment { expires_at: Some(at(60)), ..grant.assignment.clone() };
        let prolong = AssignmentChange::Update(vec![ChangedAssignment { grant: grant.clone(), after }]);
        assert_eq!(covered_by(prolong), [CoveredBy::Standing]);
        assert_eq!(covered_by(AssignmentChange::Activate { grant: Box::new(grant), approved_by: Vec::new() }), []);
    }

    #[test]
    fn only_what_stands_makes_users_eligible_by_its_role() {
        let mut grant = given_by(None);
        let roles = |change: AssignmentChange| -> Vec<Option<RoleId>> {
            change.granted_rights().iter().map(|granted| granted.role).collect()
        };
        let role = Some(grant.role.id);
        assert_eq!(roles(AssignmentChange::Create(vec![grant.clone()])), [role]);
        let after = Assignment { expires_at: Some(at(60)), ..grant.assignment.clone() };
        let prolong = AssignmentChange::Update(vec![ChangedAssignment { grant: grant.clone(), after }]);
        assert_eq!(roles(prolong), [role]);
        grant.assignment.access_request_id = Some(id("request"));
        assert_eq!(roles(AssignmentChange::Create(vec![grant])), [None]);
    }

    #[test]
    fn an_update_records_the_expiry_and_the_group() {
        let (group, other) = (id::<DirectoryGroupId>("group"), id::<DirectoryGroupId>("other"));
        for (before, directory_group_id, expires_at, old, new) in [
            (
                None,
                Some(group),
                Some(at(50)),
                json!({ "directoryGroupId": null }),
                json!({ "directoryGroupId": group }),
            ),
            (
                Some("group"),
                None,
                Some(at(50)),
                json!({ "directoryGroupId": group }),
                json!({ "directoryGroupId": null }),
            ),
            (Some("group"), Some(group), None, json!({ "expiresAt": shown(at(50)) }), json!({ "expiresAt": null })),
            (
                Some("other"),
                Some(group),
                Some(at(40)),
                json!({ "directoryGroupId": other, "expiresAt": shown(at(50)) }),
                json!({ "directoryGroupId": group, "expiresAt": shown(at(40)) }),
            ),
        ] {
            let grant = given_by(before);
            let after = Assignment { expires_at, directory_group_id, ..grant.assignment.clone() };
            let change = AssignmentChange::Update(vec![ChangedAssignment { grant: grant.clone(), after }]);
            let entry = recorded(change.clone());
            assert_eq!(entry.action, "UPDATE");
            assert_eq!((json!(entry.old_value), json!(entry.new_value)), (old, new.clone()));
            let fields: Vec<&String> = new.as_object().unwrap().keys().collect();
            assert_eq!(entry.metadata["changedFields"], json!(fields));
            let change = Change::from(change);
            assert_eq!(change.ended_versions(), [EndedVersion::Assignment(grant.assignment.clone())]);
            assert_eq!(change.invalidates(), [Uuid::from(grant.assignment.user_id)]);
        }
    }

    #[test]
    fn each_of_several_updates_has_an_entry_and_ends_a_version() {
        let changed = ["ada", "bob"].map(|name| {
            let grant = given_by(None);
            let assignment = Assignment { id: id(name), user_id: id(name), ..grant.assignment.clone() };
            let after = Assignment { directory_group_id: Some(id(name)), ..assignment.clone() };
            ChangedAssignment { grant: Grant { assignment, ..grant }, after }
        });
        let change = Change::from(AssignmentChange::Update(changed.to_vec()));
        let batch = batch(&change);
        let recorded: Vec<_> = batch
            .entries()
            .iter()
            .map(|entry| (entry.resource_id.clone(), entry.metadata["directoryGroupId"].clone()))
            .collect();
        let after = changed.each_ref().map(|changed| &changed.after);
        assert_eq!(recorded, after.map(|after| (Some(after.id.to_string()), json!(after.directory_group_id))));
        let before = changed.each_ref().map(|changed| EndedVersion::Assignment(changed.grant.assignment.clone()));
        assert_eq!(batch.ended_versions(), before);
        assert_eq!(change.invalidates(), after.map(|after| Uuid::from(after.user_id)));
    }
}
