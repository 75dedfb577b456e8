use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{AuditEntry, Event, Export, PendingRetention, Record, ResourceType, Retention, Salt, action};
use crate::clock::{Timestamp, shown};
use crate::id::{AuditEntryId, TenantId, UserId};

/// A change of the audit log itself.
#[derive(Clone, Debug)]
pub enum AuditChange {
    /// The application records an event. Only the entry is written.
    Log(Event),
    /// The log is exported. Only the entry is written.
    Export(TenantId, Export),
    /// All that is held about a user is exported. Only the entry is written.
    ExportUser {
        /// The user.
        user: UserId,
        /// The format, for instance `text/html`.
        format: String,
    },
    /// All that a tenant has is exported. Only the entry is written.
    ExportTenant {
        /// The tenant.
        tenant: TenantId,
        /// Whether the hashes of passwords are in the export.
        with_credentials: bool,
    },
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
    /// Erases the personal fields in the values and the metadata of an entry.
    #[must_use]
    pub fn of(mut entry: AuditEntry) -> Self {
        entry.erase_details();
        let AuditEntry { created_at, id, old_value, new_value, metadata, salts, .. } = entry;
        Self { created_at, id, old_value, new_value, metadata, salt: salts.details }
    }
}

impl ErasedOrigin {
    /// Erases the client's address and user agent of an entry.
    #[must_use]
    pub fn of(mut entry: AuditEntry) -> Self {
        entry.erase_origin();
        Self { created_at: entry.created_at, id: entry.id, salt: entry.salts.origin }
    }
}

/// In the record of a retention: entries with a lower sequence number may be missing.
pub const GIVEN_UP_UNTIL: &str = "until";

/// In the record of an erasure: the entries that lose the personal fields in their values.
pub const ERASED_DETAILS: &str = "details";

/// In the record of an erasure: the entries that lose the client's address and user agent.
pub const ERASED_ORIGINS: &str = "origins";

/// In both records: the signature of the excuse.
pub const SIGNATURE: &str = "signature";

impl AuditChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Log(event) => event.record(),
            Self::Export(tenant, export) => {
                Record::new(action::READ, ResourceType::AUDIT_LOG, tenant).with_all(export.metadata())
            }
            Self::ExportUser { user, format } => {
                Record::new(action::READ, ResourceType::USER, user).with("format", format.as_str())
            }
            Self::ExportTenant { tenant, with_credentials } => {
                Record::new(action::READ, ResourceType::TENANT, tenant).with("withCredentials", json!(with_credentials))
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

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Log(_)
            | Self::Export(..)
            | Self::ExportUser { .. }
            | Self::ExportTenant { .. }
            | Self::SetRetention { .. }
            | Self::GiveUp { .. }
            | Self::Erase { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Log(_)
            | Self::Export(..)
            | Self::ExportUser { .. }
            | Self::ExportTenant { .. }
            | Self::SetRetention { .. }
            | Self::GiveUp { .. }
            | Self::Erase { .. } => Vec::new(),
        }
    }
}
