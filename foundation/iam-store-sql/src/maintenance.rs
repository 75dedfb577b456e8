//! What is removed and counted in the background.

/// Deletes rows by a statement, or by another one if the tables are distributed. Returns how many.
#[doc(hidden)]
#[macro_export]
macro_rules! delete_stale {
    ($store:expr, ($statement:literal, distributed: $distributed:literal), $($argument:expr),+) => {
        if $store.is_distributed().await? {
            $crate::delete_stale!($store, $distributed, $($argument),+)
        } else {
            $crate::delete_stale!($store, $statement, $($argument),+)
        }
    };
    ($store:expr, $statement:literal, $($argument:expr),+) => {{
        let deleted = sqlx::query!($statement, $($argument),+);
        Ok($store.answer(deleted.execute(&$store.writes())).await?.rows_affected())
    }};
}

/// Implements the port of maintenance; see [`store`](crate::store). The store also has a method `try_to_take_turn`,
/// because each database has its own way to let only one replica do a job. A statement that deletes may come with
/// another one, for distributed tables.
#[macro_export]
macro_rules! maintenance_ports {
    (
        $store:ident,
        totals: $totals:literal,
        expired_sessions: $expired_sessions:tt,
        stale_login_attempts: $stale_login_attempts:tt,
        idempotency_records: $idempotency_records:tt,
        expired_links: $expired_links:tt,
        expired_challenges: $expired_challenges:tt,
        message_counts: $message_counts:tt,
        ended_deliveries: $ended_deliveries:tt $(,)?
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
                    $crate::delete_stale!(self, $expired_sessions, $store::stored(now), i64::from(limit))
                }

                async fn remove_stale_login_attempts(
                    &self,
                    now: Timestamp,
                    failed_before: Timestamp,
                    limit: u32,
                ) -> Result<u64, StoreError> {
                    let (now, failed_before) = ($store::stored(now), $store::stored(failed_before));
                    $crate::delete_stale!(self, $stale_login_attempts, now, failed_before, i64::from(limit))
                }

                async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    $crate::delete_stale!(self, $idempotency_records, $store::stored(before), i64::from(limit))
                }

                async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    $crate::delete_stale!(self, $expired_links, $store::stored(now), i64::from(limit))
                }

                async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    $crate::delete_stale!(self, $expired_challenges, $store::stored(now), i64::from(limit))
                }

                async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    $crate::delete_stale!(self, $message_counts, $store::stored(before), i64::from(limit))
                }

                async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    $crate::delete_stale!(self, $ended_deliveries, $store::stored(before), i64::from(limit))
                }

                async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
                    self.try_to_take_turn(job).await
                }
            }
        };
    };
}
