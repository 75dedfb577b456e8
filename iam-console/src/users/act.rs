//! A person acts as a user in the same browser, until it stops.

use axum::Extension;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use chrono::TimeDelta;
use iam_axum::{PathId, Problem};
use iam_core::session::NewImpersonation;
use iam_core::user::{User, UserStatus};
use iam_core::{FieldError, UserId, permission};

use crate::cookie::{SessionCookie, with_cookie};
use crate::english;
use crate::form::Form;
use crate::problem::refused_form;
use crate::session::{SignedIn, WithoutFactor};
use crate::state::Console;
use crate::users::one::page_of;
use crate::view::{Field, Frame};

/// Returns the field for the reason, if the person may act as users and can act as this one.
pub(super) fn reason(frame: &Frame, user: &User, is_self: bool) -> Option<Field> {
    let may_act = frame.acting().is_none() && frame.may_everywhere(&permission::IMPERSONATIONS_CREATE);
    let is_possible = !is_self && user.status == UserStatus::Active && user.service_name().is_none();
    (may_act && is_possible).then(|| Field::text("reason", english::REASON).with_hint(english::ACT_REASON_HINT))
}

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
            let cookie = session.acting_by(Some(token)).header(console.settings.cookie(&parts));
            Ok(with_cookie(cookie, Redirect::to(console.home())))
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
    let cookie = session.acting_by(None).header(console.settings.cookie(&parts));
    Ok(with_cookie(cookie, Redirect::to(&format!("{}/users/{user}", console.base()))))
}
