//! The background tasks that a host program runs for IAM.

use std::time::Duration;

use iam_core::Iam;
use tokio::time::sleep;

/// Follows the change feed. Without it, IAM reads the session of every request from the store.
pub(crate) async fn follow_changes(iam: Iam) {
    loop {
        if let Err(error) = iam.follow_changes().await {
            tracing::warn!(%error, "the change feed failed");
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Sequences the audit logs. Without it, a change of an audit log cannot be detected.
pub(crate) async fn sequence_audit_logs(iam: Iam) {
    loop {
        match iam.sequence_audit_logs().await {
            Ok(sequenced) if sequenced.more => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "audit logs cannot be sequenced"),
        }
        sleep(Duration::from_millis(200)).await;
    }
}
