use axum::Json;
use axum::extract::State;
use axum::response::Response;
use iam_core::access::Decision;
use iam_core::authzen::{Evaluation, MAX_EVALUATIONS, Semantic};
use iam_core::{FieldError, Iam, Invalid};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::authzen::body::{ActionDto, NoEffect, ResourceDto, Sent, Strict, SubjectDto};
use crate::description::{AUTHORIZATION, Problems};
use crate::extract::{ROOT, deserialized};
use crate::long::json;
use crate::problem::Problem;

/// The question whether a subject may do something with a resource.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenEvaluation)]
pub(crate) struct EvaluationDto {
    /// Who does something.
    #[schema(value_type = SubjectDto)]
    subject: Strict<SubjectDto>,
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
}

/// Several questions. Each has what it does not say itself from here. Without questions in `evaluations`, this is the
/// only one.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenEvaluations)]
pub(crate) struct EvaluationsDto {
    /// Who does something.
    #[schema(value_type = Option<SubjectDto>)]
    subject: Option<Map<String, Value>>,
    /// What is done.
    #[schema(value_type = Option<ActionDto>)]
    action: Option<Map<String, Value>>,
    /// With what it is done.
    #[schema(value_type = Option<ResourceDto>)]
    resource: Option<Map<String, Value>>,
    /// It has no effect.
    #[schema(value_type = Option<Object>)]
    context: Option<Map<String, Value>>,
    /// The questions, which are answered in this order.
    #[schema(value_type = Option<Vec<ItemDto>>, max_items = 100)]
    evaluations: Option<Vec<Value>>,
    /// How they are answered.
    #[schema(value_type = Option<OptionsDto>)]
    options: Option<Strict<OptionsDto>>,
}

/// One of several questions.
#[derive(ToSchema)]
#[schema(as = AuthzenEvaluationItem)]
#[expect(dead_code, reason = "only its schema is used")]
struct ItemDto {
    /// Who does something.
    subject: Option<SubjectDto>,
    /// What is done.
    action: Option<ActionDto>,
    /// With what it is done.
    resource: Option<ResourceDto>,
    /// It has no effect.
    #[schema(value_type = Option<Object>)]
    context: Option<NoEffect>,
}

/// How several questions are answered.
#[derive(Deserialize, ToSchema)]
#[schema(as = AuthzenOptions)]
struct OptionsDto {
    /// `execute_all`: all are. `deny_on_first_deny` and `permit_on_first_permit`: those up to the first one with this
    /// decision are.
    #[schema(value_type = Option<SemanticDto>, inline)]
    evaluations_semantic: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum SemanticDto {
    ExecuteAll,
    DenyOnFirstDeny,
    PermitOnFirstPermit,
}

/// Whether a subject may do something with a resource.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenDecision)]
pub(crate) struct DecisionDto {
    /// Whether it may.
    #[schema(example = true)]
    decision: bool,
    /// Why.
    context: DecisionContextDto,
}

/// The reason of a decision.
#[derive(Default, Serialize, ToSchema)]
#[schema(as = AuthzenDecisionContext)]
struct DecisionContextDto {
    /// An explanation for people: what grants the permission, or what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Granted by MEMBER (tenant-wide).")]
    reason: Option<String>,
    /// The role assignments that grant the permission, at most 50. Each of them is enough by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["019bb17d-a480-7000-8000-dadadadadada"]))]
    grants: Option<Vec<Uuid>>,
    /// Why one of several questions could not be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<ErrorDto>,
}

/// What is wrong with one of several questions.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenError)]
struct ErrorDto {
    /// Always 400.
    #[schema(example = 400)]
    status: u16,
    /// An explanation for people.
    #[schema(example = "resource is required")]
    message: String,
}

/// The decisions of several questions.
#[derive(Serialize, ToSchema)]
#[schema(as = AuthzenDecisions)]
pub(crate) struct DecisionsDto {
    /// The decisions, in the order of the questions.
    evaluations: Vec<DecisionDto>,
}

/// The decisions of several questions, or that of the only one.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = AuthzenAnswer)]
pub(crate) enum AnswerDto {
    All(DecisionsDto),
    One(DecisionDto),
}

/// About how many bytes of an answer a grant has.
const GRANT: usize = 100;

impl From<Decision> for DecisionDto {
    fn from(decision: Decision) -> Self {
        let context = DecisionContextDto {
            reason: Some(decision.to_string()),
            grants: Some(decision.grants.iter().map(|grant| grant.assignment.as_uuid()).collect()),
            error: None,
        };
        Self { decision: decision.is_allowed(), context }
    }
}

impl DecisionDto {
    fn incomplete(error: FieldError) -> Self {
        let error = ErrorDto { status: 400, message: format!("{} {}", error.field, error.message) };
        Self { decision: false, context: DecisionContextDto { error: Some(error), ..DecisionContextDto::default() } }
    }
}

/// A part of a question: absent, valid or not.
type Part<T> = Option<Result<T, FieldError>>;

/// The parts of a question that are given, or those that all questions have by default.
#[derive(Default)]
struct Parts {
    subject: Part<SubjectDto>,
    action: Part<ActionDto>,
    resource: Part<ResourceDto>,
    context: Part<IgnoredAny>,
}

impl Parts {
    fn of(mut members: Map<String, Value>) -> Self {
        Self {
            subject: part(&mut members, "subject"),
            action: part(&mut members, "action"),
            resource: part(&mut members, "resource"),
            context: part(&mut members, "context"),
        }
    }

