use serde_json::json;
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::access_review::{AccessReview, AccessReviewItem, AccessReviewStatus, ReviewProgress, ReviewSubject};
use crate::audit::{Record, ResourceType, action};
use crate::id::{AccessReviewId, AccessReviewItemId, OrganizationId};

/// A change of access reviews.
#[derive(Clone, Debug)]
pub enum AccessReviewChange {
    /// A review begins. Its items are the assignments and the eligibilities that it is about and that have not expired
    /// when it begins.
    Create {
        /// The review.
        review: AccessReview,
        /// The number of its items, read under the tenant's lock.
        items: u64,
    },
    /// A decision about an item. The review must be OPEN.
    Decide {
        /// The organization of the review.
        organization: Option<OrganizationId>,
        /// The item before the decision.
        before: Box<AccessReviewItem>,
        /// The item after the decision.
        after: AccessReviewItem,
    },
    /// A review ends, and the items get their outcomes. The review must be OPEN. The revocation of the assignments and
    /// the removal of the eligibilities are changes of their own.
    Complete {
        /// The review before the change.
        before: AccessReview,
        /// The review after the change.
        after: AccessReview,
        /// How many items have each decision.
        progress: ReviewProgress,
        /// The items of which the assignment or the eligibility was to be revoked, and had ended before.
        gone: Vec<AccessReviewItemId>,
    },
    /// A review is given up. It must be OPEN.
    Cancel {
        /// The review before the change.
        before: AccessReview,
        /// The review after the change.
        after: AccessReview,
        /// How many items have each decision.
        progress: ReviewProgress,
    },
    /// The oldest closed reviews of the tenant are removed with their items, so that they do not become too many.
    RemoveOldest {
        /// The status of the reviews, which is not OPEN.
        status: AccessReviewStatus,
        /// How many reviews with this status stay: those that began last, then by identifier.
        kept: u32,
    },
}

impl AccessReviewChange {
    /// Returns no record for the removal of reviews: their beginning, their decisions and their end are recorded.
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::RemoveOldest { .. } => return Vec::new(),
            Self::Create { review, items } => of(review, action::CREATE)
                .creating(&review.audited())
                .with("counts", json!(ReviewProgress::of_new(*items))),
            Self::Decide { organization, before, after } => about(after.review_id, *organization, action::UPDATE)
                .changing(&before.audited_decision(), &after.audited_decision())
                .listing_changed_fields()
                .with("itemId", json!(after.id()))
                .with("roleId", json!(after.role.id))
                .about_subject(after.subject),
            Self::Complete { before, after, progress, gone } => {
                let gone = gone.len() as u64;
                let revoked = progress.revoke.saturating_sub(gone);
                of(after, action::COMPLETED)
                    .changing(&before.audited(), &after.audited())
                    .with("counts", json!({ "kept": progress.keep, "revoked": revoked, "gone": gone }))
            }
            Self::Cancel { before, after, progress } => of(after, action::UPDATE)
                .changing(&before.audited(), &after.audited())
                .listing_changed_fields()
                .with("counts", json!(progress)),
        }]
    }

    // A review gives no right to a user.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create { .. }
            | Self::Decide { .. }
            | Self::Complete { .. }
            | Self::Cancel { .. }
            | Self::RemoveOldest { .. } => Vec::new(),
        }
    }

    // The rights of a caller change with the assignments that a completed review revokes, which is another change.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create { .. }
            | Self::Decide { .. }
            | Self::Complete { .. }
            | Self::Cancel { .. }
            | Self::RemoveOldest { .. } => Vec::new(),
        }
    }
}

impl Record {
    /// Adds what an item is about to the metadata.
    fn about_subject(self, subject: ReviewSubject) -> Self {
        let record = match subject {
            ReviewSubject::Assignment { id, .. } => self.with("assignmentId", json!(id)),
            ReviewSubject::Eligibility { id, .. } => self.with("eligibilityId", json!(id)),
        };
        match subject.user() {
            Some(user) => record.with("targetUserId", json!(user)),
            None => record,
        }
    }
}

fn of(review: &AccessReview, action: &'static str) -> Record {
    about(review.id, review.organization_id, action)
}

