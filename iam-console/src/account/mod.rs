//! The account of the person who is signed in: its password, its e-mail, its attributes, its second factors, its accounts
//! at identity providers, its sessions and its keys.

mod attributes;
mod factors;
pub(crate) mod identities;
mod linked;
mod passkeys;
mod preferences;
mod profile;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use iam_axum::Problem;
use iam_core::factor::{Factor, FactorKind, FactorList};
use iam_core::session::{Me, Session};
use iam_core::user::User;
use iam_core::{Error, FieldError, SessionId};
use serde::Deserialize;

use crate::account::linked::Linked;
use crate::attributes::OwnAttributes;
use crate::confirm;
use crate::form::Form;
use crate::keys::{self, Keys};
use crate::problem::refused_in_place;
use crate::query::Query;
use crate::session::{SignedIn, WithoutFactor};
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/account", get(show))
        .route("/account/password", get(profile::show_password).post(profile::change_password))
        .route("/account/email", get(profile::show_email).post(profile::change_email))
        .route("/account/attributes", post(attributes::change))
        .route("/account/density", post(preferences::choose_density))
        .route("/account/language", post(preferences::choose_language))
        .route("/account/theme", post(preferences::choose_theme))
        .route("/account/second-factor", post(use_factor))
        .route("/account/verification", post(profile::send_verification))
        .route("/account/end-session", post(end_session))
        .route("/account/end-other-sessions", post(end_other_sessions))
        .route("/account/revoke-key", post(revoke_key))
        .route("/account/authenticator", get(factors::show_authenticator).post(factors::add_authenticator))
        .route("/account/authenticator/confirm", post(factors::confirm_authenticator))
        .route("/account/recovery-codes", get(factors::show_recovery_codes).post(factors::issue_recovery_codes))
        .route("/account/factors/{id}", get(factors::show_name).post(factors::rename))
        .route("/account/factors/{id}/remove", post(factors::remove))
        .route("/account/identities/start", post(identities::start))
        .route("/account/identities/{id}/remove", post(identities::remove))
        .route("/account/passkey", get(passkeys::show).post(passkeys::add))
        .route("/account/passkey/options", post(passkeys::options))
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    me: Me,
    /// `None` if the tenant shows none to persons, and in a session that can only be used to set up a factor.
    attributes: Option<OwnAttributes>,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    /// Whether the session can only be used to set up a factor.
    is_restricted: bool,
    factors: FactorList,
    has_passkeys: bool,
    sends_mail: bool,
    /// `None` where the console offers no provider, and in a session that can only be used to set up a factor.
    linked: Option<Linked>,
    /// `None` in such a session.
    sessions: Option<Vec<(Session, Option<User>)>>,
    /// `None` in such a session, too.
    keys: Option<Keys>,
    current: Option<SessionId>,
}

impl AccountPage {
    /// Whether the session is restricted until the person authenticates by a factor that it has.
    fn has_unused_factor(&self) -> bool {
        self.is_restricted && !self.factors.factors.is_empty()
    }

    fn is_current(&self, session: &Session) -> bool {
        self.current == Some(session.id)
    }
}

fn kind_of(factor: &Factor) -> &'static str {
    match factor.kind {
        FactorKind::Totp => text::t("authenticator"),
        FactorKind::Passkey => text::t("passkey"),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "password" => text::t("password-changed"),
            "email" => text::t("email-link-sent"),
            "attributes" => text::t("saved"),
            "verification" => text::t("verification-sent"),
            "session" => text::t("session-was-ended"),
            "sessions" => text::t("other-sessions-ended"),
            "factor" => text::t("factor-added"),
            "renamed" => text::t("saved"),
            "removed" => text::t("factor-removed"),
            "linked" => text::t("account-linked"),
            "unlinked" => text::t("link-removed"),
            "link-late" => text::t("return-late"),
            "key-revoked" => text::t("key-revoked"),
            _ => "",
        }
    }
}

async fn page_of(console: &Console, person: &WithoutFactor) -> Result<AccountPage, Problem> {
    page_with(console, person, (None, &[])).await
}

/// Returns the page, with the typed values of the attributes and their errors if their form is shown again.
async fn page_with(
    console: &Console,
    person: &WithoutFactor,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<AccountPage, Problem> {
    let WithoutFactor { signed_in, is_restricted } = person;
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let me = iam.sessions().me(caller).await?;
    let frame = signed_in.frame_for(console, &me);
    let (linked, sessions, keys) = if *is_restricted {
        (None, None, None)
    } else {
        let sessions = iam.sessions().list_with_actors(caller, me.user.id).await?;
        let keys = Keys::of(console, signed_in, &frame, me.user.id).await?;
        (Linked::of(console, signed_in).await?, Some(sessions), Some(keys))
    };
    let seen = me.attributes.as_ref().filter(|_| !*is_restricted);
    let attributes = seen.and_then(|seen| OwnAttributes::of(&me.tenant.user_attributes, seen, (form, errors)));
    Ok(AccountPage {
        frame,
        attributes,
        version: form.map_or_else(|| me.user.version.to_string(), |form| form.get("version").to_owned()),
        sends_mail: iam.sends_mail(),
        notice: "",
        error: String::new(),
        is_restricted: *is_restricted,
        factors: iam.factors().list(caller).await?,
        has_passkeys: console.has_passkeys(),
        linked,
        sessions,
        keys,
        current: caller.require_user().ok().map(|(_, session)| session),
        me,
    })
}

async fn show(
    State(console): State<Console>,
    person: WithoutFactor,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &AccountPage { notice: done.notice(), ..page_of(&console, &person).await? })
}

/// The guard of forms asks for the second factor, before this leads on.
async fn use_factor(State(console): State<Console>, _: SignedIn) -> Response {
    Redirect::to(console.home()).into_response()
}

async fn end_session(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let result = match form.get("session").parse::<SessionId>() {
        Ok(session) => console.iam.sessions().terminate(&signed_in.caller, session).await,
        Err(invalid) => Err(Error::field("session", invalid.to_string())),
    };
    answer(&console, signed_in.into(), result.map(|()| "session")).await
}

/// Ends the sessions of the person one by one, except the one of this page.
async fn end_other_sessions(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    let result = end_others(&console, &signed_in).await;
    answer(&console, signed_in.into(), result.map(|()| "sessions")).await
}

async fn end_others(console: &Console, signed_in: &SignedIn) -> Result<(), Error> {
    let (user, current) = signed_in.caller.require_user()?;
    let sessions = console.iam.sessions();
    for session in sessions.list(&signed_in.caller, user).await? {
        if session.id == current {
            continue;
        }
        match sessions.terminate(&signed_in.caller, session.id).await {
            // It has ended meanwhile.
            Ok(()) | Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn revoke_key(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if !confirm::is_confirmed(&form) {
        let (own, _) = signed_in.caller.require_user()?;
        return keys::ask(&console, &signed_in, own, form).await;
    }
    let result = keys::revoke(&console, &signed_in, &form).await;
    answer(&console, signed_in.into(), result.map(|()| "key-revoked")).await
}

/// Leads back to the account, or shows there why the call was refused.
async fn answer(
    console: &Console,
    person: WithoutFactor,
    result: Result<&'static str, Error>,
) -> Result<Response, Problem> {
    match result {
        Ok(done) => Ok(back(console, done)),
        Err(error) => {
            let shown = page_of(console, &person).await?;
            refused_in_place(error, |error| AccountPage { error, ..shown })
        }
    }
}

fn back(console: &Console, done: &str) -> Response {
    Redirect::to(&format!("{}/account?done={done}", console.base())).into_response()
}
