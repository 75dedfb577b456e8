//! What a directory writes by a key of its account: who may, what becomes of users, and what it cannot reach.

mod change;
mod former;

use iam_core::audit::AuditFilter;
use iam_core::directory::{
    Condition, Created, DeletedUsers, Order, ProvisioningError, ScimType, TextOperator, UserMoment, UserResource,
    UserSortField, UserTest, UserText,
};
use iam_core::page::SortOrder;
use iam_core::user::{UserPatch, UserStatus};
use iam_core::{Conflict, Error, Forbidden};
use serde_json::json;

use crate::company::{Company, Staff, assert_taken, members_of, person, refused, replacing, resource};

const BY_CREATION: (UserSortField, SortOrder) = (UserSortField::Created, SortOrder::Ascending);

fn is_missing(needed: &str, error: &Error) -> bool {
    matches!(error, Error::Forbidden(Forbidden::Permission(missing)) if missing.to_string() == needed)
}

fn text(field: UserText, operator: TextOperator, value: &str) -> Condition<UserTest> {
    Condition::Test(UserTest::Text { field, operator, value: value.to_owned() })
}

impl Company {
    /// The user names of the users of a directory that meet a condition.
    async fn listed(&self, staff: &Staff, condition: &Condition<UserTest>) -> Vec<String> {
        let listed = self.iam.provisioning().list(&staff.entra, condition, BY_CREATION, 0, 100).await.unwrap();
        assert_eq!(listed.0.len() as u64, listed.1);
        listed.0.iter().map(|found| found.entry.user_name.to_string()).collect()
    }
}

#[tokio::test]
async fn a_directory_makes_a_user_without_a_password_and_roles() {
    let company = Company::new().await;
    let staff = company.staff(&["users:create"]).await;
    let new = resource("grace", json!({ "userName": "Grace", "title": "Admiral", "locale": "en-US" }));
    let (made, created) = company.iam.provisioning().create(&staff.entra, new).await.unwrap();
    assert_eq!(created, Created::New);
    let user = &made.user;
    assert_eq!(
        (user.email.as_str(), user.first_name.as_str(), user.last_name.as_str()),
        ("grace@example.com", "grace", "Hopper")
    );
    assert_eq!((user.status, user.home_organization_id, user.email_verified_at), (UserStatus::Active, None, None));
    assert_eq!(user.external_id.as_ref().unwrap().as_str(), "id-grace");
    assert_eq!((made.entry.user_name.as_str(), made.entry.directory_id), ("Grace", staff.directory.id));
    let expected = json!({
        "name": { "givenName": "grace", "familyName": "Hopper" },
        "emails": [{ "value": "grace@example.com", "type": "work", "primary": true }],
        "title": "Admiral",
        "locale": "en-US",
    });
    assert_eq!(made.entry.attributes, members_of(expected));
    assert_eq!(company.stored(user.id).await, *user);
    assert_eq!(company.store.directory_user(user.tenant_id, user.id).await.unwrap(), Some(made.entry.clone()));
    let account = company.store.guarded_account(user.tenant_id, &user.email.key()).await.unwrap().account.unwrap();
    assert!(account.password.is_unset());
    assert!(company.iam.assignments().of_user(&company.ada, user.id).await.unwrap().is_empty());
}

#[tokio::test]
async fn every_entry_names_the_directory_and_the_key() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let id = company.made(&staff, "grace").await.user.id;
    for change in
        [json!({ "title": "Admiral" }), json!({ "active": false }), json!({ "externalId": "7", "active": true })]
    {
        company.tick();
        provisioning.patch(&staff.entra, id, &replacing(change), None).await.unwrap();
    }
    provisioning.delete(&staff.entra, id, None).await.unwrap();
    let expected = [
        "CREATE",
        "UPDATE attributes userName",
        "UPDATE attributes",
        "UPDATE status",
        "USER_SUSPENDED",
        "UPDATE externalId status",
        "USER_REACTIVATED",
        "DELETE",
    ];
    assert_eq!(company.history(id).await, expected);
    let key = company.iam.api_keys().list(&company.ada, staff.account).await.unwrap().remove(0).id;
    for entry in company.entries(id).await {
        assert_eq!(entry.metadata["directoryId"], json!(staff.directory.id), "{entry:?}");
        assert_eq!((&entry.metadata["apiKeyId"], entry.user_id), (&json!(key), Some(staff.account)), "{entry:?}");
    }
    // Other calls by the key do not.
    company.iam.users().create(&staff.entra, person("other@example.com")).await.unwrap();
    let other =
        company.iam.audit().list(&company.ada, AuditFilter::default(), None, 1).await.unwrap().entries.remove(0);
    assert_eq!((&*other.action, other.metadata.get("directoryId")), ("CREATE", None));
}

