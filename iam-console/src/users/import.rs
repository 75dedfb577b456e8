//! The import of users from a CSV file: the columns and the rules are those of the command `iam-server import`, for the
//! formats that are tables. A row without the hash of a password invites the person.
//!
//! A request has a limited size, so the script `import.js` sends a long file in parts. Without JavaScript, a form sends
//! one part.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::clock::Timestamp;
use iam_core::invitation::NewInvitation;
use iam_core::user::{Import, Imported, ImportedUser, UserStatus};
use iam_core::{Caller, Conflict, Error, FieldError, Iam, InvitationId, UserId};
use iam_import::{ForeignPassword, Format, ReadError, Record, Row as FileRow, Source, read, short_list};

use crate::assets::ASSETS;
use crate::form::Form;
use crate::problem::{is_for_part, refused, refused_form};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};

/// How many rows a request can have: it must end within the time limit of requests.
const MAX_ROWS: usize = 500;

/// The formats that are tables: a script sends such a file in parts. The operator imports the others, and those of Devise,
/// whose hashes of bcrypt cost more than a tenant can import.
fn all_formats() -> [(&'static str, &'static str, Format); 2] {
    [("csv", text::t("format-csv"), Format::Csv), ("aspnet", text::t("format-aspnet"), Format::Aspnet)]
}

/// A hash of no password, with which the dry run of an import checks the other fields of a row.
const ANY_HASH: &str = "$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I";

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage {
    frame: Frame,
    error: String,
    format: String,
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

    /// The formats with their names, and whether each is the chosen one.
    fn formats(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        all_formats().into_iter().map(move |(word, name, _)| (word, name, word == self.format))
    }
}

/// The answer to a script in place of rows if the file is wrong.
#[derive(Template)]
#[template(path = "import-refused.html")]
struct Refused {
    text: String,
}

/// The results of the rows of a request.
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
    /// What the record has and the user does not get.
    left_out: String,
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
        let text = if self.is_dry_run { text::t("import-checked") } else { text::t("import-done") };
        let counts = [("{created}", Some(true)), ("{invited}", Some(false)), ("{bad}", None)];
        counts.into_iter().fold(text.to_owned(), |text, (name, kind)| text.replace(name, &self.count(kind).to_string()))
    }

    /// Whether a check has found rows that can be imported.
    fn can_go_on(&self) -> bool {
        self.is_dry_run && self.count(None) < self.rows.len()
    }
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
        format: form.get("format").to_owned(),
        csv: form.get("csv").to_owned(),
        csv_error: file_error(errors),
        sends_mail: console.iam.sends_mail(),
        done: None,
    })
}

/// The error of the whole file; empty if there is none.
fn file_error(errors: &[FieldError]) -> String {
    let error = errors.iter().find(|error| error.field == "csv");
    error.map_or_else(String::new, |error| text::about(text::t("the-file"), &error.message))
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
    let is_dry_run = form.get("run") != "import";
    let done = match rows_of(&form, console.iam.now()) {
        Ok(rows) => {
            // Each row is as much work as a request.
            console.count_rows(&signed_in.caller, rows.len()).await?;
            import(&console, &signed_in, (is_dry_run, format_of(&form)), rows).await
        }
        Err(error) => Err(error),
    };
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

/// Returns the format that is chosen: CSV, if none is.
fn format_of(form: &Form) -> Format {
    let chosen = all_formats().into_iter().find(|(word, ..)| *word == form.get("format"));
    chosen.map_or(Format::Csv, |(.., format)| format)
}

/// Reads the rows of a form.
fn rows_of(form: &Form, now: Timestamp) -> Result<Vec<FileRow>, Error> {
    let unread = |error: ReadError| match error {
        ReadError::Malformed { message, .. } => Error::field("csv", message),
        ReadError::Input(error) => Error::field("csv", error.to_string()),
    };
    let source = Source { now, ..Source::default() };
    let file = read(format_of(form), form.get("csv").as_bytes(), &source).map_err(unread)?;
    let mut rows = file.take(MAX_ROWS + 1).collect::<Result<Vec<FileRow>, ReadError>>().map_err(unread)?;
    if rows.len() > MAX_ROWS {
        return Err(Error::field("csv", format!("{} {MAX_ROWS}", text::t("too-many-rows"))));
    }
    // The line of the first row in the file, of which this may be a part.
    let first_line: u64 = form.get("firstLine").parse().unwrap_or(2);
    for row in &mut rows {
        row.line = row.line.saturating_sub(2).saturating_add(first_line);
    }
    Ok(rows)
}

/// Imports rows, or only checks them.
async fn import(
    console: &Console,
    signed_in: &SignedIn,
    (is_dry_run, format): (bool, Format),
    file: Vec<FileRow>,
) -> Result<Done, Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let mut import = iam.users().import(caller)?;
    if is_dry_run {
        import = import.dry_run();
    }
    let (mut rows, mut stopped) = (Vec::new(), String::new());
    for FileRow { line, email, user, .. } in file {
        let left_out = user.as_ref().map_or_else(|_| String::new(), |record| left_out_of(format, record));
        let outcome = match user.and_then(|record| user_of(format, record)) {
            Ok(user) if user.password_hash.is_some() => add(&mut import, user).await,
            Ok(user) if user.status != UserStatus::Active => {
                Ok(Err(text_of(&[FieldError::new("status", text::t("row-only-active"))])))
            }
            Ok(user) if !user.attributes.is_empty() => {
                Ok(Err(text_of(&[FieldError::new("attributes", text::t("row-attributes-need-hash"))])))
            }
            Ok(user) if is_dry_run => check_invitation(iam, caller, &mut import, user).await,
            Ok(user) => invite(iam, caller, user).await,
            Err(error) => Ok(Err(text_of(&[error]))),
        };
        match outcome {
            Ok(outcome) => rows.push(Row { line, email, outcome, left_out }),
            Err(Error::Unauthenticated(reason)) => return Err(reason.into()),
            Err(error) => {
                stopped = text::of_service(&error.to_string());
                rows.push(Row { line, email, outcome: Err(text::t("row-not-tried").to_owned()), left_out });
                break;
            }
        }
    }
    Ok(Done { base: console.base().to_owned(), is_dry_run, rows, stopped })
}

