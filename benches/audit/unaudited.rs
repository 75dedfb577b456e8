//! A store that discards the audit entries, to measure the cost of everything else. It passes all other calls on
//! unchanged.

use std::sync::Arc;

use async_trait::async_trait;
use iam_core::AuditBatch;
use iam_core::access::*;
use iam_core::access_review::*;
use iam_core::api_key::*;
use iam_core::assignment::*;
use iam_core::audit::*;
use iam_core::clock::{Day, Timestamp};
use iam_core::credential::*;
use iam_core::factor::*;
use iam_core::history::{HistoryStore, HolderQuery, Past, PastStatus};
use iam_core::idempotency::*;
use iam_core::invitation::*;
use iam_core::link::*;
use iam_core::mail::*;
use iam_core::maintenance::*;
use iam_core::organization::*;
use iam_core::page::{Page, PageRequest};
use iam_core::permission::*;
use iam_core::role::*;
use iam_core::session::*;
use iam_core::tenant::*;
use iam_core::token::*;
use iam_core::user::*;
use iam_core::version::Version;
use iam_core::webhook::{Delivery, *};
use iam_core::{
    AccessReviewId, ApiKeyId, AssignmentId, AuditEntryId, Change, EmailKey, InvitationId, KeyId, OrganizationId,
    PermissionId, RoleId, RoleName, SessionId, Slug, Store, StoreError, TenantId, Transaction, UserId, WebhookId,
};

use uuid::Uuid;

type Outcome<T> = Result<T, StoreError>;

pub(crate) struct Unaudited(pub(crate) Arc<dyn Store>);

struct UnauditedTransaction(Box<dyn Transaction>);

#[async_trait]
impl Store for Unaudited {
    async fn begin(&self, tenant: TenantId) -> Outcome<Box<dyn Transaction>> {
        Ok(Box::new(UnauditedTransaction(self.0.begin(tenant).await?)))
    }

    async fn ping(&self) -> Outcome<()> {
        self.0.ping().await
    }

    async fn is_migrated(&self) -> Outcome<bool> {
        self.0.is_migrated().await
    }

    async fn close(&self) {
        self.0.close().await;
    }

    fn kind(&self) -> &'static str {
        self.0.kind()
    }
}

#[async_trait]
impl Transaction for UnauditedTransaction {
    async fn write(&mut self, change: &Change, _: AuditBatch) -> Outcome<()> {
        self.0.write(change, AuditBatch::of_entries(Vec::new())).await
    }

    async fn commit(self: Box<Self>) -> Outcome<()> {
        self.0.commit().await
    }
}

#[async_trait]
impl AssignmentStore for Unaudited {
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Outcome<Vec<Grant>> {
        self.0.grants_of(tenant, users).await
    }
    async fn assigned_users(
        &self,
        tenant: TenantId,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Outcome<Vec<UserId>> {
        self.0.assigned_users(tenant, roles, organizations).await
    }
    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        reach: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Outcome<Page<ListedAssignment>> {
        self.0.assignments(tenant, filter, reach, page, now).await
    }
    async fn expiring_assignments(
        &self,
        tenant: TenantId,
        reach: &VisibleScope,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Outcome<Vec<ListedAssignment>> {
        self.0.expiring_assignments(tenant, reach, now, until, limit).await
    }
    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Outcome<Vec<TenantId>> {
        self.0.tenants_with_expired_assignments(now, limit).await
    }
}

#[async_trait]
impl AuditStore for Unaudited {
    async fn audit_entries(
        &self,
        tenant: TenantId,
        filter: &AuditFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Outcome<Vec<AuditEntry>> {
        self.0.audit_entries(tenant, filter, after, limit).await
    }
    async fn audit_entries_by_day(
        &self,
        tenant: TenantId,
        action: &str,
        from: Timestamp,
        limit: u32,
    ) -> Outcome<Vec<(Day, u64)>> {
        self.0.audit_entries_by_day(tenant, action, from, limit).await
    }
    async fn audit_entry(&self, tenant: TenantId, id: AuditEntryId) -> Outcome<Option<AuditEntry>> {
        self.0.audit_entry(tenant, id).await
    }
    async fn purge_audit_entries(&self) -> Outcome<u64> {
        self.0.purge_audit_entries().await
    }
}

#[async_trait]
impl MaintenanceStore for Unaudited {
    async fn totals(&self, now: Timestamp) -> Outcome<Totals> {
        self.0.totals(now).await
    }
    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_expired_sessions(now, limit).await
    }
    async fn remove_stale_login_attempts(&self, now: Timestamp, failed_before: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_stale_login_attempts(now, failed_before, limit).await
    }
    async fn take_turn(&self, job: &'static str) -> Outcome<Option<Box<dyn Turn>>> {
        self.0.take_turn(job).await
    }
    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_idempotency_records(before, limit).await
    }
    async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_expired_links(now, limit).await
    }
    async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_expired_challenges(now, limit).await
    }
    async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_message_counts(before, limit).await
    }
    async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Outcome<u64> {
        self.0.remove_ended_deliveries(before, limit).await
    }
}

