//! How many members and assignments a change may move.

use iam_core::directory::DeletedUsers;
use iam_core::{Conflict, Error, UserId};

use crate::company::{Company, refused};
use crate::group::{ACCOUNT, group_named, scim, tenant_wide};

fn strangers(count: usize) -> Vec<UserId> {
    let id = |number: usize| format!("00000000-0000-7000-8000-{number:012x}").parse().unwrap();
    (0..count).map(id).collect()
}

#[tokio::test]
async fn a_request_moves_a_thousand_members_at_most() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let grace = company.member(&staff, "grace").await;
    let group = company.group(&staff, "Sales", &[grace]).await;
    let provisioning = company.iam.provisioning();
    for count in [1_001, 5_001] {
        let many = strangers(count);
        let results = [
            provisioning.create_group(&staff.entra, &group_named("Many", &many)).await,
            provisioning.replace_group(&staff.entra, group, &group_named("Sales", &many), None).await,
            company.move_members(&staff, group, &many, &[]).await,
        ];
        for result in results {
            let error = scim(result);
            assert_eq!((error.status, error.scim_type), (413, None), "{error:?}");
        }
    }
    // Those that are none now do not count.
    let unchanged = company.move_members(&staff, group, &[grace], &strangers(5_000)).await.unwrap();
    assert_eq!(unchanged, company.stored_group(&staff, group).await);
    assert_eq!(scim(company.move_members(&staff, group, &[], &strangers(5_001)).await).status, 413);
}

fn is_too_many(error: &Error) -> bool {
    matches!(error, Error::Conflict(Conflict::TooManyGroupAssignments(5_000)))
}

#[tokio::test]
async fn a_change_moves_five_thousand_assignments_at_most() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let mut members = Vec::new();
    for number in 0..251 {
        members.push(company.member(&staff, &format!("user{number}")).await);
    }
    let mut grants = Vec::new();
    for _ in 0..20 {
        grants.push(tenant_wide(company.role(&["roles:read"]).await));
    }
    let group = company.group(&staff, "Sales", &members).await;
    let error = company.map(&staff, group, &grants).await.unwrap_err();
    assert!(is_too_many(&error), "{error:?}");
    assert_eq!(company.held(members[0]).await, []);
    let (first, second) = grants.split_at(10);
    company.map(&staff, group, first).await.unwrap();
    // What begins and what ends is counted together.
    let error = company.map(&staff, group, second).await.unwrap_err();
    assert!(is_too_many(&error), "{error:?}");
    company.map(&staff, group, &grants).await.unwrap();
    assert_eq!(company.held(members[250]).await.len(), 20);
    let error = refused(company.iam.provisioning().delete_group(&staff.entra, group, None).await);
    assert!(is_too_many(&error), "{error:?}");
    for users in [DeletedUsers::Keep, DeletedUsers::Suspend] {
        let error = company.iam.directories().delete(&company.ada, staff.directory.id, users).await.unwrap_err();
        assert!(is_too_many(&error), "{error:?}");
    }
    company.map(&staff, group, second).await.unwrap();
    company.iam.directories().delete(&company.ada, staff.directory.id, DeletedUsers::Keep).await.unwrap();
    assert_eq!(company.held(members[250]).await, []);
}
