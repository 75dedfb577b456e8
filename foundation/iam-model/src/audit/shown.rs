use serde::Serialize;
use serde_json::{Map, Value};

use crate::audit::AuditEntry;
use crate::clock::shown;
use crate::id::{AuditEntryId, TenantId, UserId};

/// An entry as `GET /audit-logs/{id}` shows it, to be written as JSON.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownEntry<'a> {
    id: AuditEntryId,
    tenant_id: TenantId,
    action: &'a str,
    resource_type: &'a str,
    resource_id: Option<&'a str>,
    user_id: Option<UserId>,
    old_value: Option<&'a Map<String, Value>>,
    new_value: Option<&'a Map<String, Value>>,
    metadata: &'a Map<String, Value>,
    correlation_id: Option<&'a str>,
    ip_address: Option<String>,
    user_agent: Option<&'a str>,
    created_at: String,
}

impl<'a> From<&'a AuditEntry> for ShownEntry<'a> {
    fn from(entry: &'a AuditEntry) -> Self {
        let context = &entry.context;
        Self {
            id: entry.id,
            tenant_id: entry.tenant_id,
            action: &entry.action,
            resource_type: entry.resource_type.as_str(),
            resource_id: entry.resource_id.as_deref(),
            user_id: entry.user_id,
            old_value: entry.old_value.as_ref(),
            new_value: entry.new_value.as_ref(),
            metadata: &entry.metadata,
            correlation_id: context.correlation_id.as_ref().map(|id| id.as_str()),
            ip_address: context.ip_address.map(|address| address.to_string()),
            user_agent: context.user_agent.as_ref().map(|agent| agent.as_str()),
            created_at: shown(entry.created_at),
        }
    }
}
