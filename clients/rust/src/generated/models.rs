// Written by scripts/rust-client from docs/openapi.json. Change neither by hand.

//! The types of requests and answers.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::value::{Change, Secret};

/// Why the service has cancelled an access request. OUTDATED: the eligibility does not allow it any more, or the role or
/// the approvals are not the same any more. NOT_ELIGIBLE: the user is not eligible any more. ROLE_HELD: the user holds
/// the role there by other means. USER_SUSPENDED, USER_DELETED: what has become of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum AccessRequestCancelCause {
    /// `OUTDATED`
    #[serde(rename = "OUTDATED")]
    Outdated,
    /// `NOT_ELIGIBLE`
    #[serde(rename = "NOT_ELIGIBLE")]
    NotEligible,
    /// `ROLE_HELD`
    #[serde(rename = "ROLE_HELD")]
    RoleHeld,
    /// `USER_SUSPENDED`
    #[serde(rename = "USER_SUSPENDED")]
    UserSuspended,
    /// `USER_DELETED`
    #[serde(rename = "USER_DELETED")]
    UserDeleted,
}

/// The state of an access request. PENDING: approvals are missing. APPROVED: it begins later. ACTIVE: the user holds the
/// role. ENDED: the user has held it. DENIED: it was refused. CANCELLED: it was taken back, or what it needs was gone.
/// LAPSED: the approvals did not come in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum AccessRequestStatus {
    /// `PENDING`
    #[serde(rename = "PENDING")]
    Pending,
    /// `APPROVED`
    #[serde(rename = "APPROVED")]
    Approved,
    /// `ACTIVE`
    #[serde(rename = "ACTIVE")]
    Active,
    /// `ENDED`
    #[serde(rename = "ENDED")]
    Ended,
    /// `DENIED`
    #[serde(rename = "DENIED")]
    Denied,
    /// `CANCELLED`
    #[serde(rename = "CANCELLED")]
    Cancelled,
    /// `LAPSED`
    #[serde(rename = "LAPSED")]
    Lapsed,
}

/// A decision: the assignment or the eligibility stays, or it is revoked when the review is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum AccessReviewDecision {
    /// `KEEP`
    #[serde(rename = "KEEP")]
    Keep,
    /// `REVOKE`
    #[serde(rename = "REVOKE")]
    Revoke,
}

/// What an item is about: a role that a user holds, or one for which users may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum AccessReviewItemKind {
    /// `ASSIGNMENT`
    #[serde(rename = "ASSIGNMENT")]
    Assignment,
    /// `ELIGIBILITY`
    #[serde(rename = "ELIGIBILITY")]
    Eligibility,
}

/// What the completion made of a decision: the assignment or the eligibility stayed, was revoked, or had ended before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum AccessReviewOutcome {
    /// `KEPT`
    #[serde(rename = "KEPT")]
    Kept,
    /// `REVOKED`
    #[serde(rename = "REVOKED")]
    Revoked,
    /// `GONE`
    #[serde(rename = "GONE")]
    Gone,
}

/// The state of a review: people decide about its items, the decisions were carried out, or it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum AccessReviewStatus {
    /// `OPEN`
    #[serde(rename = "OPEN")]
    Open,
    /// `COMPLETED`
    #[serde(rename = "COMPLETED")]
    Completed,
    /// `CANCELLED`
    #[serde(rename = "CANCELLED")]
    Cancelled,
}

/// What was decided: the user agrees, or refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum AccessVerdict {
    /// `APPROVE`
    #[serde(rename = "APPROVE")]
    Approve,
    /// `DENY`
    #[serde(rename = "DENY")]
    Deny,
}

/// The type of the values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum AttributeType {
    /// `STRING`
    #[serde(rename = "STRING")]
    String,
    /// `NUMBER`
    #[serde(rename = "NUMBER")]
    Number,
    /// `BOOLEAN`
    #[serde(rename = "BOOLEAN")]
    Boolean,
    /// `STRINGS`
    #[serde(rename = "STRINGS")]
    Strings,
    /// `OBJECT`
    #[serde(rename = "OBJECT")]
    Object,
}

/// How requests of AuthZEN name users and organizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum AuthzenIdentifiers {
    /// `ID`
    #[serde(rename = "ID")]
    Id,
    /// `NAME`
    #[serde(rename = "NAME")]
    Name,
}

/// The state of a delivery: the receiver has accepted the event, no attempt follows, or another attempt follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum DeliveryStatus {
    /// `DELIVERED`
    #[serde(rename = "DELIVERED")]
    Delivered,
    /// `FAILED`
    #[serde(rename = "FAILED")]
    Failed,
    /// `PENDING`
    #[serde(rename = "PENDING")]
    Pending,
}

/// The type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum DomainRecordType {
    /// `TXT`
    #[serde(rename = "TXT")]
    Txt,
}

/// Whether the tenant has proven the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum DomainStatus {
    /// `PENDING`
    #[serde(rename = "PENDING")]
    Pending,
    /// `VERIFIED`
    #[serde(rename = "VERIFIED")]
    Verified,
}

/// Whether users log in by a message to their address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum EmailLoginSetting {
    /// `OFF`
    #[serde(rename = "OFF")]
    Off,
    /// `ON`
    #[serde(rename = "ON")]
    On,
}

/// One of `execute_all`, `deny_on_first_deny`, `permit_on_first_permit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum EvaluationsSemantic {
    /// `execute_all`
    #[serde(rename = "execute_all")]
    ExecuteAll,
    /// `deny_on_first_deny`
    #[serde(rename = "deny_on_first_deny")]
    DenyOnFirstDeny,
    /// `permit_on_first_permit`
    #[serde(rename = "permit_on_first_permit")]
    PermitOnFirstPermit,
}

/// How it writes them: as the API shows entries, or as events of the Open Cybersecurity Schema Framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum EventFormat {
    /// `native`
    #[serde(rename = "native")]
    Native,
    /// `ocsf`
    #[serde(rename = "ocsf")]
    Ocsf,
}

/// An authenticator app or a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum FactorType {
    /// `totp`
    #[serde(rename = "totp")]
    Totp,
    /// `passkey`
    #[serde(rename = "passkey")]
    Passkey,
}

/// What became of the invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum InvitationStatus {
    /// `PENDING`
    #[serde(rename = "PENDING")]
    Pending,
    /// `ACCEPTED`
    #[serde(rename = "ACCEPTED")]
    Accepted,
    /// `REVOKED`
    #[serde(rename = "REVOKED")]
    Revoked,
    /// `EXPIRED`
    #[serde(rename = "EXPIRED")]
    Expired,
}

/// One of `KEEP`, `REVOKE`, `UNDECIDED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum ItemDecision {
    /// `KEEP`
    #[serde(rename = "KEEP")]
    Keep,
    /// `REVOKE`
    #[serde(rename = "REVOKE")]
    Revoke,
    /// `UNDECIDED`
    #[serde(rename = "UNDECIDED")]
    Undecided,
}

/// The statuses that a manifest can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum ManifestStatus {
    /// `ACTIVE`
    #[serde(rename = "ACTIVE")]
    Active,
    /// `SUSPENDED`
    #[serde(rename = "SUSPENDED")]
    Suspended,
}

/// One of `name`, `createdAt`, `updatedAt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum OrganizationSort {
    /// `name`
    #[serde(rename = "name")]
    Name,
    /// `createdAt`
    #[serde(rename = "createdAt")]
    CreatedAt,
    /// `updatedAt`
    #[serde(rename = "updatedAt")]
    UpdatedAt,
}

/// Whether users log in by passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum PasswordLoginSetting {
    /// `ALLOWED`
    #[serde(rename = "ALLOWED")]
    Allowed,
    /// `FEDERATED`
    #[serde(rename = "FEDERATED")]
    Federated,
}

/// The rules for new passwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum PasswordPolicy {
    /// `seed`
    #[serde(rename = "seed")]
    Seed,
    /// `nist-800-63b-4`
    #[serde(rename = "nist-800-63b-4")]
    Nist80063b4,
    /// `asvs-5`
    #[serde(rename = "asvs-5")]
    Asvs5,
}

/// Whether accounts are linked and made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum Provisioning {
    /// `OFF`
    #[serde(rename = "OFF")]
    Off,
    /// `LINK`
    #[serde(rename = "LINK")]
    Link,
    /// `CREATE`
    #[serde(rename = "CREATE")]
    Create,
}

/// Whether the right would be gained or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum RightDirection {
    /// `GAINED`
    #[serde(rename = "GAINED")]
    Gained,
    /// `LOST`
    #[serde(rename = "LOST")]
    Lost,
}

/// Where the role can be assigned; ANY if the field is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum RoleScope {
    /// `TENANT`
    #[serde(rename = "TENANT")]
    Tenant,
    /// `ORGANIZATION`
    #[serde(rename = "ORGANIZATION")]
    Organization,
    /// `ANY`
    #[serde(rename = "ANY")]
    Any,
}

/// Whether the users have second factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum SecondFactorSetting {
    /// `OFF`
    #[serde(rename = "OFF")]
    Off,
    /// `OPTIONAL`
    #[serde(rename = "OPTIONAL")]
    Optional,
    /// `REQUIRED`
    #[serde(rename = "REQUIRED")]
    Required,
}

/// One of `asc`, `desc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum SortOrder {
    /// `asc`
    #[serde(rename = "asc")]
    Asc,
    /// `desc`
    #[serde(rename = "desc")]
    Desc,
}

/// Whether roles that are held in an organization are in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum Status {
    /// `ACTIVE`
    #[serde(rename = "ACTIVE")]
    Active,
    /// `SUSPENDED`
    #[serde(rename = "SUSPENDED")]
    Suspended,
    /// `INACTIVE`
    #[serde(rename = "INACTIVE")]
    Inactive,
}

/// The claim that names a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum SubjectClaim {
    /// `sub`
    #[serde(rename = "sub")]
    Sub,
    /// `oid`
    #[serde(rename = "oid")]
    Oid,
}

/// Whether users and organizations can have attributes that the tenant has not defined. Of a tenant, absent where
/// `userAttributes` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum UnregisteredAttributes {
    /// `ALLOWED`
    #[serde(rename = "ALLOWED")]
    Allowed,
    /// `REFUSED`
    #[serde(rename = "REFUSED")]
    Refused,
}

/// Whether a user is a person or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum UserKind {
    /// `HUMAN`
    #[serde(rename = "HUMAN")]
    Human,
    /// `SERVICE`
    #[serde(rename = "SERVICE")]
    Service,
}

/// One of `createdAt`, `updatedAt`, `email`, `firstName`, `lastName`, `lastLoginAt`, `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum UserSort {
    /// `createdAt`
    #[serde(rename = "createdAt")]
    CreatedAt,
    /// `updatedAt`
    #[serde(rename = "updatedAt")]
    UpdatedAt,
    /// `email`
    #[serde(rename = "email")]
    Email,
    /// `firstName`
    #[serde(rename = "firstName")]
    FirstName,
    /// `lastName`
    #[serde(rename = "lastName")]
    LastName,
    /// `lastLoginAt`
    #[serde(rename = "lastLoginAt")]
    LastLoginAt,
    /// `status`
    #[serde(rename = "status")]
    Status,
}

/// One of `keep`, `suspend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum UsersOfDirectory {
    /// `keep`
    #[serde(rename = "keep")]
    Keep,
    /// `suspend`
    #[serde(rename = "suspend")]
    Suspend,
}

/// A decision about an access request.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccessDecision {
    /// When it was decided.
    pub at: DateTime<Utc>,
    /// Whether it is about the role as it is now, so that an approval counts. Once the request is decided, its decisions
    /// stay as they are: a later change of the role has no effect on them.
    pub counts: bool,
    /// Whether the user agrees.
    pub decision: AccessVerdict,
    /// Why, for people.
    pub reason: Option<String>,
    /// The user who decided.
    pub user: Option<AssignedUser>,
    /// The user who decided.
    pub user_id: Uuid,
}

