//! Pages in place of problem documents. Every error of the console is a [`Problem`], as in the API, and becomes a page
//! in one place.

use askama::Template;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use iam_axum::{Context, Kind, Problem};
use iam_core::session::Me;
use iam_core::{Caller, Error, FieldError, Forbidden, RequestContext, Unauthenticated};
use serde::Deserialize;

use crate::asking::may_ask;
use crate::cookie::SessionCookie;
use crate::density::Density;
use crate::state::Console;
use crate::text;
use crate::theme::Theme;
use crate::view::{Acting, Frame, FrameSession, page};

const PROBLEM: &[u8] = b"application/problem+json";

/// More than a problem document can have.
const MAX_DOCUMENT: usize = 1024 * 1024;

/// The message of a problem document for a person.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Document {
    r#type: String,
    title: String,
    detail: String,
    #[serde(default)]
    errors: Vec<InvalidField>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct InvalidField {
    field: String,
    message: String,
}

impl InvalidField {
    /// The label of the field, as the forms have it. What has no label has the name of the address.
    fn label(&self) -> &str {
        match &*self.field {
            "id" => text::t("identifier"),
            "page" => text::t("page"),
            "lines" => text::t("lines-of-page"),
            "search" | "q" => text::t("search"),
            "status" => text::t("status"),
            "attribute" => text::t("attribute"),
            "value" => text::t("attribute-value"),
            "hasFactor" => text::t("factor"),
            "ends" => text::t("ends-when"),
            "at" | "asOf" => text::t("held-at"),
            "user" | "userId" => text::t("user"),
            "role" | "roleId" => text::t("role"),
            "organization" | "organizationId" => text::t("organization"),
            "permission" => text::t("permission"),
            "action" => text::t("action"),
            "resource" => text::t("resource"),
            "correlation" => text::t("correlation"),
            "selected" => text::t("selection"),
            "sortBy" | "sortOrder" => text::t("sort-order"),
            name => name,
        }
    }
}

impl Document {
    /// The title of the kind of the problem.
    fn title(&self) -> &str {
        let kind = self.r#type.rsplit('/').next().unwrap_or_default();
        text::named(&format!("problem-{kind}")).unwrap_or(&self.title)
    }

    /// The permission that the person lacks, if that is the problem.
    fn missing_permission(&self) -> Option<&str> {
        if !self.is_of(Kind::Forbidden) {
            return None;
        }
        self.detail.strip_prefix("Missing permission: ")?.strip_suffix('.')
    }

    /// Whether the problem is of this kind.
    pub(crate) fn is_of(&self, kind: Kind) -> bool {
        self.r#type.rsplit('/').next() == Some(kind.as_str())
    }
}

/// Returns the problem that a response describes, if it is one, and the response.
pub(crate) async fn problem_of(response: Response) -> (Option<Document>, Response) {
    if response.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes) != Some(PROBLEM) {
        return (None, response);
    }
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, MAX_DOCUMENT).await.unwrap_or_default();
    let document = serde_json::from_slice(&bytes).ok();
    (document, Response::from_parts(parts, Body::from(bytes)))
}

/// Whether htmx has sent a request, for a part of a page.
pub(crate) fn is_for_part(headers: &HeaderMap) -> bool {
    headers.contains_key("hx-request")
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    frame: Frame,
    problem: &'a Document,
    /// The permission that the person needs to see this page.
    needed: Option<&'a str>,
    /// Whether there is a role for which the person may ask.
    may_ask: bool,
    correlation_id: String,
}

#[derive(Template)]
#[template(path = "notice.html")]
struct Notice<'a> {
    problem: &'a Document,
}

