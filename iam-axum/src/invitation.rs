//! `/invitations` (`docs/http-api.md#invitations`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::invitation::{
    Acceptance, Invitation, InvitationDetails, InvitationFilter, InvitationStatus, InvitedRole, NewInvitation,
};
use iam_core::{Email, Iam, InvitationId, OrganizationId, PersonName, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::description::{INVITATIONS, Problems};
use crate::extract::{Authenticated, Body, Call, Context, Params, PathId, Query};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery};
use crate::problem::Problem;
use crate::session::Registered;
use crate::time::{Time, moment};

/// A person who is asked to become a user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Invitation)]
pub(crate) struct InvitationDto {
    id: Uuid,
    email: String,
    #[schema(required)]
    first_name: Option<String>,
    #[schema(required)]
    last_name: Option<String>,
    #[schema(inline)]
    status: InvitationStatusDto,
    roles: Vec<InvitedRoleDto>,
    /// The user who invited. Null means the service itself.
    #[schema(required)]
    invited_by: Option<Uuid>,
    /// Until when the invitation can be accepted. Sending it again extends this.
    expires_at: Time,
    created_at: Time,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum InvitationStatusDto {
    Pending,
    Accepted,
    Revoked,
    Expired,
}

impl From<InvitationStatus> for InvitationStatusDto {
    fn from(status: InvitationStatus) -> Self {
        match status {
            InvitationStatus::Pending => Self::Pending,
            InvitationStatus::Accepted => Self::Accepted,
            InvitationStatus::Revoked => Self::Revoked,
            InvitationStatus::Expired => Self::Expired,
        }
    }
}

/// A role that an invited person gets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InvitedRole)]
pub(crate) struct InvitedRoleDto {
    role_id: Uuid,
    /// Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// When it expires. Null means never.
    #[schema(required)]
    expires_at: Option<Time>,
}

impl From<Invitation> for InvitationDto {
    fn from(invitation: Invitation) -> Self {
        let role = |role: InvitedRole| InvitedRoleDto {
            role_id: role.role_id.as_uuid(),
            organization_id: role.organization_id.map(OrganizationId::as_uuid),
            expires_at: role.expires_at.map(Time),
        };
        Self {
            id: invitation.id.as_uuid(),
            email: invitation.email.into(),
            first_name: invitation.first_name.map(PersonName::into),
            last_name: invitation.last_name.map(PersonName::into),
            status: invitation.status.into(),
            roles: invitation.roles.into_iter().map(role).collect(),
            invited_by: invitation.invited_by.map(UserId::as_uuid),
            expires_at: Time(invitation.expires_at),
            created_at: Time(invitation.created_at),
        }
    }
}

/// The person to invite.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewInvitation)]
pub(crate) struct NewInvitationDto {
    /// No user of the tenant has it, and no PENDING invitation. Upper and lower case make no difference.
    #[serde(default)]
    #[schema(required, format = "email", max_length = 254)]
    email: String,
    /// A proposal, which the person can change.
    #[schema(min_length = 1, max_length = 100)]
    first_name: Option<String>,
    /// A proposal, which the person can change.
    #[schema(min_length = 1, max_length = 100)]
    last_name: Option<String>,
    /// The roles that the person gets; none if it is absent.
    #[serde(default)]
    #[schema(max_items = 50)]
    roles: Vec<NewInvitedRoleDto>,
}

/// A role that an invited person is to get.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewInvitedRole)]
pub(crate) struct NewInvitedRoleDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    role_id: String,
    /// Absent or null means tenant-wide.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// Must be in the future. Absent or null means never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

impl NewInvitedRoleDto {
    fn parse(&self, params: &mut Params, field: impl Fn(&str) -> String) -> Option<InvitedRole> {
        let role_id = params.require(&field("roleId"), &self.role_id);
        let organization_id = params.parse(&field("organizationId"), self.organization_id.as_deref());
        let expires_at = params.parse_with(&field("expiresAt"), self.expires_at.as_deref(), moment);
        Some(InvitedRole { role_id: role_id?, organization_id, expires_at })
    }
}

/// Which invitations to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct InvitationQuery {
    /// Invitations with this status only.
    #[param(value_type = Option<InvitationStatusDto>, inline)]
    status: Option<String>,
    /// Invitations of exactly this e-mail. Upper and lower case make no difference.
    #[param(format = "email")]
    email: Option<String>,
}

/// The token of an invitation.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = InvitationToken)]
pub(crate) struct InvitationTokenDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    token: String,
}

/// What an invited person sees before it accepts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = InvitationDetails)]
pub(crate) struct InvitationDetailsDto {
    email: String,
    tenant: InvitingTenant,
    #[schema(required)]
    first_name: Option<String>,
    #[schema(required)]
    last_name: Option<String>,
    expires_at: Time,
}

/// The tenant that invites.
#[derive(Serialize, ToSchema)]
pub(crate) struct InvitingTenant {
    name: String,
}

impl From<InvitationDetails> for InvitationDetailsDto {
    fn from(details: InvitationDetails) -> Self {
        Self {
            email: details.email.into(),
            tenant: InvitingTenant { name: details.tenant.into() },
            first_name: details.first_name.map(PersonName::into),
            last_name: details.last_name.map(PersonName::into),
            expires_at: Time(details.expires_at),
        }
    }
}

/// The name and the password of an invited person.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = InvitationAcceptance)]
pub(crate) struct AcceptanceDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    token: String,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    #[serde(default)]
    #[schema(required, format = Password, min_length = 8, max_length = 128)]
    password: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    first_name: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    last_name: String,
}

