use crate::permission::Permission;
use crate::validate::Invalid;

/// The resources of this and of later releases whose permissions no application registers. Permissions of the resources
/// that were built in before these, such as `users:export`, can be registered.
pub const RESERVED_RESOURCES: [&str; 6] =
    ["domains", "identity-providers", "directories", "eligibilities", "access-requests", "impersonations"];

/// How the other resources begin that a later release may bring.
pub const RESERVED_PREFIX: &str = "iam-";

/// Whether no application registers permissions of a resource.
///
/// Otherwise a role that holds such a permission, or the wildcard of its resource, would get rights of the service as
/// soon as a release makes that name built in.
#[must_use]
pub fn is_reserved_resource(resource: &str) -> bool {
    resource.starts_with(RESERVED_PREFIX) || RESERVED_RESOURCES.contains(&resource)
}

impl Permission {
    /// Parses the name of a permission that an application registers.
    ///
    /// # Errors
    ///
    /// [`Invalid`] when it is malformed, or its resource is [reserved](is_reserved_resource).
    pub fn of_application(text: &str) -> Result<Self, Invalid> {
        let permission: Self = text.parse()?;
        if is_reserved_resource(permission.resource()) {
            return Err(Invalid::new(format!(
                "must not begin with {RESERVED_PREFIX}, and its resource must not be one of {}",
                RESERVED_RESOURCES.join(", ")
            )));
        }
        Ok(permission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::BUILT_IN;

    #[test]
    fn an_application_registers_no_name_of_the_service() {
        for reserved in [
            "domains:read",
            "domains:transfer",
            "identity-providers:create",
            "directories:sync",
            "eligibilities:read",
            "access-requests:update",
            "impersonations:create",
            "iam-:x",
            "iam-keys:read",
        ] {
            assert!(reserved.parse::<Permission>().is_ok(), "{reserved}");
            assert!(Permission::of_application(reserved).is_err(), "{reserved}");
        }
        for free in [
            "users:export",
            "domain:read",
            "domains-x:read",
            "app-domains:read",
            "my-domains:read",
            "iam:read",
            "iamx:read",
            "x-iam-keys:read",
            "orders:domains",
            "orders:iam-keys",
        ] {
            assert_eq!(Permission::of_application(free).unwrap().as_str(), free);
        }
        assert!(Permission::of_application("orders").is_err());
    }

    /// These were built in before names were reserved.
    #[test]
    fn a_new_built_in_resource_is_reserved() {
        let older = [
            "users",
            "role-assignments",
            "roles",
            "permissions",
            "organizations",
            "audit-logs",
            "tenants",
            "sessions",
            "invitations",
            "api-keys",
            "webhooks",
            "access-reviews",
        ];
        for (permission, _) in BUILT_IN {
            let resource = permission.resource();
            assert_ne!(is_reserved_resource(resource), older.contains(&resource), "{resource}");
        }
    }
}