/// Returns the user of a record. Only the operator maps roles and groups, and takes over verified e-mails.
fn user_of(format: Format, record: Record) -> Result<ImportedUser, FieldError> {
    let is_own = format == Format::Csv;
    for (field, names) in [("roles", &record.roles), ("groups", &record.groups)] {
        if is_own && !names.is_empty() {
            return Err(FieldError::new(field, text::t("row-of-operator")));
        }
    }
    let password_hash = match record.password {
        ForeignPassword::Hash(hash) => Some(hash),
        ForeignPassword::None => None,
        ForeignPassword::Unusable(why) => return Err(FieldError::new("passwordHash", why)),
    };
    Ok(ImportedUser {
        password_hash,
        status: record.status,
        external_id: record.foreign_id.filter(|_| is_own),
        is_email_verified: is_own && record.is_email_verified,
        attributes: record.attributes.into_iter().filter(|_| is_own).collect(),
        ..ImportedUser::new(record.email, record.first_name, record.last_name)
    })
}

/// Says what of a record its user does not get. Of another system, that includes what only the operator maps.
fn left_out_of(format: Format, record: &Record) -> String {
    let mut texts = record.left_out.clone();
    if format != Format::Csv {
        let names = [
            ("roles", short_list(record.roles.iter().map(String::as_str))),
            ("groups", short_list(record.groups.iter().map(String::as_str))),
            ("attributes", short_list(record.attributes.keys().map(String::as_str))),
        ];
        texts.extend(
            names.iter().filter(|(_, names)| !names.is_empty()).map(|(kind, names)| format!("{kind}: {names}")),
        );
    }
    texts.join("; ")
}

/// The outcome of a row. The inner result says whether this row is refused; an error holds for the rows after it, too.
type Outcome = Result<Result<Accepted, String>, Error>;

/// Adds a user.
async fn add(import: &mut Import<'_>, user: ImportedUser) -> Outcome {
    match import.add(user).await {
        Ok(Imported::Created(user)) => Ok(Ok(Accepted::Created(user.id))),
        Ok(Imported::Valid) => Ok(Ok(Accepted::Valid)),
        Ok(Imported::AlreadyThere(_)) => outcome_of(Err(Conflict::EmailTaken.into())),
        Ok(Imported::OtherEmail(_)) => outcome_of(Err(Conflict::ExternalIdTaken.into())),
        Err(error) => outcome_of(Err(error)),
    }
}

/// Checks whether a person can be invited.
async fn check_invitation(iam: &Iam, caller: &Caller, check: &mut Import<'_>, user: ImportedUser) -> Outcome {
    // No invitation is made without an address, so the answer to one says whether the caller can invite.
    let refused = match iam.invitations().create(caller, NewInvitation::default()).await {
        Ok(_) | Err(Error::Validation(_)) => None,
        Err(error) => why_not_invited(&error),
    };
    if let Some(text) = refused {
        return Ok(Err(text));
    }
    let user = ImportedUser { password_hash: Some(ANY_HASH.into()), ..user };
    match check.add(user).await {
        Ok(Imported::AlreadyThere(_)) => outcome_of(Err(Conflict::EmailTaken.into())),
        Ok(Imported::OtherEmail(_)) => outcome_of(Err(Conflict::ExternalIdTaken.into())),
        checked => outcome_of(checked.map(|_| Accepted::Invitable)),
    }
}

/// Says why the caller cannot invite the person of a row; `None` for another error.
fn why_not_invited(error: &Error) -> Option<String> {
    match error {
        Error::MailOff => Some(text::t("row-needs-mail").to_owned()),
        Error::Forbidden(_) => Some(error.to_string()),
        _ => None,
    }
}

async fn invite(iam: &Iam, caller: &Caller, user: ImportedUser) -> Outcome {
    let new = NewInvitation {
        email: user.email,
        first_name: Some(user.first_name),
        last_name: Some(user.last_name),
        roles: Vec::new(),
    };
    let made = iam.invitations().create(caller, new).await;
    match made.as_ref().err().and_then(why_not_invited) {
        Some(text) => Ok(Err(text)),
        None => outcome_of(made.map(|invitation| Accepted::Invited(invitation.id))),
    }
}

fn outcome_of(result: Result<Accepted, Error>) -> Outcome {
    match result {
        Ok(accepted) => Ok(Ok(accepted)),
        Err(Error::Validation(errors)) => Ok(Err(text_of(&errors))),
        Err(Error::About { error, .. }) => outcome_of(Err(*error)),
        Err(
            error @ Error::Conflict(
                Conflict::EmailTaken
                | Conflict::EmailOfDeletedUser
                | Conflict::ExternalIdTaken
                | Conflict::ExternalIdIsEmail
                | Conflict::AlreadyInvited,
            ),
        ) => Ok(Err(error.to_string())),
        Err(error) => Err(error),
    }
}

fn text_of(errors: &[FieldError]) -> String {
    let texts: Vec<String> = errors.iter().map(|error| text::about(&error.field, &error.message)).collect();
    texts.join(" ")
}
