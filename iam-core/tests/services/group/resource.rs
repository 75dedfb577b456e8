//! What a directory writes and reads of its groups.

use std::collections::HashMap;

use iam_core::directory::{
    Condition, DeletedUsers, GroupMoment, GroupResource, GroupSortField, GroupTest, GroupText, Order, ScimType,
    TextOperator, group_entity_tag, group_resource, has_entity_tag,
};
use iam_core::page::SortOrder;
use iam_core::{DirectoryGroupId, Error, Forbidden, UserId};
use serde_json::json;

use crate::company::{Company, Staff, assert_taken, refused, replacing};
use crate::group::{ACCOUNT, group_named, is_missing, moving, scim, tenant_wide};

const BY_CREATION: (GroupSortField, SortOrder) = (GroupSortField::Created, SortOrder::Ascending);

fn text(field: GroupText, operator: TextOperator, value: &str) -> Condition<GroupTest> {
    Condition::Test(GroupTest::Text { field, operator, value: value.to_owned() })
}

impl Company {
    /// The names of the groups of a directory that meet a condition.
    async fn groups_of(&self, staff: &Staff, condition: &Condition<GroupTest>) -> Vec<String> {
        let listed = self.iam.provisioning().list_groups(&staff.entra, condition, BY_CREATION, 0, 100).await.unwrap();
        assert_eq!(listed.0.len() as u64, listed.1);
        listed.0.iter().map(|group| group.display_name.to_string()).collect()
    }

    async fn members_of(&self, staff: &Staff, group: DirectoryGroupId) -> Vec<UserId> {
        let mut members = self.iam.provisioning().members(&staff.entra, &[group]).await.unwrap();
        members.remove(&group).unwrap_or_default()
    }
}

#[tokio::test]
async fn a_directory_makes_changes_and_deletes_groups() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let provisioning = company.iam.provisioning();
    let new = GroupResource { external_id: Some("9c".to_owned()), ..group_named("Sales", &[alan, grace]) };
    let made = provisioning.create_group(&staff.entra, &new).await.unwrap();
    assert_eq!((made.display_name.as_str(), made.members, made.grants.len()), ("Sales", 2, 0));
    assert_eq!(made.external_id.as_ref().unwrap().as_str(), "9c");
    assert_eq!(
        (made.created_at, made.updated_at, made.directory_id),
        (company.iam.now(), company.iam.now(), staff.directory.id)
    );
    assert_eq!(provisioning.get_group(&staff.entra, made.id).await.unwrap(), made);
    assert_eq!(company.stored_group(&staff, made.id).await, made);
    assert_eq!(company.members_of(&staff, made.id).await, [grace, alan]);
    let shown = group_resource(&made, Some(&[grace, alan]));
    assert_eq!(shown, GroupResource { external_id: Some("9c".to_owned()), ..group_named("Sales", &[grace, alan]) });
    assert_eq!(group_resource(&made, None).members, None);

    company.tick();
    let changed = provisioning.patch_group(&staff.entra, made.id, &moving(&[], &[grace]), None).await.unwrap();
    assert_eq!((changed.members, changed.version, changed.updated_at), (1, made.version.next(), company.iam.now()));
    assert_eq!(changed.external_id, made.external_id);
    // PUT removes what it lacks, but keeps the members.
    let put = GroupResource { members: None, ..group_named("Sales EU", &[]) };
    let replaced = provisioning.replace_group(&staff.entra, made.id, &put, None).await.unwrap();
    assert_eq!((replaced.display_name.as_str(), replaced.external_id.clone(), replaced.members), ("Sales EU", None, 1));
    assert_eq!(provisioning.get_group(&staff.entra, made.id).await.unwrap(), replaced);
    assert_eq!(company.members_of(&staff, made.id).await, [alan]);
    let empty = GroupResource { members: None, ..group_named("Empty", &[]) };
    let empty = provisioning.create_group(&staff.entra, &empty).await.unwrap();
    assert_eq!((empty.members, company.members_of(&staff, empty.id).await), (0, vec![]));

    provisioning.delete_group(&staff.entra, made.id, None).await.unwrap();
    let error = refused(provisioning.get_group(&staff.entra, made.id).await);
    assert!(matches!(error, Error::NotFound(_)), "{error:?}");
    assert_eq!(company.history(made.id).await, ["CREATE", "UPDATE members", "UPDATE displayName externalId", "DELETE"]);
    let key = company.iam.api_keys().list(&company.ada, staff.account).await.unwrap().remove(0).id;
    for entry in company.entries(made.id).await {
        assert_eq!((&entry.metadata["apiKeyId"], entry.user_id), (&json!(key), Some(staff.account)), "{entry:?}");
    }
}

