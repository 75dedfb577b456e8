//! Messages as files.

use std::path::PathBuf;

use async_trait::async_trait;
use iam_model::mail::{Mail, MailError, Mailer};
use tokio::fs::{OpenOptions, rename};
use tokio::io::AsyncWriteExt as _;

use crate::message::{Sender, build};
use crate::templates::Templates;

/// Writes each message into a directory, as a file `<id>.eml` that mail programs can open. For trying out.
#[derive(Debug)]
pub struct DirectoryMailer {
    directory: PathBuf,
    sender: Sender,
    templates: Templates,
}

impl DirectoryMailer {
    /// Returns a mailer that writes into a directory. The directory must exist.
    #[must_use]
    pub fn new(directory: PathBuf, sender: Sender, templates: Templates) -> Self {
        Self { directory, sender, templates }
    }

    async fn write(&self, name: &str, message: &[u8]) -> std::io::Result<()> {
        let (draft, complete) = (self.directory.join(format!(".{name}.part")), self.directory.join(name));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // The links are secret.
        #[cfg(unix)]
        options.mode(0o600);
        let mut file = options.open(&draft).await?;
        file.write_all(message).await?;
        file.sync_all().await?;
        // A reader of the directory sees complete files only.
        rename(draft, complete).await
    }
}

#[async_trait]
impl Mailer for DirectoryMailer {
    async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let message = build(&self.sender, &self.templates, mail)?;
        Ok(self.write(&format!("{}.eml", mail.id), &message.formatted()).await?)
    }
}