/// A user asks for a role for a time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccessRequest {
    /// How many others have to approve.
    pub approvals_needed: u32,
    /// The role assignment that the request gives. It may have ended since. Null before it begins.
    pub assignment_id: Option<Uuid>,
    /// Why the service has cancelled it. Null if a user did, and with any other status.
    pub cancel_cause: Option<AccessRequestCancelCause>,
    /// The reason that this user has given for the cancellation or the end. The reason of a denial is that of the
    /// decision.
    pub close_reason: Option<String>,
    /// When it was closed. Null while it is open, and until the service has written that it has lapsed or ended.
    pub closed_at: Option<DateTime<Utc>>,
    /// The user who closed it. Null while it is open, and if the service closed it.
    pub closed_by: Option<Uuid>,
    /// When the user asked.
    pub created_at: DateTime<Utc>,
    /// The last decision of each user, oldest first.
    pub decisions: Vec<AccessDecision>,
    /// The eligibility by which the user asks. It may be gone since.
    pub eligibility_id: Uuid,
    /// When it ends at the latest. Null as long as approvals are missing.
    pub ends_at: Option<DateTime<Utc>>,
    /// Identifies the request.
    pub id: Uuid,
    /// Until when the approvals must be there.
    pub lapses_at: DateTime<Utc>,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// Why. Those who decide and the audit log see it.
    pub reason: String,
    /// The user who asks.
    pub requested_by: Uuid,
    /// The role for which the user asks.
    pub role_id: Uuid,
    /// The name of the role when the user asked. The role may be gone since, or have another name.
    pub role_name: String,
    /// For how many seconds the user asks.
    pub seconds: u32,
    /// When it begins. While the request is PENDING: when it is to begin at the earliest, or null for the last approval.
    pub starts_at: Option<DateTime<Utc>>,
    /// The status.
    pub status: AccessRequestStatus,
    /// What another system calls the reason.
    pub ticket: Option<String>,
}

/// What to say about the end of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AccessRequestClosing {
    /// Why, for people. Absent or null means that there is no reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A review of role assignments and eligibilities.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccessReview {
    /// When the review was completed or cancelled. Null means that it is OPEN.
    pub closed_at: Option<DateTime<Utc>>,
    /// The user who completed or cancelled the review. Null means that it is OPEN, or the service itself.
    pub closed_by: Option<Uuid>,
    /// How many items the review has, and how many of them are decided.
    pub counts: AccessReviewCounts,
    /// When the review began, and its items were frozen.
    pub created_at: DateTime<Utc>,
    /// The user who began the review. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// Until when the decisions are due. The review stays OPEN afterwards.
    pub due_at: DateTime<Utc>,
    /// Identifies the review.
    pub id: Uuid,
    /// A name for people.
    pub name: String,
    /// The review is about this organization and everything below it. Null means the whole tenant.
    pub organization_id: Option<Uuid>,
    /// The review is about these roles. Empty means all roles.
    pub role_ids: Vec<Uuid>,
    /// The status.
    pub status: AccessReviewStatus,
    /// The review is about these users. Empty means all users.
    pub user_ids: Vec<Uuid>,
}

/// How many items of a review are decided.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AccessReviewCounts {
    /// The items of which the assignment or the eligibility stays.
    pub keep: u64,
    /// The items of which it is revoked when the review is completed.
    pub revoke: u64,
    /// All items.
    pub total: u64,
    /// The items without a decision.
    pub undecided: u64,
}

/// An item of a review: a role assignment or an eligibility as it was when the review began, and the decision about it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccessReviewItem {
    /// When the assignment or the eligibility was made.
    pub assignment_created_at: DateTime<Utc>,
    /// The assignment. It may have ended since. Null for an eligibility.
    pub assignment_id: Option<Uuid>,
    /// When it was decided. Null means that nothing is decided.
    pub decided_at: Option<DateTime<Utc>>,
    /// The user who has decided. Null means that nothing is decided, or the service itself.
    pub decided_by: Option<Uuid>,
    /// Whether it stays. Null means that nothing is decided.
    pub decision: Option<AccessReviewDecision>,
    /// The group of a directory that gave the role when the review began. Null if it was assigned by other means.
    pub directory_group_id: Option<Uuid>,
    /// The eligibility. It may be removed since. Null for an assignment.
    pub eligibility_id: Option<Uuid>,
    /// When the assignment or the eligibility expires. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The user who made it. Null means the service itself.
    pub granted_by: Option<Uuid>,
    /// The role whose holders may ask. Null means a user.
    pub held_role_id: Option<Uuid>,
    /// Identifies the item. It is the identifier of the assignment or of the eligibility.
    pub id: Uuid,
    /// What the item is about.
    pub kind: AccessReviewItemKind,
    /// When the user had last logged in when the review began. Null means never.
    pub last_login_at: Option<DateTime<Utc>>,
    /// Absent when the role is held tenant-wide.
    pub organization: Option<Named>,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// What the completion made of the decision. Null means that the review is not COMPLETED.
    pub outcome: Option<AccessReviewOutcome>,
    /// Why, for people.
    pub reason: Option<String>,
    /// The role.
    pub role: Named,
    /// The role.
    pub role_id: Uuid,
    /// Absent when the holders of a role may ask.
    pub user: Option<AssignedUser>,
    /// The user who holds the role, or may ask for it. Null means the holders of a role.
    pub user_id: Option<Uuid>,
}

/// The user who acts as the subject of a token.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ActingParty {
    /// The id of the user.
    pub sub: Uuid,
}

/// A user who acts as another one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Actor {
    /// The user's e-mail address, unique in the tenant.
    pub email: String,
    /// The user's first name.
    pub first_name: String,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The user's last name.
    pub last_name: String,
}

/// A key by which a program acts as a user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApiKey {
    /// When the key was made.
    pub created_at: DateTime<Utc>,
    /// The user who made the key. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// From when on the key is refused.
    pub expires_at: DateTime<Utc>,
    /// Identifies the key.
    pub id: Uuid,
    /// When a request was last made with the key, up to an hour too early. Null means never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// A name for people.
    pub name: String,
    /// The organization in which, and below which, the key has its permissions. Null means everywhere.
    pub organization_id: Option<Uuid>,
    /// The only permissions of the key, as far as its user holds them. Null means all permissions of its user.
    pub permissions: Option<Vec<String>>,
    /// The beginning of the key, which is no secret.
    pub prefix: String,
    /// The user as whom the key acts.
    pub user_id: Uuid,
}

/// The changes to a key, which only make it narrower. Fields that are absent or null stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyPatch {
    /// Not later than the present expiry.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub expires_at: Change<DateTime<Utc>>,
    /// A name for people.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
    /// Permissions that the present ones cover.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub permissions: Change<Vec<String>>,
}

/// How to replace the secret of a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRotation {
    /// For how many seconds the former key is still accepted: none if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap_seconds: Option<u32>,
}

/// What a manifest has changed, or would change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AppliedManifest {
    /// The changes, in their order. There are none if the tenant was so already.
    pub changes: Vec<ManifestChange>,
    /// What the changes would do to the rights of users. Only a preview has it.
    pub preview: Option<Preview>,
}

/// The user who holds a role.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AssignedUser {
    /// Absent for a service account.
    pub email: Option<String>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name of a service account. Absent for a person.
    pub name: Option<String>,
}

/// The present state of the tenant's log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditCheckpoint {
    /// The origin, the tree size and the root hash as a signed note. Of a checkpoint, you need to keep only this
    /// note.
    pub checkpoint: String,
    /// The name of the tenant's log.
    pub origin: String,
    /// The root hash of this tree, in base64.
    pub root_hash: String,
    /// The size of the Merkle tree: how many entries have a leaf in it.
    pub tree_size: u64,
    /// The ids of pending entries, which have no leaf in the tree yet: at most 100, the longest waiting first.
    pub unsealed: Vec<Uuid>,
    /// The key that verifies the signatures of the notes, as `<name>+<identifier>+<key>`. Keep it once, separately
    /// from the notes.
    pub verifier_key: String,
}

/// The proof that a newer state of a log continues an older one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditConsistencyProof {
    /// The size of the smaller tree.
    pub from: u64,
    /// The hashes of the proof, in base64.
    pub hashes: Vec<String>,
    /// The root hash of the larger tree, in base64.
    pub root_hash: String,
    /// The size of the larger tree.
    pub to: u64,
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditEntry {
    /// What happened.
    pub action: String,
    /// Identifies the request that made the change: the value of its `X-Correlation-Id`.
    pub correlation_id: Option<String>,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The client's IP address, if it is known.
    pub ip_address: Option<String>,
    /// Further facts about the action. ROLE_ASSIGNED and ROLE_REVOKED have `targetUserId`, `roleId`, `roleName` and `organizationId`, and no old and new value.
    pub metadata: Map<String, Value>,
    /// The new values, of the changed fields only.
    pub new_value: Option<Map<String, Value>>,
    /// The previous values, of the changed fields only.
    pub old_value: Option<Map<String, Value>>,
    /// Null for a failed login.
    pub resource_id: Option<String>,
    /// The type of the resource that changed.
    pub resource_type: String,
    /// The tenant.
    pub tenant_id: Uuid,
    /// The client's `User-Agent`, cut to 500 characters.
    pub user_agent: Option<String>,
    /// The acting user; null for the service itself and for a failed login.
    pub user_id: Option<Uuid>,
}

/// The proof that an entry is in the log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditInclusionProof {
    /// The entry.
    pub entry_id: Uuid,
    /// The audit path from the leaf to the root, in base64.
    pub hashes: Vec<String>,
    /// The sequence number of the entry among the tenant's entries, from 0.
    pub leaf_index: u64,
    /// The values that are withheld in the statement.
    pub openings: AuditOpenings,
    /// The root hash of that tree, in base64.
    pub root_hash: String,
    /// The text that the log commits to: the canonical JSON text of the entry, with its personal values withheld.
    pub statement: String,
    /// The size of the tree in which the proof shows the entry.
    pub tree_size: u64,
}

/// A page of the audit log, newest first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuditLog {
    /// The items of this page.
    pub data: Vec<AuditEntry>,
    /// Where the next page starts.
    pub pagination: CursorPagination,
}

/// The salt and the values that you need to check a commitment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuditOpening {
    /// 16 bytes, in base64.
    pub salt: String,
    /// The withheld values, in the order in which the statement withholds them.
    pub values: Vec<Value>,
}

/// The values that are withheld in a statement. A part is null after it was erased.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuditOpenings {
    /// The personal values in `metadata`, `newValue` and `oldValue`.
    pub details: Option<AuditOpening>,
    /// The client's IP address, then its user agent.
    pub origin: Option<AuditOpening>,
}

/// How long a tenant keeps its audit entries.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuditRetention {
    /// A shorter retention that was set and takes effect later. Null means none.
    pub pending: Option<PendingAuditRetention>,
    /// The retention that is in force, in days. Null means forever.
    pub retention_days: Option<u32>,
}

/// What is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenAction {
    /// The action of a permission: the part after the colon.
    pub name: String,
    /// They have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Value>,
}

/// The question what a subject may do with a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenActionSearch {
    /// It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// Which page of the results to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<AuthzenPage>,
    /// With what it is done.
    pub resource: AuthzenResource,
    /// Who does something.
    pub subject: AuthzenSubject,
}

/// The decisions of several questions, or that of the only one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum AuthzenAnswer {
    /// The decisions of several questions.
    Several(AuthzenDecisions),
    /// The decision of the only question.
    One(AuthzenDecision),
}

/// Where the operations of AuthZEN are.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthzenConfiguration {
    /// Where one evaluation is sent.
    #[serde(rename = "access_evaluation_endpoint")]
    pub access_evaluation_endpoint: String,
    /// Where several evaluations are sent.
    #[serde(rename = "access_evaluations_endpoint")]
    pub access_evaluations_endpoint: String,
    /// The URL of the service, which identifies it.
    #[serde(rename = "policy_decision_point")]
    pub policy_decision_point: String,
    /// Where actions are searched.
    #[serde(rename = "search_action_endpoint")]
    pub search_action_endpoint: String,
    /// Where resources are searched.
    #[serde(rename = "search_resource_endpoint")]
    pub search_resource_endpoint: String,
    /// Where subjects are searched.
    #[serde(rename = "search_subject_endpoint")]
    pub search_subject_endpoint: String,
}

/// Whether a subject may do something with a resource.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenDecision {
    /// Why.
    pub context: AuthzenDecisionContext,
    /// Whether it may.
    pub decision: bool,
}

