use iam_model::audit::AuditEntry;
use iam_model::clock::shown;
use iam_model::error::{Error, Result};
use iam_model::id::{AuditEntryId, TenantId, UserId};
use serde::Serialize;
use serde_json::{Map, Value};

/// The body of a request to a receiver.
#[derive(Serialize)]
struct Message<'a> {
    r#type: String,
    timestamp: String,
    data: Data<'a>,
}

/// An entry of the audit log, as `GET /audit-logs/{id}` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
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

/// Returns the body of the request that sends an entry.
pub(super) fn body(entry: &AuditEntry) -> Result<Vec<u8>> {
    let context = &entry.context;
    let message = Message {
        r#type: entry.event_type(),
        timestamp: shown(entry.created_at),
        data: Data {
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
        },
    };
    serde_json::to_vec(&message).map_err(|cause| Error::internal("body of a webhook's request", cause))
}
