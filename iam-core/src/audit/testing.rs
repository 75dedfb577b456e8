use aws_lc_rs::signature::Ed25519KeyPair;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{AuditEntry, LogKey, ResourceType, Salt, Salts, action};
use crate::caller::{Actor, Author, RequestContext, UserAgent};
use crate::id::TenantId;

/// The key of an installation. Each seed gives a different key with the same name.
pub(super) fn log_key(seed: u8) -> LogKey {
    LogKey::new(Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap(), Uuid::from_u128(9).into())
}

/// Trusted code in a tenant.
pub(super) fn author(tenant: TenantId) -> Author {
    Author { actor: Actor::System { reason: "test".into() }, tenant, context: RequestContext::default() }
}

/// An entry with these new values.
pub(super) fn entry(new_value: Value) -> AuditEntry {
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
            correlation_id: Some("request-1".parse().unwrap()),
            ip_address: Some([192, 0, 2, 7].into()),
            user_agent: Some(UserAgent::new("test/1.0")),
        },
        created_at: "2026-01-31T09:15:00.123Z".parse().unwrap(),
        salts: Salts { details: Salt::Known([5; 16]), origin: Salt::Known([6; 16]) },
    }
}
