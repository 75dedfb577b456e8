//! The conditions by which the users of a directory are found (RFC 7644, section 3.4.2.2).

use std::cmp::Ordering;

use serde_json::Value;

use crate::clock::Timestamp;
use crate::directory::{DirectoryGroup, ProvisionedUser};
use crate::id::UserId;
use crate::page::SortOrder;
use crate::text::folded;
use crate::user::UserStatus;

/// A condition of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition<T> {
    /// All of these hold. Without any, it always holds.
    All(Vec<Self>),
    /// One of these holds. Without any, it never holds.
    Any(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// A test passes.
    Test(T),
}

/// A test of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserTest {
    /// A text is there.
    Present(UserText),
    /// A text compares so with a value. A text that is not there passes no comparison but [`TextOperator::Differs`].
    Text {
        /// The text.
        field: UserText,
        /// How it is compared.
        operator: TextOperator,
        /// The value.
        value: String,
    },
    /// Whether the user is ACTIVE.
    Active(bool),
    /// A moment compares so with a value.
    Moment {
        /// The moment.
        field: UserMoment,
        /// How it is compared.
        order: Order,
        /// The value.
        value: Timestamp,
    },
    /// One of the e-mails meets a condition.
    Email(Condition<EmailTest>),
}

/// A test of one of the e-mails of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmailTest {
    /// A text is there.
    Present(EmailField),
    /// A text compares so with a value.
    Text {
        /// The text.
        field: EmailField,
        /// How it is compared.
        operator: TextOperator,
        /// The value.
        value: String,
    },
    /// Whether it is the primary one.
    Primary(bool),
}

/// The texts of a user. All but the first two are compared without regard to case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserText {
    /// `id`.
    Id,
    /// `externalId`.
    ExternalId,
    /// `userName`.
    UserName,
    /// `displayName`.
    DisplayName,
    /// `name.givenName`.
    GivenName,
    /// `name.familyName`.
    FamilyName,
    /// `name.formatted`.
    FormattedName,
}

/// The texts of an e-mail, compared without regard to case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailField {
    /// `emails.value`.
    Value,
    /// `emails.type`.
    Type,
}

/// The moments of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserMoment {
    /// `meta.created`.
    Created,
    /// `meta.lastModified`.
    LastModified,
}

/// The fields by which users are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserSortField {
    /// When the directory made the user.
    #[default]
    Created,
    /// When the user was changed last.
    LastModified,
    /// A text. Users without it come last in ascending order.
    Text(UserText),
}

/// A test of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupTest {
    /// A text is there.
    Present(GroupText),
    /// A text compares so with a value. A text that is not there passes no comparison but [`TextOperator::Differs`].
    Text {
        /// The text.
        field: GroupText,
        /// How it is compared.
        operator: TextOperator,
        /// The value.
        value: String,
    },
    /// A moment compares so with a value.
    Moment {
        /// The moment.
        field: GroupMoment,
        /// How it is compared.
        order: Order,
        /// The value.
        value: Timestamp,
    },
    /// A user is a member, by its identifier. A text that is no identifier is that of no user.
    Member(String),
    /// The group has a member.
    HasMembers,
}

/// The texts of a group. The last one is compared without regard to case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupText {
    /// `id`.
    Id,
    /// `externalId`.
    ExternalId,
    /// `displayName`.
    DisplayName,
}

/// The moments of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupMoment {
    /// `meta.created`.
    Created,
    /// `meta.lastModified`.
    LastModified,
}

/// The fields by which groups are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupSortField {
    /// When the directory made the group.
    #[default]
    Created,
    /// When the group was changed last.
    LastModified,
    /// A text. Groups without it come last in ascending order.
    Text(GroupText),
}

/// How texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextOperator {
    /// Equal.
    Equals,
    /// Not equal, or not there.
    Differs,
    /// Contains the value.
    Contains,
    /// Begins with the value.
    StartsWith,
    /// Ends with the value.
    EndsWith,
    /// Sorted so against the value, by Unicode code point.
    Sorted(Order),
}

