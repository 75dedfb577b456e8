use std::num::NonZeroU32;
use std::sync::Arc;

use axum::extract::FromRef;
use axum::http::request::Parts;
use iam_axum::rate_limit::{Client, Limited};
use iam_axum::{Problem, charge};
use iam_core::{Caller, Iam, RequestContext};

use crate::brand::Look;
use crate::run::Runs;
use crate::settings::Settings;

/// The state of every handler.
#[derive(Clone)]
pub(crate) struct Console {
    pub(crate) iam: Iam,
    pub(crate) settings: Arc<Settings>,
    pub(crate) look: Arc<Look>,
    pub(crate) runs: Arc<Runs>,
    base: Arc<str>,
}

impl FromRef<Console> for Iam {
    fn from_ref(console: &Console) -> Self {
        console.iam.clone()
    }
}

impl Console {
    pub(crate) fn new(iam: Iam, settings: Settings) -> Self {
        let look = Arc::new(Look::of(&settings.api.brand));
        let runs = Arc::new(Runs::new(iam.now()));
        Self { iam, look, runs, base: settings.base().into(), settings: Arc::new(settings) }
    }

    /// The path of the console, without a slash at its end, so that paths can follow.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The address of the first page.
    pub(crate) fn home(&self) -> &str {
        if self.base.is_empty() { "/" } else { &self.base }
    }

    /// Whether this installation accepts passkeys.
    pub(crate) fn has_passkeys(&self) -> bool {
        self.iam.settings().relying_party.is_some()
    }

    /// Returns the address to which a person comes back from an identity provider. `None` if the operator does not
    /// allow it: then the console offers no provider.
    pub(crate) fn provider_callback(&self, parts: &Parts) -> Option<String> {
        self.settings.provider_callback(parts).filter(|address| self.iam.federation().allows_redirect(address))
    }

    /// Counts the rows of a file as requests of the person who sends it, beside the request itself.
    pub(crate) async fn count_rows(&self, caller: &Caller, rows: usize) -> Result<(), Problem> {
        let rows = u32::try_from(rows).ok().and_then(NonZeroU32::new);
        let (Some(rows), Some(user)) = (rows, caller.person()) else { return Ok(()) };
        charge(&self.settings.api, Limited::User(user), rows).await
    }

    /// Counts an attempt of a client to prove who it is: to sign in, to register or to renew its tokens.
    pub(crate) async fn count_attempt(&self, context: &RequestContext) -> Result<(), Problem> {
        let Some(address) = context.ip_address else { return Ok(()) };
        charge(&self.settings.api, Limited::Authentication(Client::from(address)), NonZeroU32::MIN).await
    }
}
