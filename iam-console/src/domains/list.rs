use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::domain::Domain;
use serde::Deserialize;

use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "domains.html")]
struct DomainsPage {
    frame: Frame,
    notice: &'static str,
    domains: Vec<Domain>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let domains = console.iam.domains().list(&signed_in.caller).await?;
    let frame = signed_in.frame(&console).await?;
    let notice = if done.done == "removed" { text::t("domain-removed") } else { "" };
    page(StatusCode::OK, &DomainsPage { frame, notice, domains })
}
