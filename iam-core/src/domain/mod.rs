//! Domains of a tenant, which it proves by a record of the DNS (`docs/federation.md#domains`).
//!
//! A domain is VERIFIED in one tenant of the installation at a time. A task of the program calls
//! [`Iam::check_domains`](crate::Iam::check_domains), which looks for the records of VERIFIED domains again, each day.
//! Without a [`TxtResolver`], only trusted code verifies domains.

mod check;
mod service;

pub use crate::domain::service::Domains;
pub use iam_model::change::DomainChange;
pub use iam_model::domain::*;
pub use iam_model::store::{DomainStore, DomainTransaction};
pub use iam_model::validate::DomainName;
