//! Webhooks: how events are sent to other systems, by [Standard Webhooks] 1.0
//! (`docs/integrating.md#a-program-is-told-what-happens`).
//!
//! A webhook follows the log of its tenant from its making on. A task of the program calls
//! [`Iam::deliver_webhooks`](crate::Iam::deliver_webhooks), which sends the events: of several replicas, one at a time
//! does so. Each event is sent at least once, and in the order of the log until one fails. Without a
//! [`WebhookSender`], calls that need one fail with [`Error::WebhooksOff`](crate::Error::WebhooksOff).
//!
//! [Standard Webhooks]: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

mod attempt;
mod delivery;
mod input;
mod message;
mod service;
#[cfg(test)]
mod tests;

pub use crate::webhook::attempt::WebhookAnswer;
pub use crate::webhook::input::{NewWebhook, WebhookPatch};
pub use crate::webhook::service::{IssuedWebhook, Webhooks};
pub use iam_model::audit::{EventFormat, EventPattern};
pub use iam_model::change::WebhookChange;
pub use iam_model::store::{WebhookStore, WebhookTransaction};
pub use iam_model::webhook::{
    AddressPolicy, Delivery, DeliveryProgress, DeliveryStatus, DueWebhook, FormerSalt, SendError, Webhook,
    WebhookBacklog, WebhookRequest, WebhookSalt, WebhookSender, WebhookUrl, WebhookWork, is_public,
};
