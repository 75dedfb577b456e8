//! The new secret of a webhook, which is shown once.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use iam_axum::{PathId, Problem};
use iam_core::WebhookId;
use iam_core::webhook::IssuedWebhook;

use crate::cookie::TemporaryCookie;
use crate::once::{self, Once};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;

/// Leads to the page that shows the secret.
pub(super) fn lead_to(console: &Console, signed_in: &SignedIn, parts: &Parts, issued: &IssuedWebhook) -> Response {
    let path = format!("/webhooks/{}/secret", issued.webhook.id);
    once::lead_to(console, signed_in, parts, (TemporaryCookie::WebhookSecret, &[issued.secret.expose()]), &path)
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    parts: Parts,
) -> Result<Response, Problem> {
    let (title, intro) = (text::t("webhook-secret").to_owned(), text::t("secret-once"));
    let once = Once {
        temporary: TemporaryCookie::WebhookSecret,
        title,
        trail: Vec::new(),
        intro,
        file: "",
        back: format!("/webhooks/{id}"),
    };
    once::show(&console, &signed_in, &parts, once).await
}
