//! Directories: who makes, changes and removes one, and what that does to its users.

use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::audit::AuditEntry;
use iam_core::directory::{DeletedUsers, DirectoryPatch, NewDirectory};
use iam_core::idempotency::Idempotency;
use iam_core::identity_provider::Provisioning;
use iam_core::session::FRESH;
use iam_core::tenant::Registration;
use iam_core::user::{UserPatch, UserStatus};
use iam_core::version::Precondition;
use iam_core::{Caller, Conflict, Error, Forbidden, RequestContext, Result, Unauthenticated};
use serde_json::json;

use crate::company::{Company, assert_taken, new_directory, person, refused as refused_by, replacing, resource};

const EVERY_PERMISSION: [&str; 4] =
    ["directories:create", "directories:read", "directories:update", "directories:delete"];

fn renaming(name: &str) -> DirectoryPatch {
    DirectoryPatch { name: Some(name.to_owned()), ..DirectoryPatch::default() }
}

fn adopting() -> DirectoryPatch {
    DirectoryPatch { adopt: Some(true), ..DirectoryPatch::default() }
}

fn is_about(field: &str, result: &Result<impl Sized>) -> bool {
    matches!(result, Err(Error::About { field: about, error }) if about == field && matches!(**error, Error::NotFound(_)))
}

fn is_invalid(field: &str, result: &Result<impl Sized>) -> bool {
    matches!(result, Err(Error::Validation(errors)) if errors.iter().any(|error| error.field == field))
}

#[tokio::test]
async fn a_directory_is_made_read_changed_and_removed_and_each_change_is_recorded() {
    let company = Company::new().await;
    let directories = company.iam.directories();
    let account = company.account(&[]).await;
    let made = directories.create(&company.ada, new_directory(account)).await.unwrap();
    assert_eq!((made.name.as_str(), made.service_account_id, made.adopt), ("Staff", account, false));
    let (read, activity) = directories.get(&company.ada, made.id).await.unwrap();
    assert_eq!((&read, activity.last_request_at, activity.refusals.len()), (&made, None, 0));
    assert_eq!(directories.list(&company.ada).await.unwrap(), [(made.clone(), activity)]);

    company.tick();
    let renamed = directories.update(&company.ada, made.id, renaming("People")).await.unwrap();
    assert_eq!((renamed.name.as_str(), renamed.version), ("People", made.version.next()));
    assert!(renamed.updated_at > made.updated_at);
    let unchanged = directories.update(&company.ada, made.id, renaming("People")).await.unwrap();
    assert_eq!(unchanged, renamed);

    directories.delete(&company.ada, made.id, DeletedUsers::Keep).await.unwrap();
    for result in [
        directories.get(&company.ada, made.id).await.map(drop),
        directories.delete(&company.ada, made.id, DeletedUsers::Keep).await,
    ] {
        assert!(matches!(result, Err(Error::NotFound(_))), "{result:?}");
    }
    assert_eq!(company.history(made.id).await, ["CREATE", "UPDATE name", "DELETE"]);
    let of_directories = |entry: &AuditEntry| entry.resource_type.as_str() == "DIRECTORY";
    assert!(company.entries(made.id).await.iter().all(of_directories));
}

#[tokio::test]
async fn each_call_needs_its_permission() {
    let company = Company::new().await;
    let directory = company.staff(&[]).await.directory;
    for left_out in EVERY_PERMISSION {
        let held: Vec<&str> = EVERY_PERMISSION.into_iter().filter(|held| *held != left_out).collect();
        let user = company.user(&format!("{}@example.com", left_out.replace(':', "-")), &held).await;
        let (caller, directories) = (company.log_in(&user).await, company.iam.directories());
        let results = [
            (
                "directories:create",
                directories.create(&caller, new_directory(company.account(&[]).await)).await.map(drop),
            ),
            ("directories:read", directories.list(&caller).await.map(drop)),
            ("directories:read", directories.get(&caller, directory.id).await.map(drop)),
            ("directories:update", directories.update(&caller, directory.id, renaming(left_out)).await.map(drop)),
        ];
        for (needed, result) in results {
            let is_refused = matches!(&result, Err(Error::Forbidden(Forbidden::Permission(missing))) if missing.to_string() == needed);
            assert_eq!(is_refused, needed == left_out, "{left_out} {needed} {result:?}");
            assert_eq!(result.is_ok(), needed != left_out, "{left_out} {needed} {result:?}");
        }
    }
    let reader = company.user("reader@example.com", &EVERY_PERMISSION[..3]).await;
    let caller = company.log_in(&reader).await;
    let refused = company.iam.directories().delete(&caller, directory.id, DeletedUsers::Keep).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
}