/// List invitations
///
/// If the caller holds the permission in organizations only, the list has only the invitations whose roles are all in
/// these organizations or below them.
#[utoipa::path(
    get,
    path = "/invitations",
    operation_id = "listInvitations",
    tag = INVITATIONS,
    params(PageQuery, InvitationQuery),
    responses((status = 200, description = "A page of invitations", body = Collection<InvitationDto>), Problems),
    extensions(("x-required-permission" = json!("invitations:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<InvitationQuery>,
) -> Result<Json<Collection<InvitationDto>>, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let email = params.parse::<Email>("email", query.email.as_deref());
    let filter = InvitationFilter {
        status: params.parse("status", query.status.as_deref()),
        email: email.map(|email| email.key()),
    };
    params.finish()?;
    Ok(Json(Collection::of(iam.invitations().list(&caller, &filter, page).await?)))
}

/// Invite a person
///
/// Sends a link with which the person becomes a user with these roles; the link works for 7 days. The caller must also
/// hold all permissions of the roles, where they apply and for as long. That is checked again when the person accepts.
/// If the caller holds the permission in organizations only, the invitation needs at least one role, and all of them in
/// these organizations or below.
#[utoipa::path(
    post,
    path = "/invitations",
    operation_id = "createInvitation",
    tag = INVITATIONS,
    request_body = NewInvitationDto,
    responses((status = 201, description = "The new invitation", body = InvitationDto), Problems),
    extensions(("x-required-permission" = json!("invitations:create")), ("x-problems" = json!(["insufficient-authentication", "not-found", "validation"]))),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewInvitationDto>,
) -> Result<(StatusCode, Json<InvitationDto>), Problem> {
    let mut params = Params::default();
    let parse = |(number, role): (usize, &NewInvitedRoleDto)| {
        role.parse(&mut params, |field| format!("roles[{number}].{field}"))
    };
    let roles: Vec<InvitedRole> = body.roles.iter().enumerate().filter_map(parse).collect();
    params.finish()?;
    let NewInvitationDto { email, first_name, last_name, .. } = body;
    let new = NewInvitation { email, first_name, last_name, roles };
    let invitation = iam.invitations().create_once(&caller, new, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(invitation.into())))
}

/// Get an invitation
///
/// Shows the roles that are offered, the status, and until when the link in the last message works.
#[utoipa::path(
    get,
    path = "/invitations/{id}",
    operation_id = "getInvitation",
    tag = INVITATIONS,
    params(("id" = Uuid, Path, description = "The invitation")),
    responses((status = 200, description = "The invitation", body = InvitationDto), Problems),
    extensions(("x-required-permission" = json!("invitations:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InvitationId>,
) -> Result<Json<InvitationDto>, Problem> {
    Ok(Json(iam.invitations().get(&caller, id).await?.into()))
}

/// Send an invitation again
///
/// Sends a new link, which works for 7 days, and ends the one that was sent before. Nothing is sent after three
/// messages in an hour.
#[utoipa::path(
    post,
    path = "/invitations/{id}/resend",
    operation_id = "resendInvitation",
    tag = INVITATIONS,
    params(("id" = Uuid, Path, description = "The invitation")),
    responses((status = 202, description = "The link is sent"), Problems),
    extensions(("x-required-permission" = json!("invitations:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn resend(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InvitationId>,
) -> Result<StatusCode, Problem> {
    iam.invitations().resend(&caller, id).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Revoke an invitation
///
/// Its link stops working, and its record stays.
#[utoipa::path(
    delete,
    path = "/invitations/{id}",
    operation_id = "deleteInvitation",
    tag = INVITATIONS,
    params(("id" = Uuid, Path, description = "The invitation")),
    responses((status = 204, description = "The invitation is revoked"), Problems),
    extensions(("x-required-permission" = json!("invitations:delete")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<InvitationId>,
) -> Result<StatusCode, Problem> {
    iam.invitations().delete(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Look up an invitation
///
/// Shows a page what it needs to ask for a password. The token can still be used afterwards.
#[utoipa::path(
    post,
    path = "/invitations/lookup",
    operation_id = "lookUpInvitation",
    tag = INVITATIONS,
    request_body = InvitationTokenDto,
    responses((status = 200, description = "What the invitation says", body = InvitationDetailsDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn look_up(
    State(iam): State<Iam>,
    Body(body): Body<InvitationTokenDto>,
) -> Result<Json<InvitationDetailsDto>, Problem> {
    Ok(Json(iam.invitations().look_up(&body.token.into()).await?.into()))
}

/// Accept an invitation
///
/// Creates the user with its roles and logs it in. Its address is verified. The response is 409 if the user who invited
/// could not invite with these roles any more; then the token can still be used.
#[utoipa::path(
    post,
    path = "/invitations/accept",
    operation_id = "acceptInvitation",
    tag = INVITATIONS,
    request_body = AcceptanceDto,
    responses((status = 201, description = "The user, its tenant and tokens", body = Registered), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["conflict", "federation-required", "forbidden", "second-factor-required", "unauthorized"]))),
)]
pub(crate) async fn accept(
    State(iam): State<Iam>,
    Context(context): Context,
    RequestKey(key): RequestKey,
    Body(body): Body<AcceptanceDto>,
) -> Result<(StatusCode, Json<Registered>), Problem> {
    let AcceptanceDto { token, password, first_name, last_name } = body;
    let acceptance = Acceptance { token: token.into(), password: password.into(), first_name, last_name };
    let accepted = iam.invitations().accept_once(&context, acceptance, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(accepted.into())))
}
