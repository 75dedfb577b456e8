//! Requests that are overtaken: while a request waits for the tenant's lock, another unit of work commits a change that
//! changes the request's answer. Reads from before the lock must not count.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::role::RolePatch;
use iam_model::access::Until;
use iam_model::assignment::Assignment;
use iam_model::change::{AssignmentChange, Change, ChangedAssignment, OrganizationChange, RoleChange, UserChange};
use iam_model::error::{Conflict, Error, Forbidden, Result, Rule};
use iam_model::id::OrganizationId;
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::role::Role;
use iam_model::store::{GrantQuery, Store};
use iam_model::user::{User, UserStatus};

use crate::race::{Fixture, to};
use crate::world::{assigning, update};

/// A caller that loses the role with which it assigns is refused.
pub async fn a_caller_that_loses_its_role_cannot_assign(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let branch = fixture.organization("branch", None).await;
    let (admin, caller) =
        fixture.member("admin@example.com", fixture.built_in("ORGANIZATION_ADMIN"), Some(branch.id)).await;
    let grants = fixture.world.grants(fixture.tenant.id, GrantQuery::OfUser(admin.id)).await;
    let lost = AssignmentChange::Revoke { grants, reason: None };
    let item = to(&admin, fixture.built_in("MEMBER"), Some(branch.id));
    let refused = overtake(&fixture, [lost.into()], fixture.assign(&caller, item)).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    assert_eq!(fixture.world.grants(fixture.tenant.id, GrantQuery::OfUser(admin.id)).await, []);
}

/// A caller that is suspended while it assigns is refused.
pub async fn a_suspended_caller_cannot_assign(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (admin, caller) = fixture.member("admin@example.com", fixture.built_in("TENANT_ADMIN"), None).await;
    let after = User { status: UserStatus::Suspended, ..admin.clone() };
    let suspended = UserChange::ChangeStatus { before: admin.clone(), after, grants: None };
    let item = to(&admin, fixture.built_in("MEMBER"), None);
    let refused = overtake(&fixture, [suspended.into()], fixture.assign(&caller, item)).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
}

/// The administrator of a branch cannot assign in an organization that has left the branch.
pub async fn an_organization_outside_the_branch_is_not_found(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let branch = fixture.organization("branch", None).await;
    let (team, elsewhere) =
        (fixture.organization("team", Some(branch.id)).await, fixture.organization("elsewhere", None).await);
    let (admin, caller) =
        fixture.member("admin@example.com", fixture.built_in("ORGANIZATION_ADMIN"), Some(branch.id)).await;
    let item = to(&admin, fixture.built_in("MEMBER"), Some(team.id));
    let leaves = moved(&team, Some(elsewhere.id));
    let refused = overtake(&fixture, [leaves], fixture.assign(&caller, item)).await;
    assert!(
        matches!(&refused, Err(Error::About { error, .. }) if matches!(**error, Error::NotFound(_))),
        "{refused:?}"
    );
}

/// The escalation check of an assignment uses the permissions that the role has under the lock.
pub async fn an_assignment_is_checked_against_the_current_role(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let giver = fixture.role("GIVER", &["role-assignments:*", "users:read"]).await;
    let given = fixture.role("GIVEN", &["users:read"]).await;
    let (user, caller) = fixture.member("giver@example.com", &giver, None).await;
    let permissions = ["*".parse().unwrap()].into_iter().collect();
    let after = Role { permissions, ..given.clone() };
    let grown = RoleChange::Update { before: given.clone(), after, held_until: Until::Forever };
    let refused = overtake(&fixture, [grown.into()], fixture.assign(&caller, to(&user, &given, None))).await;
    assert_escalation(&refused);
}

