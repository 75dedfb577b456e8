use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::Error;
use iam_core::webhook::Webhook;
use serde::Deserialize;

use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};
use crate::webhooks::Failure;

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    frame: Frame,
    notice: &'static str,
    /// With what is known about those that fail.
    webhooks: Vec<(Webhook, Option<Failure>)>,
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
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let failing = iam.webhooks().failing(caller).await?;
    let mut webhooks = Vec::new();
    for webhook in iam.webhooks().list(caller).await? {
        let failure = if failing.iter().any(|failing| failing.id == webhook.id) {
            match iam.webhooks().deliveries(caller, webhook.id).await {
                Ok(deliveries) => Some(Failure::of(&webhook, &deliveries)),
                // Another person has removed it meanwhile.
                Err(Error::NotFound(_)) => continue,
                Err(error) => return Err(error.into()),
            }
        } else {
            None
        };
        webhooks.push((webhook, failure));
    }
    let frame = signed_in.frame(&console).await?;
    let notice = if done.done == "deleted" { text::t("webhook-deleted") } else { "" };
    page(StatusCode::OK, &WebhooksPage { frame, notice, webhooks })
}
