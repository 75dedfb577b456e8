//! The audit log of the tenant.

mod follow;
mod proof;

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Router, routing::get};
use chrono::{NaiveDate, NaiveTime, SecondsFormat, TimeDelta};
use iam_axum::{Problem, Query};
use iam_core::audit::{AuditEntry, AuditFilter, Cursor};
use iam_core::clock::Timestamp;
use iam_core::{Error, TenantId, UserId};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::assets::ASSETS;
use crate::english;
use crate::names::Names;
use crate::problem::is_for_part;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

/// How many entries a page of the log has.
const LIMIT: u32 = 25;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/audit", get(show))
        .route("/audit/news", get(follow::show))
        .route("/audit/checkpoint", get(proof::checkpoint))
        .route("/audit/consistency", get(proof::consistency))
        .route("/audit/{id}/proof", get(proof::inclusion))
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    resource: String,
    action: String,
    id: String,
    user: String,
    correlation: String,
    from: String,
    until: String,
    cursor: String,
}

impl Wanted {
    fn filter(&self) -> Result<AuditFilter, Error> {
        let user_id = match given(&self.user) {
            Some(text) => Some(text.parse::<UserId>().map_err(|invalid| Error::field("user", invalid.to_string()))?),
            None => None,
        };
        let correlation_id = match given(&self.correlation) {
            Some(text) => Some(text.parse().map_err(|_| Error::field("correlation", "must be a correlation id"))?),
            None => None,
        };
        Ok(AuditFilter {
            action: given(&self.action),
            resource_type: given(&self.resource),
            resource_id: given(&self.id),
            user_id,
            organization_id: None,
            correlation_id,
            from: day("from", &self.from)?,
            until: day("until", &self.until)?.map(|day| day + (TimeDelta::days(1) - TimeDelta::milliseconds(1))),
        })
    }

    fn is_filtered(&self) -> bool {
        let texts = [&self.resource, &self.action, &self.id, &self.user, &self.correlation, &self.from, &self.until];
        texts.iter().any(|text| !text.is_empty())
    }

    /// Returns the query of the same filter, from a position on.
    fn query(&self, cursor: &str) -> String {
        query(&[
            ("resource", &*self.resource),
            ("action", &self.action),
            ("id", &self.id),
            ("user", &self.user),
            ("correlation", &self.correlation),
            ("from", &self.from),
            ("until", &self.until),
            ("cursor", cursor),
        ])
    }
}

fn given(text: &str) -> Option<String> {
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the first moment of a day, in UTC.
fn day(field: &str, text: &str) -> Result<Option<Timestamp>, Error> {
    let Some(text) = given(text) else { return Ok(None) };
    let day: NaiveDate = text.parse().map_err(|_| Error::field(field, "must be a day, such as 2026-01-31"))?;
    Ok(Some(day.and_time(NaiveTime::MIN).and_utc()))
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    tenant: TenantId,
    wanted: Wanted,
    resources: Vec<String>,
    actions: Vec<&'static str>,
    found: String,
    list: EntryList,
}

impl AuditPage {
    fn script(&self) -> String {
        format!("{}{}", self.frame.base, ASSETS.audit.path)
    }
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "audit-list.html")]
struct EntryList {
    base: String,
    wanted: Wanted,
    entries: Vec<Entry>,
    next: Option<String>,
}

/// An entry as a person reads it.
struct Entry {
    entry: AuditEntry,
    /// The e-mail of the acting user, or its id if the caller may not see the user.
    actor: Option<String>,
    changes: Vec<Difference>,
    metadata: Vec<(String, String)>,
}

/// A field with its values before and after.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    field: String,
    before: Option<String>,
    after: Option<String>,
}

