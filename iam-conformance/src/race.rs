//! Races between requests, run by real tasks through the services.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::TimeDelta;
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::credential::HashingCost;
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::permission::NewPermission;
use iam_core::role::{NewRole, RolePatch};
use iam_core::session::{LoggedIn, Login};
use iam_core::tenant::{Registered, Registration};
use iam_core::user::{NewUser, UserPatch};
use iam_core::{Caller, Iam, Settings};
use iam_model::assignment::Assignment;
use iam_model::audit::{AuditEntry, AuditFilter};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::error::{Conflict, Error, Forbidden, Result, Rule};
use iam_model::id::OrganizationId;
use iam_model::organization::Organization;
use iam_model::role::{Role, TENANT_ADMIN};
use iam_model::signing_key::KeyPurpose;
use iam_model::store::Store;
use iam_model::tenant::{Quota, QuotaKind, Tenant};
use iam_model::user::{User, UserStatus};
use tokio::task::JoinSet;

use crate::world::{World, everything, named};

pub(super) const PASSWORD: &str = "Passw0rd!";

/// Of many concurrent requests that create a user with one e-mail, one succeeds and the others conflict.
pub async fn one_of_concurrent_requests_gets_the_email(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let registered = register(&iam).await;
    let caller = Caller::system(registered.tenant.id, "conformance");
    let results = race(16, |number| {
        let (iam, caller) = (iam.clone(), caller.clone());
        let email = if number % 2 == 0 { "grace@example.com" } else { "GRACE@example.com" };
        async move { iam.users().create(&caller, new_user(email)).await }
    })
    .await;
    let is_conflict = |result: &Result<User>| matches!(result, Err(Error::Conflict(Conflict::EmailTaken)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(results.iter().filter(|result| is_conflict(result)).count(), 15);
    assert_eq!(count(&iam, &caller, "CREATE", "USER").await, 2);
}

/// Of many concurrent requests that create users with one external identifier, one succeeds and the others conflict.
pub async fn one_of_concurrent_requests_gets_the_external_id(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let registered = register(&iam).await;
    let caller = Caller::system(registered.tenant.id, "conformance");
    let results = race(16, |number| {
        let (iam, caller) = (iam.clone(), caller.clone());
        let new = new_user(&format!("user{number}@example.com"));
        async move { iam.users().create_once(&caller, new, None, Some("00u1"), None).await }
    })
    .await;
    let is_conflict = |result: &Result<User>| matches!(result, Err(Error::Conflict(Conflict::ExternalIdTaken)));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(results.iter().filter(|result| is_conflict(result)).count(), 15, "{results:?}");
    assert_eq!(count(&iam, &caller, "CREATE", "USER").await, 2);
}

/// Of many concurrent requests that create users, exactly as many succeed as the quota allows.
pub async fn concurrent_requests_stay_within_the_quota(store: Arc<dyn Store>) {
    let quota = Quota { users: 6, ..Quota::default() };
    let settings = {
        let mut settings = settings();
        settings.quota = quota;
        settings
    };
    let iam = Iam::builder(store).settings(settings).build().await.unwrap();
    let registered = register(&iam).await;
    let token = registered.login.tokens.access;
    let caller = iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
    let results = race(16, |number| {
        let (iam, caller) = (iam.clone(), caller.clone());
        async move { iam.users().create(&caller, new_user(&format!("user{number}@example.com"))).await }
    })
    .await;
    let is_over =
        |result: &Result<User>| matches!(result, Err(Error::Conflict(Conflict::QuotaExceeded(QuotaKind::Users, 6))));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 5, "{results:?}");
    assert_eq!(results.iter().filter(|result| is_over(result)).count(), 11, "{results:?}");
    let system = Caller::system(registered.tenant.id, "conformance");
    iam.users().create(&system, new_user("more@example.com")).await.unwrap();
}

/// Of many concurrent requests that give roles to one user, exactly as many succeed as the quota of a user allows. An
/// expired assignment does not count before it is renewed.
pub async fn concurrent_assignments_stay_within_the_quota_of_their_user(store: Arc<dyn Store>) {
    let world = World::new(Arc::clone(&store));
    let settings = {
        let mut settings = settings();
        settings.quota.user_assignments = 6;
        settings
    };
    let iam = Iam::builder(store).settings(settings).build().await.unwrap();
    let registered = register(&iam).await;
    let token = registered.login.tokens.access;
    let caller = iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
    let system = Caller::system(registered.tenant.id, "conformance");
    let user = iam.users().create(&system, new_user("grace@example.com")).await.unwrap();
    let member = iam.roles().by_name(&system, "MEMBER").await.unwrap().unwrap();
    let mut organizations = Vec::new();
    for number in 0..18 {
        let new = NewOrganization { name: format!("Team {number}"), slug: None, parent: None };
        organizations.push(iam.organizations().create(&system, new).await.unwrap().organization);
    }
    let (old, organizations) = organizations.split_last().unwrap();
    let over = Assignment {
        expires_at: Some(iam.now() - TimeDelta::hours(1)),
        ..world.new_assignment(&user, &member, Some(old.id))
    };
    let over = world.assign(over, &member).await;
    let new = |organization: &Organization| NewAssignment {
        user: user.id,
        role: member.id,
        organization: Some(organization.id),
        expires_at: None,
    };
    // Every fourth request has two assignments. It is refused as a whole.
    let results = race(13, |number| {
        let (iam, caller) = (iam.clone(), caller.clone());
        let mut wanted = vec![new(&organizations[number])];
        if number % 4 == 0 {
            wanted.push(new(&organizations[13 + number / 4]));
        }
        async move { iam.assignments().create_all(&caller, &wanted).await.map(|made| made.len()) }
    })
    .await;
    let given: usize = results.iter().flatten().sum();
    let is_over = |error: &Error| match error {
        Error::About { error, .. } => {
            matches!(**error, Error::Conflict(Conflict::QuotaExceeded(QuotaKind::UserAssignments, 6)))
        }
        _ => false,
    };
    assert!(results.iter().filter_map(|result| result.as_ref().err()).all(is_over), "{results:?}");
    let held = iam.assignments().of_user(&caller, user.id).await.unwrap().len();
    assert_eq!((given, held), (6, 6), "{results:?}");
    let renewed = AssignmentPatch { expires_at: Some(None) };
    let refused = iam.assignments().update(&caller, over.id, renewed).await;
    let is_over = matches!(refused, Err(Error::Conflict(Conflict::QuotaExceeded(QuotaKind::UserAssignments, 6))));
    assert!(is_over, "{refused:?}");
    // Trusted code may exceed a quota.
    iam.assignments().update(&system, over.id, renewed).await.unwrap();
}

/// Of many concurrent guesses, five are checked. Later the right password is refused, too.
pub async fn five_of_concurrent_guesses_are_checked(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let registered = register(&iam).await;
    let results = race(24, |_| login(&iam, "ada@example.com", "Wr0ng pass!")).await;
    assert_eq!(answers(&results), (5, 19));
    assert!(matches!(login(&iam, "ada@example.com", PASSWORD).await, Err(Error::AccountLocked { .. })));
    let caller = Caller::system(registered.tenant.id, "conformance");
    assert_eq!(count(&iam, &caller, "LOGIN_FAILURE", "USER").await, 25);
}

/// Of many concurrent guesses with an e-mail that no user has, five are checked, as with a known e-mail.
pub async fn five_of_concurrent_guesses_with_an_unknown_email_are_checked(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let results = race(24, |_| login(&iam, "unknown@example.com", "Wr0ng pass!")).await;
    assert_eq!(answers(&results), (5, 19));
}

/// An attacker has an account with the victim's e-mail in another tenant. Its logins to that account count as guesses
/// of the victim's password.
pub async fn logins_of_an_attacker_count_as_guesses_at_the_victim(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let victim = register(&iam).await;
    let guess = "Gu3ssed it!";
    let own =
        Registration { user: NewUser { password: guess.into(), ..new_user("ada@example.com") }, tenant_name: None };
    iam.tenants().register(&RequestContext::default(), own).await.unwrap();
    let results = race(8, |_| login(&iam, "ada@example.com", guess)).await;
    assert!(results.iter().all(Result::is_ok), "the attacker logs in to its own account");
    let named = Login {
        email: "ada@example.com".to_owned(),
        password: PASSWORD.into(),
        tenant: Some(victim.tenant.slug.to_string()),
    };
    let refused = iam.sessions().login(&RequestContext::default(), named).await;
    assert!(matches!(refused, Err(Error::AccountLocked { .. })), "{refused:?}");
    let caller = Caller::system(victim.tenant.id, "conformance");
    let log = iam.audit().list(&caller, AuditFilter::default(), None, 100).await.unwrap();
    let is_counted = |entry: &&AuditEntry| entry.metadata.get("reason").is_some_and(|it| it == "INVALID_PASSWORD");
    assert_eq!(log.entries.iter().filter(is_counted).count(), 1, "only the failure that locks is recorded");
}

/// A right guess after the fifth failure is answered and recorded like the wrong ones, also if the attacker has its
/// own account with the same e-mail.
pub async fn a_right_guess_after_five_failures_looks_like_a_wrong_one(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let mut refused = 0;
    for round in 0..16 {
        let email = format!("ada-{round}@example.com");
        let mut tenants = vec![register_as(&iam, &email).await.tenant.id];
        if round % 2 == 1 {
            let own = NewUser { password: "Mall0ry's 0wn!".into(), ..new_user(&email) };
            let own = Registration { user: own, tenant_name: None };
            tenants.push(iam.tenants().register(&RequestContext::default(), own).await.unwrap().tenant.id);
        }
        for _ in 0..4 {
            assert!(login(&iam, &email, "Wr0ng pass!").await.is_err());
        }
        let results = race(12, |number| login(&iam, &email, if number == 11 { PASSWORD } else { "Wr0ng pass!" })).await;
        if results.iter().any(Result::is_ok) {
            continue;
        }
        refused += 1;
        assert_eq!(answers(&results), (1, 11), "{results:?}");
        let failures =
            async |tenant| count(&iam, &Caller::system(tenant, "conformance"), "LOGIN_FAILURE", "USER").await;
        assert_eq!(failures(tenants[0]).await, 16);
        if let Some(own) = tenants.get(1) {
            // One failure less if the right guess was the fifth that was checked. The attacker may learn this.
            assert!([15, 16].contains(&failures(*own).await));
        }
    }
    assert_ne!(refused, 0, "the right guess was checked in time in every round");
}

/// Of many concurrent requests that exchange one refresh token, all get the same successor, and the session goes on.
pub async fn concurrent_refreshes_get_the_same_successor(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let first = register(&iam).await.login.tokens.refresh;
    let results = race(16, |_| {
        let (iam, token) = (iam.clone(), first.clone());
        async move { iam.sessions().refresh(&RequestContext::default(), &token).await }
    })
    .await;
    let mut successors: Vec<String> =
        results.into_iter().map(|tokens| tokens.unwrap().refresh.expose().to_owned()).collect();
    successors.dedup();
    assert_eq!(successors.len(), 1, "all successors are the same");
    let next = successors.remove(0).into();
    assert!(iam.sessions().refresh(&RequestContext::default(), &next).await.is_ok());
}

/// A login with the old password, concurrent with a password reset, leaves no session.
pub async fn logins_during_a_password_reset_leave_no_session(store: Arc<dyn Store>) {
    for round in 0..8 {
        let fixture = Fixture::of(Arc::clone(&store), &format!("ada-{round}@example.com")).await;
        let email = fixture.founder.email.to_string();
        let results = race(8, |number| {
            let (iam, system, email) = (fixture.iam.clone(), fixture.system.clone(), email.clone());
            async move {
                if number == round {
                    let reset = iam.credentials().reset_password(&system, &email, "An0ther pass!".into()).await;
                    reset.map(drop)
                } else {
                    login(&iam, &email, PASSWORD).await.map(drop)
                }
            }
        })
        .await;
        let is_right = |result: &Result<()>| {
            matches!(result, Ok(()) | Err(Error::Unauthenticated(_) | Error::AccountLocked { .. }))
        };
        assert!(results.iter().all(is_right), "{results:?}");
        assert!(fixture.iam.sessions().list(&fixture.system, fixture.founder.id).await.unwrap().is_empty());
    }
}

/// The ways in which a user stops being a permanent administrator of a tenant.
#[derive(Clone, Copy, Debug)]
enum Removal {
    Delete,
    Suspend,
    Deactivate,
    Revoke,
    Expire,
}

impl Removal {
    const ALL: [Self; 5] = [Self::Delete, Self::Suspend, Self::Deactivate, Self::Revoke, Self::Expire];

    async fn happen(self, iam: &Iam, caller: &Caller, assignment: Assignment) -> Result<()> {
        let user = assignment.user_id;
        match self {
            Self::Delete => iam.users().delete(caller, user).await,
            Self::Suspend => iam.users().suspend(caller, user).await.map(drop),
            Self::Deactivate => {
                let patch = UserPatch { status: Some(UserStatus::Inactive), ..UserPatch::default() };
                iam.users().update(caller, user, patch).await.map(drop)
            }
            Self::Revoke => iam.assignments().delete(caller, assignment.id).await,
            Self::Expire => {
                let patch = AssignmentPatch { expires_at: Some(Some(iam.now() + TimeDelta::hours(1))) };
                iam.assignments().update(caller, assignment.id, patch).await.map(drop)
            }
        }
    }
}

/// If the last two administrators are removed concurrently, one of them stays, for every combination of ways.
pub async fn one_of_the_last_two_administrators_stays(store: Arc<dyn Store>) {
    let ways = Removal::ALL.iter().flat_map(|first| Removal::ALL.map(|second| [*first, second]));
    for (round, ways) in ways.enumerate() {
        let fixture = Fixture::of(Arc::clone(&store), &format!("admin{round}@example.com")).await;
        let (second, _) = fixture.member("second@example.com", fixture.built_in(TENANT_ADMIN), None).await;
        let users = [fixture.founder.id, second.id];
        let grants = fixture.world.store.grants_of(fixture.tenant.id, &users).await.unwrap();
        let of = |user| grants.iter().map(|grant| &grant.assignment).find(|it| it.user_id == user).unwrap().clone();
        let assignments = users.map(of);
        let results = race(2, |number| {
            let (iam, caller) = (fixture.iam.clone(), fixture.system.clone());
            let (way, assignment) = (ways[number], assignments[number].clone());
            async move { way.happen(&iam, &caller, assignment).await }
        })
        .await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{ways:?}: {results:?}");
        let refused = results.into_iter().find_map(Result::err).unwrap();
        assert!(matches!(refused, Error::Conflict(Conflict::LastAdministrator)), "{ways:?}: {refused:?}");
    }
}

/// Of many concurrent requests that assign one role to one user, tenant-wide or in one organization, one succeeds.
pub async fn one_of_concurrent_equal_assignments_succeeds(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let branch = fixture.organization("branch", None).await;
    let user = fixture.user("user@example.com").await;
    for organization in [None, Some(branch.id)] {
        let item = to(&user, fixture.built_in("MEMBER"), organization);
        let results = race(12, |number| {
            let (iam, caller) = (fixture.iam.clone(), fixture.system.clone());
            async move {
                if number % 3 == 0 {
                    iam.assignments().create_all(&caller, &[item]).await.map(drop)
                } else {
                    iam.assignments().create(&caller, item).await.map(drop)
                }
            }
        })
        .await;
        assert_one(results, |error| is_conflict(error, &Conflict::RoleHeld));
    }
    assert_eq!(fixture.world.store.grants_of(fixture.tenant.id, &[user.id]).await.unwrap().len(), 2);
}

/// Of many concurrent requests that create a role, a permission or an organization with one name or slug, one
/// succeeds.
pub async fn one_of_concurrent_requests_gets_the_name(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let start = || (fixture.iam.clone(), fixture.system.clone());
    let results = race(12, |_| {
        let (iam, caller) = start();
        let new = NewRole { name: "BUYER".to_owned(), ..NewRole::default() };
        async move { iam.roles().create(&caller, new).await.map(drop) }
    });
    assert_one(results.await, |error| is_conflict(error, &Conflict::RoleNameTaken));
    let results = race(12, |_| {
        let (iam, caller) = start();
        let new = NewPermission { name: "orders:read".to_owned(), ..NewPermission::default() };
        async move { iam.permissions().create(&caller, new).await.map(drop) }
    });
    assert_one(results.await, |error| is_conflict(error, &Conflict::PermissionNameTaken));
    let results = race(12, |_| {
        let (iam, caller) = start();
        let new = NewOrganization { name: "Branch".to_owned(), slug: Some("branch".to_owned()), parent: None };
        async move { iam.organizations().create(&caller, new).await.map(drop) }
    });
    assert_one(results.await, |error| is_conflict(error, &Conflict::SlugTaken));
    // If the service makes the slug, it chooses another one.
    let results = race(12, |_| {
        let (iam, caller) = start();
        let new = NewOrganization { name: "Branch".to_owned(), ..NewOrganization::default() };
        async move { iam.organizations().create(&caller, new).await.map(drop) }
    });
    assert!(results.await.iter().all(Result::is_ok));
}

/// After concurrent moves, the organizations are still a tree, and not too deep.
pub async fn concurrent_moves_leave_a_tree(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let mut all = Vec::new();
    for name in ["red", "green", "blue"] {
        all.extend(fixture.world.chain(&fixture.tenant, name, 3).await);
    }
    let (count, mut moves) = (all.len(), 0);
    for round in 1..=12 {
        let results = race(count, |number| {
            let (iam, caller) = (fixture.iam.clone(), fixture.system.clone());
            // Each organization moves below another one that moves, too. Every round pairs them differently.
            let (id, parent) = (all[number].id, all[(number + round % (count - 1) + 1) % count].id);
            let parent = Some((number % 4 != round % 4).then_some(parent));
            let patch = OrganizationPatch { parent, ..OrganizationPatch::default() };
            async move { iam.organizations().update(&caller, id, patch).await }
        })
        .await;
        moves += results.iter().filter(|result| result.is_ok()).count();
        for error in results.into_iter().filter_map(Result::err) {
            let is_rule = |error: &Error| matches!(error, Error::Rule(Rule::CircularParent | Rule::Depth(_)));
            assert!(matches!(&error, Error::About { error, .. } if is_rule(error)), "{error:?}");
        }
        let ids: Vec<_> = all.iter().map(|organization| organization.id).collect();
        let stored = fixture.world.store.lineages(fixture.tenant.id, &ids).await.unwrap();
        assert_eq!(stored.len(), count);
        let above: HashMap<_, _> = stored.iter().map(|it| (it.id, it.parent_id)).collect();
        for id in ids {
            let lineage = std::iter::successors(Some(id), |id| above[id]).take(count + 1).count();
            assert!(lineage <= 6, "{id} has {lineage} organizations in its lineage or is in a circle");
        }
    }
    assert!(moves > count, "more moves than organizations succeed");
}

/// The administrator of a branch assigns in an organization that leaves the branch. The assignment comes before the
/// move, or it is refused.
pub async fn an_assignment_comes_before_a_concurrent_move_or_fails(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (branch, elsewhere) =
        (fixture.organization("branch", None).await, fixture.organization("elsewhere", None).await);
    let admin = fixture.built_in("ORGANIZATION_ADMIN");
    let (user, caller) = fixture.member("admin@example.com", admin, Some(branch.id)).await;
    for round in 0..12 {
        let team = fixture.organization(&format!("team-{round}"), Some(branch.id)).await;
        let item = to(&user, fixture.built_in("MEMBER"), Some(team.id));
        let patch = OrganizationPatch { parent: Some(Some(elsewhere.id)), ..OrganizationPatch::default() };
        let (moving, assigning) =
            ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), caller.clone()));
        let leave = async move { moving.0.organizations().update(&moving.1, team.id, patch).await.unwrap() };
        let assign = async move { assigning.0.assignments().create(&assigning.1, item).await };
        let (left, assigned) = both(round, leave, assign).await;
        assert_eq!(left.organization.parent_id, Some(elsewhere.id));
        match assigned {
            Ok(made) => fixture.assert_order("ROLE_ASSIGNED", made.id, "UPDATE", team.id).await,
            Err(error) => assert!(is_unknown(&error), "{error:?}"),
        }
    }
}

