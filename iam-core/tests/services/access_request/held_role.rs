//! What a giver must hold of a role whose holders may ask for another one
//! (`docs/access-requests.md#who-gives-a-role-that-leads-to-another`).

use chrono::TimeDelta;
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::eligibility::{EligibilityPatch, NewEligibility};
use iam_core::invitation::{Acceptance, InvitedRole, NewInvitation};
use iam_core::organization::OrganizationPatch;
use iam_core::{AssignmentId, Conflict, Error, Forbidden, Unauthenticated};

use super::*;

/// The holders of HELD may ask for READER in `branch` without an approval, for an hour. Boss gives roles in `root`,
/// which is above, and holds what HELD permits, and not what READER permits.
struct Held {
    world: World,
    root: OrganizationId,
    branch: OrganizationId,
    held: RoleId,
    reader: RoleId,
    eligibility: EligibilityId,
    boss: UserId,
}

impl Held {
    async fn new() -> Self {
        let world = World::new().await;
        let root = world.organization("Root", None).await;
        let branch = world.organization("Branch", Some(root)).await;
        let held = world.role("HELD", &["users:read"]).await;
        let reader = world.role("READER", &["audit-logs:read"]).await;
        let (boss, _) = world.user("boss", &[]).await;
        let giving = world.role("BOSS", &["role-assignments:*", "invitations:create", "users:read"]).await;
        world.give(boss, giving, Some(root)).await;
        let new = NewEligibility {
            organization: Some(branch),
            user: None,
            held_role: Some(held),
            approvals: Some(0),
            ..NewEligibility::of_user(reader, boss)
        };
        let eligibility = world.eligibility(new).await;
        Self { world, root, branch, held, reader, eligibility, boss }
    }

    /// Boss holds READER in `branch`, until a moment if there is one.
    async fn cover(&self, expires_at: Option<Timestamp>) -> AssignmentId {
        let organization = Some(self.branch);
        let new = NewAssignment { user: self.boss, role: self.reader, organization, expires_at };
        self.world.iam.assignments().create(&self.world.ada, new).await.unwrap().id
    }

    fn giving(&self, organization: OrganizationId, expires_at: Option<Timestamp>) -> NewAssignment {
        NewAssignment { user: self.boss, role: self.held, organization: Some(organization), expires_at }
    }

    /// Boss gives itself HELD in an organization.
    async fn give(&self, organization: OrganizationId, expires_at: Option<Timestamp>) -> Result<AssignmentId> {
        let boss = self.world.login("boss").await;
        let given = self.world.iam.assignments().create(&boss, self.giving(organization, expires_at)).await;
        Ok(given?.id)
    }
}

#[tokio::test]
async fn a_role_that_makes_eligible_there_is_given_by_who_holds_what_may_be_asked_for() {
    let held = Held::new().await;
    let (world, root, branch) = (&held.world, held.root, held.branch);
    for place in [root, branch] {
        assert_eq!(lacking(held.give(place, None).await), reading());
    }
    let boss = world.login("boss").await;
    match world.iam.assignments().create_all(&boss, &[held.giving(branch, None)]).await {
        Err(Error::About { field, error }) => {
            assert_eq!((field.as_str(), lacking::<()>(Err(*error))), ("assignments[0]", reading()));
        }
        other => panic!("{other:?}"),
    }
    // Below, holding the role makes no user eligible in the branch.
    let team = world.organization("Team", Some(branch)).await;
    held.give(team, None).await.unwrap();
    world.iam.assignments().create(&Caller::system(boss.tenant(), "test"), held.giving(root, None)).await.unwrap();
    held.cover(None).await;
    held.give(branch, None).await.unwrap();
}

#[tokio::test]
async fn it_is_held_as_long_as_what_is_asked_for_in_the_last_moment_lasts() {
    let held = Held::new().await;
    let end = held.world.now() + TimeDelta::days(1);
    held.cover(Some(end)).await;
    let latest = end - TimeDelta::hours(1);
    let too_long = ("audit-logs:read".to_owned(), Some(end));
    for expires_at in [None, Some(end), Some(latest + TimeDelta::seconds(1))] {
        assert_eq!(lacking(held.give(held.branch, expires_at).await), too_long, "{expires_at:?}");
    }
    let given = held.give(held.branch, Some(latest)).await.unwrap();
    let boss = held.world.login("boss").await;
    let update = async |expires_at| {
        let patch = AssignmentPatch { expires_at: Some(expires_at) };
        held.world.iam.assignments().update(&boss, given, patch).await
    };
    assert_eq!(lacking(update(Some(end)).await), too_long);
    // No user asks after the eligibility has expired.
    let narrow = EligibilityPatch { expires_at: Some(Some(end)), ..EligibilityPatch::default() };
    held.world.iam.eligibilities().update(&held.world.ada, held.eligibility, narrow).await.unwrap();
    update(None).await.unwrap();
}

