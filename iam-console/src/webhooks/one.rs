use std::collections::BTreeSet;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::version::Precondition;
use iam_core::webhook::{Delivery, DeliveryStatus, EventFormat, Webhook, WebhookPatch};
use iam_core::{Error, FieldError, WebhookId};
use serde::Deserialize;

use crate::form::Form;
use crate::problem::{refused_form, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page};
use crate::webhooks::{Failure, Fields, secret, typed_format, typed_types, types_of};

/// How many deliveries a page shows.
const LIMIT: usize = 25;

#[derive(Template)]
#[template(path = "webhook.html")]
struct WebhookPage {
    frame: Frame,
    notice: String,
    error: String,
    webhook: Webhook,
    /// `None` if the last attempt was accepted.
    failure: Option<Failure>,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    fields: Fields,
    from_sequence: Field,
    deliveries: Deliveries,
}

/// A page of the deliveries.
#[derive(Default)]
struct Deliveries {
    shown: Vec<Delivery>,
    page: usize,
    pages: usize,
}

impl Deliveries {
    fn of(all: Vec<Delivery>, params: usize) -> Self {
        let pages = all.len().div_ceil(LIMIT).max(1);
        let page = params.clamp(1, pages);
        let shown = all.into_iter().skip((page - 1) * LIMIT).take(LIMIT).collect();
        Self { shown, page, pages }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    done: String,
    page: Option<usize>,
}

impl Params {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "saved" => text::t("saved"),
            "replayed" => text::t("events-are-sent-again"),
            _ => "",
        }
    }
}

/// Returns the page of a webhook, with the typed values instead of those of the webhook.
async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    webhook: Webhook,
    (form, errors): (Option<&Form>, &[FieldError]),
    params: usize,
) -> Result<WebhookPage, Problem> {
    let (webhooks, caller) = (console.iam.webhooks(), &signed_in.caller);
    let deliveries = webhooks.deliveries(caller, webhook.id).await?;
    let is_failing = webhooks.failing(caller).await?.iter().any(|failing| failing.id == webhook.id);
    Ok(WebhookPage {
        frame: signed_in.frame(console).await?,
        notice: String::new(),
        error: String::new(),
        version: form.map_or_else(|| webhook.version.to_string(), |form| form.get("version").to_owned()),
        fields: Fields::of(console, signed_in, Some(&webhook), (form, errors)),
        from_sequence: Field { kind: "number", ..Field::text("fromSequence", text::t("from-sequence")) }
            .with_hint(text::t("from-sequence-hint")),
        failure: is_failing.then(|| Failure::of(&webhook, &deliveries)),
        deliveries: Deliveries::of(deliveries, params),
        webhook,
    })
}

async fn find(console: &Console, signed_in: &SignedIn, id: WebhookId) -> Result<Webhook, Problem> {
    Ok(console.iam.webhooks().get(&signed_in.caller, id).await?)
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let webhook = find(&console, &signed_in, id).await?;
    let shown = page_of(&console, &signed_in, webhook, (None, &[]), params.page.unwrap_or(1)).await?;
    page(StatusCode::OK, &WebhookPage { notice: params.notice().to_owned(), ..shown })
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let webhook = find(&console, &signed_in, id).await?;
    // Only what differs: a call that names the address or the types needs more rights.
    let stored: BTreeSet<String> = types_of(&webhook).into_iter().collect();
    let is_new = |types: &Vec<String>| types.iter().cloned().collect::<BTreeSet<_>>() != stored;
    let result = match typed_format(&form) {
        Ok(format) => {
            let patch = WebhookPatch {
                url: Some(form.get("url").trim().to_owned()).filter(|url| url != webhook.url.as_str()),
                types: Some(typed_types(&form)).filter(is_new),
                format,
                description: Some(form.get("description").to_owned()),
                enabled: Some(form.has("enabled")),
            };
            console.iam.webhooks().update_if(&signed_in.caller, id, patch, &precondition(&form)).await
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(_) => Ok(back(&console, id, "saved")),
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("webhook-changed-meanwhile").to_owned() } else { error };
                let shown = page_of(&console, &signed_in, webhook, (Some(&form), &errors), 1).await?;
                Ok(WebhookPage { error, ..shown })
            })
            .await
        }
    }
}

/// The change is made only if the webhook is as the form shows it.
fn precondition(form: &Form) -> Precondition {
    Precondition::OneOf(form.get("version").parse().into_iter().collect())
}

/// Gives the webhook a new secret.
pub(super) async fn rotate_secret(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    parts: Parts,
) -> Result<Response, Problem> {
    match console.iam.webhooks().rotate_secret(&signed_in.caller, id).await {
        Ok(issued) => Ok(secret::lead_to(&console, &signed_in, &parts, &issued)),
        Err(error) => refuse(&console, &signed_in, id, error).await,
    }
}

/// Sends a test. The answer is no redirect: nothing keeps the answer of the receiver.
pub(super) async fn test(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
) -> Result<Response, Problem> {
    match console.iam.webhooks().test(&signed_in.caller, id).await {
        Ok(answer) => {
            let webhook = find(&console, &signed_in, id).await?;
            let shown = page_of(&console, &signed_in, webhook, (None, &[]), 1).await?;
            let text = text::test_result(answer.http_status, answer.error.as_deref(), answer.duration_ms);
            let is_accepted = answer.error.is_none();
            let (notice, error) = if is_accepted { (text, String::new()) } else { (String::new(), text) };
            page(StatusCode::OK, &WebhookPage { notice, error, ..shown })
        }
        Err(error) => refuse(&console, &signed_in, id, error).await,
    }
}

pub(super) async fn replay(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let typed = form.get("fromSequence").trim().to_owned();
    let result = match typed.parse::<u64>() {
        Ok(from) => console.iam.webhooks().replay(&signed_in.caller, id, from).await,
        Err(_) => Err(Error::field("fromSequence", text::t("must-be-a-number"))),
    };
    match result {
        Ok(()) => Ok(back(&console, id, "replayed")),
        Err(error) => {
            let webhook = find(&console, &signed_in, id).await?;
            refused_form(error, async |errors, error| {
                let shown = page_of(&console, &signed_in, webhook, (None, &[]), 1).await?;
                let from_sequence = shown.from_sequence.filled(&typed).with_errors(&errors);
                Ok(WebhookPage { error, from_sequence, ..shown })
            })
            .await
        }
    }
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<WebhookId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match console.iam.webhooks().delete_if(&signed_in.caller, id, &precondition(&form)).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/webhooks?done=deleted", console.base())).into_response()),
        Err(error) => refuse(&console, &signed_in, id, error).await,
    }
}

/// Shows on the page of the webhook why a call was refused.
async fn refuse(console: &Console, signed_in: &SignedIn, id: WebhookId, error: Error) -> Result<Response, Problem> {
    let webhook = find(console, signed_in, id).await?;
    let shown = page_of(console, signed_in, webhook, (None, &[]), 1).await?;
    let is_late = matches!(error, Error::PreconditionFailed);
    refused_in_place(error, |error| {
        let error = if is_late { text::t("webhook-changed-meanwhile").to_owned() } else { error };
        WebhookPage { error, ..shown }
    })
}

fn back(console: &Console, id: WebhookId, done: &str) -> Response {
    Redirect::to(&format!("{}/webhooks/{id}?done={done}", console.base())).into_response()
}

fn text_of(status: &DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Delivered => text::t("delivered"),
        DeliveryStatus::Pending => text::t("delivery-pending"),
        DeliveryStatus::Failed => text::t("delivery-failed"),
    }
}
