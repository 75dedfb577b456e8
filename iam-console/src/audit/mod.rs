//! The audit log of the tenant.

mod difference;
mod facts;
mod follow;
mod ids;
mod one;
mod proof;
pub(crate) mod sentence;

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Router, routing::get};
use chrono::{Days, NaiveDate, SecondsFormat};
use iam_axum::Problem;
use iam_core::audit::{AuditEntry, AuditFilter, Cursor, ResourceType};
use iam_core::{Caller, Error, FieldError, Iam, TenantId, UserId};
use serde::Deserialize;
use serde_json::Value;

use crate::assets::ASSETS;
use crate::audit::difference::{Difference, differences, text_of};
use crate::audit::sentence::{names_in, sentence};
use crate::day::{first_moment, last_moment};
use crate::filters::{Chips, Filter};
use crate::names::Names;
use crate::picker::{self, shown_organization, shown_user};
use crate::problem::is_for_part;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page, part, query};

/// How many entries a page of the log has.
const LIMIT: u32 = 25;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/audit", get(show))
        .route("/audit/news", get(follow::show))
        .route("/audit/checkpoint", get(proof::checkpoint))
        .route("/audit/consistency", get(proof::consistency))
        .route("/audit/{id}", get(one::show))
        .route("/audit/{id}/proof", get(proof::inclusion))
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Params {
    resource: String,
    action: String,
    id: String,
    user: String,
    organization: String,
    correlation: String,
    from: String,
    until: String,
    cursor: String,
}

impl Params {
    /// Returns the filter, or an error that names every field that is wrong.
    async fn filter(&self, iam: &Iam, caller: &Caller) -> Result<AuditFilter, Error> {
        let mut errors = Vec::new();
        let user_id = match given(&self.user) {
            Some(text) => noted(picker::user(iam, caller, &text).await.map(Some), &mut errors)?,
            None => None,
        };
        let organization_id =
            noted(picker::organization(iam, caller, "organization", &self.organization).await, &mut errors)?;
        let resource_id = noted(self.resource_id(iam, caller).await, &mut errors)?;
        let correlation_id = given(&self.correlation).map(|text| text.parse()).transpose();
        let correlation_id = correlation_id.map_err(|_| Error::field("correlation", text::t("must-be-correlation")));
        let filter = AuditFilter {
            action: given(&self.action),
            resource_type: given(&self.resource),
            resource_id,
            user_id,
            organization_id,
            correlation_id: noted(correlation_id, &mut errors)?,
            from: noted(first_moment("from", &self.from), &mut errors)?,
            until: noted(last_moment("until", &self.until), &mut errors)?,
        };
        if errors.is_empty() { Ok(filter) } else { Err(Error::Validation(errors)) }
    }

    /// Returns the id of the resource. A user can also be named by its e-mail.
    async fn resource_id(&self, iam: &Iam, caller: &Caller) -> Result<Option<String>, Error> {
        let text = given(&self.id);
        let Some(email) = text.as_ref().filter(|text| text.contains('@') && self.may_be_about_user()) else {
            return Ok(text);
        };
        match picker::user(iam, caller, email).await {
            Ok(id) => Ok(Some(id.to_string())),
            Err(Error::Validation(errors)) => {
                Err(Error::Validation(errors.into_iter().map(|error| FieldError::new("id", error.message)).collect()))
            }
            Err(error) => Err(error),
        }
    }

    fn may_be_about_user(&self) -> bool {
        self.resource.is_empty() || self.resource == ResourceType::USER.as_str()
    }

    /// Whether the list has only entries about one user.
    fn is_about_one_user(&self) -> bool {
        self.resource == ResourceType::USER.as_str() && !self.id.trim().is_empty()
    }

    /// Whether a filter is set that is folded otherwise.
    fn has_more(&self) -> bool {
        let Self { id, organization, correlation, from, until, .. } = self;
        [id, organization, correlation, from, until].iter().any(|text| !text.is_empty())
    }

    fn is_filtered(&self) -> bool {
        let Self { resource, action, id, user, organization, correlation, from, until, cursor: _ } = self;
        let texts = [resource, action, id, user, organization, correlation, from, until];
        texts.iter().any(|text| !text.is_empty())
    }

