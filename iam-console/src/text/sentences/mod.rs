//! The texts with arguments, and those that a value of the services chooses.

mod access;
mod assignments;
mod directories;
pub(super) mod events;
mod forms;
mod organizations;
mod overview;
mod runs;
mod tenant;

pub(crate) use self::access::*;
pub(crate) use self::assignments::*;
pub(crate) use self::directories::*;
pub(crate) use self::events::*;
pub(crate) use self::forms::*;
pub(crate) use self::organizations::*;
pub(crate) use self::overview::*;
pub(crate) use self::runs::*;
pub(crate) use self::tenant::*;
