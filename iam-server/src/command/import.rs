//! The import of users from a file.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use iam_core::user::{Import, ImportedUser, UserStatus};
use iam_core::{Conflict, Error, FieldError, Iam};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::output::print;
use crate::command::tenant;
use crate::failure::Failure;

/// A user in the file. A missing field is as invalid as an empty one.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Row {
    email: String,
    first_name: String,
    last_name: String,
    password_hash: String,
    status: String,
}

impl Row {
    fn into_user(self) -> Result<ImportedUser, FieldError> {
        let status = match self.status.as_str() {
            "" => UserStatus::Active,
            status => {
                status.parse().map_err(|error: iam_core::Invalid| FieldError::new("status", error.to_string()))?
            }
        };
        let Self { email, first_name, last_name, password_hash, .. } = self;
        Ok(ImportedUser { email, first_name, last_name, password_hash: password_hash.into(), status })
    }
}

/// Imports the users of a file and prints the result of each.
pub(crate) async fn import(iam: &Iam, tenant: &str, file: &Path, is_dry_run: bool) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "user import command").await?;
    let import = iam.users().import(&caller).map_err(|error| Failure::new("importing users", &error))?;
    let mut importing =
        Importing { import: if is_dry_run { import.dry_run() } else { import }, accepted: 0, refused: 0 };
    let opened = File::open(file).map_err(|error| Failure::new(format!("opening {}", file.display()), &error))?;
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        let mut reader = csv::Reader::from_reader(opened);
        for row in reader.deserialize() {
            let row = match row {
                Err(error) if error.is_io_error() => {
                    return Err(Failure::new(format!("reading {}", file.display()), &error));
                }
                row => row.map_err(|error| refusal_of_csv(&error)),
            };
            importing.add(row).await?;
        }
    } else {
        for line in BufReader::new(opened).lines() {
            let line = line.map_err(|error| Failure::new(format!("reading {}", file.display()), &error))?;
            if !line.trim().is_empty() {
                importing.add(parse(&line)).await?;
            }
        }
    }
    let Importing { accepted, refused, .. } = importing;
    let count_name = if is_dry_run { "wouldBeCreated" } else { "created" };
    print(&json!({ count_name: accepted, "refused": refused }).to_string())?;
    if refused > 0 { Err(Failure(format!("users that were refused: {refused}"))) } else { Ok(()) }
}

struct Importing<'a> {
    import: Import<'a>,
    accepted: u64,
    refused: u64,
}

impl Importing<'_> {
    async fn add(&mut self, row: Result<Row, FieldError>) -> Result<(), Failure> {
        let number = self.accepted + self.refused + 1;
        let (email, result) = match row {
            Ok(row) => (row.email.clone(), self.accept(row).await?),
            Err(error) => (String::new(), Err(vec![error])),
        };
        let line = match result {
            Ok(result) => {
                self.accepted += 1;
                json!({ "row": number, "email": email, "result": result })
            }
            Err(errors) => {
                self.refused += 1;
                let named = |error: &FieldError| json!({ "field": error.field, "message": error.message });
                json!({ "row": number, "email": email, "errors": errors.iter().map(named).collect::<Value>() })
            }
        };
        print(&line.to_string())
    }

    async fn accept(&mut self, row: Row) -> Result<Result<Value, Vec<FieldError>>, Failure> {
        let user = match row.into_user() {
            Ok(user) => user,
            Err(error) => return Ok(Err(vec![error])),
        };
        match self.import.add(user).await {
            Ok(user) => Ok(Ok(user.map_or_else(|| json!("valid"), |user| json!({ "id": user.id })))),
            Err(Error::Validation(errors)) => Ok(Err(errors)),
            Err(error @ Error::Conflict(Conflict::EmailTaken)) => {
                Ok(Err(vec![FieldError::new("email", error.to_string())]))
            }
            Err(error) => Err(Failure::new("importing users", &error)),
        }
    }
}

/// Parses a line of JSON. No message contains a value of the line: it may be a hash.
fn parse(line: &str) -> Result<Row, FieldError> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        if !error.inner().is_data() {
            return FieldError::new("row", "is not valid JSON");
        }
        match error.path().to_string() {
            path if path == "." => FieldError::new("row", "must be a JSON object with known fields"),
            path => FieldError::new(path, "must be a string"),
        }
    })
}

fn refusal_of_csv(error: &csv::Error) -> FieldError {
    FieldError::new(
        "row",
        match error.kind() {
            csv::ErrorKind::UnequalLengths { .. } => "must have as many fields as the header",
            csv::ErrorKind::Utf8 { .. } => "must be UTF-8",
            _ => "must have a header with known names",
        },
    )
}
