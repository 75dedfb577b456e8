use std::collections::HashMap;

use iam_model::error::Result;
use iam_model::id::{OrganizationId, UserId};
use iam_model::organization::Organization;
use iam_model::tenant::AuthzenIdentifiers;
use iam_model::user::User;
use iam_model::validate::{Email, EmailKey, ExternalId, Slug};

use crate::authzen::request::{Resource, Subject, USER};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::Engine;

/// The users and organizations that the texts of a request name. An identifier may be one of nothing.
pub(super) struct Named<'t> {
    users: HashMap<&'t str, UserId>,
    organizations: HashMap<&'t str, OrganizationId>,
    /// The users that were read to find those that the texts name.
    pub(super) found: Option<Vec<User>>,
}

/// Where a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the tenant.
    Tenant,
    /// In an organization.
    Organization(OrganizationId),
}

impl Place {
    pub(super) fn organization(self) -> Option<OrganizationId> {
        match self {
            Self::Tenant => None,
            Self::Organization(id) => Some(id),
        }
    }
}

impl Named<'_> {
    /// The user that is a subject.
    pub(super) fn user(&self, subject: Subject<'_>) -> Option<UserId> {
        if subject.kind == USER { self.users.get(subject.id).copied() } else { None }
    }

    /// The users that are named.
    pub(super) fn users(&self) -> impl Iterator<Item = UserId> {
        self.users.values().copied()
    }

    /// Where a resource is; `None` if its organization is unknown.
    pub(super) fn place(&self, resource: Resource<'_>) -> Option<Place> {
        match resource.place() {
            None => Some(Place::Tenant),
            Some(text) => self.organizations.get(text).copied().map(Place::Organization),
        }
    }

    /// The organizations that are named.
    pub(super) fn organizations(&self) -> impl Iterator<Item = OrganizationId> {
        self.organizations.values().copied()
    }
}

impl Engine {
    /// Finds what these texts name.
    pub(super) async fn find_named<'t>(
        &self,
        caller: &Caller,
        users: Vec<&'t str>,
        organizations: Vec<&'t str>,
    ) -> Result<Named<'t>> {
        let (users, organizations) = (distinct(users), distinct(organizations));
        match self.identifiers(caller).await? {
            AuthzenIdentifiers::Id => {
                let users = users.into_iter().filter_map(|text| Some((text, text.parse().ok()?))).collect();
                let organizations =
                    organizations.into_iter().filter_map(|text| Some((text, text.parse().ok()?))).collect();
                Ok(Named { users, organizations, found: None })
            }
            AuthzenIdentifiers::Name => {
                let found = self.users_named(caller, &users).await?;
                let slugs: Vec<Slug> = organizations.iter().filter_map(|text| text.parse().ok()).collect();
                let of_slugs = match slugs.as_slice() {
                    [] => Vec::new(),
                    slugs => self.store.organizations_by_slug(caller.tenant(), slugs).await?,
                };
                let organizations = named_organizations(&organizations, &of_slugs);
                Ok(Named { users: named_users(&users, &found), organizations, found: Some(found) })
            }
        }
    }

    async fn users_named(&self, caller: &Caller, texts: &[&str]) -> Result<Vec<User>> {
        let external_ids: Vec<ExternalId> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        let emails: Vec<EmailKey> = texts.iter().filter_map(|text| email_key(text)).collect();
        if external_ids.is_empty() && emails.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.store.users_named(caller.tenant(), &external_ids, &emails).await?)
    }

    /// Returns how the tenant of a caller names. It was read with a caller that was authenticated.
    async fn identifiers(&self, caller: &Caller) -> Result<AuthzenIdentifiers> {
        if let Some(identifiers) = caller.authzen_identifiers() {
            return Ok(identifiers);
        }
        let tenant = self.store.tenant(caller.tenant()).await?;
        Ok(tenant.map(|tenant| tenant.authzen_identifiers).unwrap_or_default())
    }

    /// Returns the texts that name these users. A user whose text also names another one is left out: an evaluation of
    /// that text would be about neither.
    pub(super) async fn texts_of_users(&self, caller: &Caller, users: &[User]) -> Result<Vec<String>> {
        if self.identifiers(caller).await? == AuthzenIdentifiers::Id {
            return Ok(users.iter().map(|user| user.id.to_string()).collect());
        }
        let texts: Vec<&str> = users.iter().map(name_of).collect();
        let named = named_users(&texts, &self.users_named(caller, &texts).await?);
        let is_alone = |(user, text): &(&User, &str)| named.get(text) == Some(&user.id);
        Ok(users.iter().zip(texts.iter().copied()).filter(is_alone).map(|(_, text)| text.to_owned()).collect())
    }

    /// Returns the texts that name these organizations.
    pub(super) async fn texts_of_organizations(
        &self,
        caller: &Caller,
        organizations: Vec<Organization>,
    ) -> Result<Vec<String>> {
        let text: fn(Organization) -> String = match self.identifiers(caller).await? {
            AuthzenIdentifiers::Id => |found| found.id.to_string(),
            AuthzenIdentifiers::Name => |found| found.slug.to_string(),
        };
        Ok(organizations.into_iter().map(text).collect())
    }
}

