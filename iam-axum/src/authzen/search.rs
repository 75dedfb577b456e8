use axum::Json;
use axum::extract::State;
use iam_core::Iam;
use iam_core::page::Page;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::authzen::body::{ActionDto, NoEffect, ResourceDto, Sent, Strict, SubjectDto, TypeDto};
use crate::authzen::page::{PageDto, Tokens};
use crate::description::{AUTHORIZATION, Problems};
use crate::problem::Problem;

/// The question which subjects may do something with a resource.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenSubjectSearch, example = json!({
    "subject": { "type": "user" },
    "action": { "name": "read" },
    "resource": {
        "type": "users",
        "id": "019bb179-10a0-7000-8000-dadadadadada",
        "properties": { "organizationId": "019bb170-d340-7000-8000-dadadadadada" },
    },
    "page": { "limit": 50 },
}))]
pub(crate) struct SubjectSearchDto {
    /// What is searched.
    #[schema(value_type = TypeDto)]
    subject: Strict<TypeDto>,
    /// What is done.
    #[schema(value_type = ActionDto)]
    action: Strict<ActionDto>,
    /// With what it is done.
    #[schema(value_type = ResourceDto)]
    resource: Strict<ResourceDto>,
    /// It has no effect.
    #[schema(value_type = Option<Object>)]
    #[expect(dead_code, reason = "only its type is checked")]
    context: Option<NoEffect>,
    /// Which page of the results to show.
    #[schema(value_type = Option<PageDto>)]
    page: Option<Strict<PageDto>>,
}

/// The question with which resources a subject may do something.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenResourceSearch, example = json!({
    "subject": { "type": "user", "id": "019bb179-10a0-7000-8000-dadadadadada" },
    "action": { "name": "read" },
    "resource": { "type": "organization" },
    "page": { "limit": 50 },
}))]
pub(crate) struct ResourceSearchDto {
    /// Who does something.
    #[schema(value_type = SubjectDto)]
    subject: Strict<SubjectDto>,
    /// What is done.
    #[schema(value_type = ActionDto)]
    action: Strict<ActionDto>,
    /// What is searched.
    #[schema(value_type = TypeDto)]
    resource: Strict<TypeDto>,
    /// It has no effect.
    #[schema(value_type = Option<Object>)]
    #[expect(dead_code, reason = "only its type is checked")]
    context: Option<NoEffect>,
    /// Which page of the results to show.
    #[schema(value_type = Option<PageDto>)]
    page: Option<Strict<PageDto>>,
}

/// The question what a subject may do with a resource.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenActionSearch)]
pub(crate) struct ActionSearchDto {
    /// Who does something.
    #[schema(value_type = SubjectDto)]
    subject: Strict<SubjectDto>,
    /// With what it is done.
    #[schema(value_type = ResourceDto)]
    resource: Strict<ResourceDto>,
    /// It has no effect.
    #[schema(value_type = Option<Object>)]
    #[expect(dead_code, reason = "only its type is checked")]
    context: Option<NoEffect>,
    /// Which page of the results to show.
    #[schema(value_type = Option<PageDto>)]
    page: Option<Strict<PageDto>>,
}

/// A page of what was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuthzenResults<T> {
    /// The position of the page.
    page: FoundPageDto,
    /// What was found.
    results: Vec<T>,
}

/// The position of a page in all results.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenResultsPage)]
struct FoundPageDto {
    /// Send it as `token` with the same request to get the next page. Empty on the last page.
    #[schema(example = "")]
    next_token: String,
    /// How many results this page has.
    #[schema(example = 1)]
    count: usize,
}

/// A subject or a resource.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenEntity)]
pub(crate) struct EntityDto {
    /// Its type.
    #[serde(rename = "type")]
    #[schema(example = "user")]
    kind: &'static str,
    /// Names it, as the tenant has set in `authzenIdentifiers`.
    #[schema(example = "019bb179-10a0-7000-8000-dadadadadada")]
    id: String,
}

