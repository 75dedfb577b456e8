use async_trait::async_trait;
use iam_model::change::LinkChange;
use iam_model::clock::Timestamp;
use iam_model::id::{LinkId, TenantId};
use iam_model::link::{Link, LinkPurpose};
use iam_model::store::{LinkStore, LinkTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::Email;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::RedbStore;
use super::rows::{Draft, Row, View};
use super::transaction::RedbTransaction;

/// The newest link of a subject for a purpose.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct LinkRow(#[serde(with = "LinkFields")] pub(super) Link);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Link")]
struct LinkFields {
    id: LinkId,
    tenant_id: TenantId,
    purpose: LinkPurpose,
    subject: Uuid,
    email: Email,
    token_hash: [u8; 32],
    created_at: Timestamp,
    expires_at: Timestamp,
}

impl Row for LinkRow {
    const TABLE: &'static str = "links";

    fn key(&self) -> Vec<u8> {
        link_key(self.0.purpose, self.0.subject)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.0.tenant_id = tenant;
    }
}

fn link_key(purpose: LinkPurpose, subject: Uuid) -> Vec<u8> {
    [subject.as_bytes(), purpose.as_str().as_bytes()].concat()
}

#[async_trait]
impl LinkStore for RedbStore {
    async fn link_by_token(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Link>, StoreError> {
        let found = self.read(tenant, |view| view.select(|LinkRow(link)| link.token_hash == *token_hash))?;
        Ok(found.into_iter().next().map(|LinkRow(link)| link))
    }

    async fn link(&self, tenant: TenantId, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        self.read(tenant, |view| view.link(purpose, subject))
    }
}

#[async_trait]
impl LinkTransaction for RedbTransaction {
    async fn lock_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        self.view().link(purpose, subject)
    }
}

impl View<'_> {
    fn link(self, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        Ok(self.get(&link_key(purpose, subject))?.map(|LinkRow(link)| link))
    }
}

impl Draft<'_> {
    pub(super) fn write_link(self, change: &LinkChange) -> Result<(), StoreError> {
        match change {
            LinkChange::Issue { link, .. } => {
                self.hold_tenant()?;
                self.put(LinkRow(link.clone()))
            }
            LinkChange::Send { link } => {
                let stored = self.view().link(link.purpose, link.subject)?.filter(|stored| stored.id == link.id);
                let stored = stored.ok_or(StoreError::Missing("link"))?;
                self.put(LinkRow(Link { expires_at: link.expires_at, ..stored }))
            }
            LinkChange::End { purpose, subject } => self.remove::<LinkRow>(&link_key(*purpose, *subject)).map(drop),
            LinkChange::EndAll { purpose } => {
                let ended = self.view().select(|LinkRow(link)| link.purpose == *purpose)?;
                ended.iter().try_for_each(|row| self.remove::<LinkRow>(&row.key()).map(drop))
            }
        }
    }
}
