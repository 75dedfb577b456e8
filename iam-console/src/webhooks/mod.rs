//! The webhooks of the tenant: a list, a page for each with its deliveries, and a form for a new one.

mod list;
mod new;
mod one;
mod secret;

use std::iter;

use axum::Router;
use axum::routing::{get, post};
use iam_core::audit::{CATALOGUE, Recorded};
use iam_core::clock::Timestamp;
use iam_core::webhook::{Delivery, DeliveryStatus, EventFormat, Webhook};
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

/// What a page says about a webhook whose last attempt has failed.
struct Failure {
    /// The newest event that was not accepted. `None` if it was removed.
    last: Option<Delivery>,
    /// When the next attempt is due, if one follows.
    next: Option<Timestamp>,
    /// When the receiver has last accepted an event, as far as this is kept.
    accepted: Option<Timestamp>,
}

impl Failure {
    /// The deliveries are those of the webhook, newest first.
    fn of(webhook: &Webhook, deliveries: &[Delivery]) -> Self {
        let is_accepted = |delivery: &&Delivery| delivery.status == DeliveryStatus::Delivered;
        let next = deliveries.iter().filter_map(|delivery| delivery.next_attempt_at).min();
        Self {
            last: deliveries.iter().find(|delivery| !is_accepted(delivery)).cloned(),
            // A webhook that is switched off attempts nothing.
            next: next.filter(|_| webhook.enabled),
            accepted: deliveries.iter().find(is_accepted).map(|delivery| delivery.started_at),
        }
    }
}

/// The events of a resource type that a form offers.
struct EventGroup {
    resource_type: String,
    choices: Vec<EventChoice>,
}

impl EventGroup {
    fn of(recorded: &Recorded, chosen: &[String]) -> Self {
        let resource_type = recorded.resource_type.as_str();
        let choice = |action: &str| {
            let name = format!("{resource_type}.{action}");
            EventChoice { is_chosen: chosen.contains(&name), is_whole: action == "*", name }
        };
        let choices = iter::once("*").chain(recorded.actions.iter().copied()).map(choice).collect();
        Self { resource_type: resource_type.to_owned(), choices }
    }

    fn chosen(&self) -> usize {
        self.choices.iter().filter(|choice| choice.is_chosen).count()
    }
}

/// A type of events, or all of a resource type.
struct EventChoice {
    name: String,
    is_whole: bool,
    is_chosen: bool,
}

/// The fields of a webhook in a form.
struct Fields {
    url: Field,
    /// The types that the form offers. Empty if the caller may not read the audit log, whose entries a webhook sends.
    groups: Vec<EventGroup>,
    /// The other types, which are typed.
    types: Field,
    /// Whether they are those of a webhook that is there: its types are then named, and their choice is closed.
    is_stored: bool,
    /// The types that are chosen, as one text.
    chosen: String,
    format: String,
    format_error: String,
    description: Field,
    enabled: bool,
    /// The types of the webhook that the service records for nothing.
    unknown: String,
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
        let (url, description) = match webhook {
            Some(webhook) => (webhook.url.to_string(), webhook.description.as_str().to_owned()),
            None => Default::default(),
        };
        let enabled = webhook.is_none_or(|webhook| webhook.enabled);
        let format = webhook.map(|webhook| webhook.format).unwrap_or_default();
        let chosen = match (form, webhook) {
            (Some(form), _) => typed_types(form),
            (None, Some(webhook)) => types_of(webhook),
            (None, None) => Vec::new(),
        };
        let catalogue = console.iam.audit().catalogue(&signed_in.caller).unwrap_or_default();
        let groups: Vec<EventGroup> = catalogue.iter().map(|recorded| EventGroup::of(recorded, &chosen)).collect();
        let is_offered = |name: &str| groups.iter().flat_map(|group| &group.choices).any(|choice| choice.name == name);
        let others: Vec<&str> = chosen.iter().map(String::as_str).filter(|name| !is_offered(name)).collect();
        let types = if groups.is_empty() {
            Field::text("types", text::t("event-types")).with_hint(text::t("event-types-hint"))
        } else {
            Field::text("types", text::t("other-event-types")).optional().with_hint(text::t("other-event-types-hint"))
        };
        let types_error = errors_of_list("types", text::t("event-types"), &chosen, errors);
        Self {
            url: shown(Field { kind: "url", ..Field::text("url", text::t("webhook-url")) }, url)
                .with_hint(text::t("webhook-url-hint")),
            types: Field { error: types_error, ..types.filled(&others.join("\n")).with_errors(errors) },
            groups,
            is_stored: webhook.is_some(),
            chosen: chosen.join(", "),
            format: form.map_or(format.as_str(), |form| form.get("format")).to_owned(),
            format_error: Field::text("format", text::t("event-format")).with_errors(errors).error,
            description: shown(Field::text("description", text::t("description")).optional(), description),
            enabled: form.map_or(enabled, |form| form.has("enabled")),
            unknown: unknown_types(webhook, &catalogue),
        }
    }
}

fn types_of(webhook: &Webhook) -> Vec<String> {
    webhook.types.iter().map(ToString::to_string).collect()
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

/// Returns the types that a form names, each once: those that are chosen, and those that are typed on lines of their own
/// or separated by commas. `*` stands for everything that the service records.
fn typed_types(form: &Form) -> Vec<String> {
    let words = form.all("types").flat_map(|text| text.split(|char: char| char.is_whitespace() || char == ','));
    let mut types = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let meant: Vec<String> = match word {
            "*" => CATALOGUE.iter().map(|recorded| format!("{}.*", recorded.resource_type.as_str())).collect(),
            word => vec![word.to_owned()],
        };
        for name in meant {
            if !types.contains(&name) {
                types.push(name);
            }
        }
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_and_typed_types_are_named_once_and_a_star_means_all() {
        let form = Form::of(
            ["USER.CREATE", "ROLE.*", "INVOICE.SENT, USER.CREATE\r\nINVOICE.*"]
                .map(|types| ("types", types.to_owned())),
        );
        assert_eq!(typed_types(&form), ["USER.CREATE", "ROLE.*", "INVOICE.SENT", "INVOICE.*"]);
        let all = typed_types(&Form::with("types", "*".to_owned()));
        assert!(all.len() == CATALOGUE.len() && all.contains(&"USER.*".to_owned()), "{all:?}");
    }
}
