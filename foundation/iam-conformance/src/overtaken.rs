//! Requests that are overtaken: while a request waits for the tenant's lock, another unit of work commits a change
//! that changes the request's answer. What the request read before it got the lock must not count.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::assignment::{AssignmentPatch, NewAssignment};
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::role::RolePatch;
use iam_model::access::Until;
use iam_model::assignment::Assignment;
use iam_model::change::{AssignmentChange, Change, OrganizationChange, RoleChange, UserChange};
use iam_model::error::{Conflict, Error, Forbidden, Result, Rule};
use iam_model::id::OrganizationId;
use iam_model::organization::{Organization, OrganizationStatus};
use iam_model::role::Role;
use iam_model::store::{GrantQuery, Store};
use iam_model::user::{User, UserStatus};

use crate::race::{Scene, to};
use crate::world::{assigning, update};

/// A caller that loses the role with which it assigns is refused.
pub async fn a_caller_that_loses_its_role_cannot_assign(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let branch = scene.found("branch", None).await;
    let (admin, caller) =
        scene.member("admin@example.com", scene.built_in("ORGANIZATION_ADMIN"), Some(branch.id)).await;
    let grants = scene.world.grants(scene.tenant.id, GrantQuery::OfUser(admin.id)).await;
    let lost = AssignmentChange::Revoke { grants, reason: None };
    let item = to(&admin, scene.built_in("MEMBER"), Some(branch.id));
    let refused = overtake(&scene, [lost.into()], scene.assign(&caller, item)).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Permission(_)))), "{refused:?}");
    assert_eq!(scene.world.grants(scene.tenant.id, GrantQuery::OfUser(admin.id)).await, []);
}

/// A caller that is suspended while it assigns is refused.
pub async fn a_suspended_caller_cannot_assign(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (admin, caller) = scene.member("admin@example.com", scene.built_in("TENANT_ADMIN"), None).await;
    let after = User { status: UserStatus::Suspended, ..admin.clone() };
    let suspended = UserChange::ChangeStatus { before: admin.clone(), after, grants: None };
    let item = to(&admin, scene.built_in("MEMBER"), None);
    let refused = overtake(&scene, [suspended.into()], scene.assign(&caller, item)).await;
    assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
}

/// The administrator of a branch cannot assign in an organization that has left the branch.
pub async fn an_organization_outside_the_branch_is_not_found(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let branch = scene.found("branch", None).await;
    let (team, elsewhere) = (scene.found("team", Some(branch.id)).await, scene.found("elsewhere", None).await);
    let (admin, caller) =
        scene.member("admin@example.com", scene.built_in("ORGANIZATION_ADMIN"), Some(branch.id)).await;
    let item = to(&admin, scene.built_in("MEMBER"), Some(team.id));
    let leaves = moved(&team, Some(elsewhere.id));
    let refused = overtake(&scene, [leaves], scene.assign(&caller, item)).await;
    assert!(
        matches!(&refused, Err(Error::About { error, .. }) if matches!(**error, Error::NotFound(_))),
        "{refused:?}"
    );
}

/// The escalation check of an assignment uses the permissions that the role has under the lock.
pub async fn an_assignment_is_checked_against_the_current_role(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let giver = scene.role("GIVER", &["role-assignments:*", "users:read"]).await;
    let given = scene.role("GIVEN", &["users:read"]).await;
    let (user, caller) = scene.member("giver@example.com", &giver, None).await;
    let permissions = ["*".parse().unwrap()].into_iter().collect();
    let after = Role { permissions, ..given.clone() };
    let grown = RoleChange::Update { before: given.clone(), after, held_until: Until::Forever };
    let refused = overtake(&scene, [grown.into()], scene.assign(&caller, to(&user, &given, None))).await;
    assert_escalation(&refused);
}

/// The escalation check of a role change uses the role's assignments under the lock: the caller must hold an added
/// permission for as long as any user holds the role.
pub async fn a_role_change_is_checked_against_current_assignments(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let editor = scene.role("EDITOR", &["roles:*", "audit-logs:read"]).await;
    let edited = scene.role("EDITED", &["users:read"]).await;
    let until = Some(scene.iam.now() + TimeDelta::hours(1));
    let (user, caller) = scene.member_until("editor@example.com", &editor, None, until).await;
    let given = scene.assignment(&user, &edited, None);
    let (iam, id) = (scene.iam.clone(), edited.id);
    let permissions = Some(vec!["users:read".to_owned(), "audit-logs:read".to_owned()]);
    let patch = RolePatch { permissions, ..RolePatch::default() };
    let edit = async move { iam.roles().update(&caller, id, patch).await };
    assert_escalation(&overtake(&scene, [given], edit).await);
}

