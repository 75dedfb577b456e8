//! The router beside a host's own routes, and the host's routes behind the same callers and permissions.

use axum::Router;
use axum::routing::get;
use iam_axum::{Authenticated, RequirePermission, Settings};
use iam_core::Iam;
use serde_json::json;

use crate::app::TestApp;

on_every_store![
    the_router_answers_under_the_prefix_of_its_host,
    the_hosts_routes_know_their_caller,
    the_hosts_guard_asks_for_the_hosts_own_permission,
];

impl TestApp {
    /// A host with two routes of its own, and the API under a prefix of its choice.
    fn mounted(mut self) -> Self {
        let own = |path: &str| Router::<Iam>::new().route(path, get(greet));
        let guard = RequirePermission::new(self.iam.clone(), "orders:refund".parse().unwrap());
        let host = own("/own").merge(own("/guarded").route_layer(guard)).with_state(self.iam.clone());
        self.router = host.nest("/access/v1", iam_axum::router(self.iam.clone(), Settings::default()));
        self
    }
}

async fn greet(Authenticated(caller): Authenticated) -> String {
    caller.user().map(|user| user.to_string()).unwrap_or_default()
}

async fn the_router_answers_under_the_prefix_of_its_host(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.mounted();
    let get = |path: &str| app.request(axum::http::Method::GET, path).by(&ada).send_to_host();
    let (status, body) = get("/access/v1/auth/me").await;
    assert_eq!((status, &body["user"]["id"]), (200, &json!(ada.user)));
    let (status, body) = get("/access/v1/nothing").await;
    assert_eq!((status, &body["instance"]), (404, &json!("/access/v1/nothing")));
    assert_eq!(get("/nothing").await.0, 404);
}

async fn the_hosts_routes_know_their_caller(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.mounted();
    let own = || app.request(axum::http::Method::GET, "/own");
    assert_eq!(own().by(&ada).send_to_host().await, (200, json!(ada.user)));
    for refused in [own(), own().bearer("nonsense")] {
        let (status, problem) = refused.send_to_host().await;
        assert_eq!((status, &problem["title"]), (401, &json!("Unauthorized")));
    }
}

async fn the_hosts_guard_asks_for_the_hosts_own_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let app = app.mounted();
    let guarded = || app.request(axum::http::Method::GET, "/guarded");
    assert_eq!(guarded().by(&ada).send_to_host().await, (200, json!(ada.user)));
    let (status, problem) = guarded().by(&bob).send_to_host().await;
    assert_eq!((status, &problem["detail"]), (403, &json!("Missing permission: orders:refund.")));
    assert_eq!(guarded().send_to_host().await.0, 401);
}
