//! Introspection: which tokens are described, and to whom.

use std::sync::Arc;

use chrono::{SubsecRound as _, TimeDelta};
use iam_core::api_key::{IssuedApiKey, NewApiKey};
use iam_core::clock::Clock as _;
use iam_core::credential::HashingCost;
use iam_core::session::LoggedIn;
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Error, Iam, IntrospectedToken, RequestContext, Settings};
use iam_model::clock::testing::FixedClock;
use iam_store_memory::MemoryStore;

/// An administrator with a key. Each is in a tenant of its own.
struct Person {
    login: LoggedIn,
    caller: Caller,
    key: IssuedApiKey,
}

async fn service() -> (Iam, FixedClock) {
    let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
    let mut settings = Settings::default();
    settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
    let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).clock(clock.clone());
    (builder.build().await.unwrap(), clock)
}

async fn person(iam: &Iam, email: &str) -> Person {
    let (first_name, last_name) = ("Ada".to_owned(), "Lovelace".to_owned());
    let user = NewUser { email: email.to_owned(), password: "Passw0rd!".into(), first_name, last_name };
    let registration = Registration { user, tenant_name: None };
    let login = iam.tenants().register(&RequestContext::default(), registration).await.unwrap().login;
    let caller = iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap();
    let new = NewApiKey { name: "nightly".to_owned(), ..NewApiKey::default() };
    let key = iam.api_keys().create(&caller, login.user.id, new).await.unwrap();
    Person { login, caller, key }
}

#[tokio::test]
async fn a_token_and_a_key_are_described_only_in_their_tenant() {
    let (iam, clock) = service().await;
    let ada = person(&iam, "ada@example.com").await;
    clock.advance(TimeDelta::minutes(1));
    let bob = person(&iam, "bob@example.com").await;
    let began = clock.now().trunc_subsecs(0);
    let (token, key) = (bob.login.tokens.access.expose(), bob.key.token.expose());

    let described = iam.introspect(&bob.caller, token).await.unwrap().unwrap();
    assert_eq!((described.user, described.tenant), (bob.login.user.id, bob.caller.tenant()));
    assert_eq!((described.issued_at, described.expires_at), (began, began + TimeDelta::minutes(15)));
    let IntrospectedToken::Access { session, authenticated_at, .. } = described.token else { panic!("no token") };
    assert_eq!((session, authenticated_at), (bob.caller.require_user().unwrap().1, began));

    let described = iam.introspect(&bob.caller, key).await.unwrap().unwrap();
    assert_eq!((described.user, described.tenant), (bob.login.user.id, bob.caller.tenant()));
    assert_eq!((described.issued_at, described.expires_at), (bob.key.key.created_at, bob.key.key.expires_at));
    let IntrospectedToken::ApiKey { id, .. } = described.token else { panic!("no key") };
    assert_eq!(id, bob.key.key.id);

    for text in [token, key, bob.login.tokens.refresh.expose(), "", "iamk_x"] {
        assert_eq!(iam.introspect(&ada.caller, text).await.unwrap(), None);
    }
    iam.sessions().logout(&bob.caller).await.unwrap();
    iam.api_keys().delete(&Caller::system(bob.caller.tenant(), "test"), bob.key.key.id).await.unwrap();
    let system = Caller::system(bob.caller.tenant(), "test");
    for text in [token, key] {
        assert_eq!(iam.introspect(&system, text).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_key_is_known_after_it_was_verified_and_until_it_is_refused() {
    let (iam, clock) = service().await;
    let ada = person(&iam, "ada@example.com").await;
    let (token, key) = (ada.login.tokens.access.expose(), ada.key.token.expose());
    assert!(iam.knows_token(token) && iam.knows_token("x") && !iam.knows_token(key));
    iam.authenticate(key, RequestContext::default()).await.unwrap();
    assert!(iam.knows_token(key));
    for _ in 0..2 {
        iam.authenticate(token, RequestContext::default()).await.unwrap();
    }
    clock.advance(TimeDelta::days(91));
    iam.authenticate(key, RequestContext::default()).await.unwrap_err();
    assert!(!iam.knows_token(key));
}

#[tokio::test]
async fn an_introspection_needs_the_permission() {
    let (iam, _) = service().await;
    let ada = person(&iam, "ada@example.com").await;
    for (permission, is_allowed) in [("sessions:read", true), ("sessions:delete", false)] {
        let new =
            NewApiKey { permissions: Some(vec![permission.to_owned()]), name: "x".into(), ..NewApiKey::default() };
        let key = iam.api_keys().create(&ada.caller, ada.login.user.id, new).await.unwrap();
        let caller = iam.authenticate(key.token.expose(), RequestContext::default()).await.unwrap();
        let introspection = iam.introspect(&caller, ada.key.token.expose()).await;
        match introspection {
            Ok(described) => assert!(is_allowed && described.is_some()),
            Err(error) => assert!(!is_allowed && matches!(error, Error::Forbidden(_)), "{error:?}"),
        }
    }
}