/// The reason of a decision.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenDecisionContext {
    /// Why one of several questions could not be answered.
    pub error: Option<AuthzenError>,
    /// The role assignments that grant the permission, at most 50. Each of them is enough by itself.
    pub grants: Option<Vec<Uuid>>,
    /// An explanation for people: what grants the permission, or what is missing.
    pub reason: Option<String>,
}

/// The decisions of several questions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenDecisions {
    /// The decisions, in the order of the questions.
    pub evaluations: Vec<AuthzenDecision>,
}

/// A subject or a resource.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenEntity {
    /// Names it, as the tenant has set in `authzenIdentifiers`.
    pub id: String,
    /// Its type.
    pub r#type: String,
}

/// What is wrong with one of several questions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenError {
    /// An explanation for people.
    pub message: String,
    /// Always 400.
    pub status: u32,
}

/// The question whether a subject may do something with a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenEvaluation {
    /// What is done.
    pub action: AuthzenAction,
    /// It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// With what it is done.
    pub resource: AuthzenResource,
    /// Who does something.
    pub subject: AuthzenSubject,
}

/// One of several questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenEvaluationItem {
    /// What is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<AuthzenAction>,
    /// It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// With what it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<AuthzenResource>,
    /// Who does something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<AuthzenSubject>,
}

/// Several questions. Each has what it does not say itself from here. Without questions in `evaluations`, this is the
/// only one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenEvaluations {
    /// What is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<AuthzenAction>,
    /// It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// The questions, which are answered in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluations: Option<Vec<AuthzenEvaluationItem>>,
    /// How they are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<AuthzenOptions>,
    /// With what it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<AuthzenResource>,
    /// Who does something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<AuthzenSubject>,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenFoundAction {
    /// The action of a permission: the part after the colon.
    pub name: String,
}

/// How several questions are answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthzenOptions {
    /// `execute_all`: all are. `deny_on_first_deny` and `permit_on_first_permit`: those up to the first one with this
    /// decision are.
    #[serde(rename = "evaluations_semantic", skip_serializing_if = "Option::is_none")]
    pub evaluations_semantic: Option<EvaluationsSemantic>,
}

/// Which page of the results to show.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenPage {
    /// How many results a page has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// They have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Value>,
    /// The `next_token` of the page before. All else must be as in the request for that page; `limit` may be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// With what it is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenResource {
    /// Of the type `organization`, names the organization in which the action is done. Otherwise it has no effect.
    pub id: String,
    /// Where the resource is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<AuthzenResourceProperties>,
    /// The resource of a permission: the part before the colon.
    pub r#type: String,
}

/// The properties of a resource. Further ones have no effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthzenResourceProperties {
    /// Names the organization of the resource, as the tenant has set in `authzenIdentifiers`. Absent or null means
    /// tenant-wide. An organization is its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<String>,
}

/// The question with which resources a subject may do something.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenResourceSearch {
    /// What is done.
    pub action: AuthzenAction,
    /// It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// Which page of the results to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<AuthzenPage>,
    /// What is searched.
    pub resource: AuthzenType,
    /// Who does something.
    pub subject: AuthzenSubject,
}

/// The position of a page in all results.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AuthzenResultsPage {
    /// How many results this page has.
    pub count: u64,
    /// Send it as `token` with the same request to get the next page. Empty on the last page.
    #[serde(rename = "next_token")]
    pub next_token: String,
}

/// A page of what was found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenResultsAuthzenEntity {
    /// The position of the page.
    pub page: AuthzenResultsPage,
    /// What was found.
    pub results: Vec<AuthzenEntity>,
}

/// A page of what was found.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct AuthzenResultsAuthzenFoundAction {
    /// The position of the page.
    pub page: AuthzenResultsPage,
    /// What was found.
    pub results: Vec<AuthzenFoundAction>,
}

/// Who does something.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenSubject {
    /// Names the user, as the tenant has set in `authzenIdentifiers`.
    pub id: String,
    /// They have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub properties: Option<Value>,
    /// Only subjects of the type `user` exist: people and service accounts.
    pub r#type: String,
}

/// The question which subjects may do something with a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenSubjectSearch {
    /// What is done.
    pub action: AuthzenAction,
    /// It has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// Which page of the results to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<AuthzenPage>,
    /// With what it is done.
    pub resource: AuthzenResource,
    /// What is searched.
    pub subject: AuthzenType,
}

/// A type of what is searched. An `id` has no effect.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AuthzenType {
    /// The type: `user` for subjects, `organization` for resources. There is nothing of another one.
    pub r#type: String,
}

/// The API key that a request was authenticated by.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallingApiKey {
    /// From when on the key is refused.
    pub expires_at: DateTime<Utc>,
    /// Identifies the key.
    pub id: Uuid,
    /// A name for people.
    pub name: String,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Check {
    /// Always `ok`.
    pub status: String,
}

/// The results of the readiness checks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Checks {
    /// Whether the database answers.
    pub database: DatabaseCheck,
    /// Whether the database has the schema of this release.
    pub migrations: Check,
}

/// An organization directly below another one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChildOrganization {
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// The organization above. Null for a root.
    pub parent_id: Option<Uuid>,
    /// The name in URLs, unique in the tenant.
    pub slug: String,
    /// Whether roles that are held in an organization are in force.
    pub status: Status,
}

/// A confirmed factor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfirmedFactor {
    /// Recovery codes, if the user had none. They are shown once, and null in the answer to a repeated request.
    pub recovery_codes: Option<Vec<Secret>>,
}

/// An assignment that was created.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreatedRoleAssignment {
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The role.
    pub role_id: Uuid,
    /// The user.
    pub user_id: Uuid,
}

/// The assignments that were created.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct CreatedRoleAssignments {
    /// The role assignments.
    pub assignments: Vec<CreatedRoleAssignment>,
    /// How many assignments were created.
    pub created: u64,
}

/// Where the next page starts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CursorPagination {
    /// Whether older entries follow.
    pub has_next: bool,
    /// How many entries a page holds at most.
    pub limit: u32,
    /// To get the older entries, send this value as `cursor`. Null on the last page.
    pub next_cursor: Option<String>,
}

/// Whether the database answers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DatabaseCheck {
    /// How long the database took to answer, in milliseconds.
    pub latency_ms: f64,
    /// Always `ok`.
    pub status: String,
}

/// A role assignment that grants the permission.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DecidingGrant {
    /// The access request by which the role is held, or was given. Null for a standing assignment.
    pub access_request_id: Option<Uuid>,
    /// The role assignment.
    pub assignment_id: Uuid,
    /// The group of a directory that gives the role. Null if it was assigned by other means.
    pub directory_group_id: Option<Uuid>,
    /// When the role was assigned.
    pub granted_at: DateTime<Utc>,
    /// The user who assigned the role. Null means the service itself.
    pub granted_by: Option<Uuid>,
    /// The organization in which the role is held, if it is above the checked organization. Otherwise null.
    pub inherited_from: Option<Uuid>,
    /// The organization in which the role is held. Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
    /// The name of the role.
    pub role_name: String,
}

/// Whether the user holds the permission, and why.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Decision {
    /// Whether the user holds the permission.
    pub allowed: bool,
    /// The role assignments that grant the permission, at most 50. Each of them is enough by itself.
    pub grants: Vec<DecidingGrant>,
    /// An explanation for people: what grants the permission, or what is missing.
    pub reason: String,
    /// Whether more role assignments grant the permission. Absent if none does.
    pub truncated: Option<bool>,
}

/// An event that a webhook has sent, or could not send yet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Delivery {
    /// How often the event was sent.
    pub attempt: u32,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: u32,
    /// Why the last attempt failed. Null means that it did not.
    pub error: Option<String>,
    /// The status code of the last answer. Null means that there was no answer.
    pub http_status: Option<u32>,
    /// The entry of the audit log, and the header `webhook-id` of each attempt.
    pub id: Uuid,
    /// When the next attempt is due. Null means that none follows.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// The number of the event in the log.
    pub sequence: u64,
    /// When the last attempt began.
    pub started_at: DateTime<Utc>,
    /// The state of the delivery.
    pub status: DeliveryStatus,
    /// The type of the event.
    pub r#type: String,
}

/// Where the identity provider of a company writes its people and groups.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Directory {
    /// Whether the directory takes over users of the tenant who have the address of one of its own.
    pub adopt: bool,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The provider by which the users of the directory log in. Null if they log in by other means.
    pub identity_provider_id: Option<Uuid>,
    /// A name for people.
    pub name: String,
    /// The address to enter where the directory is managed: the base URL of SCIM 2.0.
    pub scim_url: String,
    /// The service account whose API keys the directory uses.
    pub service_account_id: Uuid,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// When its last request arrived, to the minute. Null means never.
    pub last_request_at: Option<DateTime<Utc>>,
    /// Its last requests that were refused, newest first: 20 at most.
    pub refusals: Vec<DirectoryRefusal>,
}

/// A group of a directory. Its name and its members grant nothing: its members hold the roles to which it is mapped.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DirectoryGroup {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The directory.
    pub directory_id: Uuid,
    /// The name, unique in the directory without regard to case.
    pub display_name: String,
    /// How the directory names the group itself. Null if it does not.
    pub external_id: Option<String>,
    /// The roles that its members hold.
    pub grants: Vec<DirectoryGroupGrant>,
    /// Identifies the group.
    pub id: Uuid,
    /// The number of its members, who are users of the directory.
    pub members: u32,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A role that the members of a group hold, without an end.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DirectoryGroupGrant {
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
}

/// The changes to a directory. Fields that are absent or null stay unchanged, except that null removes the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryPatch {
    /// Whether the directory takes over users of the tenant who have the address of one of its own.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub adopt: Change<bool>,
    /// The provider by which the users of the directory log in. Null means that they log in by other means.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub identity_provider_id: Change<Uuid>,
    /// A name for people.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
}

/// A request of a directory that was refused.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DirectoryRefusal {
    /// When it arrived.
    pub at: DateTime<Utc>,
    /// Why. It names no person.
    pub detail: String,
    /// The method, and the path without identifiers.
    pub request: String,
    /// The status code of the answer.
    pub status: u32,
}

/// How the people with an address log in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Discovered {
    /// Whether they may log in by a password.
    pub password_allowed: bool,
    /// The providers that speak for the domain of the address.
    pub providers: Vec<DiscoveredProvider>,
}

/// A provider, and its tenant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DiscoveredProvider {
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// The tenant of the provider.
    pub tenant: DiscoveredTenant,
}

/// The tenant of a provider.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DiscoveredTenant {
    /// The name.
    pub name: String,
    /// Names the tenant in logins.
    pub slug: String,
}

/// The address of a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Discovery {
    /// The user's e-mail address, unique in the tenant.
    pub email: String,
}

/// A domain of the tenant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Domain {
    /// When the record was looked for the last time. Null before the first time.
    pub checked_at: Option<DateTime<Utc>>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The domain in lower case, as A-labels.
    pub domain: String,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The record that proves the domain.
    pub record: DomainRecord,
    /// Whether the domain is proven.
    pub status: DomainStatus,
    /// When the domain became VERIFIED. Null while it is PENDING.
    pub verified_at: Option<DateTime<Utc>>,
}

/// The record of the DNS that proves the domain.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct DomainRecord {
    /// The name of the record.
    pub name: String,
    /// The type of the record.
    pub r#type: DomainRecordType,
    /// The value of the record. It is no secret.
    pub value: String,
}

/// Lets users ask for a role in a place, for a time. It gives nothing by itself.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Eligibility {
    /// How many others have to approve. With none, a request is effective at once.
    pub approvals: u32,
    /// The role whose holders decide. Null means the holders of `access-requests:update`.
    pub approver_role_id: Option<Uuid>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The user who made it. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// From when on no user may ask. What begins before ends then at the latest; a later change does not move the end of
    /// what has begun. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The role whose holders may ask, there or above. Null if a user is named.
    pub held_role_id: Option<Uuid>,
    /// Identifies the eligibility.
    pub id: Uuid,
    /// For how many seconds users may hold the role at most.
    pub max_seconds: u32,
    /// Where they may hold it. Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role for which users may ask.
    pub role_id: Uuid,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// The user who may ask. Null if the holders of a role may.
    pub user_id: Option<Uuid>,
}

