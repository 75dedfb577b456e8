//! What is remembered of identity providers.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use iam_model::id::{IdentityProviderId, TenantId};
use iam_model::identity_provider::Issuer;
use iam_openid::{ProviderKeys, ProviderMetadata};
use quick_cache::sync::Cache;

/// How many providers are remembered.
const PROVIDERS: usize = 10_000;

/// What is known of providers, each for an hour.
pub(crate) struct KnownProviders(pub(crate) Cache<(TenantId, IdentityProviderId), Arc<Known>>);

/// What a provider has said of itself.
pub(crate) struct Known {
    pub(crate) issuer: Issuer,
    pub(crate) metadata: ProviderMetadata,
    pub(crate) read_at: Instant,
    pub(crate) keys: Mutex<Option<Keys>>,
    /// When the keys were last read again for a token whose key was not among them.
    pub(crate) keys_read_again_at: Mutex<Option<Instant>>,
}

#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) keys: Arc<ProviderKeys>,
    pub(crate) read_at: Instant,
}

impl Default for KnownProviders {
    fn default() -> Self {
        Self(Cache::new(PROVIDERS))
    }
}
