//! What a tenant keeps of its users, in the form of the service, and what is kept of its log.

use chrono::TimeDelta;
use iam_core::attribute::{AttributeDefinition, AttributeType, UnregisteredAttributes};
use iam_core::tenant::TenantPatch;
use iam_core::{Conflict, Error};
use serde_json::{Map, Value};

use super::{World, all, position};
use crate::state::{Attributes, Definition, Destroyed, Hold, Kind, Rules};

impl World<'_> {
    /// Compares the rules for attributes and the holds of a tenant.
    pub(super) async fn compare_kept(&self, tenant: usize) {
        let (iam, system, state) = (self.iam(), self.system(tenant), &self.states[tenant]);
        let found = iam.tenants().get(&system, self.ids[tenant]).await.unwrap();
        let expected = tenant_patch(&state.rules);
        let definitions: Vec<AttributeDefinition> = found.user_attributes.into();
        assert_eq!(Some(definitions), expected.user_attributes, "{}", self.story());
        assert_eq!(Some(found.unregistered_attributes), expected.unregistered_attributes, "{}", self.story());
        let holds = iam.legal_holds().list(&system, all()).await.unwrap();
        let in_force = state.holds.iter().filter(|hold| !hold.gone).count();
        assert_eq!(holds.total, in_force as u64, "{}", self.story());
        for hold in holds.items {
            let number = position(&self.names[tenant].holds, &hold.id);
            let user = hold.user_id.map(|user| position(&self.names[tenant].users, &user));
            assert_eq!(Hold { user, gone: false }, state.holds[number], "{}", self.story());
        }
    }

    /// Waits until the whole log is older than the retention of the tenants. A hold keeps the log of its tenant.
    pub(super) async fn outlast_retention(&self) {
        let iam = self.iam();
        for tenant in 0..2 {
            iam.audit().set_retention(&self.system(tenant), Some(30)).await.unwrap();
        }
        while iam.sequence_audit_logs().await.unwrap().more {}
        self.installation.clock.advance(TimeDelta::days(61));
        for tenant in 0..2 {
            let expected = self.states[tenant].hold_on(Destroyed::Log).map(|hold| self.names[tenant].holds[hold]);
            let held = match iam.audit().apply_retention(&self.system(tenant)).await {
                Ok(removed) => {
                    assert!(removed > 0, "{}", self.story());
                    None
                }
                Err(Error::Conflict(Conflict::LegalHold(hold))) => Some(hold),
                Err(error) => panic!("{}{error:?}", self.story()),
            };
            assert_eq!(held, expected, "{}", self.story());
        }
    }
}

/// Attributes as a caller gives them.
pub(super) fn given(attributes: &Attributes) -> Map<String, Value> {
    attributes.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

pub(super) fn tenant_patch(rules: &Rules) -> TenantPatch {
    let defined = |definition: &Definition| AttributeDefinition {
        key: definition.key.parse().unwrap(),
        kind: match definition.kind {
            Kind::Text => AttributeType::String,
            Kind::Number => AttributeType::Number,
            Kind::Truth => AttributeType::Boolean,
            Kind::Texts => AttributeType::Strings,
            Kind::Object => AttributeType::Object,
        },
        searchable: definition.searchable,
        person_reads: definition.person_reads,
        person_writes: definition.person_writes,
        in_token: false,
    };
    let unregistered =
        if rules.refuses_others { UnregisteredAttributes::Refused } else { UnregisteredAttributes::Allowed };
    TenantPatch {
        user_attributes: Some(rules.definitions.iter().map(defined).collect()),
        unregistered_attributes: Some(unregistered),
        ..TenantPatch::default()
    }
}