#[tokio::test]
async fn the_account_of_a_directory_is_an_active_service_account_without_another_one() {
    let company = Company::new().await;
    let directories = company.iam.directories();
    let create = async |account| directories.create(&company.ada, new_directory(account)).await;
    let (person, account) = (company.user("grace@example.com", &[]).await.id, company.account(&[]).await);
    let refused = create(person).await;
    assert!(is_invalid("serviceAccountId", &refused), "{refused:?}");
    let refused = create(Company::new().await.account(&[]).await).await;
    assert!(is_about("serviceAccountId", &refused), "{refused:?}");
    company.iam.users().suspend(&company.ada, account).await.unwrap();
    let refused = create(account).await;
    assert!(is_invalid("serviceAccountId", &refused), "{refused:?}");
    company.iam.users().reactivate(&company.ada, account).await.unwrap();
    create(account).await.unwrap();
    let refused = create(account).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::DirectoryAccountTaken))), "{refused:?}");
    let refused =
        directories.create(&company.ada, NewDirectory { name: " ".to_owned(), ..new_directory(account) }).await;
    assert!(is_invalid("name", &refused), "{refused:?}");
}

#[tokio::test]
async fn the_provider_of_a_directory_exists_and_its_removal_leaves_the_directory_without_one() {
    let company = Company::new().await;
    let directories = company.iam.directories();
    let provider = company.provider(Provisioning::Link).await.id;
    let to = |provider| DirectoryPatch { identity_provider: Some(provider), ..DirectoryPatch::default() };
    let directory = company.staff_at(&[], Some(provider)).await.directory;
    let other = company.staff(&[]).await.directory;
    assert_eq!((directory.identity_provider_id, other.identity_provider_id), (Some(provider), None));
    directories.update(&company.ada, other.id, to(Some(provider))).await.unwrap();
    directories.update(&company.ada, other.id, to(None)).await.unwrap();
    company.iam.identity_providers().delete(&company.ada, provider).await.unwrap();
    let (left, _) = directories.get(&company.ada, directory.id).await.unwrap();
    assert_eq!(left.identity_provider_id, None);
    assert_eq!(company.history(directory.id).await, ["CREATE", "UPDATE identityProviderId"]);
    let refused = directories.update(&company.ada, other.id, to(Some(provider))).await;
    assert!(is_about("identityProviderId", &refused), "{refused:?}");
    let new = NewDirectory { identity_provider: Some(provider), ..new_directory(company.account(&[]).await) };
    let refused = directories.create(&company.ada, new).await;
    assert!(is_about("identityProviderId", &refused), "{refused:?}");
}

#[tokio::test]
async fn to_name_a_provider_takes_all_permissions_and_a_recent_authentication() {
    let company = Company::new().await;
    let provider = company.provider(Provisioning::Link).await.id;
    let directory = company.staff(&[]).await.directory;
    let to = || DirectoryPatch { identity_provider: Some(Some(provider)), ..DirectoryPatch::default() };
    let new = async || NewDirectory { identity_provider: Some(provider), ..new_directory(company.account(&[]).await) };
    let directories = company.iam.directories();
    let eve = company.log_in(&company.user("eve@example.com", &EVERY_PERMISSION).await).await;
    for refused in [directories.update(&eve, directory.id, to()).await, directories.create(&eve, new().await).await] {
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    }
    company.clock.advance(TimeDelta::minutes(11));
    for refused in [
        directories.update(&company.ada, directory.id, to()).await,
        directories.create(&company.ada, new().await).await,
    ] {
        assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    }
}

#[tokio::test]
async fn a_tenant_has_ten_directories() {
    let company = Company::new().await;
    for _ in 0..10 {
        company.staff(&[]).await;
    }
    let refused = company.iam.directories().create(&company.ada, new_directory(company.account(&[]).await)).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::TooManyDirectories))), "{refused:?}");
}

