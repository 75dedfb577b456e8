//! The router in a host program that has its own routes, and the host's routes with the same authentication and
//! permission checks.

use std::collections::BTreeSet;

use axum::extract::{Path, State};
use axum::http::Method;
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use chrono::TimeDelta;
use iam_axum::{ApiPart, Authenticated, Call, Problem, RequireFresh, RequirePermission, Settings, with_conventions};
use iam_core::permission::Permission;
use iam_core::{Caller, CorrelationId, Iam, OrganizationId, RequestContext};
use serde_json::{Value, json};
use test_support::TestStore;
use utoipa::openapi::OpenApi;

use crate::app::TestApp;
use crate::factor::set_policy;
use crate::people::{PASSWORD, Person};

in_memory![
    the_router_answers_under_the_prefix_of_its_host,
    the_hosts_routes_know_their_caller,
    the_guard_requires_a_permission_of_the_host,
    outer_layers_see_the_caller_and_the_correlation_id,
    the_conventions_behind_a_guard_are_complete,
    conventions_in_conventions_change_nothing,
    the_guard_checks_the_permission_in_the_organization_of_the_path,
    the_guard_hides_organizations_in_which_the_caller_has_no_grant,
    the_guard_refuses_a_malformed_organization_id,
    a_guarded_route_without_the_path_parameter_answers_500,
    a_handler_can_require_a_permission_of_the_host,
    guard_and_handler_check_the_permission_on_every_request,
    the_handler_behind_the_guard_gets_the_body,
    the_guard_checks_the_permission_again_after_a_late_body,
    the_guard_requires_a_recent_authentication,
    a_user_with_a_factor_frees_a_guarded_route_by_it,
    a_missing_permission_is_told_before_an_old_authentication,
    the_hosts_routes_refuse_a_caller_that_must_set_up_a_factor,
];

/// How recent an authentication the host requires. It is not the age that the API's own operations require.
const MAX_AGE: TimeDelta = TimeDelta::minutes(5);

impl TestApp {
    /// A host program with its own routes, and with the API under a prefix that the host chooses.
    fn mounted(mut self) -> Self {
        let iam = || self.iam.clone();
        let refund = || "orders:refund".parse::<Permission>().unwrap();
        let own = |path: &str| Router::<Iam>::new().route(path, get(greet).post(echo));
        let tenant_wide = RequirePermission::new(iam(), refund());
        let in_branch = RequirePermission::new(iam(), refund()).in_organization("branch");
        let fresh = RequireFresh::new(iam(), MAX_AGE.to_std().unwrap());
        let host = own("/own")
            .merge(own("/payments").route_layer(fresh.clone()))
            .merge(own("/payouts").route_layer(fresh).route_layer(tenant_wide.clone()))
            .merge(own("/guarded").route_layer(tenant_wide))
            .merge(own("/branches/{branch}/refunds").route_layer(in_branch.clone()))
            .merge(own("/defect/{shop}").route_layer(in_branch.clone()))
            .merge(Router::new().route("/branches/{branch}/orders", post(order)).route_layer(in_branch))
            .route("/asking/{branch}", get(ask))
            .with_state(iam());
        self.router = host.nest("/access/v1", iam_axum::router(iam(), Settings::default()));
        self
    }

    /// The status and the body that the host answers to this caller.
    async fn host(&self, path: &str, by: &Person) -> (u16, Value) {
        self.request(Method::GET, path).by(by).send_to_host().await
    }

    /// A new user with a permission of the host, `orders:refund`, in an organization.
    async fn cashier(&self, administrator: &Person, email: &str, organization: OrganizationId) -> Person {
        let permission = json!({ "name": "orders:refund" });
        let registered = self.post("/permissions").by(administrator).json(&permission).send().await;
        assert!(matches!(registered.status(), 201 | 409), "{}", registered.text());
        self.colleague_in(administrator, organization, email, &["orders:refund"]).await
    }
}

async fn greet(Authenticated(caller): Authenticated) -> String {
    caller.user().map(|user| user.to_string()).unwrap_or_default()
}

async fn order(Call(caller, order): Call<Value>) -> String {
    format!("{order} for {:?}", caller.user())
}