/// A caller loses its role while it assigns. The assignment comes before the loss, or it is refused.
pub async fn an_assignment_comes_before_the_loss_of_the_role_or_fails(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..12 {
        let admin = fixture.built_in(TENANT_ADMIN);
        let (user, caller) = fixture.member(&format!("admin{round}@example.com"), admin, None).await;
        let own = fixture.world.store.grants_of(fixture.tenant.id, &[user.id]).await.unwrap().remove(0).assignment.id;
        let item = to(&user, fixture.built_in("AUDITOR"), None);
        let (revoking, assigning) = ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), caller));
        let revoke = async move { revoking.0.assignments().delete(&revoking.1, own).await.unwrap() };
        let assign = async move { assigning.0.assignments().create(&assigning.1, item).await };
        let ((), assigned) = both(round, revoke, assign).await;
        match assigned {
            Ok(made) => fixture.assert_order("ROLE_ASSIGNED", made.id, "ROLE_REVOKED", own).await,
            Err(error) => assert!(matches!(error, Error::Forbidden(Forbidden::Permission(_))), "{error:?}"),
        }
    }
}

/// A user gets a role elsewhere while the administrator of its home changes it. The change comes before the role, or it
/// is refused.
pub async fn what_is_done_to_a_person_comes_before_a_role_elsewhere_or_fails(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (branch, elsewhere) =
        (fixture.organization("branch", None).await, fixture.organization("elsewhere", None).await);
    let keeper = fixture.role("KEEPER", &["users:*", "organizations:read", "sessions:*"]).await;
    let (_, caller) = fixture.member("keeper@example.com", &keeper, Some(branch.id)).await;
    for round in 0..24 {
        let email = format!("user{round}@example.com");
        let new = new_user(&email);
        let user = fixture.iam.users().create_once(&fixture.system, new, Some(branch.id), None, None).await.unwrap();
        login(&fixture.iam, &email, PASSWORD).await.unwrap();
        let session = fixture.iam.sessions().list(&fixture.system, user.id).await.unwrap().remove(0).id;
        let item = to(&user, fixture.built_in("MEMBER"), Some(elsewhere.id));
        let (assigning, changing) =
            ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), caller.clone()));
        let assign = async move { assigning.0.assignments().create(&assigning.1, item).await.unwrap() };
        let change = async move {
            let (iam, caller) = changing;
            let patch = |email, first_name| UserPatch { email, first_name, ..UserPatch::default() };
            match round / 2 % 4 {
                0 => {
                    let moved = patch(Some(format!("moved{round}@example.com")), None);
                    iam.users().update(&caller, user.id, moved).await.map(drop)
                }
                1 => iam.users().update(&caller, user.id, patch(None, Some("Grace".to_owned()))).await.map(drop),
                2 => iam.sessions().terminate(&caller, session).await,
                _ => iam.sessions().logout_user(&caller, user.id).await,
            }
        };
        let (made, changed) = both(round, assign, change).await;
        let done = if round / 2 % 4 < 2 { ("UPDATE", user.id.as_uuid()) } else { ("LOGOUT", session.as_uuid()) };
        match changed {
            Ok(()) => fixture.assert_order(done.0, done.1, "ROLE_ASSIGNED", made.id).await,
            Err(error) => assert!(matches!(error, Error::Forbidden(Forbidden::Permission(_))), "{error:?}"),
        }
    }
}

