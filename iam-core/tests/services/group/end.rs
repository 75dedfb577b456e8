//! When members, directories and administrators go.

use chrono::TimeDelta;
use iam_core::directory::{Created, DeletedUsers, DirectoryGroup};
use iam_core::role::PlacedRole;
use iam_core::user::{UserPatch, UserStatus};
use iam_core::{DirectoryGroupId, Error, UserId};
use serde_json::json;

use crate::company::{Company, Staff, refused, replacing, resource};
use crate::group::{ACCOUNT, group_named, is_last_administrator, tenant_wide};

#[tokio::test]
async fn a_suspended_user_stays_a_member_with_its_roles() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let group = company.mapped(&staff, "Sales", &[grace], &[tenant_wide(company.role(&["roles:read"]).await)]).await;
    let (given, provisioning) = (company.only(grace).await, company.iam.provisioning());
    for (id, active) in [(grace, false), (grace, true), (alan, false)] {
        provisioning.patch(&staff.entra, id, &replacing(json!({ "active": active })), None).await.unwrap();
    }
    assert_eq!(company.only(grace).await, given);
    // A user who is suspended may become a member.
    company.move_members(&staff, group, &[alan], &[]).await.unwrap();
    assert_eq!(company.stored_group(&staff, group).await.members, 2);
    assert_eq!(company.given(alan).await, [Some(group)]);
}

#[tokio::test]
async fn a_user_who_becomes_inactive_leaves_all_groups() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let provisioning = company.iam.provisioning();
    let mut ids = Vec::new();
    for name in ["first", "second", "third"] {
        ids.push(company.member(&staff, name).await);
    }
    let stays = company.member(&staff, "stays").await;
    let members = [&ids[..], &[stays]].concat();
    let grant = tenant_wide(company.role(&["roles:read"]).await);
    let group = company.mapped(&staff, "Sales", &members, &[grant]).await;
    let unmapped = company.group(&staff, "Unmapped", &members).await;
    let before = company.stored_group(&staff, group).await;
    company.tick();
    provisioning.delete(&staff.entra, ids[0], None).await.unwrap();
    company.iam.users().delete(&company.ada, ids[1]).await.unwrap();
    let patch = UserPatch { status: Some(UserStatus::Inactive), ..UserPatch::default() };
    company.iam.users().update(&company.ada, ids[2], patch).await.unwrap();
    for group in [group, unmapped] {
        let stored = company.stored_group(&staff, group).await;
        assert_eq!((stored.members, stored.updated_at), (1, company.iam.now()));
        let listed = provisioning.members(&staff.entra, &[group]).await.unwrap();
        assert_eq!(listed[&group], [stays]);
    }
    assert_eq!(company.stored_group(&staff, group).await.version, before.version.next().next().next());
    let history = company.history(group).await;
    assert_eq!(history[2..], ["UPDATE members", "UPDATE members", "UPDATE members"]);
    for id in &ids {
        assert_eq!(company.held(*id).await, []);
    }
    // A user who comes back is a member of no group.
    company.tick();
    let (back, created) = provisioning.create(&staff.entra, resource("first", json!({}))).await.unwrap();
    assert_eq!((created, back.user.id), (Created::Restored, ids[0]));
    let patch = UserPatch { status: Some(UserStatus::Active), ..UserPatch::default() };
    company.iam.users().update(&company.ada, ids[1], patch).await.unwrap();
    for id in &ids {
        assert_eq!(company.held(*id).await, []);
    }
    assert_eq!(company.stored_group(&staff, group).await.members, 1);
}

#[tokio::test]
async fn a_directory_that_is_removed_takes_what_its_groups_gave() {
    let company = Company::new().await;
    for users in [DeletedUsers::Keep, DeletedUsers::Suspend] {
        let (staff, other) = (company.staff(&ACCOUNT).await, company.staff(&ACCOUNT).await);
        let name = format!("{users:?}").to_lowercase();
        let (here, there) = (company.member(&staff, &name).await, company.member(&other, &format!("{name}2")).await);
        let grants =
            [tenant_wide(company.role(&["roles:read"]).await), tenant_wide(company.role(&["users:read"]).await)];
        company.by_hand(here, grants[1], None).await;
        let group = company.mapped(&staff, "Sales", &[here], &grants).await;
        let elsewhere = company.mapped(&other, "Sales", &[there], &grants).await;
        let given = company.held(here).await.into_iter().find(|held| held.directory_group_id == Some(group)).unwrap();
        company.iam.directories().delete(&company.ada, staff.directory.id, users).await.unwrap();
        assert_eq!(company.given(here).await, [None]);
        assert_eq!(company.last_of(given.id).await["reason"], json!("DIRECTORY_GROUP"));
        assert_eq!(company.given(there).await, [Some(elsewhere), Some(elsewhere)]);
        let found = company.store.directory_group(company.ada.tenant(), staff.directory.id, group).await.unwrap();
        assert_eq!(found, None);
    }
}

/// A tenant whose administrators are the members of a group.
struct Administered {
    company: Company,
    staff: Staff,
    group: DirectoryGroupId,
    administration: PlacedRole,
}

