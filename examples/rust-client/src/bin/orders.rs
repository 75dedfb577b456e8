//! A service on axum whose users send it the access tokens of the service, and what it answers to them.

use std::error::Error;

use axum::Router;
use axum::routing::{get, post};
use iam_client::axum::{Authenticated, Guard};
use iam_client::models::{
    LoggedIn, Login, NewOrganization, NewPermission, NewRole, NewRoleAssignment, NewUser, Registration,
};
use iam_client::{Client, Expected, Tenants, TokenVerifier};
use reqwest::StatusCode;
use uuid::Uuid;

const PASSWORD: &str = "Passw0rd!";

async fn whoami(Authenticated(caller): Authenticated) -> String {
    format!("{} of {}", caller.user, caller.tenant)
}

/// The routes of the service.
fn orders(guard: Guard) -> Router {
    let refund = guard.require_permission("orders:refund").in_organization("branch");
    let report = guard.require_permission("orders:report");
    Router::new()
        .route("/branches/{branch}/refunds", post(async || "refunded").route_layer(refund))
        .route("/report", get(async || "reported").route_layer(report))
        .route("/whoami", get(whoami))
        .with_state(guard)
}

/// Sends a request to the service, as a browser does.
async fn status(method: reqwest::Method, url: &str, token: &str) -> Result<StatusCode, reqwest::Error> {
    let request = reqwest::Client::new().request(method, url);
    let request = if token.is_empty() { request } else { request.bearer_auth(token) };
    Ok(request.send().await?.status())
}

/// A user without rights, who is logged in.
async fn user(administrator: &Client, name: &str) -> Result<LoggedIn, iam_client::Error> {
    let email = format!("{name}.{}@example.com", Uuid::new_v4());
    let new = NewUser {
        email: email.clone(),
        password: PASSWORD.into(),
        first_name: name.to_owned(),
        last_name: "Example".to_owned(),
        ..NewUser::default()
    };
    administrator.create_user(&new).await?;
    // A client has one session, and this one is of the administrator.
    let login = Login { email, password: PASSWORD.into(), tenant: None };
    administrator.anonymous().login(&login).await
}

async fn tenant(client: &Client) -> Result<Uuid, iam_client::Error> {
    let registration = Registration {
        email: format!("ada.{}@example.com", Uuid::new_v4()),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        tenant_name: None,
    };
    Ok(client.register(&registration).await?.tenant.id)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("IAM_URL").unwrap_or_else(|_| "http://localhost:8080/api/v1".to_owned());
    let administrator = Client::builder(url.clone()).build()?;
    let tenant_id = tenant(&administrator).await?;

    // What the service needs: whose tokens it takes, and where their keys are.
    let expected = Expected { issuer: "iam".into(), audience: "iam".into(), tenants: Tenants::One(tenant_id) };
    let client = Client::builder(url.clone()).build()?;
    let guard = Guard::new(&client, TokenVerifier::new(&client, expected));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let service = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, orders(guard)).await });

    // Grace may refund in one branch.
    for name in ["orders:refund", "orders:report"] {
        administrator.create_permission(&NewPermission { name: name.to_owned(), ..Default::default() }).await?;
    }
    let permissions = Some(vec!["orders:refund".to_owned()]);
    let role = NewRole { name: "CASHIER".to_owned(), permissions, ..NewRole::default() };
    let role = administrator.create_role(&role).await?;
    let branch = |name: &str| NewOrganization { name: name.to_owned(), ..NewOrganization::default() };
    let here = administrator.create_organization(&branch("Here")).await?;
    let elsewhere = administrator.create_organization(&branch("Elsewhere")).await?;
    let grace = user(&administrator, "grace").await?;
    let assignment = NewRoleAssignment {
        user_id: grace.user.id,
        role_id: role.id,
        organization_id: Some(here.id),
        ..NewRoleAssignment::default()
    };
    administrator.create_role_assignment(&assignment).await?;

    // A user of another tenant, whose token has a valid signature.
    let stranger = Client::builder(url).build()?;
    tenant(&stranger).await?;
    let stranger = stranger.tokens().ok_or("no session")?.access_token;

    let (get, post) = (reqwest::Method::GET, reqwest::Method::POST);
    let (refund, report) = (format!("{service}/branches/{}/refunds", here.id), format!("{service}/report"));
    let other = format!("{service}/branches/{}/refunds", elsewhere.id);
    let whoami = format!("{service}/whoami");
    let token = grace.access_token.expose();
    for (method, url, token, expected) in [
        (&get, &whoami, token.as_str(), 200),
        (&get, &whoami, "", 401),
        (&get, &whoami, stranger.expose(), 401),
        (&post, &refund, token, 200),
        (&post, &refund, stranger.expose(), 401),
        // Grace may not know of this branch.
        (&post, &other, token, 404),
        (&get, &report, token, 403),
    ] {
        let status = status(method.clone(), url, token).await?;
        println!("{method} {url}: {status}");
        assert_eq!(status.as_u16(), expected, "{method} {url}");
    }

    // A right that is taken away counts at once.
    administrator.suspend_user(grace.user.id).await?;
    assert_eq!(status(post, &refund, token).await?.as_u16(), 401);
    Ok(())
}