/// The changes to an eligibility. Fields that are absent stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EligibilityPatch {
    /// How many others have to approve.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub approvals: Change<u32>,
    /// The role whose holders decide. Null means the holders of `access-requests:update`.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub approver_role_id: Change<Uuid>,
    /// Must be in the future. Null means never.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub expires_at: Change<DateTime<Utc>>,
    /// For how many seconds users may hold the role at most.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub max_seconds: Change<u32>,
}

/// A change of the caller's own address.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailChange {
    /// The password until now.
    pub current_password: Secret,
    /// The new e-mail address.
    pub new_email: String,
}

/// The address of a person who logs in by e-mail.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EmailLogin {
    /// The e-mail address of the account. Upper and lower case make no difference.
    pub email: String,
    /// The id or the slug of a tenant. If it is absent, the message has a link and a code for each account with the
    /// address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The proof that a person reads the mail of its address. It has a `token`, or a `flow` and a `code`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EmailLoginFinish {
    /// The code in the message. Blanks and dashes in it are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Secret>,
    /// The flow of the request that has caused the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Secret>,
    /// The token of the link in the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

/// The token of a link that was sent to an address.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EmailVerification {
    /// The token of the link that was sent to the address.
    pub token: Secret,
}

/// The user whose personal fields were erased.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Erasure {
    /// The number of entries in which fields were erased.
    pub entries: u64,
    /// The user.
    pub user_id: Uuid,
}

/// An entry of the audit log with its place in the sequence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The entry, as `GET /audit-logs/{id}` shows it.
    pub entry: AuditEntry,
    /// The number of the entry, counted from 1. Numbers have no gaps.
    pub sequence: u64,
    /// The resource type and the action of the entry.
    pub r#type: String,
}

/// Consecutive events.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Events {
    /// The events, oldest first.
    pub data: Vec<Event>,
    /// To get the next page, send this value as `after`.
    pub next: u64,
}

/// An entry, with the cursor from which an export continues after it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ExportedAuditEntry {
    /// What happened.
    pub action: String,
    /// Identifies the request that made the change: the value of its `X-Correlation-Id`.
    pub correlation_id: Option<String>,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The client's IP address, if it is known.
    pub ip_address: Option<String>,
    /// Further facts about the action. ROLE_ASSIGNED and ROLE_REVOKED have `targetUserId`, `roleId`, `roleName` and `organizationId`, and no old and new value.
    pub metadata: Map<String, Value>,
    /// The new values, of the changed fields only.
    pub new_value: Option<Map<String, Value>>,
    /// The previous values, of the changed fields only.
    pub old_value: Option<Map<String, Value>>,
    /// Null for a failed login.
    pub resource_id: Option<String>,
    /// The type of the resource that changed.
    pub resource_type: String,
    /// The tenant.
    pub tenant_id: Uuid,
    /// The client's `User-Agent`, cut to 500 characters.
    pub user_agent: Option<String>,
    /// The acting user; null for the service itself and for a failed login.
    pub user_id: Option<Uuid>,
    /// To get the entries that follow this one, send this value as `cursor`.
    pub cursor: String,
}

/// A second factor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Factor {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Identifies the factor.
    pub id: Uuid,
    /// When it last proved the user's identity. Null means never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// A name for people.
    pub name: String,
    /// An authenticator app or a passkey.
    pub r#type: FactorType,
}

/// The changes to a factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FactorPatch {
    /// A name for people.
    pub name: String,
}

/// The second factors of the caller.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Factors {
    /// The factors that are confirmed, oldest first.
    pub data: Vec<Factor>,
    /// How many recovery codes are left.
    pub recovery_codes_left: u64,
}

/// What the browser has brought back, and the secret of the client.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FederationFinish {
    /// The code that the browser has brought back.
    pub code: Secret,
    /// The secret whose challenge the client has sent at the start.
    pub code_verifier: Secret,
}

/// How a login by a provider begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FederationStart {
    /// The S256 challenge (RFC 7636) of a secret that the client keeps.
    pub code_challenge: String,
    /// The address of the person, which the provider may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login_hint: Option<String>,
    /// The provider.
    pub provider_id: Uuid,
    /// One of the addresses that the operator allows, to the letter. A loopback address may have any port.
    pub redirect_uri: String,
    /// Whether to authenticate the caller's session again, by the provider by which it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_up: Option<bool>,
}

/// The address of a person who has forgotten its password.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForgottenPassword {
    /// The e-mail address of the account. Upper and lower case make no difference.
    pub email: String,
    /// The id or the slug of a tenant. If it is absent, the message has a link for each account with the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The health of the service.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Health {
    /// The environment in which the service runs.
    pub environment: String,
    /// The service's name.
    pub service: String,
    /// Always `ok`.
    pub status: String,
    /// The time of the service.
    pub timestamp: DateTime<Utc>,
    /// The service's release.
    pub version: String,
}

/// The caller's permissions: tenant-wide, and in addition in single organizations. A permission in an organization
/// also applies to everything below it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct HeldPermissions {
    /// The permissions in single organizations.
    pub organizations: Vec<OrganizationPermissions>,
    /// The permissions in the whole tenant.
    pub tenant: Vec<String>,
    /// Whether organizations are left out, the lowest first, because there are more than 20,000 permissions in all of
    /// them. Absent if none is.
    pub truncated: Option<bool>,
}

/// A role that the caller holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HeldRole {
    /// The role assignment.
    pub assignment_id: Uuid,
    /// When it expires. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// Absent when the role is held tenant-wide.
    pub organization: Option<Named>,
    /// The role.
    pub role: Named,
}

/// An account at a provider by which a user logs in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Identity {
    /// The address of the account at the provider. Null if the provider does not say it.
    pub email: Option<String>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Names the provider in its tokens.
    pub issuer: String,
    /// Null means never.
    pub last_login_at: Option<DateTime<Utc>>,
    /// When it was linked.
    pub linked_at: DateTime<Utc>,
    /// The provider.
    pub provider_id: Uuid,
    /// The person, as the provider names it.
    pub subject: String,
}

/// A provider by which people log in. Its secret is never shown.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IdentityProvider {
    /// The address to register at the provider. Null if this installation reaches no providers.
    pub callback_url: Option<String>,
    /// Names this service at the provider.
    pub client_id: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The domains for which the provider speaks.
    pub domain_ids: Vec<Uuid>,
    /// Whether people log in by it.
    pub enabled: bool,
    /// Whether a second factor at the provider counts here.
    pub factor_is_trusted: bool,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Names the provider in its tokens.
    pub issuer: String,
    /// The name.
    pub name: String,
    /// Whether accounts are linked and made.
    pub provisioning: Provisioning,
    /// The roles of the users that are made.
    pub roles: Vec<ProvidedRole>,
    /// What the provider is asked for.
    pub scopes: Vec<String>,
    /// A name for addresses, unique in the tenant.
    pub slug: String,
    /// The claim that names a person.
    pub subject_claim: SubjectClaim,
    /// Whether an address counts as verified without the claim `email_verified`.
    pub trusts_email: bool,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// The changes to a provider. Fields that are absent or null stay unchanged, except that null removes the secret.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProviderPatch {
    /// Names this service at the provider.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub client_id: Change<String>,
    /// The secret of this service at the provider, which is never shown. Null removes it.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub client_secret: Change<Secret>,
    /// All domains after the change.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub domain_ids: Change<Vec<Uuid>>,
    /// Whether people log in by it.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub enabled: Change<bool>,
    /// Whether a second factor at the provider counts here.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub factor_is_trusted: Change<bool>,
    /// To the letter as in the discovery document of the provider, which is read.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub issuer: Change<String>,
    /// The name.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
    /// Whether accounts are linked and made.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub provisioning: Change<Provisioning>,
    /// All roles after the change. None of them may have all permissions.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub roles: Change<Vec<NewProvidedRole>>,
    /// All scopes after the change. One of them is `openid`.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub scopes: Change<Vec<String>>,
    /// A name for addresses, unique in the tenant.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub slug: Change<String>,
    /// The claim that names a person.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub subject_claim: Change<SubjectClaim>,
    /// Whether an address counts as verified without the claim `email_verified`.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub trusts_email: Change<bool>,
}

/// A session in which a user acts as another one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Impersonation {
    /// A signed JWT (RFC 7519) with the claim `act` (RFC 8693). Send it as `Authorization: Bearer …`. Null in the
    /// answer to a repeated request.
    pub access_token: Option<Secret>,
    /// The user who acts in it.
    pub actor_id: Uuid,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it ends at the latest.
    pub expires_at: DateTime<Utc>,
    /// How many seconds the access token is valid. It cannot be refreshed.
    pub expires_in: u64,
    /// Whether nothing can be changed in it.
    pub read_only: bool,
    /// Why.
    pub reason: String,
    /// The session, which `DELETE /sessions/{id}` ends.
    pub session_id: Uuid,
    /// Always `Bearer`.
    pub token_type: String,
    /// The user of the session.
    pub user_id: Uuid,
}

/// What a token is. If it is not active, the other members are absent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Introspection {
    /// The user who acts as `sub` (RFC 8693, section 4.1). Absent if `sub` itself does.
    pub act: Option<ActingParty>,
    /// Whether this service accepts the token at this moment.
    pub active: bool,
    /// By which methods the user of an access token has authenticated (RFC 8176).
    pub amr: Option<Vec<String>>,
    /// Identifies an API key.
    pub api_key_id: Option<Uuid>,
    /// The attributes of the user in an access token. Absent if it has none.
    pub attributes: Option<Map<String, Value>>,
    /// True if attributes are left out of the access token because they do not fit. Otherwise absent.
    pub attributes_truncated: Option<bool>,
    /// For whom an access token is.
    pub aud: Option<String>,
    /// When the user of an access token has authenticated last, in seconds since 1970.
    #[serde(rename = "auth_time")]
    pub auth_time: Option<i64>,
    /// From when on the token is refused, in seconds since 1970.
    pub exp: Option<i64>,
    /// When the token was issued, in seconds since 1970.
    pub iat: Option<i64>,
    /// Who has issued the token.
    pub iss: Option<String>,
    /// Identifies an access token.
    pub jti: Option<Uuid>,
    /// Whether nothing may be changed by the token. Absent without `act`.
    pub read_only: Option<bool>,
    /// The session of an access token.
    pub sid: Option<Uuid>,
    /// The user for whom the token acts.
    pub sub: Option<Uuid>,
    /// The tenant.
    pub tenant_id: Option<Uuid>,
    /// How the token is sent: always `Bearer`.
    #[serde(rename = "token_type")]
    pub token_type: Option<String>,
}

/// The token to introspect.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IntrospectionRequest {
    /// An access token or an API key.
    pub token: Secret,
    /// The kind that the client expects. It makes no difference: a token says itself what it is.
    #[serde(rename = "token_type_hint", skip_serializing_if = "Option::is_none")]
    pub token_type_hint: Option<String>,
}

/// A person who is asked to become a user.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Invitation {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The e-mail address of the person.
    pub email: String,
    /// Until when the invitation can be accepted. Sending it again extends this.
    pub expires_at: DateTime<Utc>,
    /// A proposal for the person's first name.
    pub first_name: Option<String>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The user who invited. Null means the service itself.
    pub invited_by: Option<Uuid>,
    /// A proposal for the person's last name.
    pub last_name: Option<String>,
    /// The roles that the caller holds.
    pub roles: Vec<InvitedRole>,
    /// What became of the invitation.
    pub status: InvitationStatus,
}

/// The name and the password of an invited person.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvitationAcceptance {
    /// The user's first name.
    pub first_name: String,
    /// The user's last name.
    pub last_name: String,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    pub password: Secret,
    /// The token of the link that was sent to the address.
    pub token: Secret,
}

/// What an invited person sees before it accepts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InvitationDetails {
    /// The e-mail address of the person.
    pub email: String,
    /// Until when the link works.
    pub expires_at: DateTime<Utc>,
    /// A proposal for the person's first name.
    pub first_name: Option<String>,
    /// A proposal for the person's last name.
    pub last_name: Option<String>,
    /// The tenant.
    pub tenant: InvitingTenant,
}

