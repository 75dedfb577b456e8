//! The CSV files from which users are imported, by the console and by the command.

use csv::{Position, Reader, ReaderBuilder, StringRecord};
use iam_model::user::UserStatus;
use iam_model::validate::{FieldError, Invalid};

use crate::user::ImportedUser;

const REQUIRED: [&str; 3] = ["email", "firstName", "lastName"];
const OPTIONAL: [&str; 2] = ["passwordHash", "status"];

/// The beginning of the name of a column with an attribute. The key of the attribute follows.
const ATTRIBUTE: &str = "attributes.";

/// The separator of the fields of a file: Excel writes the separator of the country.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The users of a CSV file (RFC 4180), one after the other.
///
/// The first line names the columns in any order: `email`, `firstName` and `lastName`, and where the file has them
/// `passwordHash`, `status` and one column for each attribute, such as `attributes.costCentre`. An empty field of such a
/// column is no attribute. A comma, a semicolon or a tab separates the fields. A byte order mark, empty lines and
/// blanks around a field have no meaning.
///
/// ```
/// use iam_core::user::UserFile;
///
/// let file = "\u{feff}email; firstName; lastName\r\n\r\ngrace@example.com; Grace; Hopper\r\n";
/// let row = UserFile::read(file.as_bytes())?.next().ok_or("a row")?;
/// assert_eq!((row.line, row.email.as_str()), (3, "grace@example.com"));
/// assert_eq!(row.user.map(|user| user.first_name), Ok("Grace".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UserFile<'a> {
    content: &'a [u8],
    records: Reader<&'a [u8]>,
    columns: Columns,
}

/// A row of a [`UserFile`].
#[derive(Debug)]
pub struct UserRow {
    /// The line of the file in which the row begins; the first line is 1.
    pub line: u64,
    /// The e-mail as the file has it; empty if the row cannot be read.
    pub email: String,
    /// The user, or the error of the row. Without a `passwordHash`, its hash is empty.
    pub user: Result<ImportedUser, FieldError>,
}

/// The positions of the columns.
#[derive(Debug)]
struct Columns {
    required: [usize; 3],
    optional: [Option<usize>; 2],
    /// The keys of attributes, with the positions of their columns.
    attributes: Vec<(String, usize)>,
}

impl<'a> UserFile<'a> {
    /// Reads the first line.
    ///
    /// # Errors
    ///
    /// [`Invalid`] when the first line does not name the columns. The error names the columns that the file must have.
    pub fn read(content: &'a [u8]) -> Result<Self, Invalid> {
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
        let mut records = ReaderBuilder::new().delimiter(delimiter(content)).from_reader(content);
        let no_header = || Invalid::new("must begin with a line that names the columns, in UTF-8");
        let header = records.headers().map_err(|_| no_header())?;
        if header.iter().all(|name| name.trim().is_empty()) {
            return Err(no_header());
        }
        let columns = Columns::of(header)?;
        Ok(Self { content, records, columns })
    }

    /// Returns the line of a record. Its position is before the empty lines above it.
    fn line_of(&self, position: &Position) -> u64 {
        let start = usize::try_from(position.byte()).ok();
        let rest = start.and_then(|start| self.content.get(start..)).unwrap_or_default();
        let above = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        above.fold(position.line(), |line, byte| line + u64::from(*byte == b'\n'))
    }
}

