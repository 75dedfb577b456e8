//! `?preview=true`: the effects of a change on the rights of users, without making it
//! (`docs/foresight.md#before-a-change-the-preview`).

use std::sync::Arc;

use axum::extract::{FromRef as _, FromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use iam_core::access_request::AccessRequests;
use iam_core::assignment::Assignments;
use iam_core::directory::Directories;
use iam_core::idempotency::Idempotency;
use iam_core::organization::Organizations;
use iam_core::preview::RightChange;
use iam_core::role::Roles;
use iam_core::user::Users;
use iam_core::{AssignmentId, Caller, Iam, OrganizationId, Preview, Trial};
use serde::{Deserialize, Serialize};
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, ResponseBuilder, Schema};
use utoipa::{PartialSchema as _, ToSchema};
use utoipa_axum::router::UtoipaMethodRouter;
use uuid::Uuid;

use crate::context::context_of;
use crate::extract::{Params, Query, truth};
use crate::idempotency::RequestKey;
use crate::long::{ITEM, json};
use crate::problem::{Problem, ProblemDocument};
use crate::settings::Settings;
use crate::state::ApiState;
use crate::time::Time;

/// What a change would do, if it were made now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Preview)]
pub(crate) struct PreviewDto {
    /// Whether the change would be made.
    allowed: bool,
    /// The rule that would refuse the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<ProblemDocument>,
    /// How many users would gain or lose a right.
    users: u64,
    /// Who would gain or lose which permission, at most 10,000 rows. A place in which the caller does not hold
    /// `role-assignments:read` has no rows.
    changes: Vec<RightChangeDto>,
    /// Whether there are more than 10,000 rows, or rows with more than 50,000 assignments in `via` of all of them.
    truncated: bool,
}

/// A permission that a user would gain or lose in a place, with everything below it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RightChange)]
pub(crate) struct RightChangeDto {
    user_id: Uuid,
    /// The topmost organization in which the right changes. Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// The permission, as it is registered.
    #[schema(example = "users:read")]
    permission: String,
    change: DirectionDto,
    /// The existing role assignments that would give the permission, or that give it now.
    via: Vec<Uuid>,
    /// From when on the right would differ.
    from: Time,
    /// Until when it would differ. Null means without an end.
    #[schema(required)]
    until: Option<Time>,
}

/// Whether the right would be gained or lost.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schema(as = RightDirection)]
pub(crate) enum DirectionDto {
    Gained,
    Lost,
}

impl From<RightChange> for RightChangeDto {
    fn from(change: RightChange) -> Self {
        use iam_core::access::Until;
        use iam_core::preview::Direction;
        Self {
            user_id: change.user.as_uuid(),
            organization_id: change.organization.map(OrganizationId::as_uuid),
            permission: change.permission.to_string(),
            change: match change.direction {
                Direction::Gained => DirectionDto::Gained,
                Direction::Lost => DirectionDto::Lost,
            },
            via: change.via.into_iter().map(AssignmentId::as_uuid).collect(),
            from: Time(change.from),
            until: match change.until {
                Until::Moment(moment) => Some(Time(moment)),
                Until::Forever => None,
            },
        }
    }
}

const PREVIEW: &str = "preview";

#[derive(Deserialize)]
struct PreviewQuery {
    preview: Option<String>,
}

/// The services for a change, or for a trial of it if the request asks for a preview. To be extracted after the caller.
pub(crate) enum Target {
    Change(Iam),
    Preview(Box<Previewing>),
}

/// A trial, and the facts of the request for a problem in its preview.
pub(crate) struct Previewing {
    iam: Iam,
    trial: Trial,
    settings: Arc<Settings>,
    path: String,
    correlation_id: String,
}

impl FromRequestParts<ApiState> for Target {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let Query(PreviewQuery { preview }) = Query::from_request_parts(parts, state).await?;
        let mut params = Params::default();
        let is_preview = params.parse_with(PREVIEW, preview.as_deref(), truth);
        params.finish()?;
        let iam = Iam::from_ref(state);
        if !is_preview.unwrap_or(false) {
            return Ok(Self::Change(iam));
        }
        Ok(Self::Preview(Box::new(Previewing {
            trial: iam.trial(),
            iam,
            settings: Arc::from_ref(state),
            path: parts.uri.path().to_owned(),
            correlation_id: context_of(parts).correlation_id.map(|id| id.to_string()).unwrap_or_default(),
        })))
    }
}

