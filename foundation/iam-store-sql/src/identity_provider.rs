//! Identity providers.

use iam_model::id::DomainId;
use iam_model::identity_provider::{EncryptedClientSecret, IdentityProvider, Scope};
use iam_model::role::PlacedRole;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use uuid::Uuid;

use crate::column::{StoredMoment, moment, parse, text};

/// An identity provider as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct IdentityProviderRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub slug: String,
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<Vec<u8>>,
    pub scopes: String,
    pub domain_ids: Json<Vec<DomainId>>,
    pub trusts_email: bool,
    pub subject_claim: String,
    pub provisioning: String,
    pub roles: Json<Vec<PlacedRole>>,
    pub factor_is_trusted: bool,
    pub enabled: bool,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<IdentityProviderRow<T>> for IdentityProvider {
    type Error = StoreError;

    fn try_from(row: IdentityProviderRow<T>) -> Result<Self, StoreError> {
        let scopes = row.scopes.split_ascii_whitespace().map(|scope| parse("identity_providers.scopes", scope));
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: text("identity_providers.name", row.name)?,
            slug: parse("identity_providers.slug", &row.slug)?,
            issuer: parse("identity_providers.issuer", &row.issuer)?,
            client_id: parse("identity_providers.client_id", &row.client_id)?,
            client_secret: row.client_secret.map(EncryptedClientSecret),
            scopes: scopes.collect::<Result<_, _>>()?,
            domain_ids: row.domain_ids.0,
            trusts_email: row.trusts_email,
            subject_claim: parse("identity_providers.subject_claim", &row.subject_claim)?,
            provisioning: parse("identity_providers.provisioning", &row.provisioning)?,
            roles: row.roles.0,
            factor_is_trusted: row.factor_is_trusted,
            enabled: row.enabled,
            created_at: moment("identity_providers.created_at", row.created_at)?,
            updated_at: moment("identity_providers.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// Returns the value of the column for the scopes of a provider.
#[must_use]
pub fn stored_scopes(provider: &IdentityProvider) -> String {
    provider.scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" ")
}

/// Returns the value of the column for the secret of a provider.
#[must_use]
pub fn stored_secret(provider: &IdentityProvider) -> Option<&[u8]> {
    provider.client_secret.as_ref().map(|secret| secret.0.as_slice())
}
