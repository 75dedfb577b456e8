use std::fmt;
use std::sync::Arc;

use crate::engine::Engine;

/// Users, sessions, roles and audit over a store. Cheap to clone.
#[derive(Clone)]
pub struct Iam(pub(crate) Arc<Engine>);

impl fmt::Debug for Iam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iam").field(&self.0.store.kind()).finish()
    }
}
