//! The webhooks of the tenant: a list, a page for each with its deliveries, and a form for a new one.

mod list;
mod new;
mod one;
mod secret;

use axum::Router;
use axum::routing::{get, post};
use iam_core::audit::Recorded;
use iam_core::webhook::{EventFormat, Webhook};
use iam_core::{Error, FieldError};

use crate::form::Form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, errors_of_list};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/webhooks", get(list::show))
        .route("/webhooks/new", get(new::show).post(new::create))
        .route("/webhooks/{id}", get(one::show).post(one::update))
        .route("/webhooks/{id}/rotate-secret", post(one::rotate_secret))
        .route("/webhooks/{id}/secret", get(secret::show))
        .route("/webhooks/{id}/test", post(one::test))
        .route("/webhooks/{id}/replay", post(one::replay))
        .route("/webhooks/{id}/delete", post(one::delete))
}

/// The fields of a webhook in a form.
struct Fields {
    url: Field,
    types: Field,
    format: String,
    format_error: String,
    description: Field,
    enabled: bool,
    /// The types of the webhook that the service records for nothing.
    unknown: String,
    /// The event types that the service records: `None` if the caller may not read the audit log, whose entries a
    /// webhook sends.
    catalogue: Option<Vec<Recorded>>,
}

impl Fields {
    /// Returns the fields with the typed values or, without a form, with those of the webhook.
    fn of(
        console: &Console,
        signed_in: &SignedIn,
        webhook: Option<&Webhook>,
        (form, errors): (Option<&Form>, &[FieldError]),
    ) -> Self {
        let shown = |field: Field, stored: String| {
            let typed = form.map_or(stored, |form| form.get(&field.name).to_owned());
            field.filled(&typed).with_errors(errors)
        };
        let (url, types, description) = match webhook {
            Some(webhook) => (webhook.url.to_string(), lines(webhook), webhook.description.as_str().to_owned()),
            None => Default::default(),
        };
        let enabled = webhook.is_none_or(|webhook| webhook.enabled);
        let types = shown(Field::text("types", text::t("event-types")).with_hint(text::t("event-types-hint")), types);
        let typed = form.map(typed_types).unwrap_or_default();
        let format = webhook.map(|webhook| webhook.format).unwrap_or_default();
        let types_error = errors_of_list("types", text::t("event-types"), &typed, errors);
        let catalogue = console.iam.audit().catalogue(&signed_in.caller).ok();
        Self {
            url: shown(Field { kind: "url", ..Field::text("url", text::t("webhook-url")) }, url)
                .with_hint(text::t("webhook-url-hint")),
            types: Field { error: types_error, ..types },
            format: form.map_or(format.as_str(), |form| form.get("format")).to_owned(),
            format_error: Field::text("format", text::t("event-format")).with_errors(errors).error,
            description: shown(Field::text("description", text::t("description")).optional(), description),
            enabled: form.map_or(enabled, |form| form.has("enabled")),
            unknown: unknown_types(webhook, catalogue.as_deref().unwrap_or_default()),
            catalogue,
        }
    }
}

/// Returns the types of a webhook, each on a line of its own.
fn lines(webhook: &Webhook) -> String {
    webhook.types.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Names the types of a webhook that the service never records. An application can record events of its own types.
fn unknown_types(webhook: Option<&Webhook>, catalogue: &[Recorded]) -> String {
    let types = webhook.map(|webhook| webhook.types.as_slice()).unwrap_or_default();
    let is_recorded = |pattern: &str| {
        let is_of = |(resource_type, action): (&str, &str), recorded: &Recorded| {
            recorded.resource_type.as_str() == resource_type && (action == "*" || recorded.actions.contains(&action))
        };
        pattern.split_once('.').is_some_and(|parts| catalogue.iter().any(|recorded| is_of(parts, recorded)))
    };
    let unknown: Vec<String> = types.iter().map(ToString::to_string).filter(|found| !is_recorded(found)).collect();
    if catalogue.is_empty() || unknown.is_empty() { String::new() } else { text::unknown_types(&unknown.join(", ")) }
}

/// Returns the format that a form names, if it names one.
fn typed_format(form: &Form) -> Result<Option<EventFormat>, Error> {
    let parse =
        |text: String| text.parse::<EventFormat>().map_err(|_| Error::field("format", text::t("must-be-chosen")));
    form.given("format").map(parse).transpose()
}

/// Returns the types that a form names, on lines of their own or separated by commas.
fn typed_types(form: &Form) -> Vec<String> {
    let words = form.get("types").split(|char: char| char.is_whitespace() || char == ',');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