/// How two values are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
}

impl<T> Condition<T> {
    /// The condition that always holds.
    #[must_use]
    pub fn always() -> Self {
        Self::All(Vec::new())
    }

    /// Whether the condition holds, if `passes` says which tests pass.
    pub fn holds(&self, passes: &impl Fn(&T) -> bool) -> bool {
        match self {
            Self::All(all) => all.iter().all(|condition| condition.holds(passes)),
            Self::Any(any) => any.iter().any(|condition| condition.holds(passes)),
            Self::Not(inner) => !inner.holds(passes),
            Self::Test(test) => passes(test),
        }
    }
}

impl Order {
    /// Whether two values are ordered so.
    pub fn holds<V: Ord>(self, left: &V, right: &V) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
        }
    }
}

impl TextOperator {
    /// Whether a text compares so with a value, both in the form in which they are compared.
    #[must_use]
    pub fn holds(self, text: Option<&str>, value: &str) -> bool {
        let Some(text) = text else { return self == Self::Differs };
        match self {
            Self::Equals => text == value,
            Self::Differs => text != value,
            Self::Contains => text.contains(value),
            Self::StartsWith => text.starts_with(value),
            Self::EndsWith => text.ends_with(value),
            Self::Sorted(order) => order.holds(&text, &value),
        }
    }
}

impl UserText {
    /// Returns the value of a comparison in the form in which it is compared.
    #[must_use]
    pub fn form(self, value: &str) -> String {
        match self {
            Self::Id | Self::ExternalId => value.to_owned(),
            Self::UserName | Self::DisplayName | Self::GivenName | Self::FamilyName | Self::FormattedName => {
                folded(value)
            }
        }
    }

