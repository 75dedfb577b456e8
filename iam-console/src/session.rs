//! From the cookie of a request to its caller.

use axum::extract::{FromRequestParts, OriginalUri, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse as _, Redirect, Response};
use iam_axum::{Authenticated, Context, Problem};
use iam_core::{Caller, Error, RequestContext};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::cookie::{self, SessionCookie};
use crate::problem::is_for_part;
use crate::state::Console;
use crate::view::{Frame, FrameSession};

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
    let is_secure = console.settings.is_secure(&parts);
    let sent = SessionCookie::read(&parts.headers, is_secure);
    let had_cookie = sent.is_some();
    let (session, is_new) = match sent {
        Some(sent) => match current(&console, &context, sent).await {
            Ok(found) => found,
            Err(problem) => return problem.into_response(),
        },
        None => (None, false),
    };
    let set_cookie = match &session {
        Some(session) if is_new => session.header(is_secure),
        Some(_) => None,
        None if had_cookie => cookie::forgotten(is_secure),
        None => None,
    };
    if let Some(session) = session
        && let Ok(mut bearer) = HeaderValue::from_str(&format!("Bearer {}", session.access.expose()))
    {
        bearer.set_sensitive(true);
        parts.headers.insert(header::AUTHORIZATION, bearer);
        parts.extensions.insert(session);
    }
    let mut response = next.run(Request::from_parts(parts, body)).await;
    // A handler that begins or ends a session has set the cookie itself.
    if let Some(set_cookie) = set_cookie
        && !response.headers().contains_key(header::SET_COOKIE)
    {
        response.headers_mut().insert(header::SET_COOKIE, set_cookie);
    }
    response
}

/// Returns the session with tokens that are valid now, if it has not ended, and whether its tokens are new.
async fn current(
    console: &Console,
    context: &RequestContext,
    sent: SessionCookie,
) -> Result<(Option<SessionCookie>, bool), Problem> {
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
    form_token: String,
}

impl FromRequestParts<Console> for SignedIn {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, console: &Console) -> Result<Self, Response> {
        let form_token = parts.extensions.get::<SessionCookie>().map(SessionCookie::form_token);
        let Some(form_token) = form_token else { return Err(to_sign_in(parts, console)) };
        match Authenticated::from_request_parts(parts, console).await {
            Ok(Authenticated(caller)) => Ok(Self { caller, form_token }),
            Err(problem) => {
                let response = problem.into_response();
                let has_ended = response.status() == StatusCode::UNAUTHORIZED;
                Err(if has_ended { to_sign_in(parts, console) } else { response })
            }
        }
    }
}

impl SignedIn {
    /// Returns the frame of a page of this person.
    pub(crate) async fn frame(&self, console: &Console) -> Result<Frame, Problem> {
        let me = console.iam.sessions().me(&self.caller).await?;
        Ok(self.frame_for(console, me.user.email.as_str()))
    }

    /// Does the same for a person whose e-mail is known.
    pub(crate) fn frame_for(&self, console: &Console, email: &str) -> Frame {
        let session = FrameSession { email: email.to_owned(), form_token: self.form_token.clone() };
        Frame { base: console.base().to_owned(), session: Some(session) }
    }
}

/// Leads to the page on which a person signs in, and from there back to where it wanted to go.
fn to_sign_in(parts: &Parts, console: &Console) -> Response {
    let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
    let is_page = parts.method.is_safe() && !is_for_part(&parts.headers);
    let wanted = uri.path_and_query().map_or("", |path| path.as_str());
    let had_session = parts.headers.contains_key(header::COOKIE) && wanted.len() > console.base().len();
    let mut query = Vec::new();
    if is_page && wanted != console.base() {
        query.push(format!("next={}", utf8_percent_encode(wanted, NON_ALPHANUMERIC)));
    }
    if had_session || !is_page {
        query.push("ended=1".to_owned());
    }
    let mark = if query.is_empty() { "" } else { "?" };
    let address = format!("{}/sign-in{mark}{}", console.base(), query.join("&"));
    let forgotten = cookie::forgotten(console.settings.is_secure(parts));
    let headers = AppendHeaders(forgotten.map(|value| (header::SET_COOKIE, value)));
    if is_for_part(&parts.headers) {
        // htmx follows a redirect without telling the page, and would show the sign-in page inside of it.
        ([("hx-redirect", address)], headers, StatusCode::NO_CONTENT).into_response()
    } else {
        (headers, Redirect::to(&address)).into_response()
    }
}

/// Returns where a person goes after it has signed in: only to a page of the console.
pub(crate) fn destination(console: &Console, wanted: &str) -> String {
    let base = console.base();
    let is_own = wanted.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    let is_plain = wanted.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') && !wanted.contains("//");
    if is_own && is_plain && !wanted.is_empty() { wanted.to_owned() } else { base.to_owned() }
}
