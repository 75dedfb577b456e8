// Written by scripts/rust-client from docs/openapi.json. Change neither by hand.

//! The parameters of operations.

use serde::Serialize;
use uuid::Uuid;

use chrono::{DateTime, Utc};

use super::models::*;

/// The parameters of [`Client::list_access_requests`](crate::Client::list_access_requests).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListAccessRequests {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Requests with this status only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AccessRequestStatus>,
    /// Requests of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// Requests for this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_id: Option<Uuid>,
    /// Requests for exactly this organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// Requests that were made on this UTC day (`2026-01-31`) or at this moment (`2026-01-31T09:15:00.123Z`), or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    /// Requests that were made on this UTC day or at this moment, or earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// Whether to list only the requests about which the caller can decide now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_decide: Option<bool>,
}

/// The parameters of [`Client::list_access_reviews`](crate::Client::list_access_reviews).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListAccessReviews {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Reviews with this status only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AccessReviewStatus>,
}

/// The parameters of [`Client::list_access_review_items`](crate::Client::list_access_review_items).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListAccessReviewItems {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Items with this decision, or without one, only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<ItemDecision>,
}

/// The parameters of [`Client::list_audit_logs`](crate::Client::list_audit_logs).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListAuditLogs {
    /// Entries about this resource type. `GET /audit-logs/catalogue` lists all types; another one finds nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// Entries about the resource with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// Entries with this action. `GET /audit-logs/catalogue` lists all actions; another one finds nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Entries of actions by this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// Entries about this organization or about role assignments in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// Entries from the request with this correlation id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Entries of this UTC day (`2026-01-31`) or of this moment (`2026-01-31T09:15:00.123Z`), or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    /// Entries of this UTC day or of this moment, or earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// Entries that are older than this position: the `nextCursor` of a page, or the `cursor` of an exported entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// How many entries a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// The parameters of [`Client::prove_audit_consistency`](crate::Client::prove_audit_consistency).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProveAuditConsistency {
    /// The size in the older checkpoint.
    pub from: u64,
    /// The size in the newer checkpoint. If it is absent, the present tree is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// The parameters of [`Client::export_audit_logs`](crate::Client::export_audit_logs).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportAuditLogs {
    /// Entries about this resource type. `GET /audit-logs/catalogue` lists all types; another one finds nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// Entries about the resource with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// Entries with this action. `GET /audit-logs/catalogue` lists all actions; another one finds nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Entries of actions by this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// Entries about this organization or about role assignments in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// Entries from the request with this correlation id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Entries of this UTC day (`2026-01-31`) or of this moment (`2026-01-31T09:15:00.123Z`), or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<String>,
    /// Entries of this UTC day or of this moment, or earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<String>,
    /// Entries that are older than this position: the `nextCursor` of a page, or the `cursor` of an exported entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// With `ocsf`, entries are events of the Open Cybersecurity Schema Framework, as NDJSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<EventFormat>,
}

/// The parameters of [`Client::prove_audit_log`](crate::Client::prove_audit_log).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProveAuditLog {
    /// The size of the tree in which to prove the entry, for instance the size in a checkpoint that you kept. If it
    /// is absent, the present tree is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_size: Option<u64>,
}

/// The parameters of [`Client::list_federation_providers`](crate::Client::list_federation_providers).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListFederationProviders {
    /// The identifier or slug of the tenant.
    pub tenant: String,
}

/// The parameters of [`Client::list_permission_holders`](crate::Client::list_permission_holders).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPermissionHolders {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// A built-in permission or one of the application.
    pub permission: String,
    /// The organization in which they hold it. Absent means tenant-wide; roles in organizations then do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The moment at which they hold it. Absent means now. For an earlier moment, the caller also needs
    /// `audit-logs:read`. For a later one, the answer is the one as things stand now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
}

/// The parameters of [`Client::delete_directory`](crate::Client::delete_directory).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeleteDirectory {
    /// What happens to the users of the directory: `keep` changes nothing, `suspend` suspends those who are ACTIVE.
    /// They all stay, and belong to no directory.
    pub users: UsersOfDirectory,
}

/// The parameters of [`Client::list_directory_groups`](crate::Client::list_directory_groups).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListDirectoryGroups {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Groups whose names contain all these words, at most eight. Upper and lower case make no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
}

/// The parameters of [`Client::list_eligibilities`](crate::Client::list_eligibilities).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListEligibilities {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// The parameters of [`Client::list_invitations`](crate::Client::list_invitations).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListInvitations {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Invitations with this status only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<InvitationStatus>,
    /// Invitations of exactly this e-mail. Upper and lower case make no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// The parameters of [`Client::list_legal_holds`](crate::Client::list_legal_holds).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListLegalHolds {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// The parameters of [`Client::list_organizations`](crate::Client::list_organizations).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListOrganizations {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Organizations directly below this one; `null` for roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// `true` for roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<bool>,
    /// Organizations with this status only. By default, all except the INACTIVE ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Organizations with all of these words (at most 8), each as a part of the name or the slug. Compared by NFKC and
    /// full case folding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Organizations with exactly this value of an attribute, as `key:value`. The tenant has made the key searchable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The field to sort by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<OrganizationSort>,
    /// The direction of the sort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<SortOrder>,
}

/// The parameters of [`Client::list_permissions`](crate::Client::list_permissions).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListPermissions {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// The parameters of [`Client::list_role_assignments`](crate::Client::list_role_assignments).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListRoleAssignments {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Assignments of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
    /// Assignments of this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_id: Option<Uuid>,
    /// Assignments in exactly this organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// Assignments that expire before this moment, and have not expired yet unless `includeExpired` is `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_before: Option<DateTime<Utc>>,
    /// Whether to include expired assignments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_expired: Option<bool>,
    /// Lists what was held at this moment. The caller then also needs `audit-logs:read`. For a later moment, lists what
    /// will be held as things stand now. Absent means now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<DateTime<Utc>>,
}

/// The parameters of [`Client::list_roles`](crate::Client::list_roles).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListRoles {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// The parameters of [`Client::apply_manifest`](crate::Client::apply_manifest).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ApplyManifest {
    /// `true` for a preview: nothing is changed, and the response says what would change, and who would gain or lose
    /// which right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<bool>,
    /// `true` to remove what manifests have made and this one does not name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prune: Option<bool>,
}

/// The parameters of [`Client::list_users`](crate::Client::list_users).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListUsers {
    /// The number of the page, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u64>,
    /// How many items a page holds at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Users with this status only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Users of this kind only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<UserKind>,
    /// Users with all of these words (at most 8), each as a part of the e-mail, the first name or the last name, or of
    /// the name of a service account. Compared by NFKC and full case folding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Users with an unexpired role in exactly this organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// Users with exactly this value of an attribute, as `key:value`. The tenant has made the key searchable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// People who have a confirmed second factor (`true`), or who have none (`false`). Needs `users:update` in the whole
    /// tenant, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_factor: Option<bool>,
    /// The field to sort by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_by: Option<UserSort>,
    /// The direction of the sort.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<SortOrder>,
}

/// The parameters of [`Client::list_user_roles`](crate::Client::list_user_roles).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListUserRoles {
    /// Lists what was held at this moment. The caller then also needs `audit-logs:read`. For a later moment, lists what
    /// will be held as things stand now. Absent means now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<DateTime<Utc>>,
}
