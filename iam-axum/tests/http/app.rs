//! The service under test, in the process of the test.

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use chrono::{SecondsFormat, TimeDelta};
use iam_core::clock::testing::FixedClock;
use iam_core::clock::{Clock, Timestamp};
use iam_core::credential::HashingCost;
use iam_core::observe::Observer;
use iam_core::webhook::WebhookSender;
use iam_core::{Builder, Iam, Store};
use test_support::TestStore;
use test_support::identity_provider::Providers;
use url::Url;

use crate::mail::{self, TestMailer};
use crate::request::Request;
use crate::webauthn;
use crate::webhook::TestReceiver;
use crate::zone::Zone;

/// Where a client takes the result of a login by a provider.
pub(crate) const REDIRECT: &str = "https://app.example.com/callback";

/// The prefix of the canonical paths.
pub(crate) const PREFIX: &str = "/api/v1";

/// A service over a store, with a clock that only the test moves.
pub(crate) struct TestApp {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: FixedClock,
    pub(crate) iam: Iam,
    /// What keeps the messages, in services that send mail.
    pub(crate) mailer: Option<TestMailer>,
    /// What receives the events of webhooks.
    pub(crate) receiver: TestReceiver,
    /// What the DNS has.
    pub(crate) zone: Zone,
    /// What identity providers answer.
    pub(crate) providers: Providers,
    pub(crate) router: Router,
    /// The owner of the store's file or database, which is removed when the last service over it is dropped.
    test_store: Arc<TestStore>,
}

impl TestApp {
    pub(crate) async fn on(test_store: TestStore) -> Self {
        let store = test_store.store();
        // A date in the past, so that code that reads the system's clock fails the tests.
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let (receiver, zone, providers) = (TestReceiver::default(), Zone::default(), Providers::default());
        let builder = Iam::builder(Arc::clone(&store)).webhooks(Arc::new(receiver.clone()));
        let builder = builder.resolver(Arc::new(zone.clone()));
        let builder = builder.federation(Arc::new(providers.clone()), callbacks());
        let iam = Self::build(builder, clock.clone(), |_| {}).await;
        let router = iam_axum::service(iam.clone(), unlimited());
        Self { store, clock, iam, mailer: None, receiver, zone, providers, router, test_store: Arc::new(test_store) }
    }

    /// A builder of another process over the same store, which sends mail if this one does.
    fn builder(&self) -> Builder {
        let builder = Iam::builder(Arc::clone(&self.store)).webhooks(Arc::new(self.receiver.clone()));
        let builder = builder.resolver(Arc::new(self.zone.clone()));
        let builder = builder.federation(Arc::new(self.providers.clone()), callbacks());
        match &self.mailer {
            Some(mailer) => builder.mail(Arc::new(mailer.clone()), mail::pages()),
            None => builder,
        }
    }

    /// The same service, which sends mail. Most tests do without: mail makes every registration slower.
    pub(crate) async fn with_mail(self) -> Self {
        Self { mailer: Some(TestMailer::default()), ..self }.restarted().await
    }

    async fn build(builder: Builder, clock: impl Clock, set: impl FnOnce(&mut iam_core::Settings)) -> Iam {
        let mut settings = iam_core::Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        settings.relying_party = Some(webauthn::relying_party());
        settings.federation_redirects = vec![REDIRECT.to_owned()];
        set(&mut settings);
        builder.clock(clock).settings(settings).build().await.unwrap()
    }

    /// Another process over the same store and clock, with other settings.
    pub(crate) async fn with_settings(&self, set: impl FnOnce(&mut iam_core::Settings)) -> Self {
        let iam = Self::build(self.builder(), self.clock.clone(), set).await;
        self.serving(iam, unlimited())
    }

    /// Another process over the same store and clock, with other HTTP settings.
    pub(crate) fn with_http_settings(&self, set: impl FnOnce(&mut iam_axum::Settings)) -> Self {
        let mut settings = unlimited();
        set(&mut settings);
        self.serving(self.iam.clone(), settings)
    }

    /// Another process over the same store, with another clock.
    pub(crate) async fn with_clock(&self, clock: impl Clock) -> Self {
        let iam = Self::build(self.builder(), clock, |_| {}).await;
        self.serving(iam, unlimited())
    }