/// Turns every problem document, and every error of a library, into a page.
pub(crate) async fn as_page(
    State(console): State<Console>,
    Context(context): Context,
    request: Request,
    next: Next,
) -> Response {
    let is_for_part = is_for_part(request.headers());
    let (parts, body) = request.into_parts();
    let (density, theme) = (Density::of(&console, &parts), Theme::of(&console, &parts));
    let is_form = !parts.method.is_safe();
    let response = next.run(Request::from_parts(parts, body)).await;
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/html"));
    if is_page || !(response.status().is_client_error() || response.status().is_server_error()) {
        return response;
    }
    let status = response.status();
    let (document, response) = problem_of(response).await;
    let document = document.unwrap_or_else(|| {
        let reason = status.canonical_reason().unwrap_or_default();
        let kind = reason.to_lowercase().replace(' ', "-");
        let title = text::named(&format!("problem-{kind}")).unwrap_or(reason).to_owned();
        Document { r#type: kind, detail: title.clone(), title, errors: Vec::new() }
    });
    let shown = if is_for_part {
        page(status, &Notice { problem: &document })
    } else {
        let correlation_id = context.correlation_id.as_ref().map(|id| id.as_str().to_owned()).unwrap_or_default();
        let needed = document.missing_permission().filter(|_| !is_form);
        let mut can_ask = false;
        let session = match response.extensions().get::<SessionCookie>() {
            Some(session) => {
                let (caller, me) = me_of(&console, context, session, status).await.unzip();
                if let (Some(caller), Some(_)) = (&caller, needed) {
                    // Without an answer, the page is without the link.
                    can_ask = may_ask(&console.iam, caller).await.unwrap_or(false);
                }
                Some(FrameSession {
                    email: me.as_ref().map(|me| me.user.email.as_str().to_owned()),
                    tenant: me.as_ref().map(|me| me.tenant.name.to_string()),
                    form_token: session.form_token(),
                    enrol_by: None,
                    acting: me.as_ref().and_then(Acting::of),
                    unseen_runs: 0,
                    grants: me.map(|me| me.grants),
                })
            }
            None => None,
        };
        let answers_form = is_form || status == StatusCode::METHOD_NOT_ALLOWED;
        let frame = Frame { density, theme, answers_form, session, ..Frame::without_session(&console) };
        page(status, &ProblemPage { frame, problem: &document, needed, may_ask: can_ask, correlation_id })
    };
    let mut shown = shown.unwrap_or_else(|problem| problem.into_response());
    copy_headers(&response, &mut shown);
    shown
}

/// Returns the person, for the page of an error. `None` if the cause may be that the service has no time.
async fn me_of(
    console: &Console,
    context: RequestContext,
    session: &SessionCookie,
    status: StatusCode,
) -> Option<(Caller, Me)> {
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        return None;
    }
    let token = console.iam.verify(session.bearer().expose()).await.ok()?;
    let caller = console.iam.authenticate_without_factor(&token, context).await.ok()?;
    let me = console.iam.sessions().me(&caller).await.ok()?;
    Some((caller, me))
}

/// The answer to a path that the console does not have.
pub(crate) async fn not_found() -> Problem {
    Problem::new(Kind::NotFound).detail(text::t("no-such-page"))
}

/// The answer to a form that another page has sent.
pub(crate) fn foreign_form() -> Problem {
    Problem::new(Kind::Forbidden).detail(text::t("foreign-form"))
}

/// Returns a page that shows an error beside a form. Its status and its headers are those of the problem.
pub(crate) fn refused(error: impl Into<Problem>, template: &impl Template) -> Result<Response, Problem> {
    let problem = error.into().into_response();
    let mut response = page(problem.status(), template)?;
    copy_headers(&problem, &mut response);
    Ok(response)
}

/// Returns the page that shows an error beside a form. An error that asks the person to authenticate is no error of the
/// form, and the guard of forms answers it.
pub(crate) fn refused_in_place<T: Template>(
    error: Error,
    page_with: impl FnOnce(String) -> T,
) -> Result<Response, Problem> {
    match error {
        error if asks_for_proof(&error) => Err(error.into()),
        error => {
            let text = error.to_string();
            refused(error, &page_with(text))
        }
    }
}

/// Returns `None` for a part of a page that the caller may not see.
pub(crate) fn if_allowed<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::Forbidden(_) | Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the page of a form again, with the errors: beside its fields, or above the form. An error that asks the
/// person to authenticate is no error of the form, and the guard of forms answers it.
///
/// `page_with` gets the invalid fields and the text above the form.
pub(crate) async fn refused_form<T: Template>(
    error: Error,
    page_with: impl AsyncFnOnce(Vec<FieldError>, String) -> Result<T, Problem>,
) -> Result<Response, Problem> {
    let shown = match &error {
        _ if asks_for_proof(&error) => return Err(error.into()),
        Error::Validation(errors) => page_with(errors.clone(), text::t("nothing-is-saved").to_owned()).await?,
        Error::About { field, error } => {
            let errors = vec![FieldError::new(field, error.to_string())];
            page_with(errors, text::t("nothing-is-saved").to_owned()).await?
        }
        error => page_with(Vec::new(), error.to_string()).await?,
    };
    refused(error, &shown)
}

/// Whether an error asks the person to authenticate. No further proof mends a session that began by an e-mail.
fn asks_for_proof(error: &Error) -> bool {
    match error {
        Error::Unauthenticated(Unauthenticated::ByEmail { .. }) => false,
        Error::Unauthenticated(_) | Error::Forbidden(Forbidden::SecondFactorRequired) => true,
        _ => false,
    }
}

/// Returns a value that a person has typed, or adds its error to the errors of the form.
pub(crate) fn collected<T>(typed: Result<T, Error>, errors: &mut Vec<FieldError>) -> Result<Option<T>, Error> {
    match typed {
        Ok(value) => Ok(Some(value)),
        Err(Error::Validation(more)) => {
            errors.extend(more);
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Copies the headers that do not describe the body.
fn copy_headers(from: &Response, to: &mut Response) {
    for (name, value) in from.headers() {
        if !name.as_str().starts_with("content-") {
            to.headers_mut().append(name, value.clone());
        }
    }
}
