use iam_model::attribute::Attributes;
use iam_model::id::OrganizationId;
use iam_model::user::User;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A user with its attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserWithAttributes {
    /// The user.
    #[serde(flatten)]
    pub user: User,
    /// The attributes of the user.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
}

impl UserWithAttributes {
    pub(super) fn new(user: User, attributes: Attributes) -> Self {
        Self { user, attributes }
    }
}

/// What a new user has beside its profile; see [`Users::create_with`](crate::user::Users::create_with).
#[derive(Clone, Debug, Default)]
pub struct NewUserDetails {
    /// The home; `None` for the tenant.
    pub home: Option<OrganizationId>,
    /// The identifier of a person in another system, as typed. A service account has none.
    pub external_id: Option<String>,
    /// The attributes, as typed.
    pub attributes: Map<String, Value>,
}