/// The token of an invitation.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InvitationToken {
    /// The token of the link that was sent to the address.
    pub token: Secret,
}

/// A role that an invited person gets.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InvitedRole {
    /// When it expires. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
}

/// The tenant that invites.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct InvitingTenant {
    /// The name.
    pub name: String,
}

/// A key with its text, which is never shown again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IssuedApiKey {
    /// When the key was made.
    pub created_at: DateTime<Utc>,
    /// The user who made the key. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// From when on the key is refused.
    pub expires_at: DateTime<Utc>,
    /// Identifies the key.
    pub id: Uuid,
    /// When a request was last made with the key, up to an hour too early. Null means never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// A name for people.
    pub name: String,
    /// The organization in which, and below which, the key has its permissions. Null means everywhere.
    pub organization_id: Option<Uuid>,
    /// The only permissions of the key, as far as its user holds them. Null means all permissions of its user.
    pub permissions: Option<Vec<String>>,
    /// The beginning of the key, which is no secret.
    pub prefix: String,
    /// The user as whom the key acts.
    pub user_id: Uuid,
    /// Send it as `Authorization: Bearer …`. Null in the answer to a repeated request.
    pub key: Option<Secret>,
}

/// A webhook with its secret, which is never shown again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IssuedWebhook {
    /// When the webhook was made.
    pub created_at: DateTime<Utc>,
    /// The user who made the webhook. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// A text for people.
    pub description: String,
    /// Whether it sends events.
    pub enabled: bool,
    /// How it writes them: as the API shows entries, or as events of the Open Cybersecurity Schema Framework.
    pub format: EventFormat,
    /// Identifies the webhook.
    pub id: Uuid,
    /// The types of the events that it sends.
    pub types: Vec<String>,
    /// Where it sends events.
    pub url: String,
    /// The receiver verifies requests with it, by Standard Webhooks. Null in the answer to a repeated request.
    pub secret: Option<Secret>,
}

/// An order that the data of the tenant, or of one of its users, is kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LegalHold {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The user who placed it. Null means the service itself.
    pub placed_by: Option<Uuid>,
    /// Why the data is kept.
    pub reason: String,
    /// The user whose data is kept. Null means the data of the whole tenant.
    pub user_id: Option<Uuid>,
}

/// Why a legal hold is released.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LegalHoldRelease {
    /// Why the hold is released.
    pub reason: String,
}

/// An access request with the names of all that it mentions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedAccessRequest {
    /// How many others have to approve.
    pub approvals_needed: u32,
    /// The role assignment that the request gives. It may have ended since. Null before it begins.
    pub assignment_id: Option<Uuid>,
    /// Why the service has cancelled it. Null if a user did, and with any other status.
    pub cancel_cause: Option<AccessRequestCancelCause>,
    /// The reason that this user has given for the cancellation or the end. The reason of a denial is that of the
    /// decision.
    pub close_reason: Option<String>,
    /// When it was closed. Null while it is open, and until the service has written that it has lapsed or ended.
    pub closed_at: Option<DateTime<Utc>>,
    /// The user who closed it. Null while it is open, and if the service closed it.
    pub closed_by: Option<Uuid>,
    /// When the user asked.
    pub created_at: DateTime<Utc>,
    /// The last decision of each user, oldest first.
    pub decisions: Vec<AccessDecision>,
    /// The eligibility by which the user asks. It may be gone since.
    pub eligibility_id: Uuid,
    /// When it ends at the latest. Null as long as approvals are missing.
    pub ends_at: Option<DateTime<Utc>>,
    /// Identifies the request.
    pub id: Uuid,
    /// Until when the approvals must be there.
    pub lapses_at: DateTime<Utc>,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// Why. Those who decide and the audit log see it.
    pub reason: String,
    /// The user who asks.
    pub requested_by: Uuid,
    /// The role for which the user asks.
    pub role_id: Uuid,
    /// The name of the role when the user asked. The role may be gone since, or have another name.
    pub role_name: String,
    /// For how many seconds the user asks.
    pub seconds: u32,
    /// When it begins. While the request is PENDING: when it is to begin at the earliest, or null for the last approval.
    pub starts_at: Option<DateTime<Utc>>,
    /// The status.
    pub status: AccessRequestStatus,
    /// What another system calls the reason.
    pub ticket: Option<String>,
    /// The role whose holders decide. Absent when the holders of `access-requests:update` decide, and when the role is
    /// gone.
    pub approver_role: Option<Named>,
    /// The user who closed it. Absent while it is open, and if the service closed it.
    pub closed_by_user: Option<AssignedUser>,
    /// Absent when the role is held tenant-wide.
    pub organization: Option<Named>,
    /// Absent when the role is gone.
    pub role: Option<Named>,
    /// The user who asks.
    pub user: AssignedUser,
}

/// An eligibility with its role and its organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedEligibility {
    /// How many others have to approve. With none, a request is effective at once.
    pub approvals: u32,
    /// The role whose holders decide. Null means the holders of `access-requests:update`.
    pub approver_role_id: Option<Uuid>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The user who made it. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// From when on no user may ask. What begins before ends then at the latest; a later change does not move the end of
    /// what has begun. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The role whose holders may ask, there or above. Null if a user is named.
    pub held_role_id: Option<Uuid>,
    /// Identifies the eligibility.
    pub id: Uuid,
    /// For how many seconds users may hold the role at most.
    pub max_seconds: u32,
    /// Where they may hold it. Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role for which users may ask.
    pub role_id: Uuid,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// The user who may ask. Null if the holders of a role may.
    pub user_id: Option<Uuid>,
    /// Absent when the role would be held tenant-wide.
    pub organization: Option<Named>,
    /// The role for which users may ask.
    pub role: Named,
}

/// An assignment as lists show it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedRoleAssignment {
    /// The access request by which the role is held, or was given: it ends with it. Null for a standing assignment.
    pub access_request_id: Option<Uuid>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The user who created it. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// The group of a directory that gives the role. Null if it was assigned by other means.
    pub directory_group_id: Option<Uuid>,
    /// When it expires. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
    /// The user.
    pub user_id: Uuid,
    /// Absent when the role is held tenant-wide.
    pub organization: Option<Named>,
    /// The role.
    pub role: Named,
    /// The user.
    pub user: AssignedUser,
}

/// The process answers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Live {
    /// Always `ok`.
    pub status: String,
}

/// A successful login.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoggedIn {
    /// A signed JWT (RFC 7519). Send it as `Authorization: Bearer …`.
    pub access_token: Secret,
    /// How many seconds the access token is valid.
    pub expires_in: u64,
    /// An opaque token that can be exchanged for the next pair of tokens, once.
    pub refresh_token: Secret,
    /// Always `Bearer`.
    pub token_type: String,
    /// Until when the user must set up a second factor. Absent if it need not.
    pub enrol_by: Option<DateTime<Utc>>,
    /// The user.
    pub user: User,
}

/// The credentials of a login.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Login {
    /// The user's e-mail address. Upper and lower case make no difference.
    pub email: String,
    /// The password.
    pub password: Secret,
    /// The id or the slug of a tenant, for an e-mail that exists in several tenants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The challenge of a login.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoginChallenge {
    /// The challenge of the login.
    pub challenge: Secret,
}

/// What a tenant should have. Items are named by what people call them, and all parts are optional.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Directories. Their groups, and what these give, are in no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directories: Option<Vec<ManifestDirectory>>,
    /// Identity providers. The answers never have their secrets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_providers: Option<Vec<ManifestIdentityProvider>>,
    /// Organizations, in any order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organizations: Option<Vec<ManifestOrganization>>,
    /// Permissions of the application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<ManifestPermission>>,
    /// Roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<ManifestRole>>,
    /// Service accounts, with their roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_accounts: Option<Vec<ManifestServiceAccount>>,
    /// Settings of the tenant. A setting that is absent stays unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<ManifestSettings>,
    /// Webhooks. Their secrets are in no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhooks: Option<Vec<ManifestWebhook>>,
}

/// A role of a service account.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestAssignment {
    /// From when on it gives nothing. If it is absent, it has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// The slug of the organization, which the manifest or the tenant has. If it is absent, the role is held
    /// tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// The name of the role, which the manifest or the tenant has.
    pub role: String,
}

/// A change that a manifest makes, or would make.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ManifestChange {
    /// What is done: `CREATE`, `UPDATE` or `REMOVE`.
    pub action: String,
    /// The fields that change, as they become; all fields of an item that is made. In place of a secret stands
    /// `(new secret)`.
    pub after: Map<String, Value>,
    /// The fields that change, as they are; all fields of an item that is removed. In place of a secret stands
    /// `(former secret)`.
    pub before: Map<String, Value>,
    /// Identifies the item. Null for the settings. An item that a preview would make exists nowhere else.
    pub id: Option<Uuid>,
    /// To what: `SETTINGS`, `PERMISSION`, `ROLE`, `ORGANIZATION`, `SERVICE_ACCOUNT`,
    /// `ROLE_ASSIGNMENT`, `WEBHOOK`, `IDENTITY_PROVIDER` or `DIRECTORY`.
    pub kind: String,
    /// The name of the item for people, an organization and an identity provider by its slug, a webhook by its
    /// address, a directory by its service account. Empty for the settings.
    pub name: String,
}

/// A directory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestDirectory {
    /// Whether the directory takes over users of the tenant who have the address of one of its own. If it is absent, it
    /// does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopt: Option<bool>,
    /// The slug of the identity provider by which the users of the directory log in, which the manifest or the tenant
    /// has. If it is absent, they log in by other means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_provider: Option<String>,
    /// A name for people.
    pub name: String,
    /// The name of the service account whose API keys the directory uses, by which it is known. The manifest or the
    /// tenant has it, and it has no other directory.
    pub service_account: String,
}

/// An identity provider. To make or change one, a person needs all permissions (`*`) tenant-wide, and a session that
/// has authenticated within the last ten minutes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestIdentityProvider {
    /// How this service is known at the provider.
    pub client_id: String,
    /// The secret of this service at the provider, which is never shown. If it is absent, a provider that exists keeps
    /// its secret, and a new one has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// The names of domains of the tenant, for which the provider speaks. If the field is absent, it speaks for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domains: Option<Vec<String>>,
    /// Whether people log in by it. Without it, they do by a new one, and one that exists stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether a second factor at the provider counts here. If it is absent, it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor_is_trusted: Option<bool>,
    /// To the letter as in the discovery document of the provider, which is read if the issuer is new.
    pub issuer: String,
    /// A name for people.
    pub name: String,
    /// Whether accounts are linked and made; LINK if the field is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<Provisioning>,
    /// The roles of the users that are made. None of them may have all permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<ManifestProvidedRole>>,
    /// One of them is `openid`. If the field is absent, they are `openid`, `email` and `profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// By which the identity provider is known.
    pub slug: String,
    /// The claim that names a person; `sub` if the field is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_claim: Option<SubjectClaim>,
    /// Whether an address counts as verified without the claim `email_verified`. If it is absent, it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusts_email: Option<bool>,
}

/// An organization.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ManifestOrganization {
    /// A name for people.
    pub name: String,
    /// The slug of the organization above, which the manifest or the tenant has. If it is absent, the organization is a
    /// root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// By which the organization is known.
    pub slug: String,
    /// Without it, a new organization is ACTIVE, and one that exists keeps its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ManifestStatus>,
}

/// A permission of the application.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ManifestPermission {
    /// What the permission allows, in words. That of a permission that exists cannot change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `<resource>:<action>`.
    pub name: String,
}

/// A role of the users that an identity provider makes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ManifestProvidedRole {
    /// The slug of the organization, which the manifest or the tenant has. If it is absent, the role is held
    /// tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// The name of the role, which the manifest or the tenant has.
    pub role: String,
}

/// A role.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ManifestRole {
    /// What the role is for, in words. If it is absent, it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Upper snake case.
    pub name: String,
    /// All permissions of the role, at most 500. If the field is absent, it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<String>>,
    /// Where the role can be assigned; ANY if the field is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<RoleScope>,
}

