use chrono::TimeDelta;
use iam_model::api_key::{ApiKey, ApiKeySecret};
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::{ApiKeyId, OrganizationId, TenantId, UserId};
use iam_model::permission::PermissionSet;
use iam_model::validate::{Fields, Name};
use iam_model::version::Version;

use crate::permission::check_patterns;

/// The maximum number of permissions of a key.
const MAX_PERMISSIONS: usize = 1_000;

/// The input for a new API key, as typed; see [`ApiKeys::create`](crate::api_key::ApiKeys::create).
#[derive(Clone, Debug, Default)]
pub struct NewApiKey {
    /// 1–120 characters.
    pub name: String,
    /// The only permissions of the key, at most 1,000: permissions, `<resource>:*`, or `*`. `None` for all permissions
    /// that its user holds, now or later; only the user itself and trusted code can make such a key.
    pub permissions: Option<Vec<String>>,
    /// The organization in which, and below which, the key has its permissions. `None` for everywhere.
    pub organization: Option<OrganizationId>,
    /// When the key expires, at most 365 days from now. `None` for 90 days from now.
    pub expires_at: Option<Timestamp>,
}

/// A [`NewApiKey`] with valid fields.
pub(super) struct ValidApiKey {
    name: Name,
    permissions: Option<PermissionSet>,
    pub(super) organization: Option<OrganizationId>,
    expires_at: Timestamp,
}

impl NewApiKey {
    pub(super) fn validate(self, now: Timestamp) -> Result<ValidApiKey> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        let permissions =
            self.permissions.map(|texts| check_patterns(&mut fields, &texts, MAX_PERMISSIONS).into_iter().collect());
        let expires_at = self.expires_at.unwrap_or(now + ApiKey::DEFAULT_LIFETIME);
        if expires_at <= now {
            fields.reject("expiresAt", "must be in the future");
        } else if expires_at > now + ApiKey::MAX_LIFETIME {
            fields.reject("expiresAt", format!("must be at most {} days from now", ApiKey::MAX_LIFETIME.num_days()));
        }
        match name {
            Some(name) if fields.is_empty() => {
                Ok(ValidApiKey { name, permissions, organization: self.organization, expires_at })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

impl ValidApiKey {
    /// Checks that the permissions are named.
    pub(super) fn require_permissions(&self) -> Result<()> {
        match self.permissions {
            Some(_) => Ok(()),
            None => Err(Error::field("permissions", "is required for the key of another user")),
        }
    }

    pub(super) fn key(
        self,
        id: ApiKeyId,
        (tenant_id, user_id): (TenantId, UserId),
        secret_hash: [u8; 32],
        (created_at, created_by): (Timestamp, Option<UserId>),
    ) -> ApiKey {
        ApiKey {
            id,
            tenant_id,
            user_id,
            name: self.name,
            secret: ApiKeySecret { hash: secret_hash, former: None },
            permissions: self.permissions,
            organization_id: self.organization,
            expires_at: self.expires_at,
            created_at,
            created_by,
            rotated_by_owner: false,
            last_used_at: None,
            version: Version::FIRST,
        }
    }
}

/// Changes of an API key. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct ApiKeyPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// Patterns that the present ones cover.
    pub permissions: Option<Vec<String>>,
    /// A moment before the present expiry. In the past, it is the end of the key.
    pub expires_at: Option<Timestamp>,
}

/// An [`ApiKeyPatch`] with valid fields. Whether it widens the key is not checked yet.
pub(super) struct ValidPatch {
    name: Option<Name>,
    permissions: Option<PermissionSet>,
    expires_at: Option<Timestamp>,
}

impl ApiKeyPatch {
    pub(super) fn validate(self) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let name = fields.check_optional("name", self.name.as_deref());
        let permissions =
            self.permissions.map(|texts| check_patterns(&mut fields, &texts, MAX_PERMISSIONS).into_iter().collect());
        fields.finish()?;
        Ok(ValidPatch { name, permissions, expires_at: self.expires_at })
    }
}

impl ValidPatch {
    /// Returns the key after the change, which must not be wider than before.
    pub(super) fn apply(self, before: &ApiKey) -> Result<ApiKey> {
        let mut fields = Fields::default();
        if let (Some(held), Some(wanted)) = (&before.permissions, &self.permissions)
            && let Some(pattern) = wanted.beyond(held).iter().next()
        {
            fields.reject("permissions", format!("{pattern} is more than the key has"));
        }
        if self.expires_at.is_some_and(|expires_at| expires_at > before.expires_at) {
            fields.reject("expiresAt", "must not be later than the present expiry");
        }
        fields.finish()?;
        let after = ApiKey {
            name: self.name.unwrap_or_else(|| before.name.clone()),
            permissions: self.permissions.or_else(|| before.permissions.clone()),
            expires_at: self.expires_at.unwrap_or(before.expires_at),
            ..before.clone()
        };
        Ok(if after == *before { after } else { after.changed() })
    }
}

/// Checks how long the former secret stays valid after a rotation.
pub(super) fn check_overlap(overlap: TimeDelta) -> Result<()> {
    let mut fields = Fields::default();
    if overlap < TimeDelta::zero() || overlap > ApiKey::MAX_OVERLAP {
        fields.reject("overlapSeconds", format!("must be 0 to {}", ApiKey::MAX_OVERLAP.num_seconds()));
    }
    Ok(fields.finish()?)
}
