//! `/organizations` (`docs/http-api.md#organizations`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::attribute::Attributes;
use iam_core::organization::{
    NewOrganization, Organization, OrganizationFilter, OrganizationPatch, OrganizationSort, OrganizationSortKey,
    OrganizationStatus, OrganizationTree, OrganizationWithAttributes, OrganizationWithDepth, ParentFilter,
};
use iam_core::{Iam, OrganizationId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::attribute::{SentAttributes, sent};
use crate::conditional::{IfMatch, Tagged};
use crate::description::{ORGANIZATIONS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query, nullable};
use crate::idempotency::RequestKey;
use crate::long::{ITEM, json};
use crate::page::{Collection, List, PageQuery, SortOrderDto, sort_order};
use crate::preview::Target;
use crate::problem::Problem;
use crate::time::Time;

/// A part of a tenant. Organizations form a tree.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Organization)]
pub(crate) struct OrganizationDto {
    id: Uuid,
    name: String,
    slug: String,
    #[schema(inline)]
    status: OrganizationStatusDto,
    /// The organization above. Null for a root.
    #[schema(required)]
    parent_id: Option<Uuid>,
    /// How many organizations are above it.
    depth: u32,
    /// What the tenant keeps of the organization beside the other fields. Absent if there is nothing, in lists, and in
    /// the response to a change.
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    #[schema(required = false, value_type = BTreeMap<String, Value>)]
    attributes: Attributes,
    created_at: Time,
    updated_at: Time,
}

/// Whether roles that are held in an organization are in force.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum OrganizationStatusDto {
    Active,
    Suspended,
    Inactive,
}

impl From<OrganizationStatus> for OrganizationStatusDto {
    fn from(status: OrganizationStatus) -> Self {
        match status {
            OrganizationStatus::Active => Self::Active,
            OrganizationStatus::Suspended => Self::Suspended,
            OrganizationStatus::Inactive => Self::Inactive,
        }
    }
}

impl From<OrganizationStatusDto> for OrganizationStatus {
    fn from(status: OrganizationStatusDto) -> Self {
        match status {
            OrganizationStatusDto::Active => Self::Active,
            OrganizationStatusDto::Suspended => Self::Suspended,
            OrganizationStatusDto::Inactive => Self::Inactive,
        }
    }
}

impl From<OrganizationWithDepth> for OrganizationDto {
    fn from(OrganizationWithDepth { organization, depth, .. }: OrganizationWithDepth) -> Self {
        Self {
            id: organization.id.as_uuid(),
            name: organization.name.into(),
            slug: organization.slug.into(),
            status: organization.status.into(),
            parent_id: organization.parent_id.map(OrganizationId::as_uuid),
            depth,
            attributes: Attributes::default(),
            created_at: Time(organization.created_at),
            updated_at: Time(organization.updated_at),
        }
    }
}

impl From<OrganizationWithAttributes> for OrganizationDto {
    fn from(OrganizationWithAttributes { placed, attributes, .. }: OrganizationWithAttributes) -> Self {
        Self { attributes, ..placed.into() }
    }
}

/// An organization directly below another one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChildOrganization {
    id: Uuid,
    name: String,
    slug: String,
    #[schema(inline)]
    status: OrganizationStatusDto,
    #[schema(required)]
    parent_id: Option<Uuid>,
}

impl From<Organization> for ChildOrganization {
    fn from(organization: Organization) -> Self {
        Self {
            id: organization.id.as_uuid(),
            name: organization.name.into(),
            slug: organization.slug.into(),
            status: organization.status.into(),
            parent_id: organization.parent_id.map(OrganizationId::as_uuid),
        }
    }
}

/// An organization with everything below it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeNode {
    id: Uuid,
    name: String,
    slug: String,
    #[schema(inline)]
    status: OrganizationStatusDto,
    /// How many organizations are above it, up to the root of the whole hierarchy.
    depth: u32,
    #[schema(no_recursion)]
    children: Vec<TreeNode>,
}

