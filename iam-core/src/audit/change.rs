use serde_json::{Map, Value, json};

use super::record::Record;
use super::{AuditEntry, Event, Export, ResourceType, Salt, action};
use crate::clock::{Timestamp, shown};
use crate::id::{AuditEntryId, TenantId, UserId};

/// What is done with the audit log itself.
#[derive(Clone, Debug)]
pub enum AuditChange {
    /// The application records an event. Nothing is written but the entry.
    Log(Event),
    /// The log is exported. Nothing is written but the entry.
    Export(TenantId, Export),
    /// Entries are kept for another number of days, or forever.
    SetRetention {
        /// The tenant.
        tenant: TenantId,
        /// As it was.
        before: Option<u32>,
        /// As it becomes.
        after: Option<u32>,
    },
    /// Retention gives up the oldest entries.
    GiveUp {
        /// The tenant.
        tenant: TenantId,
        /// Entries before this place in the sequence were given up earlier.
        from: u64,
        /// Entries before this place are given up now.
        until: u64,
        /// All of them were made before this moment.
        before: Timestamp,
    },
    /// Personal fields of one person are made unreadable.
    Erase {
        /// The person.
        user: UserId,
        /// Entries that lose the personal fields among their values and metadata.
        details: Vec<ErasedDetails>,
        /// Entries that lose the client's address and user agent.
        origins: Vec<ErasedOrigin>,
    },
}

/// An entry after the personal fields among its values and metadata were erased. What is written over it is the same
/// whoever does it, so two that erase at once do not hurt each other.
#[derive(Clone, Debug)]
pub struct ErasedDetails {
    /// When the entry was made.
    pub created_at: Timestamp,
    /// The entry.
    pub id: AuditEntryId,
    /// The values before, without personal ones.
    pub old_value: Option<Map<String, Value>>,
    /// The values after, without personal ones.
    pub new_value: Option<Map<String, Value>>,
    /// The metadata, without personal values.
    pub metadata: Map<String, Value>,
    /// What takes the place of the salt.
    pub salt: Salt,
}

/// An entry that loses the client's address and user agent.
#[derive(Clone, Debug)]
pub struct ErasedOrigin {
    /// When the entry was made.
    pub created_at: Timestamp,
    /// The entry.
    pub id: AuditEntryId,
    /// What takes the place of the salt.
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

/// In the record of a retention, the place in the sequence before which entries may be gone.
const GIVEN_UP_UNTIL: &str = "until";
/// In the record of an erasure, the entries.
const ERASED_DETAILS: &str = "details";
const ERASED_ORIGINS: &str = "origins";

impl AuditChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Log(event) => event.record(),
            Self::Export(tenant, export) => {
                Record::new(action::READ, ResourceType::AUDIT_LOG, tenant).with_all(export.metadata())
            }
            Self::SetRetention { tenant, before, after } => {
                let fields = |days: &Option<u32>| json!({ "retentionDays": days });
                Record::new(action::UPDATE, ResourceType::AUDIT_LOG, tenant)
                    .changing(&fields(before), &fields(after))
                    .listing_changed_fields()
            }
            Self::GiveUp { tenant, from, until, before } => {
                Record::new(action::DELETE, ResourceType::AUDIT_LOG, tenant)
                    .with("from", *from)
                    .with(GIVEN_UP_UNTIL, *until)
                    .with("before", shown(*before))
            }
            Self::Erase { user, details, origins } => Record::new(action::ERASE, ResourceType::USER, user)
                .with(ERASED_DETAILS, json!(details.iter().map(|erased| erased.id).collect::<Vec<_>>()))
                .with(ERASED_ORIGINS, json!(origins.iter().map(|erased| erased.id).collect::<Vec<_>>())),
        }]
    }
}

/// What an entry itself says may be missing elsewhere in the log.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Excuse {
    /// Entries before this place in the sequence.
    GivenUp { until: u64 },
    /// Personal fields of these entries.
    Erased { details: Vec<AuditEntryId>, origins: Vec<AuditEntryId> },
}

impl Excuse {
    /// What an entry that the service itself has recorded excuses. Nobody else can record it.
    pub(super) fn of(entry: &AuditEntry) -> Option<Self> {
        let ids = |name| serde_json::from_value(entry.metadata.get(name)?.clone()).ok();
        match &*entry.action {
            action::DELETE if entry.resource_type == ResourceType::AUDIT_LOG => {
                Some(Self::GivenUp { until: entry.metadata.get(GIVEN_UP_UNTIL)?.as_u64()? })
            }
            action::ERASE => Some(Self::Erased { details: ids(ERASED_DETAILS)?, origins: ids(ERASED_ORIGINS)? }),
            _ => None,
        }
    }
}
