//! What is remembered of identity providers.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use iam_model::id::{IdentityProviderId, TenantId};
use iam_model::identity_provider::Issuer;
use iam_openid::{ProviderKeys, ProviderMetadata};
use quick_cache::sync::Cache;

/// How many providers are remembered.
const PROVIDERS: usize = 10_000;

/// What is known of providers.
pub(crate) struct KnownProviders {
    /// What providers have said of themselves, each for an hour.
    pub(crate) known: Cache<(TenantId, IdentityProviderId), Arc<Known>>,
    /// When providers, with these issuers, have last not said it.
    pub(crate) failed: Cache<(TenantId, IdentityProviderId), (Issuer, Instant)>,
}

/// What a provider has said of itself.
pub(crate) struct Known {
    pub(crate) issuer: Issuer,
    pub(crate) metadata: ProviderMetadata,
    pub(crate) read_at: Instant,
    pub(crate) keys: Mutex<Keys>,
}

/// The keys of a provider.
#[derive(Default)]
pub(crate) struct Keys {
    /// The keys, with the moment when they were read.
    pub(crate) read: Option<(Arc<ProviderKeys>, Instant)>,
    /// When they were last read again for a token that those before did not verify.
    pub(crate) read_again_at: Option<Instant>,
    /// When the provider has last not answered with its keys.
    pub(crate) failed_at: Option<Instant>,
}

impl Default for KnownProviders {
    fn default() -> Self {
        Self { known: Cache::new(PROVIDERS), failed: Cache::new(PROVIDERS) }
    }
}
