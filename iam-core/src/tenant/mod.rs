//! Tenants: customers, each with its own data that no other tenant can see (`docs/http-api.md#403-or-404`).

mod deletion;
mod export;
mod input;
mod registration;
mod service;

pub use crate::tenant::deletion::NewTenantDeletion;
pub use crate::tenant::export::{ExportedPassword, TenantExport};
pub use crate::tenant::input::TenantPatch;
pub use crate::tenant::registration::{NewTenant, Registered, Registration, TenantWithUser};
pub use crate::tenant::service::Tenants;
pub use iam_model::change::{TenantChange, TenantDeletionChange};
pub use iam_model::store::{Directory, TenantDeletionStore, TenantDeletionTransaction, TenantStore, TenantTransaction};
pub use iam_model::tenant::{
    AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Quota, QuotaKind, Tenant, TenantStatus,
    TenantSummary, Usage,
};
pub use iam_model::tenant_deletion::{DeletedTenant, DeletionRecord, TenantContents, TenantDeletion};

pub(crate) use crate::tenant::registration::log_in_again;
