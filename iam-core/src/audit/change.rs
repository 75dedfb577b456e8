use std::ops::Range;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::record::Record;
use super::{AuditEntry, Event, Export, LogKey, PendingRetention, ResourceType, Retention, Salt, action, canonical};
use crate::clock::{Timestamp, shown};
use crate::id::{AuditEntryId, TenantId, UserId};

/// A change of the audit log itself.
#[derive(Clone, Debug)]
pub enum AuditChange {
    /// The application records an event. Only the entry is written.
    Log(Event),
    /// The log is exported. Only the entry is written.
    Export(TenantId, Export),
    /// The retention changes: entries are kept for a different number of days, or forever.
    SetRetention {
        /// The tenant.
        tenant: TenantId,
        /// The retention before the change.
        before: Retention,
        /// The retention after the change.
        after: Retention,
    },
    /// Retention marks the oldest entries for removal.
    GiveUp {
        /// The tenant.
        tenant: TenantId,
        /// Entries with a lower sequence number were marked earlier.
        from: u64,
        /// Entries with a lower sequence number are marked by this change.
        until: u64,
        /// All of them were created before this moment.
        before: Timestamp,
        /// Proves that the service marked them.
        signature: String,
    },
    /// The personal fields of one user are made unreadable.
    Erase {
        /// The user.
        user: UserId,
        /// Entries that lose the personal fields in their values and metadata.
        details: Vec<ErasedDetails>,
        /// Entries that lose the client's address and user agent.
        origins: Vec<ErasedOrigin>,
        /// Proves that the service erased them.
        signature: String,
    },
}

/// An entry after the erasure of the personal fields in its values and metadata. Every erasure of an entry writes the
/// same content, so two concurrent erasures do not conflict.
#[derive(Clone, Debug)]
pub struct ErasedDetails {
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub id: AuditEntryId,
    /// The values before, without personal ones.
    pub old_value: Option<Map<String, Value>>,
    /// The values after, without personal ones.
    pub new_value: Option<Map<String, Value>>,
    /// The metadata, without personal values.
    pub metadata: Map<String, Value>,
    /// The commitment, which replaces the salt.
    pub salt: Salt,
}

/// An entry that loses the client's address and user agent.
#[derive(Clone, Debug)]
pub struct ErasedOrigin {
    /// When the entry was created.
    pub created_at: Timestamp,
    /// The entry.
    pub id: AuditEntryId,
    /// The commitment, which replaces the salt.
    pub salt: Salt,
}

impl ErasedDetails {
    pub(super) fn of(mut entry: AuditEntry) -> Self {
        entry.erase_details();
        let AuditEntry { created_at, id, old_value, new_value, metadata, salts, .. } = entry;
        Self { created_at, id, old_value, new_value, metadata, salt: salts.details }
    }
}

impl ErasedOrigin {
    pub(super) fn of(mut entry: AuditEntry) -> Self {
        entry.erase_origin();
        Self { created_at: entry.created_at, id: entry.id, salt: entry.salts.origin }
    }
}

/// In the record of a retention: entries with a lower sequence number may be missing.
const GIVEN_UP_UNTIL: &str = "until";
/// In the record of an erasure: the entries.
const ERASED_DETAILS: &str = "details";
const ERASED_ORIGINS: &str = "origins";
/// In both records: the signature of the excuse.
const SIGNATURE: &str = "signature";

impl AuditChange {
    pub(crate) fn give_up(key: &LogKey, tenant: TenantId, places: Range<u64>, before: Timestamp) -> Self {
        let Range { start: from, end: until } = places;
        let signature = Excuse::GivenUp { until }.sign(key, tenant);
        Self::GiveUp { tenant, from, until, before, signature }
    }

    pub(crate) fn erase(
        key: &LogKey,
        tenant: TenantId,
        user: UserId,
        details: Vec<ErasedDetails>,
        origins: Vec<ErasedOrigin>,
    ) -> Self {
        let excuse = Excuse::Erased {
            details: details.iter().map(|erased| erased.id).collect(),
            origins: origins.iter().map(|erased| erased.id).collect(),
        };
        Self::Erase { user, details, origins, signature: excuse.sign(key, tenant) }
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Log(event) => event.record(),
            Self::Export(tenant, export) => {
                Record::new(action::READ, ResourceType::AUDIT_LOG, tenant).with_all(export.metadata())
            }
            Self::SetRetention { tenant, before, after } => {
                let fields = |retention: &Retention| {
                    let pending = retention
                        .pending
                        .map(|PendingRetention { days, from }| json!({ "retentionDays": days, "from": shown(from) }));
                    json!({ "retentionDays": retention.days, "pending": pending })
                };
                Record::new(action::UPDATE, ResourceType::AUDIT_LOG, tenant)
                    .changing(&fields(before), &fields(after))
                    .listing_changed_fields()
            }
            Self::GiveUp { tenant, from, until, before, signature } => {
                Record::new(action::DELETE, ResourceType::AUDIT_LOG, tenant)
                    .with("from", *from)
                    .with(GIVEN_UP_UNTIL, *until)
                    .with("before", shown(*before))
                    .with(SIGNATURE, signature.as_str())
            }
            Self::Erase { user, details, origins, signature } => Record::new(action::ERASE, ResourceType::USER, user)
                .with(ERASED_DETAILS, json!(details.iter().map(|erased| erased.id).collect::<Vec<_>>()))
                .with(ERASED_ORIGINS, json!(origins.iter().map(|erased| erased.id).collect::<Vec<_>>()))
                .with(SIGNATURE, signature.as_str()),
        }]
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Log(_) | Self::Export(..) | Self::SetRetention { .. } | Self::GiveUp { .. } | Self::Erase { .. } => {
                Vec::new()
            }
        }
    }
}

