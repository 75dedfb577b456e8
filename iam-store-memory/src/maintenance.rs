use std::sync::Arc;

use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::credential::LoginAttempts;
use iam_model::store::{MaintenanceStore, Totals, Turn};
use iam_model::store_error::StoreError;

use crate::state::{MemoryStore, TenantState};

#[async_trait]
impl MaintenanceStore for MemoryStore {
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError> {
        Ok(self.read(|state| Totals {
            active_sessions: state.tenants.values().map(|tenant| tenant.active_sessions(now)).sum(),
            pending_entries: state.audit.values().map(|log| log.pending.len() as u64).sum(),
        }))
    }

    // Ignores the limit, which bounds how long a database holds its locks. This store does not need it.
    async fn remove_expired_sessions(&self, now: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        let remove = |state: &mut TenantState| {
            let all = state.sessions.len();
            state.sessions.retain(|_, session| now < session.expires_at);
            all - state.sessions.len()
        };
        Ok(self.remove_from_all_tenants(remove).await)
    }

    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        _limit: u32,
    ) -> Result<u64, StoreError> {
        let counts = |attempts: &LoginAttempts| match attempts.locked_until {
            Some(until) => now < until,
            None => attempts.failed_at.iter().any(|at| *at >= failed_before),
        };
        let remove = |state: &mut TenantState| {
            let all = state.attempts.len();
            state.attempts.retain(|_, attempts| counts(attempts));
            all - state.attempts.len()
        };
        Ok(self.remove_from_all_tenants(remove).await)
    }

    async fn remove_idempotency_records(&self, before: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        Ok(self.change(|state| {
            let all = state.idempotency.len();
            state.idempotency.retain(|_, record| record.created_at >= before);
            (all - state.idempotency.len()) as u64
        }))
    }

    async fn remove_expired_links(&self, now: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        let remove = |state: &mut TenantState| {
            let all = state.links.len();
            state.links.retain(|_, link| link.is_live(now));
            all - state.links.len()
        };
        Ok(self.remove_from_all_tenants(remove).await)
    }

    async fn remove_expired_challenges(&self, now: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        let remove = |state: &mut TenantState| {
            let all = state.challenges.len();
            state.challenges.retain(|_, challenge| now < challenge.expires_at);
            all - state.challenges.len()
        };
        Ok(self.remove_from_all_tenants(remove).await)
    }

    async fn remove_message_counts(&self, before: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        let _writer = self.writer.lock().await;
        Ok(self.change(|state| {
            let all = state.queued_mail.len();
            state.queued_mail.retain(|_, queued_at| queued_at.iter().any(|at| *at >= before));
            (all - state.queued_mail.len()) as u64
        }))
    }

    async fn remove_ended_deliveries(&self, before: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        let remove = |state: &mut TenantState| {
            let mut removed = 0;
            for webhook in state.webhooks.values_mut() {
                let all = webhook.deliveries.len();
                webhook.deliveries.retain(|_, kept| kept.next_attempt_at.is_some() || kept.started_at >= before);
                removed += all - webhook.deliveries.len();
            }
            removed
        };
        Ok(self.remove_from_all_tenants(remove).await)
    }

    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        Ok(self.turns.take(job))
    }
}

impl MemoryStore {
    /// Removes items from every tenant while no other task writes. Returns their number.
    async fn remove_from_all_tenants(&self, remove: impl Fn(&mut TenantState) -> usize) -> u64 {
        let _writer = self.writer.lock().await;
        self.change(|state| state.tenants.values_mut().map(|tenant| remove(Arc::make_mut(tenant)) as u64).sum())
    }
}

impl TenantState {
    fn active_sessions(&self, now: Timestamp) -> u64 {
        self.sessions.values().filter(|session| now < session.expires_at).count() as u64
    }
}
