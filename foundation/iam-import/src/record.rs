use std::collections::BTreeMap;

use iam_model::secret::PasswordHash;
use iam_model::user::UserStatus;
use serde_json::Value;

/// How many names a list shows.
const MAX_NAMES: usize = 5;

/// How many characters of a name a list shows.
const MAX_NAME: usize = 100;

/// A user of another system. No text is checked yet, except that each is part of a record of limited size.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The identifier of the user in the other system.
    pub foreign_id: Option<String>,
    /// The e-mail; empty if there is none.
    pub email: String,
    /// Whether the other system says that the user receives mail at this address.
    pub is_email_verified: bool,
    /// The given name. Systems without one have it from the whole name, or from the e-mail.
    pub first_name: String,
    /// The family name, in the same way; `-` if it is not known.
    pub last_name: String,
    /// ACTIVE, or SUSPENDED if the user is disabled there.
    pub status: UserStatus,
    /// The password.
    pub password: ForeignPassword,
    /// The names of roles; a role of a client of Keycloak has the name of the client and a slash before it.
    pub roles: Vec<String>,
    /// The names of groups; those of Keycloak are paths, such as `/customers/north`.
    pub groups: Vec<String>,
    /// Other values, by their names in the other system. Those of an object of it have the name of the object and a dot
    /// before, such as `app_metadata.plan`.
    pub attributes: BTreeMap<String, Value>,
    /// What the record has and a user here does not get, such as `second factors: 1`. It contains no value of the record.
    pub left_out: Vec<String>,
}

/// The password of a user of another system.
#[derive(Clone, Debug, PartialEq)]
pub enum ForeignPassword {
    /// The user has none, or the file does not contain it.
    None,
    /// The hash, in a form that `Users::import` of `iam-core` accepts if it can be verified.
    Hash(PasswordHash),
    /// The hash cannot be read; the text says why.
    Unusable(String),
}

impl Record {
    /// Returns a record without anything but an e-mail.
    pub(crate) fn new(email: impl Into<String>) -> Self {
        Self {
            foreign_id: None,
            email: email.into(),
            is_email_verified: false,
            first_name: String::new(),
            last_name: String::new(),
            status: UserStatus::Active,
            password: ForeignPassword::None,
            roles: Vec::new(),
            groups: Vec::new(),
            attributes: BTreeMap::new(),
            left_out: Vec::new(),
        }
    }

    /// Notes that so many things of a kind are left out, unless there are none.
    pub(crate) fn leave_out(&mut self, kind: &str, count: usize) {
        if count > 0 {
            self.left_out.push(format!("{kind}: {count}"));
        }
    }
}

/// Returns the first names of a list that can be long, each in part if it is long, and how many more there are.
#[must_use]
pub fn short_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut text = names.by_ref().take(MAX_NAMES).map(short).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => {}
        more => text.push_str(&format!(" and {more} more")),
    }
    text
}

fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// Returns ACTIVE, or SUSPENDED for a user who is disabled.
pub(crate) fn status(is_disabled: bool) -> UserStatus {
    if is_disabled { UserStatus::Suspended } else { UserStatus::Active }
}
