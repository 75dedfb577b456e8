//! The entries of the audit log about assignments and directories, compared with what has changed.

use iam_core::AuditEntryId;
use iam_core::audit::{AuditEntry, AuditFilter};
use serde_json::{Value, json};

use super::World;
use crate::operation::Operation;
use crate::state::{Group, Tenant};

/// The type of an event, its resource, and the group that gives an assignment.
type Recorded = (String, String, Option<String>);

/// The types of the resources whose entries are compared.
const COMPARED: &[&str] = &["ROLE_ASSIGNMENT", "DIRECTORY", "DIRECTORY_GROUP"];

impl World<'_> {
    /// The newest entry of a tenant.
    pub(super) async fn last_entry(&self, tenant: usize) -> Option<AuditEntryId> {
        let newest = self.iam().audit().list(&self.system(tenant), AuditFilter::default(), None, 1).await.unwrap();
        newest.entries.first().map(|entry| entry.id)
    }

    /// Checks that the last step has recorded exactly what has changed.
    pub(super) async fn check_entries(
        &self,
        tenant: usize,
        before: &Tenant,
        last: Option<AuditEntryId>,
        operation: &Operation,
    ) {
        let entries = self.entries_since(tenant, last).await;
        if let Operation::Provision { directory: Some(directory), .. } = operation {
            let id = json!(self.names[tenant].directories[*directory]);
            let is_of_directory = |entry: &AuditEntry| entry.metadata.get("directoryId") == Some(&id);
            assert!(entries.iter().all(is_of_directory), "{}{entries:#?}", self.story());
        }
        let compared = entries.iter().filter(|entry| COMPARED.contains(&entry.resource_type.as_str()));
        let mut found: Vec<Recorded> = compared.map(recorded).collect();
        let mut expected = self.expected_entries(tenant, before);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}{before}\n{}", self.story(), self.states[tenant]);
    }

    /// The entries after this one, newest first.
    async fn entries_since(&self, tenant: usize, last: Option<AuditEntryId>) -> Vec<AuditEntry> {
        let (system, mut entries, mut cursor) = (self.system(tenant), Vec::new(), None);
        loop {
            let page = self.iam().audit().list(&system, AuditFilter::default(), cursor, 100).await.unwrap();
            let count = page.entries.len();
            let new: Vec<AuditEntry> = page.entries.into_iter().take_while(|entry| Some(entry.id) > last).collect();
            cursor = page.next.filter(|_| new.len() == count);
            entries.extend(new);
            if cursor.is_none() {
                return entries;
            }
        }
    }

    fn expected_entries(&self, tenant: usize, before: &Tenant) -> Vec<Recorded> {
        let (after, names) = (&self.states[tenant], &self.names[tenant]);
        let mut expected = Vec::new();
        for (number, now) in after.assignments.iter().enumerate() {
            let was = before.assignments.get(number).filter(|was| !was.gone);
            let now = Some(now).filter(|now| !now.gone);
            let by = |group: Option<usize>| group.map(|group| names.groups[group].to_string());
            let (action, group) = match (was, now) {
                (None, Some(now)) => ("ROLE_ASSIGNED", by(now.group)),
                (Some(was), None) => ("ROLE_REVOKED", by(was.group)),
                (Some(was), Some(now)) if was != now => ("UPDATE", by(now.group)),
                (Some(_), Some(_)) | (None, None) => continue,
            };
            expected.push((format!("ROLE_ASSIGNMENT.{action}"), names.assignments[number].to_string(), group));
        }
        for (number, now) in after.directories.iter().enumerate() {
            let was = before.directories.get(number).filter(|was| !was.gone);
            if let Some(action) = action(was, Some(now).filter(|now| !now.gone)) {
                expected.push((format!("DIRECTORY.{action}"), names.directories[number].to_string(), None));
            }
        }
        for (number, now) in after.groups.iter().enumerate() {
            // The entry of a directory that is removed stands for its groups.
            let is_alone = !after.directories[now.directory].gone;
            let was = before.groups.get(number).filter(|was| !was.gone).map(audited);
            let now = Some(now).filter(|now| !now.gone).map(audited);
            if let Some(action) = action(was, now).filter(|_| is_alone) {
                expected.push((format!("DIRECTORY_GROUP.{action}"), names.groups[number].to_string(), None));
            }
        }
        expected
    }
}

/// A group without what reviews have withheld: the end of each assignment is recorded instead.
fn audited(group: &Group) -> Group {
    Group { withheld: [].into(), ..group.clone() }
}

/// What has happened to a resource.
fn action<T: PartialEq>(was: Option<T>, now: Option<T>) -> Option<&'static str> {
    match (was, now) {
        (None, Some(_)) => Some("CREATE"),
        (Some(_), None) => Some("DELETE"),
        (Some(was), Some(now)) => (was != now).then_some("UPDATE"),
        (None, None) => None,
    }
}

fn recorded(entry: &AuditEntry) -> Recorded {
    let group = entry.metadata.get("directoryGroupId").and_then(Value::as_str);
    (entry.event_type(), entry.resource_id.clone().unwrap_or_default(), group.map(ToOwned::to_owned))
}