async fn echo(_: Authenticated, body: String) -> String {
    body
}

/// A handler that checks the permission itself. A host does so if the organization is not in the path.
async fn ask(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Path(branch): Path<OrganizationId>,
) -> Result<&'static str, Problem> {
    iam.access().require(&caller, "orders:refund", branch).await?;
    Ok("refunded")
}

async fn the_router_answers_under_the_prefix_of_its_host(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.mounted();
    let get = |path: &str| app.request(Method::GET, path).by(&ada).send_to_host();
    let (status, body) = get("/access/v1/auth/me").await;
    assert_eq!((status, &body["user"]["id"]), (200, &json!(ada.user)));
    let (status, body) = get("/access/v1/nothing").await;
    assert_eq!((status, &body["instance"]), (404, &json!("/access/v1/nothing")));
    assert_eq!(get("/nothing").await.0, 404);
}

async fn the_hosts_routes_know_their_caller(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.mounted();
    let own = || app.request(Method::GET, "/own");
    assert_eq!(own().by(&ada).send_to_host().await, (200, json!(ada.user)));
    for refused in [own(), own().bearer("nonsense")] {
        let (status, problem) = refused.send_to_host().await;
        assert_eq!((status, &problem["title"]), (401, &json!("Unauthorized")));
    }
}

/// What a layer around the router sees of a response.
async fn revealed(answer: Response) -> Json<Value> {
    let caller = answer.extensions().get::<Caller>();
    let context = answer.extensions().get::<RequestContext>().unwrap();
    let user = caller.and_then(Caller::user).map(|user| user.to_string());
    Json(json!({ "user": user, "correlationId": context.correlation_id.as_ref().map(CorrelationId::as_str) }))
}

async fn outer_layers_see_the_caller_and_the_correlation_id(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut app = app.mounted();
    app.router = app.router.layer(map_response(revealed));
    let me = || app.request(Method::GET, "/access/v1/auth/me").header("x-correlation-id", "one");
    assert_eq!(me().by(&ada).send_to_host().await.1, json!({ "user": ada.user, "correlationId": "one" }));
    for unproven in [me(), me().bearer("nonsense")] {
        assert_eq!(unproven.send_to_host().await.1, json!({ "user": null, "correlationId": "one" }));
    }
}

async fn the_conventions_behind_a_guard_are_complete(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut app = app.mounted();
    let guard = RequirePermission::new(app.iam.clone(), "users:read".parse().unwrap());
    app.router = app.router.layer(guard).layer(map_response(revealed));
    let me = app.request(Method::GET, "/access/v1/auth/me").header("x-correlation-id", "one").by(&ada);
    assert_eq!(me.send_to_host().await.1, json!({ "user": ada.user, "correlationId": "one" }));
}

async fn conventions_in_conventions_change_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut app = app.mounted();
    let mut settings = Settings::default();
    settings.problem_type_base = "https://shop.example/problems".to_owned();
    app.router = with_conventions(app.router, settings);
    let unproven = app.request(Method::GET, "/access/v1/auth/me").send_to_host().await;
    assert_eq!(unproven.1["type"], "https://shop.example/problems/unauthorized", "the outer conventions answer");
    app.router = app.router.layer(map_response(revealed));
    for path in ["/access/v1/auth/me", "/own"] {
        let me = app.request(Method::GET, path).header("x-correlation-id", "one").by(&ada);
        assert_eq!(me.send_to_host().await.1, json!({ "user": ada.user, "correlationId": "one" }), "{path}");
    }
}

async fn the_guard_requires_a_permission_of_the_host(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let app = app.mounted();
    let guarded = || app.request(Method::GET, "/guarded");
    assert_eq!(guarded().by(&ada).send_to_host().await, (200, json!(ada.user)));
    let (status, problem) = guarded().by(&bob).send_to_host().await;
    assert_eq!((status, &problem["detail"]), (403, &json!("Missing permission: orders:refund.")));
    assert_eq!(guarded().send_to_host().await.0, 401);
}

