//! Members of mapped groups get roles and lose them.

use chrono::TimeDelta;
use iam_core::assignment::AssignmentPatch;
use iam_core::{Conflict, Error, Forbidden};
use serde_json::json;

use crate::company::{Company, refused, replacing};
use crate::group::{ACCOUNT, group_named, placed, tenant_wide};

#[tokio::test]
async fn members_get_the_roles_of_their_group_and_lose_them() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let provisioning = company.iam.provisioning();
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let (role, north) = (company.role(&["roles:read"]).await, company.organization("North").await);
    let group = company.mapped(&staff, "Sales", &[grace], &[placed(role, north)]).await;
    assert_eq!(company.only(grace).await.organization_id, Some(north));

    let moved = company.move_members(&staff, group, &[alan], &[grace]).await.unwrap();
    assert_eq!(moved.members, 1);
    assert_eq!((company.given(grace).await, company.given(alan).await), (vec![], vec![Some(group)]));
    // By PUT.
    let put = async |resource| provisioning.replace_group(&staff.entra, group, &resource, None).await.unwrap();
    assert_eq!(put(group_named("Sales", &[grace, alan])).await.members, 2);
    assert_eq!((company.given(grace).await, company.given(alan).await), (vec![Some(group)], vec![Some(group)]));
    let mut unsaid = group_named("Sales", &[]);
    unsaid.members = None;
    assert_eq!(put(unsaid).await.members, 2);
    assert_eq!(put(group_named("Sales", &[])).await.members, 0);
    assert_eq!((company.held(grace).await, company.held(alan).await), (vec![], vec![]));
    // By a replacement in PATCH.
    let message = replacing(json!({ "members": [{ "value": grace }] }));
    assert_eq!(provisioning.patch_group(&staff.entra, group, &message, None).await.unwrap().members, 1);
    let given = company.only(grace).await;
    assert_eq!(given.directory_group_id, Some(group));
    provisioning.delete_group(&staff.entra, group, None).await.unwrap();
    assert_eq!(company.held(grace).await, []);
    assert_eq!(company.last_of(given.id).await["reason"], json!("DIRECTORY_GROUP"));
    assert_eq!(company.last_of(given.id).await["directoryId"], json!(staff.directory.id));
}

#[tokio::test]
async fn a_role_that_is_held_by_hand_is_not_given_twice_and_stays() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    let by_hand = company.by_hand(grace, grant, None).await;
    let group = company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    assert_eq!(company.only(grace).await.id, by_hand);
    company.move_members(&staff, group, &[], &[grace]).await.unwrap();
    let kept = company.only(grace).await;
    assert_eq!((kept.id, kept.directory_group_id), (by_hand, None));
    // In another place, it is another assignment.
    let north = company.organization("North").await;
    company.map(&staff, group, &[placed(grant.role_id, north)]).await.unwrap();
    company.move_members(&staff, group, &[grace], &[]).await.unwrap();
    assert_eq!(company.held(grace).await.len(), 2);
    // One that has expired is replaced.
    let alan = company.member(&staff, "alan").await;
    company.by_hand(alan, placed(grant.role_id, north), Some(company.iam.now() + TimeDelta::seconds(1))).await;
    company.tick();
    company.move_members(&staff, group, &[alan], &[]).await.unwrap();
    let given = company.only(alan).await;
    assert_eq!((given.directory_group_id, given.expires_at), (Some(group), None));
}

#[tokio::test]
async fn what_is_revoked_by_hand_goes_on_if_a_group_gives_it_too() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    let by_hand = company.by_hand(grace, grant, None).await;
    let group = company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    let assignments = company.iam.assignments();
    assignments.delete(&company.ada, by_hand).await.unwrap();
    let kept = company.only(grace).await;
    assert_eq!((kept.id, kept.directory_group_id, kept.expires_at), (by_hand, Some(group), None));
    assert_eq!(company.history(by_hand).await, ["ROLE_ASSIGNED", "UPDATE directoryGroupId"]);
    // It ends with the membership.
    company.move_members(&staff, group, &[], &[grace]).await.unwrap();
    assert_eq!(company.held(grace).await, []);
    assert_eq!(company.last_of(by_hand).await["reason"], json!("DIRECTORY_GROUP"));

    // An end that was set by hand stays.
    let alan = company.member(&staff, "alan").await;
    let end = company.iam.now() + TimeDelta::days(1);
    let by_hand = company.by_hand(alan, grant, Some(end)).await;
    company.move_members(&staff, group, &[alan], &[]).await.unwrap();
    assignments.delete(&company.ada, by_hand).await.unwrap();
    let kept = company.only(alan).await;
    assert_eq!((kept.id, kept.directory_group_id, kept.expires_at), (by_hand, Some(group), Some(end)));

    // What the account does not cover any more is revoked, as without the group.
    let eve = company.member(&staff, "eve").await;
    let by_hand = company.by_hand(eve, grant, None).await;
    company.move_members(&staff, group, &[eve], &[]).await.unwrap();
    company.strip(staff.account).await;
    assignments.delete(&company.ada, by_hand).await.unwrap();
    assert_eq!(company.held(eve).await, []);
    assert_eq!(company.stored_group(&staff, group).await.members, 2);
    assert_eq!(company.last_of(by_hand).await.get("reason"), None);
}

