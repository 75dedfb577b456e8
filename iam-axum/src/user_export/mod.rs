//! `/users/{id}/export`: all that is held about one person, as a file of any length.

mod row;

use std::collections::BTreeMap;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{Stream, TryStreamExt as _, try_unfold};
use iam_core::audit::AuditEntry;
use iam_core::user::{UserData, UserExport};
use iam_core::{BoxError, Caller, Iam, UserId};
use minijinja::HtmlEscape;
use serde::Deserialize;
use serde_json::{Map, Value};
use tracing::Span;
use utoipa::{IntoParams, ToSchema};

use crate::accept::prefers;
use crate::description::{Problems, USERS};
use crate::extract::{Authenticated, Params, PathId, Query};
use crate::long;
use crate::problem::{Problem, chain};
use crate::time::Time;
use crate::user_export::row::{SECTIONS, profile, rows_of};

/// All that is held about a user, as JSON. The rows of a list have the same members.
#[derive(ToSchema)]
#[schema(as = UserExport, rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used: a file of any length is written part by part")]
pub(crate) struct UserExportDto {
    /// When the export began.
    exported_at: Time,
    /// The user itself, with its `attributes`, `hasPassword`, `recoveryCodesLeft`, `failedLogins` and `lockedUntil`.
    user: BTreeMap<String, Value>,
    /// Its second factors and passkeys, without their keys.
    factors: Vec<BTreeMap<String, Value>>,
    /// Its accounts at identity providers.
    identities: Vec<BTreeMap<String, Value>>,
    /// Its sessions, with their addresses and devices.
    sessions: Vec<BTreeMap<String, Value>>,
    /// Its API keys, without their secrets.
    api_keys: Vec<BTreeMap<String, Value>>,
    /// The roles that it holds.
    assignments: Vec<BTreeMap<String, Value>>,
    /// The roles that it held, as far as the history goes.
    past_assignments: Vec<BTreeMap<String, Value>>,
    /// The roles for which it may ask.
    eligibilities: Vec<BTreeMap<String, Value>>,
    /// The roles for which it has asked.
    access_requests: Vec<BTreeMap<String, Value>>,
    /// The invitations of its present address.
    invitations: Vec<BTreeMap<String, Value>>,
    /// What a directory says of it.
    directory: Vec<BTreeMap<String, Value>>,
    /// The groups of the directory in which it is a member.
    groups: Vec<BTreeMap<String, Value>>,
    /// The entries of the audit log that concern it, newest first.
    entries: Vec<BTreeMap<String, Value>>,
}

/// The form of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserExportFormat {
    /// For programs.
    Json,
    /// For people: a page that contains everything, without scripts.
    Html,
}

/// How an export is written.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    /// `html` for a page that people read. Without it, `Accept` decides.
    #[param(value_type = Option<ExportFormatDto>, inline)]
    format: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ExportFormatDto {
    Json,
    Html,
}

const JSON: &str = "application/json";
const HTML: &str = "text/html";

/// The page needs nothing from anywhere but its own style, and a browser shows it without running anything.
/// The digest is that of [`STYLE`].
const POLICY: &str = "default-src 'none'; style-src 'sha256-mL7nOyePr6RDxfWuAHJGvQWANYyiVgfFQfNAsK8Z6uM='; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/// The same for the page as a file, which has no headers. Other directives do not work there.
const POLICY_OF_FILE: &str = "default-src 'none'; style-src 'sha256-mL7nOyePr6RDxfWuAHJGvQWANYyiVgfFQfNAsK8Z6uM='";

/// Lines break everywhere, so that nothing is cut off on paper.
const STYLE: &str = "body{font:1rem/1.5 sans-serif;max-width:60rem;margin:0 auto;padding:1rem}\
     dl{margin:0 0 1rem;padding:.5rem .75rem;border:1px solid #888}\
     dl div{display:flex;flex-wrap:wrap;gap:0 1rem}\
     dt{flex:0 0 14rem;font-weight:bold}\
     dd{flex:1 1 20rem;margin:0;overflow-wrap:anywhere}\
     @media print{body{font-size:10pt;max-width:none;padding:0}h2{break-after:avoid}dl div{break-inside:avoid}}";

impl UserExportFormat {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => JSON,
            Self::Html => HTML,
        }
    }
}

