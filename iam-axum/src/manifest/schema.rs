//! The schema of a manifest. `iam_core` parses manifests; a test compares both.
//!
//! The sentence of an inline enum that cannot be null is in `properties.json`: utoipa would write it as a second schema,
//! of an object, which the text must satisfy, too.

#![expect(dead_code, reason = "only their schemas are used")]

use serde::Deserialize;
use utoipa::ToSchema;

use crate::attribute::{OrganizationAttributeDto, UnregisteredAttributesDto, UserAttributeDto};
use crate::audit::EventFormatDto;
use crate::event::EventPatternDto;
use crate::identity_provider::{ProvisioningDto, SubjectClaimDto};
use crate::role::{PermissionPatternDto, ScopeDto};
use crate::tenant::{AuthzenIdentifiersDto, EmailLoginDto, PasswordLoginDto, PasswordPolicyDto, SecondFactorDto};

/// What a tenant should have. Items are named by what people call them, and all parts are optional.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(
    as = Manifest,
    example = json!({
        "permissions": [{ "name": "parcels:track", "description": "See where a parcel is" }],
        "roles": [{ "name": "PARCEL_CLERK", "permissions": ["parcels:track"] }],
        "organizations": [{ "slug": "parcels", "name": "Parcels" }],
        "serviceAccounts": [
            { "name": "Tracker", "assignments": [{ "role": "PARCEL_CLERK", "organization": "parcels" }] },
        ],
    }),
)]
pub(crate) struct ManifestDto {
    /// Settings of the tenant. A setting that is absent stays unchanged.
    #[schema(nullable = false)]
    settings: Option<ManifestSettingsDto>,
    /// Permissions of the application.
    #[schema(nullable = false)]
    permissions: Option<Vec<ManifestPermissionDto>>,
    /// Roles.
    #[schema(nullable = false)]
    roles: Option<Vec<ManifestRoleDto>>,
    /// Organizations, in any order.
    #[schema(nullable = false)]
    organizations: Option<Vec<ManifestOrganizationDto>>,
    /// Service accounts, with their roles.
    #[schema(nullable = false)]
    service_accounts: Option<Vec<ManifestServiceAccountDto>>,
    /// Webhooks. Their secrets are in no manifest.
    #[schema(nullable = false)]
    webhooks: Option<Vec<ManifestWebhookDto>>,
    /// Identity providers. The answers never have their secrets.
    #[schema(nullable = false, max_items = 20)]
    identity_providers: Option<Vec<ManifestIdentityProviderDto>>,
    /// Directories. Their groups, and what these give, are in no manifest.
    #[schema(nullable = false)]
    directories: Option<Vec<ManifestDirectoryDto>>,
}

/// Settings of a tenant.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestSettings)]
struct ManifestSettingsDto {
    /// The name of the tenant.
    #[schema(min_length = 1, max_length = 120, example = "Acme")]
    name: Option<String>,
    /// The rules for passwords that are set from now on.
    #[schema(inline)]
    password_policy: Option<PasswordPolicyDto>,
    #[schema(inline)]
    second_factor: Option<SecondFactorDto>,
    #[schema(minimum = 0, maximum = 90)]
    second_factor_grace_days: Option<i64>,
    #[schema(inline)]
    password_login: Option<PasswordLoginDto>,
    #[schema(inline)]
    email_login: Option<EmailLoginDto>,
    #[schema(inline)]
    authzen_identifiers: Option<AuthzenIdentifiersDto>,
    /// All attributes that are defined for users, each key once.
    #[schema(max_items = 32)]
    user_attributes: Option<Vec<UserAttributeDto>>,
    /// All attributes that are defined for organizations, each key once.
    #[schema(max_items = 32)]
    organization_attributes: Option<Vec<OrganizationAttributeDto>>,
    #[schema(inline)]
    unregistered_attributes: Option<UnregisteredAttributesDto>,
}

/// A permission of the application.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestPermission)]
struct ManifestPermissionDto {
    /// `<resource>:<action>`.
    #[schema(max_length = 120, pattern = "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$", example = "parcels:track")]
    name: String,
    /// What the permission allows, in words. That of a permission that exists cannot change.
    #[schema(nullable = false, max_length = 500, example = "See where a parcel is")]
    description: Option<String>,
}

/// A role.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestRole)]
struct ManifestRoleDto {
    /// Upper snake case.
    #[schema(max_length = 120, pattern = "^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$", example = "PARCEL_CLERK")]
    name: String,
    /// What the role is for, in words. If it is absent, it is empty.
    #[schema(nullable = false, max_length = 500, example = "Answers customers")]
    description: Option<String>,
    #[schema(inline, nullable = false)]
    scope: Option<ScopeDto>,
    /// All permissions of the role, at most 500. If the field is absent, it has none.
    #[schema(inline, nullable = false, value_type = Option<Vec<PermissionPatternDto>>)]
    permissions: Option<Vec<String>>,
}

/// An organization.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestOrganization)]
struct ManifestOrganizationDto {
    /// By which the organization is known.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", example = "parcels")]
    slug: String,
    /// A name for people.
    #[schema(min_length = 1, max_length = 120, example = "Parcels")]
    name: String,
    /// The slug of the organization above, which the manifest or the tenant has. If it is absent, the organization is a
    /// root.
    #[schema(example = "company")]
    parent: Option<String>,
    /// Without it, a new organization is ACTIVE, and one that exists keeps its status.
    #[schema(inline)]
    status: Option<ManifestStatusDto>,
}

