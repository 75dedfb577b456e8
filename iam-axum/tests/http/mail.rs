//! The mailer of the tests, and the rules for all messages (`docs/operating.md#mail`).

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use iam_core::mail::{LinkPages, Mail, MailError, MailKind, Mailer};
use serde_json::json;

use crate::app::TestApp;
use crate::people::{PASSWORD, WRONG_PASSWORD, profile};

in_memory_with_mail![
    an_address_gets_three_messages_of_a_kind_in_an_hour,
    the_limit_counts_for_all_tenants_together,
    beyond_the_limit_the_link_in_the_last_message_stays_valid,
    a_message_that_is_refused_is_tried_six_times,
    a_message_is_not_sent_when_a_newer_link_has_replaced_its_own,
    a_lockout_is_told_to_the_owner_of_the_address,
    the_notices_to_a_verified_address_do_not_depend_on_other_tenants,
    a_new_password_is_told_to_the_user,
    without_mail_what_needs_it_is_503_and_says_so,
    without_mail_everything_else_works,
];

/// Where the links in the tests lead.
pub(crate) fn pages() -> LinkPages {
    LinkPages {
        verify: "https://app.example.com/verify#{token}".parse().unwrap(),
        reset: "https://app.example.com/reset#{token}".parse().unwrap(),
        invitation: "https://app.example.com/invitation#{token}".parse().unwrap(),
        login: "https://app.example.com/login#{token}".parse().unwrap(),
    }
}

/// A mailer that keeps the messages, or refuses all of them.
#[derive(Clone, Default)]
pub(crate) struct TestMailer(Arc<Mutex<Outcome>>);

#[derive(Default)]
struct Outcome {
    refuses: bool,
    loses_answers: bool,
    attempts: u32,
    sent: Vec<Mail>,
}

#[async_trait]
impl Mailer for TestMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let mut outcome = self.0.lock().unwrap();
        outcome.attempts += 1;
        if outcome.refuses {
            return Err("451 try again later".into());
        }
        outcome.sent.push(mail.clone());
        if outcome.loses_answers { Err("the connection was lost".into()) } else { Ok(()) }
    }
}

impl TestApp {
    fn mailer(&self) -> &Mutex<Outcome> {
        &self.mailer.as_ref().unwrap().0
    }

    /// Sends what is due. Returns the messages that were sent since the last call, oldest first.
    pub(crate) async fn mails(&self) -> Vec<Mail> {
        while self.iam.deliver_mail().await.unwrap().more {}
        let mut sent = std::mem::take(&mut self.mailer().lock().unwrap().sent);
        sent.sort_by_key(|mail| mail.id);
        sent
    }

    /// Sends what is due. Returns the token in the one message of a kind to an address.
    pub(crate) async fn token(&self, kind: MailKind, to: &str) -> String {
        let mails = self.mails().await;
        let found: Vec<&Mail> = mails.iter().filter(|mail| mail.kind == kind && mail.to.as_str() == to).collect();
        assert_eq!(found.len(), 1, "{mails:?}");
        tokens(found[0]).remove(0)
    }

    /// Whether the answers to accepted messages get lost.
    pub(crate) fn lose_answers(&self, loses_answers: bool) {
        self.mailer().lock().unwrap().loses_answers = loses_answers;
    }

    fn refuse_mail(&self, refuses: bool) {
        self.mailer().lock().unwrap().refuses = refuses;
    }
}

/// The tokens of the links in a message.
pub(crate) fn tokens(mail: &Mail) -> Vec<String> {
    let url = |account: &iam_core::mail::MailAccount| account.link.as_ref().unwrap().url.expose().to_owned();
    mail.accounts.iter().map(url).map(|url| url.split_once('#').unwrap().1.to_owned()).collect()
}

/// The kinds and addresses of messages.
pub(crate) fn kinds(mails: &[Mail]) -> Vec<(MailKind, &str)> {
    mails.iter().map(|mail| (mail.kind, mail.to.as_str())).collect()
}

async fn an_address_gets_three_messages_of_a_kind_in_an_hour(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut sent = app.mails().await.len();
    for _ in 0..4 {
        app.post("/auth/email/verification").by(&ada).send().await.accepted();
        sent += app.mails().await.len();
    }
    assert_eq!(sent, 3);
    app.pass(TimeDelta::hours(1));
    let ada = app.login(&ada).await;
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    assert_eq!(kinds(&app.mails().await), [(MailKind::Verify, "ada@example.com")]);
}

