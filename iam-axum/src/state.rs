use std::sync::Arc;

use axum::extract::FromRef;
use iam_core::Iam;

use crate::health::Readiness;
use crate::settings::Settings;

/// The state of every handler.
#[derive(Clone)]
pub(crate) struct ApiState {
    pub(crate) iam: Iam,
    pub(crate) settings: Arc<Settings>,
    pub(crate) readiness: Arc<Readiness>,
    /// Whether the router is that of the whole service: directories write at its root, and not under its prefix.
    pub(crate) is_whole: bool,
}

impl ApiState {
    pub(crate) fn new(iam: Iam, settings: Settings) -> Self {
        Self { iam, settings: Arc::new(settings), readiness: Arc::default(), is_whole: false }
    }
}

impl FromRef<ApiState> for Iam {
    fn from_ref(state: &ApiState) -> Self {
        state.iam.clone()
    }
}

impl FromRef<ApiState> for Arc<Settings> {
    fn from_ref(state: &ApiState) -> Self {
        Self::clone(&state.settings)
    }
}

impl FromRef<ApiState> for Arc<Readiness> {
    fn from_ref(state: &ApiState) -> Self {
        Self::clone(&state.readiness)
    }
}