    /// Returns the text of a user as it was sent.
    #[must_use]
    pub fn of(self, provisioned: &ProvisionedUser) -> Option<String> {
        let attributes = &provisioned.entry.attributes;
        let name = |part: &str| attributes.get("name").and_then(|name| name.get(part));
        match self {
            Self::Id => Some(provisioned.user.id.to_string()),
            Self::ExternalId => provisioned.user.external_id.as_ref().map(|id| id.as_str().to_owned()),
            Self::UserName => Some(provisioned.entry.user_name.as_str().to_owned()),
            Self::DisplayName => attributes.get("displayName").and_then(Value::as_str).map(str::to_owned),
            Self::GivenName => name("givenName").and_then(Value::as_str).map(str::to_owned),
            Self::FamilyName => name("familyName").and_then(Value::as_str).map(str::to_owned),
            Self::FormattedName => name("formatted").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

impl UserMoment {
    fn of(self, provisioned: &ProvisionedUser) -> Timestamp {
        match self {
            Self::Created => provisioned.entry.created_at,
            Self::LastModified => provisioned.last_modified(),
        }
    }
}

impl UserSortField {
    /// Compares two users of a directory: by this field in a direction, then by the time when the directory made them,
    /// then by identifier. Texts are sorted by Unicode code point, in the form in which they are compared.
    #[must_use]
    pub fn compare(self, order: SortOrder, a: &ProvisionedUser, b: &ProvisionedUser) -> Ordering {
        let moments = |moment: UserMoment| moment.of(a).cmp(&moment.of(b));
        let ascending = match self {
            Self::Created => moments(UserMoment::Created),
            Self::LastModified => moments(UserMoment::LastModified),
            Self::Text(field) => {
                let key = |provisioned| absent_last(field.of(provisioned).map(|text| field.form(&text)));
                key(a).cmp(&key(b))
            }
        };
        order
            .directed(ascending)
            .then_with(|| (a.entry.created_at, a.entry.user_id).cmp(&(b.entry.created_at, b.entry.user_id)))
    }
}

impl GroupText {
    /// Returns the value of a comparison in the form in which it is compared.
    #[must_use]
    pub fn form(self, value: &str) -> String {
        match self {
            Self::Id | Self::ExternalId => value.to_owned(),
            Self::DisplayName => folded(value),
        }
    }

    /// Returns the text of a group as it was sent.
    #[must_use]
    pub fn of(self, group: &DirectoryGroup) -> Option<String> {
        match self {
            Self::Id => Some(group.id.to_string()),
            Self::ExternalId => group.external_id.as_ref().map(|id| id.as_str().to_owned()),
            Self::DisplayName => Some(group.display_name.as_str().to_owned()),
        }
    }
}

impl GroupMoment {
    fn of(self, group: &DirectoryGroup) -> Timestamp {
        match self {
            Self::Created => group.created_at,
            Self::LastModified => group.updated_at,
        }
    }
}

impl GroupSortField {
    /// Compares two groups of a directory: by this field in a direction, then by the time when the directory made them,
    /// then by identifier. Texts are sorted by Unicode code point, in the form in which they are compared.
    #[must_use]
    pub fn compare(self, order: SortOrder, a: &DirectoryGroup, b: &DirectoryGroup) -> Ordering {
        let ascending = match self {
            Self::Created => a.created_at.cmp(&b.created_at),
            Self::LastModified => a.updated_at.cmp(&b.updated_at),
            Self::Text(field) => {
                let key = |group| absent_last(field.of(group).map(|text| field.form(&text)));
                key(a).cmp(&key(b))
            }
        };
        order.directed(ascending).then_with(|| (a.created_at, a.id).cmp(&(b.created_at, b.id)))
    }
}

impl GroupTest {
    /// Whether a group passes; for stores that filter in memory. `is_member` says whether a user is a member of it.
    #[must_use]
    pub fn passes(&self, group: &DirectoryGroup, is_member: impl Fn(UserId) -> bool) -> bool {
        match self {
            Self::Present(field) => field.of(group).is_some(),
            Self::Text { field, operator, value } => {
                let text = field.of(group).map(|text| field.form(&text));
                operator.holds(text.as_deref(), &field.form(value))
            }
            Self::Moment { field, order, value } => order.holds(&field.of(group), value),
            Self::Member(id) => id.parse().is_ok_and(is_member),
            Self::HasMembers => group.members > 0,
        }
    }
}

/// Returns a text so that it compares with others as in a list whose entries without a text come last.
fn absent_last(text: Option<String>) -> (bool, String) {
    text.map_or((true, String::new()), |text| (false, text))
}

impl EmailField {
    fn of(self, email: &Value) -> Option<String> {
        let name = match self {
            Self::Value => "value",
            Self::Type => "type",
        };
        email.get(name).and_then(Value::as_str).map(folded)
    }
}

impl EmailTest {
    fn passes(&self, email: &Value) -> bool {
        match self {
            Self::Present(field) => field.of(email).is_some(),
            Self::Text { field, operator, value } => operator.holds(field.of(email).as_deref(), &folded(value)),
            Self::Primary(is) => email.get("primary").and_then(Value::as_bool).unwrap_or_default() == *is,
        }
    }
}

impl UserTest {
    /// Whether a user passes; for stores that filter in memory.
    #[must_use]
    pub fn passes(&self, provisioned: &ProvisionedUser) -> bool {
        match self {
            Self::Present(field) => field.of(provisioned).is_some(),
            Self::Text { field, operator, value } => {
                let text = field.of(provisioned).map(|text| field.form(&text));
                operator.holds(text.as_deref(), &field.form(value))
            }
            Self::Active(is) => (provisioned.user.status == UserStatus::Active) == *is,
            Self::Moment { field, order, value } => order.holds(&field.of(provisioned), value),
            Self::Email(condition) => {
                let emails = provisioned.entry.attributes.get("emails").and_then(Value::as_array);
                let holds = |email: &Value| condition.holds(&|test| test.passes(email));
                emails.is_some_and(|emails| emails.iter().any(holds))
            }
        }
    }
}
