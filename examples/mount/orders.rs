//! The shop's orders. From IAM, they use only tenants, organizations and the shop's own permissions.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_axum::{Authenticated, Body, PathId};
use iam_core::audit::NewEvent;
use iam_core::{Caller, OrganizationId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, json};
use sqlx::FromRow;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::failure::Failure;
use crate::shop::Shop;

pub(crate) const PLACE: &str = "orders:place";
pub(crate) const READ: &str = "orders:read";
pub(crate) const REFUND: &str = "orders:refund";

/// How recently a caller that refunds must have authenticated.
pub(crate) const REFUND_MAX_AGE: Duration = Duration::from_secs(300);

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewOrder {
    /// An organization of the tenant; without one, the order belongs to the shop as a whole.
    branch: Option<Uuid>,
    cents: u32,
}

#[derive(FromRow, Serialize, ToSchema)]
pub(crate) struct Order {
    id: i64,
    branch: Option<Uuid>,
    cents: i64,
    refunded: bool,
}

impl Order {
    fn organization(&self) -> Option<OrganizationId> {
        self.branch.map(OrganizationId::from_uuid)
    }
}

/// Takes an order. Needs `orders:place` in its branch.
#[utoipa::path(post, path = "/orders", operation_id = "placeOrder", tag = "Shop", request_body = NewOrder, responses(
    (status = 201, description = "The order", body = Order),
    (status = "default", description = "What is wrong", content_type = "application/problem+json",
     body = ref("#/components/schemas/Problem")),
), security(("bearer" = [])))]
pub(crate) async fn place(
    State(shop): State<Shop>,
    Authenticated(caller): Authenticated,
    Body(new): Body<NewOrder>,
) -> Result<(StatusCode, Json<Order>), Failure> {
    // Also checks that the branch exists in the caller's tenant.
    shop.iam.access().require(&caller, PLACE, new.branch.map(OrganizationId::from_uuid)).await?;
    let order = sqlx::query_as("INSERT INTO orders (tenant_id, branch, cents) VALUES (?1, ?2, ?3) RETURNING *")
        .bind(caller.tenant().as_uuid())
        .bind(new.branch)
        .bind(new.cents)
        .fetch_one(&shop.pool)
        .await?;
    Ok((StatusCode::CREATED, Json(order)))
}

/// All orders of the shop. Needs `orders:read`, which a guard around the route requires.
#[utoipa::path(get, path = "/orders", operation_id = "listOrders", tag = "Shop", responses(
    (status = 200, description = "The orders", body = Vec<Order>),
    (status = "default", description = "What is wrong", content_type = "application/problem+json",
     body = ref("#/components/schemas/Problem")),
), security(("bearer" = [])))]
pub(crate) async fn list(
    State(shop): State<Shop>,
    Authenticated(caller): Authenticated,
) -> Result<Json<Vec<Order>>, Failure> {
    let orders = sqlx::query_as("SELECT * FROM orders WHERE tenant_id = ?1 ORDER BY id");
    Ok(Json(orders.bind(caller.tenant().as_uuid()).fetch_all(&shop.pool).await?))
}

/// Gives the money back, once. Needs `orders:refund` in the branch of the order, and an authentication within the last
/// five minutes: at the login, or by `POST /iam/auth/step-up`. A guard around the route requires the authentication.
#[utoipa::path(post, path = "/orders/{id}/refund", operation_id = "refundOrder", tag = "Shop",
    params(("id" = i64, Path)), responses(
    (status = 204, description = "Refunded"),
    (status = "default", description = "What is wrong", content_type = "application/problem+json",
     body = ref("#/components/schemas/Problem")),
), security(("bearer" = [])))]
pub(crate) async fn refund(
    State(shop): State<Shop>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<i64>,
) -> Result<StatusCode, Failure> {
    let tenant = caller.tenant().as_uuid();
    let order = sqlx::query_as("SELECT * FROM orders WHERE tenant_id = ?1 AND id = ?2").bind(tenant).bind(id);
    let order: Order = order.fetch_optional(&shop.pool).await?.ok_or(Failure::NoSuchOrder)?;
    // Checked here and not in a guard, because the branch is known only from the order.
    shop.iam.access().require(&caller, REFUND, order.organization()).await?;

    let transaction = shop.begin().await?;
    let update = sqlx::query("UPDATE orders SET refunded = TRUE WHERE tenant_id = ?1 AND id = ?2 AND NOT refunded");
    let updated = update.bind(tenant).bind(id).execute(&mut *transaction.connection().await?).await?;
    if updated.rows_affected() == 0 {
        return Err(Failure::RefundedAlready);
    }
    let metadata = json!({ "cents": order.cents, "refundedBy": caller.user() });
    let event = NewEvent {
        action: "REFUNDED".to_owned(),
        resource_type: "ORDER".to_owned(),
        resource_id: Some(id.to_string()),
        metadata: metadata.as_object().cloned().unwrap_or_else(Map::new),
    };
    // Recorded as the system: the permission to refund must not require the permission to record audit events.
    let system = Caller::system(caller.tenant(), "refund").in_context(caller.context().clone());
    transaction.audit().log(&system, event).await?;
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
