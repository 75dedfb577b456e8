//! What PUT and PATCH change of a user, and what they do not.

use iam_core::directory::{entity_tag, has_entity_tag};
use iam_core::user::{UserPatch, UserStatus};
use iam_core::{Conflict, Error, Forbidden};
use serde_json::{Value, json};

use crate::company::{Company, PASSWORD, refused, replacing, resource};

#[tokio::test]
async fn a_user_who_is_not_active_is_suspended() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let new = resource("asleep", json!({ "active": false }));
    let asleep = provisioning.create(&staff.entra, new).await.unwrap().0.user;
    assert_eq!((asleep.status, company.stored(asleep.id).await.status), (UserStatus::Suspended, UserStatus::Suspended));

    let grace = company.made(&staff, "grace").await.user;
    let email = grace.email.as_str();
    company.iam.credentials().reset_password(&company.system, email, PASSWORD.into()).await.unwrap();
    let session = company.log_in(&grace).await;
    let set = async |active: Value| {
        let message = replacing(json!({ "active": active }));
        provisioning.patch(&staff.entra, grace.id, &message, None).await.unwrap().user.status
    };
    assert_eq!(set(json!("False")).await, UserStatus::Suspended);
    assert!(company.iam.sessions().me(&session).await.is_err());
    assert_eq!(set(json!(null)).await, UserStatus::Suspended);
    assert_eq!(set(json!(true)).await, UserStatus::Active);
    let removing = json!({ "Operations": [{ "op": "remove", "path": "active" }] });
    assert_eq!(
        provisioning.patch(&staff.entra, grace.id, &removing, None).await.unwrap().user.status,
        UserStatus::Active
    );
    let replace = async |members: Value| {
        let resource = resource("grace", members);
        provisioning.replace(&staff.entra, grace.id, resource, None).await.unwrap().user.status
    };
    assert_eq!(replace(json!({ "active": false })).await, UserStatus::Suspended);
    assert_eq!(replace(json!({})).await, UserStatus::Suspended);
    assert_eq!(replace(json!({ "active": true })).await, UserStatus::Active);
}

#[tokio::test]
async fn a_change_of_nothing_writes_nothing() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let made = company.made(&staff, "grace").await;
    let id = made.user.id;
    company.tick();
    let same = resource("grace", json!({ "active": true }));
    assert_eq!(provisioning.replace(&staff.entra, id, same, None).await.unwrap(), made);
    for body in [json!({ "active": true }), json!({ "externalId": "id-grace", "userName": "grace" })] {
        assert_eq!(provisioning.patch(&staff.entra, id, &replacing(body), None).await.unwrap(), made);
    }
    assert_eq!(provisioning.get(&staff.entra, id).await.unwrap(), made);
    assert_eq!(company.history(id).await, ["CREATE", "UPDATE attributes userName"]);
}

#[tokio::test]
async fn put_replaces_what_the_directory_asserts() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let new = resource("grace", json!({ "title": "Admiral", "displayName": "Amazing Grace" }));
    let (made, _) = provisioning.create(&staff.entra, new).await.unwrap();
    company.tick();
    let now =
        json!({ "externalId": null, "userName": "ghopper", "name": { "givenName": "Brewster" }, "locale": "en-US" });
    let changed = provisioning.replace(&staff.entra, made.user.id, resource("grace", now), None).await.unwrap();
    assert_eq!((changed.user.external_id.clone(), changed.entry.user_name.as_str()), (None, "ghopper"));
    assert_eq!(changed.user.first_name.as_str(), "Brewster");
    assert_eq!((changed.entry.attributes.get("title"), changed.entry.attributes.get("displayName")), (None, None));
    assert_eq!(changed.entry.attributes["locale"], json!("en-US"));
    assert_eq!(provisioning.get(&staff.entra, made.user.id).await.unwrap(), changed);
    assert_eq!((changed.entry.version, changed.entry.created_at), (made.entry.version.next(), made.entry.created_at));
}

#[tokio::test]
async fn the_names_and_the_email_follow_from_what_the_directory_changes() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let grace = company.made(&staff, "grace").await.user.id;
    let patch =
        async |value: Value| provisioning.patch(&staff.entra, grace, &replacing(value), None).await.unwrap().user;
    let changed = patch(json!({ "name.familyName": "Murray", "emails": [{ "value": "murray@example.com" }] })).await;
    assert_eq!((changed.last_name.as_str(), changed.email.as_str()), ("Murray", "murray@example.com"));
    // Another spelling of the same address is the same.
    let changed = patch(json!({ "emails": [{ "value": "MURRAY@example.com" }] })).await;
    assert_eq!(changed.email.as_str(), "murray@example.com");
    // An administrator may change them too, until the directory says something new. `active` says nothing of them.
    let by_hand = UserPatch { first_name: Some("Amazing".to_owned()), ..UserPatch::default() };
    company.iam.users().update(&company.ada, grace, by_hand).await.unwrap();
    assert_eq!(patch(json!({ "active": false })).await.first_name.as_str(), "Amazing");
    assert_eq!(patch(json!({ "title": "Admiral" })).await.first_name.as_str(), "grace");
}

