//! A zone of the DNS, in the process of the test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use iam_core::domain::{LookupError, TxtResolver};

/// The records of type TXT, by name. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Zone(Arc<Mutex<HashMap<String, Answer>>>);

type Answer = Result<Vec<String>, LookupError>;

impl Zone {
    /// Publishes these values of a name, in place of the former ones.
    pub(crate) fn publish(&self, name: &str, values: &[&str]) {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        self.0.lock().unwrap().insert(name.to_owned(), Ok(values));
    }

    /// Makes the lookup of a name fail.
    pub(crate) fn fail(&self, name: &str, reason: &str) {
        self.0.lock().unwrap().insert(name.to_owned(), Err(LookupError(reason.to_owned())));
    }
}

#[async_trait]
impl TxtResolver for Zone {
    async fn txt(&self, name: &str) -> Answer {
        self.0.lock().unwrap().get(name).cloned().unwrap_or(Ok(Vec::new()))
    }
}
