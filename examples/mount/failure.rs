//! The errors of the handlers, as problem documents for the client.

use axum::response::{IntoResponse, Response};
use iam_axum::{Kind, Problem};
use iam_core::StoreError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Iam(#[from] iam_core::Error),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error("A shop with this VAT number has signed up already.")]
    VatNumberTaken,
    #[error("Order not found.")]
    NoSuchOrder,
    #[error("The order has been refunded already.")]
    RefundedAlready,
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Iam(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let detail = self.to_string();
        let problem = match self {
            Self::Iam(error) => error.into(),
            Self::Database(error) => {
                tracing::error!(%error, "the shop's database failed");
                Problem::new(Kind::Internal)
            }
            Self::NoSuchOrder => Problem::new(Kind::NotFound).detail(detail),
            Self::VatNumberTaken | Self::RefundedAlready => Problem::new(Kind::Conflict).detail(detail),
        };
        problem.into_response()
    }
}
