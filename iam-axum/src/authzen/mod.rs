//! The Authorization API 1.0 of AuthZEN (`docs/authzen.md`). Unlike elsewhere, fields that are not known are ignored,
//! as the standard demands, and a wrong content type is a 400.

mod body;
pub(crate) mod configuration;
pub(crate) mod evaluation;
mod page;
pub(crate) mod search;
