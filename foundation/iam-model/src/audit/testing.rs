//! Entries for tests.

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::audit::{AuditEntry, ResourceType, Salt, Salts, action};
use crate::context::{Actor, Author, RequestContext, UserAgent};
use crate::id::TenantId;

/// Trusted code in a tenant.
#[must_use]
pub fn author(tenant: TenantId) -> Author {
    let actor = Actor::System { reason: "test".into() };
    Author { actor, tenant, impersonator: None, directory: None, context: RequestContext::default() }
}

/// An entry with these new values.
#[must_use]
pub fn entry(new_value: Value) -> AuditEntry {
    AuditEntry {
        id: Uuid::from_u128(1).into(),
        tenant_id: Uuid::from_u128(2).into(),
        action: action::UPDATE.into(),
        resource_type: ResourceType::USER,
        resource_id: Some(Uuid::from_u128(3).to_string()),
        organization_id: None,
        user_id: Some(Uuid::from_u128(4).into()),
        old_value: None,
        new_value: new_value.as_object().cloned(),
        metadata: Map::new(),
        context: RequestContext {
            correlation_id: "request-1".parse().ok(),
            ip_address: Some([192, 0, 2, 7].into()),
            user_agent: Some(UserAgent::new("test/1.0")),
        },
        created_at: "2026-01-31T09:15:00.123Z".parse().unwrap_or_default(),
        salts: Salts { details: Salt::Known([5; 16]), origin: Salt::Known([6; 16]) },
    }
}
