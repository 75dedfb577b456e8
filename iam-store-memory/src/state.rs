use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use iam_model::access_request::AccessRequest;
use iam_model::access_review::{AccessReview, AccessReviewItem};
use iam_model::api_key::ApiKey;
use iam_model::assignment::Assignment;
use iam_model::attribute::{AttributeOwner, Attributes};
use iam_model::audit::AuditEntry;
use iam_model::challenge::Challenge;
use iam_model::change::{AuditChange, IdempotencyChange, MailChange};
use iam_model::clock::Timestamp;
use iam_model::credential::LoginAttempts;
use iam_model::directory::{Directory, DirectoryActivity, DirectoryGroup, DirectoryUser};
use iam_model::domain::Domain;
use iam_model::eligibility::Eligibility;
use iam_model::factor::Factor;
use iam_model::id::{
    AccessRequestId, AccessReviewId, AccessReviewItemId, ApiKeyId, AssignmentId, DirectoryGroupId, DirectoryId,
    DomainId, EligibilityId, FactorId, IdentityId, IdentityProviderId, InvitationId, LegalHoldId, MessageId,
    OrganizationId, PermissionId, RoleId, SessionId, TenantId, UserId, WebhookId,
};
use iam_model::idempotency::IdempotencyRecord;
use iam_model::identity::Identity;
use iam_model::identity_provider::IdentityProvider;
use iam_model::invitation::Invitation;
use iam_model::legal_hold::LegalHold;
use iam_model::link::{Link, LinkPurpose};
use iam_model::mail::{MailKind, Message, SentMessages};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::permission::RegisteredPermission;
use iam_model::role::Role;
use iam_model::secret::PasswordHash;
use iam_model::session::Session;
use iam_model::signing_key::SigningKey;
use iam_model::store::LocalTurns;
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::tenant_deletion::TenantDeletion;
use iam_model::user::User;
use iam_model::validate::EmailKey;
use tokio::sync::{Mutex, OwnedMutexGuard};
use uuid::Uuid;

use crate::group_members::GroupMembers;
use crate::log::AuditLog;
use crate::past_versions::PastVersions;
use crate::stored_webhook::StoredWebhook;

/// A store in memory. Clones share its content.
///
/// ```
/// use std::sync::Arc;
///
/// use iam_core::Iam;
/// use iam_store_memory::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> iam_core::Result<()> {
/// let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await?;
/// assert!(iam.is_migrated().await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct MemoryStore {
    state: Arc<RwLock<State>>,
    pub(super) writer: Arc<Mutex<()>>,
    pub(super) turns: LocalTurns,
}

/// The committed state of all tenants.
#[derive(Default)]
pub(super) struct State {
    pub(super) tenants: BTreeMap<TenantId, Arc<TenantState>>,
    pub(super) audit: BTreeMap<TenantId, AuditLog>,
    pub(super) keys: Vec<SigningKey>,
    pub(super) idempotency: BTreeMap<(TenantId, [u8; 32]), IdempotencyRecord>,
    pub(super) outbox: BTreeMap<MessageId, Message>,
    pub(super) queued_mail: BTreeMap<(TenantId, EmailKey, MailKind), Vec<Timestamp>>,
    pub(super) sent_mail: BTreeMap<TenantId, SentMessages>,
}

