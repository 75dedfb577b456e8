//! Second factors, recovery codes and challenges.

use iam_model::challenge::{Ceremony, Challenge};
use iam_model::clock::Timestamp;
use iam_model::factor::{Factor, FactorDemand, FactorKey};
use iam_model::session::ProviderSession;
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, counted, grace_days, moment, moment_optional, parse, text};

/// A factor as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct FactorRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub kind: String,
    pub name: String,
    pub key: Vec<u8>,
    pub credential_id: Option<Vec<u8>>,
    pub counter: i64,
    pub created_at: T,
    pub confirmed_at: Option<T>,
    pub last_used_at: Option<T>,
}

impl<T: StoredMoment> TryFrom<FactorRow<T>> for Factor {
    type Error = StoreError;

    fn try_from(row: FactorRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            kind: parse("factors.kind", &row.kind)?,
            name: text("factors.name", row.name)?,
            key: FactorKey(row.key),
            credential_id: row.credential_id,
            counter: counted("factors.counter", row.counter)?,
            created_at: moment("factors.created_at", row.created_at)?,
            confirmed_at: moment_optional("factors.confirmed_at", row.confirmed_at)?,
            last_used_at: moment_optional("factors.last_used_at", row.last_used_at)?,
        })
    }
}

/// Converts the columns of a session at an identity provider.
pub(crate) fn provider_session(provider: Option<Uuid>, session: Option<String>) -> Option<ProviderSession> {
    provider.map(|provider| ProviderSession { provider_id: provider.into(), session })
}

/// A challenge as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ChallengeRow<T> {
    pub tenant_id: Uuid,
    pub token_hash: Vec<u8>,
    pub purpose: String,
    pub user_id: Option<Uuid>,
    pub tries: i64,
    pub ceremony: Option<Vec<u8>>,
    pub provider_id: Option<Uuid>,
    pub provider_session: Option<String>,
    pub created_at: T,
    pub expires_at: T,
}

impl<T: StoredMoment> TryFrom<ChallengeRow<T>> for Challenge {
    type Error = StoreError;

    fn try_from(row: ChallengeRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            token_hash: bytes_32("challenges.token_hash", &row.token_hash)?,
            purpose: parse("challenges.purpose", &row.purpose)?,
            user_id: row.user_id.map(Into::into),
            tries: row.tries.try_into().map_err(|cause| StoreError::corrupt("challenges.tries", cause))?,
            ceremony: row.ceremony.map(Ceremony),
            provider: provider_session(row.provider_id, row.provider_session),
            created_at: moment("challenges.created_at", row.created_at)?,
            expires_at: moment("challenges.expires_at", row.expires_at)?,
        })
    }
}

/// The columns that decide whether a session or an API key meets the demand of its tenant for second factors.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct DemandRow<T> {
    pub required_at: Option<T>,
    pub grace_days: i64,
    pub user_created_at: T,
    /// Whether the user has a confirmed factor. It matters only where the tenant requires one.
    pub has_factor: bool,
}

impl<T: StoredMoment> DemandRow<T> {
    /// Returns from when on a session with these methods is restricted.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a value is not valid.
    pub fn restricts_session_from(self, methods: &str) -> Result<Option<Timestamp>, StoreError> {
        let has_factor = self.has_factor;
        let (demand, created_at) = self.read()?;
        Ok(demand.restricts_session_from(created_at, &parse("sessions.methods", methods)?, has_factor))
    }

    /// Returns from when on the API keys of a user of this kind are refused.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a value is not valid.
    pub fn refuses_keys_from(self, kind: &str) -> Result<Option<Timestamp>, StoreError> {
        let has_factor = self.has_factor;
        let (demand, created_at) = self.read()?;
        Ok(demand.refuses_keys_from(parse("users.kind", kind)?, created_at, has_factor))
    }

    fn read(self) -> Result<(FactorDemand, Timestamp), StoreError> {
        let demand = FactorDemand {
            required_at: moment_optional("tenants.second_factor_required_at", self.required_at)?,
            grace: grace_days("tenants.second_factor_grace_days", self.grace_days)?,
        };
        Ok((demand, moment("users.created_at", self.user_created_at)?))
    }
}