/// An organization is deleted while it becomes the home of users. No user has a deleted organization as home.
pub async fn a_concurrent_deletion_leaves_no_home(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let above = fixture.organization("above", None).await;
    for round in 0..12 {
        let branch = fixture.organization(&format!("branch-{round}"), Some(above.id)).await;
        let (new, email) = (fixture.user(&format!("user{round}@example.com")).await, format!("new{round}@example.com"));
        let (deleting, moving) =
            ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), fixture.system.clone()));
        let delete = async move { deleting.0.organizations().delete(&deleting.1, branch.id).await };
        let set_home = async move {
            let (iam, caller) = moving;
            if round / 2 % 2 == 0 {
                let patch = UserPatch { home: Some(Some(branch.id)), ..UserPatch::default() };
                iam.users().update(&caller, new.id, patch).await
            } else {
                iam.users().create_once(&caller, new_user(&email), Some(branch.id), None, None).await
            }
        };
        let (deleted, moved) = both(round, delete, set_home).await;
        deleted.unwrap();
        match moved {
            Ok(user) => {
                let user = fixture.world.store.user(fixture.tenant.id, user.id).await.unwrap().unwrap();
                assert_eq!(user.home_organization_id, Some(above.id));
            }
            Err(error) => assert!(is_conflict(&error, &Conflict::OrganizationInactive), "{error:?}"),
        }
    }
}

