#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod connector;
mod failure;
mod sender;
#[cfg(test)]
mod tests;

pub use crate::sender::{HttpSender, InvalidCertificates};
