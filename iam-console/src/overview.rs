//! The first page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::page::PageRequest;
use iam_core::session::{AuthenticatedBy, Me, Session};
use iam_core::user::{UserFilter, UserSort, UserStatus};
use iam_core::{Caller, Error, Iam};

use crate::activity::Activity;
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
    /// `None` if the caller may not see any user.
    users: Option<[(UserStatus, u64); 3]>,
    /// `None` if the caller may not read the audit log.
    activity: Option<Activity>,
}

/// Counts the users that the caller may see.
async fn users_by_status(iam: &Iam, caller: &Caller) -> Result<Option<[(UserStatus, u64); 3]>, Error> {
    let mut counts = [UserStatus::Active, UserStatus::Suspended, UserStatus::Inactive].map(|status| (status, 0));
    for (status, count) in &mut counts {
        let filter = UserFilter { status: Some(*status), ..UserFilter::default() };
        match iam.users().list(caller, &filter, UserSort::default(), PageRequest::new(1, 1)?).await {
            Ok(found) => *count = found.total,
            Err(Error::Forbidden(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(counts))
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
    let users = users_by_status(&console.iam, &signed_in.caller).await?;
    let activity = Activity::read(&console.iam, &signed_in.caller).await?;
    page(StatusCode::OK, &Overview { frame, session, roles, users, activity, me })
}
