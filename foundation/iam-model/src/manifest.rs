//! Manifests: what a tenant should have, in one document (`docs/manifests.md`).

/// What a manifest changes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ManifestAction {
    /// The item is made.
    Create,
    /// Fields of the item change.
    Update,
    /// The item is removed, because the manifest does not name it any more.
    Remove,
}

text_enum! { ManifestAction { Create = "CREATE", Update = "UPDATE", Remove = "REMOVE" } }

/// The kinds of what a manifest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManifestItemKind {
    /// The settings of the tenant.
    Settings,
    /// A permission of the application.
    Permission,
    /// A role.
    Role,
    /// An organization.
    Organization,
    /// A service account.
    ServiceAccount,
    /// A role of a service account.
    RoleAssignment,
    /// A webhook.
    Webhook,
    /// An identity provider.
    IdentityProvider,
    /// A directory.
    Directory,
}

text_enum! {
    ManifestItemKind {
        Settings = "SETTINGS",
        Permission = "PERMISSION",
        Role = "ROLE",
        Organization = "ORGANIZATION",
        ServiceAccount = "SERVICE_ACCOUNT",
        RoleAssignment = "ROLE_ASSIGNMENT",
        Webhook = "WEBHOOK",
        IdentityProvider = "IDENTITY_PROVIDER",
        Directory = "DIRECTORY",
    }
}