/// The escalation check of a role change uses the role's assignments under the lock: the caller must hold an added
/// permission for as long as any user holds the role.
pub async fn a_role_change_is_checked_against_current_assignments(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let editor = fixture.role("EDITOR", &["roles:*", "audit-logs:read"]).await;
    let edited = fixture.role("EDITED", &["users:read"]).await;
    let until = Some(fixture.iam.now() + TimeDelta::hours(1));
    let (user, caller) = fixture.member_until("editor@example.com", &editor, None, until).await;
    let given = fixture.assignment(&user, &edited, None);
    let (iam, id) = (fixture.iam.clone(), edited.id);
    let permissions = Some(vec!["users:read".to_owned(), "audit-logs:read".to_owned()]);
    let patch = RolePatch { permissions, ..RolePatch::default() };
    let edit = async move { iam.roles().update(&caller, id, patch).await };
    assert_escalation(&overtake(&fixture, [given], edit).await);
}

/// The escalation check of a move uses the assignments that exist in the new branch under the lock: the caller must
/// hold what they grant.
pub async fn a_move_is_checked_against_current_assignments(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (branch, team) = (fixture.organization("branch", None).await, fixture.organization("team", None).await);
    let mover = fixture.role("MOVER", &["organizations:*"]).await;
    let given = fixture.role("GIVEN", &["users:read"]).await;
    let (user, caller) = fixture.member("mover@example.com", &mover, None).await;
    let given = fixture.assignment(&user, &given, Some(branch.id));
    let refused = overtake(&fixture, [given], fixture.move_to(&caller, &team, Some(branch.id))).await;
    assert_escalation(&refused);
}

/// The escalation check of a reactivation uses the assignments that the user has under the lock: the caller must hold
/// what they grant.
pub async fn a_reactivation_is_checked_against_current_assignments(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (keeper, given) = (fixture.role("KEEPER", &["users:*"]).await, fixture.role("GIVEN", &["roles:read"]).await);
    let (_, caller) = fixture.member("keeper@example.com", &keeper, None).await;
    let user = fixture.user("suspended@example.com").await;
    fixture.iam.users().suspend(&fixture.system, user.id).await.unwrap();
    let (iam, id) = (fixture.iam.clone(), user.id);
    let reactivate = async move { iam.users().reactivate(&caller, id).await };
    assert_escalation(&overtake(&fixture, [fixture.assignment(&user, &given, None)], reactivate).await);
}

/// The escalation check of an extension uses the expiry of the caller's rights under the lock.
pub async fn an_extension_is_checked_against_the_callers_current_expiry(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let branch = fixture.organization("branch", None).await;
    let (admin, caller) =
        fixture.member("admin@example.com", fixture.built_in("ORGANIZATION_ADMIN"), Some(branch.id)).await;
    let grant = fixture.world.grants(fixture.tenant.id, GrantQuery::OfUser(admin.id)).await.remove(0);
    let soon = Some(fixture.iam.now() + TimeDelta::hours(1));
    let item = NewAssignment { expires_at: soon, ..to(&admin, fixture.built_in("MEMBER"), Some(branch.id)) };
    let extended = fixture.iam.assignments().create(&fixture.system, item).await.unwrap();
    let after = Assignment { expires_at: soon, ..grant.assignment.clone() };
    let shortened = AssignmentChange::Update(vec![ChangedAssignment { grant, after }]);
    let iam = fixture.iam.clone();
    let extend =
        async move { iam.assignments().update(&caller, extended.id, AssignmentPatch { expires_at: Some(None) }).await };
    assert_escalation(&overtake(&fixture, [shortened.into()], extend).await);
}

