use std::sync::Arc;

use iam_model::error::{Error, Result};
use iam_model::mail::Mailer;
use tokio::sync::Notify;

use crate::engine::Engine;
use crate::link_pages::LinkPages;

/// The mailer, and the pages to which the links in its mails lead.
pub(crate) struct OutgoingMail {
    pub(crate) mailer: Arc<dyn Mailer>,
    pub(crate) pages: LinkPages,
    /// Notified when a message was queued by this process.
    pub(crate) queued: Notify,
}

impl Engine {
    /// Returns the mailer with its pages.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`].
    pub(crate) fn require_mail(&self) -> Result<&OutgoingMail> {
        self.mail.as_deref().ok_or(Error::MailOff)
    }
}
