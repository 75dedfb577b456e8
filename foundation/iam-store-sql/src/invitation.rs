//! Invitations.

use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, UserId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole};
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse, parse_optional};
use crate::store::SqlStore;

/// An invitation as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct InvitationRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub email: String,
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    pub roles: Json<Vec<InvitedRole>>,
    pub status: String,
    pub invited_by: Option<Uuid>,
    pub expires_at: T,
    pub created_at: T,
}

impl<T: StoredMoment> TryFrom<InvitationRow<T>> for Invitation {
    type Error = StoreError;

    fn try_from(row: InvitationRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            email: parse("invitations.email", &row.email)?,
            first_name: parse_optional("invitations.first_name", row.first_name.as_deref())?,
            last_name: parse_optional("invitations.last_name", row.last_name.as_deref())?,
            roles: row.roles.0,
            status: parse("invitations.status", &row.status)?,
            invited_by: row.invited_by.map(UserId::from),
            expires_at: moment("invitations.expires_at", row.expires_at)?,
            created_at: moment("invitations.created_at", row.created_at)?,
        })
    }
}

// The list is built at run time, because its conditions vary from call to call. Only text of this file and of the
// stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        i.tenant_id,
        i.id,
        i.email,
        i.first_name,
        i.last_name,
        i.roles,
        i.status,
        i.invited_by,
        i.expires_at,
        i.created_at";

/// How a database reads the roles inside an invitation.
pub trait InvitedRoles: SqlStore {
    /// The roles `r` of an invitation `i`, as a table.
    const ROLES: &'static str;
    /// The organization of such a role.
    const ORGANIZATION: &'static str;
}

/// Builds the statement for a page of the invitations that match a filter at a moment.
pub fn list<S>(
    tenant: TenantId,
    filter: &InvitationFilter,
    page: PageRequest,
    now: Timestamp,
    scope: &S::Scope,
) -> QueryBuilder<S::Database>
where
    S: InvitedRoles,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT i.id, i.created_at AS key FROM ");
    query.push(S::SCHEMA).push("invitations i WHERE i.tenant_id = ").push_bind(tenant.as_uuid());
    if let Some(email) = &filter.email {
        query.push(" AND i.email_key = ").push_bind(email.as_str().to_owned());
    }
    match filter.status {
        Some(InvitationStatus::Pending) => {
            query.push(" AND i.status = 'PENDING' AND i.expires_at > ").push_bind(S::stored(now));
        }
        Some(InvitationStatus::Expired) => {
            query.push(" AND i.status IN ('PENDING', 'EXPIRED') AND (i.status = 'EXPIRED' OR i.expires_at <= ");
            query.push_bind(S::stored(now)).push(")");
        }
        Some(InvitationStatus::Accepted) => drop(query.push(" AND i.status = 'ACCEPTED'")),
        Some(InvitationStatus::Revoked) => drop(query.push(" AND i.status = 'REVOKED'")),
        None => {}
    }
    if !S::is_everywhere(scope) {
        query.push(" AND i.roles <> '[]' AND (SELECT count(*) FROM ").push(S::ROLES);
        query.push(") = (SELECT count(*) FROM ").push(S::ROLES).push(" WHERE TRUE");
        S::push_scope(&mut query, S::ORGANIZATION, tenant, scope);
        query.push(")");
    }
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    S::push_page(&mut query, " DESC", page);
    S::push_rows(&mut query, tenant, "invitations", "i");
    query.push(" ORDER BY p.key DESC, p.id");
    query
}

/// Selects invitations; the literal says which. `Roles` is the type of the column with the roles.
#[doc(hidden)]
#[macro_export]
macro_rules! select_invitations {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            SELECT
                tenant_id,
                id,
                email,
                first_name,
                last_name,
                roles AS "roles: Roles",
                status,
                invited_by,
                expires_at,
                created_at
            "# + $which,
            $($argument),+
        )
    };
}

/// Implements the ports of invitations; see [`store`](crate::store).
#[macro_export]
macro_rules! invitation_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        lock: $lock:literal,
        expire: $expire:literal,
        insert: ($($insert:tt)+),
        update: ($($update:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::access::VisibleScope;
            use iam_model::change::InvitationChange;
            use iam_model::clock::Timestamp;
            use iam_model::id::{InvitationId, TenantId, UserId};
            use iam_model::invitation::{Invitation, InvitationFilter, InvitedRole};
            use iam_model::page::{Page, PageRequest};
            use iam_model::store::{InvitationStore, InvitationTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::validate::PersonName;
            use $crate::error::expect_row;
            use $crate::invitation::list;
            use $crate::select_invitations;
            use $crate::store::SqlStore;

            type Roles = sqlx::types::Json<Vec<InvitedRole>>;
            type Row = $crate::invitation::InvitationRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl InvitationStore for $store {
                async fn invitation(
                    &self,
                    tenant: TenantId,
                    id: InvitationId,
                ) -> Result<Option<Invitation>, StoreError> {
                    let row = select_invitations!(Row, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(Invitation::try_from).transpose()
                }

                async fn invitations(
                    &self,
                    tenant: TenantId,
                    filter: &InvitationFilter,
                    visible_scope: &VisibleScope,
                    page: PageRequest,
                    now: Timestamp,
                ) -> Result<Page<Invitation>, StoreError> {
                    let scope = self.scope(tenant, visible_scope).await?;
                    let is_steady = filter.email.is_none() && filter.status.is_none() && Self::is_everywhere(&scope);
                    let list = |page| list::<Self>(tenant, filter, page, now, &scope);
                    self.page::<Invitation, Row>(page, is_steady, list).await
                }
            }

            #[async_trait::async_trait]
            impl InvitationTransaction for $transaction {
                async fn lock_invitation(&mut self, id: InvitationId) -> Result<Option<Invitation>, StoreError> {
                    let row = select_invitations!(Row, $lock, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(Invitation::try_from).transpose()
                }
            }

            impl $transaction {
                pub(crate) async fn write_invitation(&mut self, change: &InvitationChange) -> Result<(), StoreError> {
                    match change {
                        InvitationChange::Create { invitation, .. } => self.insert_invitation(invitation).await,
                        InvitationChange::Renew { after, .. }
                        | InvitationChange::Accept { after, .. }
                        | InvitationChange::Revoke { after, .. } => self.update_invitation(after).await,
                    }
                }

                async fn insert_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
                    let (email, created_at) = (invitation.email.key(), $store::stored(invitation.created_at));
                    let expire = sqlx::query!($expire, self.tenant(), email.as_str(), created_at);
                    expire.execute(self.connection()).await.map_err($store::store_error)?;
                    execute_audited!(
                        self,
                        $($insert)+,
                        self.tenant(),
                        invitation.id.as_uuid(),
                        invitation.email.as_str(),
                        email.as_str(),
                        invitation.first_name.as_ref().map(PersonName::as_str),
                        invitation.last_name.as_ref().map(PersonName::as_str),
                        sqlx::types::Json(&invitation.roles) as _,
                        invitation.status.as_str(),
                        invitation.invited_by.map(UserId::as_uuid),
                        $store::stored(invitation.expires_at),
                        created_at
                    )?;
                    Ok(())
                }

                async fn update_invitation(&mut self, invitation: &Invitation) -> Result<(), StoreError> {
                    let updated = execute_audited!(
                        self,
                        $($update)+,
                        self.tenant(),
                        invitation.id.as_uuid(),
                        invitation.status.as_str(),
                        $store::stored(invitation.expires_at)
                    )?;
                    expect_row(updated.rows_affected(), "invitation")
                }
            }
        };
    };
}