/// A deleted organization, user or role is not assigned.
pub async fn a_deleted_row_is_not_assigned(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (role, branch) = (fixture.role("GIVEN", &["users:read"]).await, fixture.organization("branch", None).await);
    let (user, another) = (fixture.user("user@example.com").await, fixture.user("another@example.com").await);
    let assign = |user: &User, branch: &Organization| fixture.assign(&fixture.system, to(user, &role, Some(branch.id)));

    let gone = Organization { status: OrganizationStatus::Inactive, ..branch.clone() };
    let deleted = OrganizationChange::Delete { before: branch.clone(), after: gone };
    let refused = overtake(&fixture, [deleted.into()], assign(&user, &branch)).await;
    assert_conflict(&refused, &Conflict::OrganizationInactive);

    let branch = fixture.organization("another", None).await;
    let gone = User { status: UserStatus::Inactive, ..user.clone() };
    let deleted = UserChange::Delete { before: user.clone(), after: gone };
    let refused = overtake(&fixture, [deleted.into()], assign(&user, &branch)).await;
    assert_conflict(&refused, &Conflict::UserInactive);

    let deleted = RoleChange::Delete(role.clone());
    let refused = overtake(&fixture, [deleted.into()], assign(&another, &branch)).await;
    assert!(
        matches!(&refused, Err(Error::About { error, .. }) if matches!(**error, Error::NotFound(_))),
        "{refused:?}"
    );
}

/// A deletion sees the assignments under the lock: it removes them, or it is refused.
pub async fn a_deletion_sees_current_assignments(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (role, branch) = (fixture.role("GIVEN", &["users:read"]).await, fixture.organization("branch", None).await);
    let (user, another) = (fixture.user("user@example.com").await, fixture.user("another@example.com").await);
    let grants = async || {
        let users = [user.id, another.id];
        fixture.world.store.grants_of(fixture.tenant.id, &users).await.unwrap().len()
    };

    let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), branch.id);
    let delete = async move { iam.organizations().delete(&system, id).await };
    overtake(&fixture, [fixture.assignment(&user, &role, Some(branch.id))], delete).await.unwrap();
    assert_eq!(grants().await, 0);

    let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), user.id);
    let delete = async move { iam.users().delete(&system, id).await };
    overtake(&fixture, [fixture.assignment(&user, &role, None)], delete).await.unwrap();
    assert_eq!(grants().await, 0);

    let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), role.id);
    let delete = async move { iam.roles().delete(&system, id).await };
    let refused = overtake(&fixture, [fixture.assignment(&another, &role, None)], delete).await;
    assert_conflict(&refused, &Conflict::RoleInUse);
    assert_eq!(grants().await, 1);
}

/// No organization is created below a deleted one, and an organization with a child is not deleted.
pub async fn a_deleted_organization_gets_no_child(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (branch, another) = (fixture.organization("branch", None).await, fixture.organization("another", None).await);
    let gone = Organization { status: OrganizationStatus::Inactive, ..branch.clone() };
    let deleted = OrganizationChange::Delete { before: branch.clone(), after: gone };
    let (iam, system) = (fixture.iam.clone(), fixture.system.clone());
    let new = NewOrganization { name: "Below".to_owned(), slug: None, parent: Some(branch.id) };
    let create = async move { iam.organizations().create(&system, new).await };
    let refused = overtake(&fixture, [deleted.into()], create).await;
    assert!(
        matches!(&refused, Err(Error::About { error, .. })
            if matches!(**error, Error::Conflict(Conflict::OrganizationInactive))),
        "{refused:?}"
    );

    let child = fixture.world.new_organization(fixture.tenant.id, "child");
    let child = OrganizationChange::create(Organization { parent_id: Some(another.id), ..child });
    let (iam, system, id) = (fixture.iam.clone(), fixture.system.clone(), another.id);
    let delete = async move { iam.organizations().delete(&system, id).await };
    let refused = overtake(&fixture, [child.into()], delete).await;
    assert_conflict(&refused, &Conflict::OrganizationHasChildren);
}

