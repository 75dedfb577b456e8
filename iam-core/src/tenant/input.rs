use iam_model::factor::{GraceDays, SecondFactorPolicy};
use iam_model::tenant::{PasswordPolicy, Tenant};
use iam_model::validate::{Name, Slug};

use crate::patch::{number, patch, text, value};

patch! {
    /// Changes of a tenant. A field that is `None` stays unchanged.
    TenantPatch of Tenant {
        /// 1–120 characters.
        name: String => name: Name = text("name"),
        /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters.
        slug: String => slug: Slug = text("slug"),
        /// The rules for passwords that are set from now on.
        password_policy: PasswordPolicy => password_policy: PasswordPolicy = value("passwordPolicy"),
        /// Whether users have second factors.
        second_factor: SecondFactorPolicy => second_factor: SecondFactorPolicy = value("secondFactor"),
        /// How many days a user may log in without a factor that is required: 0–90.
        second_factor_grace_days: i64 => second_factor_grace_days: GraceDays = number("secondFactorGraceDays"),
    }
}