/// Two replicas revoke two signing keys at the same moment. Each of them relies on the key that the other one
/// revokes. Afterwards there is a key that signs.
pub async fn concurrent_revocations_leave_a_signing_key(store: Arc<dyn Store>) {
    for round in 0..8 {
        let (one, other) = (iam(Arc::clone(&store)).await, iam(Arc::clone(&store)).await);
        other.rotate_keys().await.unwrap();
        let keys = store.signing_keys(KeyPurpose::AccessTokens).await.unwrap();
        let mut valid = keys.iter().filter(|key| key.revoked_at.is_none()).map(|key| key.id);
        let (first, second) = (valid.next().unwrap(), valid.next().unwrap());
        assert_eq!(valid.next(), None);
        let revoke = async move { one.revoke_key(first).await };
        let (revoked, also) = both(round, revoke, async move { other.revoke_key(second).await }).await;
        for revoked in [revoked, also] {
            revoked.unwrap();
        }
        let later = iam(Arc::clone(&store)).await;
        let tokens = register_as(&later, &format!("user{round}@example.com")).await.login.tokens;
        later.authenticate(tokens.access.expose(), RequestContext::default()).await.unwrap();
    }
}

/// A caller assigns a role while the role gets more permissions. The assignment comes before the change, or it is
/// refused.
pub async fn an_assignment_comes_before_a_change_of_the_role_or_fails(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let giver = fixture.role("GIVER", &["role-assignments:*", "users:read"]).await;
    let (user, caller) = fixture.member("giver@example.com", &giver, None).await;
    for round in 0..12 {
        let given = fixture.role(&format!("GIVEN_{round}"), &["users:read"]).await;
        let (id, item) = (given.id, to(&user, &given, None));
        let patch = RolePatch { permissions: Some(vec!["*".to_owned()]), ..RolePatch::default() };
        let (editing, assigning) =
            ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), caller.clone()));
        let edit = async move { editing.0.roles().update(&editing.1, id, patch).await.unwrap() };
        let assign = async move { assigning.0.assignments().create(&assigning.1, item).await };
        let (_, assigned) = both(round, edit, assign).await;
        match assigned {
            Ok(made) => {
                fixture.assert_order("ROLE_ASSIGNED", made.id, "UPDATE", id).await;
                // The caller has assigned the role to itself and has its new permissions, too. It must lose them
                // before the next round.
                fixture.iam.assignments().delete(&fixture.system, made.id).await.unwrap();
            }
            Err(error) => assert!(matches!(error, Error::Forbidden(Forbidden::Escalation(_))), "{error:?}"),
        }
    }
}