impl From<OrganizationTree> for TreeNode {
    fn from(OrganizationTree { organization, depth, children, .. }: OrganizationTree) -> Self {
        Self {
            id: organization.id.as_uuid(),
            name: organization.name.into(),
            slug: organization.slug.into(),
            status: organization.status.into(),
            depth,
            children: children.into_iter().map(Self::from).collect(),
        }
    }
}

/// The organization to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewOrganization)]
pub(crate) struct NewOrganizationDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 120)]
    name: String,
    /// Unique in the tenant. If it is absent, the service makes one from the name.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    slug: Option<String>,
    /// The organization above. If it is absent or null, the new organization is a root.
    #[schema(value_type = Option<Uuid>)]
    parent_id: Option<String>,
    /// At most 16 KiB, 32 keys and 5 levels. Those that the tenant has defined have their type.
    #[serde(default, deserialize_with = "sent")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<SentAttributes>,
}

/// The changes to an organization. Fields that are absent stay unchanged. Fields that are null stay unchanged, too,
/// except for `parentId`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = OrganizationPatch)]
pub(crate) struct OrganizationPatchDto {
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    slug: Option<String>,
    /// A change to INACTIVE deletes the organization and also needs `organizations:delete`.
    #[schema(inline)]
    status: Option<OrganizationStatusDto>,
    /// Moves the organization with everything below it. Null makes it a root.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    parent_id: Option<Option<String>>,
    /// By key: a value replaces that of its key, null removes the key, and other keys stay (RFC 7396).
    #[serde(default, deserialize_with = "sent")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<SentAttributes>,
}

impl OrganizationPatchDto {
    fn into_patch(self) -> Result<OrganizationPatch, Problem> {
        let mut params = Params::default();
        let parent = self.parent_id.map(|id| params.parse("parentId", id.as_deref()));
        params.finish()?;
        Ok(OrganizationPatch {
            name: self.name,
            slug: self.slug,
            status: self.status.map(OrganizationStatus::from),
            parent,
            attributes: self.attributes.map(|sent| sent.read()).transpose()?,
        })
    }
}

/// Which organizations to list, in which order.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct OrganizationQuery {
    /// Organizations directly below this one; `null` for roots.
    #[param(pattern = "^(null|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$")]
    parent_id: Option<String>,
    /// `true` for roots.
    #[param(value_type = Option<bool>)]
    root: Option<String>,
    /// Organizations with this status only. By default, all except the INACTIVE ones.
    #[param(value_type = Option<OrganizationStatusDto>, inline)]
    status: Option<String>,
    /// Organizations with all of these words (at most 8), each as a part of the name or the slug. Compared by NFKC and
    /// full case folding.
    search: Option<String>,
    /// Organizations with exactly this value of an attribute, as `key:value`. The tenant has made the key searchable.
    #[param(max_length = 265, pattern = "^[A-Za-z][A-Za-z0-9_.-]*:")]
    attribute: Option<String>,
    /// The field to sort by.
    #[param(value_type = Option<OrganizationSortByDto>, inline)]
    sort_by: Option<String>,
    /// The direction of the sort.
    #[param(value_type = Option<SortOrderDto>, inline)]
    sort_order: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase", default = "createdAt")]
#[expect(dead_code, reason = "only its schema is used; the domain parses the word")]
pub(crate) enum OrganizationSortByDto {
    Name,
    CreatedAt,
    UpdatedAt,
}

impl OrganizationQuery {
    /// Returns the filter for the parent. The parameters `parentId` and `root` must not contradict each other.
    fn parent(&self, params: &mut Params) -> Option<ParentFilter> {
        let parent = params.parse_with("parentId", self.parent_id.as_deref(), |text| match text {
            "null" => Ok(ParentFilter::Root),
            id => id.parse().map(ParentFilter::Of).map_err(|_| "must be a UUID or null".to_owned()),
        });
        let is_root = params.parse_with("root", self.root.as_deref(), |text| match (text, parent) {
            ("true", Some(ParentFilter::Of(_))) => Err("must not be true together with a parentId".to_owned()),
            ("true", _) => Ok(true),
            ("false", _) => Ok(false),
            _ => Err("must be true or false".to_owned()),
        });
        parent.or_else(|| is_root.unwrap_or(false).then_some(ParentFilter::Root))
    }
}

