//! The users as the other system exports them.

use std::path::Path;

use iam_core::secret::PasswordHash;
use iam_core::user::{ImportedUser, UserStatus};
use serde::{Deserialize, Deserializer};

/// A row of the exported file.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    pub(crate) email: String,
    first_name: String,
    last_name: String,
    #[serde(deserialize_with = "hash")]
    password: PasswordHash,
    is_active: bool,
}

pub(crate) fn read(file: impl AsRef<Path>) -> csv::Result<Vec<Row>> {
    csv::Reader::from_path(file)?.deserialize().collect()
}

impl Row {
    pub(crate) fn to_user(&self) -> ImportedUser {
        ImportedUser {
            email: self.email.clone(),
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            password_hash: self.password.clone(),
            status: if self.is_active { UserStatus::Active } else { UserStatus::Suspended },
            attributes: serde_json::Map::new(),
        }
    }
}

/// Reads a hash directly into `PasswordHash`, which never prints its content.
fn hash<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PasswordHash, D::Error> {
    String::deserialize(deserializer).map(PasswordHash::from)
}
