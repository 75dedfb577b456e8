//! Tables of users of a database, as CSV files with the names of their columns.

use std::io::BufRead;

use csv::StringRecord;
use iam_model::validate::FieldError;

use crate::column::Columns;
use crate::error::ReadError;
use crate::names::Known;
use crate::record::Record;
use crate::row::Row;
use crate::table::Table;

/// The users of a table, each by a function of its record.
pub(crate) struct UserTable<R, F> {
    table: Table<R>,
    columns: Columns,
    required: [&'static str; 2],
    others: &'static [&'static [&'static str]],
    user: F,
}

/// The folded names of the columns that [`record_of`] reads.
const COMMON: [&str; 10] =
    ["id", "username", "email", "firstname", "lastname", "name", "fullname", "roles", "role", "groups"];

impl<R: BufRead, F: Fn(&Columns, &StringRecord) -> Result<Record, FieldError>> UserTable<R, F> {
    /// Reads a table that has the required columns, each by its folded name and its name in errors. `others` are the
    /// folded names of the other columns that `user` reads.
    pub(crate) fn read(
        input: R,
        required: [(&'static str, &str); 2],
        others: &'static [&'static [&'static str]],
        user: F,
    ) -> Result<Self, ReadError> {
        let (table, names) = Table::with_header(input)?;
        let columns = Columns::folded(&names);
        for (folded, name) in required {
            if !columns.has(folded) {
                return Err(ReadError::malformed(1, format!("has no column {name}")));
            }
        }
        let required = required.map(|(folded, _)| folded);
        Ok(Self { table, columns, required, others, user })
    }
}

impl<R: BufRead, F: Fn(&Columns, &StringRecord) -> Result<Record, FieldError>> Iterator for UserTable<R, F> {
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
                username: self.columns.given(&record, "username").map(str::to_owned),
                user: self.checked(&record),
            },
            Err(error) => Row::refused(line, error),
        }))
    }
}

impl<R, F: Fn(&Columns, &StringRecord) -> Result<Record, FieldError>> UserTable<R, F> {
    /// Returns the user of a record. The columns that are not read can be free text.
    fn checked(&self, record: &StringRecord) -> Result<Record, FieldError> {
        let is_read = |name: &str| {
            self.required.contains(&name)
                || COMMON.contains(&name)
                || self.others.iter().any(|names| names.contains(&name))
        };
        self.columns.check_lines(record, |name| !is_read(name))?;
        (self.user)(&self.columns, record)
    }
}

/// Returns a record with what such tables have in columns of the same names: the identifier, the username, the e-mail,
/// the names, the roles and the groups.
pub(crate) fn record_of(columns: &Columns, record: &StringRecord) -> Record {
    let given = |name: &str| columns.given(record, name);
    let mut user = Record::new(columns.value(record, "email"));
    user.name(Known {
        first: given("firstname"),
        last: given("lastname"),
        whole: given("name").or_else(|| given("fullname")),
    });
    user.foreign_id = given("id").map(str::to_owned);
    user.username = given("username").map(str::to_owned);
    user.roles = [columns.list(record, "roles"), columns.list(record, "role")].concat();
    user.groups = columns.list(record, "groups");
    user
}