/// A service account.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ManifestServiceAccount {
    /// Roles that it holds. It may hold others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignments: Option<Vec<ManifestAssignment>>,
    /// The slug of its home, which the manifest or the tenant has. If it is absent, it belongs to the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// By which the service account is known.
    pub name: String,
    /// Without it, a new service account is ACTIVE, and one that exists keeps its status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ManifestStatus>,
}

/// Settings of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestSettings {
    /// How requests of AuthZEN name users and organizations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authzen_identifiers: Option<AuthzenIdentifiers>,
    /// Whether users log in by a message to their address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_login: Option<EmailLoginSetting>,
    /// The name of the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// All attributes that are defined for organizations, each key once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_attributes: Option<Vec<OrganizationAttribute>>,
    /// Whether users log in by passwords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_login: Option<PasswordLoginSetting>,
    /// The rules for passwords that are set from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_policy: Option<PasswordPolicy>,
    /// Whether the users have second factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_factor: Option<SecondFactorSetting>,
    /// How many days a user may log in without a factor that is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_factor_grace_days: Option<u64>,
    /// Whether users and organizations can have attributes that the tenant has not defined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unregistered_attributes: Option<UnregisteredAttributes>,
    /// All attributes that are defined for users, each key once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_attributes: Option<Vec<UserAttribute>>,
}

/// A webhook.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct ManifestWebhook {
    /// A text for people. If it is absent, it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it sends events. Without it, a new webhook does, and one that exists stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How it writes them; `native` if the field is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<EventFormat>,
    /// The types of the events to send: `USER.CREATE`, or `USER.*` for all actions on a resource type.
    pub types: Vec<String>,
    /// By which the webhook is known. Begins with `https://`. It must not contain a secret, because the audit log shows
    /// it.
    pub url: String,
}

/// The caller, with its roles and permissions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Me {
    /// The user who acts in the session as its user. Absent if the user itself does.
    pub actor: Option<Actor>,
    /// How the session has authenticated (RFC 8176): how the actor has, if there is one. Empty for an API key.
    pub amr: Vec<String>,
    /// The API key of this request. Absent for a session.
    pub api_key: Option<CallingApiKey>,
    /// The attributes of the user that the tenant shows to the person. Absent if it shows none, and for an API key.
    pub attributes: Option<Map<String, Value>>,
    /// When the session has authenticated last. Null for an API key.
    pub auth_time: Option<DateTime<Utc>>,
    /// Until when the caller must set up a second factor. Afterwards, its sessions can only be used to set one up.
    /// Absent if it need not.
    pub enrol_by: Option<DateTime<Utc>>,
    /// What the caller may do.
    pub permissions: HeldPermissions,
    /// The roles that the caller holds.
    pub roles: Vec<HeldRole>,
    /// The session of this request. Null for an API key.
    pub session: Option<Session>,
    /// The tenant.
    pub tenant: Tenant,
    /// The user.
    pub user: User,
    /// The entity tag of the user, for `If-Match` of a change of the caller. This answer has no `ETag`: its roles, its
    /// session and its tenant change without the user.
    pub user_tag: String,
}

/// What the caller changes of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MePatch {
    /// By key: a value replaces that of its key, null removes the key, and other keys stay (RFC 7396). Only keys that the
    /// tenant lets persons change: each text has at most 1,024 characters, and all of them have at most 4 KiB together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
}

/// An embedded resource, with its name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Named {
    /// Its identifier.
    pub id: Uuid,
    /// Its name.
    pub name: String,
}

/// What to say about a decision.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewAccessDecision {
    /// Why, for people. Absent or null means that there is no reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAccessRequest {
    /// The eligibility by which the user asks.
    pub eligibility_id: Uuid,
    /// Why. Those who decide and the audit log see it.
    pub reason: String,
    /// For how many seconds, at most as many as the eligibility allows. Absent or null means all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// When it is to begin at the earliest, at most 30 days from now. Absent or null means as soon as it is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<DateTime<Utc>>,
    /// What another system calls the reason. Absent or null means nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

/// The review to begin.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAccessReview {
    /// Until when the decisions are due. It must be in the future.
    pub due_at: DateTime<Utc>,
    /// A name for people.
    pub name: String,
    /// Restricts the review to this organization and everything below it. Absent or null means the whole tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// Restricts the review to these roles. Absent, null or empty means all roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_ids: Option<Vec<Uuid>>,
    /// Restricts the review to these users. Absent, null or empty means all users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_ids: Option<Vec<Uuid>>,
}

/// A decision about an item.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NewAccessReviewDecision {
    /// A decision: the assignment or the eligibility stays, or it is revoked when the review is completed.
    pub decision: AccessReviewDecision,
    /// Why, for people. Absent or null means that there is no reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The key to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewApiKey {
    /// At most 365 days from now. Absent or null means 90 days from now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// A name for people.
    pub name: String,
    /// The organization in which, and below which, the key has its permissions. Absent or null means everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The only permissions of the key: permissions, `<resource>:*`, or `*`. Those that its user does not hold give
    /// nothing until it does. Absent or null means all permissions of its user, which only the user itself can give to
    /// a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<String>>,
}

/// An event of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAuditEvent {
    /// What happened.
    pub action: String,
    /// Any other information: at most 16 KiB, 500 values and 120 levels. Fields with the name of a secret (`password`,
    /// `token`, …) are redacted at any depth. A number that a 64-bit floating-point number cannot keep exactly is refused,
    /// and so are the fields `apiKeyId` and `system`, which the service itself writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The id of the resource, which need not be a UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_id: Option<String>,
    /// The type of the resource to which it happened.
    pub resource_type: String,
}

/// How long to keep audit entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewAuditRetention {
    /// The number of days. Null means forever. The field must not be absent.
    pub retention_days: Option<u32>,
}

/// The directory to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewDirectory {
    /// Whether the directory takes over users of the tenant who have the address of one of its own. Absent or null
    /// means that it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopt: Option<bool>,
    /// The provider by which the users of the directory log in. Absent or null means that they log in by other means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_provider_id: Option<Uuid>,
    /// A name for people.
    pub name: String,
    /// The service account whose API keys the directory uses. It is ACTIVE and has no other directory. The directory
    /// may do what the account may do.
    pub service_account_id: Uuid,
}

/// A role that the members of a group are to hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewDirectoryGroupGrant {
    /// Absent or null means tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
}

/// The roles to which a group is mapped.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewDirectoryGroupGrants {
    /// All roles after the change, each once in an organization or tenant-wide. If it is empty, the group gives none.
    pub grants: Vec<NewDirectoryGroupGrant>,
}

/// The domain to add.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewDomain {
    /// Two labels or more. Subdomains are domains of their own.
    pub domain: String,
}

/// The eligibility to make. It names a user or the role whose holders may ask, and not both.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEligibility {
    /// How many others have to approve. Absent or null means one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvals: Option<u32>,
    /// The role whose holders decide. Absent or null means the holders of `access-requests:update`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approver_role_id: Option<Uuid>,
    /// Must be in the future. Absent or null means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// The role whose holders may ask, there or above. Absent or null if `userId` is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_role_id: Option<Uuid>,
    /// For how many seconds users may hold the role at most. Absent or null means 28,800, which is eight hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<u32>,
    /// Absent or null means tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The role for which users may ask.
    pub role_id: Uuid,
    /// The user who may ask. Absent or null if `heldRoleId` is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
}

/// The user whose personal fields to erase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewErasure {
    /// The user whose personal fields are erased.
    pub user_id: Uuid,
}

/// A name of a factor. If it is absent, the service gives one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewFactor {
    /// A name for people. If it is absent, the service gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The provider to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewIdentityProvider {
    /// Names this service at the provider.
    pub client_id: String,
    /// The secret of this service at the provider, which is never shown. Absent or null means that it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// The domains for which the provider speaks; none if it is absent. One that is PENDING has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain_ids: Option<Vec<Uuid>>,
    /// Whether people log in by it. Absent or null means that they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether a second factor at the provider counts here. Absent or null means that it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor_is_trusted: Option<bool>,
    /// To the letter as in the discovery document of the provider, which is read.
    pub issuer: String,
    /// The name.
    pub name: String,
    /// Whether accounts are linked and made. Absent or null means LINK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<Provisioning>,
    /// The roles of the users that are made; none if it is absent. None of them may have all permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<NewProvidedRole>>,
    /// One of them is `openid`. Absent or null means `openid`, `email` and `profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// Unique in the tenant. Absent or null means one that is made from the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The claim that names a person. Absent or null means `sub`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_claim: Option<SubjectClaim>,
    /// Whether an address counts as verified without the claim `email_verified`. Absent or null means that it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusts_email: Option<bool>,
}

/// How to act as another user.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewImpersonation {
    /// Whether nothing can be changed. Absent or null means that nothing can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// Why. The other user and the audit log see it.
    pub reason: String,
    /// For how many seconds at most.
    pub seconds: u32,
}

/// The person to invite.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewInvitation {
    /// No user of the tenant has it, and no PENDING invitation. Upper and lower case make no difference.
    pub email: String,
    /// A proposal, which the person can change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_name: Option<String>,
    /// A proposal, which the person can change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_name: Option<String>,
    /// The roles that the person gets; none if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<NewInvitedRole>>,
}

/// A role that an invited person is to get.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewInvitedRole {
    /// Must be in the future. Absent or null means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Absent or null means tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
}

/// The legal hold to place.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewLegalHold {
    /// Why the data is kept.
    pub reason: String,
    /// The user whose data is kept. Absent or null means the data of the whole tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
}

/// The organization to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewOrganization {
    /// At most 16 KiB, 32 keys and 5 levels. Those that the tenant has defined have their type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// The name.
    pub name: String,
    /// The organization above. If it is absent or null, the new organization is a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Uuid>,
    /// Unique in the tenant. If it is absent, the service makes one from the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
}

/// A new passkey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewPasskey {
    /// What a browser answers to the options: `PublicKeyCredential.toJSON()`.
    pub credential: Secret<Value>,
    /// A name for people. If it is absent, the service gives one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The permission to register.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewPermission {
    /// What the permission allows, in words. If it is absent or null, it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `<resource>:<action>`, unique in the tenant. Resources of coming releases are reserved, and so are all that begin
    /// with `iam-`.
    pub name: String,
}

/// A role of the users that a provider is to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewProvidedRole {
    /// Absent or null means tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
}

/// The role to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewRole {
    /// What the role is for, in words. If it is absent or null, it is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Upper snake case, unique in the tenant.
    pub name: String,
    /// Registered permissions, `<resource>:*` or `*`, at most 500. The caller must hold each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<String>>,
    /// Where the role can be assigned; ANY if the field is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<RoleScope>,
}

/// The role assignment to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewRoleAssignment {
    /// Must be in the future. Absent or null means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// Absent or null means tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
    /// The user who gets the role.
    pub user_id: Uuid,
}

/// The role assignments to create: all or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewRoleAssignments {
    /// The role assignments.
    pub assignments: Vec<NewRoleAssignment>,
}

/// The service account to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewServiceAccount {
    /// At most 16 KiB, 32 keys and 5 levels. Those that the tenant has defined have their type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// The organization to which the account belongs. If it is absent or null, the account belongs to the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_organization_id: Option<Uuid>,
    /// A name for people.
    pub name: String,
}

/// The user to create.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewUser {
    /// At most 16 KiB, 32 keys and 5 levels. Those that the tenant has defined have their type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// Unique in the tenant. Upper and lower case make no difference.
    pub email: String,
    /// The identifier of the user in another system, such as a directory. It is unique in the tenant, letter by letter,
    /// and not the e-mail of another user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// The user's first name.
    pub first_name: String,
    /// The organization to which the user belongs. If it is absent or null, the user belongs to the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home_organization_id: Option<Uuid>,
    /// The user's last name.
    pub last_name: String,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    pub password: Secret,
}

/// The webhook to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NewWebhook {
    /// A text for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it sends events from the start. Absent or null means that it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How it writes them. Absent or null means `native`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<EventFormat>,
    /// The types of the events to send: `USER.CREATE`, or `USER.*` for all actions on a resource type.
    pub types: Vec<String>,
    /// Begins with `https://`. It must not contain a secret, because the audit log shows it.
    pub url: String,
}

