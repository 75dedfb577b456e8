//! People map groups to roles.

use chrono::TimeDelta;
use iam_core::directory::DirectoryGroup;
use iam_core::eligibility::NewEligibility;
use iam_core::organization::{OrganizationPatch, OrganizationStatus};
use iam_core::page::{Page, PageRequest};
use iam_core::preview::Direction;
use iam_core::role::{NewRole, PlacedRole, RolePatch, RoleScope};
use iam_core::session::FRESH;
use iam_core::tenant::Registration;
use iam_core::user::User;
use iam_core::version::Precondition;
use iam_core::{Caller, Conflict, Error, Forbidden, RequestContext, Result, Rule, Unauthenticated};
use serde_json::json;

use crate::company::{Company, person, refused};
use crate::group::{ACCOUNT, about, is_missing, is_uncovered, placed, tenant_wide};

fn names_field(field: &str, result: &Result<DirectoryGroup>) -> bool {
    matches!(result, Err(Error::Validation(errors)) if errors.iter().any(|error| error.field == field))
}

#[tokio::test]
async fn a_group_gives_nothing_until_it_is_mapped() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    // Its name grants nothing either.
    let group = company.group(&staff, "TENANT_ADMIN", &[grace]).await;
    assert_eq!(company.held(grace).await, []);
    let grant = tenant_wide(company.role(&["roles:read"]).await);
    let mapped = company.map(&staff, group, &[grant]).await.unwrap();
    assert_eq!((mapped.grants.as_slice(), mapped.members), (&[grant][..], 1));
    assert_eq!(company.stored_group(&staff, group).await, mapped);
    let given = company.only(grace).await;
    assert_eq!((given.role_id, given.organization_id, given.expires_at), (grant.role_id, None, None));
    assert_eq!((given.directory_group_id, given.created_by), (Some(group), company.ada.user()));
    assert_eq!(company.held(alan).await, []);

    company.move_members(&staff, group, &[alan], &[]).await.unwrap();
    let later = company.only(alan).await;
    assert_eq!((later.directory_group_id, later.created_by), (Some(group), Some(staff.account)));
    let unmapped = company.map(&staff, group, &[]).await.unwrap();
    assert_eq!((unmapped.grants.len(), unmapped.members), (0, 2));
    assert_eq!((company.held(grace).await, company.held(alan).await), (vec![], vec![]));

    assert_eq!(company.history(group).await, ["CREATE", "UPDATE grants", "UPDATE members", "UPDATE grants"]);
    let entries = company.entries(group).await;
    assert!(entries.iter().all(|entry| entry.resource_type.as_str() == "DIRECTORY_GROUP"));
    assert_eq!((&entries[2].metadata["membersAdded"], &entries[2].metadata["membersRemoved"]), (&json!(1), &json!(0)));
    assert_eq!(entries[2].metadata["directoryId"], json!(staff.directory.id));
    assert_eq!(company.history(given.id).await, ["ROLE_ASSIGNED", "ROLE_REVOKED"]);
    for entry in company.entries(given.id).await {
        assert_eq!(entry.metadata["directoryGroupId"], json!(group));
    }
    assert_eq!(company.last_of(given.id).await["reason"], json!("DIRECTORY_GROUP"));
}

#[tokio::test]
async fn members_get_the_roles_of_a_mapping_where_it_says() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, north) = (company.member(&staff, "grace").await, company.organization("North").await);
    let (role, other) = (company.role(&["roles:read"]).await, company.role(&["users:read"]).await);
    let grants = [placed(role, north), tenant_wide(role), tenant_wide(other)];
    let group = company.mapped(&staff, "Sales", &[grace], &grants).await;
    let held = async || {
        let held = company.held(grace).await;
        let mut held: Vec<PlacedRole> = held
            .into_iter()
            .map(|held| PlacedRole { role_id: held.role_id, organization_id: held.organization_id })
            .collect();
        held.sort_unstable();
        held
    };
    let sorted = |mut grants: Vec<PlacedRole>| {
        grants.sort_unstable();
        grants
    };
    assert_eq!(held().await, sorted(grants.to_vec()));
    // Those that stay go on as they are.
    let before = company.held(grace).await;
    let stays = [tenant_wide(other), placed(other, north), placed(role, north)];
    company.tick();
    company.map(&staff, group, &stays).await.unwrap();
    assert_eq!(held().await, sorted(stays.to_vec()));
    let kept = company.held(grace).await.into_iter().filter(|held| before.contains(held)).count();
    assert_eq!(kept, 2);
}

