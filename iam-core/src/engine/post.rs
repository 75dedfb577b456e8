use std::sync::Arc;

use iam_model::error::{Error, Result};
use iam_model::mail::Mailer;
use tokio::sync::Notify;

use crate::engine::Engine;
use crate::link_pages::LinkPages;

/// What sends messages, and the pages to which their links lead.
pub(crate) struct Post {
    pub(crate) mailer: Arc<dyn Mailer>,
    pub(crate) pages: LinkPages,
    /// Notified when a message was queued by this process.
    pub(crate) queued: Notify,
}

impl Engine {
    /// Returns what sends messages.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`].
    pub(crate) fn require_mail(&self) -> Result<&Post> {
        self.post.as_deref().ok_or(Error::MailOff)
    }
}