/// A part of a tenant. Organizations form a tree.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Organization {
    /// What the tenant keeps of the organization beside the other fields. Absent if there is nothing, in lists, and in
    /// the response to a change.
    pub attributes: Option<Map<String, Value>>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// How many organizations are above it.
    pub depth: u32,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// The organization above. Null for a root.
    pub parent_id: Option<Uuid>,
    /// The name in URLs, unique in the tenant.
    pub slug: String,
    /// Whether roles that are held in an organization are in force.
    pub status: Status,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// An attribute of organizations that the tenant defines.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct OrganizationAttribute {
    /// The key of the attribute.
    pub key: String,
    /// Whether `GET /organizations` finds organizations by the value. Only for the types STRING, NUMBER and BOOLEAN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searchable: Option<bool>,
    /// The type of the values of an attribute.
    pub r#type: AttributeType,
}

/// The changes to an organization. Fields that are absent stay unchanged. Fields that are null stay unchanged, too,
/// except for `parentId`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrganizationPatch {
    /// By key: a value replaces that of its key, null removes the key, and other keys stay (RFC 7396).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// The new name.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
    /// Moves the organization with everything below it. Null makes it a root.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub parent_id: Change<Uuid>,
    /// The new name in URLs, unique in the tenant.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub slug: Change<String>,
    /// A change to INACTIVE deletes the organization and also needs `organizations:delete`.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub status: Change<Status>,
}

/// The caller's permissions in an organization, including those that are inherited from organizations above.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OrganizationPermissions {
    /// The organization.
    pub organization_id: Uuid,
    /// The permissions.
    pub permissions: Vec<String>,
}

/// What the caller sees of itself after a change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct OwnAttributes {
    /// All attributes of the user that the tenant shows to the person.
    pub attributes: Map<String, Value>,
}

/// The position of a page in the whole collection.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Pagination {
    /// Whether a later page has items.
    pub has_next: bool,
    /// Whether there is an earlier page.
    pub has_prev: bool,
    /// How many items a page holds at most.
    pub limit: u32,
    /// The number of this page, from 1.
    pub page: u64,
    /// How many items the whole collection has.
    pub total: u64,
    /// How many pages there are.
    pub total_pages: u64,
}

/// A login by a passkey.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PasskeyLogin {
    /// What a browser answers to the options: `PublicKeyCredential.toJSON()`.
    pub credential: Secret<Value>,
}

/// The tenant of a login.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PasskeyLoginOptions {
    /// The id or the slug of a tenant, if only its users may log in with these options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

/// The options of a ceremony, for `PublicKeyCredential.parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`
/// of a browser.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct PasskeyOptions {}

/// A change of the caller's own password.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChange {
    /// The password until now.
    pub current_password: Secret,
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    pub new_password: Secret,
}

/// A new password, with the token of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PasswordReset {
    /// By the `passwordPolicy` of the tenant. By default, it must contain an upper-case and a lower-case letter, a
    /// digit and one of `! @ # $ % ^ & *`.
    pub new_password: Secret,
    /// The token of the link that was sent to the address.
    pub token: Secret,
}

/// A retention that takes effect later.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingAuditRetention {
    /// When it takes effect.
    pub from: DateTime<Utc>,
    /// How many days entries are kept.
    pub retention_days: u32,
}

/// A permission that roles can hold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Permission {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// What it is for, in words.
    pub description: String,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// `<resource>:<action>`, unique in the tenant.
    pub name: String,
    /// Whether the permission is built in. A built-in permission cannot be deleted.
    pub system: bool,
}

/// The question whether a user holds a permission.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionCheck {
    /// The moment to check. Absent or null means now. For an earlier moment, the answer is the one of that moment, and
    /// the caller also needs `audit-logs:read`. For a later one, it is the answer as things stand now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// The organization to check. Absent or null means tenant-wide; roles in organizations then do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_id: Option<Uuid>,
    /// A built-in permission or one of the application. A permission that is not registered is not an error: only a
    /// role with `*` or `<resource>:*` holds it.
    pub permission: String,
    /// The user to check. Absent or null means the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<Uuid>,
}

/// Several questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PermissionChecks {
    /// The questions, which are answered in this order.
    pub checks: Vec<PermissionCheck>,
}

/// A user who holds the permission.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionHolder {
    /// The role assignments that grant the permission, at most 50. Each of them is enough by itself.
    pub grants: Vec<DecidingGrant>,
    /// Whether more role assignments grant the permission. Absent if none does.
    pub truncated: Option<bool>,
    /// The user.
    pub user: AssignedUser,
    /// The user.
    pub user_id: Uuid,
}

/// What a change would do, if it were made now.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Preview {
    /// Whether the change would be made.
    pub allowed: bool,
    /// Who would gain or lose which permission, at most 10,000 rows. A place in which the caller does not hold
    /// `role-assignments:read` has no rows.
    pub changes: Vec<RightChange>,
    /// The rule that would refuse the change.
    pub problem: Option<crate::Problem>,
    /// Whether there are more than 10,000 rows, or rows with more than 50,000 assignments in `via` of all of them.
    pub truncated: bool,
    /// How many users would gain or lose a right.
    pub users: u64,
}

/// A role of the users that a provider makes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvidedRole {
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
}

/// A provider by which people log in.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ProviderSummary {
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// A name for addresses, unique in the tenant.
    pub slug: String,
}

/// The service can do its work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Ready {
    /// The results, by part of the service.
    pub checks: Checks,
    /// Always `ok`.
    pub status: String,
}

/// The actions that the service records for one resource type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recorded {
    /// The actions on this resource type.
    pub actions: Vec<String>,
    /// The type of the resource that changed.
    pub resource_type: String,
}

/// A set of recovery codes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RecoveryCodes {
    /// Each can be used once in place of a second factor. They are shown once, and null in the answer to a repeated
    /// request.
    pub recovery_codes: Option<Vec<Secret>>,
}

/// The refresh token to exchange.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Refresh {
    /// The refresh token of the last login or refresh.
    pub refresh_token: Secret,
}

/// A new user, who is logged in, with its tenant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Registered {
    /// A signed JWT (RFC 7519). Send it as `Authorization: Bearer …`.
    pub access_token: Secret,
    /// How many seconds the access token is valid.
    pub expires_in: u64,
    /// An opaque token that can be exchanged for the next pair of tokens, once.
    pub refresh_token: Secret,
    /// Always `Bearer`.
    pub token_type: String,
    /// Until when the user must set up a second factor. Absent if it need not.
    pub enrol_by: Option<DateTime<Utc>>,
    /// The user.
    pub user: User,
    /// The tenant.
    pub tenant: Tenant,
}

/// A registered passkey.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredPasskey {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Identifies the factor.
    pub id: Uuid,
    /// When it last proved the user's identity. Null means never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// A name for people.
    pub name: String,
    /// An authenticator app or a passkey.
    pub r#type: FactorType,
    /// Recovery codes, if the user had none. They are shown once, and null in the answer to a repeated request.
    pub recovery_codes: Option<Vec<Secret>>,
}

/// A new tenant and its first user.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// The e-mail address of the first user. Upper and lower case make no difference.
    pub email: String,
    /// The first user's first name.
    pub first_name: String,
    /// The first user's last name.
    pub last_name: String,
    /// Must contain an upper-case and a lower-case letter, a digit and one of `! @ # $ % ^ & *`.
    pub password: Secret,
    /// If it is absent, the service makes it from the user's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_name: Option<String>,
}

/// How many entries were removed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RemovedEntries {
    /// How many entries were removed.
    pub removed: u64,
}

/// A permission that a user would gain or lose in a place, with everything below it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RightChange {
    /// Whether the right would be gained or lost.
    pub change: RightDirection,
    /// From when on the right would differ.
    pub from: DateTime<Utc>,
    /// The topmost organization in which the right changes. Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The permission, as it is registered.
    pub permission: String,
    /// Until when it would differ. Null means without an end.
    pub until: Option<DateTime<Utc>>,
    /// The user.
    pub user_id: Uuid,
    /// The existing role assignments that would give the permission, or that give it now.
    pub via: Vec<Uuid>,
}

/// A named set of permissions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Role {
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// What the role is for, in words.
    pub description: String,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Upper snake case, unique in the tenant.
    pub name: String,
    /// Permissions, `<resource>:*` for all present and future actions on a resource, or `*` for everything.
    pub permissions: Vec<String>,
    /// Where the role can be assigned: `TENANT` means tenant-wide only, `ORGANIZATION` means in organizations only, `ANY` means both.
    pub scope: RoleScope,
    /// Whether the role is built in. A built-in role cannot be changed or deleted.
    pub system: bool,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A role that a user holds, tenant-wide or in an organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RoleAssignment {
    /// The access request by which the role is held, or was given: it ends with it. Null for a standing assignment.
    pub access_request_id: Option<Uuid>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The user who created it. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// The group of a directory that gives the role. Null if it was assigned by other means.
    pub directory_group_id: Option<Uuid>,
    /// When it expires. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
    /// The user.
    pub user_id: Uuid,
}

/// The changes to an assignment. Fields that are absent stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RoleAssignmentPatch {
    /// Must be in the future. Null means never.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub expires_at: Change<DateTime<Utc>>,
}

/// The changes to a role. Fields that are absent or null stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RolePatch {
    /// What the role is for, in words.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub description: Change<String>,
    /// The new name, in upper snake case, unique in the tenant.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
    /// All permissions of the role after the change, at most 500. The caller must hold the permissions that are new.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub permissions: Change<Vec<String>>,
    /// Where the role can be assigned: `TENANT` means tenant-wide only, `ORGANIZATION` means in organizations only, `ANY` means both.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub scope: Change<RoleScope>,
}

/// A proof by a second factor, with the challenge of the login. It has a `code`, a `recoveryCode` or a `credential`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondFactor {
    /// The challenge of the login.
    pub challenge: Secret,
    /// The present code of an authenticator app. Blanks and dashes in it are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Secret>,
    /// What a browser answers to the options: `PublicKeyCredential.toJSON()`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential: Option<Secret<Value>>,
    /// A recovery code, in upper or lower case. Blanks and dashes in it are ignored. It is used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_code: Option<Secret>,
}

/// A login that has not ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Session {
    /// The user who acts in the session as its user. Absent for a login of the user itself.
    pub actor: Option<Actor>,
    /// When the user logged in.
    pub created_at: DateTime<Utc>,
    /// Whether this is the session of this request.
    pub current: bool,
    /// When the session expires, unless it is refreshed before.
    pub expires_at: DateTime<Utc>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The client's IP address, if it is known.
    pub ip_address: Option<String>,
    /// When the session was last used to get a pair of tokens.
    pub last_used_at: DateTime<Utc>,
    /// Whether the actor can change nothing. Absent without one.
    pub read_only: Option<bool>,
    /// Why the actor acts as the user. Absent without one.
    pub reason: Option<String>,
    /// The client's `User-Agent`, cut to 500 characters.
    pub user_agent: Option<String>,
}

/// A login by e-mail that has begun.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StartedEmailLogin {
    /// Send it with the code of the message. It says nothing about an account.
    pub flow: Secret,
}

/// Where the browser goes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StartedFederation {
    /// The address of the provider.
    pub authorization_url: String,
    /// How long the person may take there, in seconds.
    pub expires_in: u64,
}

/// A proof by which a session authenticates again. It has a `code` or a `credential`, or a `password` if the user has
/// no second factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StepUp {
    /// The present code of an authenticator app. Blanks and dashes in it are ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Secret>,
    /// What a browser answers to the options: `PublicKeyCredential.toJSON()`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential: Option<Secret<Value>>,
    /// The password, for a user without a second factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<Secret>,
}

