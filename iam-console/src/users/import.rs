//! The import of users from a CSV file: the columns and the rules are those of the command `iam-server user import`. A
//! row without the hash of a password invites the person.
//!
//! A request has a limited size, so the script `import.js` sends a long file in parts. Without JavaScript, a form sends
//! one part.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use csv::{Position, ReaderBuilder, StringRecord};
use iam_axum::Problem;
use iam_core::invitation::NewInvitation;
use iam_core::user::{Import, ImportedUser, UserStatus};
use iam_core::{Caller, Conflict, Error, FieldError, Iam, InvitationId, UserId};

use crate::assets::ASSETS;
use crate::english;
use crate::form::Form;
use crate::problem::{is_for_part, refused, refused_form};
use crate::session::SignedIn;
use crate::state::Console;
use crate::view::{Frame, page};

/// How many rows a request can have: it must end within the time limit of requests.
const MAX_ROWS: usize = 500;

const REQUIRED: [&str; 3] = ["email", "firstName", "lastName"];
const OPTIONAL: [&str; 2] = ["passwordHash", "status"];

/// What separates the fields of a file: Excel writes the separator of the country.
const DELIMITERS: [char; 3] = [',', ';', '\t'];

/// A hash of no password, with which the dry run of an import checks the other fields of a row.
const ANY_HASH: &str = "$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I";

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    frame: Frame,
    error: String,
    csv: String,
    csv_error: String,
    sends_mail: bool,
    /// `None` before the first request.
    done: Option<Done>,
}

impl ImportPage {
    fn template(&self) -> String {
        format!("{}{}", self.frame.base, ASSETS.template.path)
    }
}

/// What a script gets in place of rows if the file is wrong.
#[derive(Template)]
#[template(path = "import-refused.html")]
struct Refused {
    text: String,
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
    Created(UserId),
    Invitable,
    Invited(InvitationId),
}

impl Row {
    /// Whether the row creates a user. `None` if it is refused.
    fn creates(&self) -> Option<bool> {
        self.outcome.as_ref().ok().map(|accepted| matches!(accepted, Accepted::Valid | Accepted::Created(_)))
    }
}

impl Done {
    fn count(&self, creates: Option<bool>) -> usize {
        self.rows.iter().filter(|row| row.creates() == creates).count()
    }

    fn summary(&self) -> String {
        let text = if self.is_dry_run { english::IMPORT_CHECKED } else { english::IMPORT_DONE };
        let counts = [("{created}", Some(true)), ("{invited}", Some(false)), ("{bad}", None)];
        counts.into_iter().fold(text.to_owned(), |text, (name, kind)| text.replace(name, &self.count(kind).to_string()))
    }

    /// Whether a check has found rows that can be imported.
    fn can_go_on(&self) -> bool {
        self.is_dry_run && self.count(None) < self.rows.len()
    }
}

/// The positions of the columns.
struct Columns {
    required: [usize; 3],
    optional: [Option<usize>; 2],
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
                optional: OPTIONAL.map(position),
            }),
        }
    }

    fn person(&self, record: &StringRecord) -> Result<Person, FieldError> {
        let text = |position: usize| record.get(position).unwrap_or_default().trim().to_owned();
        let [hash, status] = self.optional.map(|position| position.map(text).filter(|text| !text.is_empty()));
        let status = match status {
            Some(status) => {
                status.parse().map_err(|error: iam_core::Invalid| FieldError::new("status", error.to_string()))?
            }
            None => UserStatus::Active,
        };
        let [email, first_name, last_name] = self.required.map(text);
        let is_invited = hash.is_none();
        if is_invited && status != UserStatus::Active {
            return Err(FieldError::new("status", english::ROW_ONLY_ACTIVE));
        }
        let password_hash = hash.unwrap_or_else(|| ANY_HASH.to_owned()).into();
        Ok(Person { user: ImportedUser { email, first_name, last_name, password_hash, status }, is_invited })
    }
}

/// A row that can be read.
struct Person {
    user: ImportedUser,
    /// Whether the row has no hash.
    is_invited: bool,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
    error: String,
) -> Result<ImportPage, Problem> {
    Ok(ImportPage {
        frame: signed_in.frame(console).await?,
        error,
        csv: form.get("csv").to_owned(),
        csv_error: file_error(errors),
        sends_mail: console.iam.sends_mail(),
        done: None,
    })
}

