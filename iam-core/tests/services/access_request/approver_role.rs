//! What a giver must hold of a role whose holders decide who gets another one
//! (`docs/access-requests.md#who-gives-a-role-that-leads-to-another`).

use chrono::TimeDelta;
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::invitation::{InvitedRole, NewInvitation};
use iam_core::organization::OrganizationPatch;
use iam_core::user::UserPatch;
use iam_core::{AssignmentId, Unauthenticated};

use super::*;

/// Boss may ask for READER in `branch` for an hour, and the holders of APPROVER, which permits nothing, decide. Boss
/// gives roles in `root`, which is above, and does not hold what READER permits. Friend has no role.
struct Approved {
    world: World,
    root: OrganizationId,
    branch: OrganizationId,
    approver: RoleId,
    reader: RoleId,
    eligibility: EligibilityId,
    boss: UserId,
    friend: UserId,
}

impl Approved {
    async fn new() -> Self {
        let world = World::new().await;
        let root = world.organization("Root", None).await;
        let branch = world.organization("Branch", Some(root)).await;
        let approver = world.role("APPROVER", &[]).await;
        let reader = world.role("READER", &["audit-logs:read"]).await;
        let ((boss, _), (friend, _)) = (world.user("boss", &[]).await, world.user("friend", &[]).await);
        let giving = world.role("BOSS", &["role-assignments:*", "invitations:create", "users:read"]).await;
        world.give(boss, giving, Some(root)).await;
        let new = NewEligibility {
            organization: Some(branch),
            approver_role: Some(approver),
            ..NewEligibility::of_user(reader, boss)
        };
        let eligibility = world.eligibility(new).await;
        Self { world, root, branch, approver, reader, eligibility, boss, friend }
    }

    /// Boss holds READER in `branch`, until a moment if there is one.
    async fn cover(&self, expires_at: Option<Timestamp>) {
        let organization = Some(self.branch);
        let new = NewAssignment { user: self.boss, role: self.reader, organization, expires_at };
        self.world.iam.assignments().create(&self.world.ada, new).await.unwrap();
    }

    fn giving(&self, organization: OrganizationId, expires_at: Option<Timestamp>) -> NewAssignment {
        NewAssignment { user: self.friend, role: self.approver, organization: Some(organization), expires_at }
    }

    /// Boss gives APPROVER to Friend in an organization.
    async fn give(&self, organization: OrganizationId, expires_at: Option<Timestamp>) -> Result<AssignmentId> {
        let boss = self.world.login("boss").await;
        let given = self.world.iam.assignments().create(&boss, self.giving(organization, expires_at)).await;
        Ok(given?.id)
    }
}

#[tokio::test]
async fn an_approver_role_is_given_there_by_who_holds_what_is_decided_about() {
    let approved = Approved::new().await;
    let (world, root, branch) = (&approved.world, approved.root, approved.branch);
    for place in [root, branch] {
        assert_eq!(lacking(approved.give(place, None).await), reading());
    }
    let boss = world.login("boss").await;
    match world.iam.assignments().create_all(&boss, &[approved.giving(branch, None)]).await {
        Err(Error::About { field, error }) => {
            assert_eq!((field.as_str(), lacking::<()>(Err(*error))), ("assignments[0]", reading()));
        }
        other => panic!("{other:?}"),
    }
    let role = InvitedRole { role_id: approved.approver, organization_id: Some(branch), expires_at: None };
    let new = NewInvitation { email: "grace@example.com".to_owned(), roles: vec![role], ..NewInvitation::default() };
    assert_eq!(lacking(world.iam.invitations().create(&boss, new).await), reading());
    // Below, its holders do not decide about the branch.
    let team = world.organization("Team", Some(branch)).await;
    approved.give(team, None).await.unwrap();
    let request = world.ask(&boss, approved.eligibility).await.id;
    let refused = world.approve(&world.login("friend").await, request).await;
    assert!(matches!(refused, Err(Error::NotFound(_))), "{refused:?}");
    approved.cover(None).await;
    approved.give(branch, None).await.unwrap();
}

