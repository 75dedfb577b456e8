use async_trait::async_trait;
use iam_model::change::TenantDeletionChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::store::{TenantDeletionStore, TenantDeletionTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::tenant_deletion::TenantDeletion;

use super::audit::EntryRow;
use super::rows::{Draft, Row, everywhere};
use super::sequence::{HeadRow, LeafRow, NodeRow, QueuedRow};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for TenantDeletion {
    const TABLE: &'static str = "tenant_deletions";

    // Each tenant has one such row at most.
    fn key(&self) -> Vec<u8> {
        Vec::new()
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

/// The tables whose rows stay until the end: those of the audit log for good.
const KEPT: [&str; 7] = [
    Tenant::TABLE,
    TenantDeletion::TABLE,
    EntryRow::TABLE,
    QueuedRow::TABLE,
    LeafRow::TABLE,
    NodeRow::TABLE,
    HeadRow::TABLE,
];

#[async_trait]
impl TenantDeletionStore for RedbStore {
    async fn tenant_deletion(&self, tenant: TenantId) -> Result<Option<TenantDeletion>, StoreError> {
        self.read(tenant, |view| view.get(&[]))
    }

    async fn due_tenant_deletions(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantDeletion>, StoreError> {
        let deletions = self.read_all(everywhere::<TenantDeletion>)?.into_iter().map(|(_, deletion)| deletion);
        let mut due: Vec<TenantDeletion> = deletions.filter(|deletion| deletion.is_due(now)).collect();
        due.sort_by_key(|deletion| (deletion.due_at, deletion.tenant_id));
        due.truncate(limit as usize);
        Ok(due)
    }

    async fn remove_rows_of_tenant(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            if draft.deletion_has_begun()? { draft.clear(&KEPT, limit) } else { Ok(0) }
        })
        .await
    }

    async fn remove_tenant(&self, tenant: TenantId) -> Result<(), StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            if draft.deletion_has_begun()? {
                draft.remove::<Tenant>(&[])?;
                draft.remove::<TenantDeletion>(&[])?;
            }
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl TenantDeletionTransaction for RedbTransaction {
    async fn tenant_deletion(&mut self) -> Result<Option<TenantDeletion>, StoreError> {
        self.view().get(&[])
    }
}

impl Draft<'_> {
    fn deletion_has_begun(self) -> Result<bool, StoreError> {
        let deletion: Option<TenantDeletion> = self.view().get(&[])?;
        Ok(deletion.is_some_and(|deletion| deletion.begun_at.is_some()))
    }

    pub(super) fn write_tenant_deletion(self, change: &TenantDeletionChange) -> Result<(), StoreError> {
        let missing = || StoreError::Missing("tenant deletion");
        let stored: Option<TenantDeletion> = self.view().get(&[])?;
        let waiting = stored.filter(|deletion| deletion.begun_at.is_none());
        match change {
            TenantDeletionChange::Schedule(deletion) => {
                hold(Constraint::Reference, self.view().has::<Tenant>(&[])?)?;
                self.put(deletion.clone())
            }
            TenantDeletionChange::Cancel { .. } => {
                waiting.ok_or_else(missing)?;
                self.remove::<TenantDeletion>(&[]).map(drop)
            }
            TenantDeletionChange::Begin { after, .. } => {
                let waiting = waiting.ok_or_else(missing)?;
                self.put(TenantDeletion { begun_at: after.begun_at, contents: after.contents, ..waiting })
            }
        }
    }
}
