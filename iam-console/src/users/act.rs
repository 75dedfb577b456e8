//! A person acts as a user in the same browser, until it stops.

use axum::Extension;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::TimeDelta;
use iam_axum::{PathId, Problem};
use iam_core::session::NewImpersonation;
use iam_core::{FieldError, UserId};

use crate::cookie::{SessionCookie, with_cookie};
use crate::form::Form;
use crate::problem::refused_form;
use crate::session::{SignedIn, WithoutFactor};
use crate::state::Console;
use crate::users::one::page_of;

pub(super) async fn begin(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    parts: Parts,
    Extension(session): Extension<SessionCookie>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let new = NewImpersonation {
        reason: form.get("reason").to_owned(),
        duration: TimeDelta::seconds(form.get("seconds").parse::<u32>().unwrap_or_default().into()),
        read_only: form.has("readOnly"),
    };
    match console.iam.sessions().impersonate(&signed_in.caller, id, new).await {
        Ok((_, token)) => {
            let cookies = session.acting_by(Some(token)).headers(console.settings.cookie(&parts));
            Ok(with_cookie(cookies, Redirect::to(console.home())))
        }
        Err(error) => {
            refused_form(error, async |errors: Vec<FieldError>, error| {
                let mut shown = page_of(&console, &signed_in, id, (None, &[])).await?;
                shown.act = shown.act.take().map(|field| field.shown(&form, &errors));
                shown.error = error;
                Ok(shown)
            })
            .await
        }
    }
}

/// Leads back to the page of the user. The person is itself again.
pub(super) async fn stop(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
    Extension(session): Extension<SessionCookie>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let Some(user) = caller.user().filter(|_| caller.impersonator().is_some()) else {
        return Ok(Redirect::to(console.home()).into_response());
    };
    console.iam.sessions().logout(caller).await?;
    let cookies = session.acting_by(None).headers(console.settings.cookie(&parts));
    Ok(with_cookie(cookies, Redirect::to(&format!("{}/users/{user}", console.base()))))
}
