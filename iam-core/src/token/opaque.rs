//! The format of opaque tokens that name a tenant: a prefix, and the tenant with 32 secret bytes in base64url.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_model::id::TenantId;
use uuid::Uuid;
use zeroize::Zeroizing;

pub(super) type Secret = Zeroizing<[u8; 32]>;

/// Returns a token. Scanners for leaked secrets recognize it by its prefix.
pub(super) fn encode(prefix: &str, tenant: TenantId, secret: &Secret) -> String {
    let mut bytes = Zeroizing::new([0; 48]);
    let (of_tenant, rest) = bytes.split_at_mut(16);
    of_tenant.copy_from_slice(tenant.as_uuid().as_bytes());
    rest.copy_from_slice(secret.as_slice());
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes.as_slice()))
}

/// Returns the tenant that a token names, and the SHA-256 digest of its secret. `None` when it does not have this
/// format.
pub(super) fn parse(prefix: &str, token: &str) -> Option<(TenantId, [u8; 32])> {
    let encoded = token.strip_prefix(prefix)?;
    let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(encoded).ok()?);
    let (tenant, secret) = bytes.split_first_chunk::<16>()?;
    let secret: &[u8; 32] = secret.try_into().ok()?;
    Some((Uuid::from_bytes(*tenant).into(), hash(secret)))
}

pub(super) fn hash(secret: &[u8; 32]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest(&SHA256, secret).as_ref());
    bytes
}
