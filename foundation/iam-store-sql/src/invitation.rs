//! Invitations.

use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, UserId};
use iam_model::invitation::{Invitation, InvitationFilter, InvitationStatus, InvitedRole};
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse, text};
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
            email: text("invitations.email", row.email)?,
            first_name: row.first_name.map(|name| text("invitations.first_name", name)).transpose()?,
            last_name: row.last_name.map(|name| text("invitations.last_name", name)).transpose()?,
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