#[tokio::test]
async fn a_mapping_needs_permissions_and_everything_that_the_roles_give() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*", "role-assignments:*", "roles:*"]).await;
    let group = company.group(&staff, "Sales", &[]).await;
    let north = company.organization("North").await;
    let (reader, all) = (company.role(&["roles:read"]).await, company.role(&["roles:*"]).await);
    let set = async |caller: &Caller, grants: &[PlacedRole]| {
        company.iam.directories().set_grants(caller, staff.directory.id, group, grants.to_vec()).await
    };
    let caller = async |name: &str, held: &[&str]| {
        let user: User = company.user(&format!("{name}@example.com"), held).await;
        (user.id, company.log_in(&user).await)
    };
    let (_, plain) = caller("plain", &["role-assignments:create", "roles:read"]).await;
    let error = set(&plain, &[tenant_wide(reader)]).await.unwrap_err();
    assert!(is_missing("directories:update", &error), "{error:?}");
    let (_, mapper) = caller("mapper", &["directories:update", "roles:read"]).await;
    let error = about("grants[0]", set(&mapper, &[tenant_wide(reader)]).await);
    assert!(is_missing("role-assignments:create", &error), "{error:?}");

    let (_, giver) = caller("giver", &["directories:update", "role-assignments:create", "roles:read"]).await;
    let error = about("grants[1]", set(&giver, &[tenant_wide(reader), tenant_wide(all)]).await);
    assert!(matches!(error, Error::Forbidden(Forbidden::Escalation(_))), "{error:?}");
    set(&giver, &[tenant_wide(reader), placed(reader, north)]).await.unwrap();
    // What is there already, and what goes, needs no more than the permission to change directories.
    set(&mapper, &[placed(reader, north)]).await.unwrap();

    // A permission that is held in an organization is for that one.
    let (id, local) = caller("local", &["directories:update"]).await;
    let local_role = company.role(&["role-assignments:create", "roles:read"]).await;
    company.by_hand(id, placed(local_role, north), None).await;
    set(&mapper, &[]).await.unwrap();
    set(&local, &[placed(reader, north)]).await.unwrap();
    let error = about("grants[0]", set(&local, &[tenant_wide(reader)]).await);
    assert!(is_missing("role-assignments:create", &error), "{error:?}");
    let south = company.organization("South").await;
    let error = about("grants[0]", set(&local, &[placed(reader, south)]).await);
    assert!(is_missing("role-assignments:create", &error), "{error:?}");

    // The caller holds the role for a day, and a mapping has no end.
    let (id, brief) = caller("brief", &["directories:update", "role-assignments:create"]).await;
    company.by_hand(id, tenant_wide(reader), Some(company.iam.now() + TimeDelta::days(1))).await;
    let error = about("grants[0]", set(&brief, &[tenant_wide(reader)]).await);
    assert!(matches!(error, Error::Forbidden(Forbidden::Escalation(_))), "{error:?}");
}

