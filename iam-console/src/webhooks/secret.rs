//! The new secret of a webhook, which is shown once.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::WebhookId;
use iam_core::webhook::IssuedWebhook;

use crate::cookie::{Brief, with_cookie};
use crate::english;
use crate::session::SignedIn;
use crate::state::Console;
use crate::view::{OncePage, page};

/// Leads to the page that shows the secret. A reload of that page repeats nothing.
pub(super) fn lead_to(console: &Console, signed_in: &SignedIn, parts: &Parts, issued: &IssuedWebhook) -> Response {
    let texts = [issued.secret.expose()];
    let cookie = Brief::WebhookSecret.keep(&signed_in.form_token, &texts, console.settings.cookie(parts));
    with_cookie(cookie, Redirect::to(&format!("{}/webhooks/{}/secret", console.base(), issued.webhook.id)))
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    parts: Parts,
) -> Result<Response, Problem> {
    let (kind, back) = (console.settings.cookie(&parts), format!("/webhooks/{id}"));
    let Some(secrets) = Brief::WebhookSecret.read(&parts, kind) else {
        return Ok(Redirect::to(&format!("{}{back}", console.base())).into_response());
    };
    let frame = signed_in.frame(&console).await?;
    let shown = OncePage { frame, title: english::WEBHOOK_SECRET, intro: english::SECRET_ONCE, secrets, back };
    Ok(with_cookie(Brief::WebhookSecret.forgotten(kind), page(StatusCode::OK, &shown)?))
}
