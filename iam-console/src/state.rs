use std::sync::Arc;

use axum::extract::FromRef;
use iam_axum::rate_limit::{Client, Limited};
use iam_axum::{Kind, Problem};
use iam_core::{Iam, RequestContext};

use crate::settings::Settings;

/// The state of every handler.
#[derive(Clone)]
pub(crate) struct Console {
    pub(crate) iam: Iam,
    pub(crate) settings: Arc<Settings>,
}

impl FromRef<Console> for Iam {
    fn from_ref(console: &Console) -> Self {
        console.iam.clone()
    }
}

impl Console {
    /// The path of the console, without a slash at its end.
    pub(crate) fn base(&self) -> &str {
        self.settings.path.trim_end_matches('/')
    }

    /// Counts an attempt of a client to prove who it is: to sign in, to register or to renew its tokens.
    pub(crate) async fn count_attempt(&self, context: &RequestContext) -> Result<(), Problem> {
        let (Some(limiter), Some(address)) = (&self.settings.api.rate_limiter, context.ip_address) else {
            return Ok(());
        };
        let taken = limiter.take(Limited::Authentication(Client::from(address))).await;
        match taken.retry_after {
            None => Ok(()),
            Some(after) => {
                let seconds = after.as_secs() + 1;
                let detail = format!("Too many attempts. Try again in {seconds} seconds.");
                Err(Problem::new(Kind::RateLimited).detail(detail))
            }
        }
    }
}
