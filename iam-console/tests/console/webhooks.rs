#![cfg(test)]

use std::time::Duration;

use axum::http::StatusCode;
use iam_core::audit::NewEvent;
use iam_core::webhook::{EventFormat, NewWebhook, Webhook, WebhookPatch};
use iam_core::{Caller, WebhookId};

use crate::app::{Answer, App, EMAIL, person};

const URL: &str = "https://example.com/events";

/// A console with an administrator that is signed in, and a webhook.
struct Signed {
    app: App,
    ada: Caller,
    cookie: String,
    webhook: Webhook,
}

async fn signed() -> Signed {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let webhook = app.iam.webhooks().create(&ada, new_webhook(URL)).await.unwrap().webhook;
    let cookie = app.sign_in(EMAIL).await;
    Signed { app, ada, cookie, webhook }
}

fn new_webhook(url: &str) -> NewWebhook {
    NewWebhook { url: url.into(), types: vec!["INVOICE.*".into(), "USER.CREATE".into()], ..NewWebhook::default() }
}

impl Signed {
    fn path(&self, action: &str) -> String {
        format!("/console/webhooks/{}{action}", self.webhook.id)
    }

    async fn stored(&self) -> Webhook {
        self.app.iam.webhooks().get(&self.ada, self.webhook.id).await.unwrap()
    }

    async fn page(&self) -> Answer {
        self.app.get(&self.path(""), &self.cookie).await
    }

    /// Records events, and delivers them.
    async fn deliver(&self, count: usize) {
        self.record(count).await;
        let is_delivered = async || {
            let found = self.app.iam.webhooks().deliveries(&self.ada, self.webhook.id).await.unwrap();
            found.len() >= count
        };
        self.deliver_until(is_delivered).await;
    }

    async fn record(&self, count: usize) {
        for number in 0..count {
            let event = NewEvent {
                action: "SENT".into(),
                resource_type: "INVOICE".into(),
                resource_id: Some(number.to_string()),
                ..NewEvent::default()
            };
            self.app.iam.audit().log(&self.ada, event).await.unwrap();
        }
        self.app.iam.sequence_audit_logs().await.unwrap();
    }

    async fn deliver_until(&self, is_delivered: impl AsyncFn() -> bool) {
        let stop = async {
            while !is_delivered().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), self.app.iam.deliver_webhooks(stop)).await.unwrap().unwrap();
    }
}

/// Follows an answer to the page that shows a new secret. Returns the secret, which a reload does not show again.
async fn secret(app: &App, cookie: &str, answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let cookies = answer.cookies(cookie);
    let shown = app.get(answer.location(), &cookies).await;
    let again = app.get(answer.location(), &shown.cookies(&cookies)).await;
    assert_eq!(again.location(), answer.location().strip_suffix("/secret").unwrap());
    let (_, rest) = shown.body.split_once("<code>whsec_").expect("a secret");
    format!("whsec_{}", rest.split('<').next().unwrap())
}

#[tokio::test]
async fn an_empty_list_says_what_to_do() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.get("/console/webhooks", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains("There is no webhook yet") && answer.body.contains("/console/webhooks/new"));
}