    /// Returns the filters in force, with the texts of the fields for what they name by ids.
    fn chips<'a>(&'a self, base: &str, fields: &'a FilterFields) -> Chips {
        let typed = |name: &'static str, label: &'static str, given: &'a str| {
            let field = fields.first.iter().chain(&fields.others).find(|field| field.name == name);
            Filter::of(name, label, given, field.map_or(given, |field| field.value.as_str()))
        };
        let words = |code: &'a str, words: fn(&str) -> Option<&'static str>| words(code).unwrap_or(code);
        let filters = [
            typed("user", text::t("acting-user"), &self.user),
            typed("organization", text::t("organization"), &self.organization),
            Filter::of("resource", text::t("resource"), &self.resource, words(&self.resource, text::log_resource)),
            Filter::of("action", text::t("action"), &self.action, words(&self.action, text::log_action)),
            typed("id", text::t("about-which"), &self.id),
            typed("from", text::t("from-day"), &self.from),
            typed("until", text::t("until-day"), &self.until),
            typed("correlation", text::t("correlation"), &self.correlation),
        ];
        Chips::of(&format!("{base}/audit"), &filters, &[])
    }

    /// Returns the last days, as links that keep the other filters.
    fn days(&self, base: &str, today: NaiveDate) -> [DayLink; 3] {
        let day = |before: u64| today.checked_sub_days(Days::new(before)).unwrap_or(today).to_string();
        let spans = [(text::t("today"), 0, 0), (text::t("yesterday"), 1, 1), (text::t("last-seven-days"), 6, 0)];
        spans.map(|(label, from, until)| {
            let params = Self { from: day(from), until: day(until), ..self.clone() };
            let is_chosen = params.from == self.from && params.until == self.until;
            DayLink { label, address: format!("{base}/audit?{}", params.query("")), is_chosen }
        })
    }

    /// Returns the query of the same filter, from a position on.
    fn query(&self, cursor: &str) -> String {
        query(&[
            ("resource", &*self.resource),
            ("action", &self.action),
            ("id", &self.id),
            ("user", &self.user),
            ("organization", &self.organization),
            ("correlation", &self.correlation),
            ("from", &self.from),
            ("until", &self.until),
            ("cursor", cursor),
        ])
    }
}

/// Returns codes with their words, in the order of the words. A code without words stands for itself.
fn with_words(codes: BTreeSet<&str>, words: impl Fn(&str) -> Option<&'static str>) -> Vec<(String, String)> {
    let found = codes.into_iter().map(|code| (code.to_owned(), words(code).unwrap_or(code).to_owned()));
    let mut found: Vec<(String, String)> = found.collect();
    found.sort_by(|(_, one), (_, other)| one.cmp(other));
    found
}

fn given(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Adds the invalid fields of an error to those that are known.
fn noted<T>(result: Result<Option<T>, Error>, errors: &mut Vec<FieldError>) -> Result<Option<T>, Error> {
    match result {
        Err(Error::Validation(found)) => {
            errors.extend(found);
            Ok(None)
        }
        result => result,
    }
}

/// The fields of the filter that can be wrong.
struct FilterFields {
    /// Who acted.
    first: Vec<Field>,
    /// Those that are needed less, which are folded.
    others: Vec<Field>,
}

impl FilterFields {
    async fn of(params: &Params, console: &Console, caller: &Caller, errors: &[FieldError]) -> Result<Self, Error> {
        let field = |field: Field, text: &str| field.optional().filled(text).with_errors(errors);
        let day = |name, label| Field { kind: "date", ..Field::text(name, label) };
        let organization = Field::text("organization", text::t("organization")).with_hint(text::t("pick-organization"));
        let place = shown_organization(&console.iam, caller, &params.organization).await?;
        let mut others = vec![
            picker::of_organization(console, field(organization, &place)),
            field(Field::text("id", text::t("about-which")).with_hint(text::t("about-which-hint")), &params.id),
            field(day("from", text::t("from-day")), &params.from),
            field(day("until", text::t("until-day")), &params.until),
        ];
        if !params.correlation.is_empty() {
            others.push(field(Field::text("correlation", text::t("correlation")), &params.correlation));
        }
        let user = shown_user(&console.iam, caller, &params.user).await?;
        let user = picker::of_user(console, field(Field::text("user", text::t("acting-user")), &user));
        Ok(Self { first: vec![user], others })
    }
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    tenant: TenantId,
    params: Params,
    /// The codes that the filter can have, with their words.
    resources: Vec<(String, String)>,
    actions: Vec<(String, String)>,
    filter: FilterFields,
    found: String,
    /// `None` if the filter is wrong.
    list: Option<EntryList>,
}

impl AuditPage {
    fn script(&self) -> String {
        format!("{}{}", self.frame.base, ASSETS.audit.path)
    }
}

/// The replacement of the list if the filter is wrong, with the fields that are wrong.
#[derive(Template)]
#[template(path = "audit-invalid.html")]
struct InvalidFilter {
    filter: FilterFields,
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "audit-list.html")]
struct EntryList {
    base: String,
    params: Params,
    days: [DayLink; 3],
    chips: Chips,
    entries: Vec<Entry>,
    next: Option<String>,
}