#[async_trait]
impl AccessReviewStore for Unaudited {
    async fn access_review(&self, tenant: TenantId, id: AccessReviewId) -> Outcome<Option<AccessReview>> {
        self.0.access_review(tenant, id).await
    }
    async fn access_reviews(
        &self,
        tenant: TenantId,
        filter: &AccessReviewFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
    ) -> Outcome<Page<AccessReview>> {
        self.0.access_reviews(tenant, filter, visible_scope, page).await
    }
    async fn access_review_progress(
        &self,
        tenant: TenantId,
        reviews: &[AccessReviewId],
    ) -> Outcome<Vec<(AccessReviewId, ReviewProgress)>> {
        self.0.access_review_progress(tenant, reviews).await
    }
    async fn access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
        page: PageRequest,
    ) -> Outcome<Page<ListedReviewItem>> {
        self.0.access_review_items(tenant, review, filter, page).await
    }
    async fn all_access_review_items(
        &self,
        tenant: TenantId,
        review: AccessReviewId,
        filter: Option<ReviewItemFilter>,
    ) -> Outcome<Vec<ListedReviewItem>> {
        self.0.all_access_review_items(tenant, review, filter).await
    }
}

#[async_trait]
impl InvitationStore for Unaudited {
    async fn invitation(&self, tenant: TenantId, id: InvitationId) -> Outcome<Option<Invitation>> {
        self.0.invitation(tenant, id).await
    }
    async fn invitations(
        &self,
        tenant: TenantId,
        filter: &InvitationFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Outcome<Page<Invitation>> {
        self.0.invitations(tenant, filter, visible_scope, page, now).await
    }
}

#[async_trait]
impl FactorStore for Unaudited {
    async fn factors(&self, tenant: TenantId, user: UserId) -> Outcome<Vec<Factor>> {
        self.0.factors(tenant, user).await
    }
    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> Outcome<u64> {
        self.0.recovery_codes_left(tenant, user).await
    }
    async fn challenge(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Outcome<Option<Challenge>> {
        self.0.challenge(tenant, token_hash).await
    }
}

#[async_trait]
impl WebhookStore for Unaudited {
    async fn webhook(&self, tenant: TenantId, id: WebhookId) -> Outcome<Option<Webhook>> {
        self.0.webhook(tenant, id).await
    }
    async fn webhooks(&self, tenant: TenantId) -> Outcome<Vec<Webhook>> {
        self.0.webhooks(tenant).await
    }
    async fn deliveries(&self, tenant: TenantId, webhook: WebhookId, limit: u32) -> Outcome<Vec<Delivery>> {
        self.0.deliveries(tenant, webhook, limit).await
    }
    async fn due_webhooks(&self, now: Timestamp) -> Outcome<Vec<DueWebhook>> {
        self.0.due_webhooks(now).await
    }
    async fn webhook_work(
        &self,
        tenant: TenantId,
        id: WebhookId,
        now: Timestamp,
        limit: u32,
    ) -> Outcome<Option<WebhookWork>> {
        self.0.webhook_work(tenant, id, now, limit).await
    }
    async fn record_deliveries(
        &self,
        tenant: TenantId,
        id: WebhookId,
        version: Version,
        before: u64,
        progress: &DeliveryProgress,
        deliveries: &[Delivery],
    ) -> Outcome<bool> {
        self.0.record_deliveries(tenant, id, version, before, progress, deliveries).await
    }
    async fn webhook_backlog(&self) -> Outcome<WebhookBacklog> {
        self.0.webhook_backlog().await
    }
}

#[async_trait]
impl ApiKeyStore for Unaudited {
    async fn api_key_snapshot(&self, tenant: TenantId, id: ApiKeyId) -> Outcome<Option<ApiKeySnapshot>> {
        self.0.api_key_snapshot(tenant, id).await
    }
    async fn api_key(&self, tenant: TenantId, id: ApiKeyId) -> Outcome<Option<ApiKey>> {
        self.0.api_key(tenant, id).await
    }
    async fn api_keys_of(&self, tenant: TenantId, user: UserId) -> Outcome<Vec<ApiKey>> {
        self.0.api_keys_of(tenant, user).await
    }
    async fn record_api_key_use(&self, tenant: TenantId, id: ApiKeyId, now: Timestamp) -> Outcome<()> {
        self.0.record_api_key_use(tenant, id, now).await
    }
}

#[async_trait]
impl LinkStore for Unaudited {
    async fn link_by_token(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Outcome<Option<Link>> {
        self.0.link_by_token(tenant, token_hash).await
    }
    async fn link(&self, tenant: TenantId, purpose: LinkPurpose, subject: Uuid) -> Outcome<Option<Link>> {
        self.0.link(tenant, purpose, subject).await
    }
}

#[async_trait]
impl MailStore for Unaudited {
    async fn claim_messages(&self, now: Timestamp, until: Timestamp, limit: u32) -> Outcome<Vec<Message>> {
        self.0.claim_messages(now, until, limit).await
    }
    async fn postpone_message(&self, message: &Message, next_attempt_at: Timestamp) -> Outcome<()> {
        self.0.postpone_message(message, next_attempt_at).await
    }
    async fn remove_message(&self, message: &Message) -> Outcome<()> {
        self.0.remove_message(message).await
    }
}

#[async_trait]
impl SequenceStore for Unaudited {
    async fn pending(&self, except: &[TenantId], limit: u32) -> Outcome<Vec<Pending>> {
        self.0.pending(except, limit).await
    }
    async fn log_heads(&self, tenants: &[TenantId]) -> Outcome<Vec<LogHead>> {
        self.0.log_heads(tenants).await
    }
    async fn sequence(&self, batches: &[SequencedBatch]) -> Outcome<bool> {
        self.0.sequence(batches).await
    }
    async fn sequence_of(&self, tenant: TenantId, id: AuditEntryId) -> Outcome<Option<u64>> {
        self.0.sequence_of(tenant, id).await
    }
    async fn tree_hashes(&self, tenant: TenantId, spans: &[TreeSpan]) -> Outcome<Vec<TreeHash>> {
        self.0.tree_hashes(tenant, spans).await
    }
    async fn audited_tenants(&self) -> Outcome<Vec<TenantId>> {
        self.0.audited_tenants().await
    }
    async fn sequenced_entries(&self, tenant: TenantId, from: u64, limit: u32) -> Outcome<Vec<SequencedEntry>> {
        self.0.sequenced_entries(tenant, from, limit).await
    }
    async fn pending_entries(
        &self,
        tenant: TenantId,
        after: Option<(Timestamp, AuditEntryId)>,
        limit: u32,
    ) -> Outcome<Vec<PendingEntry>> {
        self.0.pending_entries(tenant, after, limit).await
    }
    async fn stray_entry(&self, tenant: TenantId) -> Outcome<Option<AuditEntryId>> {
        self.0.stray_entry(tenant).await
    }
}

#[async_trait]
impl CredentialStore for Unaudited {
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Outcome<GuardedAccount> {
        self.0.guarded_account(tenant, email).await
    }
}

#[async_trait]
impl OrganizationStore for Unaudited {
    async fn lineages(&self, tenant: TenantId, organizations: &[OrganizationId]) -> Outcome<Vec<Organization>> {
        self.0.lineages(tenant, organizations).await
    }
    async fn subtree(&self, tenant: TenantId, root: OrganizationId) -> Outcome<Vec<Organization>> {
        self.0.subtree(tenant, root).await
    }
    async fn children(&self, tenant: TenantId, parent: OrganizationId) -> Outcome<Vec<Organization>> {
        self.0.children(tenant, parent).await
    }
    async fn organizations(
        &self,
        tenant: TenantId,
        filter: &OrganizationFilter,
        reach: &VisibleScope,
        sort: OrganizationSort,
        page: PageRequest,
    ) -> Outcome<Page<Organization>> {
        self.0.organizations(tenant, filter, reach, sort, page).await
    }
}

#[async_trait]
impl PermissionStore for Unaudited {
    async fn permissions(&self, tenant: TenantId, page: PageRequest) -> Outcome<Page<RegisteredPermission>> {
        self.0.permissions(tenant, page).await
    }
}

#[async_trait]
impl RoleStore for Unaudited {
    async fn role(&self, tenant: TenantId, id: RoleId) -> Outcome<Option<Role>> {
        self.0.role(tenant, id).await
    }
    async fn role_by_name(&self, tenant: TenantId, name: &str) -> Outcome<Option<Role>> {
        self.0.role_by_name(tenant, name).await
    }
    async fn roles_by_id(&self, tenant: TenantId, ids: &[RoleId]) -> Outcome<Vec<Role>> {
        self.0.roles_by_id(tenant, ids).await
    }
    async fn roles_allowing(&self, tenant: TenantId, permission: &Permission) -> Outcome<Vec<Role>> {
        self.0.roles_allowing(tenant, permission).await
    }
    async fn roles(&self, tenant: TenantId, page: PageRequest) -> Outcome<Page<Role>> {
        self.0.roles(tenant, page).await
    }
}

#[async_trait]
impl HistoryStore for Unaudited {
    async fn history_start(&self, tenant: TenantId) -> Outcome<Option<Timestamp>> {
        self.0.history_start(tenant).await
    }
    async fn past_assignments_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Outcome<Vec<Past<Assignment>>> {
        self.0.past_assignments_of(tenant, users, after).await
    }
    async fn past_roles(
        &self,
        tenant: TenantId,
        roles: Option<&[RoleId]>,
        after: Timestamp,
    ) -> Outcome<Vec<Past<Role>>> {
        self.0.past_roles(tenant, roles, after).await
    }
    async fn past_organizations(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        after: Timestamp,
    ) -> Outcome<Vec<Past<Organization>>> {
        self.0.past_organizations(tenant, organizations, after).await
    }
    async fn past_statuses(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Outcome<Vec<Past<PastStatus>>> {
        self.0.past_statuses(tenant, users, after).await
    }
    async fn assignments_at(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        reach: &VisibleScope,
        page: PageRequest,
        at: Timestamp,
    ) -> Outcome<Page<Assignment>> {
        self.0.assignments_at(tenant, filter, reach, page, at).await
    }
    async fn holders(
        &self,
        tenant: TenantId,
        query: &HolderQuery,
        page: PageRequest,
        now: Timestamp,
    ) -> Outcome<Page<UserId>> {
        self.0.holders(tenant, query, page, now).await
    }
}

#[async_trait]
impl SessionStore for Unaudited {
    async fn session_snapshot(&self, tenant: TenantId, session: SessionId) -> Outcome<Option<SessionSnapshot>> {
        self.0.session_snapshot(tenant, session).await
    }
    async fn session(&self, tenant: TenantId, id: SessionId) -> Outcome<Option<Session>> {
        self.0.session(tenant, id).await
    }
    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Outcome<Option<SessionDetails>> {
        self.0.session_details(tenant, id).await
    }
    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Outcome<Vec<Session>> {
        self.0.sessions_of(tenant, user).await
    }
}

#[async_trait]
impl Directory for Unaudited {
    async fn tenant_by_slug(&self, slug: &Slug) -> Outcome<Option<Tenant>> {
        self.0.tenant_by_slug(slug).await
    }
    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Outcome<LoginCandidates> {
        self.0.login_candidates(email, limit).await
    }
    async fn is_empty(&self) -> Outcome<bool> {
        self.0.is_empty().await
    }