#[tokio::test]
async fn what_a_group_gives_is_not_changed_by_hand() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    let (given, assignments) = (company.only(grace).await, company.iam.assignments());
    let patch = AssignmentPatch { expires_at: Some(Some(company.iam.now() + TimeDelta::days(1))) };
    let same = AssignmentPatch { expires_at: Some(None) };
    let is_of_group = |result: Result<(), Error>| matches!(result, Err(Error::Conflict(Conflict::AssignmentOfGroup)));
    assert!(is_of_group(assignments.update(&company.ada, given.id, patch).await.map(drop)));
    assert!(is_of_group(assignments.delete(&company.ada, given.id).await));
    assert_eq!(assignments.update(&company.ada, given.id, same).await.unwrap(), given);
    // The permission comes first.
    let other = company.log_in(&company.user("other@example.com", &["users:read"]).await).await;
    for result in
        [assignments.update(&other, given.id, patch).await.map(drop), assignments.delete(&other, given.id).await]
    {
        assert!(matches!(result, Err(Error::Forbidden(Forbidden::Permission(_)))), "{result:?}");
    }
    assert_eq!(company.only(grace).await, given);
}

#[tokio::test]
async fn the_right_stays_while_one_group_gives_it() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    let first = company.mapped(&staff, "First", &[grace], &[grant]).await;
    let given = company.only(grace).await;
    let mut groups = vec![first];
    for name in ["Second", "Third", "Fourth"] {
        groups.push(company.mapped(&staff, name, &[grace], &[grant]).await);
    }
    assert_eq!(company.only(grace).await, given);
    // The directory removes the member, people change the mapping, and the directory deletes the group.
    company.move_members(&staff, groups[0], &[], &[grace]).await.unwrap();
    let kept = company.only(grace).await;
    assert_eq!((kept.id, kept.directory_group_id), (given.id, Some(groups[1])));
    company.map(&staff, groups[1], &[]).await.unwrap();
    let kept = company.only(grace).await;
    assert_eq!((kept.id, kept.directory_group_id), (given.id, Some(groups[2])));
    company.iam.provisioning().delete_group(&staff.entra, groups[2], None).await.unwrap();
    let kept = company.only(grace).await;
    assert_eq!((kept.id, kept.directory_group_id), (given.id, Some(groups[3])));
    // A group that gives nothing else loses nothing.
    company.move_members(&staff, groups[0], &[grace], &[]).await.unwrap();
    company.move_members(&staff, groups[0], &[], &[grace]).await.unwrap();
    assert_eq!(company.only(grace).await, kept);
    company.move_members(&staff, groups[3], &[], &[grace]).await.unwrap();
    assert_eq!(company.held(grace).await, []);
    let handed_over = ["UPDATE directoryGroupId"; 3];
    let history = [&["ROLE_ASSIGNED"][..], &handed_over, &["ROLE_REVOKED"]].concat();
    assert_eq!(company.history(given.id).await, history);
}

#[tokio::test]
async fn what_a_group_gives_counts_for_the_quotas() {
    let company = Company::with(|settings| settings.quota.user_assignments = 1).await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, north) = (company.member(&staff, "grace").await, company.organization("North").await);
    let role = company.role(&["roles:read"]).await;
    let group = company.group(&staff, "Sales", &[grace]).await;
    let result = company.map(&staff, group, &[tenant_wide(role), placed(role, north)]).await;
    assert!(matches!(result, Err(Error::Conflict(Conflict::QuotaExceeded(_, 1)))), "{result:?}");
    company.map(&staff, group, &[tenant_wide(role)]).await.unwrap();

    let company = Company::with(|settings| settings.quota.assignments = 3).await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let role = company.role(&["roles:read"]).await;
    // Ada and the account hold one each.
    let group = company.mapped(&staff, "Sales", &[grace], &[tenant_wide(role)]).await;
    let result = refused(company.move_members(&staff, group, &[alan], &[]).await);
    assert!(matches!(result, Error::Conflict(Conflict::QuotaExceeded(_, 3))), "{result:?}");
    assert_eq!(company.stored_group(&staff, group).await.members, 1);
}
