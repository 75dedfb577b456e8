//! From the cookie of a request to its caller.

use askama::Template;
use axum::Extension;
use axum::extract::{FromRequestParts, OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use iam_axum::{Authenticated, Context, Kind, Problem};
use iam_core::session::Me;
use iam_core::{Caller, Error, Forbidden, RequestContext, UserId};
use tokio::time::timeout;

use crate::cookie::SessionCookie;
use crate::density::Density;
use crate::form::Form;
use crate::problem::{is_for_part, problem_of};
use crate::query::{accept, written};
use crate::state::Console;
use crate::text;
use crate::theme::Theme;
use crate::view::{Acting, Frame, FrameSession, page};

/// Reads the cookie and gives the request the access token of it, as a client of the API does. So the limits count
/// the request for its user, and handlers authenticate it as the API does.
///
/// If the access token has expired, the tokens are renewed and the response has the next cookie. Requests that arrive
/// together renew the same tokens: within the grace period of the refresh token, all of them get the same successor.
pub(crate) async fn with_session(
    State(console): State<Console>,
    Context(context): Context,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    // Only the cookie authenticates. Its forms have a token, and a header from elsewhere has none.
    parts.headers.remove(header::AUTHORIZATION);
    let kind = console.settings.cookie(&parts);
    let sent = SessionCookie::read(&parts.headers, kind);
    let had_cookie = sent.is_some();
    let (session, is_new) = match sent {
        Some(sent) => {
            // The time limit of requests begins further inside.
            let limit = console.settings.api.request_timeout;
            match timeout(limit, current(&console, &context, sent)).await {
                Ok(Ok(found)) => found,
                Ok(Err(problem)) => return problem.into_response(),
                Err(_) => return Problem::new(Kind::Unavailable).into_response(),
            }
        }
        None => (None, false),
    };
    if had_cookie && session.is_none() {
        parts.extensions.insert(Ended);
    }
    let set_cookies = match &session {
        Some(session) if is_new => session.headers(kind),
        None if had_cookie => kind.forgotten().into_iter().collect(),
        Some(_) | None => Vec::new(),
    };
    let kept = session.clone();
    if let Some(session) = session
        && let Ok(mut bearer) = HeaderValue::from_str(&format!("Bearer {}", session.bearer().expose()))
    {
        bearer.set_sensitive(true);
        parts.headers.insert(header::AUTHORIZATION, bearer);
        parts.extensions.insert(session);
    }
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // A handler that begins or ends a session has set the cookie itself.
    if !kind.is_set(response.headers()) {
        for set_cookie in set_cookies {
            response.headers_mut().append(header::SET_COOKIE, set_cookie);
        }
    }
    if let Some(session) = kept {
        // For the page of an error: the person must be able to sign out there.
        response.extensions_mut().insert(session);
    }
    response
}

/// The request has the cookie of a session that has ended.
#[derive(Clone, Copy)]
struct Ended;

/// Returns the session with tokens that are valid now, if it has not ended, and whether its tokens are new. If the
/// person no longer acts as another user, it goes on as itself.
async fn current(
    console: &Console,
    context: &RequestContext,
    sent: SessionCookie,
) -> Result<(Option<SessionCookie>, bool), Problem> {
    let (own, is_new) = renewed(console, context, sent).await?;
    let Some(session) = own else { return Ok((None, false)) };
    if acts(console, context, &session).await? {
        return Ok((Some(session), is_new));
    }
    Ok((Some(session.acting_by(None)), true))
}

/// Whether the token of a session by which the person acts as another user is valid, if it has one.
async fn acts(console: &Console, context: &RequestContext, session: &SessionCookie) -> Result<bool, Problem> {
    let Some(acting) = session.acting() else { return Ok(true) };
    if !console.iam.knows_token(acting.expose()) {
        return Ok(false);
    }
    let authenticated = async {
        let token = console.iam.verify(acting.expose()).await?;
        console.iam.authenticate_without_factor(&token, context.clone()).await
    };
    match authenticated.await {
        Ok(caller) => Ok(caller.impersonator().is_some()),
        Err(Error::Unauthenticated(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns the own session of the person with tokens that are valid now, if it has not ended, and whether they are new.
async fn renewed(
    console: &Console,
    context: &RequestContext,
    sent: SessionCookie,
) -> Result<(Option<SessionCookie>, bool), Problem> {
    // Every request gets here before the limits. An API key is no session, and an unknown one would be searched for.
    if !console.iam.knows_token(sent.access.expose()) {
        return Ok((None, false));
    }
    match console.iam.verify(sent.access.expose()).await {
        // An API key is not a session.
        Ok(token) if token.api_key().is_some() => return Ok((None, false)),
        Ok(_) => return Ok((Some(sent), false)),
        Err(Error::Unauthenticated(_)) => {}
        Err(error) => return Err(error.into()),
    }
    console.count_attempt(context).await?;
    match console.iam.sessions().refresh(context, &sent.refresh).await {
        Ok(tokens) => Ok((Some(sent.renewed(tokens)), true)),
        Err(Error::Unauthenticated(_)) => Ok((None, false)),
        Err(error) => Err(error.into()),
    }
}

/// The person who has sent a request. Others are led to the page on which they sign in.
#[derive(Clone, Debug)]
pub(crate) struct SignedIn {
    pub(crate) caller: Caller,
    pub(crate) form_token: String,
    /// See [`Console::provider_callback`].
    pub(crate) provider_callback: Option<String>,
    density: Density,
    theme: Theme,
    /// See [`Frame::answers_form`].
    answers_form: bool,
}

impl FromRequestParts<Console> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let WithoutFactor { signed_in, is_restricted } = WithoutFactor::from_request_parts(parts, console).await?;
        if !is_restricted {
            return Ok(signed_in);
        }
        Err(if parts.method.is_safe() && !is_for_part(&parts.headers) {
            Redirect::to(&format!("{}/account", console.base())).into_response()
        } else {
            Problem::from(Error::from(Forbidden::SecondFactorRequired)).into_response()
        })
    }
}

/// The person who has sent a request, also in a restricted session. Only for the pages that the person needs to set up
/// a second factor, or to authenticate by one.
#[derive(Clone, Debug)]
pub(crate) struct WithoutFactor {
    pub(crate) signed_in: SignedIn,
    /// Whether the session can only be used to set up a factor, or to authenticate by one.
    pub(crate) is_restricted: bool,
}

impl From<SignedIn> for WithoutFactor {
    fn from(signed_in: SignedIn) -> Self {
        Self { signed_in, is_restricted: false }
    }
}

impl FromRequestParts<Console> for WithoutFactor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let session = parts.extensions.get::<SessionCookie>().cloned();
        let Some(session) = session else { return Err(to_sign_in(parts, console)) };
        let (form_token, provider_callback) = (session.form_token(), console.provider_callback(parts));
        let (density, theme) = (Density::of(console, parts), Theme::of(console, parts));
        let answers_form = !parts.method.is_safe();
        let problem = match Authenticated::from_request_parts(parts, console).await {
            Ok(Authenticated(caller)) => {
                let signed_in = SignedIn { caller, form_token, provider_callback, density, theme, answers_form };
                return Ok(Self { signed_in, is_restricted: false });
            }
            Err(problem) => problem,
        };
        let (document, response) = problem_of(problem.into_response()).await;
        if document.is_some_and(|document| document.is_of(Kind::SecondFactorRequired)) {
            let caller = restricted(parts, console, &session).await.map_err(|problem| problem.into_response())?;
            let signed_in = SignedIn { caller, form_token, provider_callback, density, theme, answers_form };
            return Ok(Self { signed_in, is_restricted: true });
        }
        if response.status() != StatusCode::UNAUTHORIZED {
            return Err(response);
        }
        parts.extensions.insert(Ended);
        Err(to_sign_in(parts, console))
    }
}

/// Returns the caller of a restricted session.
async fn restricted(parts: &mut Parts, console: &Console, session: &SessionCookie) -> Result<Caller, Problem> {
    let Context(context) = Context::from_request_parts(parts, console).await?;
    let token = console.iam.verify(session.bearer().expose()).await?;
    Ok(console.iam.authenticate_without_factor(&token, context).await?)
}

impl SignedIn {
    /// Returns the page on which this person sees a user, below the path of the console: its own account, or the page of
    /// another user.
    pub(crate) fn home_of(&self, user: UserId) -> String {
        if self.caller.user() == Some(user) { "/account".to_owned() } else { format!("/users/{user}") }
    }

    /// Returns the frame of a page of this person.
    pub(crate) async fn frame(&self, console: &Console) -> Result<Frame, Problem> {
        let me = console.iam.sessions().me(&self.caller).await?;
        Ok(self.frame_for(console, &me))
    }

    /// Does the same for a person who was read.
    pub(crate) fn frame_for(&self, console: &Console, me: &Me) -> Frame {
        let session = FrameSession {
            email: Some(me.user.email.as_str().to_owned()),
            tenant: Some(me.tenant.name.to_string()),
            form_token: self.form_token.clone(),
            grants: Some(me.grants.clone()),
            // A session that is later than that is restricted, and its only page says so.
            enrol_by: me.enrol_by.filter(|until| console.iam.now() < *until),
            acting: Acting::of(me),
            unseen_runs: console.runs.unseen(&self.caller, console.iam.now()),
        };
        let (density, theme, answers_form) = (self.density, self.theme, self.answers_form);
        Frame { density, theme, answers_form, session: Some(session), ..Frame::without_session(console) }
    }
}

#[derive(Template)]
#[template(path = "arrival.html")]
struct Arrival {
    frame: Frame,
    wanted: String,
}

/// Returns a page that leads on at once.
pub(crate) fn leading_to(console: &Console, wanted: &str) -> Result<Response, Problem> {
    let arrival = Arrival { frame: Frame::without_session(console), wanted: wanted.to_owned() };
    page(StatusCode::OK, &arrival)
}

/// Returns a page that loads the wanted page again, if another site leads here: a browser then does not send the
/// cookies. The second time, the console itself leads there.
pub(crate) fn loaded_again(console: &Console, parts: &Parts) -> Option<Response> {
    if parts.headers.get("sec-fetch-site").is_none_or(|site| site != "cross-site") {
        return None;
    }
    // The page that it loads checks the query.
    accept(parts);
    Some(leading_to(console, wanted(parts)).unwrap_or_else(Problem::into_response))
}

/// Returns the path and the query that the browser has asked for.
fn wanted(parts: &Parts) -> &str {
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    uri.path_and_query().map_or("", |path| path.as_str())
}

/// Leads to the page on which a person signs in, and from there back to where it wanted to go.
fn to_sign_in(parts: &Parts, console: &Console) -> Response {
    let wanted = wanted(parts);
    let (is_part, has_ended) = (is_for_part(&parts.headers), parts.extensions.get::<Ended>().is_some());
    let is_page = parts.method.is_safe() && !is_part;
    if is_page
        && !has_ended
        && let Some(again) = loaded_again(console, parts)
    {
        return again;
    }
    let mut query = Vec::new();
    if is_page && wanted != console.home() {
        query.push(("next", wanted));
    }
    if has_ended || !is_page {
        query.push(("ended", "1"));
    }
    let mark = if query.is_empty() { "" } else { "?" };
    let address = format!("{}/sign-in{mark}{}", console.base(), written(query));
    let forgotten = if has_ended { console.settings.cookie(parts).forgotten() } else { None };
    let headers = AppendHeaders(forgotten.map(|value| (header::SET_COOKIE, value)));
    if is_part {
        // htmx follows a redirect without telling the page, and would show the sign-in page inside of it.
        (StatusCode::NO_CONTENT, headers, [("hx-redirect", address)]).into_response()
    } else {
        (Extension(NeedsSignIn), headers, Redirect::to(&address)).into_response()
    }
}

/// The response leads to the page on which a person signs in.
#[derive(Clone, Copy)]
struct NeedsSignIn;

/// Whether a response leads the person to sign-in, because the request has no session.
pub(crate) fn needs_sign_in(response: &Response) -> bool {
    response.extensions().get::<NeedsSignIn>().is_some()
}

/// Returns the path and the query of the page from which a request comes, as far as it is known.
pub(crate) fn came_from(parts: &Parts) -> Option<String> {
    let address: Uri = parts.headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    Some(address.path_and_query()?.to_string())
}

/// Returns the page from which a small form of the frame comes. A page that answers a form names another one, because
/// its own address may have no page.
pub(crate) fn page_before(console: &Console, parts: &Parts, form: &Form) -> String {
    page_named(console, parts, form, "before")
}

/// Returns the page of the console that a field of a form names, or else the one from which the form comes.
pub(crate) fn page_named(console: &Console, parts: &Parts, form: &Form, field: &str) -> String {
    destination(console, &form.given(field).or_else(|| came_from(parts)).unwrap_or_default())
}

/// Returns where a person goes after it has signed in: only to a page of the console.
pub(crate) fn destination(console: &Console, wanted: &str) -> String {
    let base = console.base();
    let is_own = wanted.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = wanted.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') && !wanted.contains("//");
    if is_own && is_plain && !wanted.is_empty() { wanted.to_owned() } else { console.home().to_owned() }
}
