//! What a directory gives is what its account holds then.

use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::assignment::AssignmentPatch;
use iam_core::role::PlacedRole;
use iam_core::{AssignmentId, Caller, Error, Forbidden, RequestContext};
use serde_json::json;

use crate::company::{Company, Staff, refused};
use crate::group::{ACCOUNT, group_named, is_missing, is_uncovered, placed, tenant_wide};

impl Company {
    /// The caller by a key of the account of a directory that has some of its permissions.
    async fn narrow_key(&self, staff: &Staff, permissions: &[&str]) -> Caller {
        let permissions = Some(permissions.iter().map(|text| (*text).to_owned()).collect());
        let new = NewApiKey { name: "narrow".to_owned(), permissions, ..NewApiKey::default() };
        let issued = self.iam.api_keys().create(&self.system, staff.account, new).await.unwrap();
        self.iam.authenticate(issued.token.expose(), RequestContext::default()).await.unwrap()
    }
}

/// A directory whose account holds what its groups give by an assignment of its own.
struct Covered {
    company: Company,
    staff: Staff,
    /// The role that the account holds, and that groups give.
    grant: PlacedRole,
    cover: AssignmentId,
}

impl Covered {
    async fn until(end: Option<TimeDelta>) -> Self {
        let company = Company::new().await;
        let staff = company.staff(&["users:*", "role-assignments:*"]).await;
        let grant = tenant_wide(company.role(&["roles:read"]).await);
        let end = end.map(|end| company.iam.now() + end);
        let cover = company.by_hand(staff.account, grant, end).await;
        Self { company, staff, grant, cover }
    }
}

#[tokio::test]
async fn a_request_that_gives_what_the_account_does_not_cover_is_refused_as_a_whole() {
    let Covered { company, staff, grant, cover } = Covered::until(None).await;
    let provisioning = company.iam.provisioning();
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let group = company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    let given = company.only(grace).await;
    company.iam.assignments().delete(&company.ada, cover).await.unwrap();
    // What is held stays until then.
    assert_eq!(company.only(grace).await, given);
    let before = company.stored_group(&staff, group).await;
    let message = json!({ "Operations": [
        { "op": "replace", "path": "displayName", "value": "Sales EU" },
        { "op": "add", "path": "members", "value": [{ "value": alan }] },
        { "op": "remove", "path": "members", "value": [{ "value": grace }] },
    ] });
    let results = [
        provisioning.patch_group(&staff.entra, group, &message, None).await,
        provisioning.replace_group(&staff.entra, group, &group_named("Sales EU", &[alan]), None).await,
    ];
    for result in results {
        let error = refused(result);
        assert!(is_uncovered(&error), "{error:?}");
    }
    assert_eq!(company.stored_group(&staff, group).await, before);
    assert_eq!((company.only(grace).await, company.held(alan).await), (given, vec![]));
    // Also if the new member holds the role by hand.
    company.by_hand(alan, grant, None).await;
    let error = refused(company.move_members(&staff, group, &[alan], &[]).await);
    assert!(is_uncovered(&error), "{error:?}");
    // Everything that gives nothing goes on.
    provisioning.replace_group(&staff.entra, group, &group_named("Sales EU", &[grace]), None).await.unwrap();
    company.move_members(&staff, group, &[], &[grace]).await.unwrap();
    assert_eq!(company.held(grace).await, []);
    company.group(&staff, "Unmapped", &[grace, alan]).await;
}

#[tokio::test]
async fn what_a_group_gives_ends_with_the_right_of_the_account() {
    let Covered { company, staff, grant, cover } = Covered::until(Some(TimeDelta::days(2))).await;
    let end = company.iam.now() + TimeDelta::days(2);
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let group = company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    assert_eq!(company.only(grace).await.expires_at, Some(end));
    // The account gets a longer right. What was given before stays as it is.
    let later = end + TimeDelta::days(1);
    let patch = AssignmentPatch { expires_at: Some(Some(later)) };
    company.iam.assignments().update(&company.ada, cover, patch).await.unwrap();
    company.move_members(&staff, group, &[alan], &[]).await.unwrap();
    assert_eq!(company.only(alan).await.expires_at, Some(later));
    assert_eq!(company.only(grace).await.expires_at, Some(end));
    // And without an end, by another role.
    let eve = company.member(&staff, "eve").await;
    company.give(staff.account, &["roles:*"]).await;
    company.move_members(&staff, group, &[eve], &[]).await.unwrap();
    assert_eq!(company.only(eve).await.expires_at, None);
}

#[tokio::test]
async fn what_is_handed_over_ends_with_the_right_of_the_account_too() {
    let Covered { company, staff, grant, cover } = Covered::until(None).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let first = company.mapped(&staff, "First", &[grace, alan], &[grant]).await;
    let second = company.mapped(&staff, "Second", &[grace, alan], &[grant]).await;
    let end = company.iam.now() + TimeDelta::days(1);
    let patch = AssignmentPatch { expires_at: Some(Some(end)) };
    company.iam.assignments().update(&company.ada, cover, patch).await.unwrap();
    company.move_members(&staff, first, &[], &[grace]).await.unwrap();
    let kept = company.only(grace).await;
    assert_eq!((kept.directory_group_id, kept.expires_at), (Some(second), Some(end)));
    // What the account does not cover any more ends.
    company.iam.assignments().delete(&company.ada, cover).await.unwrap();
    company.move_members(&staff, first, &[], &[alan]).await.unwrap();
    assert_eq!(company.held(alan).await, []);
}

