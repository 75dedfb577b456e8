#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
mod aspnet;
mod auth0;
mod column;
mod devise;
mod django;
mod error;
mod firebase;
mod json;
mod keycloak;
mod limit;
mod lines;
mod names;
mod ndjson;
mod password;
mod plain;
mod record;
mod row;
mod table;
mod user_table;
mod users;

pub use crate::auth0::Auth0Hashes;
pub use crate::error::ReadError;
pub use crate::firebase::FirebaseParameters;
pub use crate::limit::MAX_RECORD;
pub use crate::record::{ForeignPassword, NOT_SHOWN, Record, may_be_hash, short_list, shown_name};
pub use crate::row::Row;
pub use crate::users::{Format, Rows, Source, read};
