use serde_json::json;
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::{GrantContext, OfferedRole};
use crate::audit::{Record, ResourceType, action};
use crate::directory::DirectoryGroup;
use crate::id::UserId;

/// A change of the groups of directories. The role assignments of the members are changes of their own.
#[derive(Clone, Debug)]
pub enum DirectoryGroupChange {
    /// A directory makes a group, without grants. Its name must be new there.
    Create {
        /// The group.
        group: DirectoryGroup,
        /// Its members: users of the directory, each once.
        members: Vec<UserId>,
    },
    /// Fields, members or grants of a group change. Its name must be that of no other group of the directory.
    Update {
        /// The group before the change.
        before: Box<DirectoryGroup>,
        /// The group after the change.
        after: DirectoryGroup,
        /// Users of the directory who become members, each once. None is a member before.
        added: Vec<UserId>,
        /// Members who are none from then on, each once.
        removed: Vec<UserId>,
        /// The grants that the group did not have before, without an end.
        given: Vec<OfferedRole>,
    },
    /// A directory deletes a group. Those of a directory that is removed go with it.
    Delete(DirectoryGroup),
    /// Members lose roles, although their groups go on giving these: of every group that gives one of these roles to
    /// the user, until the user is removed from the group.
    Withhold(Vec<GrantContext>),
}

impl DirectoryGroupChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { group, .. } => vec![of(action::CREATE, group).creating(&group.audited())],
            Self::Update { before, after, added, removed, .. } => {
                let record = of(action::UPDATE, after).changing(&before.audited(), &after.audited());
                let record = record.listing_changed_fields();
                if added.is_empty() && removed.is_empty() {
                    return vec![record];
                }
                vec![record.with("membersAdded", json!(added.len())).with("membersRemoved", json!(removed.len()))]
            }
            Self::Delete(group) => vec![of(action::DELETE, group).deleting(&group.audited())],
            // The end of each assignment is recorded, with its reason.
            Self::Withhold(_) => Vec::new(),
        }
    }

    /// The members of a group get its roles by assignments, which are changes of their own. But users who become members
    /// later get them, too, so a new grant gives its role without an end. A new group has no grants.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        let (before, after, given) = match self {
            Self::Create { group, .. } => ([].as_slice(), &group.grants, [].as_slice()),
            Self::Update { before, after, given, .. } => (before.grants.as_slice(), &after.grants, given.as_slice()),
            Self::Delete(_) | Self::Withhold(_) => return Vec::new(),
        };
        let new = after.iter().filter(|grant| !before.contains(grant));
        new.map(|grant| {
            let given = given.iter().find(|given| given.placed() == *grant && given.expires_at.is_none());
            given.map_or_else(GrantedRights::everything, GrantedRights::of_offered)
        })
        .collect()
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create { .. } | Self::Update { .. } | Self::Delete(_) | Self::Withhold(_) => Vec::new(),
        }
    }
}