#[tokio::test]
async fn a_key_needs_the_permissions_to_give_and_to_revoke_and_what_the_roles_give() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let provisioning = company.iam.provisioning();
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let grant = tenant_wide(company.role(&["roles:read"]).await);
    let group = company.mapped(&staff, "Sales", &[alan], &[grant]).await;
    let put = async |key: &Caller, members: &[_]| {
        provisioning.replace_group(key, group, &group_named("Sales", members), None).await
    };
    let plain = company.narrow_key(&staff, &["users:update"]).await;
    let giver = company.narrow_key(&staff, &["users:update", "role-assignments:create", "roles:read"]).await;
    let narrow = company.narrow_key(&staff, &["users:update", "role-assignments:create"]).await;
    let revoker = company.narrow_key(&staff, &["users:update", "role-assignments:delete"]).await;
    for (key, members, needed) in [
        (&plain, &[alan, grace][..], "role-assignments:create"),
        (&plain, &[], "role-assignments:delete"),
        (&giver, &[grace], "role-assignments:delete"),
        (&revoker, &[grace], "role-assignments:create"),
    ] {
        let error = refused(put(key, members).await);
        assert!(is_missing(needed, &error), "{needed} {error:?}");
    }
    let error = refused(provisioning.delete_group(&giver, group, None).await);
    assert!(is_missing("role-assignments:delete", &error), "{error:?}");
    let error = refused(put(&narrow, &[alan, grace]).await);
    assert!(is_uncovered(&error), "{error:?}");
    assert_eq!(put(&giver, &[alan, grace]).await.unwrap().members, 2);
    assert_eq!(company.only(grace).await.directory_group_id, Some(group));
    assert_eq!(put(&revoker, &[]).await.unwrap().members, 0);
    // Without members, and without a mapping, nothing is given or revoked.
    provisioning.delete_group(&plain, group, None).await.unwrap();
    let unmapped = provisioning.create_group(&plain, &group_named("Unmapped", &[grace])).await.unwrap().id;
    provisioning.replace_group(&plain, unmapped, &group_named("Unmapped", &[alan]), None).await.unwrap();
    provisioning.delete_group(&plain, unmapped, None).await.unwrap();
}

#[tokio::test]
async fn an_account_may_hold_what_it_needs_in_the_places_of_the_roles_only() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*"]).await;
    let grace = company.member(&staff, "grace").await;
    let (north, south) = (company.organization("North").await, company.organization("South").await);
    let local = company.role(&["role-assignments:*", "roles:read"]).await;
    company.by_hand(staff.account, placed(local, north), None).await;
    let role = company.role(&["roles:read"]).await;
    let group = company.mapped(&staff, "Sales", &[], &[placed(role, north)]).await;
    let result = company.map(&staff, group, &[placed(role, south)]).await;
    assert!(result.is_err(), "{result:?}");
    company.move_members(&staff, group, &[grace], &[]).await.unwrap();
    assert_eq!(company.only(grace).await.organization_id, Some(north));
    company.move_members(&staff, group, &[], &[grace]).await.unwrap();
    // The account keeps what the role gives, and loses the permission to give it there.
    company.give(staff.account, &["roles:read"]).await;
    for held in company.held(staff.account).await {
        if held.organization_id == Some(north) {
            company.iam.assignments().delete(&company.ada, held.id).await.unwrap();
        }
    }
    let error = refused(company.move_members(&staff, group, &[grace], &[]).await);
    assert!(is_missing("role-assignments:create", &error), "{error:?}");
}

#[tokio::test]
async fn an_earlier_end_of_the_accounts_right_is_one_of_what_its_groups_give() {
    let Covered { company, staff, grant, cover } = Covered::until(None).await;
    let grace = company.member(&staff, "grace").await;
    company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    assert_eq!(company.only(grace).await.expires_at, None);
    let later = company.iam.now() + TimeDelta::hours(2);
    let shortened = |to| AssignmentPatch { expires_at: Some(to) };
    let trial = company.iam.trial();
    let outcome = trial.assignments().update(&company.ada, cover, shortened(Some(later))).await;
    let preview = trial.preview(&company.ada, outcome).await.unwrap();
    assert_eq!((preview.refusal.is_none(), preview.users), (true, 2));
    company.iam.assignments().update(&company.ada, cover, shortened(Some(later))).await.unwrap();
    assert_eq!(company.only(grace).await.expires_at, Some(later));
    // A later end gives nothing. The group gives the role again when the earlier one has come.
    company.iam.assignments().update(&company.ada, cover, shortened(None)).await.unwrap();
    assert_eq!(company.only(grace).await.expires_at, Some(later));
}

#[tokio::test]
async fn no_key_gets_at_a_user_whose_role_of_a_group_protects_the_tenant() {
    let company = Company::new().await;
    let staff = company.staff(&["*"]).await;
    let (grace, group) = (company.member(&staff, "grace").await, company.administration().await);
    company.mapped(&staff, "Chiefs", &[grace], &[group]).await;
    let provisioning = company.iam.provisioning();
    let change = |path: &str, value| json!({ "Operations": [{ "op": "replace", "path": path, "value": value }] });
    provisioning.patch(&staff.entra, grace, &change("active", json!(false)), None).await.unwrap();
    for message in [
        change("emails", json!([{ "value": "thief@other.example" }])),
        change("externalId", json!("thief")),
        change("active", json!(true)),
    ] {
        let error = refused(provisioning.patch(&staff.entra, grace, &message, None).await);
        assert!(matches!(error, Error::Forbidden(Forbidden::ApiKey)), "{message} {error:?}");
    }
}
