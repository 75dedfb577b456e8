use std::collections::HashSet;

use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::{RoleId, TenantId};
use iam_model::permission::{PatternKind, Permission, PermissionPattern, PermissionSet};
use iam_model::role::{Role, RoleScope};
use iam_model::validate::{Description, Fields, RoleName};
use iam_model::version::Version;

use crate::patch::{patch, text, value};
use crate::permission::{check_patterns, pattern_field, too_many};

/// The maximum number of permissions of a role (`docs/http-api.md#roles-and-permissions`). A role of an older release
/// may have more.
const MAX_PERMISSIONS: usize = 500;

/// The input for a new role, as typed; see [`Roles::create`](crate::role::Roles::create).
#[derive(Clone, Debug, Default)]
pub struct NewRole {
    /// Upper snake case, at most 120 characters, unique in the tenant.
    pub name: String,
    /// At most 500 characters; empty if it is `None`.
    pub description: Option<String>,
    /// Where it can be assigned.
    pub scope: RoleScope,
    /// Its permissions, at most 500: permissions of the catalogue, `<resource>:*` of its resources, or `*`.
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
        /// All its permissions after the change: at most 500, or as many as are left of a role that has more.
        permissions: Vec<String> => permissions: ValidPermissions = permissions("permissions"),
    }
}

// Whether they are too many depends on those that the role has.
fn permissions(fields: &mut Fields, _: &str, texts: &[String]) -> Option<ValidPermissions> {
    Some(ValidPermissions(check_patterns(fields, texts, usize::MAX)))
}

/// Refuses a change that gives a role more permissions than it may have. A role that has more may lose some of them.
pub(super) fn check_number(before: &Role, after: &Role) -> Result<()> {
    let is_larger = !after.permissions.beyond(&before.permissions).is_empty();
    if is_larger && after.permissions.iter().count() > MAX_PERMISSIONS {
        return Err(Error::field("permissions", too_many(MAX_PERMISSIONS)));
    }
    Ok(())
}

/// The permissions of a role in the order of the input, so that errors can name each of them.
pub(super) struct ValidPermissions(Vec<PermissionPattern>);

impl ValidPermissions {
    fn check(fields: &mut Fields, texts: &[String]) -> Self {
        Self(check_patterns(fields, texts, MAX_PERMISSIONS))
    }

    /// Refuses a list that is longer than that of any role, and than that of this one.
    pub(super) fn check_length(&self, before: &Role) -> Result<()> {
        let most = MAX_PERMISSIONS.max(before.permissions.iter().count());
        if self.0.len() > most { Err(Error::field("permissions", too_many(MAX_PERMISSIONS))) } else { Ok(()) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_with_too_many_permissions_may_lose_some_and_get_no_other() {
        let role = |numbers: std::ops::Range<usize>| Role {
            id: RoleId::from_uuid(uuid::Uuid::nil()),
            tenant_id: TenantId::NONE,
            name: "WIDE".parse().unwrap(),
            description: Description::default(),
            scope: RoleScope::Any,
            permissions: numbers
                .map(|number| format!("x{number}:read").parse::<PermissionPattern>().unwrap())
                .collect(),
            system: false,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            version: Version::FIRST,
        };
        for (before, after, is_allowed) in [
            (0..700, 0..600, true),
            (0..700, 100..700, true),
            (0..700, 150..710, false),
            (0..700, 0..701, false),
            (0..700, 300..800, true),
            (0..10, 0..MAX_PERMISSIONS, true),
            (0..10, 0..MAX_PERMISSIONS + 1, false),
        ] {
            let text = format!("{before:?} {after:?}");
            assert_eq!(check_number(&role(before), &role(after)).is_ok(), is_allowed, "{text}");
        }
    }
}
