//! Links.

use iam_model::link::Link;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, parse};

/// A link as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct LinkRow<T> {
    pub tenant_id: Uuid,
    pub purpose: String,
    pub subject: Uuid,
    pub id: Uuid,
    pub email: String,
    pub token_hash: Vec<u8>,
    pub created_at: T,
    pub expires_at: T,
}

impl<T: StoredMoment> TryFrom<LinkRow<T>> for Link {
    type Error = StoreError;

    fn try_from(row: LinkRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            purpose: parse("links.purpose", &row.purpose)?,
            subject: row.subject,
            id: row.id.into(),
            email: parse("links.email", &row.email)?,
            token_hash: bytes_32("links.token_hash", &row.token_hash)?,
            created_at: moment("links.created_at", row.created_at)?,
            expires_at: moment("links.expires_at", row.expires_at)?,
        })
    }
}

/// Selects links; the literal says which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_links {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            "SELECT tenant_id, purpose, subject, id, email, token_hash, created_at, expires_at " + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of links; see [`store`](crate::store).
#[macro_export]
macro_rules! link_ports {
    (
        $store:ident,
        $transaction:ident,
        by_token: $by_token:literal,
        by_subject: $by_subject:literal,
        lock: $lock:literal,
        issue: $issue:literal,
        end: $end:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::change::LinkChange;
            use iam_model::id::TenantId;
            use iam_model::link::{Link, LinkPurpose};
            use iam_model::store::{LinkStore, LinkTransaction};
            use iam_model::store_error::StoreError;
            use uuid::Uuid;
            use $crate::store::SqlStore;

            type Row = $crate::link::LinkRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl LinkStore for $store {
                async fn link_by_token(
                    &self,
                    tenant: TenantId,
                    token_hash: &[u8; 32],
                ) -> Result<Option<Link>, StoreError> {
                    let row = $crate::select_links!(Row, $by_token, tenant.as_uuid(), token_hash.as_slice());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Link::try_from).transpose()
                }

                async fn link(
                    &self,
                    tenant: TenantId,
                    purpose: LinkPurpose,
                    subject: Uuid,
                ) -> Result<Option<Link>, StoreError> {
                    let row = $crate::select_links!(Row, $by_subject, tenant.as_uuid(), purpose.as_str(), subject);
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Link::try_from).transpose()
                }
            }

            #[async_trait::async_trait]
            impl LinkTransaction for $transaction {
                async fn lock_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
                    let row = $crate::select_links!(Row, $lock, self.tenant(), purpose.as_str(), subject);
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(Link::try_from).transpose()
                }
            }

            impl $transaction {
                pub(crate) async fn write_link(&mut self, change: &LinkChange) -> Result<(), StoreError> {
                    match change {
                        LinkChange::Issue { link, .. } => self.issue_link(link).await,
                        LinkChange::End { purpose, subject } => self.end_link(*purpose, *subject).await,
                    }
                }

                async fn issue_link(&mut self, link: &Link) -> Result<(), StoreError> {
                    let insert = sqlx::query!(
                        $issue,
                        self.tenant(),
                        link.purpose.as_str(),
                        link.subject,
                        link.id.as_uuid(),
                        link.email.as_str(),
                        link.token_hash.as_slice(),
                        $store::stored(link.created_at),
                        $store::stored(link.expires_at)
                    );
                    insert.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }

                async fn end_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<(), StoreError> {
                    let delete = sqlx::query!($end, self.tenant(), purpose.as_str(), subject);
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }
            }
        };
    };
}
