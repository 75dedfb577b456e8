//! Sign-in, the settings of the tenant, and users.

use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy};

use crate::text::{duration, t, t_with};

/// The button that leads to an identity provider.
pub(crate) fn sign_in_with(provider: &str) -> String {
    t_with("sign-in-with", [("provider", provider.into())])
}

/// The button that leads to the identity provider of a session to authenticate again.
pub(crate) fn confirm_at(provider: &str) -> String {
    t_with("confirm-at", [("provider", provider.into())])
}

/// How long entries are kept now.
pub(crate) fn entries_are_kept(days: &u32) -> String {
    t_with("entries-are-kept", [("days", days.into())])
}

/// How long entries are kept later; a moment follows.
pub(crate) fn entries_will_be_kept(days: &u32) -> String {
    t_with("entries-will-be-kept", [("days", days.into())])
}

/// How many entries the retention has removed.
pub(crate) fn entries_removed(count: u64) -> String {
    t_with("entries-removed", [("count", count.into())])
}

/// The name of a password policy.
pub(crate) fn password_policy(policy: &PasswordPolicy) -> &'static str {
    match policy {
        PasswordPolicy::Seed => t("policy-seed"),
        PasswordPolicy::Nist => t("policy-nist"),
        PasswordPolicy::Asvs => t("policy-asvs"),
    }
}

/// The name of a rule for passwords.
pub(crate) fn password_login(login: &PasswordLogin) -> &'static str {
    match login {
        PasswordLogin::Allowed => t("password-login-allowed"),
        PasswordLogin::Federated => t("password-login-federated"),
    }
}

/// The name of a rule for sign-in by e-mail.
pub(crate) fn email_login(login: &EmailLogin) -> &'static str {
    match login {
        EmailLogin::Off => t("email-login-off"),
        EmailLogin::On => t("email-login-on"),
    }
}

/// The name of a rule for the names in requests of AuthZEN.
pub(crate) fn authzen_identifiers(identifiers: &AuthzenIdentifiers) -> &'static str {
    match identifiers {
        AuthzenIdentifiers::Id => t("authzen-id"),
        AuthzenIdentifiers::Name => t("authzen-name"),
    }
}

/// The name of a rule for second factors.
pub(crate) fn second_factor_policy(policy: &SecondFactorPolicy) -> &'static str {
    match policy {
        SecondFactorPolicy::Off => t("factor-policy-off"),
        SecondFactorPolicy::Optional => t("factor-policy-optional"),
        SecondFactorPolicy::Required => t("factor-policy-required"),
    }
}

/// How many users a search has found.
pub(crate) fn users_found(total: u64) -> String {
    t_with("users-found", [("count", total.into())])
}

/// How many permissions of a role the page does not show.
pub(crate) fn more_permissions(count: &usize) -> String {
    t_with("more-permissions", [("count", count.into())])
}

/// How many roles of a user the page does not show.
pub(crate) fn more_roles(count: &usize) -> String {
    t_with("more-roles", [("count", count.into())])
}

/// For how long a person can act as a user: each time in seconds, with its text.
pub(crate) fn acting_times() -> [(u32, String); 4] {
    [300, 900, 1_800, 3_600].map(|seconds| (seconds, duration(seconds)))
}