fn of(action: &'static str, group: &DirectoryGroup) -> Record {
    Record::new(action, ResourceType::DIRECTORY_GROUP, group.id).with("directoryId", json!(group.directory_id))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::access::testing::{TestTree, at, id};
    use crate::access::{ResourceScope, Until};
    use crate::audit::AuditEntry;
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::directory::tests::{directory, group};
    use crate::id::IdGenerator;
    use crate::permission::PermissionPattern;
    use crate::random::SystemRandom;
    use crate::role::PlacedRole;

    /// The action, the old and the new values, and what the metadata of the entries of a change say of the fields and
    /// of the members.
    fn recorded(change: impl Into<Change>) -> Vec<(String, Value, Value, Value)> {
        let author = author(group().tenant_id);
        let batch = AuditBatch::of(&change.into(), &author, at(1), &IdGenerator::new(), &SystemRandom);
        let shown = |entry: AuditEntry| {
            assert_eq!(entry.resource_type, ResourceType::DIRECTORY_GROUP);
            assert_eq!(entry.resource_id, Some(group().id.to_string()));
            assert_eq!(entry.metadata["directoryId"], json!(directory().id));
            let said =
                ["changedFields", "membersAdded", "membersRemoved"].map(|name| entry.metadata.get(name).cloned());
            (entry.action.to_string(), json!(entry.old_value), json!(entry.new_value), json!(said))
        };
        batch.into_entries().into_iter().map(shown).collect()
    }

    fn update(after: DirectoryGroup, added: &[&str], removed: &[&str]) -> DirectoryGroupChange {
        let ids = |names: &[&str]| -> Vec<UserId> { names.iter().copied().map(id).collect() };
        let (added, removed) = (ids(added), ids(removed));
        DirectoryGroupChange::Update { before: group().into(), after, added, removed, given: Vec::new() }
    }

    fn withhold() -> DirectoryGroupChange {
        DirectoryGroupChange::Withhold(vec![GrantContext { user: id("ada"), role: id("role"), organization: None }])
    }

    #[test]
    fn changes_of_a_group_are_recorded() {
        let fields = json!({ "displayName": "Ada Straße", "externalId": "00g1A", "members": 2, "grants": [] });
        let nothing = || json!([null, null, null]);
        let created = recorded(DirectoryGroupChange::Create { group: group(), members: vec![id("ada"), id("bob")] });
        assert_eq!(created, [("CREATE".to_owned(), Value::Null, fields.clone(), nothing())]);
        let deleted = recorded(DirectoryGroupChange::Delete(group()));
        assert_eq!(deleted, [("DELETE".to_owned(), fields, Value::Null, nothing())]);
        // The end of the assignments is recorded.
        assert_eq!(recorded(withhold()), []);

        let renamed = DirectoryGroup { display_name: "eve".parse().unwrap(), external_id: None, ..group() };
        let before = json!({ "displayName": "Ada Straße", "externalId": "00g1A" });
        let after = json!({ "displayName": "eve", "externalId": null });
        let said = json!([["displayName", "externalId"], null, null]);
        assert_eq!(recorded(update(renamed, &[], &[])), [("UPDATE".to_owned(), before, after, said)]);

        let grants = vec![PlacedRole { role_id: id("role"), organization_id: Some(id("branch")) }];
        let (before, after) = (json!({ "grants": [] }), json!({ "grants": grants }));
        let mapped = DirectoryGroup { grants, ..group() };
        let said = json!([["grants"], null, null]);
        assert_eq!(recorded(update(mapped, &[], &[])), [("UPDATE".to_owned(), before, after, said)]);
    }

    #[test]
    fn a_change_of_members_is_recorded_with_their_numbers() {
        for (members, added, removed, before, after, fields) in [
            (
                4,
                ["eve", "zoe"].as_slice(),
                [].as_slice(),
                json!({ "members": 2 }),
                json!({ "members": 4 }),
                json!(["members"]),
            ),
            (0, &[], &["ada", "bob"], json!({ "members": 2 }), json!({ "members": 0 }), json!(["members"])),
            // As many come as go.
            (2, &["eve"], &["bob"], json!({}), json!({}), json!([])),
        ] {
            let group = DirectoryGroup { members, ..group() };
            let said = json!([fields, added.len(), removed.len()]);
            assert_eq!(recorded(update(group, added, removed)), [("UPDATE".to_owned(), before, after, said)]);
        }
    }

    /// A role with one permission.
    fn offered(pattern: &str, organization: Option<&str>) -> OfferedRole {
        let grant = TestTree::new().grant(pattern, organization, None);
        OfferedRole { role: grant.role, organization: grant.organization, expires_at: None }
    }

    /// The change of the grants of a group, with the facts that were read.
    fn regrant(before: &[OfferedRole], after: &[OfferedRole], given: &[OfferedRole]) -> Change {
        let with = |grants: &[OfferedRole]| DirectoryGroup {
            grants: grants.iter().map(OfferedRole::placed).collect(),
            ..group()
        };
        let (before, after, given) = (with(before).into(), with(after), given.to_vec());
        DirectoryGroupChange::Update { before, after, added: vec![id("ada")], removed: Vec::new(), given }.into()
    }

    /// The rights that a change gives, as `permissions scope`. They do not end.
    fn granted(change: &Change) -> Vec<String> {
        let granted = change.granted_rights(&author(group().tenant_id), at(1)).into_iter().map(|granted| {
            assert_eq!(granted.until, Until::Forever);
            let permissions: Vec<&str> = granted.permissions.iter().map(PermissionPattern::as_str).collect();
            let scope = match granted.scope {
                ResourceScope::Tenant => "tenant",
                ResourceScope::OfGrant(organization) => organization.name.as_str(),
                ResourceScope::Organization(_) => panic!("{change:?}"),
            };
            format!("{} {scope}", permissions.join(","))
        });
        granted.collect()
    }

    #[test]
    fn only_new_grants_give_rights_and_without_an_end() {
        let (wide, local) = (offered("users:read", None), offered("users:read", Some("branch")));
        let other = offered("roles:read", Some("team"));
        let all = [wide.clone(), local.clone(), other.clone()];
        let one = |offered: &OfferedRole| vec![offered.clone()];
        for (before, after, expected) in [
            (vec![], all.to_vec(), vec!["users:read tenant", "users:read branch", "roles:read team"]),
            (one(&wide), all.to_vec(), vec!["users:read branch", "roles:read team"]),
            (one(&wide), one(&local), vec!["users:read branch"]),
            (one(&local), one(&wide), vec!["users:read tenant"]),
            (all.to_vec(), all.to_vec(), vec![]),
            (all.to_vec(), one(&other), vec![]),
            (all.to_vec(), vec![], vec![]),
        ] {
            let change = regrant(&before, &after, &all);
            assert_eq!(granted(&change), expected, "{change:?}");
            assert!(change.invalidates().is_empty() && change.ended_versions().is_empty());
        }
        for change in [
            DirectoryGroupChange::Create { group: group(), members: vec![id("ada")] },
            update(DirectoryGroup { members: 3, ..group() }, &["eve"], &[]),
            DirectoryGroupChange::Delete(DirectoryGroup { grants: vec![wide.placed()], ..group() }),
            withhold(),
        ] {
            let change = Change::from(change);
            assert_eq!(granted(&change), Vec::<String>::new(), "{change:?}");
            assert!(change.invalidates().is_empty() && change.ended_versions().is_empty());
        }
    }

    #[test]
    fn a_grant_that_was_not_read_gives_everything() {
        let (wide, local) = (offered("users:read", None), offered("users:read", Some("branch")));
        let until = OfferedRole { expires_at: Some(at(99)), ..local.clone() };
        let everything = "* tenant";
        let both = [wide.clone(), local.clone()];
        for (given, expected) in [
            (vec![], [everything, everything]),
            (vec![wide.clone()], ["users:read tenant", everything]),
            (vec![local.clone(), offered("roles:read", None)], [everything, "users:read branch"]),
            (vec![wide.clone(), offered("users:read", Some("team"))], ["users:read tenant", everything]),
            // The members hold it without an end.
            (vec![wide.clone(), until.clone()], ["users:read tenant", everything]),
            (vec![wide, until, local], ["users:read tenant", "users:read branch"]),
        ] {
            assert_eq!(granted(&regrant(&[], &both, &given)), expected, "{given:?}");
        }
    }

    #[test]
    fn new_grants_can_give_the_rights_to_change_protections() {
        let (guarded, harmless) = (offered("tenants:update", None), offered("users:read", None));
        let local = offered("tenants:update", Some("branch"));
        let one = |offered: &OfferedRole| vec![offered.clone()];
        for (before, after, given, expected) in [
            (vec![], one(&guarded), one(&guarded), true),
            (one(&harmless), vec![harmless.clone(), guarded.clone()], one(&guarded), true),
            (vec![], one(&harmless), vec![], true),
            (vec![], vec![harmless.clone(), local.clone()], vec![harmless.clone(), local], false),
            (one(&guarded), vec![guarded.clone(), harmless.clone()], one(&harmless), false),
            (one(&guarded), vec![], vec![], false),
        ] {
            let change = regrant(&before, &after, &given);
            assert_eq!(change.gives_protections(&author(group().tenant_id), at(1)), expected, "{change:?}");
        }
    }
}
