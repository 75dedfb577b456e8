//! Mails to new users. A user may be created by the shop, or by IAM's own routes.

use iam_core::audit::{AuditEntry, ResourceType, action};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

/// A mail to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mail {
    pub(crate) to: String,
    pub(crate) subject: &'static str,
}

/// A hook that only queues mails: the request that made the change waits until the hook returns.
pub(crate) fn hook(mails: UnboundedSender<Mail>) -> impl Fn(&[AuditEntry]) + Send + Sync + 'static {
    move |entries| {
        for mail in entries.iter().filter_map(welcome) {
            // This fails when the receiver is dropped, as at the end of the program.
            let _ = mails.send(mail);
        }
    }
}

fn welcome(entry: &AuditEntry) -> Option<Mail> {
    let is_new_user = entry.action == action::CREATE && entry.resource_type == ResourceType::USER;
    let email = entry.new_value.as_ref().filter(|_| is_new_user)?.get("email")?;
    Some(Mail { to: email.as_str()?.to_owned(), subject: "Welcome to the shop" })
}

/// Logs each mail. It stands for a real mail service.
pub(crate) async fn deliver(mut mails: UnboundedReceiver<Mail>) {
    while let Some(Mail { to, subject }) = mails.recv().await {
        tracing::info!(to, subject, "mail sent");
    }
}
