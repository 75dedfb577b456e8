use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::domain::Domain;

/// A change of domains.
#[derive(Clone, Debug)]
pub enum DomainChange {
    /// A domain is added. Its name must be new in the tenant.
    Create(Domain),
    /// The record of a domain was looked for, or trusted code has verified the domain. No other tenant may have the
    /// domain VERIFIED if it is VERIFIED afterwards.
    Check {
        /// The domain before the change.
        before: Box<Domain>,
        /// The domain after the change.
        after: Domain,
    },
    /// A domain is removed.
    Delete(Domain),
}

impl DomainChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let record = match self {
            Self::Create(domain) => of(domain, action::CREATE).creating(&domain.audited()),
            Self::Check { before, after } => {
                let record = of(after, action::UPDATE).changing(&before.audited(), &after.audited());
                let record = record.listing_changed_fields();
                match (before.is_trusted != after.is_trusted, before.audited() != after.audited()) {
                    (true, _) => record.with("isTrusted", after.is_trusted),
                    (false, true) => record,
                    // When a record was looked for is no change of the domain: nothing follows from it.
                    (false, false) => return Vec::new(),
                }
            }
            Self::Delete(domain) => of(domain, action::DELETE).deleting(&domain.audited()),
        };
        vec![record]
    }

    // A domain gives no right to a user.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create(_) | Self::Check { .. } | Self::Delete(_) => Vec::new(),
        }
    }

    // No request is authenticated by a domain.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Check { .. } | Self::Delete(_) => Vec::new(),
        }
    }
}

fn of(domain: &Domain, action: &'static str) -> Record {
    Record::new(action, ResourceType::DOMAIN, domain.id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::access::testing::at;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::domain::DomainFinding;
    use crate::domain::tests::domain;
    use crate::id::IdGenerator;
    use crate::random::SystemRandom;

    /// The actions, and the old and new values, of the entries of a change.
    fn recorded(change: DomainChange) -> Vec<(String, Value, Value)> {
        let author = author(domain().tenant_id);
        let batch = AuditBatch::of(&Change::from(change), &author, at(1), &IdGenerator::new(), &SystemRandom);
        let entries = batch.entries().iter().map(|entry| {
            assert_eq!(
                (&entry.resource_type, entry.resource_id.clone()),
                (&ResourceType::DOMAIN, Some(domain().id.to_string()))
            );
            (entry.action.to_string(), json!(entry.old_value), json!(entry.new_value))
        });
        entries.collect()
    }

    #[test]
    fn changes_of_the_status_are_recorded() {
        let fields = json!({ "domain": "example.com", "status": "PENDING"});
        assert_eq!(recorded(DomainChange::Create(domain())), [("CREATE".into(), Value::Null, fields.clone())]);
        assert_eq!(recorded(DomainChange::Delete(domain())), [("DELETE".into(), fields, Value::Null)]);
        let check = |after| recorded(DomainChange::Check { before: domain().into(), after });
        let verified = [("UPDATE".into(), json!({ "status": "PENDING" }), json!({ "status": "VERIFIED" }))];
        assert_eq!(check(domain().checked(&DomainFinding::Proven, at(1))), verified);
        assert_eq!(check(domain().checked(&DomainFinding::NoRecord, at(1))), []);
        assert_eq!(check(domain().trusted(at(1))), verified);
        let before = domain().checked(&DomainFinding::Proven, at(1));
        let after = before.trusted(at(2));
        let trusted = recorded(DomainChange::Check { before: before.into(), after });
        assert_eq!(trusted, [("UPDATE".into(), json!({}), json!({}))]);
    }

    #[test]
    fn a_change_gives_no_rights_and_ends_no_session() {
        for change in [
            DomainChange::Create(domain()),
            DomainChange::Check { before: domain().into(), after: domain() },
            DomainChange::Delete(domain()),
        ] {
            assert!(change.granted_rights().is_empty() && change.invalidates().is_empty());
        }
    }
}