/// A service account.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestServiceAccount)]
struct ManifestServiceAccountDto {
    /// By which the service account is known.
    #[schema(min_length = 1, max_length = 100, example = "Tracker")]
    name: String,
    /// The slug of its home, which the manifest or the tenant has. If it is absent, it belongs to the tenant.
    #[schema(example = "parcels")]
    home: Option<String>,
    /// Without it, a new service account is ACTIVE, and one that exists keeps its status.
    #[schema(inline)]
    status: Option<ManifestStatusDto>,
    /// Roles that it holds. It may hold others.
    #[schema(nullable = false)]
    assignments: Option<Vec<ManifestAssignmentDto>>,
}

/// A role of a service account.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestAssignment)]
struct ManifestAssignmentDto {
    /// The name of the role, which the manifest or the tenant has.
    #[schema(example = "PARCEL_CLERK")]
    role: String,
    /// The slug of the organization, which the manifest or the tenant has. If it is absent, the role is held
    /// tenant-wide.
    #[schema(example = "parcels")]
    organization: Option<String>,
    /// From when on it gives nothing. If it is absent, it has no end.
    #[schema(format = DateTime, example = "2027-01-31T09:15:00Z")]
    expires_at: Option<String>,
}

/// A webhook.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestWebhook)]
struct ManifestWebhookDto {
    /// By which the webhook is known. Begins with `https://`. It must not contain a secret, because the audit log shows
    /// it.
    #[schema(max_length = 2_048, pattern = "^https?://")]
    url: String,
    /// The types of the events to send: `USER.CREATE`, or `USER.*` for all actions on a resource type.
    #[schema(min_items = 1, max_items = 100, inline, value_type = Vec<EventPatternDto>)]
    types: Vec<String>,
    #[schema(inline, nullable = false)]
    format: Option<EventFormatDto>,
    /// A text for people. If it is absent, it is empty.
    #[schema(nullable = false, max_length = 500)]
    description: Option<String>,
    /// Whether it sends events. Without it, a new webhook does, and one that exists stays as it is.
    enabled: Option<bool>,
}

/// An identity provider. To make or change one, a person needs all permissions (`*`) tenant-wide, and a session that
/// has authenticated within the last ten minutes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestIdentityProvider)]
struct ManifestIdentityProviderDto {
    /// By which the identity provider is known.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$", example = "entra")]
    slug: String,
    /// A name for people.
    #[schema(min_length = 1, max_length = 120, example = "Entra ID")]
    name: String,
    /// To the letter as in the discovery document of the provider, which is read if the issuer is new.
    #[schema(max_length = 512, pattern = "^https?://", example = "https://login.example.com")]
    issuer: String,
    /// How this service is known at the provider.
    #[schema(min_length = 1, max_length = 255)]
    client_id: String,
    /// The secret of this service at the provider, which is never shown. If it is absent, a provider that exists keeps
    /// its secret, and a new one has none.
    #[schema(write_only, min_length = 1, max_length = 512)]
    client_secret: Option<String>,
    /// One of them is `openid`. If the field is absent, they are `openid`, `email` and `profile`.
    #[schema(nullable = false, min_items = 1, max_items = 20)]
    scopes: Option<Vec<String>>,
    /// The names of domains of the tenant, for which the provider speaks. If the field is absent, it speaks for none.
    #[schema(nullable = false, max_items = 50)]
    domains: Option<Vec<String>>,
    /// Whether an address counts as verified without the claim `email_verified`. If it is absent, it does not.
    #[schema(nullable = false)]
    trusts_email: Option<bool>,
    #[schema(inline, nullable = false)]
    subject_claim: Option<SubjectClaimDto>,
    #[schema(inline, nullable = false)]
    provisioning: Option<ProvisioningDto>,
    /// The roles of the users that are made. None of them may have all permissions.
    #[schema(nullable = false, max_items = 50)]
    roles: Option<Vec<ManifestProvidedRoleDto>>,
    /// Whether a second factor at the provider counts here. If it is absent, it does not.
    #[schema(nullable = false)]
    factor_is_trusted: Option<bool>,
    /// Whether people log in by it. Without it, they do by a new one, and one that exists stays as it is.
    enabled: Option<bool>,
}

/// A role of the users that an identity provider makes.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestProvidedRole)]
struct ManifestProvidedRoleDto {
    /// The name of the role, which the manifest or the tenant has.
    #[schema(example = "MEMBER")]
    role: String,
    /// The slug of the organization, which the manifest or the tenant has. If it is absent, the role is held
    /// tenant-wide.
    #[schema(example = "parcels")]
    organization: Option<String>,
}

/// A directory.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ManifestDirectory)]
struct ManifestDirectoryDto {
    /// The name of the service account whose API keys the directory uses, by which it is known. The manifest or the
    /// tenant has it, and it has no other directory.
    #[schema(min_length = 1, max_length = 100, example = "Tracker")]
    service_account: String,
    /// A name for people.
    #[schema(min_length = 1, max_length = 120, example = "Staff")]
    name: String,
    /// The slug of the identity provider by which the users of the directory log in, which the manifest or the tenant
    /// has. If it is absent, they log in by other means.
    #[schema(example = "entra")]
    identity_provider: Option<String>,
    /// Whether the directory takes over users of the tenant who have the address of one of its own. If it is absent, it
    /// does not.
    #[schema(nullable = false, example = false)]
    adopt: Option<bool>,
}

/// The statuses that a manifest can name.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ManifestStatusDto {
    Active,
    Suspended,
}