async fn the_limit_counts_for_all_tenants_together(app: TestApp) {
    for _ in 0..5 {
        app.register("ada@example.com").await;
    }
    app.register("ADA@example.com").await;
    app.register("grace@example.com").await;
    let mails = app.mails().await;
    let to = |address: &str| mails.iter().filter(|mail| mail.to.as_str().eq_ignore_ascii_case(address)).count();
    assert_eq!((to("ada@example.com"), to("grace@example.com")), (3, 1));
}

async fn beyond_the_limit_the_link_in_the_last_message_stays_valid(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..2 {
        app.mails().await;
        app.post("/auth/email/verification").by(&ada).send().await.accepted();
    }
    let last = tokens(app.mails().await.last().unwrap()).remove(0);
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    assert!(app.mails().await.is_empty());
    app.post("/auth/email/verify").json(&json!({ "token": last })).send().await.no_content();
}

async fn a_message_that_is_refused_is_tried_six_times(app: TestApp) {
    app.refuse_mail(true);
    let ada = app.register("ada@example.com").await;
    let attempts = async || {
        assert!(app.mails().await.is_empty());
        app.mailer().lock().unwrap().attempts
    };
    assert_eq!(attempts().await, 1);
    for (tries, minutes) in [(2, 1), (3, 5), (4, 30), (5, 120), (6, 360)] {
        app.pass(TimeDelta::minutes(minutes) - TimeDelta::milliseconds(1));
        assert_eq!(attempts().await, tries - 1);
        app.pass(TimeDelta::milliseconds(1));
        assert_eq!(attempts().await, tries);
    }
    app.refuse_mail(false);
    app.pass(TimeDelta::days(1));
    assert_eq!(attempts().await, 6);
    let _ = ada;
}

async fn a_message_is_not_sent_when_a_newer_link_has_replaced_its_own(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    assert_eq!(kinds(&app.mails().await), [(MailKind::Verify, "ada@example.com")]);
}

async fn a_lockout_is_told_to_the_owner_of_the_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    for email in ["ada@example.com", "nobody@example.com"] {
        for _ in 0..6 {
            app.attempt_at(&ada.tenant, email, WRONG_PASSWORD).send().await;
        }
    }
    let mails = app.mails().await;
    assert_eq!(kinds(&mails), [(MailKind::NewLoginBlocked, "ada@example.com")]);
    let account = &mails[0].accounts[0];
    assert_eq!((account.name.as_str(), account.link.is_none()), ("Ada Lovelace", true));
    assert_eq!(account.tenant, app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok()["name"]);
}

async fn the_notices_to_a_verified_address_do_not_depend_on_other_tenants(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    app.post("/auth/email/verify").json(&json!({ "token": token })).send().await.no_content();
    let lock = async |tenant: &str| {
        for _ in 0..5 {
            app.attempt_at(tenant, "ada@example.com", WRONG_PASSWORD).send().await;
        }
    };
    for tenant in ["no-such-tenant", "another-one", "a-third-one"] {
        lock(tenant).await;
    }
    for _ in 0..3 {
        let of_a_stranger = app.register("ada@example.com").await;
        lock(&of_a_stranger.tenant).await;
    }
    app.mails().await;
    lock(&ada.tenant).await;
    assert_eq!(kinds(&app.mails().await), [(MailKind::NewLoginBlocked, "ada@example.com")]);
}

async fn a_new_password_is_told_to_the_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    app.post("/auth/password").by(&ada).json(&body).send().await.no_content();
    let wrong = json!({ "currentPassword": PASSWORD, "newPassword": "N3wer&Password" });
    app.post("/auth/password").by(&ada).json(&wrong).send().await.problem("validation-error");
    assert_eq!(kinds(&app.mails().await), [(MailKind::PasswordChanged, "ada@example.com")]);
}

async fn without_mail_what_needs_it_is_503_and_says_so(app: TestApp) {
    let app = app.without_mail().await;
    let ada = app.register("ada@example.com").await;
    let change = json!({ "newEmail": "new@example.com", "currentPassword": PASSWORD });
    for request in [
        app.post("/auth/email/verification").by(&ada),
        app.post("/auth/email").by(&ada).json(&change),
        app.post("/auth/email-login").json(&json!({ "email": "ada@example.com" })),
    ] {
        let problem = request.send().await.problem("unavailable");
        assert_eq!(problem["detail"], "This installation sends no mail. The operator can turn it on.");
    }
}

async fn without_mail_everything_else_works(app: TestApp) {
    let (with_mail, app) = (app.with_settings(|_| {}).await, app.without_mail().await);
    let ada = app.register("ada@example.com").await;
    app.post("/users").by(&ada).json(&profile("grace@example.com")).send().await.created();
    let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    app.post("/auth/password").by(&ada).json(&body).send().await.no_content();
    assert!(with_mail.mails().await.is_empty(), "nothing is queued for a time when mail is on");
}
