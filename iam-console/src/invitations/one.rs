use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::clock::Timestamp;
use iam_core::invitation::{Invitation, InvitationStatus};
use iam_core::{Error, InvitationId, OrganizationId, RoleId};
use serde::Deserialize;

use crate::problem::{if_allowed, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::suspended;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    invitation: Invitation,
    roles: Vec<Offered>,
}

/// A role of the invitation, by names where the caller may see them.
struct Offered {
    role: String,
    organization: Option<String>,
    until: Option<Timestamp>,
    /// Why the role would give nothing for now; empty if it would give something.
    warning: &'static str,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "invited" => text::t("invited"),
            "resent" => text::t("invitation-resent"),
            "revoked" => text::t("invitation-revoked"),
            _ => "",
        }
    }
}

/// Returns an invitation with the names of its roles, of which there are 50 at most.
async fn page_of(console: &Console, signed_in: &SignedIn, id: InvitationId) -> Result<InvitationPage, Problem> {
    let invitation = console.iam.invitations().get(&signed_in.caller, id).await?;
    let mut roles = Vec::new();
    for role in &invitation.roles {
        let organization = match role.organization_id {
            Some(id) => Some(organization_name(console, signed_in, id).await?),
            None => None,
        };
        let name = role_name(console, signed_in, role.role_id).await?;
        let place = role.organization_id.filter(|_| invitation.status == InvitationStatus::Pending);
        let warning = suspended::warning(&console.iam, &signed_in.caller, place).await?;
        roles.push(Offered { role: name, organization, until: role.expires_at, warning });
    }
    let frame = signed_in.frame(console).await?;
    Ok(InvitationPage { frame, notice: "", error: String::new(), invitation, roles })
}

async fn role_name(console: &Console, signed_in: &SignedIn, id: RoleId) -> Result<String, Error> {
    let role = if_allowed(console.iam.roles().get(&signed_in.caller, id).await)?;
    Ok(role.map_or_else(|| id.to_string(), |role| role.name.to_string()))
}

async fn organization_name(console: &Console, signed_in: &SignedIn, id: OrganizationId) -> Result<String, Error> {
    let found = if_allowed(console.iam.organizations().get(&signed_in.caller, id).await)?;
    Ok(found.map_or_else(|| id.to_string(), |found| found.organization.name.to_string()))
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<InvitationId>,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let shown = page_of(&console, &signed_in, id).await?;
    page(StatusCode::OK, &InvitationPage { notice: done.notice(), ..shown })
}

pub(super) async fn resend(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<InvitationId>,
) -> Result<Response, Problem> {
    let result = console.iam.invitations().resend(&signed_in.caller, id).await;
    answer(&console, &signed_in, id, result.map(|()| "resent")).await
}

pub(super) async fn revoke(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<InvitationId>,
) -> Result<Response, Problem> {
    let result = console.iam.invitations().delete(&signed_in.caller, id).await;
    answer(&console, &signed_in, id, result.map(|()| "revoked")).await
}

/// Leads back to the page of the invitation, or shows there why the call was refused.
async fn answer(
    console: &Console,
    signed_in: &SignedIn,
    id: InvitationId,
    result: Result<&'static str, Error>,
) -> Result<Response, Problem> {
    match result {
        Ok(done) => Ok(Redirect::to(&format!("{}/invitations/{id}?done={done}", console.base())).into_response()),
        Err(error) => {
            let shown = page_of(console, signed_in, id).await?;
            refused_in_place(error, |error| InvitationPage { error, ..shown })
        }
    }
}
