use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;

/// A change of the record of what manifests have made. It changes only under
/// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
#[derive(Clone, Debug)]
pub enum ManifestChange {
    /// A manifest was applied.
    Apply {
        /// The identifiers of the items that it has made.
        made: Vec<Uuid>,
        /// The identifiers of recorded items that are gone.
        gone: Vec<Uuid>,
    },
}

impl ManifestChange {
    /// Returns no records: the change of each item has its own entry.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Apply { .. } => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Apply { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Apply { .. } => Vec::new(),
        }
    }
}
