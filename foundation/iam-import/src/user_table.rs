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
    user: F,
}

impl<R: BufRead, F: Fn(&Columns, &StringRecord) -> Result<Record, FieldError>> UserTable<R, F> {
    /// Reads a table that has these columns, each by its folded name and its name in errors.
    pub(crate) fn read(input: R, required: [(&str, &str); 2], user: F) -> Result<Self, ReadError> {
        let mut table = Table::with_header(input)?;
        let columns = Columns::folded(&table.header()?);
        for (folded, name) in required {
            if !columns.has(folded) {
                return Err(ReadError::malformed(1, format!("has no column {name}")));
            }
        }
        Ok(Self { table, columns, user })
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
                user: (self.user)(&self.columns, &record),
            },
            Err(error) => Row::refused(line, error),
        }))
    }
}

/// Returns a record with what such tables have in columns of the same names: the identifier, the e-mail, the names, the
/// roles and the groups.
pub(crate) fn record_of(columns: &Columns, record: &StringRecord) -> Record {
    let given = |name: &str| columns.given(record, name);
    let mut user = Record::new(columns.value(record, "email"));
    user.name(Known {
        first: given("firstname"),
        last: given("lastname"),
        whole: given("name").or_else(|| given("fullname")),
    });
    user.foreign_id = given("id").map(str::to_owned);
    user.roles = [columns.list(record, "roles"), columns.list(record, "role")].concat();
    user.groups = columns.list(record, "groups");
    user
}
