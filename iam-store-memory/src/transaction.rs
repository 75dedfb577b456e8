use std::sync::Arc;

use async_trait::async_trait;
use iam_model::change::{AuditBatch, AuditChange, Change};
use iam_model::id::TenantId;
use iam_model::store::Transaction;
use iam_model::store_error::StoreError;

use crate::state::MemoryTransaction;

#[async_trait]
impl Transaction for MemoryTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        self.draft.past.keep(&audit);
        self.entries.extend(audit.into_entries());
        match change {
            Change::Tenant(change) => self.write_tenant(change),
            Change::User(change) => self.draft.write_user(change),
            Change::Credential(change) => {
                self.write_credential(change);
                Ok(())
            }
            Change::Session(change) => self.draft.write_session(change),
            Change::Permission(change) => self.draft.write_permission(change),
            Change::Role(change) => self.draft.write_role(change),
            Change::Assignment(change) => self.draft.write_assignment(change),
            Change::Organization(change) => self.draft.write_organization(change),
            Change::Audit(change) => {
                if let AuditChange::GiveUp { before, .. } = change {
                    self.draft.past.forget(*before);
                }
                self.audit.push(change.clone());
                Ok(())
            }
            Change::Idempotency(change) => {
                self.write_idempotency(change);
                Ok(())
            }
            Change::Invitation(change) => self.draft.write_invitation(change),
            Change::Link(change) => self.draft.write_link(change),
            Change::Factor(change) => self.write_factor(change),
            Change::Challenge(change) => self.draft.write_challenge(change),
            Change::ApiKey(change) => self.draft.write_api_key(change),
            Change::Webhook(change) => self.draft.write_webhook(change),
            Change::AccessReview(change) => self.draft.write_access_review(change),
            Change::Domain(change) => self.write_domain(change),
            Change::IdentityProvider(change) => self.draft.write_identity_provider(change),
            Change::Identity(change) => self.draft.write_identity(change),
            Change::Directory(change) => self.draft.write_directory(change),
            Change::DirectoryUser(change) => self.draft.write_directory_user(change),
            Change::DirectoryGroup(change) => self.draft.write_directory_group(change),
            Change::Eligibility(change) => self.draft.write_eligibility(change),
            Change::AccessRequest(change) => self.draft.write_access_request(change),
            Change::Manifest(change) => self.draft.write_manifest(change),
            Change::LegalHold(change) => self.draft.write_legal_hold(change),
            Change::TenantDeletion(change) => self.draft.write_tenant_deletion(change),
            Change::Mail(change) => {
                self.mail.push(change.clone());
                Ok(())
            }
        }
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let Self { store, tenant, draft, audit: changes, entries, idempotency, mail, cleared, _writer } = *self;
        store.change(|state| {
            // A unit of work may belong to no tenant: then nothing else of it stays.
            let has_unnamed = !draft.attempts.is_empty() || !draft.challenges.is_empty();
            if draft.tenant.is_some() || has_unnamed || state.tenants.contains_key(&tenant) {
                state.tenants.insert(tenant, Arc::new(draft));
            }
            if let Some(unnamed) = state.tenants.get_mut(&TenantId::NONE).filter(|_| !cleared.is_empty()) {
                Arc::make_mut(unnamed).attempts.retain(|email, _| !cleared.contains(email));
            }
            if !changes.is_empty() || !entries.is_empty() {
                let log = state.audit.entry(tenant).or_default();
                changes.iter().for_each(|change| log.change(change));
                log.record(entries);
            }
            mail.into_iter().for_each(|change| state.write_mail(change));
            idempotency.into_iter().for_each(|change| state.write_answer(change));
        });
        Ok(())
    }
}
