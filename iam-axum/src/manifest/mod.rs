//! `/tenants/{id}/apply` and `/tenants/{id}/manifest` (`docs/manifests.md`).

mod schema;

use axum::extract::{DefaultBodyLimit, FromRef as _, FromRequest, Request, State};
use axum::response::Response;
use iam_core::manifest::{Manifest, PlannedChange};
use iam_core::{Caller, Iam, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::description::{Problems, TENANTS};
use crate::extract::{Authenticated, JSON, Params, PathId, Query, call, is_of_type, own_tenant, parse, truth};
use crate::long::{ITEM, json, processed};
use crate::manifest::schema::ManifestDto;
use crate::preview::{PreviewDto, Target};
use crate::problem::{Kind, Problem};
use crate::state::ApiState;

/// The maximum size of a manifest, in bytes (`docs/manifests.md#limits`).
const MAX_MANIFEST: usize = 1024 * 1024;

/// A change that a manifest makes, or would make.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ManifestChange)]
pub(crate) struct ChangeDto {
    /// What is done: `CREATE`, `UPDATE` or `REMOVE`.
    #[schema(example = "CREATE")]
    action: &'static str,
    /// To what: `SETTINGS`, `PERMISSION`, `ROLE`, `ORGANIZATION`, `SERVICE_ACCOUNT`,
    /// `ROLE_ASSIGNMENT`, `WEBHOOK`, `IDENTITY_PROVIDER` or `DIRECTORY`.
    #[schema(example = "ROLE")]
    kind: &'static str,
    /// The name of the item for people, an organization and an identity provider by its slug, a webhook by its
    /// address, a directory by its service account. Empty for the settings.
    #[schema(example = "PARCEL_CLERK")]
    name: String,
    /// Identifies the item. Null for the settings. An item that a preview would make exists nowhere else.
    #[schema(required)]
    id: Option<Uuid>,
    /// The fields that change, as they are; all fields of an item that is removed. In place of a secret stands
    /// `(former secret)`.
    #[schema(value_type = BTreeMap<String, Value>, example = json!({}))]
    before: Map<String, Value>,
    /// The fields that change, as they become; all fields of an item that is made. In place of a secret stands
    /// `(new secret)`.
    #[schema(value_type = BTreeMap<String, Value>, example = json!({ "name": "PARCEL_CLERK", "scope": "ANY" }))]
    after: Map<String, Value>,
}

impl From<PlannedChange> for ChangeDto {
    fn from(change: PlannedChange) -> Self {
        Self {
            action: change.action.as_str(),
            kind: change.kind.as_str(),
            name: change.name,
            id: change.id,
            before: change.before,
            after: change.after,
        }
    }
}

/// What a manifest has changed, or would change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppliedManifest)]
pub(crate) struct AppliedDto {
    /// The changes, in their order. There are none if the tenant was so already.
    changes: Vec<ChangeDto>,
    /// What the changes would do to the rights of users. Only a preview has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    preview: Option<PreviewDto>,
}

/// How a manifest is applied.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ApplyQuery {
    /// `true` for a preview: nothing is changed, and the response says what would change, and who would gain or lose
    /// which right.
    #[param(value_type = Option<bool>, default = false)]
    #[expect(dead_code, reason = "`Target` reads it")]
    preview: Option<String>,
    /// `true` to remove what manifests have made and this one does not name.
    #[param(value_type = Option<bool>, default = false)]
    prune: Option<String>,
}

impl ApplyQuery {
    fn prune(&self) -> Result<bool, Problem> {
        let mut params = Params::default();
        let prune = params.parse_with("prune", self.prune.as_deref(), truth);
        params.finish()?;
        Ok(prune.unwrap_or(false))
    }
}

/// The sender of a request, and the manifest that it has sent.
pub(crate) struct SentManifest(Caller, Manifest);

impl FromRequest<ApiState> for SentManifest {
    type Rejection = Problem;

    async fn from_request(mut request: Request, state: &ApiState) -> Result<Self, Problem> {
        DefaultBodyLimit::max(MAX_MANIFEST).apply(&mut request);
        let too_large = |problem: Problem| {
            let is_too_large = problem.is_of(Kind::PayloadTooLarge);
            if is_too_large { problem.detail("A manifest may have 1 MiB at most.") } else { problem }
        };
        let (caller, bytes) = call(request, state, |headers| is_of_type(headers, JSON)).await.map_err(too_large)?;
        let size = bytes.len();
        let manifest = processed(&Iam::from_ref(state), &caller, size, move || parse(&bytes)).await?;
        Ok(Self(caller, manifest?))
    }
}

/// Apply a manifest
///
/// Makes the tenant what the manifest says, by all changes or by none. To apply it again changes nothing. The caller also
/// needs the permission to read what the manifest names, and everything that the changes need one by one: their
/// permissions, and the rights that they give. A refused change is named in `errors`. No API key makes or changes an
/// identity provider.
#[utoipa::path(
    post,
    path = "/tenants/{id}/apply",
    operation_id = "applyManifest",
    tag = TENANTS,
    params(("id" = Uuid, Path, description = "The tenant"), ApplyQuery),
    request_body = ManifestDto,
    responses((status = 200, description = "What has changed, or would change", body = AppliedDto), Problems),
    extensions(
        ("x-required-permission" = json!("tenants:read")),
        ("x-problems" = json!(["conflict", "insufficient-authentication", "legal-hold", "unavailable", "validation"])),
    ),
)]
pub(crate) async fn apply(
    Authenticated(sender): Authenticated,
    State(iam): State<Iam>,
    target: Target,
    PathId(id): PathId<TenantId>,
    Query(query): Query<ApplyQuery>,
    SentManifest(caller, manifest): SentManifest,
) -> Result<Response, Problem> {
    own_tenant(&sender, id)?;
    let prune = query.prune()?;
    let (changes, preview) = match &target {
        Target::Change(iam) => (iam.manifests().apply(&caller, &manifest, prune).await?, None),
        Target::Preview(previewing) => {
            let previewed = iam.manifests().preview(&caller, &manifest, prune).await?;
            (previewed.changes, Some(previewing.shown(previewed.preview)))
        }
    };
    let rows = changes.len() + preview.as_ref().map_or(0, PreviewDto::rows);
    let applied = move || AppliedDto { changes: changes.into_iter().map(ChangeDto::from).collect(), preview };
    json(&iam, &caller, rows * ITEM, applied).await
}

/// Get the manifest
///
/// It names everything that a manifest can name, so to apply it changes nothing. Not in it are built-in permissions and
/// roles, people, and the roles that service accounts hold by access requests or by groups of directories. The caller
/// also needs `permissions:read`, `roles:read`, `organizations:read`, `users:read`, `role-assignments:read`,
/// `webhooks:read`, `directories:read`, `identity-providers:read` and `domains:read`.
#[utoipa::path(
    get,
    path = "/tenants/{id}/manifest",
    operation_id = "exportManifest",
    tag = TENANTS,
    params(("id" = Uuid, Path, description = "The tenant")),
    responses((status = 200, description = "The manifest", body = ManifestDto), Problems),
    extensions(("x-required-permission" = json!("tenants:read")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn export(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<TenantId>,
) -> Result<Response, Problem> {
    own_tenant(&caller, id)?;
    let manifest = iam.manifests().export(&caller).await?;
    json(&iam, &caller, manifest.items() * ITEM, move || manifest).await
}
