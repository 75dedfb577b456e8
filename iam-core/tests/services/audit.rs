//! The erasure of audit entries, and what an overview counts, by callers that may and may not do it.

use std::sync::Arc;

use chrono::{Days, TimeDelta};
use iam_core::assignment::NewAssignment;
use iam_core::organization::NewOrganization;
use iam_core::role::NewRole;
use iam_core::session::{LoggedIn, Login};
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Error, Forbidden, Iam, RequestContext};
use iam_store_memory::MemoryStore;

async fn registered() -> (Iam, Caller, LoggedIn) {
    let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
    let user = NewUser {
        email: "ada@example.com".to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let context = RequestContext::default();
    let registered = iam.tenants().register(&context, Registration { user, tenant_name: None }).await.unwrap();
    let caller = iam.authenticate(registered.login.tokens.access.expose(), context).await.unwrap();
    (iam, caller, registered.login)
}

#[tokio::test]
async fn users_cannot_erase_their_own_entries() {
    let (iam, ada, login) = registered().await;
    let refused = iam.audit().erase(&ada, login.user.id).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::OwnEntries))), "{refused:?}");
}

/// Logs in, in a task of its own, which begins on an empty stack.
async fn logged_in(iam: &Iam, email: &str) -> Caller {
    let login = Login { email: email.to_owned(), password: "Passw0rd!".into(), tenant: None };
    let iam = iam.clone();
    let caller = tokio::spawn(async move {
        let login = iam.sessions().login(&RequestContext::default(), login).await.unwrap();
        iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap()
    });
    caller.await.unwrap()
}

#[tokio::test]
async fn what_an_overview_counts_needs_a_permission_in_the_whole_tenant() {
    let (iam, ada, _) = registered().await;
    let north = NewOrganization { name: "North".into(), ..NewOrganization::default() };
    let north = iam.organizations().create(&ada, north).await.unwrap().organization.id;
    let permissions = ["api-keys:read", "audit-logs:read", "users:read", "webhooks:read"].map(str::to_owned).into();
    let role = NewRole { name: "WATCHER".into(), permissions, ..NewRole::default() };
    let role = iam.roles().create(&ada, role).await.unwrap().id;
    let from = iam.now().date_naive() - Days::new(7);
    for (email, organization) in [("north@example.com", Some(north)), ("all@example.com", None)] {
        let user = NewUser {
            email: email.to_owned(),
            password: "Passw0rd!".into(),
            first_name: "Grace".to_owned(),
            last_name: "Hopper".to_owned(),
        };
        let user = iam.users().create(&ada, user).await.unwrap().id;
        let new = NewAssignment { user, role, organization, expires_at: None };
        iam.assignments().create(&ada, new).await.unwrap();
        let caller = logged_in(&iam, email).await;
        let answers = [
            iam.audit().count_actors_by_week(&caller, "LOGIN", from).await.map(drop),
            iam.factors().count_people(&caller).await.map(drop),
            iam.api_keys().expiring(&caller, TimeDelta::days(1), 1).await.map(drop),
            iam.webhooks().failing(&caller).await.map(drop),
        ];
        for answer in answers {
            match organization {
                None => answer.unwrap(),
                Some(_) => assert!(matches!(answer, Err(Error::Forbidden(Forbidden::Permission(_)))), "{answer:?}"),
            }
        }
    }
    // The registration of Ada is a login. The three logins may be in two weeks.
    let counted = iam.audit().count_actors_by_week(&ada, "LOGIN", from).await.unwrap();
    assert_eq!(counted.weeks.values().sum::<u64>(), 3, "{counted:?}");
    let people = iam.factors().count_people(&ada).await.unwrap();
    assert_eq!((people.people, people.with_factor, people.without_factor()), (3, 0, Some(3)));
}
