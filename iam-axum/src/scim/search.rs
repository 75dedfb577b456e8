use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use iam_core::Iam;
use iam_scim::list_response;
use iam_scim::query::Parameters;

use crate::long::processed;
use crate::scim::answer::{Scim, user_resource};
use crate::scim::error::Refusal;
use crate::scim::groups::FoundGroups;
use crate::scim::request::Sent;
use crate::scim_url::ScimUrl;

/// `POST /.search`, which searches all resources: the users, and after the last of them the groups.
pub(super) async fn search_all(
    State(iam): State<Iam>,
    ScimUrl(base): ScimUrl,
    Sent(caller, body): Sent,
) -> Result<Response, Refusal> {
    let (of_users, of_groups) = Parameters::from_search(&body)?.of_all()?;
    let (skipped, count) = (of_users.start_index.saturating_sub(1), of_users.count);
    let (users, total) = iam.provisioning().list(&caller, &of_users.condition, of_users.sort, skipped, count).await?;
    let left = count.saturating_sub(u32::try_from(users.len()).unwrap_or(count));
    let groups = FoundGroups::of(&iam, &caller, &of_groups, skipped.saturating_sub(total), left).await?;
    let size = groups.size();
    let write = move || {
        let total = total.saturating_add(groups.total);
        let users = users.iter().map(|found| of_users.projection.apply(user_resource(&base, found)));
        let resources = users.chain(groups.into_resources(&base, &of_groups.projection)).collect();
        Scim(list_response(resources, total, of_users.start_index)).into_response()
    };
    Ok(processed(&iam, &caller, size, write).await?)
}
