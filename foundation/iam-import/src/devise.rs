//! The table of users of a program in Rails with Devise, as a CSV file with the names of its columns.

use std::io::BufRead;

use csv::StringRecord;
use iam_model::validate::FieldError;

use crate::column::Columns;
use crate::error::ReadError;
use crate::plain::hash;
use crate::record::{Record, status};
use crate::row::Row;
use crate::user_table::{UserTable, record_of};

/// The columns of moments. A user with a value in one of them is disabled.
const DISABLED_SINCE: [&str; 8] =
    ["lockedat", "bannedat", "blockedat", "suspendedat", "disabledat", "deactivatedat", "deletedat", "discardedat"];

/// The columns that are true for a user who is not disabled. Rails takes NULL for false.
const ENABLED: [&str; 2] = ["active", "approved"];

/// The other columns, without those of all tables.
const OTHERS: [&str; 6] = ["confirmedat", "unconfirmedemail", "otpsecret", "encryptedotpsecret", "provider", "uid"];

/// Reads the users.
pub(crate) fn read<R: BufRead>(input: R) -> Result<impl Iterator<Item = Result<Row, ReadError>>, ReadError> {
    let required = [("email", "email"), ("encryptedpassword", "encrypted_password")];
    UserTable::read(input, required, &[&DISABLED_SINCE, &ENABLED, &OTHERS], user)
}

fn user(columns: &Columns, record: &StringRecord) -> Result<Record, FieldError> {
    let value = |name: &str| columns.value(record, name);
    let given = |name: &str| columns.given(record, name);
    let mut user = record_of(columns, record);
    user.is_email_verified = given("confirmedat").is_some() && given("unconfirmedemail").is_none();
    user.status = status(is_disabled(columns, record)?);
    user.password = hash(value("encryptedpassword"));
    let has_factor = given("otpsecret").or_else(|| given("encryptedotpsecret")).is_some();
    user.leave_out("second factors", usize::from(has_factor));
    user.leave_out(
        "accounts of identity providers",
        usize::from(given("provider").is_some() && given("uid").is_some()),
    );
    Ok(user)
}

fn is_disabled(columns: &Columns, record: &StringRecord) -> Result<bool, FieldError> {
    let mut is_disabled = DISABLED_SINCE.iter().any(|name| columns.given(record, name).is_some());
    for name in ENABLED.into_iter().filter(|name| columns.has(name)) {
        is_disabled |= columns.flag(record, name)? != Some(true);
    }
    Ok(is_disabled)
}
