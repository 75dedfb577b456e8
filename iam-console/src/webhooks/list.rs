use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::webhook::Webhook;
use serde::Deserialize;

use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    frame: Frame,
    notice: &'static str,
    webhooks: Vec<Webhook>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let webhooks = console.iam.webhooks().list(&signed_in.caller).await?;
    let frame = signed_in.frame(&console).await?;
    let notice = if done.done == "deleted" { text::t("webhook-deleted") } else { "" };
    page(StatusCode::OK, &WebhooksPage { frame, notice, webhooks })
}
