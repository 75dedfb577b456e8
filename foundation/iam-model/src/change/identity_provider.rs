use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::identity_provider::IdentityProvider;

/// A change of identity providers.
#[derive(Clone, Debug)]
pub enum IdentityProviderChange {
    /// A provider is made. Its slug must be new in the tenant.
    Create(IdentityProvider),
    /// Fields of a provider change. Its slug must be that of no other provider of the tenant.
    Update {
        /// The provider before the change.
        before: Box<IdentityProvider>,
        /// The provider after the change.
        after: IdentityProvider,
    },
    /// A provider is removed, with the links of users to its accounts. No directory may name it.
    Delete {
        /// The provider.
        provider: IdentityProvider,
        /// How many links end with it.
        identities: u64,
    },
}

impl IdentityProviderChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Create(provider) => of(provider, action::CREATE).creating(&provider.audited()),
            Self::Update { before, after } => {
                let record = of(after, action::UPDATE).changing(&before.audited(), &after.audited());
                let record = record.listing_changed_fields();
                if before.client_secret == after.client_secret { record } else { record.with("secretIsChanged", true) }
            }
            Self::Delete { provider, identities } => {
                of(provider, action::DELETE).deleting(&provider.audited()).with("identities", *identities)
            }
        }]
    }

    /// A provider can speak for everybody in its domains, so who makes or changes one could use every account there. A
    /// removal, and a new name, give nothing.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Update { before, after } if before.is_renamed(after) => Vec::new(),
            Self::Create(_) | Self::Update { .. } => vec![GrantedRights::everything()],
            Self::Delete { .. } => Vec::new(),
        }
    }

    // No request is authenticated by a provider. Its sessions go on without it.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Update { .. } | Self::Delete { .. } => Vec::new(),
        }
    }
}

fn of(provider: &IdentityProvider, action: &'static str) -> Record {
    Record::new(action, ResourceType::IDENTITY_PROVIDER, provider.id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::access::testing::at;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::id::IdGenerator;
    use crate::identity_provider::EncryptedClientSecret;
    use crate::identity_provider::tests::provider;
    use crate::random::SystemRandom;

    /// The action, the old and new values, and the metadata of the entry of a change.
    fn recorded(change: IdentityProviderChange) -> (String, Value, Value, Value) {
        let author = author(provider().tenant_id);
        let batch = AuditBatch::of(&Change::from(change), &author, at(1), &IdGenerator::new(), &SystemRandom);
        let [entry] = batch.entries() else { panic!("{} entries", batch.entries().len()) };
        let resource = (&entry.resource_type, entry.resource_id.clone());
        assert_eq!(resource, (&ResourceType::IDENTITY_PROVIDER, Some(provider().id.to_string())));
        let [old, new] = [&entry.old_value, &entry.new_value].map(|value| json!(value));
        (entry.action.to_string(), old, new, json!(entry.metadata))
    }

    fn update(after: IdentityProvider) -> IdentityProviderChange {
        IdentityProviderChange::Update { before: provider().into(), after }
    }

    fn delete() -> IdentityProviderChange {
        IdentityProviderChange::Delete { provider: provider(), identities: 7 }
    }

    #[test]
    fn every_change_is_recorded_without_the_secret() {
        let fields = provider().audited();
        let (action, old, new, _) = recorded(IdentityProviderChange::Create(provider()));
        assert_eq!((action.as_str(), old, new), ("CREATE", Value::Null, fields.clone()));
        let (action, old, new, metadata) = recorded(delete());
        assert_eq!((action.as_str(), old, new), ("DELETE", fields, Value::Null));
        assert_eq!(metadata["identities"], 7);
        let (action, old, new, metadata) = recorded(update(IdentityProvider { enabled: false, ..provider() }));
        assert_eq!((action.as_str(), old, new), ("UPDATE", json!({ "enabled": true }), json!({ "enabled": false })));
        assert_eq!(metadata.get("secretIsChanged"), None);
        let secret = Some(EncryptedClientSecret(vec![8; 40]));
        let (.., metadata) = recorded(update(IdentityProvider { client_secret: secret, ..provider() }));
        assert_eq!(metadata["secretIsChanged"], true);
    }

    #[test]
    fn making_and_changing_a_provider_gives_everything() {
        let renamed = update(IdentityProvider { name: "Other".parse().unwrap(), ..provider() });
        let changed = update(IdentityProvider { trusts_email: true, ..provider() });
        for (change, gives) in
            [(IdentityProviderChange::Create(provider()), true), (changed, true), (renamed, false), (delete(), false)]
        {
            let granted = change.granted_rights();
            assert_eq!(
                granted.first().map(|granted| granted.permissions.clone()),
                gives.then(|| GrantedRights::everything().permissions)
            );
            assert!(change.invalidates().is_empty());
            let gives_protections =
                Change::from(change.clone()).gives_protections(&author(provider().tenant_id), at(1));
            assert_eq!(gives_protections, gives);
        }
    }
}