#[tokio::test]
async fn an_invitation_is_made_and_accepted_only_while_the_inviter_holds_it() {
    let held = Held::new().await;
    let (world, iam) = (&held.world, &held.world.iam);
    let invite = async |name: &str| {
        let role = InvitedRole { role_id: held.held, organization_id: Some(held.branch), expires_at: None };
        let email = format!("{name}@example.com");
        let new = NewInvitation { email, roles: vec![role], ..NewInvitation::default() };
        iam.invitations().create(&world.login("boss").await, new).await
    };
    assert_eq!(lacking(invite("grace").await), reading());
    let cover = held.cover(None).await;
    invite("grace").await.unwrap();
    let grace = world.invited().await;
    iam.assignments().delete(&world.ada, cover).await.unwrap();
    let accept = async || iam.invitations().accept(&RequestContext::default(), grace.clone()).await;
    let refused = accept().await;
    assert!(matches!(refused, Err(Error::Conflict(Conflict::InvitationOutdated))), "{refused:?}");
    held.cover(None).await;
    accept().await.unwrap();
}

impl World {
    /// The answer to the invitation that was sent last.
    async fn invited(&self) -> Acceptance {
        while self.iam.deliver_mail().await.unwrap().more {}
        let mails = std::mem::take(&mut *self.mails.0.lock().unwrap());
        let mail = mails.into_iter().rfind(|mail| mail.kind == MailKind::Invitation).unwrap();
        let url = mail.accounts[0].link.as_ref().unwrap().url.expose().to_owned();
        let (_, token) = url.split_once('#').unwrap();
        let (first_name, last_name) = ("Grace".to_owned(), "Hopper".to_owned());
        Acceptance { token: token.into(), password: PASSWORD.into(), first_name, last_name }
    }
}

#[tokio::test]
async fn an_organization_is_moved_below_such_a_role_by_who_holds_what_may_be_asked_for() {
    let held = Held::new().await;
    let world = &held.world;
    let above = world.organization("Above", None).await;
    let (grace, _) = world.user("grace", &[]).await;
    world.give(grace, held.held, Some(above)).await;
    let (mover, session) = world.user("mover", &["organizations:update", "users:read"]).await;
    let patch = || OrganizationPatch { parent: Some(Some(above)), ..OrganizationPatch::default() };
    let moved = world.iam.organizations().update(&session, held.root, patch()).await;
    assert_eq!(lacking(moved), reading());
    world.give(mover, held.reader, Some(held.root)).await;
    world.iam.organizations().update(&session, held.root, patch()).await.unwrap();
    let session = world.login("grace").await;
    assert_eq!(world.ask(&session, held.eligibility).await.status, AccessRequestStatus::Active);
}

#[tokio::test]
async fn what_protects_the_tenant_may_be_asked_for_because_of_a_fresh_session_alone() {
    let held = Held::new().await;
    let world = &held.world;
    let permissions = &["role-assignments:*", "users:read", "audit-logs:update"];
    let (guard, session) = world.user("guard", permissions).await;
    let key = world.key(&session).await;
    let asked_for = world.role("GUARD_FOR_A_TIME", &["audit-logs:update"]).await;
    let give = async |world: &World, caller: &Caller| {
        let new = NewAssignment { user: guard, role: held.held, organization: None, expires_at: None };
        world.iam.assignments().create(caller, new).await
    };
    let of_holders =
        NewEligibility { user: None, held_role: Some(held.held), ..NewEligibility::of_user(asked_for, guard) };
    world.iam.eligibilities().delete(&world.ada, held.eligibility).await.unwrap();
    world.eligibility(of_holders).await;
    let refused = give(world, &key).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::ApiKey))), "{refused:?}");
    world.clock.advance(TimeDelta::minutes(11));
    let refused = give(world, &session).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(Unauthenticated::NotFresh { .. }))), "{refused:?}");
    give(world, &world.login("guard").await).await.unwrap();
}
