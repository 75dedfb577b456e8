//! Mail: what the service writes to users, and who sends it (`accounts.md`, "Mail").
//!
//! A message is queued in the outbox, by the same commit as the change that causes it. [`Iam::deliver_mail`] sends what
//! is due, so a program calls it again and again. Without a [`Mailer`], nothing is queued, and calls that need mail
//! fail with [`Error::MailOff`](crate::Error::MailOff).
//!
//! [`Iam::deliver_mail`]: crate::Iam::deliver_mail

mod delivery;
mod queue;

pub use crate::link_pages::{LinkPages, LinkTemplate};
pub use crate::mail::delivery::Delivery;
pub use iam_model::change::MailChange;
pub use iam_model::mail::{Mail, MailAccount, MailError, MailKind, MailLink, Mailer, Message};
pub use iam_model::store::{MailStore, MailTransaction};
