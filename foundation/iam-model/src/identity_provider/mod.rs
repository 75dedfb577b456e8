//! Identity providers: OpenID Connect providers by which the people of a tenant log in (`docs/federation.md#providers`).

mod client;

pub use client::{FetchError, ProviderAnswer, ProviderClient, ProviderRequest};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Url;

use crate::clock::Timestamp;
use crate::id::{DomainId, IdentityProviderId, TenantId};
use crate::role::PlacedRole;
use crate::text::controls_text;
use crate::validate::{Invalid, Name, Slug};
use crate::version::Version;

/// A provider that speaks for the people of its domains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityProvider {
    /// Identifies the provider.
    pub id: IdentityProviderId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// A name for people.
    pub name: Name,
    /// A name for addresses, unique in the tenant.
    pub slug: Slug,
    /// Names the provider in its tokens.
    pub issuer: Issuer,
    /// Names this service at the provider.
    pub client_id: ClientId,
    /// The encrypted secret of this service at the provider; `None` if it has none.
    #[serde(skip)]
    pub client_secret: Option<EncryptedClientSecret>,
    /// What the provider is asked for.
    pub scopes: Vec<Scope>,
    /// The domains for which it speaks. One that is PENDING has no effect.
    pub domain_ids: Vec<DomainId>,
    /// Whether an address counts as verified without the claim `email_verified`.
    pub trusts_email: bool,
    /// The claim that names a person.
    pub subject_claim: SubjectClaim,
    /// Whether accounts are linked and made.
    pub provisioning: Provisioning,
    /// The roles of the users that are made.
    pub roles: Vec<PlacedRole>,
    /// Whether a second factor at the provider counts here.
    pub factor_is_trusted: bool,
    /// Whether people log in by it.
    pub enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The version of the row.
    pub version: Version,
}

/// The claim of an ID token that names a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SubjectClaim {
    /// The subject, another one for each client at some providers.
    #[default]
    Sub,
    /// The object identifier of Entra, which its directory has, too.
    Oid,
}

text_enum! { SubjectClaim { Sub = "sub", Oid = "oid" } }

/// What happens with a person whom nobody here is linked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Provisioning {
    /// Nothing: people link their own accounts.
    Off,
    /// The user with the address is linked.
    #[default]
    Link,
    /// The user with the address is linked, or one is made.
    Create,
}

text_enum! { Provisioning { Off = "OFF", Link = "LINK", Create = "CREATE" } }

impl IdentityProvider {
    /// The maximum number of providers of a tenant.
    pub const MAX: usize = 20;

    /// The maximum number of scopes of a provider.
    pub const MAX_SCOPES: usize = 20;

    /// The maximum number of roles of the users that a provider makes.
    pub const MAX_ROLES: usize = 50;

    /// The scopes of a provider that names none.
    pub const DEFAULT_SCOPES: [&str; 3] = ["openid", "email", "profile"];

    /// Returns the provider after a change of other fields at a moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Whether another provider differs from this one at most in its name, so that the change gives nothing to anyone.
    #[must_use]
    pub fn is_renamed(&self, other: &Self) -> bool {
        let unnamed = |provider: &Self| Self {
            name: self.name.clone(),
            updated_at: self.updated_at,
            version: self.version,
            ..provider.clone()
        };
        unnamed(self) == unnamed(other)
    }

    /// Returns the fields that the audit log records: all but the secret.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "name": self.name.as_str(),
            "slug": self.slug.as_str(),
            "issuer": self.issuer.as_str(),
            "clientId": self.client_id.as_str(),
            "scopes": self.scopes.iter().map(Scope::as_str).collect::<Vec<_>>(),
            "domainIds": self.domain_ids,
            "trustsEmail": self.trusts_email,
            "subjectClaim": self.subject_claim.as_str(),
            "provisioning": self.provisioning.as_str(),
            "roles": self.roles,
            "factorIsTrusted": self.factor_is_trusted,
            "enabled": self.enabled,
        })
    }
}

/// The encrypted secret of this service at a provider. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptedClientSecret(pub Vec<u8>);

impl fmt::Debug for EncryptedClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptedClientSecret([REDACTED])")
    }
}

macro_rules! plain_texts {
    ($($(#[$doc:meta])* $name:ident = $is_valid:expr, $message:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                let is_valid: fn(&str) -> bool = $is_valid;
                if is_valid(text) { Ok(Self(text.to_owned())) } else { Err(Invalid::new($message)) }
            }
        }

        serde_by_text! { $name }
    )+};
}

