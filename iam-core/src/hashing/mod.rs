//! The hashing of passwords: what hashes are stored and accepted, and the queue in which they are computed.

mod cost;
mod function;
mod hasher;
mod keyed;
mod share;
mod stored;
mod timing;
mod workers;

pub use crate::hashing::cost::HashingCost;

pub(crate) use crate::hashing::hasher::{PasswordHasher, Verified};
pub(crate) use crate::hashing::keyed::HashKey;
pub(crate) use crate::hashing::share::Share;
pub(crate) use crate::hashing::workers::Priority;
