use std::collections::HashSet;

use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::id::{RoleId, TenantId};
use iam_model::permission::{PatternKind, Permission, PermissionPattern, PermissionSet};
use iam_model::role::{Role, RoleScope};
use iam_model::validate::{Description, Fields, RoleName};
use iam_model::version::Version;

use crate::patch::{patch, text, value};
use crate::permission::{check_patterns, pattern_field};

/// The input for a new role, as typed; see [`Roles::create`](crate::role::Roles::create).
#[derive(Clone, Debug, Default)]
pub struct NewRole {
    /// Upper snake case, at most 120 characters, unique in the tenant.
    pub name: String,
    /// At most 500 characters; empty if it is `None`.
    pub description: Option<String>,
    /// Where it can be assigned.
    pub scope: RoleScope,
    /// Its permissions, at most 1,000: permissions of the catalogue, `<resource>:*` of its resources, or `*`.
    pub permissions: Vec<String>,
}

/// A [`NewRole`] with valid fields. Whether its permissions are registered is not checked yet.
pub(super) struct ValidRole {
    name: RoleName,
    description: Description,
    scope: RoleScope,
    pub(super) permissions: ValidPermissions,
}

impl NewRole {
    pub(super) fn validate(self) -> Result<ValidRole> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        let description = fields.check_optional("description", self.description.as_deref());
        let permissions = ValidPermissions::check(&mut fields, &self.permissions);
        match name {
            Some(name) if fields.is_empty() => {
                Ok(ValidRole { name, description: description.unwrap_or_default(), scope: self.scope, permissions })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

impl ValidRole {
    pub(super) fn role(self, id: RoleId, tenant_id: TenantId, now: Timestamp) -> Role {
        Role {
            id,
            tenant_id,
            name: self.name,
            description: self.description,
            scope: self.scope,
            permissions: self.permissions.into(),
            system: false,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        }
    }
}

patch! {
    /// Changes of a role. A field that is `None` stays unchanged.
    RolePatch of Role {
        /// Upper snake case, at most 120 characters, unique in the tenant.
        name: String => name: RoleName = text("name"),
        /// At most 500 characters.
        description: String => description: Description = text("description"),
        /// Where it can be assigned.
        scope: RoleScope => scope: RoleScope = value("scope"),
        /// All its permissions after the change.
        permissions: Vec<String> => permissions: ValidPermissions = permissions("permissions"),
    }
}

fn permissions(fields: &mut Fields, _: &str, texts: &[String]) -> Option<ValidPermissions> {
    Some(ValidPermissions::check(fields, texts))
}

/// The permissions of a role in the order of the input, so that errors can name each of them.
pub(super) struct ValidPermissions(Vec<PermissionPattern>);

impl ValidPermissions {
    fn check(fields: &mut Fields, texts: &[String]) -> Self {
        Self(check_patterns(fields, texts))
    }

    /// Refuses permissions that are not in the tenant's catalogue. For the wildcard of a resource, the catalogue must
    /// have at least one permission of the resource.
    pub(super) fn check_registered(&self, catalogue: &[Permission]) -> Result<()> {
        let names: HashSet<&str> = catalogue.iter().map(Permission::as_str).collect();
        let resources: HashSet<&str> = catalogue.iter().map(Permission::resource).collect();
        let is_registered = |pattern: &PermissionPattern| match pattern.kind() {
            PatternKind::Everything => true,
            PatternKind::Resource(resource) => resources.contains(resource),
            PatternKind::Exact(text) => names.contains(text),
        };
        let mut fields = Fields::default();
        for (number, _) in self.0.iter().enumerate().filter(|(_, pattern)| !is_registered(pattern)) {
            fields.reject(&pattern_field(number), "must be a registered permission");
        }
        Ok(fields.finish()?)
    }
}

impl From<ValidPermissions> for PermissionSet {
    fn from(valid: ValidPermissions) -> Self {
        valid.0.into_iter().collect()
    }
}
