//! Deletes tenants in the background, and records that outside of the database.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use iam_core::tenant::{DeletedTenant, DeletionRecord};
use iam_core::{BoxError, Iam};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use crate::background::{every, until_stopped};
use crate::failure::Failure;

/// The time between two looks for tenants whose deletion is due.
const PERIOD: Duration = Duration::from_secs(60);

/// The log of the server, and a file if the settings name one.
pub(crate) struct Record {
    /// A line of JSON is added for each deleted tenant.
    pub(crate) file: Option<PathBuf>,
}

#[async_trait]
impl DeletionRecord for Record {
    async fn record(&self, deleted: &DeletedTenant) -> Result<(), BoxError> {
        let line = serde_json::to_string(deleted)?;
        if let Some(path) = self.file.clone() {
            let line = line.clone();
            let written = spawn_blocking(move || append(&path, &line).map_err(|error| unwritable(&path, &error)));
            written.await??;
        }
        tracing::info!(tenant = %deleted.tenant_id, record = %line, "a tenant is deleted");
        Ok(())
    }
}

/// Names the file and its setting, for the log of the server.
fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}, the file of IAM_DELETIONS_FILE, cannot be written: {error}", path.display())
}

/// Checks that lines can be added to the file, and makes it if it does not exist. A deletion would wait for ever for
/// a file that cannot be written.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    open(path).map(drop).map_err(|error| Failure(unwritable(path, &error)))
}

/// Adds a line to a file, durably. Makes the file if it does not exist.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = open(path)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Deletes the tenants whose deletion is due, until the server stops. One replica at a time does so. An interrupted deletion
/// goes on after the next start.
pub(crate) async fn delete_tenants(iam: Iam, file: Option<PathBuf>, stop: watch::Receiver<bool>) {
    let record = Record { file };
    let deleting = async {
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            if let Err(error) = round(&iam, &record).await {
                // With its causes: the text of an internal error alone says nothing.
                let failure = Failure::new("deleting tenants", &error);
                tracing::warn!(error = %failure, "a tenant could not be deleted; the next round goes on");
            }
        }
    };
    until_stopped(stop, deleting).await;
}

async fn round(iam: &Iam, record: &Record) -> iam_core::Result<()> {
    // Without a turn, another replica is deleting.
    let Some(turn) = iam.take_turn("tenant deletions").await? else { return Ok(()) };
    let deleted = iam.delete_due_tenants(record).await;
    turn.end().await;
    deleted.map(drop)
}

#[cfg(test)]
mod tests {
    use iam_core::tenant::TenantContents;

    use super::*;

    #[tokio::test]
    async fn a_file_that_cannot_be_written_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let deleted = DeletedTenant {
            tenant_id: "00000001-0000-7000-8000-000000000000".parse().unwrap(),
            slug: None,
            deleted_at: chrono::Utc::now(),
            keeps_log: true,
            reason: "The contract has ended.".parse().unwrap(),
            contents: TenantContents::default(),
            log_size: 0,
            log_root: String::new(),
        };
        let refused = Record { file: Some(path.to_owned()) }.record(&deleted).await.unwrap_err().to_string();
        assert!(refused.contains(&format!("{}, the file of IAM_DELETIONS_FILE", path.display())), "{refused}");
    }

    #[test]
    fn a_check_keeps_the_lines_of_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deletions");
        check(&path).unwrap();
        append(&path, "{}").unwrap();
        check(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    }
}
