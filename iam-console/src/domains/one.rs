use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::domain::Domain;
use iam_core::{DomainId, Error};
use serde::Deserialize;

use crate::problem::refused_in_place;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Copied, Frame, page};

#[derive(Template)]
#[template(path = "domain.html")]
struct DomainPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    domain: Domain,
    record: Vec<Copied>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "added" => text::t("domain-added"),
            "verified" => text::t("domain-is-verified"),
            _ => "",
        }
    }
}

async fn page_of(console: &Console, signed_in: &SignedIn, id: DomainId) -> Result<DomainPage, Problem> {
    let domain = console.iam.domains().get(&signed_in.caller, id).await?;
    let name = Copied { id: "record-name", label: text::t("name"), text: domain.record_name() };
    let value = Copied { id: "record-value", label: text::t("record-value"), text: domain.record_value() };
    let frame = signed_in.frame(console).await?;
    Ok(DomainPage { frame, notice: "", error: String::new(), domain, record: vec![name, value] })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DomainId>,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let shown = page_of(&console, &signed_in, id).await?;
    page(StatusCode::OK, &DomainPage { notice: done.notice(), ..shown })
}

/// Looks for the record.
pub(super) async fn verify(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DomainId>,
) -> Result<Response, Problem> {
    match console.iam.domains().verify(&signed_in.caller, id).await {
        Ok(_) => Ok(Redirect::to(&format!("{}/domains/{id}?done=verified", console.base())).into_response()),
        Err(error) => refuse(&console, &signed_in, id, error).await,
    }
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<DomainId>,
) -> Result<Response, Problem> {
    match console.iam.domains().delete(&signed_in.caller, id).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/domains?done=removed", console.base())).into_response()),
        Err(error) => refuse(&console, &signed_in, id, error).await,
    }
}

/// Shows on the page of the domain why a call was refused. The domain is read again: a failed check is kept.
async fn refuse(console: &Console, signed_in: &SignedIn, id: DomainId, error: Error) -> Result<Response, Problem> {
    let shown = page_of(console, signed_in, id).await?;
    refused_in_place(error, |error| DomainPage { error, ..shown })
}
