//! Messages by SMTP (RFC 5321), encrypted (RFC 8314 or, by STARTTLS, RFC 3207).

use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use async_trait::async_trait;
use iam_model::mail::{Mail, MailError, Mailer, RefusedForGood};
use iam_model::validate::Email;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::response::Response;
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

use crate::message::{Sender, assemble, build};
use crate::templates::{Templates, Text};

/// Sends messages to a mail server, each over a connection of its own: an attempt that was given up halfway must not
/// leave a connection on which the answers belong to another message.
#[derive(Debug)]
pub struct SmtpMailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Sender,
    templates: Templates,
}

/// Why a URL names no mail server. It does not show the URL, which may contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidUrl(String);

/// How long a connection may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);

/// How long the mail server may take to answer a test message.
const TEST_LIMIT: Duration = Duration::from_secs(30);

/// A mail server, from a URL: `smtps://user:password@host:465`, or `smtp://user:password@host:587` with STARTTLS. The
/// connection must be encrypted, unless the host is this machine (`localhost`, `127.0.0.1`, `[::1]`).
#[derive(Clone)]
pub struct SmtpServer(AsyncSmtpTransport<Tokio1Executor>);

/// Without the password.
impl fmt::Debug for SmtpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SmtpServer")
    }
}

impl FromStr for SmtpServer {
    type Err = InvalidUrl;

    fn from_str(url: &str) -> Result<Self, InvalidUrl> {
        let invalid = |why: &str| InvalidUrl(why.to_owned());
        let parsed = Url::parse(url).map_err(|_| invalid("must be a URL: smtps://user:password@host:465"))?;
        let host = parsed.host_str().ok_or_else(|| invalid("must name a host"))?;
        // For these schemes, the URL does not tell an address from a name.
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if parsed.query().is_some() || parsed.fragment().is_some() || !matches!(parsed.path(), "" | "/") {
            return Err(invalid("must end after the host and the port"));
        }
        let is_local = is_local(host);
        let parameters = TlsParameters::builder(host.to_owned())
            // An unencrypted connection within this machine is allowed, so an encrypted one need not prove more.
            .dangerous_accept_invalid_certs(is_local)
            .dangerous_accept_invalid_hostnames(is_local)
            .build()
            .map_err(|cause| InvalidUrl(format!("TLS cannot be used: {}", chain(&cause))))?;
        let (tls, port) = match parsed.scheme() {
            "smtps" => (Tls::Wrapper(parameters), 465),
            "smtp" if is_local => (Tls::Opportunistic(parameters), 587),
            "smtp" => (Tls::Required(parameters), 587),
            _ => return Err(invalid("must start with smtps:// or smtp://")),
        };
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
            .map_err(|cause| InvalidUrl(format!("is not valid: {}", chain(&cause))))?;
        Ok(Self(builder.tls(tls).port(parsed.port().unwrap_or(port)).timeout(Some(CONNECT_LIMIT)).build()))
    }
}

impl SmtpMailer {
    /// Returns a mailer for a mail server. It does not connect yet.
    #[must_use]
    pub fn new(server: SmtpServer, sender: Sender, templates: Templates) -> Self {
        Self { transport: server.0, sender, templates }
    }

    /// Sends a short message without any account to an address. Returns the answer of the mail server.
    ///
    /// # Errors
    ///
    /// The text of the error says where sending stopped, and has the answer of the server.
    pub async fn test(&self, to: &Email) -> Result<String, MailError> {
        let text = Text {
            subject: "Test message".to_owned(),
            plain: "This message shows that the service can send mail.\n".to_owned(),
            html: "<!doctype html><p>This message shows that the service can send mail.</p>\n".to_owned(),
        };
        let message = assemble(&self.sender, to, (&Uuid::now_v7().to_string(), "TEST"), text)?;
        let late = |_| format!("no answer within {TEST_LIMIT:?}");
        let answer = timeout(TEST_LIMIT, self.deliver(message)).await.map_err(late)??;
        Ok(format!("{} {}", answer.code(), answer.message().collect::<Vec<_>>().join(" ")))
    }

    async fn deliver(&self, message: Message) -> Result<Response, MailError> {
        self.transport.send(message).await.map_err(|cause| match cause.status().map(u16::from) {
            Some(code) if is_about_message(code) => RefusedForGood(chain(&cause)).into(),
            _ => chain(&cause).into(),
        })
    }
}

#[async_trait]
impl Mailer for SmtpMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        self.deliver(build(&self.sender, &self.templates, mail)?).await.map(drop)
    }
}

/// Whether a code says that the server will never accept this message (RFC 5321 §4.2.3): its recipient, its sender or
/// its size is refused. Other permanent codes are about the server or the login of this program, so they are for an
/// operator to mend, and the messages wait. Code 554 may be either: it is also the greeting of a server that refuses
/// everything.
fn is_about_message(code: u16) -> bool {
    matches!(code, 550..=553 | 555)
}

fn is_local(host: &str) -> bool {
    let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    is_loopback || host.eq_ignore_ascii_case("localhost")
}

/// Returns an error with its causes, which contain the answer of the server.
fn chain(error: &lettre::transport::smtp::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        // The library writes some causes into the text itself.
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_about_the_message_refuses_it_for_good() {
        assert!([550, 551, 552, 553, 555].into_iter().all(is_about_message));
        assert!(
            [421, 450, 451, 452, 500, 502, 503, 521, 530, 535, 554].into_iter().all(|code| !is_about_message(code))
        );
    }

    fn server(url: &str) -> Result<SmtpServer, String> {
        url.parse().map_err(|error: InvalidUrl| error.to_string())
    }

    #[tokio::test]
    async fn a_url_names_a_mail_server() {
        for good in [
            "smtps://user:p%40ss@mail.example:465",
            "smtps://mail.example",
            "smtp://mail.example:587",
            "smtp://127.0.0.1:2525",
            "smtp://[::1]:2525",
            "smtp://localhost/",
        ] {
            server(good).unwrap();
        }
        for (host, is_here) in [
            ("localhost", true),
            ("LocalHost", true),
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("localhost.example", false),
            ("127.0.0.1.example", false),
            ("10.0.0.1", false),
        ] {
            assert_eq!(is_local(host), is_here, "{host}");
        }
        for (bad, complaint) in [
            ("mail.example", "must be a URL: smtps://user:password@host:465"),
            ("https://user:hunter2@mail.example", "must start with smtps:// or smtp://"),
            ("smtp://user:hunter2@mail.example/path", "must end after the host and the port"),
            ("smtp://user:hunter2@mail.example?tls=opportunistic", "must end after the host and the port"),
            ("smtp:", "must name a host"),
        ] {
            assert_eq!(server(bad).unwrap_err(), complaint);
        }
    }
}
