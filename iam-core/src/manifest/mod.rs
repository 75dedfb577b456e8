//! Manifests: what a tenant should have, in one document (`docs/manifests.md`).

mod document;
mod plan;
mod run;
mod service;
mod state;
mod step;
#[cfg(test)]
mod tests;

pub use crate::manifest::document::{
    MAX_ITEMS, Manifest, ManifestAssignment, ManifestDirectory, ManifestIdentityProvider, ManifestOrganization,
    ManifestPermission, ManifestProvidedRole, ManifestRole, ManifestSecret, ManifestServiceAccount, ManifestSettings,
    ManifestWebhook,
};
pub use crate::manifest::service::{ManifestPreview, Manifests};
pub use crate::manifest::step::PlannedChange;
pub use iam_model::change::ManifestChange;
pub use iam_model::manifest::{ManifestAction, ManifestItemKind};
pub use iam_model::store::ManifestTransaction;
