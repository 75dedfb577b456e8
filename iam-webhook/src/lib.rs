#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod sender;
#[cfg(test)]
mod tests;

pub use iam_http_client::InvalidCertificates;

pub use crate::sender::HttpSender;
