//! Users (RFC 7643, sections 4.1 and 4.3).

mod custom;
mod element;
mod part;
mod patch;
mod profile;
mod read;
mod resource;
mod target;
mod write;

pub use profile::Profile;
pub use resource::UserResource;
