use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::IdentityProviderId;
use iam_core::directory::{Directory, DirectoryActivity};
use serde::Deserialize;

use crate::names::Names;
use crate::problem::if_allowed;
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "directories.html")]
struct DirectoriesPage {
    frame: Frame,
    notice: &'static str,
    directories: Vec<Listed>,
}

struct Listed {
    directory: Directory,
    activity: DirectoryActivity,
    /// The name of its service account, or its id if the caller may not see it.
    account: String,
    /// The name of its provider, or its id if the caller may not see it. `None` if it has none.
    provider: Option<String>,
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
    let directories = iam.directories().list(caller).await?;
    let accounts = directories.iter().map(|(directory, _)| directory.service_account_id);
    let names = Names::read(iam, caller, accounts, []).await?;
    let providers = if_allowed(iam.identity_providers().list(caller).await)?.unwrap_or_default();
    let providers: BTreeMap<IdentityProviderId, String> =
        providers.into_iter().map(|provider| (provider.id, provider.name.to_string())).collect();
    let name_of = |id: IdentityProviderId| providers.get(&id).cloned().unwrap_or_else(|| id.to_string());
    let listed = |(directory, activity): (Directory, DirectoryActivity)| Listed {
        account: names.user(directory.service_account_id),
        provider: directory.identity_provider_id.map(name_of),
        directory,
        activity,
    };
    let directories = directories.into_iter().map(listed).collect();
    let frame = signed_in.frame(&console).await?;
    let notice = if done.done == "removed" { text::t("directory-removed") } else { "" };
    page(StatusCode::OK, &DirectoriesPage { frame, notice, directories })
}