#[tokio::test]
async fn a_mapping_is_covered_by_the_account_of_the_directory() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let grace = company.member(&staff, "grace").await;
    let (reader, more) = (company.role(&["roles:read"]).await, company.role(&["roles:read", "roles:update"]).await);
    let group = company.group(&staff, "Sales", &[grace]).await;
    let before = company.stored_group(&staff, group).await;
    let error = about("grants[1]", company.map(&staff, group, &[tenant_wide(reader), tenant_wide(more)]).await);
    assert!(is_uncovered(&error), "{error:?}");
    assert_eq!(company.stored_group(&staff, group).await, before);
    assert_eq!(company.held(grace).await, []);
    // An account that is not ACTIVE covers nothing.
    company.iam.users().suspend(&company.ada, staff.account).await.unwrap();
    let error = about("grants[0]", company.map(&staff, group, &[tenant_wide(reader)]).await);
    assert!(is_uncovered(&error), "{error:?}");
    assert_eq!(company.history(group).await, ["CREATE"]);
}

#[tokio::test]
async fn what_holders_may_ask_for_is_covered_by_who_maps_and_by_the_account() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let group = company.group(&staff, "Sales", &[grace]).await;
    let (held, asked_for) = (company.role(&["roles:read"]).await, company.role(&["audit-logs:read"]).await);
    let of_holders = NewEligibility {
        user: None,
        held_role: Some(held),
        max_seconds: Some(3_600),
        approvals: Some(0),
        ..NewEligibility::of_user(asked_for, grace)
    };
    company.iam.eligibilities().create(&company.ada, of_holders).await.unwrap();
    let error = about("grants[0]", company.map(&staff, group, &[tenant_wide(held)]).await);
    assert!(is_uncovered(&error), "{error:?}");
    let end = company.iam.now() + TimeDelta::days(1);
    let cover = company.by_hand(staff.account, tenant_wide(asked_for), Some(end)).await;
    let mapper = ["directories:update", "role-assignments:create", "roles:read"];
    let mapper = company.log_in(&company.user("mapper@example.com", &mapper).await).await;
    let mapped =
        company.iam.directories().set_grants(&mapper, staff.directory.id, group, vec![tenant_wide(held)]).await;
    assert!(matches!(mapped, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{mapped:?}");
    company.map(&staff, group, &[tenant_wide(held)]).await.unwrap();
    // What begins in the last moment lasts for an hour.
    assert_eq!(company.only(grace).await.expires_at, Some(end - TimeDelta::hours(1)));
    company.iam.assignments().delete(&company.ada, cover).await.unwrap();
    let error = refused(company.move_members(&staff, group, &[alan], &[]).await);
    assert!(is_uncovered(&error), "{error:?}");
}

#[tokio::test]
async fn the_roles_of_a_mapping_exist_and_can_be_held_there() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let group = company.group(&staff, "Sales", &[]).await;
    let (role, gone) = (company.role(&["roles:read"]).await, company.organization("Gone").await);
    let map = async |grants: &[PlacedRole]| company.map(&staff, group, grants).await;
    let mut many = Vec::new();
    for number in 0..21 {
        many.push(placed(role, company.organization(&format!("Number {number}")).await));
    }
    let refused = map(&many).await;
    assert!(names_field("grants", &refused), "{refused:?}");
    assert_eq!(map(&many[..20]).await.unwrap().grants.len(), 20);
    let refused = map(&[tenant_wide(role), tenant_wide(role)]).await;
    assert!(names_field("grants[1].roleId", &refused), "{refused:?}");

    let stranger = Company::new().await;
    let (foreign, elsewhere) = (stranger.role(&["roles:read"]).await, stranger.organization("Elsewhere").await);
    let error = about("grants[0].roleId", map(&[tenant_wide(foreign)]).await);
    assert!(matches!(error, Error::NotFound(_)), "{error:?}");
    let error = about("grants[1].organizationId", map(&[tenant_wide(role), placed(role, elsewhere)]).await);
    assert!(matches!(error, Error::NotFound(_)), "{error:?}");
    company.iam.organizations().delete(&company.ada, gone).await.unwrap();
    let error = about("grants[0]", map(&[placed(role, gone)]).await);
    assert!(matches!(error, Error::Conflict(Conflict::OrganizationInactive)), "{error:?}");
    let local = NewRole {
        name: "LOCAL".to_owned(),
        scope: RoleScope::Organization,
        permissions: vec!["roles:read".to_owned()],
        ..NewRole::default()
    };
    let local = company.iam.roles().create(&company.system, local).await.unwrap().id;
    let error = about("grants[0].organizationId", map(&[tenant_wide(local)]).await);
    assert!(matches!(error, Error::Rule(Rule::OrganizationRequired)), "{error:?}");
}

