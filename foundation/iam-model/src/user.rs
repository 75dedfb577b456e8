//! Users: the people and the service accounts of a tenant (`docs/http-api.md#users`).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::attribute::AttributeFilter;
use crate::clock::{Timestamp, shown};
use crate::id::{OrganizationId, TenantId, UserId};
use crate::page::SortOrder;
use crate::search::SearchWord;
use crate::text::folded;
use crate::validate::{Email, ExternalId, PersonName};
use crate::version::Version;

/// A person who can log in to a tenant, or a service account.
///
/// A service account has no address and only one name. Its [e-mail](Self::email) and its [last name](Self::last_name)
/// are placeholders, and its [first name](Self::first_name) is [its name](Self::service_name).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// Identifies the user.
    pub id: UserId,
    /// The tenant it belongs to.
    pub tenant_id: TenantId,
    /// Whether the user is a person.
    #[serde(default, skip_serializing_if = "UserKind::is_human")]
    pub kind: UserKind,
    /// Unique in the tenant without regard to case, also after the user is deleted.
    pub email: Email,
    /// When it was proven that the user receives mail at this address; `None` if it is not proven
    /// (`docs/operating.md#verified-e-mails`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_verified_at: Option<Timestamp>,
    /// Given name.
    pub first_name: PersonName,
    /// Family name.
    pub last_name: PersonName,
    /// The identifier of the user in another system, such as a directory, which may let it log in by that. Unique in the
    /// tenant, letter by letter, also after the user is deleted. A service account has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<ExternalId>,
    /// Where the user belongs; `None` for the tenant. Who may change a person by a permission that is held in
    /// organizations depends on it; see [`Coverage`](crate::access::Coverage).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home_organization_id: Option<OrganizationId>,
    /// Whether the user can log in.
    pub status: UserStatus,
    /// When the user last logged in; `None` means never.
    pub last_login_at: Option<Timestamp>,
    /// When the user was created.
    pub created_at: Timestamp,
    /// When one of the fields above `last_login_at` was last changed.
    pub updated_at: Timestamp,
    /// The version of the row, which a login raises too.
    #[serde(default)]
    pub version: Version,
}

/// Whether a user is a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserKind {
    /// A person, who logs in.
    #[default]
    Human,
    /// A service account: a program that has API keys. It never logs in, and has no password, factor or mail.
    Service,
}

text_enum! { UserKind { Human = "HUMAN", Service = "SERVICE" } }

impl UserKind {
    fn is_human(&self) -> bool {
        *self == Self::Human
    }
}

/// Whether a user can log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserStatus {
    /// The user can log in.
    Active,
    /// The user cannot log in until it is reactivated.
    Suspended,
    /// The user cannot log in: it was deleted, and its record is kept.
    Inactive,
}

text_enum! { UserStatus { Active = "ACTIVE", Suspended = "SUSPENDED", Inactive = "INACTIVE" } }

impl User {
    /// Returns the user after a change at this moment. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.next(), ..self }
    }

    /// Whether the user can administer its tenant, if it holds the role: an ACTIVE person. A service account cannot log
    /// in, and makes no keys.
    #[must_use]
    pub fn can_administer(&self) -> bool {
        self.status == UserStatus::Active && self.kind == UserKind::Human
    }

    /// Returns the summary of the user for lists of other things.
    #[must_use]
    pub fn summary(&self) -> UserSummary {
        UserSummary { email: self.email.clone(), service_name: self.service_name().cloned() }
    }

    /// Returns the name of a service account; `None` for a person.
    #[must_use]
    pub fn service_name(&self) -> Option<&PersonName> {
        (self.kind == UserKind::Service).then_some(&self.first_name)
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        if let Some(name) = self.service_name() {
            return json!({
                "kind": self.kind.as_str(),
                "name": name.as_str(),
                "homeOrganizationId": self.home_organization_id,
                "status": self.status.as_str(),
            });
        }
        let mut fields = json!({
            "email": self.email.as_str(),
            "firstName": self.first_name.as_str(),
            "lastName": self.last_name.as_str(),
            "homeOrganizationId": self.home_organization_id,
            "status": self.status.as_str(),
        });
        if let (Some(fields), Some(verified_at)) = (fields.as_object_mut(), self.email_verified_at) {
            fields.insert("emailVerifiedAt".to_owned(), shown(verified_at).into());
        }
        if let (Some(fields), Some(external_id)) = (fields.as_object_mut(), &self.external_id) {
            fields.insert("externalId".to_owned(), external_id.as_str().into());
        }
        fields
    }
}

