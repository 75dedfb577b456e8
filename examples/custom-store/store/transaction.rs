use std::mem;

use async_trait::async_trait;
use iam_model::access_request::AccessRequest;
use iam_model::access_review::{AccessReview, AccessReviewItem};
use iam_model::assignment::Assignment;
use iam_model::change::{AuditBatch, Change};
use iam_model::directory::{Directory, DirectoryGroup, DirectoryUser};
use iam_model::domain::Domain;
use iam_model::eligibility::Eligibility;
use iam_model::id::TenantId;
use iam_model::identity::Identity;
use iam_model::invitation::Invitation;
use iam_model::legal_hold::LegalHold;
use iam_model::organization::Organization;
use iam_model::permission::RegisteredPermission;
use iam_model::role::Role;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use iam_model::tenant_deletion::TenantDeletion;
use iam_model::user::User;
use redb::WriteTransaction;
use uuid::Uuid;

use super::Writing;
use super::api_key::ApiKeyRow;
use super::attribute::AttributesRow;
use super::audit::EntryRow;
use super::credential::{AttemptsRow, PasswordRow};
use super::directory::ActivityRow;
use super::directory_group::MemberRow;
use super::factor::{ChallengeRow, FactorRow, RecoveryCodesRow};
use super::feed::{Feed, changed_by};
use super::history::{HistoryStartRow, PastRow};
use super::idempotency::AnswerRow;
use super::identity_provider::IdentityProviderRow;
use super::link::LinkRow;
use super::mail::{MessageRow, QueuedMailRow, SentMailRow};
use super::manifest::ManifestItemRow;
use super::rows::{Draft, View, create};
use super::sequence::{HeadRow, LeafRow, NodeRow, QueuedRow};
use super::session::SessionRow;
use super::signing_key::KeyRow;
use super::webhook::{DeliveryRow, WebhookRow};

/// A unit of work. Nothing else writes until it ends, so everything that it reads is locked.
pub(super) struct RedbTransaction {
    tenant: TenantId,
    writing: Writing,
    /// Whether a `write` has failed or was cancelled. The changes before it must not be committed either.
    broken: bool,
    /// The ids for the notification after the commit.
    changed: Vec<Uuid>,
    feed: Feed,
}

impl RedbTransaction {
    pub(super) fn new(tenant: TenantId, writing: Writing, feed: Feed) -> Self {
        Self { tenant, writing, broken: false, changed: Vec::new(), feed }
    }

    /// The rows of this unit's tenant, for reading and writing. The tenant id inside a change is not trusted.
    pub(super) fn draft(&self) -> Draft<'_> {
        Draft::new(&self.writing.rows, self.tenant)
    }

    /// The committed rows, together with the writes of this unit of work.
    pub(super) fn view(&self) -> View<'_> {
        self.draft().view()
    }
}

#[async_trait]
impl Transaction for RedbTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        let was_broken = mem::replace(&mut self.broken, true);
        let draft = self.draft();
        draft.keep_ended_versions(&audit)?;
        match change {
            Change::Tenant(change) => draft.write_tenant(change),
            Change::User(change) => draft.write_user(change),
            Change::Credential(change) => draft.write_credential(change),
            Change::Session(change) => draft.write_session(change),
            Change::Permission(change) => draft.write_permission(change),
            Change::Role(change) => draft.write_role(change),
            Change::Assignment(change) => draft.write_assignment(change),
            Change::Organization(change) => draft.write_organization(change),
            Change::Audit(change) => draft.write_audit(change),
            Change::Idempotency(change) => draft.write_idempotency(change),
            Change::Invitation(change) => draft.write_invitation(change),
            Change::Link(change) => draft.write_link(change),
            Change::Mail(change) => draft.write_mail(change),
            Change::ApiKey(change) => draft.write_api_key(change),
            Change::Webhook(change) => draft.write_webhook(change),
            Change::AccessReview(change) => draft.write_access_review(change),
            Change::Domain(change) => draft.write_domain(change),
            Change::IdentityProvider(change) => draft.write_identity_provider(change),
            Change::Identity(change) => draft.write_identity(change),
            Change::Directory(change) => draft.write_directory(change),
            Change::DirectoryUser(change) => draft.write_directory_user(change),
            Change::DirectoryGroup(change) => draft.write_directory_group(change),
            Change::Eligibility(change) => draft.write_eligibility(change),
            Change::AccessRequest(change) => draft.write_access_request(change),
            Change::Manifest(change) => draft.write_manifest(change),
            Change::LegalHold(change) => draft.write_legal_hold(change),
            Change::TenantDeletion(change) => draft.write_tenant_deletion(change),
            Change::Factor(change) => draft.write_factor(change),
            Change::Challenge(change) => draft.write_challenge(change),
        }?;
        draft.record(audit.into_entries())?;
        self.changed.extend(changed_by(change));
        self.broken = was_broken;
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Failed("a change of this unit of work has failed".into()));
        }
        self.writing.commit(&self.feed, self.changed).await
    }
}

/// Creates the missing tables: a read from a missing table fails.
pub(super) fn create_tables(rows: &WriteTransaction) -> Result<(), StoreError> {
    create::<Tenant>(rows)?;
    create::<User>(rows)?;
    create::<PasswordRow>(rows)?;
    create::<AttemptsRow>(rows)?;
    create::<SessionRow>(rows)?;
    create::<RegisteredPermission>(rows)?;
    create::<Role>(rows)?;
    create::<Organization>(rows)?;
    create::<Assignment>(rows)?;
    create::<EntryRow>(rows)?;
    create::<QueuedRow>(rows)?;
    create::<LeafRow>(rows)?;
    create::<NodeRow>(rows)?;
    create::<WebhookRow>(rows)?;
    create::<DeliveryRow>(rows)?;
    create::<HeadRow>(rows)?;
    create::<AnswerRow>(rows)?;
    create::<Invitation>(rows)?;
    create::<AccessReview>(rows)?;
    create::<AccessReviewItem>(rows)?;
    create::<Eligibility>(rows)?;
    create::<AccessRequest>(rows)?;
    create::<Domain>(rows)?;
    create::<IdentityProviderRow>(rows)?;
    create::<Identity>(rows)?;
    create::<Directory>(rows)?;
    create::<ActivityRow>(rows)?;
    create::<DirectoryUser>(rows)?;
    create::<DirectoryGroup>(rows)?;
    create::<MemberRow>(rows)?;
    create::<LinkRow>(rows)?;
    create::<MessageRow>(rows)?;
    create::<QueuedMailRow>(rows)?;
    create::<SentMailRow>(rows)?;
    create::<ApiKeyRow>(rows)?;
    create::<FactorRow>(rows)?;
    create::<RecoveryCodesRow>(rows)?;
    create::<ChallengeRow>(rows)?;
    create::<PastRow>(rows)?;
    create::<HistoryStartRow>(rows)?;
    create::<ManifestItemRow>(rows)?;
    create::<AttributesRow>(rows)?;
    create::<LegalHold>(rows)?;
    create::<TenantDeletion>(rows)?;
    create::<KeyRow>(rows)
}