/// The text that names a user: its external identifier, or its e-mail if it has none.
fn name_of(user: &User) -> &str {
    user.external_id.as_ref().map_or(user.email.as_str(), ExternalId::as_str)
}

fn email_key(text: &str) -> Option<EmailKey> {
    Email::for_lookup(text).ok().map(|email| email.key())
}

/// Returns the user that each text names, by its external identifier or by its e-mail. A text that is the external
/// identifier of one user and the e-mail of another names neither of them: one of the two may have chosen it.
fn named_users<'t>(texts: &[&'t str], found: &[User]) -> HashMap<&'t str, UserId> {
    let by_external_id: HashMap<&str, UserId> =
        found.iter().filter_map(|user| Some((user.external_id.as_ref()?.as_str(), user.id))).collect();
    let by_email: HashMap<EmailKey, UserId> = found.iter().map(|user| (user.email.key(), user.id)).collect();
    let named = |text: &&'t str| {
        let of_external_id = by_external_id.get(text).copied();
        let of_email = email_key(text).and_then(|key| by_email.get(&key).copied());
        let user = match (of_external_id, of_email) {
            (Some(one), Some(other)) if one != other => None,
            (of_external_id, of_email) => of_external_id.or(of_email),
        };
        Some((*text, user?))
    };
    texts.iter().filter_map(named).collect()
}

fn named_organizations<'t>(texts: &[&'t str], found: &[Organization]) -> HashMap<&'t str, OrganizationId> {
    let by_slug: HashMap<&str, OrganizationId> =
        found.iter().map(|organization| (organization.slug.as_str(), organization.id)).collect();
    texts.iter().filter_map(|text| Some((*text, by_slug.get(text).copied()?))).collect()
}

#[cfg(test)]
mod tests {
    use iam_model::clock::Clock as _;
    use iam_model::clock::testing::FixedClock;
    use iam_model::id::TenantId;
    use iam_model::user::{UserKind, UserStatus};
    use iam_model::version::Version;
    use uuid::Uuid;

    use super::*;

    fn user(number: u128, email: &str, external_id: Option<&str>) -> User {
        let now = FixedClock::at("2026-01-31T09:15:00Z").now();
        User {
            id: Uuid::from_u128(number).into(),
            tenant_id: TenantId::NONE,
            kind: UserKind::Human,
            email: email.parse().unwrap(),
            email_verified_at: None,
            first_name: "Ada".parse().unwrap(),
            last_name: "Lovelace".parse().unwrap(),
            external_id: external_id.map(|id| id.parse().unwrap()),
            home_organization_id: None,
            status: UserStatus::Active,
            last_login_at: None,
            created_at: now,
            updated_at: now,
            version: Version::FIRST,
        }
    }

    #[test]
    fn a_text_names_the_one_user_that_has_it() {
        let users = [
            user(1, "ada@example.com", None),
            user(2, "bob@example.com", Some("E-2")),
            // Its external identifier is the e-mail of the fourth.
            user(3, "carl@example.com", Some("dora@example.com")),
            user(4, "dora@example.com", None),
            // Both are of one user.
            user(5, "eve@example.com", Some("eve@example.com")),
        ];
        for (text, expected) in [
            ("ada@example.com", Some(1)),
            ("ADA@Example.com", Some(1)),
            ("E-2", Some(2)),
            ("bob@example.com", Some(2)),
            ("e-2", None),
            ("carl@example.com", Some(3)),
            ("dora@example.com", None),
            // In another letter case, it is no external identifier.
            ("Dora@example.com", Some(4)),
            ("eve@example.com", Some(5)),
            ("nobody@example.com", None),
            ("", None),
        ] {
            let found = named_users(&[text], &users).get(text).copied();
            assert_eq!(found, expected.map(|number| Uuid::from_u128(number).into()), "{text}");
        }
    }

    #[test]
    fn a_user_has_one_name() {
        assert_eq!(name_of(&user(1, "ada@example.com", Some("E-1"))), "E-1");
        assert_eq!(name_of(&user(1, "Ada@example.com", None)), "Ada@example.com");
    }
}
