use std::collections::BTreeMap;

use iam_model::secret::PasswordHash;
use iam_model::text::controls_text;
use iam_model::user::UserStatus;
use serde_json::Value;

/// How many names a list shows.
const MAX_NAMES: usize = 5;

/// How many characters of a name are shown.
const MAX_NAME: usize = 100;

/// The longest row of letters and digits that is no hash: a hash in base64 of ASP.NET Identity has 68, of Firebase 88.
const MAX_CODE: usize = 64;

/// What is shown in place of a text that may be a hash.
pub const NOT_SHOWN: &str = "[not shown]";

/// A user of another system. No text is checked yet, except that each is part of a record of limited size.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The identifier of the user in the other system.
    pub foreign_id: Option<String>,
    /// The name by which the user logged in to the other system, if it has such names.
    pub username: Option<String>,
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
    /// The names of roles.
    pub roles: Vec<String>,
    /// The names of the roles of clients of Keycloak, by the names of the clients. A role of a realm can have the name of
    /// a role of a client, also together with that of the client.
    pub client_roles: BTreeMap<String, Vec<String>>,
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
            username: None,
            email: email.into(),
            is_email_verified: false,
            first_name: String::new(),
            last_name: String::new(),
            status: UserStatus::Active,
            password: ForeignPassword::None,
            roles: Vec::new(),
            client_roles: BTreeMap::new(),
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

/// Returns the first names of a list that can be long, each as [`shown_name`] has it, and how many more there are.
#[must_use]
pub fn short_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let mut text = names.by_ref().take(MAX_NAMES).map(shown_name).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => {}
        more => text.push_str(&format!(" and {more} more")),
    }
    text
}

/// Whether a text of a file may be or contain the hash of a password, for example because columns were swapped: it begins
/// with a dollar sign or a brace, has two dollar signs, or has a long row of letters and digits. A short hash without a
/// sign, such as of MD5, looks like an identifier.
#[must_use]
pub fn may_be_hash(text: &str) -> bool {
    let is_of_code = |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=');
    let is_code = |word: &str| word.len() > MAX_CODE && word.contains(|letter: char| letter.is_ascii_digit());
    text.trim_start().starts_with(['$', '{'])
        || text.matches('$').nth(1).is_some()
        || text.split(|character: char| !is_of_code(character)).any(is_code)
}

/// Returns a name of a file as a report can have it: in part if it is long, and not at all if it may be a hash or has a
/// control character.
#[must_use]
pub fn shown_name(name: &str) -> String {
    if may_be_hash(name) || name.chars().any(controls_text) {
        return NOT_SHOWN.to_owned();
    }
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// Returns ACTIVE, or SUSPENDED for a user who is disabled.
pub(crate) fn status(is_disabled: bool) -> UserStatus {
    if is_disabled { UserStatus::Suspended } else { UserStatus::Active }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_hash_is_not_shown() {
        let hexadecimal = "0a".repeat(64);
        for text in [
            "$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
            " $argon2id",
            "pbkdf2_sha256$10000$aBcD_12+/.salt$/15Hl7S8g1j67N4bdQjIolQQxRC6pM7wxuk4/ygBETw=",
            "12 inch st4@example.com,x,$2b$10$CCCC",
            "AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg8a3RJST3ZL0eWWP7ZG5qnxmnu+1xsChmurHg4P2C3T8g==",
            "a AAABAgMEBQYHCAkKCwwNDg8mGGxJ6RXbpV3Eeve8lImVPiBvo46mNFMTIr+N+UuQ6w== b",
            "{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
            &hexadecimal,
            "two\nlines",
            "a\u{202e}b",
        ] {
            assert_eq!(shown_name(text), NOT_SHOWN, "{text}");
        }
        let long = "ü".repeat(MAX_NAME + 1);
        for text in ["/customers/north", "cash$flow", "grace@example.com", "auth0|60425da93519d90068f82966", &long] {
            assert!(!may_be_hash(text), "{text}");
        }
        assert_eq!(shown_name(&long), format!("{}…", "ü".repeat(MAX_NAME)));
    }
}