#[tokio::test]
async fn a_change_of_nothing_writes_nothing() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let provisioning = company.iam.provisioning();
    let made = provisioning.create_group(&staff.entra, &group_named("Sales", &[grace])).await.unwrap();
    company.tick();
    let unsaid = GroupResource { members: None, ..group_named("Sales", &[]) };
    for resource in [group_named("Sales", &[grace]), unsaid] {
        assert_eq!(provisioning.replace_group(&staff.entra, made.id, &resource, None).await.unwrap(), made);
    }
    let unknown = json!({ "Operations": [{ "op": "remove", "path": "members", "value": ["unknown"] }] });
    let upper = grace.to_string().to_uppercase();
    for message in
        [moving(&[grace], &[alan]), replacing(json!({ "displayName": "Sales", "members": [upper] })), unknown]
    {
        let patched = provisioning.patch_group(&staff.entra, made.id, &message, None).await.unwrap();
        assert_eq!(patched, made, "{message}");
    }
    assert_eq!(provisioning.get_group(&staff.entra, made.id).await.unwrap(), made);
    assert_eq!(company.history(made.id).await, ["CREATE"]);
}

#[tokio::test]
async fn only_a_key_of_the_account_of_a_directory_writes_groups() {
    let company = Company::new().await;
    let without = company.key(company.account(&["*"]).await).await;
    let removed = company.staff(&["*"]).await;
    let group = company.group(&removed, "Sales", &[]).await;
    company.iam.directories().delete(&company.ada, removed.directory.id, DeletedUsers::Keep).await.unwrap();
    let (provisioning, resource) = (company.iam.provisioning(), group_named("Sales", &[]));
    for caller in [&without, &removed.entra, &company.ada, &company.system] {
        let results = [
            provisioning.create_group(caller, &resource).await.map(drop),
            provisioning.get_group(caller, group).await.map(drop),
            provisioning.list_groups(caller, &Condition::always(), BY_CREATION, 0, 10).await.map(drop),
            provisioning.members(caller, &[group]).await.map(drop),
            provisioning.replace_group(caller, group, &resource, None).await.map(drop),
            provisioning.patch_group(caller, group, &moving(&[], &[]), None).await.map(drop),
            provisioning.delete_group(caller, group, None).await,
        ];
        for result in results {
            assert!(matches!(refused(result), Error::Forbidden(Forbidden::NoDirectory)));
        }
    }
}

#[tokio::test]
async fn each_request_about_groups_needs_a_permission_of_the_account() {
    let company = Company::new().await;
    let staff = company.staff(&["roles:read"]).await;
    let group = company.group(&company.staff(&["users:update"]).await, "Sales", &[]).await;
    let (provisioning, resource) = (company.iam.provisioning(), group_named("Sales", &[]));
    let results = [
        ("users:update", provisioning.create_group(&staff.entra, &resource).await.map(drop)),
        ("users:read", provisioning.get_group(&staff.entra, group).await.map(drop)),
        (
            "users:read",
            provisioning.list_groups(&staff.entra, &Condition::always(), BY_CREATION, 0, 10).await.map(drop),
        ),
        ("users:read", provisioning.members(&staff.entra, &[group]).await.map(drop)),
        ("users:update", provisioning.replace_group(&staff.entra, group, &resource, None).await.map(drop)),
        ("users:update", provisioning.patch_group(&staff.entra, group, &moving(&[], &[]), None).await.map(drop)),
        ("users:update", provisioning.delete_group(&staff.entra, group, None).await),
    ];
    for (needed, result) in results {
        let error = refused(result);
        assert!(is_missing(needed, &error), "{needed} {error:?}");
    }
    // One that the account has lost meanwhile counts no more.
    let staff = company.staff(&["users:update"]).await;
    let group = company.group(&staff, "Sales", &[]).await;
    company.strip(staff.account).await;
    let results = [
        provisioning.create_group(&staff.entra, &group_named("Other", &[])).await.map(drop),
        provisioning.replace_group(&staff.entra, group, &group_named("Other", &[]), None).await.map(drop),
        provisioning.delete_group(&staff.entra, group, None).await,
    ];
    for result in results {
        let error = refused(result);
        assert!(is_missing("users:update", &error), "{error:?}");
    }
}

