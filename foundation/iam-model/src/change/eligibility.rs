use serde_json::json;
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::{OfferedRole, RevokeReason};
use crate::audit::{Record, ResourceType, action};
use crate::eligibility::Eligibility;

/// A change of eligibilities. They change only under [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
#[derive(Clone, Debug)]
pub enum EligibilityChange {
    /// Users may ask for a role from now on.
    Create {
        /// The eligibility.
        eligibility: Eligibility,
        /// Its role in its place, until it expires, on which the granted rights depend.
        offered: Box<OfferedRole>,
    },
    /// Fields of an eligibility change. Its role, its place and who may ask stay the same.
    Update {
        /// The eligibility before the change.
        before: Box<Eligibility>,
        /// The eligibility after the change.
        after: Eligibility,
        /// Its role in its place, until it expires after the change, on which the granted rights depend. `None` if it
        /// was not read, which is enough for a [narrower](Eligibility::is_narrowed_to) one.
        offered: Option<Box<OfferedRole>>,
    },
    /// Eligibilities are removed, all for the same reason.
    Delete {
        /// The eligibilities.
        eligibilities: Vec<Eligibility>,
        /// The reason; `None` if the only reason is a request to remove the eligibility.
        reason: Option<RevokeReason>,
    },
}

impl EligibilityChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { eligibility, .. } => vec![of(action::CREATE, eligibility).creating(&eligibility.audited())],
            Self::Update { before, after, .. } => {
                let record = of(action::UPDATE, after).changing(&before.audited(), &after.audited());
                vec![record.listing_changed_fields()]
            }
            Self::Delete { eligibilities, reason } => {
                eligibilities.iter().map(|eligibility| deleted(eligibility, *reason)).collect()
            }
        }
    }

    /// An eligibility counts like its role: those who may ask for it can get it until the eligibility expires. By what
    /// they get so, they may ask for nothing else.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        let (after, offered) = match self {
            Self::Delete { .. } => return Vec::new(),
            Self::Update { before, after, .. } if before.is_narrowed_to(after) => return Vec::new(),
            Self::Update { after, offered, .. } => (after, offered.as_deref()),
            Self::Create { eligibility, offered } => (eligibility, Some(&**offered)),
        };
        let offered = offered.filter(|offered| {
            let placed = offered.placed();
            (placed.role_id, placed.organization_id, offered.expires_at)
                == (after.role_id, after.organization_id, after.expires_at)
        });
        let granted = offered.map_or_else(GrantedRights::everything, GrantedRights::of_offered);
        vec![GrantedRights { role: None, ..granted }]
    }

    // No user holds a role by it.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create { .. } | Self::Update { .. } | Self::Delete { .. } => Vec::new(),
        }
    }
}

fn deleted(eligibility: &Eligibility, reason: Option<RevokeReason>) -> Record {
    let record = of(action::DELETE, eligibility).deleting(&eligibility.audited());
    match reason {
        Some(reason) => record.with("reason", reason.as_str()),
        None => record,
    }
}