/// A customer. No other tenant can see its users.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tenant {
    /// How requests of AuthZEN name users and organizations.
    pub authzen_identifiers: AuthzenIdentifiers,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Whether users log in by a message to their address.
    pub email_login: EmailLoginSetting,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name of the tenant.
    pub name: String,
    /// The attributes that are defined for organizations. Absent where `userAttributes` is.
    pub organization_attributes: Option<Vec<OrganizationAttribute>>,
    /// Whether users log in by passwords.
    pub password_login: PasswordLoginSetting,
    /// The rules for new passwords.
    pub password_policy: PasswordPolicy,
    /// Whether the users have second factors.
    pub second_factor: SecondFactorSetting,
    /// How many days a user may log in without a factor that is required.
    pub second_factor_grace_days: i64,
    /// The name in URLs and logins, unique among all tenants.
    pub slug: String,
    /// The status.
    pub status: String,
    /// Whether users and organizations can have attributes that the tenant has not defined. Of a tenant, absent where
    /// `userAttributes` is.
    pub unregistered_attributes: Option<UnregisteredAttributes>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
    /// The attributes that are defined for users. Absent in responses to the registration and about the caller.
    pub user_attributes: Option<Vec<UserAttribute>>,
}

/// The deletion of the tenant.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TenantDeletion {
    /// When it begins at the earliest. Null means that none is scheduled.
    pub deletion_at: Option<DateTime<Utc>>,
    /// Whether the entries of the audit log stay. Null means that none is scheduled.
    pub keeps_log: Option<bool>,
    /// Why, in the words of the operator. Null means that none is scheduled.
    pub reason: Option<String>,
}

/// The changes to a tenant. Fields that are absent or null stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TenantPatch {
    /// `ID`: by their identifiers. `NAME`: users by their external identifier, or their e-mail if they have none, and
    /// organizations by their slug.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub authzen_identifiers: Change<AuthzenIdentifiers>,
    /// `ON`: a user whose address is verified can log in by a link or a code that is sent to it.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub email_login: Change<EmailLoginSetting>,
    /// The new name.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
    /// All attributes that are defined for organizations, in the place of the former ones, each key once.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub organization_attributes: Change<Vec<OrganizationAttribute>>,
    /// `FEDERATED`: a user whose address is of a verified domain with an enabled identity provider logs in by it alone.
    /// Holders of all permissions tenant-wide are exempt.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub password_login: Change<PasswordLoginSetting>,
    /// For passwords that are set from now on. `seed`: 8 to 128 characters of several kinds. `nist-800-63b-4`: 15 to
    /// 128 characters of any kind. `asvs-5`: 8 to 128 characters of any kind, where 15 are recommended. The last two
    /// refuse common and breached passwords, and those that consist of the user's own words.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub password_policy: Change<PasswordPolicy>,
    /// `OFF`: no factor can be set up, and those that exist are still asked for. `OPTIONAL`: each user decides.
    /// `REQUIRED`: a user without a factor must set one up within the grace.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub second_factor: Change<SecondFactorSetting>,
    /// Counted for each user from its creation, or from the change to `REQUIRED` if that is later.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub second_factor_grace_days: Change<u64>,
    /// Unique among all tenants.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub slug: Change<String>,
    /// `REFUSED`: no user and no organization gets an attribute that is not defined. Those that exist stay until they are
    /// removed.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub unregistered_attributes: Change<UnregisteredAttributes>,
    /// All attributes that are defined for users, in the place of the former ones, each key once. Values that do not
    /// have the type of a new definition stay until they are changed.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub user_attributes: Change<Vec<UserAttribute>>,
}

/// A pair of tokens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Tokens {
    /// A signed JWT (RFC 7519). Send it as `Authorization: Bearer …`.
    pub access_token: Secret,
    /// How many seconds the access token is valid.
    pub expires_in: u64,
    /// An opaque token that can be exchanged for the next pair of tokens, once.
    pub refresh_token: Secret,
    /// Always `Bearer`.
    pub token_type: String,
}

/// The first code of an authenticator app.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TotpConfirmation {
    /// The present code of the app.
    pub code: Secret,
}

/// An authenticator app that waits for its first code. The secret is shown once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TotpSetup {
    /// Identifies the factor.
    pub id: Uuid,
    /// Null in the answer to a repeated request.
    pub qr: Option<Secret>,
    /// Null in the answer to a repeated request.
    pub secret: Option<Secret>,
    /// Null in the answer to a repeated request.
    pub uri: Option<Secret>,
}

/// An organization with everything below it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TreeNode {
    /// The organizations directly below.
    pub children: Vec<TreeNode>,
    /// How many organizations are above it, up to the root of the whole hierarchy.
    pub depth: u32,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The name.
    pub name: String,
    /// The name in URLs, unique in the tenant.
    pub slug: String,
    /// Whether roles that are held in an organization are in force.
    pub status: Status,
}

/// A directory as the response to a change shows it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdatedDirectory {
    /// Whether the directory takes over users of the tenant who have the address of one of its own.
    pub adopt: bool,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// The provider by which the users of the directory log in. Null if they log in by other means.
    pub identity_provider_id: Option<Uuid>,
    /// A name for people.
    pub name: String,
    /// The address to enter where the directory is managed: the base URL of SCIM 2.0.
    pub scim_url: String,
    /// The service account whose API keys the directory uses.
    pub service_account_id: Uuid,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A user as the response to a change shows it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdatedUser {
    /// Absent for a service account.
    pub email: Option<String>,
    /// Absent for a service account.
    pub first_name: Option<String>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Whether a user is a person or a program.
    pub kind: UserKind,
    /// Absent for a service account.
    pub last_name: Option<String>,
    /// The name of a service account. Absent for a person.
    pub name: Option<String>,
    /// Whether a user can log in.
    pub status: Status,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A person who can log in to a tenant, or a service account, as which programs act by API keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct User {
    /// What the tenant keeps of the user beside the other fields. Absent if there is nothing, and in responses about the
    /// caller itself.
    pub attributes: Option<Map<String, Value>>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// Absent for a service account.
    pub email: Option<String>,
    /// When it was proven that the user receives mail at this address. Null means not yet.
    pub email_verified_at: Option<DateTime<Utc>>,
    /// The identifier of the user in another system, such as a directory. Null means none.
    pub external_id: Option<String>,
    /// Absent for a service account.
    pub first_name: Option<String>,
    /// The organization to which the user belongs. Null for the tenant. A caller that holds a permission in
    /// organizations only can use it on users whose home and all of whose roles are there.
    pub home_organization_id: Option<Uuid>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Whether a user is a person or a program.
    pub kind: UserKind,
    /// When the user last logged in. Null means never.
    pub last_login_at: Option<DateTime<Utc>>,
    /// Absent for a service account.
    pub last_name: Option<String>,
    /// The name of a service account. Absent for a person.
    pub name: Option<String>,
    /// Whether a user can log in.
    pub status: Status,
    /// The tenant.
    pub tenant_id: Uuid,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// An attribute of users that the tenant defines.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserAttribute {
    /// Whether access tokens have the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_token: Option<bool>,
    /// The key of the attribute.
    pub key: String,
    /// Whether the person sees its own value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person_reads: Option<bool>,
    /// Whether the person sees and changes its own value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person_writes: Option<bool>,
    /// Whether `GET /users` finds users by the value. Only for the types STRING, NUMBER and BOOLEAN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub searchable: Option<bool>,
    /// The type of the values of an attribute.
    pub r#type: AttributeType,
}

/// All that is held about a user, as JSON. The rows of a list have the same members.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserExport {
    /// The roles for which it has asked.
    pub access_requests: Vec<Map<String, Value>>,
    /// Its API keys, without their secrets.
    pub api_keys: Vec<Map<String, Value>>,
    /// The roles that it holds.
    pub assignments: Vec<Map<String, Value>>,
    /// What a directory says of it.
    pub directory: Vec<Map<String, Value>>,
    /// The roles for which it may ask.
    pub eligibilities: Vec<Map<String, Value>>,
    /// The entries of the audit log that concern it, newest first.
    pub entries: Vec<Map<String, Value>>,
    /// When the export began.
    pub exported_at: DateTime<Utc>,
    /// Its second factors and passkeys, without their keys.
    pub factors: Vec<Map<String, Value>>,
    /// The groups of the directory in which it is a member.
    pub groups: Vec<Map<String, Value>>,
    /// Its accounts at identity providers.
    pub identities: Vec<Map<String, Value>>,
    /// The invitations of its present address.
    pub invitations: Vec<Map<String, Value>>,
    /// The roles that it held, as far as the history goes.
    pub past_assignments: Vec<Map<String, Value>>,
    /// Its sessions, with their addresses and devices.
    pub sessions: Vec<Map<String, Value>>,
    /// The user itself, with its `attributes`, `hasPassword`, `recoveryCodesLeft`, `failedLogins` and `lockedUntil`.
    pub user: Map<String, Value>,
}

/// A user as lists show it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserListItem {
    /// Absent for a service account.
    pub email: Option<String>,
    /// Absent for a service account.
    pub first_name: Option<String>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Whether a user is a person or a program.
    pub kind: UserKind,
    /// When the user last logged in. Null means never.
    pub last_login_at: Option<DateTime<Utc>>,
    /// Absent for a service account.
    pub last_name: Option<String>,
    /// The name of a service account. Absent for a person.
    pub name: Option<String>,
    /// Whether a user can log in.
    pub status: Status,
}

/// The changes to a user. Fields that are absent stay unchanged. Fields that are null stay unchanged, too, except for
/// `externalId` and `homeOrganizationId`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserPatch {
    /// By key: a value replaces that of its key, null removes the key, and other keys stay (RFC 7396).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Map<String, Value>>,
    /// The new e-mail address, unique in the tenant.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub email: Change<String>,
    /// Only for a person. A change needs what a change of the e-mail needs. Null removes it.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub external_id: Change<String>,
    /// The user's first name.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub first_name: Change<String>,
    /// Gives the user another home, and needs the permission tenant-wide, not by an access request. Null makes the user
    /// one of the tenant.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub home_organization_id: Change<Uuid>,
    /// The user's last name.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub last_name: Change<String>,
    /// Only for a service account, which has no other name and no e-mail.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub name: Change<String>,
    /// A change to INACTIVE deletes the user and also needs `users:delete`. A change from INACTIVE restores the user
    /// and also needs `users:create`.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub status: Change<Status>,
}

/// An assignment of a user, with its role and its organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UserRole {
    /// The access request by which the role is held, or was given: it ends with it. Null for a standing assignment.
    pub access_request_id: Option<Uuid>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The user who created it. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// The group of a directory that gives the role. Null if it was assigned by other means.
    pub directory_group_id: Option<Uuid>,
    /// When it expires. Null means never.
    pub expires_at: Option<DateTime<Utc>>,
    /// Its identifier, a UUID of version 7.
    pub id: Uuid,
    /// Null means tenant-wide.
    pub organization_id: Option<Uuid>,
    /// The role.
    pub role_id: Uuid,
    /// The user.
    pub user_id: Uuid,
    /// Absent when the role is held tenant-wide.
    pub organization: Option<Named>,
    /// The role.
    pub role: Named,
}

/// Sends the events of the tenant to an address.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Webhook {
    /// When the webhook was made.
    pub created_at: DateTime<Utc>,
    /// The user who made the webhook. Null means the service itself.
    pub created_by: Option<Uuid>,
    /// A text for people.
    pub description: String,
    /// Whether it sends events.
    pub enabled: bool,
    /// How it writes them: as the API shows entries, or as events of the Open Cybersecurity Schema Framework.
    pub format: EventFormat,
    /// Identifies the webhook.
    pub id: Uuid,
    /// The types of the events that it sends.
    pub types: Vec<String>,
    /// Where it sends events.
    pub url: String,
}

/// The changes to a webhook. Fields that are absent or null stay unchanged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WebhookPatch {
    /// A text for people.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub description: Change<String>,
    /// Whether it sends events. When it is switched on, it continues with the events since it was switched off.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub enabled: Change<bool>,
    /// How it writes events after the change.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub format: Change<EventFormat>,
    /// All types of events to send after the change.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub types: Change<Vec<String>>,
    /// Begins with `https://`. It must not contain a secret, because the audit log shows it.
    #[serde(skip_serializing_if = "Change::is_unchanged")]
    pub url: Change<String>,
}

/// Where to begin again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookReplay {
    /// The number of the first event to send again.
    pub from_sequence: u64,
}

/// What the receiver has answered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WebhookTest {
    /// How long the request took, in milliseconds.
    pub duration_ms: u32,
    /// Why the receiver has not accepted the event. Null means that it has.
    pub error: Option<String>,
    /// The status code. Null means that there was no answer.
    pub http_status: Option<u32>,
}
