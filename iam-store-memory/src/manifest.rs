use async_trait::async_trait;
use iam_model::change::ManifestChange;
use iam_model::store::ManifestTransaction;
use iam_model::store_error::{Constraint, StoreError};
use uuid::Uuid;

use crate::state::{MemoryTransaction, TenantState, hold};

#[async_trait]
impl ManifestTransaction for MemoryTransaction {
    async fn manifest_items(&mut self) -> Result<Vec<Uuid>, StoreError> {
        Ok(self.draft.manifest_items.iter().copied().collect())
    }
}

impl TenantState {
    pub(super) fn write_manifest(&mut self, change: &ManifestChange) -> Result<(), StoreError> {
        let ManifestChange::Apply { made, gone } = change;
        hold(Constraint::Reference, self.tenant.is_some())?;
        self.manifest_items.extend(made);
        gone.iter().for_each(|item| {
            self.manifest_items.remove(item);
        });
        Ok(())
    }
}
