#![doc = include_str!("../README.md")]

mod call;
mod client;
mod error;
mod event;
mod export;
mod page;
mod problem;
mod retry;
mod session;
mod step_up;
mod value;

#[cfg(feature = "axum")]
pub mod axum;
#[cfg(feature = "verify")]
mod verify;

mod generated {
    pub(crate) mod models;
    mod operations;
    pub(crate) mod queries;
}

/// The types of requests and answers, and the parameters of operations.
///
/// A type of a request has a `Default`, for `..Default::default()`: a later version may add optional fields. A type that
/// only answers have is `#[non_exhaustive]` for the same reason.
pub mod models {
    pub use crate::generated::models::*;
    pub use crate::generated::queries::*;
    pub use crate::page::{Collection, List};
}

// The types of times, methods and identifiers in the interface.
pub use chrono::{DateTime, Utc};
pub use reqwest::{self, Method};
pub use uuid::Uuid;

pub use call::{Call, Request, Response};
pub use client::{Builder, Client};
pub use error::{Error, Result, TransportError};
pub use event::{EventFilter, EventStream};
pub use export::Lines;
pub use page::{Items, Page};
pub use problem::{Code, FieldError, Problem};
pub use value::{Change, Secret};
#[cfg(feature = "verify")]
pub use verify::{Expected, Tenants, TokenError, TokenVerifier, VerifiedToken};
