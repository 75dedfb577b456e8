use async_trait::async_trait;
use iam_model::change::LegalHoldChange;
use iam_model::directory::DirectoryUser;
use iam_model::id::{LegalHoldId, TenantId};
use iam_model::legal_hold::{Destroyed, LegalHold};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{LegalHoldStore, LegalHoldTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;

use super::rows::{Draft, Row, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first, page};

impl Row for LegalHold {
    const TABLE: &'static str = "legal_holds";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl LegalHoldStore for RedbStore {
    async fn legal_hold(&self, tenant: TenantId, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn legal_holds(&self, tenant: TenantId, request: PageRequest) -> Result<Page<LegalHold>, StoreError> {
        let found = self.read(tenant, |view| view.all::<LegalHold>())?;
        Ok(page(newest_first(found, |hold| (hold.created_at, hold.id)), request))
    }
}

#[async_trait]
impl LegalHoldTransaction for RedbTransaction {
    async fn legal_hold(&mut self, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError> {
        self.view().get(&key(id))
    }

    async fn legal_hold_of(&mut self, destroyed: Destroyed) -> Result<Option<LegalHold>, StoreError> {
        let mut keeping = Vec::new();
        for hold in self.view().all::<LegalHold>()? {
            let entry: Option<DirectoryUser> = match hold.user_id {
                Some(user) => self.view().get(&key(user))?,
                None => None,
            };
            if hold.keeps(destroyed, entry.map(|entry| entry.directory_id)) {
                keeping.push(hold);
            }
        }
        Ok(keeping.into_iter().min_by_key(|hold| (hold.created_at, hold.id)))
    }

    async fn count_legal_holds(&mut self) -> Result<u64, StoreError> {
        Ok(self.view().all::<LegalHold>()?.len() as u64)
    }
}

impl Draft<'_> {
    pub(super) fn write_legal_hold(self, change: &LegalHoldChange) -> Result<(), StoreError> {
        match change {
            LegalHoldChange::Place(placed) => {
                self.hold_tenant()?;
                if let Some(user) = placed.user_id {
                    hold(Constraint::Reference, self.view().has::<User>(&key(user))?)?;
                }
                self.put(placed.clone())
            }
            LegalHoldChange::Release { hold, .. } => {
                let removed = self.remove::<LegalHold>(&key(hold.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("legal hold"))
            }
        }
    }
}