#[tokio::test]
async fn a_change_is_made_in_the_version_that_the_directory_has_seen() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let made = company.made(&staff, "grace").await;
    let (id, first) = (made.user.id, entity_tag(&made));
    assert_eq!(first, format!("W/\"{}-1\"", made.user.updated_at.timestamp_millis()));
    // Also if only the user changes, and at the same moment.
    let changed =
        provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), Some(&first)).await.unwrap();
    let second = entity_tag(&changed);
    assert_ne!(second, first);
    company.tick();
    company.iam.users().reactivate(&company.ada, id).await.unwrap();
    for stale in [first.as_str(), second.as_str(), "", "\"other\""] {
        let results = [
            provisioning.patch(&staff.entra, id, &replacing(json!({ "title": "x" })), Some(stale)).await.map(drop),
            provisioning.replace(&staff.entra, id, resource("grace", json!({})), Some(stale)).await.map(drop),
            provisioning.delete(&staff.entra, id, Some(stale)).await,
        ];
        for result in results {
            assert!(matches!(refused(result), Error::PreconditionFailed), "{stale}");
        }
    }
    let current = provisioning.get(&staff.entra, id).await.unwrap();
    let third = entity_tag(&current);
    for listed in ["*".to_owned(), third.clone(), third.replace("W/", ""), format!("{first}, {third}")] {
        assert!(has_entity_tag(&third, &listed), "{listed}");
        provisioning.replace(&staff.entra, id, resource("grace", json!({})), Some(&listed)).await.unwrap();
    }
    provisioning.delete(&staff.entra, id, Some(&third)).await.unwrap();
}

#[tokio::test]
async fn a_user_whom_an_administrator_has_deleted_is_not_changed() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let id = company.made(&staff, "grace").await.user.id;
    company.iam.users().delete(&company.ada, id).await.unwrap();
    for body in [json!({ "active": true }), json!({ "title": "Admiral" }), json!({ "externalId": "other" })] {
        let result = provisioning.patch(&staff.entra, id, &replacing(body), None).await;
        assert!(matches!(refused(result), Error::Conflict(Conflict::UserInactive)));
    }
    provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), None).await.unwrap();
}

#[tokio::test]
async fn a_directory_changes_who_somebody_is_only_where_its_account_may_do_what_the_user_may_do() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let id = company.made(&staff, "chief").await.user.id;
    company.give(id, &["roles:read"]).await;
    let is_escalation = |error: Error| matches!(error, Error::Forbidden(Forbidden::Escalation(_)));
    let patch = async |value: Value| provisioning.patch(&staff.entra, id, &replacing(value), None).await;
    for body in [
        json!({ "emails": [{ "value": "mallory@example.com" }] }),
        json!({ "externalId": "mallory" }),
        json!({ "externalId": null }),
    ] {
        assert!(is_escalation(refused(patch(body).await)));
    }
    // Everything else goes on, above all a suspension.
    patch(json!({ "title": "Chief", "name.givenName": "Big" })).await.unwrap();
    patch(json!({ "active": false })).await.unwrap();
    // To become active again gives the rights back, however it is done.
    assert!(is_escalation(refused(patch(json!({ "active": true })).await)));
    let again = resource("chief", json!({ "title": "Chief" }));
    assert!(is_escalation(refused(provisioning.create(&staff.entra, again).await)));
    assert_eq!(company.stored(id).await.status, UserStatus::Suspended);
    company.give(staff.account, &["roles:read"]).await;
    let entra = company.key(staff.account).await;
    let back = provisioning.patch(&entra, id, &replacing(json!({ "active": true })), None).await.unwrap();
    assert_eq!(back.user.status, UserStatus::Active);
}

/// Not even an account with all permissions: an API key gives no user the rights to change what protects the tenant.
#[tokio::test]
async fn a_directory_never_changes_who_an_administrator_is() {
    let company = Company::new().await;
    let staff = company.staff(&["*"]).await;
    let provisioning = company.iam.provisioning();
    let id = company.made(&staff, "chief").await.user.id;
    company.give(id, &["*"]).await;
    for body in [json!({ "emails": [{ "value": "mallory@example.com" }] }), json!({ "externalId": "mallory" })] {
        let result = provisioning.patch(&staff.entra, id, &replacing(body), None).await;
        assert!(matches!(refused(result), Error::Forbidden(Forbidden::ApiKey)));
    }
    provisioning.patch(&staff.entra, id, &replacing(json!({ "active": false })), None).await.unwrap();
    let result = provisioning.patch(&staff.entra, id, &replacing(json!({ "active": true })), None).await;
    assert!(matches!(refused(result), Error::Forbidden(Forbidden::ApiKey)));
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let provisioning = company.iam.provisioning();
    let root = company.made(&staff, "root").await.user.id;
    company.promote(root).await;
    company.iam.users().suspend(&company.system, company.ada.user().unwrap()).await.unwrap();
    let suspended = provisioning.patch(&staff.entra, root, &replacing(json!({ "active": false })), None).await;
    assert!(matches!(refused(suspended), Error::Conflict(Conflict::LastAdministrator)));
    let deleted = provisioning.delete(&staff.entra, root, None).await;
    assert!(matches!(refused(deleted), Error::Conflict(Conflict::LastAdministrator)));
    assert_eq!(company.stored(root).await.status, UserStatus::Active);
}