async fn the_guard_checks_the_permission_in_the_organization_of_the_path(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [company, sales, shop] = app.chain(&ada, "company").await;
    let bob = app.cashier(&ada, "bob@example.com", sales).await;
    let carl = app.colleague_in(&ada, company, "carl@example.com", &["users:read"]).await;
    let app = app.mounted();
    let refunds = |branch: OrganizationId| format!("/branches/{branch}/refunds");
    for branch in [sales, shop] {
        assert_eq!(app.host(&refunds(branch), &bob).await, (200, json!(bob.user)));
        assert_eq!(app.host(&refunds(branch), &ada).await, (200, json!(ada.user)));
        let (status, problem) = app.host(&refunds(branch), &carl).await;
        assert_eq!((status, &problem["detail"]), (403, &json!("Missing permission: orders:refund.")));
    }
    // A permission in a branch is not a tenant-wide permission.
    assert_eq!(app.host("/guarded", &bob).await.0, 403);
    let (status, problem) = app.request(Method::GET, &refunds(sales)).send_to_host().await;
    assert_eq!((status, &problem["title"]), (401, &json!("Unauthorized")));
}

async fn the_guard_hides_organizations_in_which_the_caller_has_no_grant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let [company, sales] = app.chain(&ada, "company").await;
    let bob = app.cashier(&ada, "bob@example.com", sales).await;
    let dora = app.colleague(&ada, "dora@example.com").await;
    let app = app.mounted();
    let unknown: OrganizationId = ada.tenant.parse().unwrap();
    for (branch, by) in [(company, &bob), (sales, &dora), (sales, &eve), (unknown, &ada), (unknown, &bob)] {
        for path in [format!("/branches/{branch}/refunds"), format!("/asking/{branch}")] {
            let (status, problem) = app.host(&path, by).await;
            assert_eq!((status, &problem["detail"]), (404, &json!("Organization not found.")), "{path}");
        }
    }
}

async fn the_guard_refuses_a_malformed_organization_id(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.mounted();
    for malformed in ["north", "1", "%FF", "..%2F..", "null"] {
        let (status, problem) = app.host(&format!("/branches/{malformed}/refunds"), &ada).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (400, &json!("branch")), "{malformed}");
    }
}

async fn a_guarded_route_without_the_path_parameter_answers_500(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let app = app.mounted();
    let (status, problem) = app.host(&format!("/defect/{sales}"), &ada).await;
    assert_eq!((status, &problem["title"]), (500, &json!("Internal Server Error")));
}

async fn a_handler_can_require_a_permission_of_the_host(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [company, sales] = app.chain(&ada, "company").await;
    let bob = app.cashier(&ada, "bob@example.com", sales).await;
    let carl = app.colleague_in(&ada, company, "carl@example.com", &["users:read"]).await;
    let app = app.mounted();
    let asking = format!("/asking/{sales}");
    assert_eq!(app.host(&asking, &bob).await, (200, json!("refunded")));
    let (status, problem) = app.host(&asking, &carl).await;
    assert_eq!((status, &problem["detail"]), (403, &json!("Missing permission: orders:refund.")));
}

async fn guard_and_handler_check_the_permission_on_every_request(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.cashier(&ada, "bob@example.com", sales).await;
    let host = app.with_http_settings(|_| {}).mounted();
    let paths = [format!("/branches/{sales}/refunds"), format!("/asking/{sales}")];
    for (status, expected) in [("SUSPENDED", 403), ("ACTIVE", 200)] {
        let body = json!({ "status": status });
        app.patch(&format!("/organizations/{sales}")).by(&ada).json(&body).send().await.ok();
        for path in &paths {
            assert_eq!(host.host(path, &bob).await.0, expected, "{status}");
        }
    }
}

async fn the_handler_behind_the_guard_gets_the_body(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let app = app.mounted();
    let path = format!("/branches/{sales}/refunds");
    let answer = app.request(Method::POST, &path).by(&ada).body("two bottles").send_to_host().await;
    assert_eq!(answer, (200, json!("two bottles")));
}

