use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use async_trait::async_trait;
use iam_model::audit::{AuditEntry, AuditFilter, Cursor, Digest, ResourceType, Salt, Salts};
use iam_model::change::AuditChange;
use iam_model::clock::{Day, Timestamp, week_of};
use iam_model::context::{CorrelationId, RequestContext, UserAgent};
use iam_model::id::{AuditEntryId, OrganizationId, TenantId, UserId};
use iam_model::store::AuditStore;
use iam_model::store_error::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::RedbStore;
use super::rows::{Draft, Keys, Row, View, everywhere};
use super::sequence::{HeadRow, QueuedRow};
use super::session::user_agent;

/// An entry. Its row must keep every field to the last bit, because the leaf of the entry depends on its digest.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct EntryRow(#[serde(with = "EntryFields")] pub(super) AuditEntry);

#[derive(Serialize, Deserialize)]
#[serde(remote = "AuditEntry")]
struct EntryFields {
    id: AuditEntryId,
    tenant_id: TenantId,
    action: Cow<'static, str>,
    #[serde(with = "resource_type")]
    resource_type: ResourceType,
    resource_id: Option<String>,
    organization_id: Option<OrganizationId>,
    user_id: Option<UserId>,
    old_value: Option<Map<String, Value>>,
    new_value: Option<Map<String, Value>>,
    metadata: Map<String, Value>,
    #[serde(with = "ContextFields")]
    context: RequestContext,
    created_at: Timestamp,
    #[serde(with = "SaltsFields")]
    salts: Salts,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RequestContext")]
struct ContextFields {
    #[serde(with = "correlation_id")]
    correlation_id: Option<CorrelationId>,
    ip_address: Option<IpAddr>,
    #[serde(with = "user_agent")]
    user_agent: Option<UserAgent>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Salts")]
struct SaltsFields {
    #[serde(with = "SaltFields")]
    details: Salt,
    #[serde(with = "SaltFields")]
    origin: Salt,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Salt")]
enum SaltFields {
    Known([u8; 16]),
    Destroyed(#[serde(with = "DigestFields")] Digest),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Digest")]
pub(super) struct DigestFields([u8; 32]);

mod resource_type {
    use iam_model::audit::ResourceType;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(kind: &ResourceType, to: S) -> Result<S::Ok, S::Error> {
        kind.as_str().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ResourceType, D::Error> {
        String::deserialize(from).map(ResourceType::from)
    }
}

mod correlation_id {
    use iam_model::context::CorrelationId;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &Option<CorrelationId>, to: S) -> Result<S::Ok, S::Error> {
        id.as_ref().map(CorrelationId::as_str).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<CorrelationId>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse()).transpose().map_err(D::Error::custom)
    }
}

impl Row for EntryRow {
    const TABLE: &'static str = "audit_entries";

    fn key(&self) -> Vec<u8> {
        entry_key(self.0.created_at, self.0.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.0.tenant_id = tenant;
    }
}

/// The key of an entry, or of its row in the queue. Its bytes sort in the order of the times, also before 1970.
pub(super) fn entry_key(moment: Timestamp, id: AuditEntryId) -> Vec<u8> {
    let millis = moment.timestamp_millis().wrapping_sub(i64::MIN);
    [&millis.to_be_bytes()[..], id.as_uuid().as_bytes()].concat()
}

#[async_trait]
impl AuditStore for RedbStore {
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let keys = Keys::backwards_from(after.map(|cursor| entry_key(cursor.created_at, cursor.id)));
        let found = self.read(tenant, |view| view.take(keys, limit, |EntryRow(entry)| filter.matches(entry)))?;
        Ok(found.into_iter().map(|EntryRow(entry)| entry).collect())
    }

    async fn audit_entries_by_day(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64)>, StoreError> {
        let passes = |EntryRow(entry): &EntryRow| entry.action == action && entry.created_at >= from;
        let found = self.read(tenant, |view| view.take(Keys::backwards_from(None), limit, passes))?;
        let mut days: BTreeMap<Day, u64> = BTreeMap::new();
        for EntryRow(entry) in found {
            *days.entry(entry.created_at.date_naive()).or_default() += 1;
        }
        Ok(days.into_iter().collect())
    }