/// A role, an organization or a user is deleted while it is assigned. If the deletion succeeds, no assignment is
/// left.
pub async fn a_concurrent_deletion_leaves_no_assignment(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..12 {
        let role = fixture.role(&format!("GIVEN_{round}"), &["users:read"]).await;
        let branch = fixture.organization(&format!("branch-{round}"), None).await;
        let user = fixture.user(&format!("user{round}@example.com")).await;
        let item = to(&user, &role, Some(branch.id));
        let (deleting, assigning) =
            ((fixture.iam.clone(), fixture.system.clone()), (fixture.iam.clone(), fixture.system.clone()));
        let (role_id, branch_id, user_id) = (role.id, branch.id, user.id);
        let delete = async move {
            let (iam, caller) = deleting;
            match round % 3 {
                0 => iam.roles().delete(&caller, role_id).await,
                1 => iam.organizations().delete(&caller, branch_id).await,
                _ => iam.users().delete(&caller, user_id).await,
            }
        };
        let assign = async move { assigning.0.assignments().create(&assigning.1, item).await };
        let (deleted, assigned) = both(round / 3, delete, assign).await;
        let left = fixture.world.store.grants_of(fixture.tenant.id, &[user.id]).await.unwrap().len();
        let right = match (&deleted, &assigned) {
            (Err(error), Ok(_)) => round % 3 == 0 && is_conflict(error, &Conflict::RoleInUse) && left == 1,
            (Ok(()), Ok(_)) => round % 3 > 0 && left == 0,
            (Ok(()), Err(error)) => {
                let expected = [is_unknown(error), is_conflict(error, &Conflict::OrganizationInactive)];
                let expected = expected.into_iter().chain([is_conflict(error, &Conflict::UserInactive)]);
                left == 0 && expected.enumerate().any(|(case, is_right)| is_right && case == round % 3)
            }
            (Err(_), Err(_)) => false,
        };
        assert!(right, "{round}: {deleted:?} {assigned:?}, {left} left");
    }
}