#[tokio::test]
async fn groups_of_another_directory_are_not_found() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&["*"]).await, company.staff(&["*"]).await);
    let grace = company.member(&other, "grace").await;
    let elsewhere = company.group(&other, "Sales", &[grace]).await;
    let own = company.group(&staff, "Sales", &[]).await;
    let provisioning = company.iam.provisioning();
    let results = [
        provisioning.get_group(&staff.entra, elsewhere).await.map(drop),
        provisioning.replace_group(&staff.entra, elsewhere, &group_named("Mine", &[]), None).await.map(drop),
        provisioning.patch_group(&staff.entra, elsewhere, &moving(&[], &[grace]), Some("*")).await.map(drop),
        provisioning.delete_group(&staff.entra, elsewhere, None).await,
    ];
    for result in results {
        assert!(matches!(refused(result), Error::NotFound(_)));
    }
    assert_eq!(provisioning.members(&staff.entra, &[own, elsewhere]).await.unwrap(), HashMap::new());
    assert_eq!(company.groups_of(&staff, &Condition::always()).await, ["Sales"]);
    assert_eq!(company.members_of(&other, elsewhere).await, [grace]);
}

#[tokio::test]
async fn members_are_users_of_the_directory_who_are_not_deleted() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&ACCOUNT).await, company.staff(&ACCOUNT).await);
    let provisioning = company.iam.provisioning();
    let (grace, elsewhere) = (company.member(&staff, "grace").await, company.member(&other, "elsewhere").await);
    let alone = company.user("alone@example.com", &[]).await.id;
    let unknown = Company::new().await.ada.user().unwrap();
    let (gone, barred) = (company.member(&staff, "gone").await, company.member(&staff, "barred").await);
    provisioning.delete(&staff.entra, gone, None).await.unwrap();
    company.iam.users().delete(&company.ada, barred).await.unwrap();
    let group = company.group(&staff, "Sales", &[grace]).await;
    let before = company.stored_group(&staff, group).await;
    for id in [elsewhere, alone, unknown, gone, barred, staff.account] {
        let results = [
            provisioning.create_group(&staff.entra, &group_named("Other", &[grace, id])).await,
            provisioning.replace_group(&staff.entra, group, &group_named("Sales", &[grace, id]), None).await,
            company.move_members(&staff, group, &[id], &[]).await,
        ];
        for result in results {
            let error = scim(result);
            assert_eq!((error.status, error.scim_type), (400, Some(ScimType::InvalidValue)), "{error:?}");
            assert!(error.detail.starts_with("members ") && !error.detail.contains(&id.to_string()), "{error:?}");
        }
    }
    for value in [json!("no identifier"), json!({ "value": grace, "type": "Group" })] {
        let message = json!({ "Operations": [{ "op": "add", "path": "members", "value": [value] }] });
        let error = scim(provisioning.patch_group(&staff.entra, group, &message, None).await);
        assert_eq!((error.status, error.scim_type), (400, Some(ScimType::InvalidValue)), "{error:?}");
    }
    // They are no members, so their removal changes nothing.
    company.move_members(&staff, group, &[], &[elsewhere, unknown, gone]).await.unwrap();
    assert_eq!(company.stored_group(&staff, group).await, before);
}

#[tokio::test]
async fn the_name_of_a_group_is_unique_in_its_directory() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&["users:*"]).await, company.staff(&["users:*"]).await);
    let provisioning = company.iam.provisioning();
    let group = company.group(&staff, "Straße", &[]).await;
    let second = company.group(&staff, "Second", &[]).await;
    company.group(&other, "Straße", &[]).await;
    for name in ["Straße", "STRASSE"] {
        assert_taken("displayName", provisioning.create_group(&staff.entra, &group_named(name, &[])).await);
        let put = provisioning.replace_group(&staff.entra, second, &group_named(name, &[]), None).await;
        assert_taken("displayName", put);
        let patch = replacing(json!({ "displayName": name }));
        assert_taken("displayName", provisioning.patch_group(&staff.entra, second, &patch, None).await);
    }
    let spelt = replacing(json!({ "displayName": "STRASSE" }));
    let renamed = provisioning.patch_group(&staff.entra, group, &spelt, None).await.unwrap();
    assert_eq!(renamed.display_name.as_str(), "STRASSE");
    provisioning.delete_group(&staff.entra, group, None).await.unwrap();
    company.group(&staff, "strasse", &[]).await;
    // Names and identifiers that a store cannot keep are refused, also if they come from a host program.
    let long = "x".repeat(256);
    for (name, external_id) in [("", None), (" ", None), ("a\nb", None), (long.as_str(), None), ("ok", Some(&long))] {
        let resource = GroupResource { external_id: external_id.cloned(), ..group_named(name, &[]) };
        let results = [
            provisioning.create_group(&staff.entra, &resource).await,
            provisioning.replace_group(&staff.entra, second, &resource, None).await,
        ];
        for result in results {
            assert_eq!(scim(result).scim_type, Some(ScimType::InvalidValue), "{name}");
        }
    }
}

