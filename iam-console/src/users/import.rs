//! The import of users from a CSV file: the columns and the rules are those of the command `iam-server user import`.
//!
//! A request has a limited size, so the script `import.js` sends a long file in parts. Without JavaScript, a form sends
//! one part.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use csv::{Position, Reader, StringRecord};
use iam_axum::Problem;
use iam_core::user::{Import, ImportedUser, UserStatus};
use iam_core::{Conflict, Error, FieldError};

use crate::english;
use crate::form::Form;
use crate::problem::{is_for_part, refused_form};
use crate::session::SignedIn;
use crate::state::Console;
use crate::view::{Frame, page};

/// How many rows a request can have: it must end within the time limit of requests.
const MAX_ROWS: usize = 500;

const REQUIRED: [&str; 4] = ["email", "firstName", "lastName", "passwordHash"];
const OPTIONAL: [&str; 1] = ["status"];

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    frame: Frame,
    error: String,
    csv: String,
    csv_error: String,
    /// `None` before the first request.
    done: Option<Done>,
}

/// What became of the rows of a request.
#[derive(Template)]
#[template(path = "import-rows.html")]
struct Done {
    base: String,
    is_dry_run: bool,
    rows: Vec<Row>,
    /// Why the rows after the last one were not tried; empty if all were.
    stopped: String,
}

struct Row {
    /// The line of the file.
    line: u64,
    email: String,
    outcome: Result<Accepted, String>,
}

enum Accepted {
    Valid,
    Created(iam_core::UserId),
}

impl Done {
    fn good(&self) -> usize {
        self.rows.iter().filter(|row| row.outcome.is_ok()).count()
    }

    fn summary(&self) -> String {
        let text = if self.is_dry_run { english::IMPORT_CHECKED } else { english::IMPORT_DONE };
        let (good, bad) = (self.good(), self.rows.len() - self.good());
        text.replace("{good}", &good.to_string()).replace("{bad}", &bad.to_string())
    }
}

/// The positions of the columns.
struct Columns {
    required: [usize; 4],
    status: Option<usize>,
}

impl Columns {
    fn of(header: &StringRecord) -> Result<Self, Error> {
        let position = |name: &str| header.iter().position(|found| found.trim() == name);
        let is_known = |name: &str| REQUIRED.contains(&name) || OPTIONAL.contains(&name);
        let unknown = header.iter().map(str::trim).find(|name| !is_known(name));
        let missing = REQUIRED.iter().find(|name| position(name).is_none());
        match (missing, unknown) {
            (Some(missing), _) => Err(Error::field("csv", format!("{} {missing}", english::COLUMN_MISSING))),
            (None, Some(unknown)) => Err(Error::field("csv", format!("{} {unknown}", english::COLUMN_UNKNOWN))),
            (None, None) => Ok(Self {
                required: REQUIRED.map(|name| position(name).unwrap_or_default()),
                status: position(OPTIONAL[0]),
            }),
        }
    }

    fn user(&self, record: &StringRecord) -> Result<ImportedUser, FieldError> {
        let text = |position: usize| record.get(position).unwrap_or_default().trim().to_owned();
        let status = match self.status.map(text).as_deref() {
            None | Some("") => UserStatus::Active,
            Some(status) => {
                status.parse().map_err(|error: iam_core::Invalid| FieldError::new("status", error.to_string()))?
            }
        };
        let [email, first_name, last_name, password_hash] = self.required.map(text);
        Ok(ImportedUser { email, first_name, last_name, password_hash: password_hash.into(), status })
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
    error: String,
) -> Result<ImportPage, Problem> {
    let csv_error = errors.iter().find(|error| error.field == "csv");
    Ok(ImportPage {
        frame: signed_in.frame(console).await?,
        error,
        csv: form.get("csv").to_owned(),
        csv_error: csv_error.map_or_else(String::new, |error| format!("{} {}.", english::THE_FILE, error.message)),
        done: None,
    })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, &Form::default(), &[], String::new()).await?)
}