/// The summary of a user in lists of other things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSummary {
    /// The e-mail. That of a service account receives no mail.
    pub email: Email,
    /// The name of a service account; `None` for a person.
    pub service_name: Option<PersonName>,
}

/// Which users a list shows. Every field that is set must match.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Users with this status.
    pub status: Option<UserStatus>,
    /// Users of this kind.
    pub kind: Option<UserKind>,
    /// Users with all words of this text, each as a part of the e-mail, the first name or the last name; see
    /// [`SearchWord`]. A service accepts [at most 8](crate::search::MAX_WORDS).
    pub search: Option<String>,
    /// Users who hold an unexpired assignment in exactly this organization.
    pub organization: Option<OrganizationId>,
    /// Users with exactly this value of an attribute.
    pub attribute: Option<AttributeFilter>,
    /// People who have a confirmed second factor, or people who have none. A service account is neither.
    pub has_factor: Option<bool>,
}

impl UserFilter {
    /// Whether a user passes the filter, apart from the organization, the attribute and the second factor. For stores
    /// that filter in memory.
    #[must_use]
    pub fn matches(&self, user: &User) -> bool {
        let key = user.email.key();
        let (first, last) = (folded(user.first_name.as_str()), folded(user.last_name.as_str()));
        let found = |word: &SearchWord| [key.as_str(), &first, &last].into_iter().any(|text| word.is_in(text));
        self.status.is_none_or(|status| status == user.status)
            && self.kind.is_none_or(|kind| kind == user.kind)
            && SearchWord::all(self.search.as_deref().unwrap_or_default()).iter().all(found)
    }
}

/// How a list of users is sorted. Users that are equal in the field are sorted by identifier, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserSort {
    /// The field to sort by.
    pub by: UserSortKey,
    /// The direction.
    pub order: SortOrder,
}

/// The fields by which users can be sorted. Texts are sorted without regard to case, by Unicode code point: an e-mail
/// by its key, a name as [`folded`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserSortKey {
    /// When the user was created.
    #[default]
    CreatedAt,
    /// When the user was last changed.
    UpdatedAt,
    /// The e-mail.
    Email,
    /// The first name.
    FirstName,
    /// The last name.
    LastName,
    /// The last login. In ascending order, users who have never logged in come first.
    LastLoginAt,
    /// The status, alphabetically.
    Status,
}

text_enum! {
    UserSortKey {
        CreatedAt = "createdAt",
        UpdatedAt = "updatedAt",
        Email = "email",
        FirstName = "firstName",
        LastName = "lastName",
        LastLoginAt = "lastLoginAt",
        Status = "status",
    }
}

impl UserSort {
    /// Compares two users. For stores that sort in memory.
    #[must_use]
    pub fn compare(self, a: &User, b: &User) -> Ordering {
        let names = |a: &PersonName, b: &PersonName| folded(a.as_str()).cmp(&folded(b.as_str()));
        let ascending = match self.by {
            UserSortKey::CreatedAt => a.created_at.cmp(&b.created_at),
            UserSortKey::UpdatedAt => a.updated_at.cmp(&b.updated_at),
            UserSortKey::Email => a.email.key().cmp(&b.email.key()),
            UserSortKey::FirstName => names(&a.first_name, &b.first_name),
            UserSortKey::LastName => names(&a.last_name, &b.last_name),
            UserSortKey::LastLoginAt => a.last_login_at.cmp(&b.last_login_at),
            UserSortKey::Status => a.status.as_str().cmp(b.status.as_str()),
        };
        self.order.directed(ascending).then(a.id.cmp(&b.id))
    }
}
