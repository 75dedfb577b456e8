//! The services over a store in memory, as an embedder calls them: one program, because each program is linked alone.

#![cfg(test)]

mod access_request;
mod access_review;
mod account;
mod api_key;
mod audit;
mod authzen;
mod company;
mod directory;
mod directory_login;
mod event_feed;
#[cfg(feature = "passkeys")]
mod factor;
mod group;
#[cfg(feature = "bcrypt")]
mod import;
mod introspection;
mod login;
mod manifest;
mod observe;
mod preview;
mod proof;
mod provisioning;
mod session;
mod settings;
mod user;
