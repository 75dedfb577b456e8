//! The table of users of a program in Rails with Devise, as a CSV file with the names of its columns.

use std::io::BufRead;

use csv::StringRecord;

use crate::column::Columns;
use crate::error::ReadError;
use crate::names::Known;
use crate::plain::hash;
use crate::record::{Record, status};
use crate::row::Row;
use crate::table::Table;

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
            Ok(record) => Row::of(line, user(&self.columns, &record)),
            Err(error) => Row::refused(line, error),
        }))
    }
}

fn user(columns: &Columns, record: &StringRecord) -> Record {
    let value = |name: &str| columns.value(record, name);
    let given = |name: &str| Some(value(name)).filter(|value| !value.is_empty());
    let mut user = Record::new(value("email"));
    user.name(Known {
        first: given("firstname"),
        last: given("lastname"),
        whole: given("name").or_else(|| given("fullname")),
    });
    user.foreign_id = given("id").map(str::to_owned);
    user.is_email_verified = given("confirmedat").is_some() && given("unconfirmedemail").is_none();
    user.status = status(given("deletedat").or_else(|| given("discardedat")).is_some());
    user.password = hash(value("encryptedpassword"));
    user.roles = [columns.list(record, "roles"), columns.list(record, "role")].concat();
    user.groups = columns.list(record, "groups");
    let has_factor = given("otpsecret").or_else(|| given("encryptedotpsecret")).is_some();
    user.leave_out("second factors", usize::from(has_factor));
    user.leave_out(
        "accounts of identity providers",
        usize::from(given("provider").is_some() && given("uid").is_some()),
    );
    user
}