/// Of several concurrent sweepers, one removes each expired assignment, and the removal is recorded once.
pub async fn concurrent_sweepers_remove_each_assignment_once(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let past = Some(fixture.iam.now() - TimeDelta::hours(1));
    for number in 0..30 {
        let user = fixture.user(&format!("user{number}@example.com")).await;
        let assignment = fixture.world.new_assignment(&user, fixture.built_in("MEMBER"), None);
        fixture.world.assign(Assignment { expires_at: past, ..assignment }, fixture.built_in("MEMBER")).await;
    }
    let removed = race(4, |_| {
        let iam = fixture.iam.clone();
        async move { iam.remove_expired_assignments().await.unwrap() }
    })
    .await;
    assert_eq!(removed.iter().sum::<u64>(), 30, "{removed:?}");
    assert_eq!(count(&fixture.iam, &fixture.system, "ROLE_REVOKED", "ROLE_ASSIGNMENT").await, 30);
}

/// The sessions of a user with a role are ended while the user is suspended and renamed. No requests wait for each
/// other in a circle, and no session is left.
pub async fn concurrent_ends_of_sessions_do_not_deadlock(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    for round in 0..8 {
        let email = format!("user{round}@example.com");
        let user = fixture.iam.users().create(&fixture.system, new_user(&email)).await.unwrap();
        let assignment = fixture.world.new_assignment(&user, fixture.built_in("MEMBER"), None);
        fixture.world.assign(assignment, fixture.built_in("MEMBER")).await;
        for _ in 0..4 {
            login(&fixture.iam, &email, PASSWORD).await.unwrap();
        }
        let sessions = fixture.iam.sessions().list(&fixture.system, user.id).await.unwrap();
        let results: Vec<Result<()>> = race(6, |number| {
            let (iam, caller, user) = (fixture.iam.clone(), fixture.system.clone(), user.id);
            let session = sessions.get(number).map(|session| session.id);
            async move {
                match session {
                    Some(session) => iam.sessions().terminate(&caller, session).await,
                    None if number == 4 => iam.users().suspend(&caller, user).await.map(drop),
                    None => {
                        let patch = UserPatch { first_name: Some("Grace".to_owned()), ..UserPatch::default() };
                        iam.users().update(&caller, user, patch).await.map(drop)
                    }
                }
            }
        })
        .await;
        let is_right = |result: &Result<()>| matches!(result, Ok(()) | Err(Error::NotFound(_)));
        assert!(results.iter().all(is_right), "{results:?}");
        assert!(fixture.iam.sessions().list(&fixture.system, user.id).await.unwrap().is_empty());
    }
}