#[tokio::test]
async fn only_a_key_of_the_account_of_a_directory_writes() {
    let company = Company::new().await;
    let without = company.key(company.account(&["*"]).await).await;
    let removed = company.staff(&["*"]).await;
    company.iam.directories().delete(&company.ada, removed.directory.id, DeletedUsers::Keep).await.unwrap();
    let provisioning = company.iam.provisioning();
    for caller in [&without, &removed.entra, &company.ada, &company.system] {
        let id = company.ada.user().unwrap();
        let results = [
            provisioning.directory(caller).await.map(drop),
            provisioning.create(caller, resource("grace", json!({}))).await.map(drop),
            provisioning.get(caller, id).await.map(drop),
            provisioning.list(caller, &Condition::always(), BY_CREATION, 0, 10).await.map(drop),
            provisioning.replace(caller, id, resource("grace", json!({})), None).await.map(drop),
            provisioning.patch(caller, id, &replacing(json!({ "active": false })), None).await.map(drop),
            provisioning.delete(caller, id, None).await,
            provisioning.record_request(caller, "GET /Users", None).await,
        ];
        for result in results {
            assert!(matches!(refused(result), Error::Forbidden(Forbidden::NoDirectory)));
        }
    }
}

#[tokio::test]
async fn each_request_needs_a_permission_of_the_account() {
    let company = Company::new().await;
    let maker = company.staff(&["users:*"]).await;
    let id = company.made(&maker, "grace").await.user.id;
    let provisioning = company.iam.provisioning();
    // Of an account that may do nothing, and which learns nothing of users either.
    let staff = company.staff(&["roles:read"]).await;
    assert_eq!(provisioning.directory(&staff.entra).await.unwrap(), staff.directory);
    let results = [
        ("users:create", provisioning.create(&staff.entra, resource("grace", json!({}))).await.map(drop)),
        ("users:read", provisioning.get(&staff.entra, id).await.map(drop)),
        ("users:read", provisioning.list(&staff.entra, &Condition::always(), BY_CREATION, 0, 10).await.map(drop)),
        ("users:update", provisioning.replace(&staff.entra, id, resource("grace", json!({})), None).await.map(drop)),
        (
            "users:update",
            provisioning.patch(&staff.entra, id, &replacing(json!({ "title": "x" })), None).await.map(drop),
        ),
        ("users:delete", provisioning.delete(&staff.entra, id, None).await),
    ];
    for (needed, result) in results {
        let error = refused(result);
        assert!(is_missing(needed, &error), "{needed} {error:?}");
    }
}

#[tokio::test]
async fn a_permission_that_the_account_has_lost_meanwhile_counts_no_more() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let id = company.made(&staff, "grace").await.user.id;
    for grant in company.iam.assignments().of_user(&company.ada, staff.account).await.unwrap() {
        company.iam.assignments().delete(&company.ada, grant.assignment.id).await.unwrap();
    }
    let provisioning = company.iam.provisioning();
    let results = [
        ("users:create", provisioning.create(&staff.entra, resource("other", json!({}))).await.map(drop)),
        (
            "users:update",
            provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), None).await.map(drop),
        ),
        ("users:delete", provisioning.delete(&staff.entra, id, None).await),
    ];
    for (needed, result) in results {
        let error = refused(result);
        assert!(is_missing(needed, &error), "{needed} {error:?}");
    }
    assert_eq!(company.stored(id).await.status, UserStatus::Active);
}

#[tokio::test]
async fn users_outside_of_the_directory_are_not_found() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&["*"]).await, company.staff(&["*"]).await);
    let elsewhere = company.made(&other, "elsewhere").await.user.id;
    let alone = company.user("alone@example.com", &[]).await.id;
    let unknown = Company::new().await.ada.user().unwrap();
    let gone = company.made(&staff, "gone").await.user.id;
    let provisioning = company.iam.provisioning();
    provisioning.delete(&staff.entra, gone, None).await.unwrap();
    let stored = [company.stored(elsewhere).await, company.stored(alone).await, company.stored(gone).await];
    for id in [elsewhere, alone, company.ada.user().unwrap(), staff.account, gone, unknown] {
        let results = [
            provisioning.get(&staff.entra, id).await.map(drop),
            provisioning.replace(&staff.entra, id, resource("grace", json!({})), None).await.map(drop),
            provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), Some("*")).await.map(drop),
            provisioning.delete(&staff.entra, id, None).await,
        ];
        for result in results {
            assert!(matches!(refused(result), Error::NotFound(_)));
        }
    }
    for user in stored {
        assert_eq!(company.stored(user.id).await, user);
    }
    assert!(company.listed(&staff, &Condition::always()).await.is_empty());
    assert_eq!(company.listed(&other, &Condition::always()).await, ["elsewhere"]);
}