/// The state of one tenant. For [`TenantId::NONE`], it contains only login attempts and challenges.
#[derive(Clone, Default)]
pub(super) struct TenantState {
    pub(super) tenant: Option<Tenant>,
    pub(super) deletion: Option<TenantDeletion>,
    pub(super) users: BTreeMap<UserId, User>,
    pub(super) passwords: BTreeMap<UserId, PasswordHash>,
    pub(super) attempts: BTreeMap<EmailKey, LoginAttempts>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) permissions: BTreeMap<PermissionId, RegisteredPermission>,
    pub(super) roles: BTreeMap<RoleId, Arc<Role>>,
    pub(super) organizations: BTreeMap<OrganizationId, Organization>,
    pub(super) assignments: BTreeMap<AssignmentId, Assignment>,
    pub(super) invitations: BTreeMap<InvitationId, Invitation>,
    pub(super) links: BTreeMap<(LinkPurpose, Uuid), Link>,
    pub(super) factors: BTreeMap<FactorId, Factor>,
    pub(super) recovery_codes: BTreeMap<UserId, BTreeSet<[u8; 32]>>,
    pub(super) challenges: BTreeMap<[u8; 32], Challenge>,
    pub(super) api_keys: BTreeMap<ApiKeyId, ApiKey>,
    pub(super) webhooks: BTreeMap<WebhookId, StoredWebhook>,
    pub(super) access_reviews: BTreeMap<AccessReviewId, AccessReview>,
    pub(super) access_review_items: BTreeMap<AccessReviewId, Arc<BTreeMap<AccessReviewItemId, AccessReviewItem>>>,
    pub(super) eligibilities: BTreeMap<EligibilityId, Eligibility>,
    pub(super) access_requests: BTreeMap<AccessRequestId, AccessRequest>,
    pub(super) domains: BTreeMap<DomainId, Domain>,
    pub(super) identity_providers: BTreeMap<IdentityProviderId, IdentityProvider>,
    pub(super) identities: BTreeMap<IdentityId, Identity>,
    pub(super) directories: BTreeMap<DirectoryId, Directory>,
    pub(super) directory_activities: BTreeMap<DirectoryId, DirectoryActivity>,
    pub(super) directory_users: BTreeMap<UserId, DirectoryUser>,
    pub(super) directory_groups: BTreeMap<DirectoryGroupId, DirectoryGroup>,
    pub(super) group_members: GroupMembers,
    pub(super) legal_holds: BTreeMap<LegalHoldId, LegalHold>,
    pub(super) manifest_items: BTreeSet<Uuid>,
    pub(super) attributes: BTreeMap<AttributeOwner, Attributes>,
    pub(super) past: PastVersions,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The committed state of a tenant; an empty state if nothing was committed.
    pub(super) fn tenant_state(&self, tenant: TenantId) -> Arc<TenantState> {
        self.read(|state| state.tenants.get(&tenant).cloned().unwrap_or_default())
    }
}

/// A private copy of a tenant, with the lock that serializes writers.
pub(super) struct MemoryTransaction {
    pub(super) store: MemoryStore,
    pub(super) tenant: TenantId,
    pub(super) draft: TenantState,
    /// The changes of the audit log. The log is not part of the draft, because it only grows.
    pub(super) audit: Vec<AuditChange>,
    pub(super) entries: Vec<AuditEntry>,
    /// Changes of idempotency records. They are not part of the draft of a tenant, because some belong to no tenant.
    pub(super) idempotency: Vec<IdempotencyChange>,
    /// Changes of the outbox, which belongs to all tenants.
    pub(super) mail: Vec<MailChange>,
    /// E-mails whose failed attempts under [`TenantId::NONE`] are deleted.
    pub(super) cleared: Vec<EmailKey>,
    pub(super) _writer: OwnedMutexGuard<()>,
}

/// Returns a conflict if the constraint does not hold.
pub(super) fn hold(constraint: Constraint, holds: bool) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Conflict(constraint)) }
}

/// Returns the requested page of the items found, in the order of `found`.
pub(super) fn page<T: Clone>(found: &[&T], request: PageRequest) -> Page<T> {
    let offset = usize::try_from(request.offset()).unwrap_or(usize::MAX);
    let items = found.iter().skip(offset).take(request.limit() as usize).map(|item| T::clone(item)).collect();
    Page { items, total: found.len() as u64, request }
}

/// Sorts newest first, then by identifier.
pub(super) fn newest_first<T, I: Ord>(found: &mut [T], key: impl Fn(&T) -> (Timestamp, I)) {
    found.sort_by_key(|item| {
        let (created_at, id) = key(item);
        (Reverse(created_at), id)
    });
}
