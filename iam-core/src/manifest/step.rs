//! The changes of a plan, in the order in which they can be made.

use iam_model::clock::Timestamp;
use iam_model::id::{
    AssignmentId, DirectoryId, IdentityProviderId, OrganizationId, PermissionId, RoleId, UserId, WebhookId,
};
use iam_model::manifest::{ManifestAction, ManifestItemKind};
use iam_model::user::UserStatus;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::directory::DirectoryPatch;
use crate::identity_provider::{IdentityProviderPatch, NewIdentityProvider};
use crate::manifest::document::ManifestProvidedRole;
use crate::organization::OrganizationPatch;
use crate::permission::NewPermission;
use crate::role::{NewRole, RolePatch};
use crate::tenant::TenantPatch;
use crate::webhook::{NewWebhook, WebhookPatch};

/// A change that a manifest makes, or would make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlannedChange {
    /// What is done.
    pub action: ManifestAction,
    /// To what kind of item.
    pub kind: ManifestItemKind,
    /// The name of the item, for people: that of a permission, a role or a service account, the slug of an organization,
    /// the address of a webhook, the slug of an identity provider, the service account of a directory. A role of a
    /// service account has the names of both, and the slug of the organization. Empty for the settings.
    pub name: String,
    /// The identifier of the item; `None` for the settings. That of an item that a preview would make exists nowhere
    /// else.
    pub id: Option<Uuid>,
    /// The fields that change, as they are; all fields of an item that is removed. A secret is never shown: `(former
    /// secret)` stands in its place, and here below `(new secret)`.
    pub before: Map<String, Value>,
    /// The fields that change, as they become; all fields of an item that is made.
    pub after: Map<String, Value>,
}

/// The changes of a manifest, in the order in which they can be made.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// What manifests have made, and is gone.
    pub(super) gone: Vec<Uuid>,
}

/// A change with what it needs.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) change: PlannedChange,
    /// The field of the manifest that asks for it.
    pub(super) at: String,
    pub(super) operation: Operation,
}

/// A change. What the same manifest makes is named, because it has no identifier yet.
#[derive(Debug)]
pub(super) enum Operation {
    Settings(TenantPatch),
    CreatePermission(NewPermission),
    CreateRole(NewRole),
    UpdateRole(RoleId, RolePatch),
    CreateOrganization {
        slug: String,
        name: String,
        parent: Option<String>,
        is_suspended: bool,
    },
    UpdateOrganization {
        id: OrganizationId,
        /// Without the parent.
        patch: OrganizationPatch,
        parent: Option<Option<String>>,
    },
    CreateAccount {
        name: String,
        home: Option<String>,
        is_suspended: bool,
    },
    UpdateAccount {
        id: UserId,
        home: Option<Option<String>>,
        status: Option<UserStatus>,
    },
    Assign {
        account: String,
        role: String,
        organization: Option<String>,
        expires_at: Option<Timestamp>,
    },
    SetExpiry(AssignmentId, Option<Timestamp>),
    Revoke(AssignmentId),
    CreateWebhook(NewWebhook),
    UpdateWebhook(WebhookId, WebhookPatch),
    RemoveWebhook(WebhookId),
    CreateProvider {
        /// Without the roles.
        new: Box<NewIdentityProvider>,
        roles: Vec<ManifestProvidedRole>,
    },
    UpdateProvider {
        id: IdentityProviderId,
        /// Without the roles.
        patch: Box<IdentityProviderPatch>,
        roles: Option<Vec<ManifestProvidedRole>>,
    },
    RemoveProvider(IdentityProviderId),
    CreateDirectory {
        account: String,
        name: String,
        provider: Option<String>,
        adopt: bool,
    },
    UpdateDirectory {
        id: DirectoryId,
        /// Without the provider.
        patch: DirectoryPatch,
        provider: Option<Option<String>>,
    },
    RemoveDirectory(DirectoryId),
    RemoveAccount(UserId),
    RemoveOrganization(OrganizationId),
    RemoveRole(RoleId),
    RemovePermission(PermissionId),
}