    async fn audit_actors_by_week(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Result<Vec<(Day, u64, u64)>, StoreError> {
        let passes = |EntryRow(entry): &EntryRow| entry.action == action && entry.created_at >= from;
        let found = self.read(tenant, |view| view.take(Keys::backwards_from(None), limit, passes))?;
        let mut weeks: BTreeMap<Day, (u64, BTreeSet<UserId>)> = BTreeMap::new();
        for EntryRow(entry) in found {
            let (entries, actors) = weeks.entry(week_of(entry.created_at.date_naive())).or_default();
            *entries += 1;
            actors.extend(entry.user_id);
        }
        Ok(weeks.into_iter().map(|(week, (entries, actors))| (week, entries, actors.len() as u64)).collect())
    }

    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError> {
        let found = self.read(tenant, |view| view.take(Keys::all(), 1, |EntryRow(entry)| entry.id == id))?;
        Ok(found.into_iter().next().map(|EntryRow(entry)| entry))
    }

    async fn purge_audit_entries(&self) -> Result<u64, StoreError> {
        self.write(|rows| {
            let mut removed = 0;
            for (tenant, head) in everywhere::<HeadRow>(rows)? {
                let draft = Draft::new(rows, tenant);
                for leaf in draft.view().leaves_before(head.removed)? {
                    removed += u64::from(draft.remove::<EntryRow>(&entry_key(leaf.created_at, leaf.entry_id))?);
                }
            }
            Ok(removed)
        })
        .await
    }
}

impl View<'_> {
    pub(super) fn entry_at(self, moment: Timestamp, id: AuditEntryId) -> Result<Option<AuditEntry>, StoreError> {
        Ok(self.get(&entry_key(moment, id))?.map(|EntryRow(entry)| entry))
    }
}

impl Draft<'_> {
    /// Writes entries, and queues them as pending entries.
    pub(super) fn record(self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        for entry in entries {
            self.put(QueuedRow { created_at: entry.created_at, entry_id: entry.id, digest: entry.digest() })?;
            self.put(EntryRow(entry))?;
        }
        Ok(())
    }

    pub(super) fn write_audit(self, change: &AuditChange) -> Result<(), StoreError> {
        match change {
            // These changes write only their entries.
            AuditChange::Log(_)
            | AuditChange::Export(..)
            | AuditChange::ExportUser { .. }
            | AuditChange::ExportTenant { .. } => Ok(()),
            AuditChange::SetRetention { after, .. } => {
                let pending_retention = after.pending.map(|pending| (pending.days, pending.from));
                let head = self.view().head()?.unwrap_or_default();
                self.put(HeadRow { retention_days: after.days, pending_retention, ..head })
            }
            AuditChange::GiveUp { until, before, .. } => {
                self.forget_past_versions(*before)?;
                self.put(HeadRow { removed: *until, ..self.view().head()?.unwrap_or_default() })
            }
            AuditChange::Erase { details, origins, .. } => {
                for erased in details {
                    self.rewrite(erased.created_at, erased.id, |entry| {
                        entry.old_value.clone_from(&erased.old_value);
                        entry.new_value.clone_from(&erased.new_value);
                        entry.metadata.clone_from(&erased.metadata);
                        entry.salts.details = erased.salt;
                    })?;
                }
                for erased in origins {
                    self.rewrite(erased.created_at, erased.id, |entry| {
                        entry.context.ip_address = None;
                        entry.context.user_agent = None;
                        entry.salts.origin = erased.salt;
                    })?;
                }
                Ok(())
            }
        }
    }

    /// Changes an entry if it still exists. The queue of pending entries stays as it is: it holds the digest, which an
    /// erasure does not change.
    fn rewrite(
        self,
        moment: Timestamp,
        id: AuditEntryId,
        change: impl FnOnce(&mut AuditEntry),
    ) -> Result<(), StoreError> {
        let Some(mut entry) = self.view().entry_at(moment, id)? else { return Ok(()) };
        change(&mut entry);
        self.put(EntryRow(entry))
    }
}