impl Entry {
    fn of(entry: AuditEntry, names: &Names) -> Self {
        let actor = entry.user_id.map(|id| names.user(id));
        let changes = differences(entry.old_value.as_ref(), entry.new_value.as_ref());
        let metadata = entry.metadata.iter().filter(|(name, _)| *name != "changedFields");
        let metadata = metadata.map(|(name, value)| (name.clone(), text_of(value))).collect();
        Self { actor, changes, metadata, entry }
    }

    /// The moment as the log commits to it.
    fn created_at(&self) -> String {
        self.entry.created_at.to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// Whether the entry is about a user, which has a page.
    fn is_about_user(&self) -> bool {
        let id = self.entry.resource_id.as_ref();
        self.entry.resource_type.as_str() == "USER" && id.is_some_and(|id| id.parse::<UserId>().is_ok())
    }
}

/// Returns the fields of both values, by their names.
fn differences(before: Option<&Map<String, Value>>, after: Option<&Map<String, Value>>) -> Vec<Difference> {
    let names =
        |values: Option<&Map<String, Value>>| values.into_iter().flat_map(Map::keys).cloned().collect::<BTreeSet<_>>();
    let value =
        |values: Option<&Map<String, Value>>, name: &str| values.and_then(|values| values.get(name)).map(text_of);
    let fields = names(before).union(&names(after)).cloned().collect::<Vec<_>>();
    let difference = |field: String| Difference { before: value(before, &field), after: value(after, &field), field };
    fields.into_iter().map(difference).collect()
}

/// A text is shown without quotes.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let (audit, caller) = (console.iam.audit(), &signed_in.caller);
    let filter = wanted.filter()?;
    let cursor: Option<Cursor> = match given(&wanted.cursor) {
        Some(text) => Some(text.parse().map_err(|_| Error::field("cursor", "must be that of an earlier page"))?),
        None => None,
    };
    let found = audit.list(caller, filter, cursor, LIMIT).await?;
    let names = Names::read(&console.iam, caller, found.entries.iter().filter_map(|entry| entry.user_id), []).await?;
    let list = EntryList {
        base: console.base().to_owned(),
        wanted: wanted.clone(),
        next: found.next.map(|cursor| wanted.query(&cursor.to_string())),
        entries: found.entries.into_iter().map(|entry| Entry::of(entry, &names)).collect(),
    };
    let found = english::entries_shown(list.entries.len());
    if is_for_part(&headers) {
        return part(&list, &found);
    }
    let catalogue = audit.catalogue(caller)?;
    let actions: BTreeSet<&'static str> = catalogue.iter().flat_map(|recorded| recorded.actions).copied().collect();
    let actions = actions.into_iter().collect();
    let resources = catalogue.iter().map(|recorded| recorded.resource_type.as_str().to_owned()).collect();
    let frame = signed_in.frame(&console).await?;
    let tenant = caller.tenant();
    page(StatusCode::OK, &AuditPage { frame, tenant, wanted, resources, actions, found, list })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_has_every_field_of_both_values() {
        let (before, after) = (json!({ "a": "x", "c": 1 }), json!({ "a": "y", "b": null }));
        let found = differences(before.as_object(), after.as_object());
        let text = |text: &str| Some(text.to_owned());
        let expected = [
            Difference { field: "a".into(), before: text("x"), after: text("y") },
            Difference { field: "b".into(), before: None, after: text("null") },
            Difference { field: "c".into(), before: text("1"), after: None },
        ];
        assert_eq!(found, expected);
        assert_eq!(differences(None, None), []);
    }

    #[test]
    fn the_last_day_is_included() {
        let wanted = Wanted { from: "2026-01-31".into(), until: "2026-01-31".into(), ..Wanted::default() };
        let filter = wanted.filter().unwrap();
        assert_eq!(filter.from.unwrap().to_rfc3339(), "2026-01-31T00:00:00+00:00");
        assert_eq!(filter.until.unwrap().to_rfc3339(), "2026-01-31T23:59:59.999+00:00");
        assert!(Wanted { from: "tomorrow".into(), ..Wanted::default() }.filter().is_err());
    }
}