/// Says what is wrong with the whole file; empty if nothing is.
fn file_error(errors: &[FieldError]) -> String {
    let error = errors.iter().find(|error| error.field == "csv");
    error.map_or_else(String::new, |error| format!("{} {}.", english::THE_FILE, error.message))
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
        return match done {
            Ok(done) => page(StatusCode::OK, &done),
            Err(Error::Validation(errors)) => {
                let text = file_error(&errors);
                refused(Error::Validation(errors), &Refused { text })
            }
            Err(error) => Err(error.into()),
        };
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
    let csv = csv.strip_prefix('\u{feff}').unwrap_or(csv);
    // The line of the first row in the file, of which this may be a part.
    let first_line: u64 = form.get("firstLine").parse().unwrap_or(2);
    // The names of columns contain no delimiter.
    let delimiter = csv.lines().next().unwrap_or_default().chars().find(|char| DELIMITERS.contains(char));
    let delimiter = delimiter.and_then(|char| u8::try_from(char).ok()).unwrap_or(b',');
    let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(csv.as_bytes());
    let header = reader.headers().map_err(|_| Error::field("csv", english::NO_HEADER))?.clone();
    if csv.trim().is_empty() {
        return Err(Error::field("csv", english::NO_HEADER));
    }
    let columns = Columns::of(&header)?;
    let records: Vec<_> = reader.records().take(MAX_ROWS + 1).collect();
    if records.len() > MAX_ROWS {
        return Err(Error::field("csv", format!("{} {MAX_ROWS}", english::TOO_MANY_ROWS)));
    }
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let mut check = iam.users().import(caller)?.dry_run();
    let mut import = iam.users().import(caller)?;
    let mut refusal = None;
    let (mut rows, mut stopped) = (Vec::new(), String::new());
    for record in records {
        let position = match &record {
            Ok(record) => record.position(),
            Err(error) => error.position(),
        };
        let line = position.map_or(0, |position| line_of(csv, position)).saturating_sub(2).saturating_add(first_line);
        let (email, outcome) = match record {
            Ok(record) => match columns.person(&record) {
                Ok(Person { user, is_invited: false }) => {
                    let import = if is_dry_run { &mut check } else { &mut import };
                    (user.email.clone(), add(import, user).await)
                }
                Ok(Person { user, is_invited: true }) => {
                    let refusal = match &mut refusal {
                        Some(known) => known,
                        unknown => unknown.insert(invitation_refusal(iam, caller).await?),
                    };
                    let email = user.email.clone();
                    let outcome = match refusal {
                        Some(text) => Ok(Err(text.clone())),
                        None if is_dry_run => check_invitation(&mut check, user).await,
                        None => invite(iam, caller, user).await,
                    };
                    (email, outcome)
                }
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

/// What is done with a row. The inner result says whether this row is refused; an error holds for the rows after it, too.
type Outcome = Result<Result<Accepted, String>, Error>;

/// Adds a user.
async fn add(import: &mut Import<'_>, user: ImportedUser) -> Outcome {
    outcome_of(import.add(user).await.map(|user| user.map_or(Accepted::Valid, |user| Accepted::Created(user.id))))
}

/// Checks whether a person can be invited.
async fn check_invitation(check: &mut Import<'_>, user: ImportedUser) -> Outcome {
    outcome_of(check.add(user).await.map(|_| Accepted::Invitable))
}

async fn invite(iam: &Iam, caller: &Caller, user: ImportedUser) -> Outcome {
    let new = NewInvitation {
        email: user.email,
        first_name: Some(user.first_name),
        last_name: Some(user.last_name),
        roles: Vec::new(),
    };
    outcome_of(iam.invitations().create(caller, new).await.map(|invitation| Accepted::Invited(invitation.id)))
}

fn outcome_of(result: Result<Accepted, Error>) -> Outcome {
    match result {
        Ok(accepted) => Ok(Ok(accepted)),
        Err(Error::Validation(errors)) => Ok(Err(text_of(&errors))),
        Err(Error::About { error, .. }) => outcome_of(Err(*error)),
        Err(error @ Error::Conflict(Conflict::EmailTaken | Conflict::AlreadyInvited)) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Says why the caller cannot invite anybody; `None` if it can. No invitation is made without an address, so the answer
/// to one tells.
async fn invitation_refusal(iam: &Iam, caller: &Caller) -> Result<Option<String>, Error> {
    match iam.invitations().create(caller, NewInvitation::default()).await {
        Ok(_) | Err(Error::Validation(_)) => Ok(None),
        Err(Error::MailOff) => Ok(Some(english::ROW_NEEDS_MAIL.to_owned())),
        Err(error @ Error::Forbidden(_)) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}

fn text_of(errors: &[FieldError]) -> String {
    let texts: Vec<String> = errors.iter().map(|error| format!("{} {}.", error.field, error.message)).collect();
    texts.join(" ")
}
