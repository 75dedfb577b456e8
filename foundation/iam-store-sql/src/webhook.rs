//! Webhooks and their deliveries.

use iam_model::store_error::StoreError;
use iam_model::webhook::{Delivery, DeliveryProgress, FormerSalt, Webhook, WebhookSalt};
use serde::Serialize;
use uuid::Uuid;

use crate::column::{StoredMoment, bytes_32, counted, moment, moment_optional, parse, text};

/// A webhook as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct WebhookRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub url: String,
    pub types: String,
    pub format: String,
    pub description: String,
    pub enabled: bool,
    pub salt: Vec<u8>,
    pub former_salt: Option<Vec<u8>>,
    pub former_until: Option<T>,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<WebhookRow<T>> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow<T>) -> Result<Self, StoreError> {
        let former = match (row.former_salt, row.former_until) {
            (Some(salt), Some(until)) => Some(FormerSalt {
                salt: bytes_32("webhooks.former_salt", &salt)?,
                until: moment("webhooks.former_until", until)?,
            }),
            _ => None,
        };
        let types = row.types.split_ascii_whitespace().map(|pattern| parse("webhooks.types", pattern));
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            url: parse("webhooks.url", &row.url)?,
            types: types.collect::<Result<_, _>>()?,
            format: parse("webhooks.format", &row.format)?,
            description: text("webhooks.description", row.description)?,
            enabled: row.enabled,
            salt: WebhookSalt { current: bytes_32("webhooks.salt", &row.salt)?, former },
            created_at: moment("webhooks.created_at", row.created_at)?,
            created_by: row.created_by.map(Into::into),
            version: row.version.into(),
        })
    }
}

/// Returns the value of the column for the patterns of a webhook.
#[must_use]
pub fn stored_types(webhook: &Webhook) -> String {
    webhook.types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// How far a webhook has come, as the stores read it.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ProgressRow<T> {
    pub attempted: i64,
    pub failures: i64,
    pub paused_until: Option<T>,
}

impl<T: StoredMoment> TryFrom<ProgressRow<T>> for DeliveryProgress {
    type Error = StoreError;

    fn try_from(row: ProgressRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            attempted: counted("webhooks.attempted", row.attempted)?,
            failures: small("webhooks.failures", row.failures)?,
            paused_until: moment_optional("webhooks.paused_until", row.paused_until)?,
        })
    }
}

/// A delivery as the stores read it, and as a statement gets it in JSON.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, Serialize)]
pub struct DeliveryRow<T> {
    pub sequence: i64,
    pub entry_id: Uuid,
    pub event_type: String,
    pub attempt: i64,
    pub status: String,
    pub http_status: Option<i64>,
    pub error: Option<String>,
    pub started_at: T,
    pub duration_ms: i64,
    pub next_attempt_at: Option<T>,
}

impl<T> DeliveryRow<T> {
    /// Returns the columns of a delivery.
    pub fn new(delivery: &Delivery, stored: impl Fn(iam_model::clock::Timestamp) -> T) -> Self {
        Self {
            sequence: crate::column::integer(delivery.sequence),
            entry_id: delivery.entry_id.as_uuid(),
            event_type: delivery.event_type.clone(),
            attempt: delivery.attempt.into(),
            status: delivery.status.as_str().to_owned(),
            http_status: delivery.http_status.map(Into::into),
            error: delivery.error.clone(),
            started_at: stored(delivery.started_at),
            duration_ms: delivery.duration_ms.into(),
            next_attempt_at: delivery.next_attempt_at.map(stored),
        }
    }
}

impl<T: StoredMoment> TryFrom<DeliveryRow<T>> for Delivery {
    type Error = StoreError;

    fn try_from(row: DeliveryRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            sequence: counted("webhook_deliveries.sequence", row.sequence)?,
            entry_id: row.entry_id.into(),
            event_type: row.event_type,
            attempt: small("webhook_deliveries.attempt", row.attempt)?,
            status: parse("webhook_deliveries.status", &row.status)?,
            http_status: row.http_status.map(|status| small("webhook_deliveries.http_status", status)).transpose()?,
            error: row.error,
            started_at: moment("webhook_deliveries.started_at", row.started_at)?,
            duration_ms: small("webhook_deliveries.duration_ms", row.duration_ms)?,
            next_attempt_at: moment_optional("webhook_deliveries.next_attempt_at", row.next_attempt_at)?,
        })
    }
}

fn small<T: TryFrom<i64, Error: std::fmt::Display>>(column: &'static str, number: i64) -> Result<T, StoreError> {
    number.try_into().map_err(|cause| StoreError::corrupt(column, cause))
}