    async fn has_several_tenants(&self) -> Outcome<bool> {
        self.0.has_several_tenants().await
    }
}

#[async_trait]
impl TenantStore for Unaudited {
    async fn tenant(&self, tenant: TenantId) -> Outcome<Option<Tenant>> {
        self.0.tenant(tenant).await
    }
}

#[async_trait]
impl KeyStore for Unaudited {
    async fn signing_keys(&self, purpose: KeyPurpose) -> Outcome<Vec<SigningKey>> {
        self.0.signing_keys(purpose).await
    }
    async fn insert_signing_key(&self, key: &SigningKey) -> Outcome<()> {
        self.0.insert_signing_key(key).await
    }
    async fn replace_private_key(&self, id: KeyId, before: &PrivateKey, after: &PrivateKey) -> Outcome<bool> {
        self.0.replace_private_key(id, before, after).await
    }

    async fn revoke_signing_key(&self, id: KeyId, at: Timestamp) -> Outcome<bool> {
        self.0.revoke_signing_key(id, at).await
    }
}

#[async_trait]
impl UserStore for Unaudited {
    async fn user(&self, tenant: TenantId, id: UserId) -> Outcome<Option<User>> {
        self.0.user(tenant, id).await
    }
    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Outcome<Vec<User>> {
        self.0.users_by_id(tenant, ids).await
    }
    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        reach: &VisibleScope,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Outcome<Page<User>> {
        self.0.users(tenant, filter, reach, sort, page, now).await
    }
}

#[async_trait]
impl AssignmentTransaction for UnauditedTransaction {
    async fn grants(&mut self, which: GrantQuery<'_>) -> Outcome<Vec<Grant>> {
        self.0.grants(which).await
    }
    async fn roles_held_in(&mut self, organizations: &[OrganizationId], now: Timestamp) -> Outcome<Vec<HeldRole>> {
        self.0.roles_held_in(organizations, now).await
    }
    async fn roles_held_until(&mut self, roles: &[RoleId], now: Timestamp) -> Outcome<Option<Until>> {
        self.0.roles_held_until(roles, now).await
    }
    async fn has_other_administrator(&mut self, than: UserId) -> Outcome<bool> {
        self.0.has_other_administrator(than).await
    }
}

#[async_trait]
impl AuditTransaction for UnauditedTransaction {
    async fn log_head(&mut self) -> Outcome<Option<LogHead>> {
        self.0.log_head().await
    }
    async fn first_sequenced_since(&mut self, from: u64, moment: Timestamp) -> Outcome<Option<u64>> {
        self.0.first_sequenced_since(from, moment).await
    }
}

#[async_trait]
impl IdempotencyTransaction for UnauditedTransaction {
    async fn lock_idempotency_record(&mut self, tenant: TenantId, id: &[u8; 32]) -> Outcome<Option<IdempotencyRecord>> {
        self.0.lock_idempotency_record(tenant, id).await
    }
}

#[async_trait]
impl InvitationTransaction for UnauditedTransaction {
    async fn lock_invitation(&mut self, id: InvitationId) -> Outcome<Option<Invitation>> {
        self.0.lock_invitation(id).await
    }
}

#[async_trait]
impl AccessReviewTransaction for UnauditedTransaction {
    async fn count_items_of(&mut self, review: &AccessReview, limit: u64) -> Outcome<u64> {
        self.0.count_items_of(review, limit).await
    }
    async fn lock_access_review(&mut self, id: AccessReviewId) -> Outcome<Option<AccessReview>> {
        self.0.lock_access_review(id).await
    }
    async fn progress_of(&mut self, review: AccessReviewId) -> Outcome<ReviewProgress> {
        self.0.progress_of(review).await
    }
    async fn items_to_revoke(&mut self, review: AccessReviewId) -> Outcome<Vec<AssignmentId>> {
        self.0.items_to_revoke(review).await
    }
    async fn lock_access_review_item(
        &mut self,
        review: AccessReviewId,
        id: AssignmentId,
    ) -> Outcome<Option<AccessReviewItem>> {
        self.0.lock_access_review_item(review, id).await
    }
}

#[async_trait]
impl FactorTransaction for UnauditedTransaction {
    async fn factors(&mut self, user: UserId) -> Outcome<Vec<Factor>> {
        self.0.factors(user).await
    }
    async fn recovery_codes(&mut self, user: UserId) -> Outcome<Vec<[u8; 32]>> {
        self.0.recovery_codes(user).await
    }
    async fn lock_challenge(&mut self, token_hash: &[u8; 32]) -> Outcome<Option<Challenge>> {
        self.0.lock_challenge(token_hash).await
    }
}

#[async_trait]
impl WebhookTransaction for UnauditedTransaction {
    async fn lock_webhook(&mut self, id: WebhookId) -> Outcome<Option<Webhook>> {
        self.0.lock_webhook(id).await
    }
    async fn count_webhooks(&mut self) -> Outcome<u64> {
        self.0.count_webhooks().await
    }
}

#[async_trait]
impl ApiKeyTransaction for UnauditedTransaction {
    async fn lock_api_key(&mut self, id: ApiKeyId) -> Outcome<Option<ApiKey>> {
        self.0.lock_api_key(id).await
    }
    async fn lock_api_keys_of(&mut self, user: UserId) -> Outcome<Vec<ApiKey>> {
        self.0.lock_api_keys_of(user).await
    }
}

#[async_trait]
impl LinkTransaction for UnauditedTransaction {
    async fn lock_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Outcome<Option<Link>> {
        self.0.lock_link(purpose, subject).await
    }
}

#[async_trait]
impl MailTransaction for UnauditedTransaction {
    async fn lock_queued_messages(
        &mut self,
        counted_in: TenantId,
        kind: MailKind,
        to: &EmailKey,
    ) -> Outcome<Vec<Timestamp>> {
        self.0.lock_queued_messages(counted_in, kind, to).await
    }
}

#[async_trait]
impl CredentialTransaction for UnauditedTransaction {
    async fn lock_guarded_account(&mut self, email: &EmailKey, user: Option<UserId>) -> Outcome<GuardedAccount> {
        self.0.lock_guarded_account(email, user).await
    }
}

#[async_trait]
impl OrganizationTransaction for UnauditedTransaction {
    async fn lineages(&mut self, organizations: &[OrganizationId]) -> Outcome<Vec<Organization>> {
        self.0.lineages(organizations).await
    }
    async fn subtree(&mut self, root: OrganizationId) -> Outcome<Vec<Organization>> {
        self.0.subtree(root).await
    }
    async fn is_organization_slug_taken(&mut self, slug: &Slug) -> Outcome<bool> {
        self.0.is_organization_slug_taken(slug).await
    }
}

#[async_trait]
impl PermissionTransaction for UnauditedTransaction {
    async fn permission(&mut self, id: PermissionId) -> Outcome<Option<RegisteredPermission>> {
        self.0.permission(id).await
    }
    async fn permission_names(&mut self) -> Outcome<Vec<Permission>> {
        self.0.permission_names().await
    }
}

#[async_trait]
impl RoleTransaction for UnauditedTransaction {
    async fn roles_by_id(&mut self, ids: &[RoleId]) -> Outcome<Vec<Role>> {
        self.0.roles_by_id(ids).await
    }
    async fn is_role_name_taken(&mut self, name: &RoleName) -> Outcome<bool> {
        self.0.is_role_name_taken(name).await
    }
    async fn roles_with(&mut self, pattern: &PermissionPattern) -> Outcome<Vec<RoleId>> {
        self.0.roles_with(pattern).await
    }
}

#[async_trait]
impl SessionTransaction for UnauditedTransaction {
    async fn lock_session(&mut self, id: SessionId) -> Outcome<Option<Session>> {
        self.0.lock_session(id).await
    }
    async fn lock_sessions_of(&mut self, user: UserId) -> Outcome<Vec<Session>> {
        self.0.lock_sessions_of(user).await
    }

    async fn lock_sessions(&mut self, limit: u32) -> Outcome<Vec<Session>> {
        self.0.lock_sessions(limit).await
    }
}

#[async_trait]
impl TenantTransaction for UnauditedTransaction {
    async fn lock_tenant(&mut self) -> Outcome<Option<Tenant>> {
        self.0.lock_tenant().await
    }

    async fn usage(&mut self) -> Outcome<Usage> {
        self.0.usage().await
    }
}

#[async_trait]
impl UserTransaction for UnauditedTransaction {
    async fn lock_user(&mut self, id: UserId) -> Outcome<Option<User>> {
        self.0.lock_user(id).await
    }
    async fn users_by_id(&mut self, ids: &[UserId]) -> Outcome<Vec<User>> {
        self.0.users_by_id(ids).await
    }
}
