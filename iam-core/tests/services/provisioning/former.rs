//! Users who go and come back, and users of the tenant whom a directory adopts.

use iam_core::Error;
use iam_core::directory::{Condition, Created, DirectoryPatch};
use iam_core::user::UserStatus;
use serde_json::json;

use crate::company::{Company, assert_taken, refused, replacing, resource};
use crate::provisioning::is_missing;

#[tokio::test]
async fn a_deleted_user_is_inactive_without_roles_and_comes_back_as_the_same_user() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*", "roles:read"]).await;
    let provisioning = company.iam.provisioning();
    let made = company.made(&staff, "grace").await;
    let id = made.user.id;
    company.give(id, &["roles:read"]).await;
    company.tick();
    provisioning.delete(&staff.entra, id, None).await.unwrap();
    assert_eq!(company.stored(id).await.status, UserStatus::Inactive);
    assert!(company.iam.assignments().of_user(&company.ada, id).await.unwrap().is_empty());
    assert!(matches!(refused(provisioning.get(&staff.entra, id).await), Error::NotFound(_)));
    assert!(company.listed(&staff, &Condition::always()).await.is_empty());

    // By the external identifier, with another user name and another address.
    company.tick();
    let again = json!({ "userName": "ghopper", "emails": [{ "value": "hopper@example.com" }], "title": "Admiral" });
    let (back, created) = provisioning.create(&staff.entra, resource("grace", again)).await.unwrap();
    assert_eq!((created, back.user.id, back.user.status), (Created::Restored, id, UserStatus::Active));
    assert_eq!((back.user.email.as_str(), back.entry.user_name.as_str()), ("hopper@example.com", "ghopper"));
    assert_eq!((back.entry.deleted_at, back.entry.created_at), (None, made.entry.created_at));
    assert_eq!(provisioning.get(&staff.entra, id).await.unwrap(), back);
    assert!(company.iam.assignments().of_user(&company.ada, id).await.unwrap().is_empty());

    // By the user name, without case, and not active.
    provisioning.delete(&staff.entra, id, None).await.unwrap();
    let again = json!({ "userName": "GHOPPER", "externalId": "other", "active": false });
    let (back, created) = provisioning.create(&staff.entra, resource("grace", again)).await.unwrap();
    assert_eq!((created, back.user.id, back.user.status), (Created::Restored, id, UserStatus::Suspended));
    assert_eq!(back.user.external_id.unwrap().as_str(), "other");
}

#[tokio::test]
async fn a_user_whom_the_directory_suspended_comes_back_with_its_roles() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*", "roles:read"]).await;
    let provisioning = company.iam.provisioning();
    let id = company.made(&staff, "grace").await.user.id;
    company.give(id, &["roles:read"]).await;
    // While it is active, the name is taken.
    assert_taken("userName", provisioning.create(&staff.entra, resource("grace", json!({}))).await);
    provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), None).await.unwrap();
    let renamed = resource("grace", json!({ "userName": "ghopper" }));
    let (back, created) = provisioning.create(&staff.entra, renamed).await.unwrap();
    assert_eq!((created, back.user.id, back.user.status), (Created::Restored, id, UserStatus::Active));
    assert_eq!(back.entry.user_name.as_str(), "ghopper");
    assert_eq!(company.iam.assignments().of_user(&company.ada, id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn who_comes_back_must_be_one_user_whom_the_directory_has_deleted() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&["users:*"]).await, company.staff(&["users:*"]).await);
    let provisioning = company.iam.provisioning();
    let (grace, alan) = (company.made(&staff, "grace").await.user.id, company.made(&staff, "alan").await.user.id);
    company.tick();
    for id in [grace, alan] {
        provisioning.delete(&staff.entra, id, None).await.unwrap();
    }
    // Two match.
    let two = resource("grace", json!({ "externalId": "id-alan" }));
    assert_taken("externalId", provisioning.create(&staff.entra, two).await);
    // The e-mail alone is not enough, and another directory has not deleted them.
    let address = json!({ "userName": "new", "externalId": null });
    assert_taken("emails", provisioning.create(&staff.entra, resource("grace", address)).await);
    let elsewhere = json!({ "emails": [{ "value": "new@example.com" }] });
    assert_taken("externalId", provisioning.create(&other.entra, resource("grace", elsewhere)).await);
    // The address of another user.
    let taken = json!({ "emails": [{ "value": "ada@other.example" }] });
    assert_taken("emails", provisioning.create(&staff.entra, resource("grace", taken)).await);
    for id in [grace, alan] {
        assert_eq!(company.stored(id).await.status, UserStatus::Inactive);
    }
    // An administrator has deleted this one, also if the directory deletes it afterwards.
    let barred = company.made(&staff, "barred").await.user.id;
    company.iam.users().delete(&company.ada, barred).await.unwrap();
    assert_taken("userName", provisioning.create(&staff.entra, resource("barred", json!({}))).await);
    let found = provisioning.get(&staff.entra, barred).await.unwrap();
    assert_eq!(found.user.status, UserStatus::Inactive);
    company.tick();
    provisioning.delete(&staff.entra, barred, None).await.unwrap();
    assert!(matches!(refused(provisioning.get(&staff.entra, barred).await), Error::NotFound(_)));
    assert_taken("userName", provisioning.create(&staff.entra, resource("barred", json!({}))).await);
    assert_eq!(company.stored(barred).await.status, UserStatus::Inactive);
}

