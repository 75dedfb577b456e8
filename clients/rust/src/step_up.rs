//! Authenticating a session again when the service asks for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use crate::client::Client;
use crate::error::Result;
use crate::models::StepUp;
use crate::problem::Problem;

pub(crate) type StepUpCallback = Arc<dyn Fn(Client, Problem) -> BoxFuture<'static, Option<StepUp>> + Send + Sync>;

/// The step-ups of a client: one at a time.
pub(crate) struct StepUps {
    callback: StepUpCallback,
    /// Whether the last one has authenticated the session.
    last: Mutex<bool>,
    ended: AtomicU64,
}

impl StepUps {
    pub(crate) fn new(callback: StepUpCallback) -> Self {
        Self { callback, last: Mutex::new(false), ended: AtomicU64::new(0) }
    }

    /// How many have ended.
    pub(crate) fn round(&self) -> u64 {
        self.ended.load(Ordering::Acquire)
    }

    /// Authenticates the session again. Calls that wait meanwhile get the same result: `seen` is the number of step-ups
    /// that had ended when the request was sent.
    pub(crate) async fn prove(&self, client: &Client, seen: u64, problem: &Problem) -> Result<bool> {
        let mut last = self.last.lock().await;
        if self.round() != seen {
            return Ok(*last);
        }
        let client = client.without_steps();
        let result = match (self.callback)(client.clone(), problem.clone()).await {
            Some(proof) => client.step_up(&proof).await.map(|()| true),
            None => Ok(false),
        };
        *last = matches!(result, Ok(true));
        self.ended.fetch_add(1, Ordering::Release);
        result
    }
}