impl Administered {
    async fn by(names: &[&str]) -> (Self, Vec<UserId>) {
        let company = Company::new().await;
        let staff = company.staff(&["*"]).await;
        let mut ids = Vec::new();
        for name in names {
            ids.push(company.member(&staff, name).await);
        }
        let administration = company.administration().await;
        let group = company.mapped(&staff, "Administrators", &ids, &[administration]).await;
        company.iam.users().suspend(&company.system, company.ada.user().unwrap()).await.unwrap();
        (Self { company, staff, group, administration }, ids)
    }

    async fn set(&self, grants: &[PlacedRole]) -> Result<DirectoryGroup, Error> {
        let directories = self.company.iam.directories();
        directories.set_grants(&self.company.system, self.staff.directory.id, self.group, grants.to_vec()).await
    }
}

#[tokio::test]
async fn the_last_administrators_stay() {
    for names in [&["root"][..], &["root", "other"]] {
        let (administered, ids) = Administered::by(names).await;
        let Administered { company, staff, group, .. } = &administered;
        let provisioning = company.iam.provisioning();
        let results = [
            company.move_members(staff, *group, &[], &ids).await.map(drop),
            provisioning.replace_group(&staff.entra, *group, &group_named("Renamed", &[]), None).await.map(drop),
            provisioning.delete_group(&staff.entra, *group, None).await,
        ];
        for result in results {
            let error = refused(result);
            assert!(is_last_administrator(&error), "{error:?}");
        }
        let error = administered.set(&[]).await.unwrap_err();
        assert!(is_last_administrator(&error), "{error:?}");
        for users in [DeletedUsers::Keep, DeletedUsers::Suspend] {
            let result = company.iam.directories().delete(&company.system, staff.directory.id, users).await;
            assert!(is_last_administrator(result.as_ref().unwrap_err()), "{result:?}");
        }
        let trial = company.iam.trial();
        let outcome = trial.directories().set_grants(&company.system, staff.directory.id, *group, vec![]).await;
        let preview = trial.preview(&company.system, outcome).await.unwrap();
        assert!(preview.refusal.as_ref().is_some_and(is_last_administrator), "{preview:?}");
        for id in ids {
            assert_eq!((company.held(id).await.len(), company.stored(id).await.status), (1, UserStatus::Active));
        }
        assert_eq!(company.history(group).await, ["CREATE", "UPDATE grants"]);
    }
}

#[tokio::test]
async fn an_administrator_may_go_when_another_one_comes() {
    let (administered, ids) = Administered::by(&["root"]).await;
    let Administered { company, staff, group, .. } = &administered;
    let other = company.member(staff, "other").await;
    let replaced = group_named("Administrators", &[other]);
    company.iam.provisioning().replace_group(&staff.entra, *group, &replaced, None).await.unwrap();
    assert_eq!((company.held(ids[0]).await, company.given(other).await), (vec![], vec![Some(*group)]));
    // One of two may go, and the one whose right has an end is not counted.
    company.move_members(staff, *group, &ids, &[]).await.unwrap();
    company.move_members(staff, *group, &[], &[other]).await.unwrap();
    let end = company.iam.now() + TimeDelta::days(1);
    company.by_hand(other, administered.administration, Some(end)).await;
    let error = refused(company.move_members(staff, *group, &[], &ids).await);
    assert!(is_last_administrator(&error), "{error:?}");
}

#[tokio::test]
async fn a_group_takes_over_the_last_administrator_only_without_an_end() {
    let (administered, ids) = Administered::by(&["root"]).await;
    let Administered { company, staff, group, administration } = &administered;
    let second = company.mapped_by_system(staff, "Second", &ids, *administration).await;
    company.move_members(staff, *group, &[], &ids).await.unwrap();
    assert_eq!(company.given(ids[0]).await, [Some(second)]);
    // The account holds everything for a day from now on.
    company.move_members(staff, *group, &ids, &[]).await.unwrap();
    let everything = tenant_wide(company.role(&["*"]).await);
    let before = company.held(staff.account).await;
    company.by_hand(staff.account, everything, Some(company.iam.now() + TimeDelta::days(1))).await;
    for held in before {
        company.iam.assignments().delete(&company.system, held.id).await.unwrap();
    }
    let error = refused(company.move_members(staff, second, &[], &ids).await);
    assert!(is_last_administrator(&error), "{error:?}");
}

impl Company {
    async fn mapped_by_system(
        &self,
        staff: &Staff,
        name: &str,
        members: &[UserId],
        grant: PlacedRole,
    ) -> DirectoryGroupId {
        let group = self.group(staff, name, members).await;
        let directories = self.iam.directories();
        directories.set_grants(&self.system, staff.directory.id, group, vec![grant]).await.unwrap();
        group
    }
}

#[tokio::test]
async fn an_erasure_forgets_what_a_directory_says_of_a_user() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let grace = company.member(&staff, "grace").await;
    company.iam.users().delete(&company.ada, grace).await.unwrap();
    company.iam.audit().erase(&company.ada, grace).await.unwrap();
    assert_eq!(company.store.directory_user(company.ada.tenant(), grace).await.unwrap(), None);
    let error = refused(company.iam.provisioning().get(&staff.entra, grace).await);
    assert!(matches!(error, Error::NotFound(_)), "{error:?}");
    company.iam.audit().erase(&company.ada, grace).await.unwrap();
}