#[tokio::test]
async fn restoring_and_adopting_need_the_permission_to_change_users_too() {
    let company = Company::new().await;
    company.domain("example.com").await;
    let staff = company.adopting_staff(&["users:create", "users:delete", "users:read"]).await;
    let provisioning = company.iam.provisioning();
    let id = company.made(&staff, "grace").await.user.id;
    provisioning.delete(&staff.entra, id, None).await.unwrap();
    let error = refused(provisioning.create(&staff.entra, resource("grace", json!({}))).await);
    assert!(is_missing("users:update", &error), "{error:?}");
    company.user("alan@example.com", &[]).await;
    assert_taken("emails", provisioning.create(&staff.entra, resource("alan", json!({}))).await);
}

#[tokio::test]
async fn a_directory_adopts_a_user_with_the_address_of_a_verified_domain() {
    let company = Company::new().await;
    company.domain("example.com").await;
    let staff = company.adopting_staff(&["users:*", "roles:read"]).await;
    let provisioning = company.iam.provisioning();
    let alan = company.user("Alan@example.com", &["roles:read"]).await;
    company.tick();
    let (adopted, created) = provisioning.create(&staff.entra, resource("alan", json!({}))).await.unwrap();
    assert_eq!((created, adopted.user.id), (Created::Adopted, alan.id));
    assert_eq!(
        (adopted.user.email.as_str(), adopted.user.email_verified_at),
        ("Alan@example.com", alan.email_verified_at)
    );
    assert_eq!((adopted.user.first_name.as_str(), adopted.user.last_name.as_str()), ("alan", "Hopper"));
    assert_eq!(adopted.user.external_id.as_ref().unwrap().as_str(), "id-alan");
    assert_eq!(company.iam.assignments().of_user(&company.ada, alan.id).await.unwrap().len(), 1);
    assert_eq!(provisioning.get(&staff.entra, alan.id).await.unwrap(), adopted);
    company.log_in(&alan).await;
    let history = company.history(alan.id).await;
    assert!(history.contains(&"UPDATE externalId firstName lastName".to_owned()), "{history:?}");
    // From now on, it is a user of the directory.
    assert_taken("userName", provisioning.create(&staff.entra, resource("alan", json!({}))).await);
    provisioning.patch(&staff.entra, alan.id, &replacing(json!({ "active": false })), None).await.unwrap();
    assert_eq!(company.stored(alan.id).await.status, UserStatus::Suspended);
}

#[tokio::test]
async fn a_user_is_adopted_only_as_the_administrators_allow() {
    let company = Company::new().await;
    company.domain("example.com").await;
    company.iam.domains().create(&company.system, "pending.example").await.unwrap();
    let (staff, plain) = (company.adopting_staff(&["users:*"]).await, company.staff(&["users:*"]).await);
    let provisioning = company.iam.provisioning();
    let alan = company.user("alan@example.com", &[]).await;
    // The directory does not adopt.
    assert_taken("emails", provisioning.create(&plain.entra, resource("alan", json!({}))).await);
    // The user may do more than the account, or what no API key may give.
    company.user("manager@example.com", &["roles:read"]).await;
    assert_taken("emails", provisioning.create(&staff.entra, resource("manager", json!({}))).await);
    let powerful = company.adopting_staff(&["*"]).await;
    company.user("chief@example.com", &["*"]).await;
    assert_taken("emails", provisioning.create(&powerful.entra, resource("chief", json!({}))).await);
    // The domain is not VERIFIED.
    for email in ["eve@pending.example", "eve@unknown.example"] {
        company.user(email, &[]).await;
        let new = resource("eve", json!({ "emails": [{ "value": email }] }));
        assert_taken("emails", provisioning.create(&staff.entra, new).await);
    }
    // The user belongs to another directory, or an administrator has deleted it.
    company.made(&plain, "grace").await;
    let new = resource("grace", json!({ "externalId": null }));
    assert_taken("emails", provisioning.create(&staff.entra, new).await);
    let gone = company.user("gone@example.com", &[]).await.id;
    company.iam.users().delete(&company.ada, gone).await.unwrap();
    assert_taken("emails", provisioning.create(&staff.entra, resource("gone", json!({}))).await);
    // The external identifier is that of another user, or its e-mail.
    let taken = resource("alan", json!({ "externalId": "id-grace" }));
    assert_taken("externalId", provisioning.create(&staff.entra, taken).await);
    let taken = resource("alan", json!({ "externalId": "manager@example.com" }));
    assert_taken("externalId", provisioning.create(&staff.entra, taken).await);
    assert_eq!(company.stored(alan.id).await, alan);
    // A directory that adopts no more.
    let stopping = DirectoryPatch { adopt: Some(false), ..DirectoryPatch::default() };
    company.iam.directories().update(&company.ada, staff.directory.id, stopping).await.unwrap();
    assert_taken("emails", provisioning.create(&staff.entra, resource("alan", json!({}))).await);
}
