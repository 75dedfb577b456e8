//! Sessions in which a user acts as another one, while the rights of both change here and elsewhere.

use iam_model::audit::AuditFilter;

use super::*;
use crate::session::NewImpersonation;

/// Eve, who may act as Ada: she holds what Ada holds, by another role.
struct Eve {
    id: UserId,
    caller: Caller,
    assignment: AssignmentId,
}

impl World {
    async fn eve(&self) -> Eve {
        let here = &self.here;
        let permissions = ["impersonations:create", "users:read", "roles:read"].map(str::to_owned).to_vec();
        let role = NewRole { name: "SUPPORTER".into(), description: None, scope: RoleScope::Any, permissions };
        let role = here.roles().create(&self.admin, role).await.unwrap().id;
        let id = here.users().create(&self.admin, person("eve@example.com")).await.unwrap().id;
        let new = NewAssignment { user: id, role, organization: None, expires_at: None };
        let assignment = here.assignments().create(&self.admin, new).await.unwrap().id;
        let login = Login { email: "eve@example.com".into(), password: "Passw0rd!".into(), tenant: None };
        let login = here.sessions().login(&RequestContext::default(), login).await.unwrap();
        let caller = here.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap();
        Eve { id, caller, assignment }
    }

    /// Lets Eve act as Ada, and returns the access token.
    async fn act(&self, by: &Iam, eve: &Eve) -> String {
        let (reason, duration) = ("ticket 7".to_owned(), TimeDelta::minutes(2));
        let new = NewImpersonation { reason, duration, read_only: true };
        let (_, token) = by.sessions().impersonate(&eve.caller, self.ada.user.id, new).await.unwrap();
        token.expose().to_owned()
    }

    async fn is_accepted(&self, token: &str) -> bool {
        match self.here.authenticate(token, RequestContext::default()).await {
            Ok(caller) => {
                assert_eq!(caller.user(), Some(self.ada.user.id));
                true
            }
            Err(Error::Unauthenticated(Unauthenticated::InvalidToken)) => false,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// Why the sessions in which a user acts as another one have ended.
    async fn causes(&self) -> Vec<String> {
        let filter = AuditFilter { action: Some("IMPERSONATION_ENDED".to_owned()), ..AuditFilter::default() };
        let log = self.here.audit().list(&self.admin, filter, None, 100).await.unwrap();
        let cause = |entry: &iam_model::audit::AuditEntry| entry.metadata["cause"].as_str().unwrap().to_owned();
        log.entries.iter().map(cause).collect()
    }
}

#[tokio::test]
async fn a_request_of_a_user_who_acts_as_another_one_makes_no_query_while_both_are_cached() {
    let world = World::new().await;
    let _feed_control = world.follow().await;
    let token = world.act(&world.here, &world.eve().await).await;
    assert!(world.is_accepted(&token).await);
    world.counter.take();
    assert!(world.is_accepted(&token).await);
    assert_eq!(world.counter.take(), BTreeMap::new());
}

#[tokio::test]
async fn who_acts_as_a_user_stops_with_its_rights_and_its_session_here_and_elsewhere() {
    for is_here in [true, false] {
        let world = World::new().await;
        let (mut feed_control, eve) = (world.follow().await, world.eve().await);
        let by = if is_here { &world.here } else { &world.elsewhere };
        let admin = &world.admin;
        for (way, cause) in [(0, "ACTOR_RIGHTS"), (1, "ACTOR_RIGHTS"), (2, "ACTOR_RIGHTS"), (3, "ACTOR_SESSION")] {
            world.clock.advance(TimeDelta::seconds(1));
            let token = world.act(&world.here, &eve).await;
            assert!(world.is_accepted(&token).await, "{way}");
            let changed: Uuid = match way {
                // Ada gets more than Eve holds, and then all permissions.
                0 => {
                    world.permit(by, "webhooks:read").await;
                    world.role.into()
                }
                1 => {
                    world.permit(by, "*").await;
                    world.role.into()
                }
                // Eve loses what she needs.
                2 => {
                    world.revoke(by, eve.assignment).await;
                    eve.id.into()
                }
                _ => {
                    by.sessions().logout(&eve.caller).await.unwrap();
                    eve.caller.require_user().unwrap().1.into()
                }
            };
            if !is_here {
                feed_control.notify(&[changed, world.role.into()]).await;
            }
            assert!(!world.is_accepted(&token).await, "{way}");
            assert_eq!(world.causes().await.first().map(String::as_str), Some(cause), "{way}");
            // It has ended, and does not come back with the rights.
            world.permit(&world.here, "roles:read").await;
            if way == 2 {
                let role = world.supporter().await;
                let new = NewAssignment { user: eve.id, role, organization: None, expires_at: None };
                world.here.assignments().create(admin, new).await.unwrap();
            }
            assert!(!world.is_accepted(&token).await, "{way}");
        }
    }
}

#[tokio::test]
async fn a_right_that_was_given_elsewhere_counts_before_it_is_notified() {
    let world = World::new().await;
    let (_feed_control, eve) = (world.follow().await, world.eve().await);
    world.fill_cache().await;
    let own = async || world.here.0.renewed(&eve.caller).await.unwrap();
    world.revoke(&world.here, eve.assignment).await;
    own().await;
    // This process still knows that Eve holds nothing.
    let role = world.supporter().await;
    let new = NewAssignment { user: eve.id, role, organization: None, expires_at: None };
    world.elsewhere.assignments().create(&world.admin, new).await.unwrap();
    let token = world.act(&world.elsewhere, &eve).await;
    assert!(world.is_accepted(&token).await);
    assert_eq!(world.causes().await, [""; 0]);
}

impl World {
    async fn supporter(&self) -> RoleId {
        let roles = self.here.roles().list(&self.admin, iam_model::page::PageRequest::default()).await.unwrap();
        roles.items.into_iter().find(|role| role.name.as_str() == "SUPPORTER").unwrap().id
    }
}

#[test]
fn a_comparison_counts_for_the_same_state_until_it_ends() {
    let now = FixedClock::at("2026-01-31T09:15:00Z").now();
    let state = || {
        Arc::new(CachedSession::from(SessionSnapshot {
            user_id: Uuid::from_u128(1).into(),
            user_status: UserStatus::Active,
            tenant_status: TenantStatus::Active,
            expires_at: now,
            impersonator: None,
            enrol_by: None,
            authzen_identifiers: AuthzenIdentifiers::default(),
            grants: Vec::new(),
        }))
    };
    let (session, own, same_again) = (state(), state(), state());
    assert!(!session.is_covered_by(&own, now));
    session.keep_covered(&own, Until::Moment(now + TimeDelta::seconds(1)));
    assert!(session.is_covered_by(&own, now) && !session.is_covered_by(&same_again, now));
    assert!(!session.is_covered_by(&own, now + TimeDelta::seconds(1)));
    session.keep_covered(&same_again, Until::Forever);
    assert!(session.is_covered_by(&same_again, now) && !session.is_covered_by(&own, now));
}