impl Target {
    pub(crate) fn users(&self) -> Users<'_> {
        match self {
            Self::Change(iam) => iam.users(),
            Self::Preview(previewing) => previewing.trial.users(),
        }
    }

    pub(crate) fn roles(&self) -> Roles<'_> {
        match self {
            Self::Change(iam) => iam.roles(),
            Self::Preview(previewing) => previewing.trial.roles(),
        }
    }

    pub(crate) fn organizations(&self) -> Organizations<'_> {
        match self {
            Self::Change(iam) => iam.organizations(),
            Self::Preview(previewing) => previewing.trial.organizations(),
        }
    }

    pub(crate) fn assignments(&self) -> Assignments<'_> {
        match self {
            Self::Change(iam) => iam.assignments(),
            Self::Preview(previewing) => previewing.trial.assignments(),
        }
    }

    pub(crate) fn access_requests(&self) -> AccessRequests<'_> {
        match self {
            Self::Change(iam) => iam.access_requests(),
            Self::Preview(previewing) => previewing.trial.access_requests(),
        }
    }

    pub(crate) fn directories(&self) -> Directories<'_> {
        match self {
            Self::Change(iam) => iam.directories(),
            Self::Preview(previewing) => previewing.trial.directories(),
        }
    }

    /// Returns the response to the outcome of a change, or the preview of it.
    pub(crate) async fn respond<T, R: IntoResponse>(
        &self,
        caller: &Caller,
        outcome: iam_core::Result<T>,
        to: impl FnOnce(T) -> R,
    ) -> Result<Response, Problem> {
        match self {
            Self::Change(_) => Ok(to(outcome?).into_response()),
            Self::Preview(previewing) => {
                let preview = previewing.trial.preview(caller, outcome).await?;
                let rows = preview.changes.len();
                let shown = previewing.shown(preview);
                json(&previewing.iam, caller, rows * ITEM, move || shown).await
            }
        }
    }

    /// The idempotency key of a request. A preview is no change, so it neither finds the response to an earlier change
    /// nor becomes one.
    pub(crate) fn key<'k>(&self, RequestKey(key): &'k RequestKey) -> Option<&'k Idempotency> {
        match self {
            Self::Change(_) => key.as_ref(),
            Self::Preview(_) => None,
        }
    }
}

impl PreviewDto {
    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        self.changes.len()
    }
}

impl Previewing {
    /// Returns a preview as the response shows it.
    pub(crate) fn shown(&self, Preview { refusal, users, changes, truncated, .. }: Preview) -> PreviewDto {
        let request = (self.path.as_str(), self.correlation_id.as_str());
        let type_base = &self.settings.problem_type_base;
        PreviewDto {
            allowed: refusal.is_none(),
            problem: refusal.map(|error| Problem::from(error).document(type_base, Some(request))),
            users,
            changes: changes.into_iter().map(RightChangeDto::from).collect(),
            truncated,
        }
    }
}

/// Describes in the OpenAPI document that the changes among these operations have a preview.
pub(crate) fn previewable(routes: UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let (mut schemas, mut paths, router) = routes;
    for path in paths.paths.values_mut() {
        let changes = path.post.iter_mut().chain(&mut path.put).chain(&mut path.patch).chain(&mut path.delete);
        changes.for_each(describe);
    }
    schemas.push((PreviewDto::name().into_owned(), PreviewDto::schema()));
    PreviewDto::schemas(&mut schemas);
    (schemas, paths, router)
}

fn describe(operation: &mut Operation) {
    let parameter = ParameterBuilder::new()
        .name(PREVIEW)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(
            "`true` for a preview: nothing is changed, and the response says who would gain or lose which right.",
        ))
        .schema(Some(ObjectBuilder::new().schema_type(SchemaType::Type(Type::Boolean)).default(Some(false.into()))));
    operation.parameters.get_or_insert_default().push(parameter.build().into());
    let preview = Ref::from_schema_name(PreviewDto::name());
    let responses = &mut operation.responses.responses;
    match responses.get_mut(StatusCode::OK.as_str()) {
        Some(RefOr::T(response)) => {
            response.description.push_str(", or the preview");
            if let Some(RefOr::T(content)) = response.content.get_mut("application/json")
                && let Some(changed) = content.schema.take()
            {
                content.schema = Some(Schema::OneOf(OneOfBuilder::new().item(changed).item(preview).build()).into());
            }
        }
        _ => {
            let content = ContentBuilder::new().schema(Some(preview)).build();
            let response = ResponseBuilder::new().description("The preview").content("application/json", content);
            responses.insert(StatusCode::OK.as_str().to_owned(), response.build().into());
        }
    }
}
