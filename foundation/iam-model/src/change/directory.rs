use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::directory::Directory;

/// A change of directories.
#[derive(Clone, Debug)]
pub enum DirectoryChange {
    /// A directory is made. Its service account must have no other.
    Create(Directory),
    /// Fields of a directory change. Its service account must have no other directory.
    Update {
        /// The directory before the change.
        before: Box<Directory>,
        /// The directory after the change.
        after: Directory,
    },
    /// A directory is removed, with what it says of its users. The users stay.
    Delete(Directory),
}

impl DirectoryChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Create(directory) => of(directory, action::CREATE).creating(&directory.audited()),
            Self::Update { before, after } => {
                of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
            }
            Self::Delete(directory) => of(directory, action::DELETE).deleting(&directory.audited()),
        }]
    }

    /// A directory may do what its service account may do, and the account has its rights without it. But a provider
    /// that a directory names logs people in as the users of the directory, so who names one could use their accounts.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        let names_provider = match self {
            Self::Create(directory) => directory.identity_provider_id.is_some(),
            Self::Update { before, after } => {
                after.identity_provider_id.is_some() && after.identity_provider_id != before.identity_provider_id
            }
            Self::Delete(_) => false,
        };
        if names_provider { vec![GrantedRights::everything()] } else { Vec::new() }
    }

    // The API keys of the service account authenticate requests, with or without a directory.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Update { .. } | Self::Delete(_) => Vec::new(),
        }
    }
}

fn of(directory: &Directory, action: &'static str) -> Record {
    Record::new(action, ResourceType::DIRECTORY, directory.id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::access::testing::{at, id};
    use crate::audit::AuditEntry;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::directory::tests::directory;
    use crate::id::IdGenerator;
    use crate::random::SystemRandom;

    /// The resource, the action, the old and the new values, and the changed fields of the entries of a change.
    fn recorded(change: DirectoryChange) -> Vec<(String, String, Value, Value, Value)> {
        let author = author(directory().tenant_id);
        let batch = AuditBatch::of(&change.into(), &author, at(1), &IdGenerator::new(), &SystemRandom);
        let shown = |entry: AuditEntry| {
            let resource = format!("{} {}", entry.resource_type.as_str(), entry.resource_id.unwrap());
            let changed = entry.metadata.get("changedFields").cloned().unwrap_or_default();
            (resource, entry.action.to_string(), json!(entry.old_value), json!(entry.new_value), changed)
        };
        batch.into_entries().into_iter().map(shown).collect()
    }

    fn changes() -> [DirectoryChange; 3] {
        let after = Directory { adopt: true, ..directory() };
        [
            DirectoryChange::Create(directory()),
            DirectoryChange::Update { before: directory().into(), after },
            DirectoryChange::Delete(directory()),
        ]
    }

    #[test]
    fn changes_of_a_directory_are_recorded() {
        let (resource, fields) = (format!("DIRECTORY {}", directory().id), directory().audited());
        let [created, updated, deleted] = changes().map(recorded);
        assert_eq!(created, [(resource.clone(), "CREATE".into(), Value::Null, fields.clone(), Value::Null)]);
        let (before, after, changed) = (json!({ "adopt": false }), json!({ "adopt": true }), json!(["adopt"]));
        assert_eq!(updated, [(resource.clone(), "UPDATE".into(), before, after, changed)]);
        assert_eq!(deleted, [(resource, "DELETE".into(), fields, Value::Null, Value::Null)]);
    }

    #[test]
    fn only_a_provider_that_a_directory_names_gives_rights() {
        let without = Directory { identity_provider_id: None, ..directory() };
        let other = Directory { identity_provider_id: Some(id("other")), ..directory() };
        let change = |before: &Directory, after: &Directory| {
            Change::from(DirectoryChange::Update { before: before.clone().into(), after: after.clone() })
        };
        let renamed = Directory { name: "Other".parse().unwrap(), ..directory() };
        for (change, gives) in [
            (DirectoryChange::Create(directory()).into(), true),
            (change(&without, &directory()), true),
            (change(&other, &directory()), true),
            (change(&directory(), &renamed), false),
            (change(&directory(), &without), false),
            (DirectoryChange::Create(without).into(), false),
            (DirectoryChange::Delete(directory()).into(), false),
        ] {
            let author = author(directory().tenant_id);
            let granted = change.granted_rights(&author, at(1)).into_iter().map(|granted| granted.permissions);
            let everything = gives.then(|| GrantedRights::everything().permissions);
            assert_eq!(granted.collect::<Vec<_>>(), everything.into_iter().collect::<Vec<_>>(), "{change:?}");
            assert_eq!(change.gives_protections(&author, at(1)), gives, "{change:?}");
            assert!(change.invalidates().is_empty() && change.ended_versions().is_empty());
        }
    }
}