#[tokio::test]
async fn a_group_is_mapped_in_the_version_that_the_caller_has_seen() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let group = company.group(&staff, "Sales", &[]).await;
    let (first, second) = (company.role(&["roles:read"]).await, company.role(&["roles:read"]).await);
    let (first, second) = (tenant_wide(first), tenant_wide(second));
    let directories = company.iam.directories();
    let set = async |grants: &[PlacedRole], seen: &Precondition| {
        directories.set_grants_if(&company.ada, staff.directory.id, group, grants.to_vec(), seen).await
    };
    let before = company.stored_group(&staff, group).await;
    let seen = Precondition::OneOf(vec![before.version]);
    company.tick();
    let after = set(&[first, second], &seen).await.unwrap();
    assert_eq!((after.version, after.updated_at), (before.version.next(), company.iam.now()));
    let refused = set(&[], &seen).await;
    assert!(matches!(refused, Err(Error::PreconditionFailed)), "{refused:?}");
    // The same roles are no change, in whatever order.
    company.tick();
    assert_eq!(set(&[second, first], &Precondition::Exists).await.unwrap(), after);
    assert_eq!(company.history(group).await, ["CREATE", "UPDATE grants"]);
}

#[tokio::test]
async fn people_see_the_groups_of_a_directory_by_name() {
    let company = Company::new().await;
    let (staff, other) = (company.staff(&ACCOUNT).await, company.staff(&ACCOUNT).await);
    for name in ["Sales", "board", "Sales EU", "Straße"] {
        company.group(&staff, name, &[]).await;
    }
    let hidden = company.group(&other, "Hidden", &[]).await;
    let directories = company.iam.directories();
    let list = async |search: Option<&str>, page| {
        let Page { items, total, .. } =
            directories.groups(&company.ada, staff.directory.id, search, page).await.unwrap();
        (items.into_iter().map(|group| group.display_name.to_string()).collect::<Vec<_>>(), total)
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = names(&["board", "Sales", "Sales EU", "Straße"]);
    assert_eq!(list(None, PageRequest::default()).await, (all.clone(), 4));
    assert_eq!(list(Some(" "), PageRequest::default()).await, (all, 4));
    assert_eq!(list(None, PageRequest::new(2, 3).unwrap()).await, (names(&["Straße"]), 4));
    assert_eq!(list(Some("SALES"), PageRequest::default()).await, (names(&["Sales", "Sales EU"]), 2));
    assert_eq!(list(Some("strasse"), PageRequest::default()).await, (names(&["Straße"]), 1));

    let refused = directories.group(&company.ada, staff.directory.id, hidden).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    let refused = company.map(&staff, hidden, &[]).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    let blind = company.log_in(&company.user("blind@example.com", &["directories:update"]).await).await;
    let page = PageRequest::default();
    let results = [
        directories.groups(&blind, staff.directory.id, None, page).await.map(drop),
        directories.group(&blind, other.directory.id, hidden).await.map(drop),
    ];
    for result in results {
        let error = result.unwrap_err();
        assert!(is_missing("directories:read", &error), "{error:?}");
    }
    let stranger = Registration { user: person("eve@other.example"), tenant_name: None };
    let eve = company.iam.tenants().register(&RequestContext::default(), stranger).await.unwrap().login;
    let eve = company.iam.authenticate(eve.tokens.access.expose(), RequestContext::default()).await.unwrap();
    let results = [
        directories.groups(&eve, other.directory.id, None, page).await.map(drop),
        directories.group(&eve, other.directory.id, hidden).await.map(drop),
        directories.set_grants(&eve, other.directory.id, hidden, vec![]).await.map(drop),
    ];
    for result in results {
        assert!(matches!(result, Err(Error::NotFound(_))), "{result:?}");
    }
}

#[tokio::test]
async fn a_preview_of_a_mapping_shows_what_members_gain_and_lose() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*", "role-assignments:*", "roles:read", "organizations:read"]).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let (reader, other) = (company.role(&["roles:read"]).await, company.role(&["organizations:read"]).await);
    let uncovered = company.role(&["roles:update"]).await;
    company.by_hand(alan, tenant_wide(reader), None).await;
    let group = company.mapped(&staff, "Sales", &[grace, alan], &[tenant_wide(reader)]).await;
    let before = (company.stored_group(&staff, group).await, company.held(grace).await, company.held(alan).await);
    let trial = company.iam.trial();
    let preview = async |role| {
        let grants = vec![tenant_wide(role)];
        let outcome = trial.directories().set_grants(&company.ada, staff.directory.id, group, grants).await;
        trial.preview(&company.ada, outcome).await.unwrap()
    };
    let shown = preview(other).await;
    assert!(shown.refusal.is_none() && !shown.truncated, "{shown:?}");
    assert_eq!(shown.users, 2);
    let mut changes: Vec<(_, String, bool)> = shown
        .changes
        .iter()
        .map(|change| (change.user, change.permission.to_string(), change.direction == Direction::Gained))
        .collect();
    changes.sort();
    let mut expected = vec![
        (grace, "organizations:read".to_owned(), true),
        (grace, "roles:read".to_owned(), false),
        // Alan holds the other role by hand.
        (alan, "organizations:read".to_owned(), true),
    ];
    expected.sort();
    assert_eq!(changes, expected);
    let refused = preview(uncovered).await;
    let error = about("grants[0]", Err::<(), _>(refused.refusal.unwrap()));
    assert!(is_uncovered(&error), "{error:?}");
    // Nothing was written.
    let after = (company.stored_group(&staff, group).await, company.held(grace).await, company.held(alan).await);
    assert_eq!(after, before);
}

