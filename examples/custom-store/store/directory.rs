use async_trait::async_trait;
use iam_model::change::DirectoryChange;
use iam_model::clock::Timestamp;
use iam_model::directory::{Directory, DirectoryActivity, DirectoryRefusal, DirectoryUser};
use iam_model::id::{DirectoryId, TenantId, UserId};
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;
use serde::{Deserialize, Serialize};

use super::identity_provider::IdentityProviderRow;
use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for Directory {
    const TABLE: &'static str = "directories";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

/// What a directory has sent last. It is not in the row of the directory, which a unit of work writes whole.
#[derive(Serialize, Deserialize)]
pub(super) struct ActivityRow {
    directory: DirectoryId,
    last_request_at: Option<Timestamp>,
    refusals: Vec<DirectoryRefusal>,
}

impl Row for ActivityRow {
    const TABLE: &'static str = "directory_activities";

    fn key(&self) -> Vec<u8> {
        key(self.directory)
    }
}

#[async_trait]
impl DirectoryStore for RedbStore {
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError> {
        self.read(tenant, |view| {
            let with_activity = |directory: Directory| -> Result<_, StoreError> {
                let ActivityRow { last_request_at, refusals, .. } = view.activity(directory.id)?;
                Ok((directory, DirectoryActivity { last_request_at, refusals }))
            };
            view.directories()?.into_iter().map(with_activity).collect()
        })
    }

    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError> {
        let of_account = |directory: &Directory| directory.service_account_id == account;
        Ok(self.read(tenant, |view| view.select(of_account))?.pop())
    }

    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            if !draft.view().has::<Directory>(&key(id))? {
                return Ok(());
            }
            let mut activity = draft.view().activity(id)?;
            activity.last_request_at = activity.last_request_at.max(Some(at));
            if let Some(refusal) = refusal {
                activity.refusals.insert(0, refusal.clone());
                activity.refusals.truncate(DirectoryRefusal::MAX);
            }
            draft.put(activity)
        })
        .await
    }
}

#[async_trait]
impl DirectoryTransaction for RedbTransaction {
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError> {
        self.view().directories()
    }
}

impl View<'_> {
    fn directories(self) -> Result<Vec<Directory>, StoreError> {
        let mut directories = self.all::<Directory>()?;
        directories.sort_by(|a, b| (a.name.as_str(), a.id).cmp(&(b.name.as_str(), b.id)));
        Ok(directories)
    }

    fn activity(self, directory: DirectoryId) -> Result<ActivityRow, StoreError> {
        let kept: Option<ActivityRow> = self.get(&key(directory))?;
        Ok(kept.unwrap_or(ActivityRow { directory, last_request_at: None, refusals: Vec::new() }))
    }
}

impl Draft<'_> {
    pub(super) fn write_directory(self, change: &DirectoryChange) -> Result<(), StoreError> {
        match change {
            DirectoryChange::Create(directory) => {
                self.hold_tenant()?;
                self.put_directory(directory.clone())
            }
            DirectoryChange::Update { after, .. } => {
                let stored: Option<Directory> = self.view().get(&key(after.id))?;
                let stored = stored.ok_or(StoreError::Missing("directory"))?;
                let (created_at, version) = (stored.created_at, stored.version.next());
                self.put_directory(Directory { created_at, version, ..after.clone() })
            }
            DirectoryChange::Delete(directory) => {
                let removed = self.remove::<Directory>(&key(directory.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("directory"))?;
                self.remove::<ActivityRow>(&key(directory.id))?;
                let entries = self.view().select(|entry: &DirectoryUser| entry.directory_id == directory.id)?;
                entries.iter().try_for_each(|entry| self.remove::<DirectoryUser>(&entry.key()).map(drop))?;
                let groups = self.view().groups_of_directory(directory.id)?;
                groups.iter().try_for_each(|group| self.remove_directory_group(group.id).map(drop))
            }
        }
    }

    fn put_directory(self, directory: Directory) -> Result<(), StoreError> {
        let Directory { id, service_account_id, identity_provider_id, .. } = directory;
        let is_taken =
            self.view().any(|other: &Directory| other.id != id && other.service_account_id == service_account_id)?;
        hold(Constraint::DirectoryAccount, !is_taken)?;
        hold(Constraint::Reference, self.view().has::<User>(&key(service_account_id))?)?;
        if let Some(provider) = identity_provider_id {
            hold(Constraint::Reference, self.view().has::<IdentityProviderRow>(&key(provider))?)?;
        }
        self.put(directory)
    }
}
