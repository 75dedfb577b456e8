#![doc = include_str!("../README.md")]

pub mod audit;
pub mod column;
pub mod error;
pub mod host;
pub mod idempotency;
pub mod organization;
pub mod page;
pub mod permission;
pub mod role;
pub mod session;
pub mod tenant;
pub mod token;
pub mod user;