/// A move is checked against the tree under the lock.
pub async fn a_move_is_checked_against_the_current_tree(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (left, right) = (fixture.organization("left", None).await, fixture.organization("right", None).await);
    let crossing = moved(&right, Some(left.id));
    let refused = overtake(&fixture, [crossing], fixture.move_to(&fixture.system, &left, Some(right.id))).await;
    assert_rule(&refused, Rule::CircularParent);

    let chain = fixture.world.chain(&fixture.tenant, "chain", 5).await;
    let (low, deep) = (fixture.organization("low", None).await, fixture.organization("deep", Some(left.id)).await);
    let sinks = moved(&low, Some(chain[3].id));
    let refused = overtake(&fixture, [sinks], fixture.move_to(&fixture.system, &left, Some(low.id))).await;
    assert_rule(&refused, Rule::Depth(5));
    assert_eq!(deep.parent_id, Some(left.id));
}

/// A user that is the last administrator under the lock is not deleted.
pub async fn the_current_last_administrator_is_not_deleted(store: Arc<dyn Store>) {
    let fixture = Fixture::new(store).await;
    let (second, _) = fixture.member("second@example.com", fixture.built_in("TENANT_ADMIN"), None).await;
    let after = User { status: UserStatus::Suspended, ..second.clone() };
    let suspended = UserChange::ChangeStatus { before: second, after, grants: None };
    let (iam, system, first) = (fixture.iam.clone(), fixture.system.clone(), fixture.founder.id);
    let delete = async move { iam.users().delete(&system, first).await };
    let refused = overtake(&fixture, [suspended.into()], delete).await;
    assert_conflict(&refused, &Conflict::LastAdministrator);
}

/// Starts a request while the tenant is locked, and commits changes before the lock is released.
///
/// A request that has not reached the lock by then is not overtaken. It finds the changes, and its answer is the
/// same.
async fn overtake<T: Send + 'static>(
    fixture: &Fixture,
    changes: impl IntoIterator<Item = Change>,
    request: impl Future<Output = T> + Send + 'static,
) -> T {
    let mut work = fixture.world.begin(fixture.system.author()).await;
    work.reads().lock_tenant().await.unwrap();
    let request = tokio::spawn(request);
    tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_millis(30))).await.unwrap();
    for change in changes {
        work.apply(change).await.unwrap();
    }
    work.commit().await.unwrap();
    request.await.unwrap()
}

fn moved(organization: &Organization, parent_id: Option<OrganizationId>) -> Change {
    update(organization, &Organization { parent_id, ..organization.clone() }).into()
}

fn assert_escalation<T: std::fmt::Debug>(refused: &Result<T>) {
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Escalation(_)))), "{refused:?}");
}

fn assert_conflict<T: std::fmt::Debug>(refused: &Result<T>, expected: &Conflict) {
    assert!(matches!(refused, Err(Error::Conflict(conflict)) if conflict == expected), "{refused:?}");
}

fn assert_rule<T: std::fmt::Debug>(refused: &Result<T>, expected: Rule) {
    let is_rule = |error: &Error| matches!(error, Error::Rule(rule) if *rule == expected);
    assert!(matches!(refused, Err(Error::About { error, .. }) if is_rule(error)), "{refused:?}");
}

impl Fixture {
    /// The change that assigns a role to a user.
    fn assignment(&self, user: &User, role: &Role, organization: Option<OrganizationId>) -> Change {
        assigning([self.world.new_assignment(user, role, organization)], role).into()
    }

    fn assign(&self, caller: &Caller, item: NewAssignment) -> impl Future<Output = Result<Assignment>> + Send + use<> {
        let (iam, caller) = (self.iam.clone(), caller.clone());
        async move { iam.assignments().create(&caller, item).await }
    }

    fn move_to(
        &self,
        caller: &Caller,
        organization: &Organization,
        parent: Option<OrganizationId>,
    ) -> impl Future<Output = Result<()>> + Send + use<> {
        let (iam, caller, id) = (self.iam.clone(), caller.clone(), organization.id);
        let patch = OrganizationPatch { parent: Some(parent), ..OrganizationPatch::default() };
        async move { iam.organizations().update(&caller, id, patch).await.map(drop) }
    }
}
