//! The shop's routes and IAM's routes, in one router and in one OpenAPI document.

use std::error::Error;

use axum::routing::{get, post};
use axum::{Json, Router};
use iam_axum::{ApiPart, RequireFresh, RequirePermission, Settings, merge_openapi, with_conventions};
use utoipa::OpenApi;

use crate::shop::Shop;
use crate::{orders, sign_up};

#[derive(OpenApi)]
#[openapi(
    info(title = "Shop", description = "A shop. Under `/iam`: its users, roles and permissions."),
    paths(sign_up::sign_up, orders::place, orders::list, orders::refund)
)]
struct Document;

pub(crate) fn app(shop: &Shop) -> Result<Router, Box<dyn Error>> {
    let settings = settings();
    let mut document = Document::openapi();
    merge_openapi(&mut document, "/iam", &settings)?;

    // Money leaves the shop only if the caller has proven its identity a short time ago.
    let fresh = RequireFresh::new(shop.iam.clone(), orders::REFUND_MAX_AGE);
    let refunds = Router::new().route("/orders/{id}/refund", post(orders::refund)).route_layer(fresh);
    let guard = RequirePermission::new(shop.iam.clone(), orders::READ.parse()?);
    let app = Router::new()
        .route("/orders", get(orders::list))
        // Guards only the routes above this line.
        .route_layer(guard)
        .route("/orders", post(orders::place))
        .merge(refunds)
        .route("/sign-up", post(sign_up::sign_up))
        .with_state(shop.clone())
        .route("/openapi.json", get(async move || Json(document)))
        .nest("/iam", iam_axum::router(shop.iam.clone(), settings.clone()));
    Ok(with_conventions(app, settings))
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    // Every tenant is a shop, so only the shop's own sign-up may create a tenant.
    settings.parts.remove(&ApiPart::Registration);
    settings.problem_type_base = "https://shop.example/problems".to_owned();
    settings
}
