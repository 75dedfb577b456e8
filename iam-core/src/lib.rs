#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod doctest_setup;
#[macro_use]
mod text_enum;

pub mod access;
mod after_commit;
pub mod assignment;
pub mod audit;
mod caller;
mod change;
pub mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod credential;
mod error;
mod feed;
mod iam;
mod id;
pub mod idempotency;
mod in_flight;
mod joined;
pub mod maintenance;
pub mod memory;
pub mod observe;
pub mod organization;
pub mod page;
pub mod permission;
pub mod precondition;
pub mod random;
pub mod role;
pub mod secret;
pub mod session;
mod store;
pub mod tenant;
pub mod token;
pub mod user;
mod validate;
mod work;

pub use caller::{Actor, Author, Caller, CorrelationId, RequestContext, UserAgent};
pub use change::{AuditBatch, Change};
pub use error::{
    BoxError, Conflict, Constraint, Error, FieldError, Forbidden, Internal, Result, Rule, StoreError, Unauthenticated,
};
pub use feed::{ChangeFeed, News};
pub use iam::{Builder, Iam, Settings};
pub use id::{
    AssignmentId, AuditEntryId, InvalidId, KeyId, OrganizationId, PermissionId, RoleId, SessionId, TenantId, TokenId,
    UserId,
};
pub use joined::{HostTransaction, Joined};
pub use store::{Locks, Schema, Store, Transaction};
pub use validate::{Description, Email, EmailKey, Invalid, InvalidFields, Name, PersonName, RoleName, Slug, folded};
pub use work::UnitOfWork;
