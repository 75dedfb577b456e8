//! Sessions.

use iam_model::context::{Impersonator, UserAgent};
use iam_model::id::SessionId;
use iam_model::session::{Impersonation, RefreshState, Session, SpentToken};
use iam_model::store::SessionDetails;
use iam_model::store_error::StoreError;
use iam_model::validate::{Reason, StoredText as _};
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, moment, moment_optional, parse, parse_optional};
use crate::factor::provider_session;
use crate::tenant::TenantRow;
use crate::user::UserRow;

/// A session as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct SessionRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub methods: String,
    pub authenticated_at: Option<T>,
    pub created_at: T,
    pub last_used_at: T,
    pub expires_at: T,
    pub refresh_tag_key: Vec<u8>,
    pub refresh_current: Vec<u8>,
    pub spent_hash: Option<Vec<u8>>,
    pub spent_nonce: Option<Vec<u8>>,
    pub spent_at: Option<T>,
    pub provider_id: Option<Uuid>,
    pub provider_session: Option<String>,
    pub actor_id: Option<Uuid>,
    pub actor_session_id: Option<Uuid>,
    pub actor_reason: Option<String>,
    pub read_only: bool,
}

/// Converts the columns that say who acts in a session of another user.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when the session of the user who acts is missing.
pub fn impersonator(
    actor: Option<Uuid>,
    session: Option<Uuid>,
    is_read_only: bool,
) -> Result<Option<Impersonator>, StoreError> {
    let Some(actor) = actor else { return Ok(None) };
    let session = session.ok_or_else(|| StoreError::corrupt("sessions.actor_session_id", "is missing"))?;
    Ok(Some(Impersonator { user: actor.into(), session: session.into(), is_read_only }))
}

impl<T: StoredMoment> TryFrom<SessionRow<T>> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow<T>) -> Result<Self, StoreError> {
        let spent = match (row.spent_hash, row.spent_nonce, row.spent_at) {
            (Some(hash), Some(nonce), Some(at)) => Some(SpentToken {
                hash: bytes_32("sessions.spent_hash", &hash)?,
                nonce: bytes_32("sessions.spent_nonce", &nonce)?,
                at: moment("sessions.spent_at", at)?,
            }),
            _ => None,
        };
        let refresh = RefreshState {
            tag_key: bytes_32("sessions.refresh_tag_key", &row.refresh_tag_key)?,
            current: bytes_32("sessions.refresh_current", &row.refresh_current)?,
            spent,
        };
        let created_at = moment("sessions.created_at", row.created_at)?;
        let authenticated_at = moment_optional("sessions.authenticated_at", row.authenticated_at)?;
        let impersonator = impersonator(row.actor_id, row.actor_session_id, row.read_only)?;
        let reason = Reason::stored(row.actor_reason.unwrap_or_default());
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            ip_address: parse_optional("sessions.ip_address", row.ip_address.as_deref())?,
            user_agent: row.user_agent.as_deref().map(UserAgent::new),
            methods: parse("sessions.methods", &row.methods)?,
            authenticated_at: authenticated_at.unwrap_or(created_at),
            created_at,
            last_used_at: moment("sessions.last_used_at", row.last_used_at)?,
            expires_at: moment("sessions.expires_at", row.expires_at)?,
            refresh,
            provider: provider_session(row.provider_id, row.provider_session),
            impersonation: impersonator.map(|by| Impersonation { by, reason }),
        })
    }
}

