//! Excuses: signed statements in the log that say which data may be missing.

use std::ops::Range;

use iam_model::audit::{AuditEntry, ResourceType, action, canonical_json};
use iam_model::change::{
    AuditChange, ERASED_DETAILS, ERASED_ORIGINS, ErasedDetails, ErasedOrigin, GIVEN_UP_UNTIL, SIGNATURE,
};
use iam_model::clock::Timestamp;
use iam_model::id::{AuditEntryId, TenantId, UserId};
use serde_json::json;

use crate::checkpoint::{LogKey, VerifierKey};

/// An excuse: a signed statement in an entry that says which data may be missing elsewhere in the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Excuse {
    /// Entries with a sequence number below `until`.
    GivenUp { until: u64 },
    /// Personal fields of these entries.
    Erased { details: Vec<AuditEntryId>, origins: Vec<AuditEntryId> },
}

impl Excuse {
    /// Returns the excuse in an entry, if the service itself recorded it. A writer of the database can insert an entry
    /// with the same content, but cannot sign it without the key.
    pub(crate) fn of(entry: &AuditEntry, key: &VerifierKey) -> Option<Self> {
        let excuse = Self::claimed_by(entry)?;
        let signature = entry.metadata.get(SIGNATURE)?.as_str()?;
        key.has_signed_excuse(entry.tenant_id, &excuse.content(), signature).then_some(excuse)
    }

    fn claimed_by(entry: &AuditEntry) -> Option<Self> {
        let ids = |name| serde_json::from_value(entry.metadata.get(name)?.clone()).ok();
        match &*entry.action {
            action::DELETE if entry.resource_type == ResourceType::AUDIT_LOG => {
                Some(Self::GivenUp { until: entry.metadata.get(GIVEN_UP_UNTIL)?.as_u64()? })
            }
            action::ERASE => Some(Self::Erased { details: ids(ERASED_DETAILS)?, origins: ids(ERASED_ORIGINS)? }),
            _ => None,
        }
    }

    fn sign(&self, key: &LogKey, tenant: TenantId) -> String {
        key.sign_excuse(tenant, &self.content())
    }

    /// The signed content: the kind of the excuse and all its values.
    fn content(&self) -> Vec<u8> {
        canonical_json(&match self {
            Self::GivenUp { until } => json!({ "action": action::DELETE, GIVEN_UP_UNTIL: until }),
            Self::Erased { details, origins } => {
                json!({ "action": action::ERASE, ERASED_DETAILS: details, ERASED_ORIGINS: origins })
            }
        })
    }
}

impl LogKey {
    /// Returns the change that marks the entries with these sequence numbers for removal, all of them created before
    /// a moment. Its entry excuses that they are missing.
    pub fn give_up(&self, tenant: TenantId, sequences: Range<u64>, before: Timestamp) -> AuditChange {
        let Range { start: from, end: until } = sequences;
        let signature = Excuse::GivenUp { until }.sign(self, tenant);
        AuditChange::GiveUp { tenant, from, until, before, signature }
    }

    /// Returns the change that erases personal fields of a user. Its entry excuses that they are missing.
    pub fn erase(
        &self,
        tenant: TenantId,
        user: UserId,
        details: Vec<ErasedDetails>,
        origins: Vec<ErasedOrigin>,
    ) -> AuditChange {
        let excuse = Excuse::Erased {
            details: details.iter().map(|erased| erased.id).collect(),
            origins: origins.iter().map(|erased| erased.id).collect(),
        };
        AuditChange::Erase { user, details, origins, signature: excuse.sign(self, tenant) }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::testing::{log_key, record};
    use iam_model::audit::testing;

    fn tenant() -> TenantId {
        Uuid::from_u128(2).into()
    }

    fn id(number: u128) -> AuditEntryId {
        Uuid::from_u128(number).into()
    }

    /// The entry that records a change.
    fn entry(change: &AuditChange) -> AuditEntry {
        record(tenant(), change)
    }

    fn given_up(key: &LogKey) -> AuditEntry {
        entry(&key.give_up(tenant(), 2..5, testing::entry(json!({})).created_at))
    }

    fn erased(key: &LogKey) -> AuditEntry {
        let of = |number| AuditEntry { id: id(number), ..testing::entry(json!({ "email": "ada@example.com" })) };
        let (details, origins) = ([11, 12].map(of).map(ErasedDetails::of), [13].map(of).map(ErasedOrigin::of));
        entry(&key.erase(tenant(), Uuid::from_u128(3).into(), details.into(), origins.into()))
    }

    #[test]
    fn a_signed_record_excuses_what_it_names() {
        let key = log_key(7);
        assert_eq!(Excuse::of(&given_up(&key), key.verifier()), Some(Excuse::GivenUp { until: 5 }));
        let excuse = Excuse::Erased { details: vec![id(11), id(12)], origins: vec![id(13)] };
        assert_eq!(Excuse::of(&erased(&key), key.verifier()), Some(excuse));
    }

    #[test]
    fn a_record_without_a_valid_signature_excuses_nothing() {
        let key = log_key(7);
        for record in [given_up(&key), erased(&key)] {
            assert!(Excuse::of(&record, key.verifier()).is_some());
            assert_eq!(Excuse::of(&record, log_key(8).verifier()), None);
            let other = AuditEntry { tenant_id: Uuid::from_u128(5).into(), ..record.clone() };
            assert_eq!(Excuse::of(&other, key.verifier()), None, "the record is of another tenant");
            for (name, value) in [
                (GIVEN_UP_UNTIL, json!(6)),
                (ERASED_DETAILS, json!([id(11), id(12), id(14)])),
                (ERASED_ORIGINS, json!([id(14)])),
                (SIGNATURE, json!("")),
                (SIGNATURE, json!(null)),
            ] {
                let mut changed = record.clone();
                if changed.metadata.insert(name.to_owned(), value).is_some() {
                    assert_eq!(Excuse::of(&changed, key.verifier()), None, "{name}");
                }
            }
            let mut unsigned = record.clone();
            unsigned.metadata.remove(SIGNATURE);
            assert_eq!(Excuse::of(&unsigned, key.verifier()), None);
        }
        let signature = given_up(&key).metadata.remove(SIGNATURE);
        let mut swapped = erased(&key);
        swapped.metadata.insert(SIGNATURE.to_owned(), json!(signature));
        assert_eq!(Excuse::of(&swapped, key.verifier()), None, "the signature is that of another excuse");
    }
}