/// The escalation check of a move uses the assignments that exist in the new branch under the lock: the caller must
/// hold what they grant.
pub async fn a_move_is_checked_against_current_assignments(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (branch, team) = (scene.found("branch", None).await, scene.found("team", None).await);
    let mover = scene.role("MOVER", &["organizations:*"]).await;
    let given = scene.role("GIVEN", &["users:read"]).await;
    let (user, caller) = scene.member("mover@example.com", &mover, None).await;
    let given = scene.assignment(&user, &given, Some(branch.id));
    let refused = overtake(&scene, [given], scene.move_to(&caller, &team, Some(branch.id))).await;
    assert_escalation(&refused);
}

/// The escalation check of a reactivation uses the assignments that the user has under the lock: the caller must hold
/// what they grant.
pub async fn a_reactivation_is_checked_against_current_assignments(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (keeper, given) = (scene.role("KEEPER", &["users:*"]).await, scene.role("GIVEN", &["roles:read"]).await);
    let (_, caller) = scene.member("keeper@example.com", &keeper, None).await;
    let user = scene.user("suspended@example.com").await;
    scene.iam.users().suspend(&scene.system, user.id).await.unwrap();
    let (iam, id) = (scene.iam.clone(), user.id);
    let reactivate = async move { iam.users().reactivate(&caller, id).await };
    assert_escalation(&overtake(&scene, [scene.assignment(&user, &given, None)], reactivate).await);
}

/// The escalation check of an extension uses the expiry of the caller's rights under the lock.
pub async fn an_extension_is_checked_against_the_callers_current_expiry(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let branch = scene.found("branch", None).await;
    let (admin, caller) =
        scene.member("admin@example.com", scene.built_in("ORGANIZATION_ADMIN"), Some(branch.id)).await;
    let grant = scene.world.grants(scene.tenant.id, GrantQuery::OfUser(admin.id)).await.remove(0);
    let soon = Some(scene.iam.now() + TimeDelta::hours(1));
    let item = NewAssignment { expires_at: soon, ..to(&admin, scene.built_in("MEMBER"), Some(branch.id)) };
    let extended = scene.iam.assignments().create(&scene.system, item).await.unwrap();
    let shortened = AssignmentChange::ChangeExpiry { grant, expires_at: soon };
    let iam = scene.iam.clone();
    let extend =
        async move { iam.assignments().update(&caller, extended.id, AssignmentPatch { expires_at: Some(None) }).await };
    assert_escalation(&overtake(&scene, [shortened.into()], extend).await);
}

/// A deleted organization, user or role is not assigned.
pub async fn a_deleted_row_is_not_assigned(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (role, branch) = (scene.role("GIVEN", &["users:read"]).await, scene.found("branch", None).await);
    let (user, another) = (scene.user("user@example.com").await, scene.user("another@example.com").await);
    let assign = |user: &User, branch: &Organization| scene.assign(&scene.system, to(user, &role, Some(branch.id)));

    let gone = Organization { status: OrganizationStatus::Inactive, ..branch.clone() };
    let deleted = OrganizationChange::Delete { before: branch.clone(), after: gone };
    let refused = overtake(&scene, [deleted.into()], assign(&user, &branch)).await;
    assert_conflict(&refused, &Conflict::OrganizationInactive);

    let branch = scene.found("another", None).await;
    let gone = User { status: UserStatus::Inactive, ..user.clone() };
    let deleted = UserChange::Delete { before: user.clone(), after: gone };
    let refused = overtake(&scene, [deleted.into()], assign(&user, &branch)).await;
    assert_conflict(&refused, &Conflict::UserInactive);

    let deleted = RoleChange::Delete(role.clone());
    let refused = overtake(&scene, [deleted.into()], assign(&another, &branch)).await;
    assert!(
        matches!(&refused, Err(Error::About { error, .. }) if matches!(**error, Error::NotFound(_))),
        "{refused:?}"
    );
}

