//! The form of a message: its headers and its two texts (RFC 5322, RFC 2046 §5.1.4).

use std::str::FromStr;

use iam_model::mail::{Mail, MailError};
use iam_model::validate::Email;
use lettre::address::Envelope;
use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message};

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
    assemble(sender, mail.to.email(), (&mail.id.to_string(), mail.kind.as_str()), text)
}

/// Builds a message of a kind, with an identifier that is unique for the sender.
pub(crate) fn assemble(
    Sender(from): &Sender,
    to: &Email,
    (id, kind): (&str, &str),
    text: Text,
) -> Result<Message, MailError> {
    let to = address_of(to);
    let message = Message::builder()
        .from(from.clone())
        .to(Mailbox::new(None, to.clone()))
        // The library would read the address from its header, and not find it where it does not know its letters.
        .envelope(Envelope::new(Some(from.email.clone()), vec![to])?)
        .subject(text.subject)
        // The same at each attempt, so that the receiver may recognize a duplicate.
        .message_id(Some(format!("<{id}@{}>", from.email.domain())))
        .header(Kind(kind.to_owned()))
        .header(AutoSubmitted)
        .multipart(MultiPart::alternative_plain_html(text.plain, text.html))?;
    Ok(message)
}

/// Returns an address as mail servers expect it: with a domain of A-labels. So a mail server must support SMTPUTF8 only
/// for a local part that is not ASCII (RFC 6531 §3.3).
///
/// The address is not checked again: the library refuses letters of some scripts that an address can have.
fn address_of(email: &Email) -> Address {
    let (local, domain) = email.as_str().rsplit_once('@').unwrap_or((email.as_str(), ""));
    let domain = idna::domain_to_ascii(domain).unwrap_or_else(|_| domain.to_owned());
    Address::new_dangerous(local, domain)
}

/// The kind of the message (`docs/operating.md#mail`).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_an_address_stands_as_a_labels() {
        for (email, expected) in [
            ("Ada@Example.com", "Ada@example.com"),
            ("ada@ex\u{e4}mple.de", "ada@xn--exmple-cua.de"),
            (
                "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}@example.in",
                "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}@example.in",
            ),
            ("x\u{323}\u{302}@example.com", "x\u{323}\u{302}@example.com"),
            (
                "\u{3b1}\u{3b4}\u{3b1}@\u{3c0}\u{3b1}\u{3c1}\u{3ac}\u{3b4}\u{3b5}\u{3b9}\u{3b3}\u{3bc}\u{3b1}.example",
                "\u{3b1}\u{3b4}\u{3b1}@xn--hxajbheg2az3al.example",
            ),
        ] {
            let address = address_of(&email.parse().unwrap());
            assert_eq!(address.to_string(), expected);
            let text = || Text { subject: "Hello".into(), plain: "Hello".into(), html: "Hello".into() };
            let message =
                assemble(&"no-reply@acme.example".parse().unwrap(), &email.parse().unwrap(), ("1", "VERIFY"), text());
            let message = message.unwrap();
            assert_eq!(message.envelope().to(), [address]);
            assert!(String::from_utf8(message.formatted()).unwrap().contains(&format!("\r\nTo: {expected}\r\n")));
        }
    }
}
