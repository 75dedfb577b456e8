//! Mail: the messages of the service to users, and their delivery (`docs/operating.md#mail`).
//!
//! A message is queued in the outbox, by the same commit as the change that causes it. [`Iam::deliver_mail`] sends the
//! due messages, so a program calls it again and again. Tenants take turns, and invitations come last. Without a
//! [`Mailer`], nothing is queued, and calls that need mail fail with [`Error::MailOff`](crate::Error::MailOff).
//!
//! [`Iam::deliver_mail`]: crate::Iam::deliver_mail

mod delivery;
mod queue;

pub use crate::link_pages::{LinkPages, LinkTemplate};
pub use crate::mail::delivery::Delivery;
pub(crate) use crate::mail::queue::LinkRequest;
pub use iam_model::change::MailChange;
pub use iam_model::mail::{
    Addressee, Lane, Mail, MailAccount, MailActor, MailError, MailKind, MailLink, Mailer, Message, Recipient,
    RefusedForGood, SentMessages,
};
pub use iam_model::store::{MailStore, MailTransaction};