/// A deletion sees the assignments under the lock: it removes them, or it is refused.
pub async fn a_deletion_sees_current_assignments(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (role, branch) = (scene.role("GIVEN", &["users:read"]).await, scene.found("branch", None).await);
    let (user, another) = (scene.user("user@example.com").await, scene.user("another@example.com").await);
    let grants = async || {
        let users = [user.id, another.id];
        scene.world.store.grants_of(scene.tenant.id, &users).await.unwrap().len()
    };

    let (iam, system, id) = (scene.iam.clone(), scene.system.clone(), branch.id);
    let delete = async move { iam.organizations().delete(&system, id).await };
    overtake(&scene, [scene.assignment(&user, &role, Some(branch.id))], delete).await.unwrap();
    assert_eq!(grants().await, 0);

    let (iam, system, id) = (scene.iam.clone(), scene.system.clone(), user.id);
    let delete = async move { iam.users().delete(&system, id).await };
    overtake(&scene, [scene.assignment(&user, &role, None)], delete).await.unwrap();
    assert_eq!(grants().await, 0);

    let (iam, system, id) = (scene.iam.clone(), scene.system.clone(), role.id);
    let delete = async move { iam.roles().delete(&system, id).await };
    let refused = overtake(&scene, [scene.assignment(&another, &role, None)], delete).await;
    assert_conflict(&refused, &Conflict::RoleInUse);
    assert_eq!(grants().await, 1);
}

/// No organization is created below a deleted one, and an organization with a child is not deleted.
pub async fn a_deleted_organization_gets_no_child(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (branch, another) = (scene.found("branch", None).await, scene.found("another", None).await);
    let gone = Organization { status: OrganizationStatus::Inactive, ..branch.clone() };
    let deleted = OrganizationChange::Delete { before: branch.clone(), after: gone };
    let (iam, system) = (scene.iam.clone(), scene.system.clone());
    let new = NewOrganization { name: "Below".to_owned(), slug: None, parent: Some(branch.id) };
    let create = async move { iam.organizations().create(&system, new).await };
    let refused = overtake(&scene, [deleted.into()], create).await;
    assert!(
        matches!(&refused, Err(Error::About { error, .. })
            if matches!(**error, Error::Conflict(Conflict::OrganizationInactive))),
        "{refused:?}"
    );

    let child = scene.world.new_organization(scene.tenant.id, "child");
    let child = OrganizationChange::Create(Organization { parent_id: Some(another.id), ..child });
    let (iam, system, id) = (scene.iam.clone(), scene.system.clone(), another.id);
    let delete = async move { iam.organizations().delete(&system, id).await };
    let refused = overtake(&scene, [child.into()], delete).await;
    assert_conflict(&refused, &Conflict::OrganizationHasChildren);
}

/// A move is checked against the tree under the lock.
pub async fn a_move_is_checked_against_the_current_tree(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (left, right) = (scene.found("left", None).await, scene.found("right", None).await);
    let crossing = moved(&right, Some(left.id));
    let refused = overtake(&scene, [crossing], scene.move_to(&scene.system, &left, Some(right.id))).await;
    assert_rule(&refused, Rule::CircularParent);

    let chain = scene.world.chain(&scene.tenant, "chain", 5).await;
    let (low, deep) = (scene.found("low", None).await, scene.found("deep", Some(left.id)).await);
    let sinks = moved(&low, Some(chain[3].id));
    let refused = overtake(&scene, [sinks], scene.move_to(&scene.system, &left, Some(low.id))).await;
    assert_rule(&refused, Rule::Depth(5));
    assert_eq!(deep.parent_id, Some(left.id));
}

/// A user that is the last administrator under the lock is not deleted.
pub async fn the_current_last_administrator_is_not_deleted(store: Arc<dyn Store>) {
    let scene = Scene::new(store).await;
    let (second, _) = scene.member("second@example.com", scene.built_in("TENANT_ADMIN"), None).await;
    let after = User { status: UserStatus::Suspended, ..second.clone() };
    let suspended = UserChange::ChangeStatus { before: second, after, grants: None };
    let (iam, system, first) = (scene.iam.clone(), scene.system.clone(), scene.founder.id);
    let delete = async move { iam.users().delete(&system, first).await };
    let refused = overtake(&scene, [suspended.into()], delete).await;
    assert_conflict(&refused, &Conflict::LastAdministrator);
}

/// Starts a request while the tenant is locked, and commits changes before the lock is released.
///
/// A request that has not reached the lock by then is not overtaken. It finds the changes, and its answer is the
/// same.
async fn overtake<T: Send + 'static>(
    scene: &Scene,
    changes: impl IntoIterator<Item = Change>,
    request: impl Future<Output = T> + Send + 'static,
) -> T {
    let mut work = scene.world.begin(scene.system.author()).await;
    work.locks().lock_tenant().await.unwrap();
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

impl Scene {
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