async fn the_guard_checks_the_permission_again_after_a_late_body(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let bob = app.cashier(&ada, "bob@example.com", sales).await;
    let host = app.with_http_settings(|_| {}).mounted();
    let order = || {
        let path = format!("/branches/{sales}/orders");
        host.request(Method::POST, &path).by(&bob).json(&json!({ "article": "wine" }))
    };
    // A change of other rights does not matter.
    let meanwhile = async {
        app.permit(&bob, &["roles:read"]).await;
    };
    assert_eq!(order().send_to_host_after(meanwhile).await.status(), 200);
    let held = app.get("/role-assignments").by(&ada).query("organizationId", &sales.to_string()).send().await.ok();
    let revoke = format!("/role-assignments/{}", held["data"][0]["id"].as_str().unwrap());
    let meanwhile = async { app.delete(&revoke).by(&ada).send().await.no_content() };
    assert_eq!(order().send_to_host_after(meanwhile).await.status(), 403, "the permission is revoked");
}

/// Authenticates again, by the API under the prefix of the host.
async fn step_up(app: &TestApp, person: &Person, proof: &Value) -> u16 {
    app.request(Method::POST, "/access/v1/auth/step-up").by(person).json(proof).send_to_host().await.0
}

async fn the_guard_requires_a_recent_authentication(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.mounted();
    let pay = || app.request(Method::POST, "/payments").body("two bottles");
    let anonymous = pay().send_packed().await;
    anonymous.problem("unauthorized");
    assert_eq!(anonymous.header("www-authenticate"), Some("Bearer"));
    pay().bearer("nonsense").send_packed().await.problem("unauthorized");

    app.pass(MAX_AGE);
    assert_eq!(pay().by(&ada).send_to_host().await, (200, json!("two bottles")));
    app.pass(TimeDelta::milliseconds(1));
    let old = pay().by(&ada).send_packed().await;
    old.problem("insufficient-authentication");
    let challenge = r#"Bearer error="insufficient_user_authentication", max_age="300""#;
    assert_eq!(old.header("www-authenticate"), Some(challenge));
    // Only the guarded routes ask for it.
    assert_eq!(app.request(Method::GET, "/own").by(&ada).send_to_host().await.0, 200);

    assert_eq!(step_up(&app, &ada, &json!({ "password": PASSWORD })).await, 204);
    assert_eq!(pay().by(&ada).send_to_host().await, (200, json!("two bottles")));
}

async fn a_user_with_a_factor_frees_a_guarded_route_by_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    app.age(&ada).await;
    let app = app.mounted();
    let pay = || app.request(Method::POST, "/payments").by(&ada).body("two bottles");
    pay().send_packed().await.problem("insufficient-authentication");
    assert_eq!(step_up(&app, &ada, &json!({ "password": PASSWORD })).await, 401);
    pay().send_packed().await.problem("insufficient-authentication");
    assert_eq!(step_up(&app, &ada, &json!({ "code": authenticator.code(&app, 0) })).await, 204);
    assert_eq!(pay().send_to_host().await.0, 200);
}

async fn a_missing_permission_is_told_before_an_old_authentication(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    for person in [&ada, &bob] {
        app.age(person).await;
    }
    let app = app.mounted();
    let pay_out = |by: &Person| app.request(Method::POST, "/payouts").by(by);
    pay_out(&bob).send_packed().await.lacks("orders:refund");
    pay_out(&ada).send_packed().await.problem("insufficient-authentication");
    assert_eq!(step_up(&app, &ada, &json!({ "password": PASSWORD })).await, 204);
    assert_eq!(pay_out(&ada).send_to_host().await.0, 200);
}

async fn the_hosts_routes_refuse_a_caller_that_must_set_up_a_factor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    let host = app.with_http_settings(|_| {}).mounted();
    let routes = ["/own", "/guarded", "/payments", "/payouts"];
    for path in routes {
        host.request(Method::GET, path).by(&ada).send_packed().await.needs_factor();
    }
    app.enrol(&ada).await;
    for path in routes {
        assert_eq!(host.host(path, &ada).await, (200, json!(ada.user)), "{path}");
    }
}

/// A host's document with one operation and one schema of its own.
fn shop(id: &str, schema: &str) -> OpenApi {
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Shop", "version": "1" },
        "paths": { "/refunds": { "post": { "operationId": id, "responses": { "201": { "description": "Refunded" } } } } },
        "components": { "schemas": { schema: { "type": "object", "title": "the shop's" } } },
    });
    serde_json::from_value(document).unwrap()
}

