use std::collections::BTreeSet;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use iam_core::assignment::NewAssignment;
use iam_core::audit::AuditFilter;
use iam_core::organization::NewOrganization;
use iam_core::user::NewUser;
use iam_core::{Caller, OrganizationId, TenantId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tower::ServiceExt as _;

use crate::mail::Mail;
use crate::orders::REFUND_MAX_AGE;
use crate::shop::Shop;
use crate::{background, routes};

const PASSWORD: &str = "Passw0rd!";

/// The application, in process, with its own database file.
struct Fixture {
    app: Router,
    shop: Shop,
    mails: UnboundedReceiver<Mail>,
    _directory: TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (sender, mails) = unbounded_channel();
        let shop = Shop::open(&directory.path().join("shop.db"), sender).await.unwrap();
        tokio::spawn(background::follow_changes(shop.iam.clone()));
        let app = routes::app(&shop).unwrap();
        Self { app, shop, mails, _directory: directory }
    }

    async fn send(&self, method: Method, path: &str, token: Option<&str>, body: Value) -> (StatusCode, Value) {
        let (status, _, answer) = self.send_for_headers(method, path, token, body).await;
        (status, answer)
    }

    async fn send_for_headers(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Value,
    ) -> (StatusCode, HeaderMap, Value) {
        let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
        let request = match token {
            Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        };
        let request = request.body(Body::from(body.to_string())).unwrap();
        let response = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 1 << 20).await.unwrap();
        (parts.status, parts.headers, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn get(&self, path: &str, token: &str) -> (StatusCode, Value) {
        self.send(Method::GET, path, Some(token), Value::Null).await
    }

    async fn post(&self, path: &str, token: &str, body: Value) -> (StatusCode, Value) {
        self.send(Method::POST, path, Some(token), body).await
    }

    async fn sign_up(&self, email: &str, vat_number: &str) -> (StatusCode, Value) {
        let body = json!({
            "name": "Corner shop", "vatNumber": vat_number, "email": email, "password": PASSWORD,
            "firstName": "Ada", "lastName": "Lovelace",
        });
        self.send(Method::POST, "/sign-up", None, body).await
    }

    async fn log_in(&self, email: &str) -> (StatusCode, Value) {
        let body = json!({ "email": email, "password": PASSWORD });
        self.send(Method::POST, "/iam/auth/login", None, body).await
    }

    async fn token(&self, email: &str) -> String {
        let (status, login) = self.log_in(email).await;
        assert_eq!(status, StatusCode::OK, "{login}");
        login["accessToken"].as_str().unwrap().to_owned()
    }

    /// Opens a shop. Returns its tenant and its owner's token.
    async fn open_shop(&self) -> (TenantId, String) {
        let (status, answer) = self.sign_up("ada@example.com", "DE1").await;
        assert_eq!(status, StatusCode::CREATED, "{answer}");
        (answer["tenantId"].as_str().unwrap().parse().unwrap(), self.token("ada@example.com").await)
    }

    /// Opens a branch of a shop. Returns it and the token of a cashier in it.
    async fn open_branch(&self, tenant: TenantId) -> (OrganizationId, String) {
        let (iam, system) = (&self.shop.iam, Caller::system(tenant, "test"));
        let branch = NewOrganization { name: "North".into(), slug: None, parent: None };
        let branch = iam.organizations().create(&system, branch).await.unwrap().organization.id;
        let grace = NewUser {
            email: "grace@example.com".into(),
            password: PASSWORD.into(),
            first_name: "Grace".into(),
            last_name: "Hopper".into(),
        };
        let user = iam.users().create(&system, grace).await.unwrap().id;
        let roles = iam.roles().list(&system, Default::default()).await.unwrap();
        let role = roles.items.into_iter().find(|role| role.name.as_str() == "CASHIER").unwrap().id;
        let assignment = NewAssignment { user, role, organization: Some(branch), expires_at: None };
        iam.assignments().create(&system, assignment).await.unwrap();
        (branch, self.token("grace@example.com").await)
    }

    async fn count(&self, table: &str) -> i64 {
        let count = sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}")));
        count.fetch_one(&self.shop.pool).await.unwrap()
    }

    /// Makes the last authentication of every session older than this.
    async fn age(&self, age: Duration) {
        let age = i64::try_from(age.as_millis()).unwrap() + 1;
        let update = sqlx::query("UPDATE sessions SET authenticated_at = authenticated_at - ?1").bind(age);
        update.execute(&self.shop.pool).await.unwrap();
    }

    async fn entries(&self, tenant: TenantId, action: &str) -> Vec<iam_core::audit::AuditEntry> {
        let filter = AuditFilter { action: Some(action.into()), ..AuditFilter::default() };
        let log = self.shop.iam.audit().list(&Caller::system(tenant, "test"), filter, None, 100).await;
        log.unwrap().entries
    }
}

