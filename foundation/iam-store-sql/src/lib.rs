#![doc = include_str!("../README.md")]

pub mod audit;
pub mod column;
pub mod credential;
pub mod error;
pub mod host;
pub mod idempotency;
pub mod maintenance;
pub mod organization;
pub mod page;
pub mod permission;
pub mod role;
pub mod session;
pub mod store;
pub mod tenant;
pub mod token;
pub mod user;