/// A link to the entries of some days.
struct DayLink {
    label: &'static str,
    address: String,
    /// Whether the list shows these days.
    is_chosen: bool,
}

/// An entry as a person reads it.
struct Entry {
    entry: AuditEntry,
    sentence: String,
    changes: Vec<Difference>,
    /// The fields whose value is the same before and after.
    unchanged: Vec<Difference>,
    metadata: Vec<(String, String)>,
    /// Whether the details are unfolded.
    is_open: bool,
}

impl Entry {
    fn of(entry: AuditEntry, names: &Names) -> Self {
        let sentence = sentence(&entry, names);
        let fields = differences(entry.old_value.as_ref(), entry.new_value.as_ref(), names);
        // A field without a value before and after says nothing.
        let fields = fields.into_iter().filter(|field| field.before.is_some() || field.after.is_some());
        let (unchanged, changes) = fields.partition(|field| field.kind.is_same());
        let metadata = entry.metadata.iter().filter(|(name, value)| *name != "changedFields" && !value.is_null());
        let shown = |(name, value): (&String, &Value)| {
            (text::log_field(name), ids::named(name, value, names).unwrap_or_else(|| text_of(value)))
        };
        let metadata = metadata.map(shown).collect();
        Self { sentence, changes, unchanged, metadata, is_open: false, entry }
    }

    /// The moment as the log commits to it.
    fn created_at(&self) -> String {
        self.entry.created_at.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// Whether the entry is about a user, which has a page.
    fn is_about_user(&self) -> bool {
        let id = self.entry.resource_id.as_ref();
        self.entry.resource_type == ResourceType::USER && id.is_some_and(|id| id.parse::<UserId>().is_ok())
    }
}

async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let (audit, caller) = (console.iam.audit(), &signed_in.caller);
    let catalogue = audit.catalogue(caller)?;
    let cursor: Option<Cursor> = match given(&params.cursor) {
        Some(text) => Some(text.parse().map_err(|_| Error::field("cursor", text::t("must-be-cursor")))?),
        None => None,
    };
    let (mut list, errors) = match params.filter(&console.iam, caller).await {
        Ok(filter) => {
            let found = audit.list(caller, filter, cursor, LIMIT).await?;
            let names = names_in(&console.iam, caller, &found.entries).await?;
            let list = EntryList {
                base: console.base().to_owned(),
                params: params.clone(),
                days: params.days(console.base(), console.iam.now().date_naive()),
                chips: Chips::default(),
                next: found.next.map(|cursor| params.query(&cursor.to_string())),
                entries: found.entries.into_iter().map(|entry| Entry::of(entry, &names)).collect(),
            };
            (Some(list), Vec::new())
        }
        Err(Error::Validation(errors)) => (None, errors),
        Err(error) => return Err(error.into()),
    };
    let found = list.as_ref().map(|list| text::entries_shown(list.entries.len()));
    let found = found.unwrap_or_else(|| text::t("correct-fields").to_owned());
    let filter = FilterFields::of(&params, &console, caller, &errors).await?;
    if let Some(list) = &mut list {
        list.chips = params.chips(console.base(), &filter);
    }
    if is_for_part(&headers) {
        return match list {
            Some(list) => part(&list, &found),
            None => part(&InvalidFilter { filter }, &found),
        };
    }
    let resources = catalogue.iter().map(|recorded| recorded.resource_type.as_str()).collect();
    let resources = with_words(resources, text::log_resource);
    let actions = catalogue.iter().flat_map(|recorded| recorded.actions).copied().collect();
    let actions = with_words(actions, text::log_action);
    let frame = signed_in.frame(&console).await?;
    let tenant = caller.tenant();
    let status = if list.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    page(status, &AuditPage { frame, tenant, params, resources, actions, filter, found, list })
}
