//! `/domains` (`docs/federation.md#domains`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::domain::{Domain, DomainStatus};
use iam_core::{DomainId, Iam};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{DOMAINS, Problems};
use crate::extract::{Authenticated, Call, PathId};
use crate::idempotency::RequestKey;
use crate::page::List;
use crate::problem::Problem;
use crate::time::Time;

/// A domain of the tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Domain)]
pub(crate) struct DomainDto {
    id: Uuid,
    /// The domain in lower case, as A-labels.
    domain: String,
    status: DomainStatusDto,
    record: DomainRecordDto,
    /// When the domain became VERIFIED. Null while it is PENDING.
    #[schema(required)]
    verified_at: Option<Time>,
    /// When the record was looked for the last time. Null before the first time.
    #[schema(required)]
    checked_at: Option<Time>,
    created_at: Time,
}

/// Whether the tenant has proven the domain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = DomainStatus)]
pub(crate) enum DomainStatusDto {
    Pending,
    Verified,
}

/// The record of the DNS that proves the domain.
#[derive(Serialize, ToSchema)]
#[schema(as = DomainRecord)]
pub(crate) struct DomainRecordDto {
    r#type: DomainRecordTypeDto,
    name: String,
    value: String,
}

/// The type of a record.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = DomainRecordType)]
pub(crate) enum DomainRecordTypeDto {
    Txt,
}

impl From<Domain> for DomainDto {
    fn from(domain: Domain) -> Self {
        let (name, value) = (domain.record_name(), domain.record_value());
        Self {
            id: domain.id.as_uuid(),
            status: match domain.status() {
                DomainStatus::Pending => DomainStatusDto::Pending,
                DomainStatus::Verified => DomainStatusDto::Verified,
            },
            record: DomainRecordDto { r#type: DomainRecordTypeDto::Txt, name, value },
            verified_at: domain.verified_at.map(Time),
            checked_at: domain.checked_at.map(Time),
            created_at: Time(domain.created_at),
            domain: domain.name.into(),
        }
    }
}

/// The domain to add.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDomain)]
pub(crate) struct NewDomainDto {
    /// Two labels or more. Subdomains are domains of their own.
    #[serde(default)]
    #[schema(required, max_length = 238)]
    domain: String,
}

/// List the domains
///
/// By name. A tenant has 50 domains at most.
#[utoipa::path(
    get,
    path = "/domains",
    operation_id = "listDomains",
    tag = DOMAINS,
    responses((status = 200, description = "The domains", body = List<DomainDto>), Problems),
    extensions(("x-required-permission" = json!("domains:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<List<DomainDto>>, Problem> {
    let domains = iam.domains().list(&caller).await?;
    Ok(Json(List { data: domains.into_iter().map(DomainDto::from).collect() }))
}

/// Add a domain
///
/// It is PENDING, and has no effect until it is verified: publish the record in the DNS of the domain, then ask to verify
/// it. A tenant has 50 domains at most.
#[utoipa::path(
    post,
    path = "/domains",
    operation_id = "createDomain",
    tag = DOMAINS,
    request_body = NewDomainDto,
    responses((status = 201, description = "The new domain", body = DomainDto), Problems),
    extensions(
        ("x-required-permission" = json!("domains:create")),
        ("x-problems" = json!(["conflict"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewDomainDto>,
) -> Result<(StatusCode, Json<DomainDto>), Problem> {
    let domain = iam.domains().create_once(&caller, &body.domain, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(domain.into())))
}

/// Get a domain
///
/// The answer has the record to publish.
#[utoipa::path(
    get,
    path = "/domains/{id}",
    operation_id = "getDomain",
    tag = DOMAINS,
    params(("id" = Uuid, Path, description = "The domain")),
    responses((status = 200, description = "The domain", body = DomainDto), Problems),
    extensions(("x-required-permission" = json!("domains:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<DomainId>,
) -> Result<Json<DomainDto>, Problem> {
    Ok(Json(iam.domains().get(&caller, id).await?.into()))
}

/// Remove a domain
///
/// Another tenant can verify it at once. 409 while an identity provider names it.
#[utoipa::path(
    delete,
    path = "/domains/{id}",
    operation_id = "deleteDomain",
    tag = DOMAINS,
    params(("id" = Uuid, Path, description = "The domain")),
    responses((status = 204, description = "The domain is removed"), Problems),
    extensions(
        ("x-required-permission" = json!("domains:delete")),
        ("x-problems" = json!(["conflict"])),
    ),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<DomainId>,
) -> Result<StatusCode, Problem> {
    iam.domains().delete(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Verify a domain
///
/// Looks for the record in the DNS. Without it, the answer is 409 and says what was found instead. A VERIFIED domain is
/// checked again each day; without its record for seven days, it is PENDING again. A domain is VERIFIED in one tenant of
/// the installation at a time.
#[utoipa::path(
    post,
    path = "/domains/{id}/verify",
    operation_id = "verifyDomain",
    tag = DOMAINS,
    params(("id" = Uuid, Path, description = "The domain")),
    responses((status = 200, description = "The domain is VERIFIED", body = DomainDto), Problems),
    extensions(
        ("x-required-permission" = json!("domains:update")),
        ("x-problems" = json!(["conflict", "unavailable"])),
    ),
)]
pub(crate) async fn verify(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<DomainId>,
) -> Result<Json<DomainDto>, Problem> {
    Ok(Json(iam.domains().verify(&caller, id).await?.into()))
}