/// List organizations
///
/// A caller who holds the permission only in some organizations sees these organizations and everything below them.
#[utoipa::path(
    get,
    path = "/organizations",
    operation_id = "listOrganizations",
    tag = ORGANIZATIONS,
    params(PageQuery, OrganizationQuery),
    responses((status = 200, description = "A page of organizations", body = Collection<OrganizationDto>), Problems),
    extensions(("x-required-permission" = json!("organizations:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<OrganizationQuery>,
) -> Result<Json<Collection<OrganizationDto>>, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let parent = query.parent(&mut params);
    let status = params.parse("status", query.status.as_deref());
    let by = params.parse::<OrganizationSortKey>("sortBy", query.sort_by.as_deref()).unwrap_or_default();
    let order = params.parse_with("sortOrder", query.sort_order.as_deref(), sort_order).unwrap_or_default();
    params.finish()?;
    let attribute = match &query.attribute {
        Some(text) => Some(iam.organizations().attribute_filter(&caller, text).await?),
        None => None,
    };
    let filter = OrganizationFilter { parent, status, search: query.search, attribute };
    let sort = OrganizationSort { by, order };
    let page = iam.organizations().list(&caller, &filter, sort, page).await?;
    Ok(Json(Collection::of(page)))
}

/// Create an organization
///
/// To create an organization below another one, the caller needs the permission there. To create a root, the caller
/// needs the permission tenant-wide.
#[utoipa::path(
    post,
    path = "/organizations",
    operation_id = "createOrganization",
    tag = ORGANIZATIONS,
    request_body = NewOrganizationDto,
    responses((status = 201, description = "The new organization", body = OrganizationDto), Problems),
    extensions(("x-required-permission" = json!("organizations:create")), ("x-problems" = json!(["not-found", "validation"]))),
)]
pub(crate) async fn create(
    _: Authenticated,
    target: Target,
    key: RequestKey,
    Call(caller, body): Call<NewOrganizationDto>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let parent = params.parse("parentId", body.parent_id.as_deref());
    params.finish()?;
    let new = NewOrganization { name: body.name, slug: body.slug, parent };
    let attributes = SentAttributes::of_new(body.attributes)?;
    let outcome = target.organizations().create_with(&caller, new, &attributes, target.key(&key)).await;
    let created =
        |organization: OrganizationWithAttributes| (StatusCode::CREATED, Json(OrganizationDto::from(organization)));
    target.respond(&caller, outcome, created).await
}

/// Get an organization
///
/// If the caller holds no role in the organization or above it, the response is 404.
#[utoipa::path(
    get,
    path = "/organizations/{id}",
    operation_id = "getOrganization",
    tag = ORGANIZATIONS,
    params(("id" = Uuid, Path, description = "The organization")),
    responses((status = 200, description = "The organization", body = OrganizationDto), Problems),
    extensions(("x-required-permission" = json!("organizations:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<OrganizationId>,
) -> Result<Tagged<OrganizationDto>, Problem> {
    let found = iam.organizations().get_with_attributes(&caller, id).await?;
    Ok(Tagged(found.placed.version(), found.into()))
}

/// Change or move an organization
///
/// To move an organization, the caller also needs the permission in the new parent, or tenant-wide to make the
/// organization a root. If roles take effect in more organizations because of the move, the caller must hold all
/// permissions of these roles there.
#[utoipa::path(
    patch,
    path = "/organizations/{id}",
    operation_id = "updateOrganization",
    tag = ORGANIZATIONS,
    params(("id" = Uuid, Path, description = "The organization")),
    request_body = OrganizationPatchDto,
    responses((status = 200, description = "The changed organization", body = OrganizationDto), Problems),
    extensions(("x-required-permission" = json!("organizations:update")), ("x-problems" = json!(["conflict", "validation"]))),
)]
pub(crate) async fn update(
    _: Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<OrganizationId>,
    Call(caller, body): Call<OrganizationPatchDto>,
) -> Result<Response, Problem> {
    let outcome = target.organizations().update_if(&caller, id, body.into_patch()?, &precondition).await;
    let changed =
        |organization: OrganizationWithDepth| Tagged(organization.version(), OrganizationDto::from(organization));
    target.respond(&caller, outcome, changed).await
}

