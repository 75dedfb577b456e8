#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod attribute;
mod custom;
pub mod discovery;
mod error;
pub mod filter;
pub mod group;
mod list;
mod meta;
mod name;
mod operation;
mod projection;
pub mod query;
pub mod urn;
pub mod user;
mod value;

pub use custom::CustomSchema;
pub use error::{ScimError, ScimType};
pub use list::list_response;
pub use meta::Meta;
pub use projection::Projection;