/// The mapping asks for it, so that the key of the directory can give the role to members who come later.
#[tokio::test]
async fn a_role_that_changes_what_protects_the_tenant_is_mapped_after_a_recent_authentication() {
    let company = Company::new().await;
    let staff = company.staff(&["*"]).await;
    let grace = company.member(&staff, "grace").await;
    let group = company.group(&staff, "Chiefs", &[]).await;
    let everything = tenant_wide(company.role(&["*"]).await);
    let robot = company.key(company.account(&["*"]).await).await;
    let directories = company.iam.directories();
    let refused = directories.set_grants(&robot, staff.directory.id, group, vec![everything]).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    company.map(&staff, group, &[everything]).await.unwrap();
    company.clock.advance(FRESH + TimeDelta::milliseconds(1));
    company.move_members(&staff, group, &[grace], &[]).await.unwrap();
    assert_eq!(company.given(grace).await, [Some(group)]);
    company.map(&staff, group, &[]).await.unwrap();
    let refused = company.map(&staff, group, &[everything]).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
}

#[tokio::test]
async fn a_mapping_counts_as_a_holder_of_its_role() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (role, north) = (company.role(&["roles:read"]).await, company.organization("North").await);
    // Without a member.
    let group = company.mapped(&staff, "Sales", &[], &[tenant_wide(role)]).await;
    let roles = company.iam.roles();
    let refused = roles.delete(&company.ada, role).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleInUse))), "{refused:?}");
    let scope = |scope| RolePatch { scope: Some(scope), ..RolePatch::default() };
    let refused = roles.update(&company.ada, role, scope(RoleScope::Organization)).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleScopeInUse))), "{refused:?}");
    roles.update(&company.ada, role, scope(RoleScope::Tenant)).await.unwrap();
    roles.update(&company.ada, role, scope(RoleScope::Any)).await.unwrap();

    // A caller that holds a permission for a day adds it to no role that is given for longer.
    let eve = company.user("eve@example.com", &["roles:update"]).await;
    let brief = tenant_wide(company.role(&["organizations:read"]).await);
    company.by_hand(eve.id, brief, Some(company.iam.now() + TimeDelta::days(1))).await;
    let eve = company.log_in(&eve).await;
    let more = || RolePatch {
        permissions: Some(vec!["roles:read".to_owned(), "organizations:read".to_owned()]),
        ..RolePatch::default()
    };
    let refused = roles.update(&eve, role, more()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    company.map(&staff, group, &[placed(role, north)]).await.unwrap();
    let refused = roles.update(&company.ada, role, scope(RoleScope::Tenant)).await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::RoleScopeInUse))), "{refused:?}");
    let refused = roles.update(&eve, role, more()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
    company.map(&staff, group, &[]).await.unwrap();
    roles.update(&eve, role, more()).await.unwrap();
    roles.delete(&company.ada, role).await.unwrap();
}

