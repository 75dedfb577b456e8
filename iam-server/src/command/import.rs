//! The import of users from a file.

use std::fs;
use std::path::Path;

use iam_core::user::{Import, ImportedUser, UserFile, imported_status};
use iam_core::{Conflict, Error, FieldError, Iam};
use serde::Deserialize;
use serde_json::{Map, Value, json};

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
    attributes: Map<String, Value>,
}

impl Row {
    fn into_user(self) -> Result<ImportedUser, FieldError> {
        let status = imported_status(&self.status)?;
        let Self { email, first_name, last_name, password_hash, attributes, .. } = self;
        Ok(ImportedUser { email, first_name, last_name, password_hash: password_hash.into(), status, attributes })
    }
}

/// Imports the users of a file and prints the result of each.
pub(crate) async fn import(iam: &Iam, tenant: &str, file: &Path, is_dry_run: bool) -> Result<(), Failure> {
    let caller = tenant::find(iam, tenant, "user import command").await?;
    let import = iam.users().import(&caller).map_err(|error| Failure::new("importing users", &error))?;
    let mut importing =
        Importing { import: if is_dry_run { import.dry_run() } else { import }, accepted: 0, refused: 0 };
    let content = fs::read(file).map_err(|error| Failure::new(format!("reading {}", file.display()), &error))?;
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        let rows = UserFile::read(&content).map_err(|error| Failure(format!("{} {error}", file.display())))?;
        for row in rows {
            importing.add(row.line, &row.email, row.user).await?;
        }
    } else {
        for (number, line) in (1..).zip(content.split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match parse(line) {
                Ok(row) => importing.add(number, &row.email.clone(), row.into_user()).await?,
                Err(error) => importing.add(number, "", Err(error)).await?,
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
    async fn add(&mut self, line: u64, email: &str, user: Result<ImportedUser, FieldError>) -> Result<(), Failure> {
        let number = self.accepted + self.refused + 1;
        let result = match user {
            Ok(user) => self.accept(user).await?,
            Err(error) => Err(vec![error]),
        };
        let said = match result {
            Ok(result) => {
                self.accepted += 1;
                json!({ "row": number, "line": line, "email": email, "result": result })
            }
            Err(errors) => {
                self.refused += 1;
                let named = |error: &FieldError| json!({ "field": error.field, "message": error.message });
                let errors = errors.iter().map(named).collect::<Value>();
                json!({ "row": number, "line": line, "email": email, "errors": errors })
            }
        };
        print(&said.to_string())
    }

    async fn accept(&mut self, user: ImportedUser) -> Result<Result<Value, Vec<FieldError>>, Failure> {
        match self.import.add(user).await {
            Ok(user) => Ok(Ok(user.map_or_else(|| json!("valid"), |user| json!({ "id": user.id })))),
            Err(Error::Validation(errors)) => Ok(Err(errors)),
            Err(error @ Error::Conflict(Conflict::EmailTaken | Conflict::EmailOfDeletedUser)) => {
                Ok(Err(vec![FieldError::new("email", error.to_string())]))
            }
            Err(error) => Err(Failure::new("importing users", &error)),
        }
    }
}

/// Parses a line of JSON. No message contains a value of the line: it may be a hash.
fn parse(line: &[u8]) -> Result<Row, FieldError> {
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        if !error.inner().is_data() {
            return FieldError::new("row", "is not valid JSON");
        }
        match error.path().to_string() {
            path if path == "." => FieldError::new("row", "must be a JSON object with known fields"),
            path if path == "attributes" => FieldError::new(path, "must be a JSON object"),
            path => FieldError::new(path, "must be a string"),
        }
    })
}
