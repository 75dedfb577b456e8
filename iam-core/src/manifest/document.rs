use std::fmt;
use std::marker::PhantomData;

use iam_model::attribute::{AttributeDefinition, UnregisteredAttributes};
use iam_model::audit::EventFormat;
use iam_model::clock::{Timestamp, shown};
use iam_model::factor::SecondFactorPolicy;
use iam_model::identity_provider::{IdentityProvider, Provisioning, SubjectClaim};
use iam_model::organization::OrganizationStatus;
use iam_model::role::RoleScope;
use iam_model::secret::ClientSecret;
use iam_model::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy};
use iam_model::user::UserStatus;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use subtle::ConstantTimeEq as _;

/// The maximum number of items of a manifest (`docs/manifests.md#limits`).
pub const MAX_ITEMS: usize = 5_000;

/// The maximum number of items that one run makes, changes and removes, with the roles that a service account loses by
/// its removal (`docs/manifests.md#limits`). On SQLite, all other writes wait for a run.
pub(super) const MAX_CHANGES: usize = 5_000;

/// What a tenant should have (`docs/manifests.md#the-document`).
///
/// Items are named by what people call them: a permission and a role by its name, an organization by its slug, a service
/// account by its name, a webhook by its address, an identity provider by its slug, a directory by its service account.
/// The texts are as typed, and [`Manifests::apply`](crate::manifest::Manifests::apply) checks them.
/// An unknown field is refused.
///
/// ```
/// use iam_core::manifest::Manifest;
///
/// let manifest: Manifest = serde_json::from_str(
///     r#"{
///         "permissions": [{ "name": "orders:refund" }],
///         "roles": [{ "name": "CLERK", "permissions": ["orders:refund"] }],
///         "organizations": [{ "slug": "north", "name": "North" }],
///         "serviceAccounts": [{ "name": "Billing", "assignments": [{ "role": "CLERK", "organization": "north" }] }]
///     }"#,
/// )?;
/// assert_eq!(manifest.items(), 5);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Manifest {
    /// Settings of the tenant.
    #[serde(skip_serializing_if = "ManifestSettings::is_empty", deserialize_with = "mapping")]
    pub settings: ManifestSettings,
    /// Permissions of the application.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub permissions: Vec<ManifestPermission>,
    /// Roles.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub roles: Vec<ManifestRole>,
    /// Organizations, in any order.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub organizations: Vec<ManifestOrganization>,
    /// Service accounts, with their roles.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub service_accounts: Vec<ManifestServiceAccount>,
    /// Webhooks.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub webhooks: Vec<ManifestWebhook>,
    /// Identity providers, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub identity_providers: Vec<ManifestIdentityProvider>,
    /// Directories.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub directories: Vec<ManifestDirectory>,
}

impl Manifest {
    /// The number of items, with the roles of the service accounts and without the settings.
    #[must_use]
    pub fn items(&self) -> usize {
        let assignments: usize = self.service_accounts.iter().map(|account| account.assignments.len()).sum();
        let named = [self.permissions.len(), self.roles.len(), self.organizations.len(), self.service_accounts.len()];
        let connected = [self.webhooks.len(), self.identity_providers.len(), self.directories.len()];
        named.into_iter().chain(connected).sum::<usize>() + assignments
    }
}

/// Settings of a tenant. A setting that is `None` stays unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestSettings {
    /// The name of the tenant: 1–120 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The rules for passwords that are set from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_policy: Option<PasswordPolicy>,
    /// Whether users have second factors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_factor: Option<SecondFactorPolicy>,
    /// How many days a user may log in without a factor that is required: 0–90.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "whole")]
    pub second_factor_grace_days: Option<i64>,
    /// Whether users whose identity provider is known log in by it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_login: Option<PasswordLogin>,
    /// Whether users log in by a message to their address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email_login: Option<EmailLogin>,
    /// How requests of AuthZEN name users and organizations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authzen_identifiers: Option<AuthzenIdentifiers>,
    /// All attributes that are defined for users, at most 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_attributes: Option<Vec<AttributeDefinition>>,
    /// All attributes that are defined for organizations, at most 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization_attributes: Option<Vec<AttributeDefinition>>,
    /// Whether users and organizations can have other attributes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unregistered_attributes: Option<UnregisteredAttributes>,
}