#[tokio::test]
async fn a_directory_that_adopts_needs_further_permissions_and_a_recent_authentication() {
    let company = Company::new().await;
    let directories = company.iam.directories();
    let create = async |caller: &Caller| {
        let new = NewDirectory { adopt: true, ..new_directory(company.account(&[]).await) };
        directories.create(caller, new).await
    };
    for held in [&["directories:create", "directories:update"][..], &["directories:create", "users:update"]] {
        let user = company.user(&format!("{}@example.com", held[1].replace(':', "-")), held).await;
        let refused = create(&company.log_in(&user).await).await;
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    }
    let changer = company.user("changer@example.com", &["directories:update"]).await;
    let directory = company.staff(&[]).await.directory;
    let refused = directories.update(&company.log_in(&changer).await, directory.id, adopting()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");

    let robot = company.key(company.account(&["directories:*", "users:update"]).await).await;
    for refused in [create(&robot).await, directories.update(&robot, directory.id, adopting()).await] {
        assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    }
    assert!(create(&company.ada).await.unwrap().adopt);
    assert!(directories.update(&company.ada, directory.id, adopting()).await.unwrap().adopt);
    company.clock.advance(FRESH + TimeDelta::milliseconds(1));
    let other = company.staff(&[]).await.directory;
    for refused in [create(&company.ada).await, directories.update(&company.ada, other.id, adopting()).await] {
        assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    }
    // What does not begin to adopt needs no more than the permission.
    directories
        .update(&company.ada, directory.id, DirectoryPatch { name: Some("People".to_owned()), ..adopting() })
        .await
        .unwrap();
    let stopping = DirectoryPatch { adopt: Some(false), ..DirectoryPatch::default() };
    assert!(!directories.update(&company.ada, directory.id, stopping).await.unwrap().adopt);
    directories.create(&robot, new_directory(company.account(&[]).await)).await.unwrap();
}

#[tokio::test]
async fn a_directory_is_changed_and_removed_in_the_version_that_the_caller_has_seen() {
    let company = Company::new().await;
    let directory = company.staff(&[]).await.directory;
    let directories = company.iam.directories();
    let seen = Precondition::OneOf(vec![directory.version]);
    directories.update_if(&company.ada, directory.id, renaming("People"), &seen).await.unwrap();
    let refused = directories.update_if(&company.ada, directory.id, renaming("Staff"), &seen).await;
    assert!(matches!(refused, Err(Error::PreconditionFailed)), "{refused:?}");
    let refused = directories.delete_if(&company.ada, directory.id, DeletedUsers::Keep, &seen).await;
    assert!(matches!(refused, Err(Error::PreconditionFailed)), "{refused:?}");
    let seen = Precondition::OneOf(vec![directory.version.next()]);
    directories.delete_if(&company.ada, directory.id, DeletedUsers::Keep, &seen).await.unwrap();
}

#[tokio::test]
async fn a_repeated_creation_makes_one_directory() {
    let company = Company::new().await;
    let account = company.account(&[]).await;
    let key = Idempotency::new("setup".parse().unwrap(), "Staff");
    let create = async || company.iam.directories().create_once(&company.ada, new_directory(account), Some(&key)).await;
    let made = create().await.unwrap();
    assert_eq!(create().await.unwrap(), made);
    assert!(key.was_replayed());
    assert_eq!(company.iam.directories().list(&company.ada).await.unwrap().len(), 1);
}

#[tokio::test]
async fn directories_of_another_tenant_are_not_found() {
    let company = Company::new().await;
    let directory = company.staff(&[]).await.directory.id;
    let stranger = Registration { user: person("eve@other.example"), tenant_name: None };
    let eve = company.iam.tenants().register(&RequestContext::default(), stranger).await.unwrap().login;
    let eve = company.iam.authenticate(eve.tokens.access.expose(), RequestContext::default()).await.unwrap();
    let directories = company.iam.directories();
    assert_eq!(directories.list(&eve).await.unwrap(), []);
    let results = [
        directories.get(&eve, directory).await.map(drop),
        directories.update(&eve, directory, renaming("Mine")).await.map(drop),
        directories.delete(&eve, directory, DeletedUsers::Suspend).await,
    ];
    for result in results {
        assert!(matches!(result, Err(Error::NotFound(_))), "{result:?}");
    }
}

#[tokio::test]
async fn the_users_of_a_removed_directory_stay_and_can_be_suspended_with_it() {
    let company = Company::new().await;
    for (users, expected) in [(DeletedUsers::Keep, UserStatus::Active), (DeletedUsers::Suspend, UserStatus::Suspended)]
    {
        let staff = company.staff(&["users:*"]).await;
        let name = format!("{users:?}").to_lowercase();
        let present = company.made(&staff, &name).await.user.id;
        let gone = company.made(&staff, &format!("{name}-gone")).await.user.id;
        company.iam.provisioning().delete(&staff.entra, gone, None).await.unwrap();
        company.iam.directories().delete(&company.ada, staff.directory.id, users).await.unwrap();
        assert_eq!(company.stored(present).await.status, expected);
        assert_eq!(company.stored(gone).await.status, UserStatus::Inactive);
        assert_eq!(company.store.directory_user(company.ada.tenant(), present).await.unwrap(), None);
        let is_recorded = company.history(present).await.contains(&"USER_SUSPENDED".to_owned());
        assert_eq!(is_recorded, users == DeletedUsers::Suspend);
    }
}

#[tokio::test]
async fn the_users_of_a_directory_are_suspended_only_by_who_may_do_what_they_may_do() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let (first, chief) = (company.made(&staff, "first").await.user.id, company.made(&staff, "chief").await.user.id);
    company.give(chief, &["roles:*"]).await;
    let remover = company.user("remover@example.com", &["directories:delete"]).await;
    let manager = company.user("manager@example.com", &["directories:delete", "users:update"]).await;
    let delete =
        async |caller: &Caller, users| company.iam.directories().delete(caller, staff.directory.id, users).await;
    let refused = delete(&company.log_in(&remover).await, DeletedUsers::Suspend).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    let manager = company.log_in(&manager).await;
    let refused = delete(&manager, DeletedUsers::Suspend).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    // Nothing has happened.
    assert_eq!(company.stored(first).await.status, UserStatus::Active);
    company.iam.directories().get(&company.ada, staff.directory.id).await.unwrap();
    delete(&manager, DeletedUsers::Keep).await.unwrap();
    assert_eq!(company.stored(chief).await.status, UserStatus::Active);
}