#[tokio::test]
async fn a_mapping_ends_with_its_organization() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let grace = company.member(&staff, "grace").await;
    let role = company.role(&["roles:read"]).await;
    for by_status in [false, true] {
        let north = company.organization(&format!("North {by_status}")).await;
        let grants = [placed(role, north), tenant_wide(role)];
        let group = company.mapped(&staff, &format!("Sales {by_status}"), &[grace], &grants).await;
        let held = company.held(grace).await;
        let local = held.iter().find(|held| held.organization_id == Some(north)).unwrap().id;
        if by_status {
            let status = Some(OrganizationStatus::Inactive);
            let patch = OrganizationPatch { status, ..OrganizationPatch::default() };
            company.iam.organizations().update(&company.ada, north, patch).await.unwrap();
        } else {
            company.iam.organizations().delete(&company.ada, north).await.unwrap();
        }
        assert_eq!(company.stored_group(&staff, group).await.grants, [tenant_wide(role)]);
        assert_eq!(company.last_of(local).await["reason"], json!("ORGANIZATION_DELETED"));
        assert_eq!(company.held(grace).await.len(), 1);
        assert_eq!(company.history(group).await, ["CREATE", "UPDATE grants", "UPDATE grants"]);
    }
}

#[tokio::test]
async fn a_group_without_members_counts_when_an_organization_moves_or_comes_back() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (north, site) = (company.organization("North").await, company.organization("Site").await);
    let role = company.role(&["roles:read"]).await;
    company.mapped(&staff, "Sales", &[], &[placed(role, north)]).await;
    let mover = company.user("mover@example.com", &["organizations:*"]).await;
    let (mover, organizations) = (company.log_in(&mover).await, company.iam.organizations());
    let below = |parent| OrganizationPatch { parent: Some(Some(parent)), ..OrganizationPatch::default() };
    let status = |status| OrganizationPatch { status: Some(status), ..OrganizationPatch::default() };
    let is_escalation = |error: &Error| matches!(error, Error::Forbidden(Forbidden::Escalation(_)));
    let error = organizations.update(&mover, site, below(north)).await.unwrap_err();
    assert!(is_escalation(&error), "{error:?}");
    organizations.update(&company.ada, north, status(OrganizationStatus::Suspended)).await.unwrap();
    let error = organizations.update(&mover, north, status(OrganizationStatus::Active)).await.unwrap_err();
    assert!(is_escalation(&error), "{error:?}");
    organizations.update(&company.ada, north, status(OrganizationStatus::Active)).await.unwrap();
}
