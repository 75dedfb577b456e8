#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod directory;
mod message;
mod smtp;
mod templates;

pub use crate::directory::DirectoryMailer;
pub use crate::message::{InvalidSender, Sender};
pub use crate::smtp::{InvalidUrl, SmtpMailer, SmtpServer};
pub use crate::templates::{InvalidTemplate, Templates};