/// An action.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenFoundAction)]
pub(crate) struct FoundActionDto {
    /// The action of a permission: the part after the colon.
    #[schema(example = "create")]
    name: String,
}

impl<T> AuthzenResults<T> {
    fn of(found: Page<String>, tokens: &Tokens, result: impl Fn(String) -> T) -> Self {
        let next_token = tokens.after(&found);
        let results: Vec<T> = found.items.into_iter().map(result).collect();
        Self { page: FoundPageDto { next_token, count: results.len() }, results }
    }
}

/// Search subjects
///
/// Returns those who may do something with a resource (AuthZEN Authorization API 1.0, section 8.4).
#[utoipa::path(
    post,
    path = "/access/v1/search/subject",
    operation_id = "searchSubjects",
    tag = AUTHORIZATION,
    request_body = SubjectSearchDto,
    responses(
        (status = 200, description = "A page of subjects, by id", body = AuthzenResults<EntityDto>),
        Problems,
    ),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn subjects(
    State(iam): State<Iam>,
    Sent(caller, body, text): Sent<SubjectSearchDto>,
) -> Result<Json<AuthzenResults<EntityDto>>, Problem> {
    let tokens = Tokens::of("subject", &caller, &text)?;
    let SubjectSearchDto { subject: Strict(subject), action: Strict(action), resource: Strict(resource), page, .. } =
        body;
    let page = tokens.requested(page)?;
    let found = iam.authzen().search_subjects(&caller, &subject.kind, &action.name, resource.resource(), page).await?;
    Ok(Json(AuthzenResults::of(found, &tokens, |id| EntityDto { kind: "user", id })))
}

/// Search resources
///
/// Returns the organizations with which a subject may do something (AuthZEN Authorization API 1.0, section 8.5). A user
/// in a session needs no permission for questions about itself.
#[utoipa::path(
    post,
    path = "/access/v1/search/resource",
    operation_id = "searchResources",
    tag = AUTHORIZATION,
    request_body = ResourceSearchDto,
    responses(
        (status = 200, description = "A page of organizations, newest first", body = AuthzenResults<EntityDto>),
        Problems,
    ),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn resources(
    State(iam): State<Iam>,
    Sent(caller, body, text): Sent<ResourceSearchDto>,
) -> Result<Json<AuthzenResults<EntityDto>>, Problem> {
    let tokens = Tokens::of("resource", &caller, &text)?;
    let ResourceSearchDto {
        subject: Strict(subject), action: Strict(action), resource: Strict(resource), page, ..
    } = body;
    let page = tokens.requested(page)?;
    let found = iam.authzen().search_resources(&caller, subject.subject(), &action.name, &resource.kind, page).await?;
    Ok(Json(AuthzenResults::of(found, &tokens, |id| EntityDto { kind: "organization", id })))
}

/// Search actions
///
/// Returns what a subject may do with a resource: the registered actions of its type (AuthZEN Authorization API 1.0,
/// section 8.6). A user in a session needs no permission for questions about itself.
#[utoipa::path(
    post,
    path = "/access/v1/search/action",
    operation_id = "searchActions",
    tag = AUTHORIZATION,
    request_body = ActionSearchDto,
    responses(
        (status = 200, description = "A page of actions, in alphabetical order", body = AuthzenResults<FoundActionDto>),
        Problems,
    ),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn actions(
    State(iam): State<Iam>,
    Sent(caller, body, text): Sent<ActionSearchDto>,
) -> Result<Json<AuthzenResults<FoundActionDto>>, Problem> {
    let tokens = Tokens::of("action", &caller, &text)?;
    let ActionSearchDto { subject: Strict(subject), resource: Strict(resource), page, .. } = body;
    let page = tokens.requested(page)?;
    let found = iam.authzen().search_actions(&caller, subject.subject(), resource.resource(), page).await?;
    Ok(Json(AuthzenResults::of(found, &tokens, |name| FoundActionDto { name })))
}
