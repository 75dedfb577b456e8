//! Invitations: a list, a page for each, and a form for a new one.

mod list;
mod new;
mod one;

use axum::Router;
use axum::routing::{get, post};
use iam_core::invitation::{Invitation, InvitationStatus};

use crate::state::Console;
use crate::text;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/invitations", get(list::show))
        .route("/invitations/new", get(new::show).post(new::create))
        .route("/invitations/{id}", get(one::show))
        .route("/invitations/{id}/resend", post(one::resend))
        .route("/invitations/{id}/revoke", post(one::revoke))
}

const STATUSES: [InvitationStatus; 4] =
    [InvitationStatus::Pending, InvitationStatus::Accepted, InvitationStatus::Revoked, InvitationStatus::Expired];

fn text_of(status: &InvitationStatus) -> &'static str {
    match status {
        InvitationStatus::Pending => text::t("pending"),
        InvitationStatus::Accepted => text::t("accepted"),
        InvitationStatus::Revoked => text::t("revoked"),
        InvitationStatus::Expired => text::t("expired"),
    }
}

/// Returns the name that an invitation proposes; empty if it proposes none.
fn name_of(invitation: &Invitation) -> String {
    let names = [&invitation.first_name, &invitation.last_name].into_iter().flatten();
    names.map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
}
