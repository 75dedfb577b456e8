#![doc = include_str!("../README.md")]

#[doc = include_str!("../docs/custom-store.md")]
mod custom_store {}

#[doc = include_str!("../docs/embedding.md")]
mod embedding {}

#[doc = include_str!("../docs/integrating.md")]
mod integrating {}

#[doc = include_str!("../examples/mount/README.md")]
mod mount {}