impl Iterator for UserFile<'_> {
    type Item = UserRow;

    fn next(&mut self) -> Option<UserRow> {
        loop {
            let mut record = StringRecord::new();
            let read = self.records.read_record(&mut record);
            let position = match &read {
                Ok(false) => return None,
                Ok(true) => record.position(),
                Err(error) => error.position(),
            };
            let line = position.map_or(0, |position| self.line_of(position));
            match read {
                // Spreadsheets write such rows below the last one.
                Ok(_) if record.iter().all(|field| field.trim().is_empty()) => {}
                Ok(_) => {
                    let (email, user) = self.columns.user(&record);
                    return Some(UserRow { line, email, user });
                }
                Err(error) => return Some(UserRow { line, email: String::new(), user: Err(refusal(&error)) }),
            }
        }
    }
}

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, Invalid> {
        let names: Vec<&str> = header.iter().map(str::trim).collect();
        let position = |name: &str| names.iter().position(|found| *found == name);
        let is_known = |name: &&str| REQUIRED.contains(name) || OPTIONAL.contains(name) || name.starts_with(ATTRIBUTE);
        if let Some(missing) = REQUIRED.iter().find(|name| position(name).is_none()) {
            return Err(Invalid::new(format!("has no column {missing}")));
        }
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            return Err(Invalid::new(format!("has an unknown column {unknown}")));
        }
        if let Some((_, twice)) = names.iter().enumerate().find(|(number, name)| position(name) != Some(*number)) {
            return Err(Invalid::new(format!("has the column {twice} twice")));
        }
        let key = |(number, name): (usize, &&str)| Some((name.strip_prefix(ATTRIBUTE)?.to_owned(), number));
        Ok(Self {
            required: REQUIRED.map(|name| position(name).unwrap_or_default()),
            optional: OPTIONAL.map(position),
            attributes: names.iter().enumerate().filter_map(key).collect(),
        })
    }

    fn user(&self, record: &StringRecord) -> (String, Result<ImportedUser, FieldError>) {
        let text = |position: usize| record.get(position).unwrap_or_default().trim().to_owned();
        let [email, first_name, last_name] = self.required.map(text);
        let [hash, status] = self.optional.map(|position| position.map(text).unwrap_or_default());
        let status = imported_status(&status);
        let attributes = self.attributes.iter().map(|(key, position)| (key.clone(), text(*position)));
        let attributes = attributes
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| (key, serde_json::Value::String(value)));
        let user = status.map(|status| ImportedUser {
            email: email.clone(),
            first_name,
            last_name,
            password_hash: hash.into(),
            status,
            attributes: attributes.collect(),
        });
        (email, user)
    }
}

/// Returns the status of a user in a file: ACTIVE if the file does not name one.
///
/// # Errors
///
/// An error about the field `status` when there is no such status.
pub fn imported_status(text: &str) -> Result<UserStatus, FieldError> {
    match text {
        "" => Ok(UserStatus::Active),
        status => status.parse().map_err(|error: Invalid| FieldError::new("status", error.to_string())),
    }
}

/// Returns the separator of the fields of the first line. The names of columns contain no delimiter.
fn delimiter(content: &[u8]) -> u8 {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let first = content.iter().skip_while(|byte| is_break(byte)).take_while(|byte| !is_break(byte));
    first.copied().find(|byte| DELIMITERS.contains(byte)).unwrap_or(b',')
}

/// Returns the error of a row. No message contains a value of the row: it may be a hash.
fn refusal(error: &csv::Error) -> FieldError {
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { .. } => "must have as many fields as the first line",
        csv::ErrorKind::Utf8 { .. } => "must be UTF-8",
        _ => "cannot be read",
    };
    FieldError::new("row", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(content: &[u8]) -> Vec<UserRow> {
        UserFile::read(content).unwrap().collect()
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
            assert!(user.password_hash.expose().is_empty() && user.status == UserStatus::Active);
        }
    }

    #[test]
    fn a_column_can_have_an_attribute() {
        let content = b"email;attributes.costCentre;firstName;lastName;attributes.floor\na@example.com; 4711 ;A;B;\n";
        let user = rows(content).remove(0).user.unwrap();
        assert_eq!(serde_json::Value::from(user.attributes), serde_json::json!({ "costCentre": "4711" }));
    }

    #[test]
    fn each_row_has_the_line_in_which_it_begins() {
        let content = "email,firstName,lastName\r\n\r\na@example.com,\"two\r\nlines\",X\r\n,,\r\n\r\nb@example.com,B,X\r\n\
                       few,fields\r\nc@example.com,C,X";
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
        ] {
            let Err(Invalid(message)) = UserFile::read(content.as_bytes()) else { panic!("{content}") };
            assert!(message.contains(part), "{content}: {message}");
        }
        assert!(UserFile::read(b"\xff\xfee\0m\0").is_err());
    }
}