#[tokio::test]
async fn the_last_administrator_is_not_suspended_with_a_directory() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let root = company.made(&staff, "root").await.user.id;
    company.promote(root).await;
    company.iam.users().suspend(&company.system, company.ada.user().unwrap()).await.unwrap();
    let refused = company.iam.directories().delete(&company.system, staff.directory.id, DeletedUsers::Suspend).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::LastAdministrator))), "{refused:?}");
    assert_eq!(company.stored(root).await.status, UserStatus::Active);
}

#[tokio::test]
async fn only_the_directory_of_a_user_changes_its_external_identifier() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let grace = company.made(&staff, "grace").await.user.id;
    let to = |id: Option<&str>| UserPatch { external_id: Some(id.map(str::to_owned)), ..UserPatch::default() };
    for patch in [to(Some("other")), to(None)] {
        let refused = company.iam.users().update(&company.ada, grace, patch).await;
        assert!(matches!(refused, Err(Error::Conflict(Conflict::OfDirectory))), "{refused:?}");
    }
    // The same one is no change, and everything else can be changed.
    let name = UserPatch { first_name: Some("Amazing".to_owned()), ..to(Some("id-grace")) };
    company.iam.users().update(&company.ada, grace, name).await.unwrap();
    let (provisioning, change) = (company.iam.provisioning(), replacing(json!({ "externalId": "7" })));
    let changed = provisioning.patch(&staff.entra, grace, &change, None);
    assert_eq!(changed.await.unwrap().user.external_id.unwrap().as_str(), "7");
    company.iam.directories().delete(&company.ada, staff.directory.id, DeletedUsers::Keep).await.unwrap();
    company.iam.users().update(&company.ada, grace, to(None)).await.unwrap();
}

