//! The form of a message: its headers and its two texts (RFC 5322, RFC 2046 §5.1.4).

use std::str::FromStr;

use iam_model::mail::{Mail, MailError};
use lettre::Message;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};

use crate::templates::{Templates, Text};

/// The sender of messages: an address, or a name and an address, such as `Acme <no-reply@acme.example>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender(Mailbox);

/// The error for a text that is not a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an e-mail address, or a name and an address: Acme <no-reply@acme.example>")]
pub struct InvalidSender;

impl FromStr for Sender {
    type Err = InvalidSender;

    fn from_str(text: &str) -> Result<Self, InvalidSender> {
        text.parse().map(Self).map_err(|_| InvalidSender)
    }
}

/// Builds a message from its text.
pub(crate) fn build(sender: &Sender, templates: &Templates, mail: &Mail) -> Result<Message, MailError> {
    let text = templates.render(mail)?;
    assemble(sender, mail.to.as_str(), (&mail.id.to_string(), mail.kind.as_str()), text)
}

/// Builds a message of a kind, with an identifier that is unique for the sender.
pub(crate) fn assemble(
    Sender(from): &Sender,
    to: &str,
    (id, kind): (&str, &str),
    text: Text,
) -> Result<Message, MailError> {
    let message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.parse()?))
        .subject(text.subject)
        // The same at each attempt, so that the receiver may recognize a duplicate.
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .header(Kind(kind.to_owned()))
        .header(AutoSubmitted)
        .multipart(MultiPart::alternative_plain_html(text.plain, text.html))?;
    Ok(message)
}

/// The kind of the message (`accounts.md`, "Mail").
#[derive(Clone)]
struct Kind(String);

impl Header for Kind {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("X-IAM-Message")
    }

    fn parse(value: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self(value.to_owned()))
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), self.0.clone())
    }
}

/// Keeps vacation programs from answering (RFC 3834 §5).
#[derive(Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_value: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}
