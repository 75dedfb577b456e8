//! The command `import`: users of another system, with the hashes of their passwords.

mod mapping;
mod report;
mod unused;

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use iam_core::secret::HashSecret;
use iam_core::user::{Import as Importing, Imported, ImportedUser};
use iam_core::{Conflict, Error, FieldError, Iam};
use iam_import::{Auth0Hashes, FirebaseParameters, Format, ReadError, Row, Source, read};

use crate::command::document::{content_of, is_standard_input, name_of, warn};
use crate::command::import::mapping::{Mapped, Mapping, WithoutPassword};
use crate::command::import::report::{Outcome, Report, Subject};
use crate::command::output::{print, refused};
use crate::command::tenant;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

/// The maximum size of the file of parameters of Firebase, in bytes.
const MAX_PARAMETERS: u64 = 4096;

/// After how many records of a file, none of which can be read, the file is taken for one of another system.
const MAX_UNREADABLE: u64 = 1_000;

#[derive(Clone, Args)]
pub(crate) struct Import {
    /// The system that has written the files
    #[arg(long, value_name = "SYSTEM")]
    from: System,
    /// The tenant, by its id or slug
    #[arg(long, value_name = "TENANT")]
    tenant: String,
    /// What roles and groups of the other system are here, as YAML or JSON [default: they are left out]
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Create no user, and only report what would be created, refused and left out
    #[arg(long)]
    dry_run: bool,
    /// The file for the result of each user, which must not exist yet [default: the standard output]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// The password hash parameters that the console of Firebase shows
    #[arg(long, value_name = "FILE")]
    firebase_parameters: Option<PathBuf>,
    /// The password hashes that the support of Auth0 has exported
    #[arg(long, value_name = "FILE")]
    auth0_hashes: Option<PathBuf>,
    /// The environment variable with the pepper of Devise [default: there is none]
    #[arg(long, value_name = "VARIABLE")]
    pepper_env: Option<String>,
    /// The files, or - for the standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum System {
    /// A realm of Keycloak, or its files of users
    Keycloak,
    /// The export of users of Auth0, or its export of hashes
    Auth0,
    /// The output of `firebase auth:export`
    Firebase,
    /// The output of `manage.py dumpdata auth.group auth.user`
    Django,
    /// The table of users of Devise as CSV
    Devise,
    /// The table AspNetUsers of ASP.NET Identity as CSV
    Aspnet,
    /// CSV with the columns of this service
    Csv,
    /// One JSON object in each line, with the fields of this service
    Ndjson,
}

impl System {
    fn format(self) -> Format {
        match self {
            Self::Keycloak => Format::Keycloak,
            Self::Auth0 => Format::Auth0,
            Self::Firebase => Format::Firebase,
            Self::Django => Format::Django,
            Self::Devise => Format::Devise,
            Self::Aspnet => Format::Aspnet,
            Self::Csv => Format::Csv,
            Self::Ndjson => Format::Ndjson,
        }
    }
}

/// Imports the users of files, and reports the result of each.
pub(crate) async fn import(command: Import, settings: &Settings) -> Result<(), Failure> {
    // Files that cannot be read need no database.
    let (source, secret) = source_of(&command)?;
    let iam = open(settings).await?;
    let source = Source { now: iam.now(), ..source };
    let result = run(&iam, &command, &source, secret).await;
    iam.close().await;
    result
}

/// Reads what the users need beside their files: the hashes and parameters, and the secret of the other system.
fn source_of(command: &Import) -> Result<(Source, Option<HashSecret>), Failure> {
    for (option, is_given, system) in [
        ("--firebase-parameters", command.firebase_parameters.is_some(), System::Firebase),
        ("--auth0-hashes", command.auth0_hashes.is_some(), System::Auth0),
        ("--pepper-env", command.pepper_env.is_some(), System::Devise),
    ] {
        if is_given && command.from != system {
            return Err(Failure(format!("{option} is for another system than the one of --from")));
        }
    }
    let mut source = Source::default();
    if let Some(file) = &command.firebase_parameters {
        let doing = || format!("reading {}", name_of(file));
        let content = content_of(file, MAX_PARAMETERS).map_err(|error| Failure::new(doing(), &error))?;
        let parameters = FirebaseParameters::parse(&String::from_utf8_lossy(&content));
        source.firebase = Some(parameters.map_err(|error| Failure::new(doing(), &error))?);
    }
    if let Some(file) = &command.auth0_hashes {
        let hashes = Auth0Hashes::read(io::BufReader::new(open_file(file)?));
        source.auth0 = hashes.map_err(|error| Failure::new(format!("reading {}", name_of(file)), &error))?;
    }
    let secret = match (&source.firebase, &command.pepper_env) {
        (Some(parameters), _) => Some(parameters.signer_key().clone()),
        (None, Some(variable)) => {
            // The error itself would repeat the value.
            let pepper = env::var(variable).map_err(|_| Failure(format!("the variable {variable} has no text")))?;
            Some(pepper.into())
        }
        (None, None) => None,
    };
    Ok((source, secret))
}

fn open_file(file: &Path) -> Result<Box<dyn Read + Send>, Failure> {
    if is_standard_input(file) {
        return Ok(Box::new(io::stdin()));
    }
    if file.is_dir() {
        return Err(Failure(format!("{} is a directory: name its files, such as dir/*.json", name_of(file))));
    }
    let opened = File::open(file).map_err(|error| Failure::new(format!("reading {}", name_of(file)), &error))?;
    Ok(Box::new(opened))
}

