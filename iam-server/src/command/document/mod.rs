//! The documents that a person writes for a command: manifests and mappings.

mod file;
mod lines;
mod message;
mod yaml;

pub(crate) use crate::command::document::file::content_of;
pub(crate) use crate::command::document::lines::{Lines, is_standard_input, text_of};
pub(crate) use crate::command::document::message::{Mistake, name_of, refused, warn};
pub(crate) use crate::command::document::yaml::parse;
