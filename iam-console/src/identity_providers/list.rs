use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::DomainId;
use iam_core::identity_provider::IdentityProvider;
use serde::Deserialize;

use crate::problem::if_allowed;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "identity-providers.html")]
struct ProvidersPage {
    frame: Frame,
    notice: &'static str,
    providers: Vec<Listed>,
}

struct Listed {
    provider: IdentityProvider,
    /// The names of its domains, or their ids if the caller may not see them.
    domains: String,
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
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let providers = iam.identity_providers().list(caller).await?;
    let domains = if_allowed(iam.domains().list(caller).await)?.unwrap_or_default();
    let names: BTreeMap<DomainId, String> =
        domains.into_iter().map(|domain| (domain.id, domain.name.to_string())).collect();
    let name_of = |id: &DomainId| names.get(id).cloned().unwrap_or_else(|| id.to_string());
    let listed = |provider: IdentityProvider| {
        let domains = provider.domain_ids.iter().map(name_of).collect::<Vec<_>>().join(", ");
        Listed { provider, domains }
    };
    let providers = providers.into_iter().map(listed).collect();
    let frame = signed_in.frame(&console).await?;
    let notice = if done.done == "removed" { text::t("identity-provider-removed") } else { "" };
    page(StatusCode::OK, &ProvidersPage { frame, notice, providers })
}
