use async_trait::async_trait;
use iam_model::change::ManifestChange;
use iam_model::store::ManifestTransaction;
use iam_model::store_error::StoreError;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rows::{Draft, Row, key};
use super::transaction::RedbTransaction;

/// An item that a manifest has made.
#[derive(Serialize, Deserialize)]
pub(super) struct ManifestItemRow(Uuid);

impl Row for ManifestItemRow {
    const TABLE: &'static str = "manifest_items";

    fn key(&self) -> Vec<u8> {
        key(self.0)
    }
}

#[async_trait]
impl ManifestTransaction for RedbTransaction {
    async fn manifest_items(&mut self) -> Result<Vec<Uuid>, StoreError> {
        Ok(self.view().all::<ManifestItemRow>()?.into_iter().map(|ManifestItemRow(item)| item).collect())
    }
}

impl Draft<'_> {
    pub(super) fn write_manifest(self, change: &ManifestChange) -> Result<(), StoreError> {
        let ManifestChange::Apply { made, gone } = change;
        self.hold_tenant()?;
        made.iter().try_for_each(|item| self.put(ManifestItemRow(*item)))?;
        gone.iter().try_for_each(|item| self.remove::<ManifestItemRow>(&key(*item)).map(drop))
    }
}
