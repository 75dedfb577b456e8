use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::legal_hold::LegalHold;
use crate::validate::Reason;

/// A change of legal holds.
#[derive(Clone, Debug)]
pub enum LegalHoldChange {
    /// A hold is placed.
    Place(LegalHold),
    /// A hold is released. The audit log alone keeps it.
    Release {
        /// The hold.
        hold: LegalHold,
        /// Why it is released.
        reason: Reason,
    },
}

impl LegalHoldChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Place(hold) => of(hold, action::CREATE).creating(&hold.audited()),
            Self::Release { hold, reason } => {
                of(hold, action::DELETE).deleting(&hold.audited()).with("releaseReason", reason.as_str())
            }
        }]
    }

    // A hold gives no right to a user.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Place(_) | Self::Release { .. } => Vec::new(),
        }
    }

    // No right of a session depends on a hold.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Place(_) | Self::Release { .. } => Vec::new(),
        }
    }
}

fn of(hold: &LegalHold, action: &'static str) -> Record {
    Record::new(action, ResourceType::LEGAL_HOLD, hold.id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::access::testing::at;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::id::IdGenerator;
    use crate::legal_hold::tests::hold;
    use crate::random::SystemRandom;

    #[test]
    fn a_hold_and_its_release_are_recorded_with_their_reasons() {
        let hold = hold(Some(Uuid::from_u128(7).into()));
        let fields = json!({ "userId": Uuid::from_u128(7), "reason": "Case 2026-17" });
        let release = LegalHoldChange::Release { hold: hold.clone(), reason: "The case is closed.".parse().unwrap() };
        let released = json!({ "system": "test", "releaseReason": "The case is closed." });
        for (change, action, old, new, metadata) in [
            (LegalHoldChange::Place(hold.clone()), "CREATE", None, Some(&fields), json!({ "system": "test" })),
            (release, "DELETE", Some(&fields), None, released),
        ] {
            assert!(change.granted_rights().is_empty() && change.invalidates().is_empty());
            let author = author(hold.tenant_id);
            let batch = AuditBatch::of(&Change::from(change), &author, at(1), &IdGenerator::new(), &SystemRandom);
            let [entry] = batch.entries() else { panic!("{} entries", batch.entries().len()) };
            assert_eq!((&*entry.action, &entry.resource_type), (action, &ResourceType::LEGAL_HOLD));
            assert_eq!(entry.resource_id, Some(hold.id.to_string()));
            assert_eq!((json!(entry.old_value), json!(entry.new_value)), (json!(old), json!(new)));
            assert_eq!(json!(entry.metadata), metadata);
        }
    }
}