/// Services that start at the same time with an empty store all sign with one key.
pub async fn concurrent_starts_use_one_signing_key(store: Arc<dyn Store>) {
    let services = race(8, |_| iam(Arc::clone(&store))).await;
    assert_eq!(store.signing_keys(KeyPurpose::AccessTokens).await.unwrap().len(), 1);
    let token = register(&services[0]).await.login.tokens.access;
    for iam in &services {
        assert!(iam.authenticate(token.expose(), RequestContext::default()).await.is_ok());
    }
}

/// Runs two futures concurrently. Which one starts first alternates with the round.
pub(super) async fn both<A, B>(
    round: usize,
    first: impl Future<Output = A> + Send + 'static,
    second: impl Future<Output = B> + Send + 'static,
) -> (A, B)
where
    A: Send + 'static,
    B: Send + 'static,
{
    let (first, second) = if round.is_multiple_of(2) {
        let first = tokio::spawn(first);
        (first, tokio::spawn(second))
    } else {
        let second = tokio::spawn(second);
        (tokio::spawn(first), second)
    };
    (first.await.unwrap(), second.await.unwrap())
}

pub(super) async fn race<T, F>(tasks: usize, start: impl Fn(usize) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut set = JoinSet::new();
    for number in 0..tasks {
        set.spawn(start(number));
    }
    set.join_all().await
}

async fn iam(store: Arc<dyn Store>) -> Iam {
    Iam::builder(store).settings(settings()).build().await.unwrap()
}

/// The default settings, with a hashing cost that is low enough for many passwords.
pub(super) fn settings() -> Settings {
    let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
    {
        let mut settings = Settings::default();
        settings.hashing_cost = hashing_cost;
        settings
    }
}

async fn register(iam: &Iam) -> Registered {
    register_as(iam, "ada@example.com").await
}

async fn register_as(iam: &Iam, email: &str) -> Registered {
    let registration = Registration { user: new_user(email), tenant_name: None };
    iam.tenants().register(&RequestContext::default(), registration).await.unwrap()
}

pub(super) fn new_user(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

pub(super) fn login(iam: &Iam, email: &str, password: &str) -> impl Future<Output = Result<LoggedIn>> + Send + use<> {
    let (iam, email, password) = (iam.clone(), email.to_owned(), password.into());
    async move { iam.sessions().login(&RequestContext::default(), Login { email, password, tenant: None }).await }
}

/// How many answers say that the credentials are wrong, and how many say that the account is locked.
fn answers(results: &[Result<LoggedIn>]) -> (usize, usize) {
    let wrong = |result: &&Result<LoggedIn>| matches!(result, Err(Error::Unauthenticated(_)));
    let locked = |result: &&Result<LoggedIn>| matches!(result, Err(Error::AccountLocked { .. }));
    (results.iter().filter(wrong).count(), results.iter().filter(locked).count())
}

fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::About { error, .. } if matches!(**error, Error::NotFound(_)))
}

