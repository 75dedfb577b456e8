use super::Role;
use crate::audit::Record;

/// A change of the roles of a tenant.
#[derive(Clone, Debug)]
pub enum RoleChange {
    /// A new tenant gets its built-in roles.
    CreateBuiltIn(Vec<Role>),
}

impl RoleChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            // They come with the tenant, whose own entry says so (decisions.md §2).
            Self::CreateBuiltIn(_) => Vec::new(),
        }
    }
}
