//! CSV files with the columns of this service.

use std::io::BufRead;

use csv::StringRecord;
use iam_model::secret::PasswordHash;
use iam_model::validate::{FieldError, Invalid};

use crate::column::Columns;
use crate::error::ReadError;
use crate::record::{ForeignPassword, Record, shown_name};
use crate::row::Row;
use crate::table::Table;

const REQUIRED: [&str; 3] = ["email", "firstName", "lastName"];
/// The beginning of the name of a column with an attribute. The key of the attribute follows.
const ATTRIBUTE: &str = "attributes.";

const OPTIONAL: [&str; 6] = ["passwordHash", "status", "externalId", "emailVerified", "roles", "groups"];

pub(crate) struct Plain<R> {
    table: Table<R>,
    columns: Columns,
}

impl<R: BufRead> Plain<R> {
    pub(crate) fn read(input: R) -> Result<Self, ReadError> {
        let (table, names) = Table::with_header(input)?;
        check(&names)?;
        Ok(Self { table, columns: Columns::exact(names) })
    }
}

impl<R: BufRead> Iterator for Plain<R> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (line, record) = match self.table.next() {
            Ok(found) => found?,
            Err(error) => return Some(Err(error)),
        };
        let columns = &self.columns;
        Some(Ok(match record {
            Ok(record) => match checked(columns, &record) {
                Ok(user) => Row::of(line, user),
                Err(error) => Row { email: columns.text(&record, "email").to_owned(), ..Row::refused(line, error) },
            },
            Err(error) => Row::refused(line, error),
        }))
    }
}

/// Checks the names of the columns.
fn check(names: &[String]) -> Result<(), ReadError> {
    let wrong = |message: String| Err(ReadError::malformed(1, message));
    let is_known = |name: &str| REQUIRED.contains(&name) || OPTIONAL.contains(&name) || name.starts_with(ATTRIBUTE);
    if let Some(missing) = REQUIRED.iter().find(|name| !names.iter().any(|found| found == *name)) {
        return wrong(format!("has no column {missing}"));
    }
    if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
        return wrong(format!("has an unknown column {}", shown_name(unknown)));
    }
    let is_second = |(number, name): &(usize, &String)| names.iter().position(|found| found == *name) != Some(*number);
    if let Some((_, twice)) = names.iter().enumerate().find(is_second) {
        return wrong(format!("has the column {} twice", shown_name(twice)));
    }
    Ok(())
}

/// Returns the user of a record. Only the attributes are free text.
fn checked(columns: &Columns, record: &StringRecord) -> Result<Record, FieldError> {
    columns.check_lines(record, |name| name.starts_with(ATTRIBUTE))?;
    user(columns, record)
}

fn user(columns: &Columns, record: &StringRecord) -> Result<Record, FieldError> {
    let text = |name| columns.text(record, name);
    let is_email_verified = match text("emailVerified") {
        "" | "false" => false,
        "true" => true,
        _ => return Err(FieldError::new("emailVerified", "must be true or false")),
    };
    Ok(Record {
        foreign_id: Some(text("externalId")).filter(|id| !id.is_empty()).map(str::to_owned),
        is_email_verified,
        first_name: text("firstName").to_owned(),
        last_name: text("lastName").to_owned(),
        status: status(text("status"))?,
        password: hash(text("passwordHash")),
        roles: columns.list(record, "roles"),
        groups: columns.list(record, "groups"),
        attributes: columns.beginning(record, ATTRIBUTE).map(|(key, text)| (key.to_owned(), text.into())).collect(),
        ..Record::new(text("email"))
    })
}

/// Returns the status of a user in a file: ACTIVE if the file does not name one.
pub(crate) fn status(text: &str) -> Result<iam_model::user::UserStatus, FieldError> {
    match text {
        "" => Ok(iam_model::user::UserStatus::Active),
        status => status.parse().map_err(|error: Invalid| FieldError::new("status", error.to_string())),
    }
}

/// Returns the password of a user in a file. An empty hash is none.
pub(crate) fn hash(text: &str) -> ForeignPassword {
    if text.is_empty() { ForeignPassword::None } else { ForeignPassword::Hash(PasswordHash::from(text)) }
}

#[cfg(test)]
mod tests {
    use iam_model::user::UserStatus;

    use super::*;

