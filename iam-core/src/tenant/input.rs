use iam_model::attribute::{AttributeDefinition, AttributeDefinitions, UnregisteredAttributes};
use iam_model::factor::{GraceDays, SecondFactorPolicy};
use iam_model::id::TenantId;
use iam_model::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant};
use iam_model::validate::{Fields, Name, Slug};

use crate::patch::{number, patch, text, value};

patch! {
    /// Changes of a tenant. A field that is `None` stays unchanged.
    TenantPatch of Tenant {
        /// 1–120 characters.
        name: String => name: Name = text("name"),
        /// `[a-z0-9]+(-[a-z0-9]+)*`, at most 63 characters, and not the form of an identifier.
        slug: String => slug: Slug = slug("slug"),
        /// The rules for passwords that are set from now on.
        password_policy: PasswordPolicy => password_policy: PasswordPolicy = value("passwordPolicy"),
        /// Whether users have second factors.
        second_factor: SecondFactorPolicy => second_factor: SecondFactorPolicy = value("secondFactor"),
        /// How many days a user may log in without a factor that is required: 0–90.
        second_factor_grace_days: i64 => second_factor_grace_days: GraceDays = number("secondFactorGraceDays"),
        /// Whether users whose identity provider is known log in by it alone.
        password_login: PasswordLogin => password_login: PasswordLogin = value("passwordLogin"),
        /// Whether users log in by a message to their address.
        email_login: EmailLogin => email_login: EmailLogin = value("emailLogin"),
        /// How requests of AuthZEN name users and organizations.
        authzen_identifiers: AuthzenIdentifiers => authzen_identifiers: AuthzenIdentifiers = value("authzenIdentifiers"),
        /// The attributes that are defined for users, in the place of the former ones: at most 32.
        user_attributes: Vec<AttributeDefinition> => user_attributes: AttributeDefinitions = of_users("userAttributes"),
        /// The attributes that are defined for organizations, in the place of the former ones: at most 32.
        organization_attributes: Vec<AttributeDefinition> => organization_attributes: AttributeDefinitions
            = of_organizations("organizationAttributes"),
        /// Whether users and organizations can have other attributes.
        unregistered_attributes: UnregisteredAttributes => unregistered_attributes: UnregisteredAttributes
            = value("unregisteredAttributes"),
    }
}

fn of_users(fields: &mut Fields, name: &str, given: &[AttributeDefinition]) -> Option<AttributeDefinitions> {
    AttributeDefinitions::for_users(fields, name, given)
}

fn of_organizations(fields: &mut Fields, name: &str, given: &[AttributeDefinition]) -> Option<AttributeDefinitions> {
    AttributeDefinitions::for_organizations(fields, name, given)
}

/// Parses the slug of a tenant. A login names its tenant by the identifier or by the slug, so no slug may look like the
/// identifier of another tenant.
pub(super) fn slug(fields: &mut Fields, name: &str, given: &str) -> Option<Slug> {
    if is_identifier(given) {
        fields.reject(name, "must not have the form of an identifier");
        return None;
    }
    text(fields, name, given)
}

/// Whether a login would take this text for the identifier of a tenant.
pub(super) fn is_identifier(slug: &str) -> bool {
    slug.parse::<TenantId>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slug_of_a_tenant_has_not_the_form_of_an_identifier() {
        for (given, is_valid) in [
            ("acme", true),
            ("01890a5d-ac96-774b-bcce-b302099a8057", false),
            // No identifier is written like this.
            ("01890a5dac96774bbcceb302099a8057", true),
            ("01890a5d-ac96-774b-bcce-b302099a805", true),
            ("01890a5d-ac96-774b-bcce-b302099a8057-1", true),
            ("Acme", false),
        ] {
            let mut fields = Fields::default();
            assert_eq!(slug(&mut fields, "slug", given).is_some(), is_valid, "{given}");
            assert_eq!(fields.is_empty(), is_valid, "{given}");
        }
    }
}