fn merged(settings: &Settings) -> Value {
    let mut document = shop("refund", "Refund");
    iam_axum::merge_openapi(&mut document, "/access/v1/", settings).unwrap();
    serde_json::to_value(document).unwrap()
}

fn paths(document: &Value) -> BTreeSet<&str> {
    document["paths"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn one_document_describes_the_host_and_the_api() {
    let document = merged(&Settings::default());
    assert_eq!(document["info"]["title"], "Shop");
    assert_eq!(document.get("servers"), None);
    assert_eq!(document.get("security"), None, "the host's operations declare their own security");
    assert_eq!(document["paths"]["/refunds"]["post"].get("security"), None);
    assert_eq!(document["paths"]["/access/v1/users"]["get"]["security"], json!([{ "bearer": [] }]));
    assert_eq!(document["paths"]["/access/v1/auth/login"]["post"]["security"], json!([]));
    assert_eq!(document["components"]["schemas"]["Refund"]["title"], "the shop's");
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    let own = serde_json::to_value(iam_axum::openapi(&Settings::default())).unwrap();
    let expected: BTreeSet<String> = paths(&own)
        .into_iter()
        .filter(|path| !path.starts_with("/.well-known/"))
        .map(|path| format!("/access/v1{path}"))
        .collect();
    let expected = expected.iter().map(String::as_str).chain(["/refunds"]).collect();
    assert_eq!(paths(&document), expected);
    let text = document.to_string();
    for reference in text.split(r##""$ref":"#"##).skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}

#[test]
fn a_merge_with_a_name_clash_is_refused() {
    for (id, schema, names) in [("createUser", "Refund", "createUser"), ("refund", "User", "User")] {
        let mut document = shop(id, schema);
        let before = document.clone();
        let conflict = iam_axum::merge_openapi(&mut document, "/iam", &Settings::default()).unwrap_err();
        assert!(conflict.to_string().contains(names), "{conflict}");
        assert!(document == before);
    }
    let mut document = shop("refund", "Refund");
    iam_axum::merge_openapi(&mut document, "/iam", &Settings::default()).unwrap();
    iam_axum::merge_openapi(&mut document, "/iam", &Settings::default()).unwrap_err();
}

#[tokio::test]
async fn an_unmounted_part_has_no_routes_and_no_description() {
    let everything = merged(&Settings::default());
    let mut described = BTreeSet::new();
    for part in ApiPart::ALL {
        let mut app = TestApp::on(TestStore::memory()).await;
        let only = with_parts([part]);
        let document = merged(&only);
        let mine: BTreeSet<&str> = paths(&document).into_iter().filter(|path| *path != "/refunds").collect();
        assert!(!mine.is_empty(), "{part:?}");
        app.router = iam_axum::router(app.iam.clone(), only);
        for path in paths(&everything).into_iter().filter_map(|path| path.strip_prefix("/access/v1")) {
            let status = app.request(Method::TRACE, &path.replace(['{', '}'], "")).send().await.status();
            let is_there = mine.iter().any(|mine| mine.strip_prefix("/access/v1") == Some(path));
            assert_eq!(status, if is_there { 405 } else { 404 }, "{path} with {part:?}");
        }
        described.extend(mine.into_iter().map(str::to_owned));
    }
    let all: BTreeSet<&str> = described.iter().map(String::as_str).chain(["/refunds"]).collect();
    assert_eq!(all, paths(&everything));
}

fn with_parts(parts: impl Into<BTreeSet<ApiPart>>) -> Settings {
    let mut settings = Settings::default();
    settings.rate_limiter = None;
    settings.parts = parts.into();
    settings
}

#[tokio::test]
async fn the_host_sets_the_base_of_the_problem_types() {
    let mut app = TestApp::on(TestStore::memory()).await;
    let mut settings = Settings::default();
    settings.problem_type_base = "https://shop.example/problems".to_owned();
    app.router = iam_axum::router(app.iam.clone(), settings);
    let (_, problem) = app.request(Method::GET, "/users").send_to_host().await;
    assert_eq!(problem["type"], "https://shop.example/problems/unauthorized");
}