impl ManifestSettings {
    /// Whether no setting is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A permission of the application.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestPermission {
    /// `<resource>:<action>`.
    pub name: String,
    /// At most 500 characters. That of a permission that exists cannot change; an empty one says nothing about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestRole {
    /// Upper snake case.
    pub name: String,
    /// At most 500 characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it can be assigned.
    pub scope: RoleScope,
    /// All its permissions: permissions of the catalogue, `<resource>:*` of its resources, or `*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

/// An organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestOrganization {
    /// The slug, by which it is known.
    pub slug: String,
    /// 1–120 characters.
    pub name: String,
    /// The slug of the organization above; `None` for a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// ACTIVE or SUSPENDED. `None` says nothing about one that exists, and makes an ACTIVE one.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "status")]
    pub status: Option<OrganizationStatus>,
}

/// A service account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestServiceAccount {
    /// 1–100 characters.
    pub name: String,
    /// The slug of its home; `None` for the tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// ACTIVE or SUSPENDED. `None` says nothing about one that exists, and makes an ACTIVE one.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "status")]
    pub status: Option<UserStatus>,
    /// Roles that it holds. It may hold others.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub assignments: Vec<ManifestAssignment>,
}

/// A role of a service account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestAssignment {
    /// The name of the role.
    pub role: String,
    /// The slug of the organization; `None` for tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
    /// The instant from which on it grants nothing; `None` for no expiry. One in the past gives nothing.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "moment", deserialize_with = "time")]
    pub expires_at: Option<Timestamp>,
}

/// A webhook. Its secret is in no manifest: a [new one](crate::webhook::Webhooks::rotate_secret) is shown once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestWebhook {
    /// Where it sends events, by which it is known.
    pub url: String,
    /// Which events it sends: 1–100 patterns such as `USER.CREATE` or `USER.*`.
    pub types: Vec<String>,
    /// How it writes them.
    pub format: EventFormat,
    /// At most 500 characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether it sends events. `None` says nothing about one that exists, and makes one that does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// An identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestIdentityProvider {
    /// The slug, by which it is known.
    pub slug: String,
    /// 1–120 characters.
    pub name: String,
    /// Names the provider in its tokens, to the letter.
    pub issuer: String,
    /// Names this service at the provider: 1–255 characters.
    pub client_id: String,
    /// The secret of this service at the provider. `None` says nothing about one that exists, and makes a provider
    /// without a secret. It is never written.
    #[serde(skip_serializing)]
    pub client_secret: Option<ManifestSecret>,
    /// What the provider is asked for: at most 20 scopes, one of them `openid`.
    pub scopes: Vec<String>,
    /// The names of the domains of the tenant for which it speaks: at most 50.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// Whether an address counts as verified without the claim `email_verified`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trusts_email: bool,
    /// The claim that names a person.
    pub subject_claim: SubjectClaim,
    /// Whether accounts are linked and made.
    pub provisioning: Provisioning,
    /// The roles of the users that are made: at most 50.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "mappings")]
    pub roles: Vec<ManifestProvidedRole>,
    /// Whether a second factor at the provider counts here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub factor_is_trusted: bool,
    /// Whether people log in by it. `None` says nothing about one that exists, and makes one by which they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// A provider with the scopes of a provider that names none.
impl Default for ManifestIdentityProvider {
    fn default() -> Self {
        Self {
            slug: String::new(),
            name: String::new(),
            issuer: String::new(),
            client_id: String::new(),
            client_secret: None,
            scopes: IdentityProvider::DEFAULT_SCOPES.map(str::to_owned).into(),
            domains: Vec::new(),
            trusts_email: false,
            subject_claim: SubjectClaim::default(),
            provisioning: Provisioning::default(),
            roles: Vec::new(),
            factor_is_trusted: false,
            enabled: None,
        }
    }
}

/// A role of the users that an identity provider makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestProvidedRole {
    /// The name of the role.
    pub role: String,
    /// The slug of the organization; `None` for tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
}

/// A secret that a manifest gives. It is read and never written, and two are compared in constant time.
#[derive(Clone, Debug)]
pub struct ManifestSecret(pub ClientSecret);

