#![doc = include_str!("../README.md")]

mod certificates;
mod client;
mod connector;
mod error;
#[cfg(test)]
mod tests;

pub use crate::certificates::{Certificates, InvalidCertificates};
pub use crate::client::{Client, Limits};
pub use crate::error::RequestError;
