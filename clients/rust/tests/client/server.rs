//! The client against a real server: `scripts/check-rust-client` starts one, and names it in `IAM_URL`.
#![cfg(test)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use iam_client::models::{
    ListUsers, Login, NewApiKey, NewImpersonation, NewOrganization, NewServiceAccount, NewUser, PermissionCheck,
    Registration, UserPatch,
};
use iam_client::{Change, Client, Code, Error, EventFilter, Expected, Tenants, TokenError, TokenVerifier};
use uuid::Uuid;

const PASSWORD: &str = "Passw0rd!";

fn builder() -> iam_client::Builder {
    Client::builder(std::env::var("IAM_URL").expect("IAM_URL is the address of an API"))
}

fn address_of(name: &str) -> String {
    format!("{name}.{}@example.com", Uuid::new_v4())
}

/// A new tenant whose administrator has logged in.
async fn tenant(client: &Client) -> (Uuid, String) {
    let email = address_of("ada");
    let registration = Registration {
        email: email.clone(),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        tenant_name: None,
    };
    (client.register(&registration).await.unwrap().tenant.id, email)
}

fn new_user(name: &str) -> NewUser {
    NewUser {
        email: address_of(name),
        password: PASSWORD.into(),
        first_name: name.to_owned(),
        last_name: "Example".to_owned(),
        ..NewUser::default()
    }
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn a_session_is_refreshed_by_concurrent_calls() {
    let client = builder().build().unwrap();
    tenant(&client).await;
    let before = client.tokens().unwrap();
    // The service takes an expired token as it takes this one.
    let mut tokens = before.clone();
    tokens.access_token = format!("{}x", tokens.access_token.expose()).into();
    let client = builder().tokens(tokens).build().unwrap();
    for me in join_all((0..8).map(|_| async { client.get_me().await })).await {
        assert_eq!(me.unwrap().user.first_name.as_deref(), Some("Ada"));
    }
    let after = client.tokens().unwrap();
    assert_ne!(after.refresh_token, before.refresh_token);
    client.refresh().await.unwrap();
    assert_ne!(client.tokens().unwrap().refresh_token, after.refresh_token);

    client.logout().await.unwrap();
    assert!(matches!(client.refresh().await, Err(Error::NoSession)));
    let ended = builder().tokens(after).build().unwrap();
    assert_eq!(ended.get_me().await.unwrap_err().code(), Some(Code::Unauthorized));
    assert!(ended.tokens().is_none());
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn a_session_that_is_not_recent_asks_for_a_step_up() {
    let client = builder().build().unwrap();
    tenant(&client).await;
    let grace = client.create_user(&new_user("grace")).await.unwrap();
    // Such a session is never recent.
    let new = NewImpersonation { reason: "Ticket 4711".to_owned(), seconds: 900, read_only: Some(false) };
    let acting = client.create_impersonation(grace.id, &new).await.unwrap().access_token.unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let client = builder().access_token(acting).on_step_up(move |_, problem| {
        assert!(problem.asks_for_step_up(), "{problem}");
        counted.fetch_add(1, Ordering::Relaxed);
        async { None }
    });
    let refused = client.build().unwrap().logout_all().await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::InsufficientAuthentication));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn a_repeated_creation_creates_once_and_a_changed_tag_refuses() {
    let client = builder().build().unwrap();
    tenant(&client).await;
    let (new, key) = (new_user("grace"), Uuid::new_v4().to_string());
    let first = client.create_user(&new).idempotency_key(&key).response().await.unwrap();
    let again = client.create_user(&new).idempotency_key(&key).response().await.unwrap();
    assert!(!first.is_replayed && again.is_replayed);
    assert_eq!(first.value.id, again.value.id);
    let reused = client.create_user(&new_user("mary")).idempotency_key(&key).await.unwrap_err();
    assert_eq!(reused.code(), Some(Code::IdempotencyKeyReused));

    let etag = client.get_user(first.value.id).response().await.unwrap().etag.unwrap();
    let patch = UserPatch { first_name: "Rear Admiral".to_owned().into(), ..UserPatch::default() };
    client.update_user(first.value.id, &patch).if_match(&etag).await.unwrap();
    let stale = client.update_user(first.value.id, &patch).if_match(&etag).await.unwrap_err();
    assert_eq!(stale.code(), Some(Code::PreconditionFailed));

    let patch = UserPatch { external_id: "employee-1".to_owned().into(), ..UserPatch::default() };
    client.update_user(first.value.id, &patch).await.unwrap();
    let patch = UserPatch { external_id: Change::Null, ..UserPatch::default() };
    client.update_user(first.value.id, &patch).await.unwrap();
    assert_eq!(client.get_user(first.value.id).await.unwrap().external_id, None);

    let preview = client.preview_delete_user(first.value.id).await.unwrap();
    assert!(preview.allowed && preview.problem.is_none());
    let branch = NewOrganization { name: "Branch".into(), ..NewOrganization::default() };
    assert!(client.preview_create_organization(&branch).await.unwrap().allowed);
    assert!(client.list_organizations(&Default::default()).await.unwrap().data.is_empty());
    let invalid = client.create_user(&NewUser { email: "grace".to_owned(), ..new }).await.unwrap_err();
    assert!(invalid.problem().unwrap().field("email").is_some(), "{invalid}");
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn lists_events_and_exports_are_whole() {
    let client = builder().build().unwrap();
    tenant(&client).await;
    for number in 0..5 {
        let name = format!("Branch {number}");
        client.create_organization(&NewOrganization { name, ..NewOrganization::default() }).await.unwrap();
    }
    let query = iam_client::models::ListOrganizations { limit: Some(2), ..Default::default() };
    let organizations = client.list_organizations(&query).items().collect().await.unwrap();
    assert_eq!(organizations.len(), 5);
    let mut pages =
        client.list_audit_logs(&iam_client::models::ListAuditLogs { limit: Some(3), ..Default::default() }).pages();
    let mut entries = Vec::new();
    while let Some(page) = pages.next().await {
        entries.extend(page.unwrap().data);
    }
    assert!(entries.len() > 5, "{}", entries.len());

    let types = vec!["ORGANIZATION.*".to_owned()];
    let mut events = client.events(EventFilter { types: types.clone(), ..EventFilter::default() });
    for _ in 0..3 {
        assert_eq!(events.next().await.unwrap().unwrap().r#type, "ORGANIZATION.CREATE");
    }
    let mut rest = client.events(EventFilter { types, after: Some(events.position()) });
    for _ in 0..2 {
        let (one, other) = (events.next().await.unwrap().unwrap(), rest.next().await.unwrap().unwrap());
        assert_eq!(one.sequence, other.sequence);
    }
    // The next event arrives while the stream waits.
    let created =
        async { client.create_organization(&NewOrganization { name: "Last".into(), ..Default::default() }).await };
    let (event, created) = futures_util::future::join(events.next(), created).await;
    assert_eq!(event.unwrap().unwrap().entry.resource_id, created.unwrap().id.to_string().into());

    let exported = client.export_audit_logs(&Default::default()).lines().collect().await.unwrap();
    assert!(exported.len() > entries.len());
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn tokens_are_verified_with_their_tenant() {
    let (client, other) = (builder().build().unwrap(), builder().build().unwrap());
    let (tenant_id, _) = tenant(&client).await;
    tenant(&other).await;
    let expected =
        |audience: &str| Expected { issuer: "iam".into(), audience: audience.into(), tenants: Tenants::One(tenant_id) };
    let verifier = TokenVerifier::new(&client, expected("iam"));
    let token = client.tokens().unwrap().access_token;
    let verified = verifier.verify(token.expose()).await.unwrap();
    assert_eq!(verified.user, client.get_me().await.unwrap().user.id);
    assert!(!verified.read_only);
    let stranger = other.tokens().unwrap().access_token;
    assert!(matches!(verifier.verify(stranger.expose()).await, Err(TokenError::Tenant)));
    let elsewhere = TokenVerifier::new(&client, expected("shop"));
    assert!(matches!(elsewhere.verify(token.expose()).await, Err(TokenError::Invalid)));

    // A token by which another user acts.
    let grace = client.create_user(&new_user("grace")).await.unwrap();
    let new = NewImpersonation { reason: "Ticket 4711".to_owned(), seconds: 900, ..Default::default() };
    let acting = client.create_impersonation(grace.id, &new).await.unwrap();
    let token = acting.access_token.unwrap();
    // A check is no change.
    let check = PermissionCheck { permission: "users:read".into(), ..PermissionCheck::default() };
    assert!(!client.with_access_token(token.clone()).check(&check).await.unwrap().allowed);
    let acting = verifier.verify(token.expose()).await.unwrap();
    assert_eq!((acting.user, acting.actor, acting.read_only), (grace.id, Some(verified.user), true));
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn a_program_acts_by_its_key() {
    let client = builder().build().unwrap();
    tenant(&client).await;
    let robot = client.create_service_account(&NewServiceAccount { name: "Warehouse".into(), ..Default::default() });
    let robot = robot.await.unwrap();
    let new = NewApiKey { name: "cron".into(), permissions: Some(vec!["users:read".into()]), ..NewApiKey::default() };
    let key = client.create_api_key(robot.id, &new).await.unwrap().key.unwrap();
    let program = builder().api_key(key).build().unwrap();
    assert_eq!(program.get_me().await.unwrap().user.id, robot.id);
    assert_eq!(program.list_users(&ListUsers::default()).await.unwrap_err().code(), Some(Code::Forbidden));
    let check = PermissionCheck { permission: "users:read".into(), ..PermissionCheck::default() };
    assert!(!program.check(&check).await.unwrap().allowed);
    assert!(client.check(&check).await.unwrap().allowed);
}

#[tokio::test]
#[ignore = "needs a server: scripts/check-rust-client"]
async fn a_wrong_login_is_a_problem() {
    let client = builder().build().unwrap();
    let (_, email) = tenant(&client).await;
    let anonymous = builder().build().unwrap();
    let login = |password: &str| Login { email: email.clone(), password: password.into(), tenant: None };
    let refused = anonymous.login(&login("wrong")).await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::Unauthorized));
    assert!(anonymous.tokens().is_none());
    anonymous.login(&login(PASSWORD)).await.unwrap();
    assert!(anonymous.tokens().is_some());
}