impl PartialEq for ManifestSecret {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose().as_bytes().ct_eq(other.0.expose().as_bytes()).into()
    }
}

impl Eq for ManifestSecret {}

impl<'de> Deserialize<'de> for ManifestSecret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The error of serde would repeat what was given.
        match Value::deserialize(deserializer)? {
            Value::String(secret) => Ok(Self(secret.into())),
            _ => Err(D::Error::custom("invalid type, expected a string")),
        }
    }
}

/// A directory. Its groups, and the roles that they give, are in no manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ManifestDirectory {
    /// The name of the service account whose API keys it uses, by which it is known. It has no other directory.
    pub service_account: String,
    /// 1–120 characters.
    pub name: String,
    /// The slug of the identity provider by which its users log in; `None` if they log in by other means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_provider: Option<String>,
    /// Whether it takes over users of the tenant who have the address of one of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}

/// Writes a moment as the interface does.
fn moment<S: Serializer>(moment: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    moment.map(shown).serialize(serializer)
}

/// Reads a moment.
fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(moment) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    let moment = Timestamp::deserialize(moment);
    moment.map(Some).map_err(|_| D::Error::custom("invalid value, expected a time such as 2100-01-01T00:00:00Z"))
}

/// Reads a status. The error names those that a manifest can give.
fn status<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let Some(status) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    T::deserialize(status).map(Some).map_err(|_| D::Error::custom("must be one of ACTIVE, SUSPENDED"))
}

/// Reads a whole number. `7.0` is one for JSON Schema, too.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let Some(value) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    let from_float = || value.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as i64);
    let number = value.as_i64().or_else(from_float);
    number.map(Some).ok_or_else(|| D::Error::custom("invalid value, expected a whole number"))
}

/// Reads a mapping.
fn mapping<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Mapping::deserialize(deserializer).map(|Mapping(value)| value)
}

/// Reads a list of mappings.
fn mappings<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let items = Vec::<Mapping<T>>::deserialize(deserializer)?;
    Ok(items.into_iter().map(|Mapping(value)| value).collect())
}

/// A struct that is read from a mapping only. serde would also accept a list, with one item for each field.
struct Mapping<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Mapping<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Mapping<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Mapping<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(entries)).map(Mapping)
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_of_a_manifest_is_a_mapping() {
        for (manifest, message) in [
            (json!({ "settings": ["Acme", "seed"] }), "invalid type: sequence, expected a map"),
            (json!({ "roles": [["ZZZ", "", "ANY", ["*"]]] }), "invalid type: sequence, expected a map"),
            (json!({ "roles": ["ZZZ"] }), "invalid type: string \"ZZZ\", expected a map"),
            (
                json!({ "serviceAccounts": [{ "name": "A", "assignments": [["CLERK"]] }] }),
                "invalid type: sequence, expected a map",
            ),
            (json!({ "identityProviders": [{ "roles": [["MEMBER"]] }] }), "invalid type: sequence, expected a map"),
            (json!({ "roles": [{ "nmae": "A" }] }), "unknown field `nmae`"),
        ] {
            let refused = serde_json::from_value::<Manifest>(manifest.clone()).unwrap_err().to_string();
            assert!(refused.starts_with(message), "{manifest}: {refused}");
        }
    }

    #[test]
    fn an_error_of_a_value_says_what_it_can_be() {
        for (manifest, message) in [
            (
                json!({ "serviceAccounts": [{ "assignments": [{ "expiresAt": "tomorrow" }] }] }),
                "invalid value, expected a time such as 2100-01-01T00:00:00Z",
            ),
            (json!({ "organizations": [{ "status": "GONE" }] }), "must be one of ACTIVE, SUSPENDED"),
            (json!({ "settings": { "secondFactorGraceDays": "7" } }), "invalid value, expected a whole number"),
        ] {
            let refused = serde_json::from_value::<Manifest>(manifest.clone()).unwrap_err().to_string();
            assert_eq!(refused, message, "{manifest}");
        }
        let manifest = json!({ "settings": { "secondFactorGraceDays": 7.0 } });
        let read: Manifest = serde_json::from_value(manifest).unwrap();
        assert_eq!(read.settings.second_factor_grace_days, Some(7));
    }
}