fn is_conflict(error: &Error, expected: &Conflict) -> bool {
    match error {
        Error::About { error, .. } => is_conflict(error, expected),
        Error::Conflict(conflict) => conflict == expected,
        _ => false,
    }
}

/// Fails unless one request succeeded and all others were refused with the right error.
fn assert_one(results: Vec<Result<()>>, is_right: impl Fn(&Error) -> bool) {
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert!(results.iter().filter_map(|result| result.as_ref().err()).all(is_right), "{results:?}");
}

/// The assignment of a role to a user, without expiry.
pub(super) fn to(user: &User, role: &Role, organization: Option<OrganizationId>) -> NewAssignment {
    NewAssignment { user: user.id, role: role.id, organization, expires_at: None }
}

/// A tenant with its first user, and helpers that fill it through the services.
pub(super) struct Fixture {
    pub(super) iam: Iam,
    /// Over the same store.
    pub(super) world: World,
    pub(super) tenant: Tenant,
    pub(super) founder: User,
    pub(super) system: Caller,
    roles: Vec<Role>,
}

impl Fixture {
    pub(super) async fn new(store: Arc<dyn Store>) -> Self {
        Self::of(store, "ada@example.com").await
    }

    async fn of(store: Arc<dyn Store>, email: &str) -> Self {
        Self::with(iam(Arc::clone(&store)).await, store, email).await
    }

    /// Returns the fixture of a service over a store.
    pub(super) async fn with(iam: Iam, store: Arc<dyn Store>, email: &str) -> Self {
        let Registered { tenant, login, .. } = register_as(&iam, email).await;
        let system = Caller::system(tenant.id, "conformance");
        let roles = iam.roles().list(&system, everything()).await.unwrap().items;
        Self { iam, world: World::new(store), tenant, founder: login.user, system, roles }
    }

    pub(super) fn built_in(&self, name: &str) -> &Role {
        named(&self.roles, name)
    }

    pub(super) async fn role(&self, name: &str, permissions: &[&str]) -> Role {
        let permissions = permissions.iter().map(ToString::to_string).collect();
        let new = NewRole { name: name.to_owned(), permissions, ..NewRole::default() };
        self.iam.roles().create(&self.system, new).await.unwrap()
    }

    pub(super) async fn organization(&self, name: &str, parent: Option<OrganizationId>) -> Organization {
        let new = NewOrganization { name: name.to_owned(), slug: None, parent };
        self.iam.organizations().create(&self.system, new).await.unwrap().organization
    }

    pub(super) async fn user(&self, email: &str) -> User {
        self.iam.users().create(&self.system, new_user(email)).await.unwrap()
    }

    /// Creates a user with a role and logs it in. Returns the user and its caller.
    pub(super) async fn member(
        &self,
        email: &str,
        role: &Role,
        organization: Option<OrganizationId>,
    ) -> (User, Caller) {
        self.member_until(email, role, organization, None).await
    }

    pub(super) async fn member_until(
        &self,
        email: &str,
        role: &Role,
        organization: Option<OrganizationId>,
        expires_at: Option<Timestamp>,
    ) -> (User, Caller) {
        let user = self.user(email).await;
        let item = NewAssignment { expires_at, ..to(&user, role, organization) };
        self.iam.assignments().create(&self.system, item).await.unwrap();
        let login =
            Login { email: email.to_owned(), password: PASSWORD.into(), tenant: Some(self.tenant.slug.to_string()) };
        let logged_in = self.iam.sessions().login(&RequestContext::default(), login).await.unwrap();
        let token = logged_in.tokens.access;
        let caller = self.iam.authenticate(token.expose(), RequestContext::default()).await.unwrap();
        (logged_in.user, caller)
    }

    /// Fails unless the first entry is before the second one in the audit log.
    pub(super) async fn assert_order(&self, first: &str, about: impl ToString, second: &str, other: impl ToString) {
        let position = async |action: &str, id: String| {
            let filter = AuditFilter { resource_id: Some(id), ..AuditFilter::default() };
            let log = self.iam.audit().list(&self.system, filter, None, 100).await.unwrap();
            let entry = log.entries.into_iter().find(|entry| entry.action == action).unwrap();
            (entry.created_at, entry.id)
        };
        let (first, second) = (position(first, about.to_string()).await, position(second, other.to_string()).await);
        assert!(first < second, "{first:?} {second:?}");
    }
}

async fn count(iam: &Iam, caller: &Caller, action: &str, resource_type: &str) -> usize {
    let filter = AuditFilter {
        action: Some(action.to_owned()),
        resource_type: Some(resource_type.to_owned()),
        ..AuditFilter::default()
    };
    iam.audit().list(caller, filter, None, 100).await.unwrap().entries.len()
}
