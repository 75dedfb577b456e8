//! What a host keeps running for IAM.

use std::time::Duration;

use iam_core::Iam;
use tokio::time::sleep;

/// So that the store need not be asked with each request who it is that calls.
pub(crate) async fn follow_changes(iam: Iam) {
    loop {
        if let Err(error) = iam.follow_changes().await {
            tracing::warn!(%error, "changes are not heard of");
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// So that nobody can change the audit log unseen.
pub(crate) async fn seal_audit_logs(iam: Iam) {
    loop {
        match iam.seal_audit_logs().await {
            Ok(sealed) if sealed.more => continue,
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "audit logs cannot be sealed"),
        }
        sleep(Duration::from_millis(200)).await;
    }
}