#[tokio::test]
async fn an_address_is_verified_where_its_domain_is() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    company.iam.domains().create(&company.system, "pending.example").await.unwrap();
    company.domain("example.com").await;
    let grace = company.made(&staff, "grace").await.user;
    assert_eq!(grace.email_verified_at, Some(company.iam.now()));
    let at = |email: &str| json!({ "emails": [{ "value": email, "primary": true }] });
    for email in ["a@pending.example", "b@unknown.example", "c@sub.example.com"] {
        let new = resource(email.split('@').next().unwrap(), at(email));
        let (made, _) = provisioning.create(&staff.entra, new).await.unwrap();
        assert_eq!((made.user.email.as_str(), made.user.email_verified_at), (email, None));
    }
    company.tick();
    let to = async |email: &str| {
        provisioning.patch(&staff.entra, grace.id, &replacing(at(email)), None).await.unwrap().user.email_verified_at
    };
    assert_eq!(to("grace@unknown.example").await, None);
    assert_eq!(to("grace@example.com").await, Some(company.iam.now()));
}

#[tokio::test]
async fn the_profile_follows_from_the_resource() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    for (name, members, expected) in [
        (
            "a",
            json!({ "emails": [{ "value": "x@example.com" }, { "value": "y@example.com", "primary": true }] }),
            ["y@example.com", "a", "Hopper"],
        ),
        (
            "b",
            json!({ "emails": [{ "value": "first@example.com" }, { "value": "second@example.com" }] }),
            ["first@example.com", "b", "Hopper"],
        ),
        ("c", json!({ "userName": "c@example.org", "emails": null }), ["c@example.org", "c", "Hopper"]),
    ] {
        let (made, _) = company.iam.provisioning().create(&staff.entra, resource(name, members)).await.unwrap();
        let user = made.user;
        assert_eq!([user.email.as_str(), user.first_name.as_str(), user.last_name.as_str()], expected);
    }
    let unnamed = |members| resource("d", members);
    for (attribute, refused) in [
        ("emails", unnamed(json!({ "emails": null }))),
        ("emails", unnamed(json!({ "emails": [{ "value": "no address" }] }))),
        ("userName", UserResource { user_name: "x".repeat(256), ..unnamed(json!({})) }),
        ("externalId", UserResource { external_id: Some("x".repeat(256)), ..unnamed(json!({})) }),
    ] {
        match company.iam.provisioning().create(&staff.entra, refused).await {
            Err(ProvisioningError::Scim(error)) => {
                assert_eq!((error.status, error.scim_type), (400, Some(ScimType::InvalidValue)), "{error:?}");
                assert!(error.detail.contains(attribute) && !error.detail.contains("no address"), "{error:?}");
            }
            other => panic!("{attribute}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_value_that_another_user_has_is_taken() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&["*"]).await, company.staff(&["*"]).await);
    let provisioning = company.iam.provisioning();
    let chief = company.user("chief@example.com", &["*"]).await;
    let patch = UserPatch { external_id: Some(Some("id-chief".to_owned())), ..UserPatch::default() };
    company.iam.users().update(&company.system, chief.id, patch).await.unwrap();
    company.made(&other, "elsewhere").await;
    let grace = company.made(&staff, "grace").await;
    company.made(&staff, "alan").await;
    let before = company.entries(grace.user.id).await.len();
    let address = |email: &str| json!([{ "value": email }]);
    for (attribute, members) in [
        ("emails", json!({ "emails": address("CHIEF@example.com") })),
        ("emails", json!({ "emails": address("elsewhere@example.com") })),
        ("emails", json!({ "emails": address("alan@example.com") })),
        ("externalId", json!({ "externalId": "id-chief" })),
        ("externalId", json!({ "externalId": "id-elsewhere" })),
        ("externalId", json!({ "externalId": "id-alan" })),
        ("externalId", json!({ "externalId": "Chief@example.com" })),
        ("externalId", json!({ "externalId": "ada@other.example" })),
        ("userName", json!({ "userName": "ALAN" })),
    ] {
        assert_taken(attribute, provisioning.create(&staff.entra, resource("new", members.clone())).await);
        assert_taken(
            attribute,
            provisioning.patch(&staff.entra, grace.user.id, &replacing(members.clone()), None).await,
        );
        let replaced = provisioning.replace(&staff.entra, grace.user.id, resource("grace", members), None).await;
        assert_taken(attribute, replaced);
    }
    assert_eq!(company.stored(grace.user.id).await, grace.user);
    assert_eq!(company.entries(grace.user.id).await.len(), before);
    // A user name belongs to one user of a directory, and may be that of a user of another one.
    let new = resource("new", json!({ "userName": "elsewhere" }));
    provisioning.create(&staff.entra, new).await.unwrap();
    // The own address is no address of another user.
    provisioning
        .patch(&staff.entra, grace.user.id, &replacing(json!({ "externalId": "grace@example.com" })), None)
        .await
        .unwrap();
    // In another spelling, the own user name is not taken.
    let renamed =
        provisioning.patch(&staff.entra, grace.user.id, &replacing(json!({ "userName": "GRACE" })), None).await;
    assert_eq!(renamed.unwrap().entry.user_name.as_str(), "GRACE");
}

#[tokio::test]
async fn a_directory_makes_no_more_users_than_the_quota_allows() {
    let company = Company::with(|settings| settings.quota.users = 3).await;
    let staff = company.staff(&["users:*"]).await;
    company.made(&staff, "grace").await;
    let result = company.iam.provisioning().create(&staff.entra, resource("alan", json!({}))).await;
    assert!(matches!(refused(result), Error::Conflict(Conflict::QuotaExceeded(_, 3))));
}

#[tokio::test]
async fn users_are_found_by_what_the_directory_says_of_them() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let mut ids = Vec::new();
    for name in ["charlie", "alice", "bob"] {
        company.tick();
        let new = resource(name, json!({ "displayName": name.to_uppercase(), "active": name != "bob" }));
        ids.push(provisioning.create(&staff.entra, new).await.unwrap().0);
    }
    assert_eq!(company.listed(&staff, &Condition::always()).await, ["charlie", "alice", "bob"]);
    let since = UserTest::Moment { field: UserMoment::Created, order: Order::Greater, value: ids[0].entry.created_at };
    for (condition, expected) in [
        (text(UserText::UserName, TextOperator::Equals, "ALICE"), &["alice"][..]),
        (text(UserText::ExternalId, TextOperator::Equals, "id-bob"), &["bob"]),
        (text(UserText::ExternalId, TextOperator::Equals, "ID-BOB"), &[]),
        (text(UserText::Id, TextOperator::Equals, &ids[0].user.id.to_string()), &["charlie"]),
        (text(UserText::DisplayName, TextOperator::Contains, "li"), &["charlie", "alice"]),
        (Condition::Test(UserTest::Active(false)), &["bob"]),
        (Condition::Not(Box::new(Condition::Test(UserTest::Active(false)))), &["charlie", "alice"]),
        (Condition::Test(since), &["alice", "bob"]),
    ] {
        assert_eq!(company.listed(&staff, &condition).await, expected, "{condition:?}");
    }
    let by_name = (UserSortField::Text(UserText::UserName), SortOrder::Descending);
    let (page, total) = provisioning.list(&staff.entra, &Condition::always(), by_name, 1, 1).await.unwrap();
    assert_eq!((page, total), (vec![ids[2].clone()], 3));
    let (page, total) = provisioning.list(&staff.entra, &Condition::always(), BY_CREATION, 0, 0).await.unwrap();
    assert_eq!((page.len(), total), (0, 3));
}

#[tokio::test]
async fn one_of_several_creations_at_the_same_time_makes_the_user() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let create = || {
        let (iam, entra) = (company.iam.clone(), staff.entra.clone());
        tokio::spawn(async move { iam.provisioning().create(&entra, resource("grace", json!({}))).await })
    };
    let mut made = 0;
    for created in [create(), create(), create(), create()] {
        match created.await.unwrap() {
            Ok((_, Created::New)) => made += 1,
            other => assert!(matches!(other, Err(ProvisioningError::Scim(_))), "{other:?}"),
        }
    }
    assert_eq!(made, 1);
}