fn about(review: AccessReviewId, organization: Option<OrganizationId>, action: &'static str) -> Record {
    Record::new(action, ResourceType::ACCESS_REVIEW, review).in_organization(organization)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::access::testing::{at, id};
    use crate::access_review::{Decided, ReviewDecision};
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::eligibility::Eligible;
    use crate::id::{EligibilityId, IdGenerator, TenantId, UserId};
    use crate::random::SystemRandom;
    use crate::role::RoleSummary;

    fn tenant() -> TenantId {
        "00000001-0000-7000-8000-000000000000".parse().unwrap()
    }

    fn review() -> AccessReview {
        AccessReview {
            id: id("review"),
            tenant_id: tenant(),
            name: "Spring".parse().unwrap(),
            organization_id: Some(id("branch")),
            role_ids: vec![id("role")],
            user_ids: Vec::new(),
            due_at: at(99),
            status: AccessReviewStatus::Open,
            created_at: at(0),
            created_by: None,
            closed_at: None,
            closed_by: None,
        }
    }

    fn item(decided: Option<Decided>) -> AccessReviewItem {
        AccessReviewItem {
            review_id: review().id,
            subject: ReviewSubject::Assignment { id: id("assignment"), user: id("user"), directory_group: None },
            role: RoleSummary { id: id("role"), name: "CLERK".parse().unwrap() },
            organization: None,
            expires_at: None,
            granted_at: at(0),
            granted_by: None,
            last_login_at: None,
            decided,
            outcome: None,
        }
    }

    /// The action, the old and new values, and the metadata of the entry of a change.
    fn recorded(change: AccessReviewChange) -> (String, Value, Value, Value) {
        let batch = AuditBatch::of(&Change::from(change), &author(tenant()), at(1), &IdGenerator::new(), &SystemRandom);
        let [entry] = batch.entries() else { panic!("{} entries", batch.entries().len()) };
        assert_eq!(entry.resource_type, ResourceType::ACCESS_REVIEW);
        assert_eq!(entry.resource_id, Some(review().id.to_string()));
        assert_eq!(entry.organization_id, Some(id::<OrganizationId>("branch")));
        let [old, new] = [&entry.old_value, &entry.new_value].map(|value| json!(value));
        (entry.action.to_string(), old, new, json!(entry.metadata))
    }

    #[test]
    fn every_change_is_recorded_with_its_counts() {
        let (action, old, new, metadata) = recorded(AccessReviewChange::Create { review: review(), items: 3 });
        assert_eq!((action.as_str(), old, new), ("CREATE", Value::Null, review().audited()));
        assert_eq!(metadata["counts"], json!({ "total": 3, "undecided": 3, "keep": 0, "revoke": 0 }));

        let decided = Decided {
            decision: ReviewDecision::Revoke,
            reason: Some("Has left.".parse().unwrap()),
            decided_by: None,
            decided_at: at(1),
        };
        let (before, after) = (item(None).into(), item(Some(decided)));
        let (action, old, new, metadata) =
            recorded(AccessReviewChange::Decide { organization: review().organization_id, before, after });
        assert_eq!(action, "UPDATE");
        assert_eq!(old, json!({ "decision": null, "reason": null }));
        assert_eq!(new, json!({ "decision": "REVOKE", "reason": "Has left." }));
        let subject = item(None).subject;
        let assignment = json!(subject.assignment());
        assert_eq!((&metadata["itemId"], &metadata["assignmentId"]), (&assignment, &assignment));
        assert_eq!(metadata["targetUserId"], json!(subject.user()));
        assert_eq!(metadata.get("eligibilityId"), None);

        let progress = ReviewProgress::of(5, 2, 3);
        let after = review().closed(AccessReviewStatus::Completed, at(1), None);
        let gone = vec![id("assignment")];
        let complete = AccessReviewChange::Complete { before: review(), after, progress, gone };
        let (action, old, new, metadata) = recorded(complete);
        assert_eq!((action.as_str(), old), ("COMPLETED", json!({ "status": "OPEN" })));
        assert_eq!(new, json!({ "status": "COMPLETED" }));
        assert_eq!(metadata["counts"], json!({ "kept": 2, "revoked": 2, "gone": 1 }));

        let after = review().closed(AccessReviewStatus::Cancelled, at(1), None);
        let (action, _, new, metadata) = recorded(AccessReviewChange::Cancel { before: review(), after, progress });
        assert_eq!((action.as_str(), new), ("UPDATE", json!({ "status": "CANCELLED" })));
        assert_eq!(metadata["counts"], json!({ "total": 5, "undecided": 0, "keep": 2, "revoke": 3 }));
    }

    #[test]
    fn a_decision_about_an_eligibility_names_it_and_no_assignment() {
        for (eligible, user) in
            [(Eligible::User(id("user")), Some(json!(id::<UserId>("user")))), (Eligible::HoldersOf(id("held")), None)]
        {
            let about = |decided| AccessReviewItem {
                subject: ReviewSubject::Eligibility { id: id("eligibility"), eligible },
                ..item(decided)
            };
            let (decision, reason) = (ReviewDecision::Revoke, None);
            let decided = Decided { decision, reason, decided_by: None, decided_at: at(1) };
            let (before, after) = (about(None).into(), about(Some(decided)));
            let organization = review().organization_id;
            let (.., metadata) = recorded(AccessReviewChange::Decide { organization, before, after });
            let eligibility = json!(id::<EligibilityId>("eligibility"));
            assert_eq!((&metadata["itemId"], &metadata["eligibilityId"]), (&eligibility, &eligibility));
            assert_eq!((metadata.get("targetUserId"), metadata.get("assignmentId")), (user.as_ref(), None));
        }
    }

    #[test]
    fn a_change_gives_no_rights_and_ends_no_session() {
        let (before, after) = (review(), review());
        for change in [
            AccessReviewChange::Create { review: review(), items: 0 },
            AccessReviewChange::Decide { organization: None, before: item(None).into(), after: item(None) },
            AccessReviewChange::Complete {
                before: before.clone(),
                after: after.clone(),
                progress: ReviewProgress::default(),
                gone: Vec::new(),
            },
            AccessReviewChange::Cancel { before, after, progress: ReviewProgress::default() },
            AccessReviewChange::RemoveOldest { status: AccessReviewStatus::Completed, kept: 1 },
        ] {
            assert!(change.granted_rights().is_empty() && change.invalidates().is_empty());
        }
    }
}
