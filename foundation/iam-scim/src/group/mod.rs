//! Groups (RFC 7643, section 4.2).

mod member;
mod patch;
mod resource;
mod target;

pub use patch::{GroupPatch, MemberChange};
pub use resource::GroupResource;
