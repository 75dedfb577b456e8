//! A new customer of the shop system: tenant, administrator, roles and the shop's own row, in one transaction.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_axum::Body;
use iam_core::Caller;
use iam_core::permission::NewPermission;
use iam_core::role::NewRole;
use iam_core::secret::Password;
use iam_core::tenant::NewTenant;
use iam_core::user::NewUser;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::failure::Failure;
use crate::orders::{PLACE, READ, REFUND};
use crate::shop::Shop;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SignUp {
    name: String,
    vat_number: String,
    email: String,
    password: String,
    first_name: String,
    last_name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignedUp {
    tenant_id: Uuid,
    slug: String,
}

const REASON: &str = "sign-up";

/// Opens a shop. Its owner then logs in at `/iam/auth/login`.
#[utoipa::path(post, path = "/sign-up", operation_id = "signUp", tag = "Shop", request_body = SignUp, responses(
    (status = 201, description = "The shop is open", body = SignedUp),
    (status = "default", description = "What is wrong", content_type = "application/problem+json",
     body = ref("#/components/schemas/Problem")),
))]
pub(crate) async fn sign_up(
    State(shop): State<Shop>,
    Body(new): Body<SignUp>,
) -> Result<(StatusCode, Json<SignedUp>), Failure> {
    let administrator = NewUser {
        email: new.email,
        password: Password::from(new.password),
        first_name: new.first_name,
        last_name: new.last_name,
    };
    let transaction = shop.begin().await?;
    let new_tenant = NewTenant { name: new.name, slug: None, administrator };
    let tenant = transaction.tenants().create(REASON, new_tenant).await?.tenant;

    let system = Caller::system(tenant.id, REASON);
    for (name, description) in [(PLACE, "Take orders."), (READ, "See orders."), (REFUND, "Give money back.")] {
        let permission = NewPermission { name: name.to_owned(), description: Some(description.to_owned()) };
        transaction.permissions().create(&system, permission).await?;
    }
    let permissions = vec![PLACE.to_owned(), REFUND.to_owned()];
    let cashier = NewRole { name: "CASHIER".to_owned(), permissions, ..NewRole::default() };
    transaction.roles().create(&system, cashier).await?;

    sqlx::query("INSERT INTO shops (tenant_id, vat_number) VALUES (?1, ?2)")
        .bind(tenant.id.as_uuid())
        .bind(new.vat_number)
        .execute(&mut *transaction.connection().await?)
        .await
        .map_err(|error| match error {
            sqlx::Error::Database(error) if error.is_unique_violation() => Failure::VatNumberTaken,
            error => error.into(),
        })?;
    // Every return before this line leaves nothing, because dropping the transaction rolls it back.
    transaction.commit().await?;
    Ok((StatusCode::CREATED, Json(SignedUp { tenant_id: tenant.id.as_uuid(), slug: tenant.slug.to_string() })))
}