pub(super) async fn run(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let done = import(&console, &signed_in, &form).await;
    if is_for_part(&headers) {
        return page(StatusCode::OK, &done?);
    }
    let shown = async |errors: Vec<FieldError>, error| page_of(&console, &signed_in, &form, &errors, error).await;
    match done {
        Ok(done) => {
            let shown = shown(Vec::new(), String::new()).await?;
            page(StatusCode::OK, &ImportPage { done: Some(done), ..shown })
        }
        Err(error) => refused_form(error, shown).await,
    }
}

/// Imports the rows of a form, or only checks them.
async fn import(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<Done, Error> {
    let (is_dry_run, csv) = (form.get("run") != "import", form.get("csv"));
    // The line of the first row in the file, of which this may be a part.
    let first_line: u64 = form.get("firstLine").parse().unwrap_or(2);
    let mut reader = Reader::from_reader(csv.as_bytes());
    let header = reader.headers().map_err(|_| Error::field("csv", english::NO_HEADER))?.clone();
    if csv.trim().is_empty() {
        return Err(Error::field("csv", english::NO_HEADER));
    }
    let columns = Columns::of(&header)?;
    let records: Vec<_> = reader.records().take(MAX_ROWS + 1).collect();
    if records.len() > MAX_ROWS {
        return Err(Error::field("csv", format!("{} {MAX_ROWS}", english::TOO_MANY_ROWS)));
    }
    let import = console.iam.users().import(&signed_in.caller)?;
    let mut import = if is_dry_run { import.dry_run() } else { import };
    let (mut rows, mut stopped) = (Vec::new(), String::new());
    for record in records {
        let position = match &record {
            Ok(record) => record.position(),
            Err(error) => error.position(),
        };
        let line = position.map_or(0, |position| line_of(csv, position)).saturating_sub(2).saturating_add(first_line);
        let (email, outcome) = match record {
            Ok(record) => match columns.user(&record) {
                Ok(user) => (user.email.clone(), add(&mut import, user).await),
                Err(error) => (String::new(), Ok(Err(text_of(&[error])))),
            },
            Err(_) => (String::new(), Ok(Err(english::ROW_BROKEN.to_owned()))),
        };
        match outcome {
            Ok(outcome) => rows.push(Row { line, email, outcome }),
            Err(Error::Unauthenticated(reason)) => return Err(reason.into()),
            Err(error) => {
                stopped = error.to_string();
                rows.push(Row { line, email, outcome: Err(english::ROW_NOT_TRIED.to_owned()) });
                break;
            }
        }
    }
    Ok(Done { base: console.base().to_owned(), is_dry_run, rows, stopped })
}

/// Returns the line of a record. Its position is before the empty lines above it.
fn line_of(csv: &str, position: &Position) -> u64 {
    let rest = usize::try_from(position.byte()).ok().and_then(|start| csv.as_bytes().get(start..)).unwrap_or_default();
    let above = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    above.fold(position.line(), |line, byte| line + u64::from(*byte == b'\n'))
}

/// Adds a user. The inner result says whether this row is refused; an error holds for the rows after it, too.
async fn add(import: &mut Import<'_>, user: ImportedUser) -> Result<Result<Accepted, String>, Error> {
    match import.add(user).await {
        Ok(Some(user)) => Ok(Ok(Accepted::Created(user.id))),
        Ok(None) => Ok(Ok(Accepted::Valid)),
        Err(Error::Validation(errors)) => Ok(Err(text_of(&errors))),
        Err(error @ Error::Conflict(Conflict::EmailTaken)) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

fn text_of(errors: &[FieldError]) -> String {
    let texts: Vec<String> = errors.iter().map(|error| format!("{} {}.", error.field, error.message)).collect();
    texts.join(" ")
}
