//! A program with a mailer of its own: an administrator invites a person, who follows the link and becomes a user.
//!
//! `cargo run -p iam-examples --example invite` logs the messages.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use iam_core::invitation::{Acceptance, InvitedRole, NewInvitation};
use iam_core::mail::{LinkPages, Mail, MailError, Mailer};
use iam_core::session::LoggedIn;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Iam, RequestContext};
use iam_store_memory::MemoryStore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Puts each message into the inbox of this program. A real one would call the mail service of your provider.
struct Inbox(UnboundedSender<Mail>);

#[async_trait]
impl Mailer for Inbox {
    async fn send(&self, mail: &Mail) -> std::result::Result<(), MailError> {
        // An error means that the message is tried again later.
        self.0.send(mail.clone()).map_err(MailError::from)
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    tracing_subscriber::fmt().init();
    let (sender, mut inbox) = unbounded_channel();
    let iam = open(sender).await?;
    let administrator = register(&iam).await?;
    invite(&iam, &administrator, "grace@example.com").await?;
    let token = token_for(&iam, &mut inbox, "grace@example.com").await?;
    let grace = accept(&iam, token).await?;
    tracing::info!(email = %grace.user.email, "the person is a user now");
    Ok(())
}

async fn open(sender: UnboundedSender<Mail>) -> Result<Iam> {
    // Pages of your application. The part after # is not sent to a server, so it is in no log.
    let pages = LinkPages {
        verify: "https://app.example.com/verify#{token}".parse()?,
        reset: "https://app.example.com/reset#{token}".parse()?,
        invitation: "https://app.example.com/invitation#{token}".parse()?,
        login: "https://app.example.com/login#{token}".parse()?,
    };
    Ok(Iam::builder(Arc::new(MemoryStore::new())).mail(Arc::new(Inbox(sender)), pages).build().await?)
}

async fn register(iam: &Iam) -> Result<Caller> {
    let user = NewUser {
        email: "ada@example.com".to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let registration = Registration { user, tenant_name: Some("Analytical Engines".to_owned()) };
    let registered = iam.tenants().register(&RequestContext::default(), registration).await?;
    let access = registered.login.tokens.access;
    Ok(iam.authenticate(access.expose(), RequestContext::default()).await?)
}

/// Asks a person to become a user with the role AUDITOR.
async fn invite(iam: &Iam, caller: &Caller, email: &str) -> Result<()> {
    let auditor = iam.roles().by_name(caller, "AUDITOR").await?.ok_or("the role is built in")?;
    let role = InvitedRole { role_id: auditor.id, organization_id: None, expires_at: None };
    let new = NewInvitation { email: email.to_owned(), roles: vec![role], ..NewInvitation::default() };
    iam.invitations().create(caller, new).await?;
    Ok(())
}

/// Sends what is due, as a background task does, and returns the token in the last message to a person.
async fn token_for(iam: &Iam, inbox: &mut UnboundedReceiver<Mail>, email: &str) -> Result<String> {
    while iam.deliver_mail().await?.more {}
    let mut token = None;
    while let Ok(mail) = inbox.try_recv() {
        tracing::info!(kind = %mail.kind, to = %mail.to, "a message");
        let link = mail.accounts.first().and_then(|account| account.link.as_ref());
        if let Some(link) = link.filter(|_| mail.to.as_str() == email) {
            token = link.url.expose().split_once('#').map(|(_, token)| token.to_owned());
        }
    }
    Ok(token.ok_or("there is no message")?)
}

/// What the page of the link does: it shows whom it greets, asks for a name and a password, and sends all of it.
async fn accept(iam: &Iam, token: String) -> Result<LoggedIn> {
    let token = token.into();
    let details = iam.invitations().look_up(&token).await?;
    tracing::info!(email = %details.email, tenant = %details.tenant, until = %details.expires_at, "a person is invited");
    let acceptance = Acceptance {
        token,
        password: "C0mpiler*".into(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
    };
    Ok(iam.invitations().accept(&RequestContext::default(), acceptance).await?.login)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_core::page::PageRequest;

    #[tokio::test]
    async fn an_invited_person_becomes_an_auditor() {
        let (sender, mut inbox) = unbounded_channel();
        let iam = open(sender).await.unwrap();
        let ada = register(&iam).await.unwrap();
        invite(&iam, &ada, "grace@example.com").await.unwrap();
        let token = token_for(&iam, &mut inbox, "grace@example.com").await.unwrap();
        let grace = accept(&iam, token.clone()).await.unwrap();
        assert!(grace.user.email_verified_at.is_some());
        let grants = iam.assignments().of_user(&ada, grace.user.id).await.unwrap();
        assert_eq!(grants.iter().map(|grant| grant.role.name.as_str()).collect::<Vec<_>>(), ["AUDITOR"]);
        let all = iam.invitations().list(&ada, &Default::default(), PageRequest::default()).await.unwrap();
        assert_eq!(all.items[0].status.as_str(), "ACCEPTED");
        accept(&iam, token).await.unwrap_err();
    }
}