    fn rows(content: &[u8]) -> Vec<Row> {
        Plain::read(content).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_comma_a_semicolon_or_a_tab_separates_fields_in_any_order() {
        for content in [
            "email,firstName,lastName\na@example.com,\"A, B; C\",D\n",
            "\u{feff}lastName;email;firstName\r\nD;a@example.com;\"A, B; C\"\r\n",
            "\u{feff}\"lastName\"\t\"firstName\"\t\"email\"\rD\tA, B; C\ta@example.com",
            "\n\nemail ; firstName\u{a0}; lastName \n a@example.com\u{a0};\" A, B; C \"; D",
        ] {
            let found = rows(content.as_bytes());
            let user = found[0].user.as_ref().unwrap();
            assert_eq!(found.len(), 1, "{content}");
            assert_eq!(
                (found[0].email.as_str(), user.first_name.as_str(), user.last_name.as_str()),
                ("a@example.com", "A, B; C", "D"),
                "{content}"
            );
            assert!(user.password == ForeignPassword::None && user.status == UserStatus::Active);
        }
    }

    #[test]
    fn all_columns_are_read() {
        let content = "email,firstName,lastName,externalId,emailVerified,roles,groups,passwordHash\n\
                       a@example.com,A,B,7,true,admin|| clerk ,/north,x\n\
                       b@example.com,A,B,,maybe,,,\n";
        let found = rows(content.as_bytes());
        let user = found[0].user.as_ref().unwrap();
        assert_eq!((user.foreign_id.as_deref(), user.is_email_verified), (Some("7"), true));
        assert_eq!(
            (&user.roles[..], &user.groups[..]),
            (&["admin".to_owned(), "clerk".to_owned()][..], &["/north".to_owned()][..])
        );
        assert_eq!(user.password, ForeignPassword::Hash("x".into()));
        assert_eq!(found[1].user.as_ref().unwrap_err().field, "emailVerified");
        assert_eq!(found[1].email, "b@example.com");
    }

    #[test]
    fn a_column_can_have_an_attribute() {
        let content = b"email;attributes.costCentre;firstName;lastName;attributes.floor\na@example.com; 4711 ;A;B;\n";
        let user = rows(content).remove(0).user.unwrap();
        assert_eq!(user.attributes.into_iter().collect::<Vec<_>>(), [("costCentre".to_owned(), "4711".into())]);
    }

    #[test]
    fn each_row_has_the_line_in_which_it_begins() {
        let content = "email,firstName,attributes.note,lastName\r\n\r\na@example.com,A,\"two\r\nlines\",X\r\n,,,\r\n\r\n\
                       b@example.com,B,,X\r\nfew,fields\r\nc@example.com,C,,X";
        let lines: Vec<(u64, bool)> = rows(content.as_bytes()).iter().map(|row| (row.line, row.user.is_ok())).collect();
        assert_eq!(lines, [(3, true), (7, true), (8, false), (9, true)]);
    }

    #[test]
    fn a_row_that_cannot_be_read_does_not_hide_the_next_one() {
        let content = b"email,firstName,lastName,status\n\xff@example.com,A,B,\nx@example.com,A,B,GONE\ny@example.com,A,B,SUSPENDED";
        let found = rows(content);
        let errors: Vec<Option<&FieldError>> = found.iter().map(|row| row.user.as_ref().err()).collect();
        assert_eq!(errors[0], Some(&FieldError::new("row", "must be UTF-8")));
        assert_eq!(errors[1].map(|error| error.field.as_str()), Some("status"));
        assert_eq!(found[2].user.as_ref().unwrap().status, UserStatus::Suspended);
    }

    /// Two marks for inches make one field of what is between them.
    #[test]
    fn a_value_of_several_lines_is_refused_unless_it_is_free_text() {
        let content = "email,firstName,lastName,groups,passwordHash,attributes.note\n\
                       a@example.com,A,B,\"12 inch,x,\nb@example.com,A,B,12\",x,\n\
                       c@example.com,A,B,\"/north\n\",x,\"two\nlines\"\nd@example.com,A,B,,x,\n";
        let found = rows(content.as_bytes());
        let lines: Vec<(u64, &str)> = found.iter().map(|row| (row.line, row.email.as_str())).collect();
        assert_eq!(lines, [(2, "a@example.com"), (4, "c@example.com"), (7, "d@example.com")]);
        assert_eq!(found[0].user.as_ref().unwrap_err().field, "groups");
        let user = found[1].user.as_ref().unwrap();
        assert_eq!((&*user.groups, &user.attributes["note"]), (&["/north".to_owned()][..], &"two\nlines".into()));
    }

    #[test]
    fn the_first_line_names_the_columns() {
        for (content, part) in [
            ("", "must begin with a line"),
            ("\n \n", "must begin with a line"),
            ("a@example.com,A,B", "has no column email"),
            ("email;firstName;lastName;role", "has an unknown column role"),
            ("email;firstName;lastName;attributes", "has an unknown column attributes"),
            ("email,firstName,lastName,attributes.a,attributes.a", "has the column attributes.a twice"),
            ("email,firstName,lastName,", "has an unknown column "),
            ("email,firstName,lastName,email", "has the column email twice"),
            ("email,firstName,lastName,$2b$10$x", "has an unknown column [not shown]"),
            ("email,firstName,lastName,\"a\nb\"", "has an unknown column [not shown]"),
        ] {
            let Err(ReadError::Malformed { message, .. }) = Plain::read(content.as_bytes()) else {
                panic!("{content}")
            };
            assert!(message.contains(part), "{content}: {message}");
        }
        assert!(Plain::read(&b"\xff\xfee\0m\0"[..]).is_err());
    }
}
