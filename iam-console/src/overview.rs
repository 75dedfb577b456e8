//! The first page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::session::{AuthenticatedBy, Me, Session};

use crate::english;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    me: Me,
    session: Option<Session>,
    /// Each role, with where it is held.
    roles: Vec<(String, String)>,
}

pub(crate) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    let me = console.iam.sessions().me(&signed_in.caller).await?;
    let frame = signed_in.frame_for(&console, me.user.email.as_str());
    let session = match &me.by {
        AuthenticatedBy::Session(session) => Some(session.clone()),
        AuthenticatedBy::ApiKey(_) => None,
    };
    let roles = me.grants.iter().map(|grant| {
        let place = grant.organization.as_ref().map_or(english::WHOLE_TENANT, |organization| &organization.name);
        (grant.role.name.to_string(), place.to_owned())
    });
    let roles = roles.collect();
    page(StatusCode::OK, &Overview { frame, session, roles, me })
}
