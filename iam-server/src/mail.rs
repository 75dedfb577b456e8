//! Sends mail in the background.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use iam_core::Iam;
use iam_core::brand::Brand;
use iam_core::mail::{Delivery, LinkPages, LinkTemplate, Mailer};
use iam_mail::{DirectoryMailer, SmtpMailer, SmtpServer, Templates};
use prometheus::{IntCounterVec, Opts, Registry};
use tokio::sync::watch;
use tokio::time::sleep;
use url::Url;

use crate::background::within;
use crate::failure::Failure;
use crate::settings::{MailRoute, MailSettings, Settings};

/// How often the task looks for messages that other processes have queued, or that are due again.
const PERIOD: Duration = Duration::from_secs(5);
/// How long a round may take. An attempt to send a message takes at most half a minute.
const LIMIT: Duration = Duration::from_secs(90);

/// Returns the mailer.
pub(crate) fn mailer(all: &Settings, settings: &MailSettings, address: SocketAddr) -> Result<Arc<dyn Mailer>, Failure> {
    let templates = templates(settings, &all.http.brand)?;
    let templates = match console(all, address) {
        Some(console) => templates.with_console(console),
        None => templates,
    };
    match &settings.route {
        MailRoute::Smtp(server) => Ok(Arc::new(smtp_mailer(server, settings, templates))),
        MailRoute::Directory(directory) => {
            let sender = settings.sender.clone();
            if !directory.is_dir() {
                return Err(Failure(format!("mail_dir: there is no directory {}", directory.display())));
            }
            Ok(Arc::new(DirectoryMailer::new(directory.clone(), sender, templates)))
        }
    }
}

pub(crate) fn smtp_mailer(server: &SmtpServer, settings: &MailSettings, templates: Templates) -> SmtpMailer {
    SmtpMailer::new(server.clone(), settings.sender.clone(), templates)
}

pub(crate) fn templates(settings: &MailSettings, brand: &Brand) -> Result<Templates, Failure> {
    let templates = match &settings.templates {
        Some(directory) => Templates::from_directory(directory),
        None => Templates::english(),
    };
    let templates = templates.map_err(|error| Failure::new("mail_templates", &error))?;
    Ok(templates.with_brand(brand))
}

/// Returns the address under which people reach the server.
pub(crate) fn base_of(all: &Settings, address: SocketAddr) -> String {
    let scheme = if all.tls.is_some() { "https" } else { "http" };
    all.public_url.clone().unwrap_or_else(|| format!("{scheme}://{address}"))
}

/// Returns the address of the console, which answers at the root of its host. `None` if the server has no console.
fn console(all: &Settings, address: SocketAddr) -> Option<String> {
    let base = Url::parse(&base_of(all, address)).ok().filter(|_| all.shows_console)?;
    Some(format!("{}/console", base.origin().ascii_serialization()))
}

/// Returns the pages to which links lead: those of the settings, or else those of the server itself.
pub(crate) fn pages(all: &Settings, settings: &MailSettings, address: SocketAddr) -> Result<LinkPages, Failure> {
    let base = base_of(all, address);
    let own = [&settings.link_verify, &settings.link_reset, &settings.link_invitation, &settings.link_login];
    let leads_here = own.into_iter().any(Option::is_none);
    if leads_here && all.public_url.is_none() && matches!(settings.route, MailRoute::Smtp(_)) {
        tracing::warn!("public_url is not set, so links in messages lead to {base}");
    }
    let page = |own: &Option<LinkTemplate>, path: &str| match own {
        Some(own) => Ok(own.clone()),
        None => format!("{base}{path}?token={{token}}").parse(),
    };
    let failed = |error| Failure::new("public_url", &error);
    Ok(LinkPages {
        verify: page(&settings.link_verify, "/account/verify").map_err(failed)?,
        reset: page(&settings.link_reset, "/account/reset").map_err(failed)?,
        invitation: page(&settings.link_invitation, "/account/invitation").map_err(failed)?,
        login: page(&settings.link_login, "/account/login").map_err(failed)?,
    })
}

/// Sends messages until the server stops, and finishes those that it is sending then. The next process sends the
/// others.
pub(crate) async fn deliver(iam: Iam, metrics: Arc<MailMetrics>, mut stop: watch::Receiver<bool>) {
    let mut is_failing = false;
    while !*stop.borrow() {
        match within(LIMIT, iam.deliver_mail()).await {
            Ok(delivery) => {
                metrics.note(delivery);
                is_failing = false;
                if delivery.more {
                    continue;
                }
            }
            Err(error) => {
                if !is_failing {
                    tracing::warn!(%error, "messages could not be sent; they stay in the outbox");
                }
                is_failing = true;
            }
        }
        tokio::select! {
            () = iam.mail_queued() => {}
            () = sleep(PERIOD) => {}
            // An error means that no signal can come any more. Stopping is right then, too.
            _ = stop.wait_for(|stop| *stop) => break,
        }
    }
}

/// The metrics of the outbox.
pub(crate) struct MailMetrics {
    messages: IntCounterVec,
}

impl MailMetrics {
    pub(crate) fn new(registry: &Registry) -> prometheus::Result<Self> {
        let options = Opts::new("mail_messages_total", "Attempts to send a message, by their outcome");
        let messages = IntCounterVec::new(options, &["outcome"])?;
        registry.register(Box::new(messages.clone()))?;
        Ok(Self { messages })
    }

    fn note(&self, delivery: Delivery) {
        for (outcome, count) in [
            ("sent", delivery.sent),
            ("postponed", delivery.postponed),
            ("given_up", delivery.given_up),
            ("dropped", delivery.dropped),
        ] {
            self.messages.with_label_values(&[outcome]).inc_by(count.into());
        }
    }
}
