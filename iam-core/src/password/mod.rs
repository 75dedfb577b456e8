//! New passwords: the policy of the tenant, and the refusal of passwords that are common, known from a data breach, or
//! made of words that an attacker knows (`docs/operating.md#password-policies`).

mod breached;
mod common;
mod rules;

use std::path::Path;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use iam_model::error::{Error, Result};
use iam_model::factor::SecondFactorPolicy;
use iam_model::secret::Password;
use iam_model::tenant::{PasswordPolicy, Tenant};
use iam_model::validate::Invalid;

pub use crate::password::breached::BreachedPasswords;
pub(crate) use crate::password::rules::{Owner, make_password};

/// The rules of this installation, for the policies of all tenants.
pub(crate) struct PasswordRules {
    /// Whether common passwords are also refused by the policy that does not ask for it.
    refuses_common: bool,
    breached: Option<BreachedPasswords>,
}

impl PasswordRules {
    /// Opens the file of breached passwords, if there is one.
    pub(crate) fn open(refuses_common: bool, breached: Option<&Path>) -> Result<Self> {
        let open = |path: &Path| {
            let invalid = |cause| Error::field("breached_passwords", format!("{}: {cause}", path.display()));
            BreachedPasswords::open(path).map_err(invalid)
        };
        Ok(Self { refuses_common, breached: breached.map(open).transpose()? })
    }

    /// Returns the rules for the passwords of a tenant.
    pub(crate) fn of<'a>(&'a self, tenant: &'a Tenant) -> TenantRules<'a> {
        TenantRules {
            rules: self,
            policy: tenant.password_policy,
            min_length: tenant.min_password_length(),
            name: tenant.name.as_str(),
        }
    }

    /// Returns the rules for the passwords of a tenant that is about to be created.
    pub(crate) fn of_new<'a>(&'a self, name: &'a str) -> TenantRules<'a> {
        let (policy, second_factor) = (PasswordPolicy::default(), SecondFactorPolicy::default());
        TenantRules { rules: self, policy, min_length: policy.min_length(second_factor), name }
    }
}

/// The rules for the passwords of a tenant.
#[derive(Clone, Copy)]
pub(crate) struct TenantRules<'a> {
    rules: &'a PasswordRules,
    policy: PasswordPolicy,
    /// The minimum number of characters.
    min_length: usize,
    name: &'a str,
}

/// A password that follows all rules that need no file.
pub(crate) struct CheckedPassword {
    password: Password,
    refuses_breached: bool,
}

impl CheckedPassword {
    pub(crate) fn password(&self) -> &Password {
        &self.password
    }
}

/// A password that follows all rules.
pub(crate) struct AcceptedPassword(Password);

impl AcceptedPassword {
    pub(crate) fn password(&self) -> &Password {
        &self.0
    }
}

impl TenantRules<'_> {
    /// Checks a new password, in its prepared form, by all rules that need no file. The error says which rules it
    /// breaks.
    pub(crate) fn check(self, password: Password, owner: Owner<'_>) -> Result<CheckedPassword, Invalid> {
        let password = password.prepared();
        let missing = rules::missing(self.policy, self.min_length, password.expose());
        if !missing.is_empty() {
            return Err(Invalid::new(format!("must have {}", missing.join(", "))));
        }
        let refuses_common = self.rules.refuses_common || self.policy != PasswordPolicy::Seed;
        let owner = Owner { tenant: self.name, ..owner };
        if refuses_common && let Some(reason) = rules::guessable(password.expose(), owner) {
            return Err(Invalid::new(reason));
        }
        Ok(CheckedPassword { password, refuses_breached: refuses_common })
    }
}

impl PasswordRules {
    /// Accepts a checked password unless it is known from a data breach. `field` is its name in the error.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names the field, [`Error::Internal`] if the file cannot be read.
    pub(crate) async fn accept(&self, field: &str, checked: &CheckedPassword) -> Result<AcceptedPassword> {
        if let Some(breached) = self.breached.clone().filter(|_| checked.refuses_breached) {
            let mut sha1 = [0; 20];
            sha1.copy_from_slice(digest(&SHA1_FOR_LEGACY_USE_ONLY, checked.password.expose().as_bytes()).as_ref());
            let is_breached = tokio::task::spawn_blocking(move || breached.contains(&sha1)).await;
            let is_breached = is_breached.map_err(|cause| Error::internal("breached passwords", cause))?;
            if is_breached.map_err(|cause| Error::internal("breached passwords", cause))? {
                return Err(Error::field(field, "must not be a password that is known from a data breach"));
            }
        }
        Ok(AcceptedPassword(checked.password.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a password is accepted by a policy in the tenant "Analytical Engines".
    fn accepts(refuses_common: bool, policy: PasswordPolicy, password: &str) -> bool {
        let rules = PasswordRules { refuses_common, breached: None };
        let rules = TenantRules { rules: &rules, policy, min_length: 8, name: "Analytical Engines" };
        rules.check(password.into(), Owner { first_name: "Augusta", ..Owner::default() }).is_ok()
    }

    #[test]
    fn what_is_easy_to_guess_is_refused_where_the_operator_or_the_tenant_wants_it() {
        use PasswordPolicy::{Nist, Seed};
        for (refuses_common, policy, is_refused) in
            [(false, Seed, false), (true, Seed, true), (false, Nist, true), (true, Nist, true)]
        {
            for password in ["Password1!", "Augusta-1!", "Analytical1!"] {
                assert_eq!(accepts(refuses_common, policy, password), !is_refused, "{refuses_common} {password}");
            }
            assert!(accepts(refuses_common, policy, "Zu6!kolmr-Tfe"));
        }
    }
}