#[tokio::test]
async fn a_new_webhook_shows_its_secret_once_and_a_mistake_loses_nothing_that_was_typed() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let path = "/console/webhooks/new";
    let bad = [("url", "http://10.0.0.1/x"), ("types", "USER.CREATE\nuser"), ("description", "To <b>CRM</b>")];
    let answer = app.post_signed(path, &cookie, &bad).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"value="http://10.0.0.1/x""#) && answer.body.contains("url-error"));
    assert!(answer.body.contains("\nuser</textarea>") && answer.body.contains("user must be a resource"));
    assert!(
        answer.body.contains(r#"value="USER.CREATE" checked"#) && answer.body.contains(">1 of "),
        "{}",
        answer.body
    );
    assert!(!answer.body.contains("<b>CRM") && answer.body.matches(" checked").count() == 1, "{}", answer.body);

    let good = [
        ("url", URL),
        ("types", "USER.CREATE"),
        ("types", "ROLE.*"),
        ("format", "ocsf"),
        ("description", "CRM"),
        ("enabled", "1"),
    ];
    let wrong = good.map(|(name, value)| (name, if name == "format" { "xml" } else { value }));
    let answer = app.post_signed(path, &cookie, &wrong).await;
    assert!(answer.body.contains("Format must be chosen."), "{}", answer.body);
    let answer = app.post_signed(path, &cookie, &good).await;
    secret(&app, &cookie, &answer).await;
    let made = app.iam.webhooks().list(&ada).await.unwrap().remove(0);
    assert_eq!(made.types.iter().map(ToString::to_string).collect::<Vec<_>>(), ["USER.CREATE", "ROLE.*"]);
    assert!(made.enabled && made.description.as_str() == "CRM" && made.url.as_str() == URL);
    assert_eq!(made.format, EventFormat::Ocsf);
    for path in ["/console/webhooks", &format!("/console/webhooks/{}", made.id)] {
        let answer = app.get(path, &cookie).await;
        assert!(answer.body.contains(URL) && !answer.body.contains("whsec_"), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_webhook_is_changed_unless_another_change_came_first() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let version = signed.page().await.hidden("version");
    let typed = [
        ("url", "https://example.com/new"),
        ("types", "ROLE.*"),
        ("format", "ocsf"),
        ("description", ""),
        ("version", &*version),
    ];
    let answer = app.post_signed(&signed.path(""), cookie, &typed).await;
    assert_eq!(answer.location(), signed.path("?done=saved"));
    let stored = signed.stored().await;
    assert!(!stored.enabled && stored.url.as_str() == "https://example.com/new", "{stored:?}");
    assert_eq!((stored.types.len(), stored.format), (1, EventFormat::Ocsf));
    assert!(signed.page().await.body.contains(r#"<option value="ocsf" selected>"#));
    let answer = app.post_signed(&signed.path(""), cookie, &typed).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    assert!(answer.body.contains("The webhook has changed"), "{}", answer.body);
    let again = format!(r#"<a href="{}">Open it again</a>"#, signed.path(""));
    assert!(answer.body.contains(&again), "{}", answer.body);
    assert_eq!(answer.hidden("version"), version);
    let version = signed.page().await.hidden("version");
    let empty = [("url", ""), ("types", ""), ("version", &*version)];
    let answer = app.post_signed(&signed.path(""), cookie, &empty).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("url-error") && answer.body.contains("types-error"), "{}", answer.body);
    assert_eq!(signed.stored().await, stored);
}

#[tokio::test]
async fn a_rotated_secret_is_shown_once() {
    let signed = signed().await;
    let answer = signed.app.post_signed(&signed.path("/rotate-secret"), &signed.cookie, &[]).await;
    let first = secret(&signed.app, &signed.cookie, &answer).await;
    assert_ne!(signed.stored().await.salt, signed.webhook.salt);
    let answer = signed.app.post_signed(&signed.path("/rotate-secret"), &signed.cookie, &[]).await;
    assert_ne!(secret(&signed.app, &signed.cookie, &answer).await, first);
    assert!(!signed.page().await.body.contains("whsec_"));
}

#[tokio::test]
async fn a_test_shows_what_the_receiver_answers() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let answer = app.post_signed(&signed.path("/test"), cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains("The receiver answered 204"), "{}", answer.body);
    let refusing = app.iam.webhooks().create(ada, new_webhook("https://example.com/refuse")).await.unwrap().webhook;
    let path = format!("/console/webhooks/{}/test", refusing.id);
    let answer = app.post_signed(&path, cookie, &[]).await;
    assert!(answer.body.contains(r#"role="alert">The receiver answered 500"#), "{}", answer.body);
}

#[tokio::test]
async fn deliveries_have_pages_and_events_are_sent_again() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    assert!(signed.page().await.body.contains("No event was sent yet"));
    signed.deliver(30).await;
    let first = signed.page().await;
    assert_eq!(first.body.matches("INVOICE.SENT</strong>").count(), 25, "{}", first.body);
    assert!(first.body.contains("Page 1 of 2") && first.body.contains("Delivered") && first.body.contains("<dd>204"));
    let second = app.get(&signed.path("?page=2"), cookie).await;
    assert_eq!(second.body.matches("INVOICE.SENT</strong>").count(), 5);
    for page in ["0", "3", "18446744073709551615"] {
        assert_eq!(app.get(&signed.path(&format!("?page={page}")), cookie).await.status, StatusCode::OK, "{page}");
    }
    let before = signed.stored().await.version;
    let from = first.hidden("fromSequence");
    let answer = app.post_signed(&signed.path("/replay"), cookie, &[("fromSequence", &*from)]).await;
    assert_eq!(answer.location(), signed.path("?done=replayed"));
    assert_ne!(signed.stored().await.version, before);
    for wrong in ["", "x", "0", "-1", "100000"] {
        let answer = app.post_signed(&signed.path("/replay"), cookie, &[("fromSequence", wrong)]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
        assert!(answer.body.contains("fromSequence-error"), "{wrong}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"type="number" autocomplete="off" value="{wrong}""#)), "{wrong}");
    }
}

#[tokio::test]
async fn an_event_waits_until_its_webhook_is_on() {
    let signed = signed().await;
    let Signed { app, ada, .. } = &signed;
    let url = Some("https://example.com/refuse".to_owned());
    app.iam.webhooks().update(ada, signed.webhook.id, WebhookPatch { url, ..WebhookPatch::default() }).await.unwrap();
    signed.deliver(1).await;
    assert!(signed.page().await.body.contains("Waiting for the next attempt"));
    let off = WebhookPatch { enabled: Some(false), ..WebhookPatch::default() };
    app.iam.webhooks().update(ada, signed.webhook.id, off).await.unwrap();
    let body = signed.page().await.body;
    assert!(body.contains("Waiting until the webhook is on") && !body.contains("next attempt<"), "{body}");
}

#[tokio::test]
async fn a_webhook_is_deleted_unless_it_has_changed() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    let version = signed.page().await.hidden("version");
    app.iam.webhooks().rotate_secret(ada, signed.webhook.id).await.unwrap();
    let answer = app.post_signed(&signed.path("/delete"), cookie, &[("version", &*version)]).await;
    assert_eq!(answer.status, StatusCode::PRECONDITION_FAILED);
    let version = signed.page().await.hidden("version");
    let answer = app.post_signed(&signed.path("/delete"), cookie, &[("version", &*version)]).await;
    let list = app.get(answer.location(), cookie).await;
    assert!(list.body.contains("The webhook is deleted") && list.body.contains("There is no webhook yet"));
}

#[tokio::test]
async fn the_console_refuses_what_the_api_refuses_for_webhooks() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    app.iam.users().create(ada, person("grace@example.com", "Grace")).await.unwrap();
    let version = signed.page().await.hidden("version");
    let fields =
        [("url", URL), ("types", "USER.*"), ("description", "x"), ("version", &*version), ("fromSequence", "1")];
    let grace = app.sign_in("grace@example.com").await;
    let eve = app.register("eve@example.org").await;
    let stranger = app.sign_in("eve@example.org").await;
    assert_eq!(app.get("/console/webhooks", &grace).await.status, StatusCode::FORBIDDEN);
    assert_eq!(app.post_signed("/console/webhooks/new", &grace, &fields).await.status, StatusCode::FORBIDDEN);
    for action in ["", "/rotate-secret", "/test", "/replay", "/delete"] {
        // The webhook of another tenant does not exist.
        for (other, status) in [(&grace, StatusCode::FORBIDDEN), (&stranger, StatusCode::NOT_FOUND)] {
            let answer = app.post_signed(&signed.path(action), other, &fields).await;
            assert_eq!(answer.status, status, "{action}: {}", answer.body);
        }
        // A form needs its token.
        assert_eq!(app.post(&signed.path(action), cookie, &fields).await.status, StatusCode::FORBIDDEN, "{action}");
    }
    assert_eq!(app.get(&signed.path(""), &stranger).await.status, StatusCode::NOT_FOUND);
    assert_eq!(signed.stored().await, signed.webhook);
    assert!(app.iam.webhooks().list(&eve).await.unwrap().is_empty());
    let unknown: WebhookId = "01900000-0000-7000-8000-000000000000".parse().unwrap();
    assert_eq!(app.get(&format!("/console/webhooks/{unknown}"), cookie).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_type_that_the_service_never_records_is_named() {
    let signed = signed().await;
    let shown = signed.page().await.body;
    assert!(shown.contains("records no event of this type: INVOICE.*. Only"), "{shown}");
    let usual = NewWebhook { types: vec!["USER.*".into(), "USER.CREATE".into()], ..new_webhook(URL) };
    let usual = signed.app.iam.webhooks().create(&signed.ada, usual).await.unwrap().webhook;
    let shown = signed.app.get(&format!("/console/webhooks/{}", usual.id), &signed.cookie).await.body;
    assert!(!shown.contains("records no event"), "{shown}");
    let mistyped = NewWebhook { types: vec!["USER.CHANGED".into()], ..new_webhook(URL) };
    let mistyped = signed.app.iam.webhooks().create(&signed.ada, mistyped).await.unwrap().webhook;
    let shown = signed.app.get(&format!("/console/webhooks/{}", mistyped.id), &signed.cookie).await.body;
    assert!(shown.contains("of this type: USER.CHANGED. Only"), "{shown}");
}

#[tokio::test]
async fn a_secret_is_not_shown_to_the_next_session() {
    let signed = signed().await;
    let Signed { app, cookie, .. } = &signed;
    let answer = app.post_signed(&signed.path("/rotate-secret"), cookie, &[]).await;
    let next = app.sign_in(EMAIL).await;
    let kept = answer.cookies(cookie);
    let secret = kept.split("; ").find(|pair| pair.contains("webhook-secret")).unwrap();
    let shown = app.get(answer.location(), &format!("{next}; {secret}")).await;
    assert_eq!(shown.location(), signed.path(""));
}

#[tokio::test]
async fn the_overview_shows_a_webhook_that_fails() {
    let signed = signed().await;
    let Signed { app, ada, cookie, .. } = &signed;
    signed.deliver(1).await;
    assert!(!app.get("/console", cookie).await.body.contains("hand-webhooks"));
    let url = Some("https://example.com/refuse".to_owned());
    app.iam.webhooks().update(ada, signed.webhook.id, WebhookPatch { url, ..WebhookPatch::default() }).await.unwrap();
    signed.record(1).await;
    let fails = async || !app.iam.webhooks().failing(ada).await.unwrap().is_empty();
    signed.deliver_until(fails).await;
    let body = app.get("/console", cookie).await.body;
    let line = format!(r#"<a href="{}">https://example.com/refuse</a></span>"#, signed.path(""));
    assert!(body.contains("1 webhook fails") && body.contains(&line), "{body}");
    app.person_with(ada, "grace@example.com", &["users:read"]).await;
    let grace = app.sign_in("grace@example.com").await;
    assert!(!app.get("/console", &grace).await.body.contains("hand-webhooks"));
    // So do the list and the page of the webhook.
    for path in ["/console/webhooks", &*signed.path("")] {
        let body = app.get(path, cookie).await.body;
        assert!(body.contains(r#"<span class="status FAILED">Failing</span>"#), "{path}: {body}");
        assert!(body.contains("Last answer: 500 · ") && body.contains(" · next attempt: <time"), "{path}: {body}");
        assert!(body.contains(" · last accepted: <time") && !body.contains(">On</span>"), "{path}: {body}");
    }
}