/// A session with its user and the tenant.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct SessionDetailsRow<T> {
    pub ip_address: Option<String>,
    pub user_agent: Option<String>,
    pub methods: String,
    pub authenticated_at: Option<T>,
    pub created_at: T,
    pub last_used_at: T,
    pub expires_at: T,
    pub refresh_tag_key: Vec<u8>,
    pub refresh_current: Vec<u8>,
    pub spent_hash: Option<Vec<u8>>,
    pub spent_nonce: Option<Vec<u8>>,
    pub spent_at: Option<T>,
    pub provider_id: Option<Uuid>,
    pub provider_session: Option<String>,
    pub actor_id: Option<Uuid>,
    pub actor_session_id: Option<Uuid>,
    pub actor_reason: Option<String>,
    pub read_only: bool,
    pub user_id: Uuid,
    pub user_kind: String,
    pub user_email: String,
    pub user_email_verified_at: Option<T>,
    pub user_first_name: String,
    pub user_last_name: String,
    pub user_external_id: Option<String>,
    pub user_home_organization_id: Option<Uuid>,
    pub user_status: String,
    pub user_last_login_at: Option<T>,
    pub user_created_at: T,
    pub user_updated_at: T,
    pub user_version: i64,
    pub tenant_id: Uuid,
    pub tenant_name: String,
    pub tenant_slug: String,
    pub tenant_status: String,
    pub tenant_password_policy: String,
    pub tenant_second_factor: String,
    pub tenant_second_factor_grace_days: i64,
    pub tenant_second_factor_required_at: Option<T>,
    pub tenant_password_login: String,
    pub tenant_email_login: String,
    pub tenant_authzen_identifiers: String,
    pub tenant_user_attributes: String,
    pub tenant_organization_attributes: String,
    pub tenant_unregistered_attributes: String,
    pub tenant_created_at: T,
    pub tenant_updated_at: T,
    pub tenant_version: i64,
}

impl<T: StoredMoment> SessionDetailsRow<T> {
    /// Converts the row of a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a column is not valid.
    pub fn details(self, id: SessionId) -> Result<SessionDetails, StoreError> {
        let session = SessionRow {
            tenant_id: self.tenant_id,
            id: id.as_uuid(),
            user_id: self.user_id,
            ip_address: self.ip_address,
            user_agent: self.user_agent,
            methods: self.methods,
            authenticated_at: self.authenticated_at,
            created_at: self.created_at,
            last_used_at: self.last_used_at,
            expires_at: self.expires_at,
            refresh_tag_key: self.refresh_tag_key,
            refresh_current: self.refresh_current,
            spent_hash: self.spent_hash,
            spent_nonce: self.spent_nonce,
            spent_at: self.spent_at,
            provider_id: self.provider_id,
            provider_session: self.provider_session,
            actor_id: self.actor_id,
            actor_session_id: self.actor_session_id,
            actor_reason: self.actor_reason,
            read_only: self.read_only,
        };
        let user = UserRow {
            tenant_id: self.tenant_id,
            id: self.user_id,
            kind: self.user_kind,
            email: self.user_email,
            email_verified_at: self.user_email_verified_at,
            first_name: self.user_first_name,
            last_name: self.user_last_name,
            external_id: self.user_external_id,
            home_organization_id: self.user_home_organization_id,
            status: self.user_status,
            last_login_at: self.user_last_login_at,
            created_at: self.user_created_at,
            updated_at: self.user_updated_at,
            version: self.user_version,
        };
        let tenant = TenantRow {
            id: self.tenant_id,
            name: self.tenant_name,
            slug: self.tenant_slug,
            status: self.tenant_status,
            password_policy: self.tenant_password_policy,
            second_factor: self.tenant_second_factor,
            second_factor_grace_days: self.tenant_second_factor_grace_days,
            second_factor_required_at: self.tenant_second_factor_required_at,
            password_login: self.tenant_password_login,
            email_login: self.tenant_email_login,
            authzen_identifiers: self.tenant_authzen_identifiers,
            user_attributes: self.tenant_user_attributes,
            organization_attributes: self.tenant_organization_attributes,
            unregistered_attributes: self.tenant_unregistered_attributes,
            created_at: self.tenant_created_at,
            updated_at: self.tenant_updated_at,
            version: self.tenant_version,
        };
        Ok(SessionDetails { session: session.try_into()?, user: user.try_into()?, tenant: tenant.try_into()? })
    }
}
