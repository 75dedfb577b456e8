//! The tenant and its settings.

use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy};

pub(crate) const TENANT_SETTINGS: &str = "Settings";
pub(crate) const TENANT: &str = "Tenant";
pub(crate) const TENANT_NAME: &str = "Name of the tenant";
pub(crate) const TENANT_SLUG_HINT: &str =
    "Lower-case letters, digits and hyphens. People with accounts in several tenants type it.";
pub(crate) const TENANT_HIDDEN: &str = "You may not see the settings of the tenant.";
pub(crate) const ABOUT_THIS_TENANT: &str = "what was changed here";
pub(crate) const TENANT_CHANGED_MEANWHILE: &str =
    "The tenant has changed since you opened this page, so nothing is saved. Open the page again before you save.";
pub(crate) const PASSWORD_POLICY: &str = "Password policy";
pub(crate) const PASSWORD_POLICY_HINT: &str = "For new passwords. Mixed: with a digit, a special character, and letters in upper and lower case. \
     Long: NIST SP 800-63B-4; 8 characters where second factors are required. Simple: OWASP ASVS 5.0. Long and Simple \
     refuse common passwords, and those that consist of the name or the e-mail address of the person.";
pub(crate) const SECOND_FACTORS_HINT: &str = "If they are required, each person without one must set one up within the days below. \
     After these days, the person can only set one up.";
pub(crate) const GRACE_DAYS: &str = "Days to set one up";
pub(crate) const GRACE_DAYS_HINT: &str = "0 to 90, counted from the day on which second factors are required, or on which the user is created if it is later.";
pub(crate) const PASSWORD_LOGIN: &str = "Sign-in by password";
pub(crate) const PASSWORD_LOGIN_HINT: &str = "Who has all permissions in the whole tenant may always use the password, so that a failing identity provider locks no \
     person out.";
pub(crate) const EMAIL_LOGIN: &str = "Sign-in by e-mail";
pub(crate) const EMAIL_LOGIN_HINT: &str = "A person with a verified address may sign in by a link or a code in a message. To change its password, its \
     address or its second factors, it must prove who it is again.";
pub(crate) const AUTHZEN_IDENTIFIERS: &str = "Names for gateways (AuthZEN)";
pub(crate) const AUTHZEN_IDENTIFIERS_HINT: &str =
    "How a gateway names persons and organizations when it asks for a decision. Any other name is denied.";
pub(crate) const RETENTION: &str = "Retention of the audit log";
pub(crate) const RETENTION_HIDDEN: &str = "You may not see how long the audit log is kept.";
pub(crate) const RETENTION_DAYS: &str = "Days";
pub(crate) const RETENTION_HINT: &str =
    "Empty means forever. A longer time is in force at once, a shorter one after 30 days.";
pub(crate) const SAVE_RETENTION: &str = "Save the retention";
pub(crate) const ENTRIES_ARE_KEPT_FOREVER: &str = "All entries are kept forever.";
pub(crate) const APPLY_RETENTION: &str = "Remove old entries";
pub(crate) const APPLY_RETENTION_WHAT: &str =
    "Removes the entries that are older than the retention. Proofs of all other entries stay valid.";
pub(crate) const APPLY_RETENTION_CONFIRM: &str = "Yes, remove old entries";

/// How long entries are kept now.
pub(crate) fn entries_are_kept(days: &u32) -> String {
    format!("Entries are kept for {}.", days_of(days))
}

/// How long entries are kept later; a moment follows.
pub(crate) fn entries_will_be_kept(days: &u32) -> String {
    format!("They are kept for {} from", days_of(days))
}

fn days_of(days: &u32) -> String {
    if *days == 1 { "1 day".to_owned() } else { format!("{days} days") }
}

/// How many entries the retention has removed.
pub(crate) fn entries_removed(count: u64) -> String {
    match count {
        0 => "No entry is older than the retention.".to_owned(),
        1 => "1 entry is removed.".to_owned(),
        count => format!("{count} entries are removed."),
    }
}

/// The name of a password policy.
pub(crate) fn password_policy(policy: &PasswordPolicy) -> &'static str {
    match policy {
        PasswordPolicy::Seed => "Mixed: at least 8 characters",
        PasswordPolicy::Nist => "Long: at least 15 characters",
        PasswordPolicy::Asvs => "Simple: at least 8 characters",
    }
}

/// The name of a rule for passwords.
pub(crate) fn password_login(login: &PasswordLogin) -> &'static str {
    match login {
        PasswordLogin::Allowed => "Allowed",
        PasswordLogin::Federated => "Not for persons whose identity provider is known",
    }
}

/// The name of a rule for sign-in by e-mail.
pub(crate) fn email_login(login: &EmailLogin) -> &'static str {
    match login {
        EmailLogin::Off => "Off",
        EmailLogin::On => "On: for persons whose address is verified",
    }
}

/// The name of a rule for the names in requests of AuthZEN.
pub(crate) fn authzen_identifiers(identifiers: &AuthzenIdentifiers) -> &'static str {
    match identifiers {
        AuthzenIdentifiers::Id => "Their identifiers here",
        AuthzenIdentifiers::Name => "Persons by external identifier or e-mail address, organizations by short name",
    }
}

/// The name of a rule for second factors.
pub(crate) fn second_factor_policy(policy: &SecondFactorPolicy) -> &'static str {
    match policy {
        SecondFactorPolicy::Off => "Off: no person can set one up",
        SecondFactorPolicy::Optional => "Optional: each person decides",
        SecondFactorPolicy::Required => "Required for all persons",
    }
}

/// The moment follows.
pub(crate) const TENANT_IS_DELETED_AFTER: &str = "The operator will delete this tenant with everything in it after";
