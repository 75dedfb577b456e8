use serde_json::{Value, json};
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::clock::shown;
use crate::tenant::Tenant;
use crate::tenant_deletion::TenantDeletion;
use crate::validate::Reason;

/// A change of the deletion of a tenant.
#[derive(Clone, Debug)]
pub enum TenantDeletionChange {
    /// The deletion is scheduled. The tenant has none.
    Schedule(TenantDeletion),
    /// The deletion is called off.
    Cancel {
        /// The deletion, which has not begun.
        deletion: TenantDeletion,
        /// Why it is called off.
        reason: Reason,
    },
    /// The deletion begins, and cannot be called off any more. This is the last entry of the tenant's log but those of
    /// the deletion itself.
    Begin {
        /// The tenant.
        tenant: Tenant,
        /// The deletion, which has begun.
        after: TenantDeletion,
    },
}

impl TenantDeletionChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let update = |deletion: &TenantDeletion| Record::new(action::UPDATE, ResourceType::TENANT, deletion.tenant_id);
        let (none, at) = (json!({ "deletionAt": null }), |deletion: &TenantDeletion| -> Value {
            json!({ "deletionAt": shown(deletion.due_at) })
        });
        vec![match self {
            Self::Schedule(deletion) => update(deletion)
                .changing(&none, &at(deletion))
                .listing_changed_fields()
                .with("keepsLog", deletion.keeps_log)
                .with("reason", deletion.reason.as_str()),
            Self::Cancel { deletion, reason } => {
                update(deletion).changing(&at(deletion), &none).listing_changed_fields().with("reason", reason.as_str())
            }
            Self::Begin { tenant, after } => Record::new(action::DELETE, ResourceType::TENANT, after.tenant_id)
                .deleting(&tenant.audited())
                .with("keepsLog", after.keeps_log)
                .with("reason", after.reason.as_str())
                .with("contents", json!(after.contents)),
        }]
    }

    // Only the operator deletes tenants.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Schedule(_) | Self::Cancel { .. } | Self::Begin { .. } => Vec::new(),
        }
    }

    // The tenant is suspended in the same unit of work, and its sessions have ended before.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Schedule(_) | Self::Cancel { .. } => Vec::new(),
            Self::Begin { after, .. } => vec![after.tenant_id.into()],
        }
    }
}
