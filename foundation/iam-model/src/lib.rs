#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod text_enum;

pub mod access;
pub mod access_request;
pub mod access_review;
pub mod api_key;
pub mod assignment;
pub mod attribute;
pub mod audit;
pub mod brand;
pub mod challenge;
pub mod change;
pub mod clock;
pub mod context;
pub mod credential;
pub mod directory;
pub mod domain;
pub mod eligibility;
pub mod error;
pub mod factor;
pub mod history;
pub mod id;
pub mod idempotency;
pub mod identity;
pub mod identity_provider;
pub mod invitation;
pub mod legal_hold;
pub mod link;
pub mod mail;
pub mod manifest;
pub mod observe;
pub mod organization;
pub mod page;
pub mod permission;
pub mod preview;
pub mod random;
pub mod role;
pub mod search;
pub mod secret;
pub mod session;
pub mod signing_key;
pub mod store;
pub mod store_error;
pub mod tenant;
pub mod tenant_deletion;
pub mod text;
pub mod user;
pub mod validate;
pub mod version;
pub mod webhook;