    /// Returns the question, or the first part that is missing or invalid. A part of it takes the place of a whole
    /// default.
    fn question<'a>(&'a self, defaults: &'a Self) -> Result<Evaluation<'a>, FieldError> {
        let subject = chosen("subject", &self.subject, &defaults.subject)?.subject();
        let action = &chosen("action", &self.action, &defaults.action)?.name;
        let resource = chosen("resource", &self.resource, &defaults.resource)?.resource();
        match self.context.as_ref().or(defaults.context.as_ref()) {
            Some(Err(error)) => Err(error.clone()),
            _ => Ok(Evaluation { subject, action, resource }),
        }
    }
}

/// Takes a part out of the members of a question.
fn part<T: DeserializeOwned>(members: &mut Map<String, Value>, name: &str) -> Part<T> {
    let value = members.remove(name).filter(|value| !value.is_null())?;
    let parsed: Result<Strict<T>, Problem> = deserialized(value, ToString::to_string);
    Some(parsed.map(|Strict(part)| part).map_err(|problem| match problem.first_field() {
        Some(error) if error.field != ROOT => FieldError::new(format!("{name}.{}", error.field), &error.message),
        Some(error) => FieldError::new(name, &error.message),
        None => FieldError::new(name, "is not valid"),
    }))
}

fn chosen<'a, T>(name: &str, own: &'a Part<T>, default: &'a Part<T>) -> Result<&'a T, FieldError> {
    match own.as_ref().or(default.as_ref()) {
        Some(Ok(part)) => Ok(part),
        Some(Err(error)) => Err(error.clone()),
        None => Err(FieldError::new(name, "is required")),
    }
}

/// Evaluate access
///
/// Tells whether a subject may do something with a resource, and why (AuthZEN Authorization API 1.0, section 6). A user
/// in a session needs no permission for questions about itself.
#[utoipa::path(
    post,
    path = "/access/v1/evaluation",
    operation_id = "evaluate",
    tag = AUTHORIZATION,
    request_body = EvaluationDto,
    responses((status = 200, description = "The decision", body = DecisionDto), Problems),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn evaluate(
    State(iam): State<Iam>,
    Sent(caller, body, _): Sent<EvaluationDto>,
) -> Result<Json<DecisionDto>, Problem> {
    let EvaluationDto { subject: Strict(subject), action: Strict(action), resource: Strict(resource), .. } = &body;
    let evaluation = Evaluation { subject: subject.subject(), action: &action.name, resource: resource.resource() };
    Ok(Json(iam.authzen().evaluate(&caller, evaluation).await?.into()))
}

/// Evaluate access several times
///
/// Answers up to 100 questions, in order (AuthZEN Authorization API 1.0, section 7). A user in a session needs no
/// permission for questions about itself.
#[utoipa::path(
    post,
    path = "/access/v1/evaluations",
    operation_id = "evaluateAll",
    tag = AUTHORIZATION,
    request_body = EvaluationsDto,
    responses((status = 200, description = "The decisions, or that of the only question", body = AnswerDto), Problems),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn evaluate_all(
    State(iam): State<Iam>,
    Sent(caller, body, _): Sent<EvaluationsDto>,
) -> Result<Response, Problem> {
    let semantic = semantic(body.options)?;
    let given =
        [("subject", body.subject), ("action", body.action), ("resource", body.resource), ("context", body.context)];
    let given = given.into_iter().filter_map(|(name, part)| Some((name.to_owned(), Value::Object(part?))));
    let defaults = Parts::of(given.collect());
    let items = body.evaluations.unwrap_or_default();
    if items.is_empty() {
        let question = defaults.question(&defaults).map_err(|error| Problem::invalid(vec![error]))?;
        let decision: DecisionDto = iam.authzen().evaluate(&caller, question).await?.into();
        return json(&iam, &caller, GRANT, move || AnswerDto::One(decision)).await;
    }
    if items.len() > MAX_EVALUATIONS {
        return Err(Problem::invalid_field("evaluations", format!("must have at most {MAX_EVALUATIONS} items")));
    }
    let items: Vec<Result<Parts, FieldError>> = items.into_iter().map(item).collect();
    let questions: Vec<Result<Evaluation<'_>, FieldError>> = items
        .iter()
        .map(|item| item.as_ref().map_err(FieldError::clone).and_then(|parts| parts.question(&defaults)))
        .collect();
    let complete: Vec<Evaluation<'_>> =
        questions.iter().filter_map(|question| question.as_ref().ok().copied()).collect();
    let mut decisions = match complete.as_slice() {
        [] => Vec::new(),
        complete => iam.authzen().evaluate_all(&caller, complete).await?,
    }
    .into_iter();
    let (mut evaluations, mut grants) = (Vec::new(), 0);
    for question in questions {
        let decision = match question {
            Ok(_) => decisions.next().map(DecisionDto::from),
            Err(error) => Some(DecisionDto::incomplete(error)),
        };
        let Some(decision) = decision else { break };
        grants += decision.context.grants.as_ref().map_or(0, Vec::len);
        let is_last = semantic.ends_at(decision.decision);
        evaluations.push(decision);
        if is_last {
            break;
        }
    }
    json(&iam, &caller, grants * GRANT, move || AnswerDto::All(DecisionsDto { evaluations })).await
}

fn item(item: Value) -> Result<Parts, FieldError> {
    match item {
        Value::Object(members) => Ok(Parts::of(members)),
        _ => Err(FieldError::new("evaluation", "must be an object")),
    }
}

fn semantic(options: Option<Strict<OptionsDto>>) -> Result<Semantic, Problem> {
    let text = options.and_then(|Strict(options)| options.evaluations_semantic);
    let semantic = text.map_or(Ok(Semantic::default()), |text| text.parse());
    semantic.map_err(|error: Invalid| Problem::invalid_field("options.evaluations_semantic", error.to_string()))
}
