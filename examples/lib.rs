#![doc = include_str!("../README.md")]

#[doc = include_str!("../docs/embedding.md")]
mod embedding {}