fn of(action: &'static str, eligibility: &Eligibility) -> Record {
    let record = Record::new(action, ResourceType::ELIGIBILITY, eligibility.id)
        .in_organization(eligibility.organization_id)
        .with("roleId", json!(eligibility.role_id));
    match eligibility.eligible.user() {
        Some(user) => record.with("targetUserId", json!(user)),
        None => record,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::access::testing::{TestTree, at, id};
    use crate::access::{ResourceScope, Until};
    use crate::audit::AuditEntry;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::eligibility::Eligible;
    use crate::eligibility::tests::eligibility;
    use crate::id::{EligibilityId, IdGenerator, OrganizationId, TenantId, UserId};
    use crate::random::SystemRandom;

    fn offered(expires_at: Option<i64>) -> Box<OfferedRole> {
        let grant = TestTree::new().grant("users:read", Some("branch"), None);
        Box::new(OfferedRole { role: grant.role, organization: grant.organization, expires_at: expires_at.map(at) })
    }

    fn recorded(change: EligibilityChange) -> AuditEntry {
        let tenant: TenantId = "00000001-0000-7000-8000-000000000000".parse().unwrap();
        let batch = AuditBatch::of(&Change::from(change), &author(tenant), at(1), &IdGenerator::new(), &SystemRandom);
        let [entry] = batch.entries() else { panic!("{} entries", batch.entries().len()) };
        assert_eq!(entry.resource_type, ResourceType::ELIGIBILITY);
        assert_eq!(entry.resource_id, Some(id::<EligibilityId>("eligibility").to_string()));
        assert_eq!(entry.organization_id, Some(id::<OrganizationId>("branch")));
        entry.clone()
    }

    #[test]
    fn every_change_is_recorded() {
        let created = recorded(EligibilityChange::Create { eligibility: eligibility(), offered: offered(Some(100)) });
        let fields = json!({
            "roleId": eligibility().role_id,
            "organizationId": eligibility().organization_id,
            "userId": id::<UserId>("user"),
            "heldRoleId": null,
            "maxSeconds": 3600,
            "approvals": 1,
            "approverRoleId": null,
            "expiresAt": "1970-01-01T00:01:40.000Z",
        });
        assert_eq!((&*created.action, json!(created.new_value)), ("CREATE", fields.clone()));
        assert_eq!(created.metadata["targetUserId"], json!(id::<UserId>("user")));
        let after = Eligibility { approvals: 2, ..eligibility() };
        let updated = recorded(EligibilityChange::Update { before: eligibility().into(), after, offered: None });
        assert_eq!((&*updated.action, &updated.metadata["changedFields"]), ("UPDATE", &json!(["approvals"])));
        let of_holders = Eligibility { eligible: Eligible::HoldersOf(id("held")), ..eligibility() };
        for (reason, expected) in [(None, None), (Some(RevokeReason::AccessReview), Some(json!("ACCESS_REVIEW")))] {
            let deleted = recorded(EligibilityChange::Delete { eligibilities: vec![eligibility()], reason });
            assert_eq!((&*deleted.action, json!(deleted.old_value)), ("DELETE", fields.clone()));
            assert_eq!(deleted.metadata.get("reason"), expected.as_ref());
        }
        let deleted = recorded(EligibilityChange::Delete { eligibilities: vec![of_holders], reason: None });
        assert_eq!((deleted.metadata.get("targetUserId"), json!(deleted.new_value)), (None, Value::Null));
    }

    /// What a change gives: in `branch`, or everything.
    fn granted(change: &EligibilityChange) -> Option<(bool, Until)> {
        let granted = change.granted_rights().into_iter().next()?;
        Some((!matches!(granted.scope, ResourceScope::Tenant), granted.until))
    }

    #[test]
    fn making_and_widening_an_eligibility_gives_its_role_until_it_expires() {
        let until = |second: i64| Some((true, Until::Moment(at(second))));
        let everything = Some((false, Until::Forever));
        let create = |offered| EligibilityChange::Create { eligibility: eligibility(), offered };
        assert_eq!(granted(&create(offered(Some(100)))), until(100));
        // The facts are those of another eligibility.
        assert_eq!(granted(&create(offered(Some(99)))), everything);
        assert_eq!(granted(&create(offered(None))), everything);
        let update = |change: fn(&mut Eligibility), offered| {
            let mut after = eligibility();
            change(&mut after);
            EligibilityChange::Update { before: eligibility().into(), after, offered }
        };
        assert_eq!(granted(&update(|after| after.max_seconds = 300, None)), None);
        assert_eq!(granted(&update(|after| after.expires_at = Some(at(50)), None)), None);
        assert_eq!(granted(&update(|after| after.approvals = 0, None)), everything);
        assert_eq!(granted(&update(|after| after.approvals = 0, Some(offered(Some(100))))), until(100));
        let prolong = |after: &mut Eligibility| after.expires_at = None;
        assert_eq!(granted(&update(prolong, Some(offered(None)))), Some((true, Until::Forever)));
        assert_eq!(granted(&update(prolong, Some(offered(Some(100))))), everything);
        let other_approver = |after: &mut Eligibility| after.approver_role_id = Some(id("approver"));
        assert_eq!(granted(&update(other_approver, Some(offered(Some(100))))), until(100));
        assert_eq!(granted(&EligibilityChange::Delete { eligibilities: vec![eligibility()], reason: None }), None);
    }
}