#[tokio::test]
async fn a_group_is_changed_in_the_version_that_the_directory_has_seen() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let grace = company.member(&staff, "grace").await;
    let provisioning = company.iam.provisioning();
    let made = provisioning.create_group(&staff.entra, &group_named("Sales", &[])).await.unwrap();
    let first = group_entity_tag(&made);
    assert_eq!(first, "W/\"1\"");
    let add = moving(&[grace], &[]);
    let changed = provisioning.patch_group(&staff.entra, made.id, &add, Some(&first)).await.unwrap();
    let second = group_entity_tag(&changed);
    // The mapping changes it, too, and so does a member who is deleted.
    company.map(&staff, made.id, &[tenant_wide(company.role(&["roles:read"]).await)]).await.unwrap();
    provisioning.delete(&staff.entra, grace, None).await.unwrap();
    for stale in [first.as_str(), second.as_str(), "W/\"3\"", "", "\"other\""] {
        let results = [
            provisioning.patch_group(&staff.entra, made.id, &moving(&[], &[]), Some(stale)).await.map(drop),
            provisioning.replace_group(&staff.entra, made.id, &group_named("X", &[]), Some(stale)).await.map(drop),
            provisioning.delete_group(&staff.entra, made.id, Some(stale)).await,
        ];
        for result in results {
            assert!(matches!(refused(result), Error::PreconditionFailed), "{stale}");
        }
    }
    let current = group_entity_tag(&provisioning.get_group(&staff.entra, made.id).await.unwrap());
    assert_eq!(current, "W/\"4\"");
    for listed in ["*".to_owned(), current.clone(), current.replace("W/", ""), format!("{first}, {current}")] {
        assert!(has_entity_tag(&current, &listed), "{listed}");
        let same = group_named("Sales", &[]);
        provisioning.replace_group(&staff.entra, made.id, &same, Some(&listed)).await.unwrap();
    }
    provisioning.delete_group(&staff.entra, made.id, Some(&current)).await.unwrap();
}

#[tokio::test]
async fn groups_are_found_by_what_the_directory_says_of_them() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let mut made = Vec::new();
    for (name, members) in [("Sales", &[grace, alan][..]), ("Board", &[grace]), ("Empty", &[])] {
        company.tick();
        let external_id = Some(format!("id-{name}"));
        let resource = GroupResource { external_id, ..group_named(name, members) };
        made.push(provisioning.create_group(&staff.entra, &resource).await.unwrap());
    }
    let since = GroupTest::Moment { field: GroupMoment::Created, order: Order::Greater, value: made[0].created_at };
    let member = |id: UserId| Condition::Test(GroupTest::Member(id.to_string()));
    let id = made[1].id.to_string();
    for (condition, expected) in [
        (Condition::always(), &["Sales", "Board", "Empty"][..]),
        (text(GroupText::DisplayName, TextOperator::Equals, "SALES"), &["Sales"]),
        (text(GroupText::ExternalId, TextOperator::Equals, "id-Board"), &["Board"]),
        (text(GroupText::ExternalId, TextOperator::Equals, "ID-BOARD"), &[]),
        (text(GroupText::Id, TextOperator::Equals, &id), &["Board"]),
        (text(GroupText::DisplayName, TextOperator::Contains, "a"), &["Sales", "Board"]),
        (Condition::Test(since), &["Board", "Empty"]),
        (member(grace), &["Sales", "Board"]),
        (Condition::All(vec![text(GroupText::Id, TextOperator::Equals, &id), member(alan)]), &[]),
        (Condition::Not(Box::new(Condition::Test(GroupTest::HasMembers))), &["Empty"]),
    ] {
        assert_eq!(company.groups_of(&staff, &condition).await, expected, "{condition:?}");
    }
    let by_name = (GroupSortField::Text(GroupText::DisplayName), SortOrder::Descending);
    let (page, total) = provisioning.list_groups(&staff.entra, &Condition::always(), by_name, 1, 1).await.unwrap();
    assert_eq!((page, total), (vec![made[2].clone()], 3));
    let ids: Vec<DirectoryGroupId> = made.iter().map(|group| group.id).collect();
    let members = provisioning.members(&staff.entra, &ids).await.unwrap();
    assert_eq!(members, HashMap::from([(ids[0], vec![grace, alan]), (ids[1], vec![grace])]));
}