#[tokio::test]
async fn it_is_held_as_long_as_what_is_approved_in_the_last_moment_lasts() {
    let approved = Approved::new().await;
    let end = approved.world.now() + TimeDelta::days(40);
    approved.cover(Some(end)).await;
    // What is approved for later begins in thirty days at the latest.
    let latest = end - TimeDelta::days(30) - TimeDelta::hours(1);
    let too_long = ("audit-logs:read".to_owned(), Some(end));
    for expires_at in [None, Some(end), Some(latest + TimeDelta::seconds(1))] {
        assert_eq!(lacking(approved.give(approved.branch, expires_at).await), too_long, "{expires_at:?}");
    }
    let given = approved.give(approved.branch, Some(latest)).await.unwrap();
    let boss = approved.world.login("boss").await;
    let patch = AssignmentPatch { expires_at: Some(Some(end)) };
    assert_eq!(lacking(approved.world.iam.assignments().update(&boss, given, patch).await), too_long);
}

#[tokio::test]
async fn an_organization_is_moved_below_an_approver_by_standing_rights_alone() {
    let approved = Approved::new().await;
    let world = &approved.world;
    let above = world.organization("Above", None).await;
    world.give(approved.friend, approved.approver, Some(above)).await;
    let patch = || OrganizationPatch { parent: Some(Some(above)), ..OrganizationPatch::default() };
    let (mover, session) = world.user("mover", &["organizations:update", "users:read"]).await;
    let moved = world.iam.organizations().update(&session, approved.root, patch()).await;
    assert_eq!(lacking(moved), reading());
    let (_, elevated, _) = world.elevated(&["*"]).await;
    let moved = world.iam.organizations().update(&elevated, approved.root, patch()).await;
    assert_eq!(lacking(moved), reading());
    world.give(mover, approved.reader, Some(approved.root)).await;
    world.iam.organizations().update(&session, approved.root, patch()).await.unwrap();
    let request = world.ask(&world.login("boss").await, approved.eligibility).await.id;
    world.approve(&world.login("friend").await, request).await.unwrap();
}

#[tokio::test]
async fn the_account_of_an_approver_is_taken_over_only_by_who_covers_what_it_decides_about() {
    let approved = Approved::new().await;
    let (world, friend) = (&approved.world, approved.friend);
    let (clerk, session) = world.user("clerk", &["users:*"]).await;
    let (users, factors) = (world.iam.users(), world.iam.factors());
    let patch = |email: &str| UserPatch { email: Some(email.to_owned()), ..UserPatch::default() };
    users.update(&session, friend, patch("friend2@example.com")).await.unwrap();
    let team = world.organization("Team", Some(approved.branch)).await;
    world.give(friend, approved.approver, Some(team)).await;
    users.update(&session, friend, patch("friend3@example.com")).await.unwrap();
    world.give(friend, approved.approver, Some(approved.root)).await;
    assert_eq!(lacking(users.update(&session, friend, patch("friend4@example.com")).await), reading());
    assert_eq!(lacking(factors.reset(&session, friend).await), reading());
    assert_eq!(lacking(world.iam.recovery().start(&session, friend).await), reading());
    users.suspend(&session, friend).await.unwrap();
    assert_eq!(lacking(users.reactivate(&session, friend).await), reading());
    world.give(clerk, approved.reader, Some(approved.branch)).await;
    users.reactivate(&session, friend).await.unwrap();
    users.update(&session, friend, patch("friend4@example.com")).await.unwrap();
}

#[tokio::test]
async fn an_approver_of_what_protects_the_tenant_is_made_in_a_fresh_session() {
    let approved = Approved::new().await;
    let world = &approved.world;
    let (guard, session) = world.user("guard", &["role-assignments:*", "users:read", "audit-logs:*"]).await;
    let guarded = world.role("GUARD_FOR_A_TIME", &["audit-logs:update"]).await;
    let new = NewEligibility { approver_role: Some(approved.approver), ..NewEligibility::of_user(guarded, guard) };
    world.eligibility(new).await;
    let give = async |caller: &Caller| {
        let new =
            NewAssignment { user: approved.friend, role: approved.approver, organization: None, expires_at: None };
        world.iam.assignments().create(caller, new).await
    };
    world.clock.advance(TimeDelta::minutes(11));
    let refused = give(&session).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    give(&world.login("guard").await).await.unwrap();
}
