use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::directory::DirectoryUser;

/// A change of what a directory says of its users.
#[derive(Clone, Debug)]
pub enum DirectoryUserChange {
    /// A user, who belongs to no directory, becomes one of a directory. Its user name must be new there.
    Create(DirectoryUser),
    /// What a directory says of a user changes, or whether it has deleted the user, or the user becomes one of another
    /// directory. The user name must be that of no other user of the directory.
    Update {
        /// What it said before the change.
        before: Box<DirectoryUser>,
        /// What it says after the change.
        after: DirectoryUser,
    },
    /// What a directory said of a deleted user is forgotten, because the person is erased in the audit log.
    Forget(DirectoryUser),
}

impl DirectoryUserChange {
    /// The user stays the resource: a person who is erased is erased there, too.
    pub(crate) fn records(&self) -> Vec<Record> {
        let (before, after) = match self {
            Self::Create(entry) => (None, entry),
            Self::Update { before, after } => (Some(before.audited()), after),
            // The erasure is recorded, and must not name what it erases.
            Self::Forget(_) => return Vec::new(),
        };
        let (record, fields) = (Record::new(action::UPDATE, ResourceType::USER, after.user_id), after.audited());
        let record = match before {
            None => record.creating(&fields),
            Some(before) if before == fields => return Vec::new(),
            Some(before) => record.changing(&before, &fields),
        };
        vec![record.listing_changed_fields()]
    }

    // No right depends on what a directory says. A change of the status is a change of the user.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create(_) | Self::Update { .. } | Self::Forget(_) => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Update { .. } | Self::Forget(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::access::testing::{at, id};
    use crate::audit::AuditEntry;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::context::{Actor, Author};
    use crate::directory::tests::{directory, entry};
    use crate::id::IdGenerator;
    use crate::random::SystemRandom;

    fn entries_by(author: &Author, change: DirectoryUserChange) -> Vec<AuditEntry> {
        AuditBatch::of(&change.into(), author, at(1), &IdGenerator::new(), &SystemRandom).into_entries()
    }

    /// The resource, the action, the old and the new values, and the changed fields of the entries of a change.
    fn recorded(change: DirectoryUserChange) -> Vec<(String, String, Value, Value, Value)> {
        let shown = |entry: AuditEntry| {
            let resource = format!("{} {}", entry.resource_type.as_str(), entry.resource_id.unwrap());
            let changed = entry.metadata.get("changedFields").cloned().unwrap_or_default();
            (resource, entry.action.to_string(), json!(entry.old_value), json!(entry.new_value), changed)
        };
        entries_by(&author(directory().tenant_id), change).into_iter().map(shown).collect()
    }

    fn update(after: DirectoryUser) -> DirectoryUserChange {
        DirectoryUserChange::Update { before: entry().into(), after }
    }

    #[test]
    fn what_a_directory_says_is_recorded_about_the_user() {
        let resource = format!("USER {}", entry().user_id);
        let both = json!(["attributes", "userName"]);
        let created = recorded(DirectoryUserChange::Create(entry()));
        assert_eq!(created, [(resource.clone(), "UPDATE".into(), Value::Null, entry().audited(), both)]);
        let renamed = recorded(update(DirectoryUser { user_name: "eve".parse().unwrap(), ..entry() }));
        let (before, after) = (json!({ "userName": "Ada" }), json!({ "userName": "eve" }));
        assert_eq!(renamed, [(resource, "UPDATE".into(), before, after, json!(["userName"]))]);
        // The change of the status is recorded.
        assert_eq!(recorded(update(DirectoryUser { deleted_at: Some(at(1)), ..entry() })), []);
        assert_eq!(recorded(DirectoryUserChange::Forget(entry())), []);
    }

    #[test]
    fn an_entry_names_the_directory_for_which_an_api_key_acts() {
        let (user, key) = (directory().service_account_id, id("key"));
        let by_key = Author { actor: Actor::ApiKey { user, key }, ..author(directory().tenant_id) };
        let by_directory = Author { directory: Some(directory().id), ..by_key.clone() };
        for (author, expected) in [(by_key, None), (by_directory, Some(json!(directory().id)))] {
            let entries = entries_by(&author, DirectoryUserChange::Create(entry()));
            assert_eq!(entries[0].metadata.get("directoryId"), expected.as_ref());
            assert_eq!(entries[0].metadata["apiKeyId"], json!(key));
        }
    }

    #[test]
    fn what_a_directory_says_gives_no_rights() {
        let author = author(directory().tenant_id);
        for change in [DirectoryUserChange::Create(entry()), update(entry()), DirectoryUserChange::Forget(entry())]
            .map(Change::from)
        {
            assert!(change.granted_rights(&author, at(1)).is_empty(), "{change:?}");
            assert!(!change.gives_protections(&author, at(1)), "{change:?}");
            assert!(change.invalidates().is_empty() && change.ended_versions().is_empty());
        }
    }
}