/// Delete an organization
///
/// The organization becomes INACTIVE. The roles that are held in it end. Its slug becomes free. Its record stays.
#[utoipa::path(
    delete,
    path = "/organizations/{id}",
    operation_id = "deleteOrganization",
    tag = ORGANIZATIONS,
    params(("id" = Uuid, Path, description = "The organization")),
    responses((status = 204, description = "The organization is deleted"), Problems),
    extensions(("x-required-permission" = json!("organizations:delete")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn delete(
    Authenticated(caller): Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<OrganizationId>,
) -> Result<Response, Problem> {
    let outcome = target.organizations().delete_if(&caller, id, &precondition).await;
    target.respond(&caller, outcome, |()| StatusCode::NO_CONTENT).await
}

/// Get an organization's tree
///
/// Returns the organization with everything below it that is not INACTIVE.
#[utoipa::path(
    get,
    path = "/organizations/{id}/tree",
    operation_id = "getOrganizationTree",
    tag = ORGANIZATIONS,
    params(("id" = Uuid, Path, description = "The organization at the top")),
    responses((status = 200, description = "The tree", body = TreeNode), Problems),
    extensions(("x-required-permission" = json!("organizations:read"))),
)]
pub(crate) async fn tree(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<OrganizationId>,
) -> Result<Response, Problem> {
    let tree = iam.organizations().tree(&caller, id).await?;
    json(&iam, &caller, count(&tree) * ITEM, move || TreeNode::from(tree)).await
}

/// The number of organizations in a tree, whose depth is limited.
fn count(tree: &OrganizationTree) -> usize {
    1 + tree.children.iter().map(count).sum::<usize>()
}

/// List an organization's children
///
/// Returns the organizations directly below it that are not INACTIVE.
#[utoipa::path(
    get,
    path = "/organizations/{id}/children",
    operation_id = "listOrganizationChildren",
    tag = ORGANIZATIONS,
    params(("id" = Uuid, Path, description = "The organization above")),
    responses((status = 200, description = "The children, newest first", body = List<ChildOrganization>), Problems),
    extensions(("x-required-permission" = json!("organizations:read"))),
)]
pub(crate) async fn children(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<OrganizationId>,
) -> Result<Response, Problem> {
    let children = iam.organizations().children(&caller, id).await?;
    let data = |children: Vec<Organization>| List {
        data: children.into_iter().map(ChildOrganization::from).collect::<Vec<_>>(),
    };
    json(&iam, &caller, children.len() * ITEM, move || data(children)).await
}

/// List an organization's ancestors
///
/// Returns the organizations above it that the caller may read, from the root down.
#[utoipa::path(
    get,
    path = "/organizations/{id}/ancestors",
    operation_id = "listOrganizationAncestors",
    tag = ORGANIZATIONS,
    params(("id" = Uuid, Path, description = "The organization below")),
    responses((status = 200, description = "The ancestors, root first", body = List<OrganizationDto>), Problems),
    extensions(("x-required-permission" = json!("organizations:read"))),
)]
pub(crate) async fn ancestors(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<OrganizationId>,
) -> Result<Json<List<OrganizationDto>>, Problem> {
    let ancestors = iam.organizations().ancestors(&caller, id).await?;
    Ok(Json(List { data: ancestors.into_iter().map(OrganizationDto::from).collect() }))
}