#[tokio::test]
async fn a_sign_up_creates_a_tenant_an_owner_and_a_shop() {
    let mut fixture = Fixture::new().await;
    let (tenant, token) = fixture.open_shop().await;
    assert_eq!(fixture.count("shops").await, 1);
    let (status, me) = fixture.get("/iam/auth/me", &token).await;
    assert_eq!((status, me["tenant"]["id"].as_str()), (StatusCode::OK, Some(tenant.to_string().as_str())));
    let mail = fixture.mails.recv().await.unwrap();
    assert_eq!((mail.to.as_str(), mail.subject), ("ada@example.com", "Welcome to the shop"));
}

#[tokio::test]
async fn a_sign_up_that_fails_at_its_last_step_leaves_no_rows() {
    let mut fixture = Fixture::new().await;
    fixture.open_shop().await;
    fixture.mails.recv().await.unwrap();
    let (users, entries) = (fixture.count("users").await, fixture.count("audit_logs").await);

    let (status, problem) = fixture.sign_up("eve@example.com", "DE1").await;
    assert_eq!(
        (status, problem["type"].as_str()),
        (StatusCode::CONFLICT, Some("https://shop.example/problems/conflict"))
    );
    assert_eq!(fixture.log_in("eve@example.com").await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(
        (fixture.count("shops").await, fixture.count("tenants").await, fixture.count("users").await),
        (1, 1, users)
    );
    assert_eq!(fixture.mails.try_recv().ok(), None);
    assert_eq!(fixture.count("audit_logs").await, entries);
}

#[tokio::test]
async fn a_refused_sign_up_names_the_invalid_field() {
    let fixture = Fixture::new().await;
    let (status, problem) = fixture.sign_up("not an e-mail", "DE1").await;
    assert_eq!((status, problem["errors"][0]["field"].as_str()), (StatusCode::BAD_REQUEST, Some("email")));
    assert_eq!(fixture.count("shops").await, 0);
}

#[tokio::test]
async fn a_cashier_acts_only_in_the_assigned_branch() {
    let fixture = Fixture::new().await;
    let (tenant, ada) = fixture.open_shop().await;
    let (branch, grace) = fixture.open_branch(tenant).await;
    let south = NewOrganization { name: "South".into(), slug: None, parent: None };
    let south = fixture.shop.iam.organizations().create(&Caller::system(tenant, "test"), south).await.unwrap();

    let (status, mine) = fixture.post("/orders", &grace, json!({ "branch": branch, "cents": 990 })).await;
    assert_eq!(status, StatusCode::CREATED, "{mine}");
    let (_, other) = fixture.post("/orders", &ada, json!({ "cents": 100_000 })).await;
    let elsewhere = fixture.post("/orders", &grace, json!({ "branch": south.organization.id, "cents": 1 })).await;
    assert_eq!(elsewhere.0, StatusCode::NOT_FOUND, "she holds no role there");
    assert_eq!(fixture.get("/orders", &grace).await.0, StatusCode::FORBIDDEN, "a cashier does not hold orders:read");
    let (status, orders) = fixture.get("/orders", &ada).await;
    assert_eq!((status, orders), (StatusCode::OK, json!([mine, other])));

    let refund = |order: &Value| format!("/orders/{}/refund", order["id"]);
    assert_eq!(fixture.post(&refund(&mine), &grace, Value::Null).await.0, StatusCode::NO_CONTENT);
    assert_eq!(fixture.post(&refund(&other), &grace, Value::Null).await.0, StatusCode::FORBIDDEN);
    assert_eq!(fixture.post("/orders/99/refund", &grace, Value::Null).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_refund_is_made_and_recorded_once() {
    let fixture = Fixture::new().await;
    let (tenant, ada) = fixture.open_shop().await;
    let (branch, grace) = fixture.open_branch(tenant).await;
    fixture.post("/orders", &grace, json!({ "branch": branch, "cents": 990 })).await;
    let refund = || fixture.post("/orders/1/refund", &grace, Value::Null);
    let (first, second) = tokio::join!(refund(), refund());
    assert_eq!(BTreeSet::from([first.0, second.0]), BTreeSet::from([StatusCode::NO_CONTENT, StatusCode::CONFLICT]));

    let entries = fixture.entries(tenant, "REFUNDED").await;
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    let (_, me) = fixture.get("/iam/auth/me", &grace).await;
    assert_eq!(entry.resource_id.as_deref(), Some("1"));
    assert_eq!((&entry.metadata["cents"], &entry.metadata["refundedBy"]), (&json!(990), &me["user"]["id"]));
    assert!(entry.context.correlation_id.is_some(), "the entry has the correlation id of the request");
    // A user who may read the audit log finds the entry there.
    let (_, log) = fixture.get("/iam/audit-logs?resourceType=ORDER", &ada).await;
    assert_eq!(log["data"][0]["action"], "REFUNDED");
}

#[tokio::test]
async fn a_refund_needs_a_recent_authentication() {
    let fixture = Fixture::new().await;
    let (tenant, ada) = fixture.open_shop().await;
    let (branch, grace) = fixture.open_branch(tenant).await;
    for _ in 0..2 {
        fixture.post("/orders", &grace, json!({ "branch": branch, "cents": 990 })).await;
    }
    assert_eq!(fixture.post("/orders/1/refund", &grace, Value::Null).await.0, StatusCode::NO_CONTENT);

    fixture.age(REFUND_MAX_AGE).await;
    let refund = || fixture.send_for_headers(Method::POST, "/orders/2/refund", Some(&grace), Value::Null);
    let (status, headers, problem) = refund().await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert_eq!(problem["type"], "https://shop.example/problems/insufficient-authentication");
    let challenge = r#"Bearer error="insufficient_user_authentication", max_age="300""#;
    assert_eq!(headers[header::WWW_AUTHENTICATE], challenge);
    // Other routes go on.
    assert_eq!(fixture.get("/orders", &ada).await.0, StatusCode::OK);

    let step_up =
        async |password: &str| fixture.post("/iam/auth/step-up", &grace, json!({ "password": password })).await.0;
    assert_eq!(step_up("Wr0ng pass!").await, StatusCode::UNAUTHORIZED);
    assert_eq!(refund().await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(step_up(PASSWORD).await, StatusCode::NO_CONTENT);
    assert_eq!(refund().await.0, StatusCode::NO_CONTENT);
    assert_eq!(fixture.entries(tenant, "REFUNDED").await.len(), 2);
}

#[tokio::test]
async fn an_anonymous_request_gets_a_problem_document_of_the_shop() {
    let fixture = Fixture::new().await;
    for (method, path) in [(Method::GET, "/orders"), (Method::POST, "/orders"), (Method::POST, "/orders/1/refund")] {
        let (status, problem) = fixture.send(method, path, None, json!({ "cents": 1 })).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
        assert_eq!(problem["type"], "https://shop.example/problems/unauthorized");
        assert_eq!(problem["instance"], path);
        assert!(problem["correlationId"].is_string());
    }
}

#[tokio::test]
async fn orders_of_another_tenant_are_not_found() {
    let fixture = Fixture::new().await;
    let (_, ada) = fixture.open_shop().await;
    fixture.post("/orders", &ada, json!({ "cents": 990 })).await;
    assert_eq!(fixture.sign_up("eve@example.com", "DE2").await.0, StatusCode::CREATED);
    let eve = fixture.token("eve@example.com").await;
    assert_eq!(fixture.get("/orders", &eve).await.1, json!([]));
    assert_eq!(fixture.post("/orders/1/refund", &eve, Value::Null).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn one_document_describes_exactly_the_routes_of_the_application() {
    let fixture = Fixture::new().await;
    let (status, document) = fixture.get("/openapi.json", "").await;
    assert_eq!((status, document["info"]["title"].as_str()), (StatusCode::OK, Some("Shop")));
    let paths = document["paths"].as_object().unwrap();
    for path in ["/sign-up", "/orders", "/orders/{id}/refund", "/iam/auth/login", "/iam/users/{id}"] {
        assert!(paths.contains_key(path), "{path}");
    }
    assert!(!paths.contains_key("/iam/auth/register"));
    assert_eq!(fixture.post("/iam/auth/register", "", json!({})).await.0, StatusCode::NOT_FOUND);
    for reference in document.to_string().split(r##""$ref":"#"##).skip(1) {
        let reference = reference.split('"').next().unwrap();
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}

#[tokio::test]
async fn the_shop_follows_the_change_feed() {
    let fixture = Fixture::new().await;
    for _ in 0..100 {
        if fixture.shop.iam.receives_changes() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no change notification was received");
}
