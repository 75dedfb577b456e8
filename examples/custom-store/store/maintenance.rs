use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::store::{MaintenanceStore, Totals, Turn};
use iam_model::store_error::StoreError;
use redb::WriteTransaction;

use super::RedbStore;
use super::credential::AttemptsRow;
use super::factor::ChallengeRow;
use super::idempotency::AnswerRow;
use super::link::LinkRow;
use super::mail::QueuedMailRow;
use super::rows::{Draft, Row, everywhere};
use super::sequence::QueuedRow;
use super::session::SessionRow;
use super::webhook::DeliveryRow;

#[async_trait]
impl MaintenanceStore for RedbStore {
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError> {
        self.read_all(|rows| {
            let sessions = everywhere::<SessionRow>(rows)?;
            Ok(Totals {
                active_sessions: sessions.iter().filter(|(_, SessionRow(session))| session.is_live(now)).count() as u64,
                pending_entries: everywhere::<QueuedRow>(rows)?.len() as u64,
            })
        })
    }

    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let writing = self.begin_write().await?;
        let removed = remove(&writing.rows, limit, |SessionRow(session)| !session.is_live(now))?;
        let ended = removed.iter().map(|SessionRow(session)| session.id.into()).collect();
        writing.commit(&self.feed, ended).await?;
        Ok(removed.len() as u64)
    }

    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let is_stale = |row: &AttemptsRow| !row.still_counts(now, failed_before);
        Ok(self.write(|rows| remove(rows, limit, is_stale)).await?.len() as u64)
    }

    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let is_old = |AnswerRow(record): &AnswerRow| record.created_at < before;
        Ok(self.write(|rows| remove(rows, limit, is_old)).await?.len() as u64)
    }

    async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|rows| remove(rows, limit, |LinkRow(link)| !link.is_live(now))).await?.len() as u64)
    }

    async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let is_expired = |ChallengeRow(challenge): &ChallengeRow| challenge.expires_at <= now;
        Ok(self.write(|rows| remove(rows, limit, is_expired)).await?.len() as u64)
    }

    async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let is_old = |row: &QueuedMailRow| row.queued_at.iter().all(|at| *at < before);
        Ok(self.write(|rows| remove(rows, limit, is_old)).await?.len() as u64)
    }

    async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let is_old = |row: &DeliveryRow| row.kept.next_attempt_at.is_none() && row.kept.started_at < before;
        Ok(self.write(|rows| remove(rows, limit, is_old)).await?.len() as u64)
    }

    // redb locks the file, so no other process can have it open.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        Ok(self.turns.take(job))
    }
}

/// Removes at most `limit` rows of all tenants. Returns the removed rows.
fn remove<T: Row>(rows: &WriteTransaction, limit: u32, matches: impl Fn(&T) -> bool) -> Result<Vec<T>, StoreError> {
    let found = everywhere::<T>(rows)?.into_iter().filter(|(_, row)| matches(row)).take(limit as usize);
    found.map(|(tenant, row)| Draft::new(rows, tenant).remove::<T>(&row.key()).map(|_| row)).collect()
}