    /// Another process over the same store and clock, which sends no mail.
    pub(crate) async fn without_mail(&self) -> Self {
        let iam = Self::build(Iam::builder(Arc::clone(&self.store)), self.clock.clone(), |_| {}).await;
        Self { mailer: None, ..self.serving(iam, unlimited()) }
    }

    /// Another process over the same store and clock, which sends no events of webhooks.
    pub(crate) async fn without_webhooks(&self) -> Self {
        let iam = Self::build(Iam::builder(Arc::clone(&self.store)), self.clock.clone(), |_| {}).await;
        self.serving(iam, unlimited())
    }

    /// Another process over the same store and clock, which reaches neither the DNS nor identity providers.
    pub(crate) async fn offline(&self) -> Self {
        let iam = Self::build(Iam::builder(Arc::clone(&self.store)), self.clock.clone(), |_| {}).await;
        self.serving(iam, unlimited())
    }

    /// Another process over the same store and clock, which sends the events of webhooks by this sender.
    pub(crate) async fn sending(&self, sender: Arc<dyn WebhookSender>) -> Self {
        let iam = Self::build(self.builder().webhooks(sender), self.clock.clone(), |_| {}).await;
        self.serving(iam, unlimited())
    }

    /// Another process over the same store and clock, with an observer and other HTTP settings.
    pub(crate) async fn observed(
        &self,
        observer: Arc<dyn Observer>,
        set: impl FnOnce(&mut iam_axum::Settings),
    ) -> Self {
        let mut settings = unlimited();
        set(&mut settings);
        let builder = self.builder().observer(observer);
        let iam = Self::build(builder, self.clock.clone(), |_| {}).await;
        self.serving(iam, settings)
    }

    /// The service after a restart: only the content of the store remains.
    pub(crate) async fn restarted(&self) -> Self {
        self.with_settings(|_| {}).await
    }

    fn serving(&self, iam: Iam, settings: iam_axum::Settings) -> Self {
        let router = iam_axum::service(iam.clone(), settings);
        let (store, test_store) = (Arc::clone(&self.store), Arc::clone(&self.test_store));
        let (mailer, receiver) = (self.mailer.clone(), self.receiver.clone());
        let (zone, providers) = (self.zone.clone(), self.providers.clone());
        Self { store, clock: self.clock.clone(), iam, mailer, receiver, zone, providers, router, test_store }
    }

    pub(crate) fn get(&self, path: &str) -> Request<'_> {
        self.request(Method::GET, &format!("{PREFIX}{path}"))
    }

    pub(crate) fn post(&self, path: &str) -> Request<'_> {
        self.request(Method::POST, &format!("{PREFIX}{path}"))
    }

    pub(crate) fn put(&self, path: &str) -> Request<'_> {
        self.request(Method::PUT, &format!("{PREFIX}{path}"))
    }

    pub(crate) fn patch(&self, path: &str) -> Request<'_> {
        self.request(Method::PATCH, &format!("{PREFIX}{path}"))
    }

    pub(crate) fn delete(&self, path: &str) -> Request<'_> {
        self.request(Method::DELETE, &format!("{PREFIX}{path}"))
    }

    /// A request to exactly this path, without the prefix.
    pub(crate) fn request(&self, method: Method, path: &str) -> Request<'_> {
        Request::new(self, method, path)
    }

    /// Sequences every pending entry of the audit logs, as the background task of a running server does.
    pub(crate) async fn sequence(&self) {
        while self.iam.sequence_audit_logs().await.unwrap().more {}
    }

    pub(crate) fn pass(&self, time: TimeDelta) {
        self.clock.advance(time);
    }

    /// The current time in the format of JSON answers.
    pub(crate) fn now(&self) -> String {
        shown(self.clock.now())
    }
}

/// Where identity providers send people back to.
fn callbacks() -> Url {
    Url::parse("https://iam.example/api/v1/auth/federation/callback/").unwrap()
}

/// Settings without rate limits: tests send more requests than people do.
fn unlimited() -> iam_axum::Settings {
    let mut settings = iam_axum::Settings::default();
    settings.rate_limiter = None;
    settings
}

/// A time in the format of JSON answers.
pub(crate) fn shown(moment: Timestamp) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Millis, true)
}