plain_texts! {
    /// The issuer of a provider, compared to the letter: a URL without a user, a query or a fragment, at most 512
    /// characters (OpenID Connect Discovery 1.0, section 3).
    Issuer = is_issuer, "must be a URL such as https://login.example.com, without a query, at most 512 characters";
    /// The identifier of this service at a provider: 1 to 255 visible characters of ASCII (RFC 6749, appendix A.1).
    ClientId = |text| is_visible(text, 255), "must be 1 to 255 visible characters of ASCII";
    /// A scope: 1 to 100 visible characters of ASCII without quotation marks and backslashes (RFC 6749, section 3.3).
    Scope = is_scope, "must be 1 to 100 visible characters of ASCII without quotation marks and backslashes";
}

fn is_issuer(text: &str) -> bool {
    const MAX: usize = 512;
    let is_plain = text.len() <= MAX && !text.chars().any(|c| c.is_whitespace() || controls_text(c) || c == '\\');
    let url = Url::parse(text).ok().filter(|_| is_plain);
    url.is_some_and(|url| {
        matches!(url.scheme(), "https" | "http")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && text.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
    })
}

fn is_visible(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_scope(text: &str) -> bool {
    is_visible(text, 100) && !text.contains(['"', '\\'])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::access::testing::{at, id};

    pub(crate) fn provider() -> IdentityProvider {
        IdentityProvider {
            id: id("provider"),
            tenant_id: "00000001-0000-7000-8000-000000000000".parse().unwrap(),
            name: "Acme".parse().unwrap(),
            slug: "acme".parse().unwrap(),
            issuer: "https://login.acme.example".parse().unwrap(),
            client_id: "iam".parse().unwrap(),
            client_secret: Some(EncryptedClientSecret(vec![7; 40])),
            scopes: IdentityProvider::DEFAULT_SCOPES.map(|scope| scope.parse().unwrap()).into(),
            domain_ids: vec![id("domain")],
            trusts_email: false,
            subject_claim: SubjectClaim::Sub,
            provisioning: Provisioning::Link,
            roles: vec![PlacedRole { role_id: id("role"), organization_id: None }],
            factor_is_trusted: false,
            enabled: true,
            created_at: at(0),
            updated_at: at(0),
            version: Version::FIRST,
        }
    }

    #[test]
    fn an_issuer_is_a_url_without_a_query() {
        let longest = format!("https://login.example/{}", "a".repeat(490));
        for text in ["https://login.example", "https://login.example/tenant/v2.0/", "http://127.0.0.1:4000", &longest] {
            assert_eq!(text.parse::<Issuer>().as_ref().map(Issuer::as_str), Ok(text));
        }
        let too_long = format!("{longest}a");
        for text in [
            "",
            "login.example",
            "ftp://login.example",
            "https:///login.example",
            "https://",
            "https://user@login.example",
            "https://:secret@login.example",
            "https://login.example?a=b",
            "https://login.example#a",
            "https://login.example/a b",
            "https://login.example\\a",
            " https://login.example",
            &too_long,
        ] {
            assert!(text.parse::<Issuer>().is_err(), "{text}");
        }
    }

    #[test]
    fn client_identifiers_and_scopes_are_visible_ascii() {
        assert!("a".repeat(255).parse::<ClientId>().is_ok() && "a".repeat(256).parse::<ClientId>().is_err());
        assert!("a".repeat(100).parse::<Scope>().is_ok() && "a".repeat(101).parse::<Scope>().is_err());
        assert!("api://a/.default".parse::<Scope>().is_ok());
        for text in ["", "a b", "ü", "\n"] {
            assert!(text.parse::<ClientId>().is_err() && text.parse::<Scope>().is_err(), "{text:?}");
        }
        assert!("a\"b".parse::<Scope>().is_err() && "a\\b".parse::<Scope>().is_err());
    }

    #[test]
    fn a_provider_that_is_renamed_is_otherwise_the_same() {
        let renamed = IdentityProvider { name: "Other".parse().unwrap(), ..provider() }.changed(at(5));
        assert!(provider().is_renamed(&renamed) && provider().is_renamed(&provider()));
        for other in [
            IdentityProvider { client_secret: None, ..provider() },
            IdentityProvider { enabled: false, ..provider() },
            IdentityProvider { slug: "other".parse().unwrap(), ..provider() },
        ] {
            assert!(!provider().is_renamed(&other));
        }
    }

    #[test]
    fn no_output_shows_the_secret() {
        let shown = format!("{:?} {} {}", provider(), provider().audited(), json!(provider()));
        assert!(!shown.contains("7, 7") && !shown.to_lowercase().contains("clientsecret\":"), "{shown}");
    }
}
