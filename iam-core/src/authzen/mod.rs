//! The Authorization API 1.0 of AuthZEN: questions about access in the words of that standard (`docs/authzen.md`).
//!
//! The answers are those of [`Access`](crate::access::Access).

mod names;
mod request;
mod search;
mod service;

pub use crate::authzen::request::{Evaluation, Resource, Semantic, Subject};
pub use crate::authzen::service::{Authzen, MAX_EVALUATIONS};
pub use iam_model::tenant::AuthzenIdentifiers;
