//! The table of users of a program in Rails with Devise, as a CSV file with the names of its columns.

use std::io::BufRead;

use csv::StringRecord;
use iam_model::validate::FieldError;

use crate::column::Columns;
use crate::error::ReadError;
use crate::names::Known;
use crate::plain::hash;
use crate::record::{Record, status};
use crate::row::Row;
use crate::table::Table;

/// The columns of moments. A user with a value in one of them is disabled.
const DISABLED_SINCE: [&str; 8] =
    ["lockedat", "bannedat", "blockedat", "suspendedat", "disabledat", "deactivatedat", "deletedat", "discardedat"];

/// The columns that are true for a user who is not disabled. Rails takes NULL for false.
const ENABLED: [&str; 2] = ["active", "approved"];

pub(crate) struct Devise<R> {
    table: Table<R>,
    columns: Columns,
}

impl<R: BufRead> Devise<R> {
    pub(crate) fn read(input: R) -> Result<Self, ReadError> {
        let mut table = Table::with_header(input)?;
        let columns = Columns::folded(&table.header()?);
        for (folded, name) in [("email", "email"), ("encryptedpassword", "encrypted_password")] {
            if !columns.has(folded) {
                return Err(ReadError::malformed(1, format!("has no column {name}")));
            }
        }
        Ok(Self { table, columns })
    }
}

impl<R: BufRead> Iterator for Devise<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, record) = match self.table.next() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(match record {
            Ok(record) => Row {
                line,
                email: self.columns.value(&record, "email").to_owned(),
                foreign_id: self.columns.given(&record, "id").map(str::to_owned),
                user: user(&self.columns, &record),
            },
            Err(error) => Row::refused(line, error),
        }))
    }
}

fn user(columns: &Columns, record: &StringRecord) -> Result<Record, FieldError> {
    let value = |name: &str| columns.value(record, name);
    let given = |name: &str| columns.given(record, name);
    let mut user = Record::new(value("email"));
    user.name(Known {
        first: given("firstname"),
        last: given("lastname"),
        whole: given("name").or_else(|| given("fullname")),
    });
    user.foreign_id = given("id").map(str::to_owned);
    user.is_email_verified = given("confirmedat").is_some() && given("unconfirmedemail").is_none();
    user.status = status(is_disabled(columns, record)?);
    user.password = hash(value("encryptedpassword"));
    user.roles = [columns.list(record, "roles"), columns.list(record, "role")].concat();
    user.groups = columns.list(record, "groups");
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
