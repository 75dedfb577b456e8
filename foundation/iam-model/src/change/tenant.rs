use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::tenant::Tenant;

/// A change of a tenant.
#[derive(Clone, Debug)]
pub enum TenantChange {
    /// A new tenant.
    Create(Tenant),
    /// Fields of a tenant change.
    Update {
        /// The tenant before the change.
        before: Tenant,
        /// The tenant after the change.
        after: Tenant,
    },
    /// The operator suspends or reactivates a tenant.
    ChangeStatus {
        /// The tenant before the change.
        before: Tenant,
        /// The tenant after the change.
        after: Tenant,
    },
}

impl TenantChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let record = match self {
            Self::Create(tenant) => {
                Record::new(action::CREATE, ResourceType::TENANT, tenant.id).creating(&tenant.audited())
            }
            Self::Update { before, after } | Self::ChangeStatus { before, after } => {
                Record::new(action::UPDATE, ResourceType::TENANT, after.id)
                    .changing(&before.audited(), &after.audited())
                    .listing_changed_fields()
            }
        };
        vec![record]
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            // A new tenant has no users. Only the operator changes the status.
            Self::Create(_) | Self::Update { .. } | Self::ChangeStatus { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) => Vec::new(),
            // What is cached: with sessions and API keys who must set up a second factor and how AuthZEN names, and the
            // rules for attributes.
            Self::Update { before, after }
                if before.factor_demand() == after.factor_demand()
                    && before.authzen_identifiers == after.authzen_identifiers
                    && before.has_attribute_rules_of(after) =>
            {
                Vec::new()
            }
            Self::Update { after, .. } | Self::ChangeStatus { after, .. } => vec![after.id.into()],
        }
    }
}
