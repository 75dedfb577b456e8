use iam_model::tenant::{PasswordPolicy, Tenant};
use iam_model::validate::{Name, Slug};

use crate::patch::{patch, text, value};

patch! {
    /// Changes of a tenant. A field that is `None` stays unchanged.
    TenantPatch of Tenant {
        /// 1–120 characters.
        name: String => name: Name = text("name"),
        /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters.
        slug: String => slug: Slug = text("slug"),
        /// The rules for passwords that are set from now on.
        password_policy: PasswordPolicy => password_policy: PasswordPolicy = value("passwordPolicy"),
    }
}
