//! Mail: what the service writes to users, and who sends it (`accounts.md`, "Mail").
//!
//! A message is queued in the outbox, by the same commit as the change that causes it. [`Iam::deliver_mail`] sends what
//! is due, so a program calls it again and again. Without a [`Mailer`], nothing is queued, and calls that need mail
//! fail with [`Error::MailOff`](crate::Error::MailOff).
//!
//! [`Iam::deliver_mail`]: crate::Iam::deliver_mail

mod delivery;
mod queue;
mod url;

pub use crate::mail::delivery::Delivery;
pub use crate::mail::url::{LinkPages, LinkTemplate};
pub use iam_model::change::MailChange;
pub use iam_model::mail::{Mail, MailAccount, MailError, MailKind, MailLink, Mailer, Message};
pub use iam_model::store::{MailStore, MailTransaction};

use std::sync::Arc;

use tokio::sync::Notify;

/// What sends messages, and the pages to which links lead.
pub(crate) struct Post {
    pub(crate) mailer: Arc<dyn Mailer>,
    pub(crate) pages: LinkPages,
    /// Notified when a message was queued by this process.
    pub(crate) queued: Notify,
}
