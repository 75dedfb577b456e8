//! What is removed and counted in the background.

/// Implements the port of maintenance; see [`store`](crate::store). The store also has a method `try_to_take_turn`,
/// because each database has its own way to let only one replica do a job.
#[macro_export]
macro_rules! maintenance_ports {
    (
        $store:ident,
        totals: $totals:literal,
        expired_sessions: $expired_sessions:literal,
        stale_login_attempts: $stale_login_attempts:literal,
        idempotency_records: $idempotency_records:literal,
        expired_links: $expired_links:literal,
        expired_challenges: $expired_challenges:literal,
        message_counts: $message_counts:literal,
        ended_deliveries: $ended_deliveries:literal $(,)?
    ) => {
        const _: () = {
            use iam_model::clock::Timestamp;
            use iam_model::store::{MaintenanceStore, Totals, Turn};
            use iam_model::store_error::StoreError;
            use $crate::column::counted;
            use $crate::store::SqlStore;

            #[async_trait::async_trait]
            impl MaintenanceStore for $store {
                async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError> {
                    let totals = sqlx::query!($totals, $store::stored(now));
                    let totals = self.answer(totals.fetch_one(&self.reads())).await?;
                    Ok(Totals {
                        active_sessions: counted("sessions", totals.active_sessions)?,
                        pending_entries: counted("audit_unsealed", totals.pending_entries)?,
                    })
                }

                async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    let deleted = sqlx::query!($expired_sessions, $store::stored(now), i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn remove_stale_login_attempts(
                    &self,
                    now: Timestamp,
                    failed_before: Timestamp,
                    limit: u32,
                ) -> Result<u64, StoreError> {
                    let (now, failed_before) = ($store::stored(now), $store::stored(failed_before));
                    let deleted = sqlx::query!($stale_login_attempts, now, failed_before, i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    let deleted = sqlx::query!($idempotency_records, $store::stored(before), i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    let deleted = sqlx::query!($expired_links, $store::stored(now), i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    let deleted = sqlx::query!($expired_challenges, $store::stored(now), i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    let deleted = sqlx::query!($message_counts, $store::stored(before), i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    let deleted = sqlx::query!($ended_deliveries, $store::stored(before), i64::from(limit));
                    Ok(self.answer(deleted.execute(&self.writes())).await?.rows_affected())
                }

                async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
                    self.try_to_take_turn(job).await
                }
            }
        };
    };
}
