//! A person in a list.

use askama::Template;
use iam_core::UserId;
use iam_core::user::{User, UserSummary};

use crate::{names, text};

/// A person: the name, with the e-mail below. A service account has no e-mail that a person reads.
#[derive(Template)]
#[template(path = "person.html")]
pub(crate) struct Person {
    /// The page of the person. Empty if the caller may not see it.
    address: String,
    initials: String,
    name: String,
    email: String,
}

impl Person {
    pub(crate) fn of(base: &str, user: &User) -> Self {
        let address = format!("{base}/users/{}", user.id);
        let name = name_of(user);
        Self { address, initials: initials(&name), name, email: address_of(user) }
    }

    /// Returns a person whom something names: as [`Person::of`] if it is among these users, or else by its e-mail. The
    /// caller may not see others, so that no link leads to them.
    pub(crate) fn among(users: &[User], base: &str, id: &UserId, summary: &UserSummary) -> Self {
        if let Some(user) = users.iter().find(|user| user.id == *id) {
            return Self::of(base, user);
        }
        let name = names::label_of_summary(summary);
        let (address, email) = (String::new(), summary.email.as_str());
        let email = if summary.service_name.is_some() { text::t("service-account") } else { email }.to_owned();
        Self { address, initials: initials(&name), name, email }
    }
}

/// Returns the name of a person or of a service account.
pub(crate) fn name_of(user: &User) -> String {
    match user.service_name() {
        Some(name) => name.to_string(),
        None => format!("{} {}", user.first_name, user.last_name),
    }
}

/// Returns the e-mail of a person, or its replacement for a service account.
pub(crate) fn address_of(user: &User) -> String {
    if user.service_name().is_some() { text::t("service-account").to_owned() } else { user.email.as_str().to_owned() }
}

/// Returns the first letters of the first and of the last word of a name.
fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().next());
    let first = words.next();
    first.into_iter().chain(words.next_back()).flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_those_of_the_first_and_of_the_last_word() {
        assert_eq!([initials("Ada King Lovelace"), initials("robot"), initials(" ")], ["AL", "R", ""]);
    }
}
