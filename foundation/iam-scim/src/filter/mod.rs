//! Filters (RFC 7644, section 3.4.2.2), and the paths of changes, which may have one (section 3.5.2).
//!
//! Beside the grammar of the standard, `not(` without a blank and `emails[type eq "work"].value eq "x"` are read,
//! because Entra ID sends the second.

mod bounds;
mod compare;
mod element;
mod group;
mod translate;
mod user;

pub(crate) use element::{asserted, matches};
pub(crate) use group::sort as group_sort;
pub(crate) use user::sort as user_sort;

use iam_model::directory::{Condition, EmailTest, GroupTest, UserTest};
use scim_v2::filter::{AttrPath, Filter, PatchPath, PatchValuePath};

use crate::error::{ScimError, ScimType};
use crate::filter::bounds::{Form, bounded};
use crate::filter::translate::condition;

/// How many tests of e-mails a filter may have. Each of them reads every e-mail of every user of the directory.
const MAX_EMAIL_TESTS: usize = 20;

/// Reads a filter of users.
///
/// A multi-valued attribute without its part means its `value`, so `emails co "x"` is `emails.value co "x"`. Conditions
/// on `emails` may be met by different e-mails, those inside `emails[…]` are met by one.
///
/// # Errors
///
/// 400 `invalidFilter` for a filter of more than 4 KiB, 64 levels or 100 terms, for one that is not of the grammar, and
/// for one with an attribute or a comparison that users do not have. 400 `tooMany` for more than 20 tests of e-mails.
pub fn user_filter(text: &str) -> Result<Condition<UserTest>, ScimError> {
    with_few_emails(condition(&parsed(text)?, &user::WORDS, is_unknown)?)
}

/// Reads a filter of groups.
///
/// # Errors
///
/// 400 `invalidFilter`, as [`user_filter`].
pub fn group_filter(text: &str) -> Result<Condition<GroupTest>, ScimError> {
    condition(&parsed(text)?, &group::WORDS, is_unknown)
}

/// Reads a filter of users and groups together. What only one of them has is absent in the other (RFC 7644, section
/// 3.4.2.1).
pub(crate) fn shared_filter(text: &str) -> Result<(Condition<UserTest>, Condition<GroupTest>), ScimError> {
    let filter = parsed(text)?;
    let of_users = with_few_emails(condition(&filter, &user::WORDS, group::WORDS.knows)?)?;
    Ok((of_users, condition(&filter, &group::WORDS, user::WORDS.knows)?))
}

/// Reads a path with a filter, for instance `emails[type eq "work"].value`.
pub(crate) fn value_path(text: &str) -> Result<PatchValuePath, ScimError> {
    let text = bounded(text, Form::Path).map_err(|fault| ScimError::invalid_path(format!("path {fault}")))?;
    match text.parse::<PatchPath>() {
        Ok(PatchPath::Value(path)) => Ok(path),
        Ok(PatchPath::Attr(_)) | Err(_) => {
            Err(ScimError::invalid_path("path is not of the grammar of RFC 7644, section 3.5.2"))
        }
    }
}

/// The text of the error has no part of the filter, because that holds data of persons.
fn parsed(text: &str) -> Result<Filter, ScimError> {
    let text = bounded(text, Form::Filter).map_err(|fault| ScimError::invalid_filter(format!("filter {fault}")))?;
    let filter = text.parse::<Filter>();
    filter.map_err(|_| ScimError::invalid_filter("filter is not of the grammar of RFC 7644, section 3.4.2.2"))
}

fn with_few_emails(condition: Condition<UserTest>) -> Result<Condition<UserTest>, ScimError> {
    let of_user = |test: &UserTest| match test {
        UserTest::Email(emails) => tests(emails, &|_: &EmailTest| 1).max(1),
        UserTest::Present(_) | UserTest::Text { .. } | UserTest::Active(_) | UserTest::Moment { .. } => 0,
    };
    if tests(&condition, &of_user) > MAX_EMAIL_TESTS {
        let detail = format!("filter has more than {MAX_EMAIL_TESTS} tests of e-mails");
        return Err(ScimError::bad_request(ScimType::TooMany, detail));
    }
    Ok(condition)
}

/// Adds up the tests of a condition.
fn tests<T>(condition: &Condition<T>, number: &impl Fn(&T) -> usize) -> usize {
    match condition {
        Condition::All(all) | Condition::Any(all) => all.iter().map(|condition| tests(condition, number)).sum(),
        Condition::Not(inner) => tests(inner, number),
        Condition::Test(test) => number(test),
    }
}

fn is_unknown(_: &AttrPath) -> bool {
    false
}