async fn run(iam: &Iam, command: &Import, source: &Source, secret: Option<HashSecret>) -> Result<(), Failure> {
    let caller = tenant::find(iam, &command.tenant, "import command").await?;
    let format = command.from.format();
    let mapping = Mapping::read(iam, &caller, command.mapping.as_deref(), format).await?;
    let failure = |error: Error| Failure::new("importing users", &error);
    let mut import = iam.users().import(&caller).map_err(failure)?;
    if let Some(secret) = secret {
        let with_secret = import.hash_secret(secret);
        import = with_secret.map_err(|error| refused("importing users".to_owned(), &error))?;
    }
    if command.dry_run {
        import = import.dry_run();
    }
    let report = Report::new(command.report.as_deref(), command.dry_run)?;
    let mut run = Run { import, mapping, report };
    if let Err(failure) = run.add_files(command, source).await {
        run.report.abandon();
        return Err(failure);
    }
    let (counts, refused_users) = run.report.end()?;
    print(&counts)?;
    if let Some(file) = &command.mapping {
        warn(file, &run.mapping.unused());
    }
    if refused_users > 0 { Err(Failure(format!("users that were refused: {refused_users}"))) } else { Ok(()) }
}

/// Whether nothing of a record could be read. The account of a client, which is refused, has an identifier.
fn is_unreadable(row: &Row) -> bool {
    row.user.is_err() && row.email.is_empty() && row.foreign_id.is_none()
}

struct Run<'a> {
    import: Importing<'a>,
    mapping: Mapping,
    report: Report,
}

impl Run<'_> {
    async fn add_files(&mut self, command: &Import, source: &Source) -> Result<(), Failure> {
        for file in &command.files {
            let reading = |error: ReadError| Failure::new(format!("reading {}", name_of(file)), &error);
            let rows = read(command.from.format(), open_file(file)?, source).map_err(reading)?;
            let (mut rows_read, mut is_of_format) = (0, false);
            for row in rows {
                let row = row.map_err(reading)?;
                is_of_format |= !is_unreadable(&row);
                rows_read += 1;
                if !is_of_format && rows_read > MAX_UNREADABLE {
                    let name = name_of(file);
                    return Err(Failure(format!(
                        "reading {name}: none of its first {MAX_UNREADABLE} records can be read: is it of another \
                         system than the one of --from?"
                    )));
                }
                self.add(row).await?;
            }
        }
        Ok(())
    }

    async fn add(&mut self, row: Row) -> Result<(), Failure> {
        let subject = Subject::of(&row);
        let mapped = row.user.map_err(|error| vec![error]).and_then(|record| {
            self.mapping.note(&record);
            self.mapping.map(record)
        });
        match mapped {
            Ok(Mapped { user, left_out, unmapped }) => {
                let (outcome, left_out) = self.import(user, left_out).await?;
                self.report.add(&subject, &outcome, &left_out)?;
                if !matches!(outcome, Outcome::Refused(_)) {
                    self.report.count_left_out(&left_out, &unmapped);
                }
                Ok(())
            }
            Err(errors) => self.report.add(&subject, &Outcome::Refused(errors), &[]),
        }
    }

    async fn import(
        &mut self,
        user: ImportedUser,
        mut left_out: Vec<String>,
    ) -> Result<(Outcome, Vec<String>), Failure> {
        let without = ImportedUser { password_hash: None, ..user.clone() };
        let outcome = match self.try_import(user).await? {
            // Only the hash cannot be taken.
            Outcome::Refused(errors)
                if self.mapping.without_password == WithoutPassword::Create
                    && errors.iter().all(|error| error.field == "passwordHash") =>
            {
                left_out.extend(errors.iter().map(|error| format!("password: {}", error.message)));
                self.try_import(without).await?
            }
            outcome => outcome,
        };
        Ok((outcome, left_out))
    }

    async fn try_import(&mut self, user: ImportedUser) -> Result<Outcome, Failure> {
        let refused = |field: &str, error: &Error| Outcome::Refused(vec![FieldError::new(field, error.to_string())]);
        match self.import.add(user).await {
            Ok(Imported::Created(user)) => Ok(Outcome::Created(user.id)),
            Ok(Imported::Valid) => Ok(Outcome::WouldCreate),
            Ok(Imported::AlreadyThere(id)) => Ok(Outcome::AlreadyThere(id)),
            Ok(Imported::OtherEmail(id)) => Ok(Outcome::OtherEmail(id)),
            Err(Error::Validation(errors)) => Ok(Outcome::Refused(errors)),
            Err(Error::About { field, error }) => Ok(refused(&field, &error)),
            Err(error @ Error::Conflict(Conflict::EmailTaken | Conflict::EmailOfDeletedUser)) => {
                Ok(refused("email", &error))
            }
            Err(error @ Error::Conflict(Conflict::ExternalIdTaken | Conflict::ExternalIdIsEmail)) => {
                Ok(refused("externalId", &error))
            }
            Err(error) => Err(Failure::new("importing users (import the same files again)", &error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        import: Import,
    }

    #[test]
    fn an_option_of_another_system_is_refused() {
        for (option, from) in [
            ("--firebase-parameters", "keycloak"),
            ("--auth0-hashes", "firebase"),
            ("--pepper-env", "firebase"),
            ("--pepper-env", "csv"),
        ] {
            let line = ["import", "--from", from, "--tenant", "acme", option, "no-such", "users"];
            let Err(failure) = source_of(&Line::try_parse_from(line).unwrap().import) else { panic!("{option}") };
            assert_eq!(failure.to_string(), format!("{option} is for another system than the one of --from"));
        }
    }
}
