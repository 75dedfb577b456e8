//! What two requests can race for, raced by real tasks through the services.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::assignment::{Assignment, AssignmentChange};
use crate::audit::{AuditEntry, AuditFilter};
use crate::caller::{Caller, RequestContext};
use crate::credential::HashingCost;
use crate::error::{Conflict, Error, Result};
use crate::iam::{Iam, Settings};
use crate::session::{LoggedIn, Login};
use crate::store::Store;
use crate::tenant::{Registered, Registration};
use crate::user::{NewUser, User};

use super::World;

const PASSWORD: &str = "Passw0rd!";

/// Of many that create a user with one e-mail, one succeeds and the others conflict.
pub async fn creates_of_one_email(store: Arc<dyn Store>) {
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

/// Of many guesses at once, five are looked at; a right one among the rest is refused.
pub async fn guesses_of_one_password(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let registered = register(&iam).await;
    let results = race(24, |_| login(&iam, "ada@example.com", "Wr0ng pass!")).await;
    assert_eq!(answers(&results), (5, 19));
    assert!(matches!(login(&iam, "ada@example.com", PASSWORD).await, Err(Error::AccountLocked { .. })));
    let caller = Caller::system(registered.tenant.id, "conformance");
    assert_eq!(count(&iam, &caller, "LOGIN_FAILURE", "USER").await, 25);
}

/// The same for an e-mail that nobody has.
pub async fn guesses_of_an_unknown_email(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let results = race(24, |_| login(&iam, "nobody@example.com", "Wr0ng pass!")).await;
    assert_eq!(answers(&results), (5, 19));
}

/// Whoever has an account of its own with the same e-mail, in another tenant, cannot guess unseen beside it.
pub async fn guesses_beside_an_account_of_ones_own(store: Arc<dyn Store>) {
    let iam = iam(store).await;
    let victim = register(&iam).await;
    let guess = "Gu3ssed it!";
    let own =
        Registration { user: NewUser { password: guess.into(), ..new_user("ada@example.com") }, tenant_name: None };
    iam.tenants().register(&RequestContext::default(), own).await.unwrap();
    let results = race(8, |_| login(&iam, "ada@example.com", guess)).await;
    assert!(results.iter().all(Result::is_ok), "the guesser gets into its own account");
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
    assert_eq!(log.entries.iter().filter(is_counted).count(), 5);
}

/// Of many that exchange one refresh token, all get the same successor, and the session lives on.
pub async fn refreshes_of_one_token(store: Arc<dyn Store>) {
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

/// Of the last two administrators, one stays, whichever way both are removed at once.
pub async fn removals_of_the_last_two_administrators(store: Arc<dyn Store>) {
    let iam = iam(Arc::clone(&store)).await;
    let world = World::new(store);
    for round in 0..8 {
        let registered = register_as(&iam, &format!("admin{round}@example.com")).await;
        let caller = Caller::system(registered.tenant.id, "conformance");
        let first = registered.login.user;
        let second = iam.users().create(&caller, new_user("second@example.com")).await.unwrap();
        let grant = world.store.grants_of(registered.tenant.id, first.id).await.unwrap().remove(0);
        let assignment = Assignment { id: world.id(), user_id: second.id, ..grant.assignment };
        world.commit(registered.tenant.id, AssignmentChange::Create { assignment, role_name: grant.role.name }).await;
        let users = [first.id, second.id];
        let results = race(2, |number| {
            let (iam, caller, user) = (iam.clone(), caller.clone(), users[number]);
            async move {
                if round % 2 == 0 {
                    iam.users().delete(&caller, user).await
                } else {
                    iam.users().suspend(&caller, user).await.map(drop)
                }
            }
        })
        .await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        let refused = results.into_iter().find_map(Result::err).unwrap();
        assert!(matches!(refused, Error::Conflict(Conflict::LastAdministrator)), "{refused:?}");
    }
}

/// Of many that start at once with an empty store, all sign with one key.
pub async fn starts_with_an_empty_store(store: Arc<dyn Store>) {
    let services = race(8, |_| iam(Arc::clone(&store))).await;
    assert_eq!(store.signing_keys().await.unwrap().len(), 1);
    let token = register(&services[0]).await.login.tokens.access;
    for iam in &services {
        assert!(iam.authenticate(token.expose(), RequestContext::default()).await.is_ok());
    }
}

async fn race<T, F>(tasks: usize, start: impl Fn(usize) -> F) -> Vec<T>
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
    let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
    Iam::builder(store).settings(Settings { hashing_cost, ..Settings::default() }).build().await.unwrap()
}

async fn register(iam: &Iam) -> Registered {
    register_as(iam, "ada@example.com").await
}

async fn register_as(iam: &Iam, email: &str) -> Registered {
    let registration = Registration { user: new_user(email), tenant_name: None };
    iam.tenants().register(&RequestContext::default(), registration).await.unwrap()
}

fn new_user(email: &str) -> NewUser {
    NewUser {
        email: email.to_owned(),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

fn login(iam: &Iam, email: &str, password: &str) -> impl Future<Output = Result<LoggedIn>> + Send + use<> {
    let (iam, email, password) = (iam.clone(), email.to_owned(), password.into());
    async move { iam.sessions().login(&RequestContext::default(), Login { email, password, tenant: None }).await }
}

/// How many were told that the credentials are wrong, and how many that the account is locked.
fn answers(results: &[Result<LoggedIn>]) -> (usize, usize) {
    let wrong = |result: &&Result<LoggedIn>| matches!(result, Err(Error::Unauthenticated(_)));
    let locked = |result: &&Result<LoggedIn>| matches!(result, Err(Error::AccountLocked { .. }));
    (results.iter().filter(wrong).count(), results.iter().filter(locked).count())
}

async fn count(iam: &Iam, caller: &Caller, action: &str, resource_type: &str) -> usize {
    let filter = AuditFilter {
        action: Some(action.to_owned()),
        resource_type: Some(resource_type.to_owned()),
        ..AuditFilter::default()
    };
    iam.audit().list(caller, filter, None, 100).await.unwrap().entries.len()
}