#[tokio::test]
async fn the_account_of_a_directory_can_be_deleted() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    company.iam.users().delete(&company.ada, staff.account).await.unwrap();
    company.iam.directories().get(&company.ada, staff.directory.id).await.unwrap();
    let refused = company.iam.provisioning().create(&staff.entra, resource("grace", json!({}))).await;
    assert!(matches!(refused_by(refused), Error::Unauthenticated(Unauthenticated::ApiKey)));
}

#[tokio::test]
async fn a_directory_shows_when_its_last_request_arrived_and_what_was_refused() {
    let company = Company::new().await;
    let staff = company.staff(&[]).await;
    let record = async |refusal: Option<(u16, &str)>| {
        company.iam.provisioning().record_request(&staff.entra, "POST /Users", refusal).await.unwrap();
    };
    let activity = async || company.iam.directories().get(&company.ada, staff.directory.id).await.unwrap().1;
    record(None).await;
    let first = company.iam.now();
    assert_eq!(activity().await.last_request_at, Some(first));
    // Requests that are not refused are kept once a minute.
    company.tick();
    record(None).await;
    assert_eq!(activity().await.last_request_at, Some(first));
    record(Some((409, "userName: taken"))).await;
    let shown = activity().await;
    assert_eq!(shown.last_request_at, Some(company.iam.now()));
    let [refusal] = shown.refusals.as_slice() else { panic!("{shown:?}") };
    assert_eq!((refusal.request.as_str(), refusal.status), ("POST /Users", 409));
    assert_eq!((refusal.detail.as_str(), refusal.at), ("userName: taken", company.iam.now()));
    company.clock.advance(TimeDelta::minutes(1));
    record(None).await;
    assert_eq!(activity().await.last_request_at, Some(company.iam.now()));
    let long = "ä".repeat(400);
    for number in 0..25_u16 {
        record(Some((400 + number, long.as_str()))).await;
    }
    let shown = activity().await;
    assert_eq!((shown.refusals.len(), shown.refusals[0].status), (20, 424));
    assert_eq!(shown.refusals[0].detail.chars().count(), 300);
    assert_eq!(company.history(staff.directory.id).await, ["CREATE"]);
}

/// An administrator who restores a user means it, and the directory must be able to see the user.
#[tokio::test]
async fn a_user_whom_an_administrator_restores_is_a_user_of_its_directory_again() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let grace = company.made(&staff, "grace").await.user.id;
    company.iam.provisioning().delete(&staff.entra, grace, None).await.unwrap();
    company.tick();
    let status = |status| UserPatch { status: Some(status), ..UserPatch::default() };
    let both = UserPatch { external_id: Some(Some("other".to_owned())), ..status(UserStatus::Active) };
    let refused = company.iam.users().update(&company.ada, grace, both).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::OfDirectory))), "{refused:?}");
    company.iam.users().update(&company.ada, grace, status(UserStatus::Active)).await.unwrap();
    let found = company.iam.provisioning().get(&staff.entra, grace).await.unwrap();
    assert_eq!((found.user.status, found.entry.deleted_at), (UserStatus::Active, None));
    // If the administrator deletes it again, the directory cannot restore it.
    company.tick();
    company.iam.users().delete(&company.ada, grace).await.unwrap();
    let refused = company.iam.provisioning().create(&staff.entra, resource("grace", json!({}))).await;
    assert_taken("userName", refused);
}

#[tokio::test]
async fn an_api_key_of_a_directory_may_do_no_more_than_the_key() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let new = NewApiKey {
        name: "reader".to_owned(),
        permissions: Some(vec!["users:read".to_owned()]),
        ..NewApiKey::default()
    };
    let issued = company.iam.api_keys().create(&company.system, staff.account, new).await.unwrap();
    let reader = company.iam.authenticate(issued.token.expose(), RequestContext::default()).await.unwrap();
    let grace = company.made(&staff, "grace").await.user.id;
    company.iam.provisioning().get(&reader, grace).await.unwrap();
    let refused = company.iam.provisioning().delete(&reader, grace, None).await;
    assert!(matches!(refused_by(refused), Error::Forbidden(Forbidden::Permission(_))));
    assert_eq!(company.iam.provisioning().directory(&reader).await.unwrap(), staff.directory);
}