/// Export what is held about a user
///
/// The user with all of its attributes, how it logs in (without secrets), its sessions with addresses and devices, its API
/// keys, the roles that it holds, held and may ask for, its access requests, its invitations, what a directory says of it,
/// and the entries of the audit log that concern it. As JSON, or as an HTML page for people if `Accept` prefers it or
/// `format` is `html`.
///
/// A user can export what is held about itself, also attributes that it does not see elsewhere. For another one, the caller needs `users:read` for the whole of that
/// user, and `audit-logs:read`. A user without `audit-logs:read` sees the entries about itself, but not the addresses of
/// others, and of what it did to others only that it did it. The session must have authenticated within the last ten
/// minutes; an API key cannot do this, nor a user who acts as another one.
///
/// The export is recorded as READ of the user before its first byte. The parts are read one after the other, and the whole
/// log is searched, which takes long in a tenant with millions of entries. An export that fails breaks off the transfer. A
/// user runs one export about itself at a time and one about others, and a tenant four about others (429).
#[utoipa::path(
    get,
    path = "/users/{id}/export",
    operation_id = "exportUser",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user"), ExportQuery),
    responses(
        (
            status = 200,
            description = "All that is held about the user",
            content((UserExportDto = "application/json"), (String = "text/html")),
        ),
        Problems,
    ),
    extensions(
        ("x-required-permission" = json!("users:read")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn export(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<UserId>,
    Query(ExportQuery { format }): Query<ExportQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let named = params.parse_with("format", format.as_deref(), |text| match text {
        "json" => Ok(UserExportFormat::Json),
        "html" => Ok(UserExportFormat::Html),
        _ => Err("must be one of json, html".to_owned()),
    });
    params.finish()?;
    let preferred = if prefers(&headers, HTML, JSON) { UserExportFormat::Html } else { UserExportFormat::Json };
    user_export_file(iam, caller, id, named.unwrap_or(preferred)).await
}

/// Returns all that is held about a user as a file, as the API does.
///
/// # Errors
///
/// The problems of `GET /users/{id}/export`. An error that happens later breaks off the transfer.
pub async fn user_export_file(
    iam: Iam,
    caller: Caller,
    user: UserId,
    format: UserExportFormat,
) -> Result<Response, Problem> {
    let export = iam.users().export(&caller, user, format.media_type()).await?;
    let writer = Writer { format, now: Time(iam.now()), opened: 0, rows: 0, is_over: false };
    let disposition = match format {
        UserExportFormat::Json => format!(r#"attachment; filename="user-{user}.json""#),
        UserExportFormat::Html => format!(r#"attachment; filename="user-{user}.html""#),
    };
    let body = Body::from_stream(written(iam, caller, export, writer));
    let mut response = (StatusCode::OK, body).into_response();
    let headers = response.headers_mut();
    let content_type = match format {
        UserExportFormat::Json => JSON,
        UserExportFormat::Html => "text/html; charset=utf-8",
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // A UUID has no character that a header cannot have.
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

/// Returns the bytes of the file. An error is the last item of the stream; in a body, it breaks off the transfer.
fn written(
    iam: Iam,
    caller: Caller,
    export: UserExport,
    writer: Writer,
) -> impl Stream<Item = Result<Bytes, BoxError>> {
    // The body is read outside of the request's own span.
    let span = Span::current();
    let parts = try_unfold((iam, caller, export, writer), |(iam, caller, mut export, mut writer)| async move {
        if writer.is_over {
            return Ok(None);
        }
        let data = export.next(&iam).await?;
        let size = match &data {
            Some(UserData::Entries(entries)) => entries.iter().map(AuditEntry::size).sum::<usize>(),
            _ => 0,
        };
        // A long part is written beside the async threads.
        let (bytes, writer) = long::processed(&iam, &caller, size, move || {
            let bytes = writer.write(data);
            (bytes, writer)
        })
        .await?;
        Ok::<_, BoxError>(Some((Bytes::from(bytes?), (iam, caller, export, writer))))
    });
    parts.inspect_err(move |error| span.in_scope(|| tracing::error!(error = %chain(&**error), "an export broke off")))
}

/// Writes the file part by part.
#[derive(Debug)]
struct Writer {
    format: UserExportFormat,
    now: Time,
    /// How many sections were begun.
    opened: usize,
    /// How many rows the last one of them has.
    rows: usize,
    is_over: bool,
}

impl Writer {
    /// Returns the bytes of the next part; of the end without one. They are never empty, so that the client sees that the
    /// export goes on while no entry of the log concerns the user.
    fn write(&mut self, data: Option<UserData>) -> Result<Vec<u8>, BoxError> {
        let mut text = String::new();
        match data {
            None => {
                self.begin_sections(SECTIONS.len(), &mut text);
                self.end_section(&mut text);
                text.push_str(match self.format {
                    UserExportFormat::Json => "}",
                    UserExportFormat::Html => "</main>\n</body>\n</html>",
                });
                self.is_over = true;
            }
            Some(UserData::Profile(data)) => self.head(&profile(*data)?, &mut text),
            Some(data) => {
                let (section, rows) = rows_of(data)?;
                self.begin_sections(section + 1, &mut text);
                rows.iter().for_each(|row| self.row(row, &mut text));
            }
        }
        text.push('\n');
        Ok(text.into_bytes())
    }

    fn head(&self, user: &Map<String, Value>, text: &mut String) {
        let (now, user_json) = (self.now, Value::Object(user.clone()));
        match self.format {
            UserExportFormat::Json => text.push_str(&format!(r#"{{"exportedAt":"{now}","user":{user_json}"#)),
            UserExportFormat::Html => {
                let name = HtmlEscape(&name_of(user)).to_string();
                text.push_str(&format!(
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                     <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY_OF_FILE}\">\n\
                     <meta name=\"viewport\" content=\"width=device-width\">\n\
                     <title>What is held about {name}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
                     <h1>What is held about {name}</h1>\n<p>Exported at {now}, in UTC as all times here.</p>\n\
                     <h2>The user</h2>\n"
                ));
                item(user, text);
            }
        }
    }

    /// Begins the sections up to this number of them, and ends those before.
    fn begin_sections(&mut self, until: usize, text: &mut String) {
        for (name, title) in SECTIONS.iter().take(until).skip(self.opened) {
            self.end_section(text);
            text.push_str(&match self.format {
                UserExportFormat::Json => format!(",\n\"{name}\":["),
                UserExportFormat::Html => format!("<h2>{title}</h2>\n"),
            });
            self.opened += 1;
            self.rows = 0;
        }
    }

    fn end_section(&self, text: &mut String) {
        text.push_str(match (self.format, self.opened, self.rows) {
            (_, 0, _) => "",
            (UserExportFormat::Json, ..) => "]",
            (UserExportFormat::Html, _, 0) => "<p>Nothing is held.</p>\n",
            (UserExportFormat::Html, ..) => "",
        });
    }

    fn row(&mut self, row: &Map<String, Value>, text: &mut String) {
        let is_first = self.rows == 0;
        self.rows += 1;
        match self.format {
            UserExportFormat::Json => {
                let row = Value::Object(row.clone());
                text.push_str(&format!("{}\n{row}", if is_first { "" } else { "," }));
            }
            UserExportFormat::Html => item(row, text),
        }
    }
}

/// Returns the name of the user for the title of the page, or else its identifier.
fn name_of(user: &Map<String, Value>) -> String {
    let text = |member: &str| user.get(member).and_then(Value::as_str).unwrap_or_default();
    let name = [text("firstName"), text("lastName"), text("name")].join(" ");
    match name.trim() {
        "" => format!("the user {}", text("id")),
        name => name.to_owned(),
    }
}

/// Writes an item as a list of its members. Those without a value are left out.
fn item(members: &Map<String, Value>, text: &mut String) {
    text.push_str("<dl>\n");
    for (name, value) in members.iter().filter(|(_, value)| !is_empty(value)) {
        let label = label(name);
        let (label, value) = (HtmlEscape(&label), cell(value));
        text.push_str(&format!("<div><dt>{label}</dt><dd>{value}</dd></div>\n"));
    }
    text.push_str("</dl>\n");
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Returns the name of a member in words: `lastUsedAt` as `Last used at`.
fn label(name: &str) -> String {
    match name {
        "id" => return "Identifier".to_owned(),
        "amr" => return "Authenticated by".to_owned(),
        "userAgent" => return "Device".to_owned(),
        "ipAddress" => return "IP address".to_owned(),
        _ => {}
    }
    let mut label = String::with_capacity(name.len() + 4);
    for letter in name.strip_suffix("Id").unwrap_or(name).chars() {
        match letter {
            _ if label.is_empty() => label.extend(letter.to_uppercase()),
            _ if letter.is_uppercase() => {
                label.push(' ');
                label.extend(letter.to_lowercase());
            }
            _ => label.push(letter),
        }
    }
    if name.ends_with("Id") {
        label.push_str(" (identifier)");
    }
    label
}

/// Returns a value as HTML.
fn cell(value: &Value) -> String {
    let lines = |lines: Vec<String>| lines.join("<br>");
    match value {
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => HtmlEscape(text).to_string(),
        Value::Array(items) => lines(items.iter().map(cell).collect()),
        Value::Object(fields) => {
            lines(fields.iter().map(|(name, value)| format!("{}: {}", HtmlEscape(name), cell(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA256, digest};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    /// A file with two rows in the third section, and none elsewhere.
    fn file(format: UserExportFormat) -> String {
        let now = Time("2026-01-31T09:15:00.123Z".parse().unwrap());
        let mut writer = Writer { format, now, opened: 0, rows: 0, is_over: false };
        let mut text = String::new();
        writer.head(&object(&json!({ "id": "7", "firstName": "<script>alert(1)</script>" })), &mut text);
        writer.begin_sections(3, &mut text);
        for name in ["\"&'", "</td>"] {
            writer.row(&object(&json!({ "name": name, "roles": ["a", { "b": "<i>" }] })), &mut text);
        }
        text + &String::from_utf8(writer.write(None).unwrap()).unwrap()
    }

    #[test]
    fn the_json_has_every_section_once() {
        let written: Value = serde_json::from_str(&file(UserExportFormat::Json)).unwrap();
        assert_eq!((&written["user"]["id"], &written["exportedAt"]), (&json!("7"), &json!("2026-01-31T09:15:00.123Z")));
        for (number, (name, _)) in SECTIONS.iter().enumerate() {
            assert_eq!(written[name].as_array().unwrap().len(), if number == 2 { 2 } else { 0 }, "{name}");
        }
        assert_eq!(written.as_object().unwrap().len(), SECTIONS.len() + 2);
        assert_eq!(written[SECTIONS[2].0][1]["name"], "</td>");
    }

    #[test]
    fn no_value_is_markup_in_the_page() {
        let page = file(UserExportFormat::Html);
        for markup in ["<script", "<i>", "\"&'", "</td>"] {
            assert!(!page.contains(markup), "{markup}: {page}");
        }
        for text in ["<title>What is held about &lt;script", "b: &lt;i&gt;", "<h2>Sessions</h2>", "Nothing is held."] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert_eq!(page.matches("<h2>").count(), SECTIONS.len() + 1);
    }

    #[test]
    fn each_item_is_a_list_of_the_members_that_have_a_value() {
        let page = file(UserExportFormat::Html);
        // The user and two rows.
        assert_eq!((page.matches("<dl>").count(), page.matches("</dl>").count()), (3, 3), "{page}");
        assert!(!page.contains("<table"), "{page}");
        let mut text = String::new();
        let empty = json!({ "ipAddress": null, "reason": "", "amr": [], "attributes": {} });
        let mut row = object(&json!({ "lastUsedAt": "2026", "roleId": "7", "left": 0, "is": false }));
        row.extend(object(&empty));
        item(&row, &mut text);
        let members = [("Last used at", "2026"), ("Role (identifier)", "7"), ("Left", "0"), ("Is", "false")];
        for (label, value) in members {
            assert!(text.contains(&format!("<div><dt>{label}</dt><dd>{value}</dd></div>\n")), "{label}: {text}");
        }
        assert_eq!(text.matches("<dt>").count(), members.len(), "{text}");
    }

    #[test]
    fn the_page_is_titled_by_the_name_of_the_user() {
        for (user, name) in [
            (json!({ "id": "7", "firstName": "Ada", "lastName": "Lovelace" }), "Ada Lovelace"),
            (json!({ "id": "7", "name": "nightly" }), "nightly"),
            (json!({ "id": "7" }), "the user 7"),
        ] {
            assert_eq!(name_of(&object(&user)), name);
        }
    }

    /// A browser applies no other style. It would show and print the page without one, and say nothing.
    #[test]
    fn the_policies_allow_the_style_of_the_page() {
        let digest = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
        for policy in [POLICY, POLICY_OF_FILE] {
            assert!(policy.contains(&format!("style-src 'sha256-{digest}'")), "{digest}");
        }
        let page = file(UserExportFormat::Html);
        assert!(page.contains(&format!("content=\"{POLICY_OF_FILE}\"")), "{page}");
        assert!(page.contains(&format!("<style>{STYLE}</style>")), "{page}");
    }
}