/// An excuse: a signed statement in an entry that says which data may be missing elsewhere in the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Excuse {
    /// Entries with a sequence number below `until`.
    GivenUp { until: u64 },
    /// Personal fields of these entries.
    Erased { details: Vec<AuditEntryId>, origins: Vec<AuditEntryId> },
}

impl Excuse {
    /// Returns the excuse in an entry, if the service itself recorded it. A writer of the database can insert an entry
    /// with the same content, but cannot sign it without the key.
    pub(super) fn of(entry: &AuditEntry, key: &LogKey) -> Option<Self> {
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
        let content = match self {
            Self::GivenUp { until } => json!({ "action": action::DELETE, GIVEN_UP_UNTIL: until }),
            Self::Erased { details, origins } => {
                json!({ "action": action::ERASE, ERASED_DETAILS: details, ERASED_ORIGINS: origins })
            }
        };
        let mut json = Vec::new();
        canonical::write(&content, &mut json, &mut |_, _| false);
        json
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::audit::testing::{self, log_key};
    use crate::caller::Caller;
    use crate::random::SystemRandom;

    fn tenant() -> TenantId {
        Uuid::from_u128(2).into()
    }

    fn id(number: u128) -> AuditEntryId {
        Uuid::from_u128(number).into()
    }

    /// The entry that records a change.
    fn entry(change: &AuditChange) -> AuditEntry {
        let AuditEntry { id, created_at, .. } = testing::entry(json!({}));
        change.records().remove(0).into_entry(id, &Caller::system(tenant(), "test"), created_at, &SystemRandom)
    }

    fn given_up(key: &LogKey) -> AuditEntry {
        entry(&AuditChange::give_up(key, tenant(), 2..5, testing::entry(json!({})).created_at))
    }

    fn erased(key: &LogKey) -> AuditEntry {
        let of = |number| AuditEntry { id: id(number), ..testing::entry(json!({ "email": "ada@example.com" })) };
        let (details, origins) = ([11, 12].map(of).map(ErasedDetails::of), [13].map(of).map(ErasedOrigin::of));
        entry(&AuditChange::erase(key, tenant(), Uuid::from_u128(3).into(), details.into(), origins.into()))
    }

    #[test]
    fn a_signed_record_excuses_what_it_names() {
        let key = log_key(7);
        assert_eq!(Excuse::of(&given_up(&key), &key), Some(Excuse::GivenUp { until: 5 }));
        let excuse = Excuse::Erased { details: vec![id(11), id(12)], origins: vec![id(13)] };
        assert_eq!(Excuse::of(&erased(&key), &key), Some(excuse));
    }

    #[test]
    fn a_record_without_a_valid_signature_excuses_nothing() {
        let key = log_key(7);
        for record in [given_up(&key), erased(&key)] {
            assert!(Excuse::of(&record, &key).is_some());
            assert_eq!(Excuse::of(&record, &log_key(8)), None);
            let other = AuditEntry { tenant_id: Uuid::from_u128(5).into(), ..record.clone() };
            assert_eq!(Excuse::of(&other, &key), None, "the record is of another tenant");
            for (name, value) in [
                (GIVEN_UP_UNTIL, json!(6)),
                (ERASED_DETAILS, json!([id(11), id(12), id(14)])),
                (ERASED_ORIGINS, json!([id(14)])),
                (SIGNATURE, json!("")),
                (SIGNATURE, json!(null)),
            ] {
                let mut changed = record.clone();
                if changed.metadata.insert(name.to_owned(), value).is_some() {
                    assert_eq!(Excuse::of(&changed, &key), None, "{name}");
                }
            }
            let mut unsigned = record.clone();
            unsigned.metadata.remove(SIGNATURE);
            assert_eq!(Excuse::of(&unsigned, &key), None);
        }
        let signature = given_up(&key).metadata.remove(SIGNATURE);
        let mut swapped = erased(&key);
        swapped.metadata.insert(SIGNATURE.to_owned(), json!(signature));
        assert_eq!(Excuse::of(&swapped, &key), None, "the signature is that of another excuse");
    }
}
