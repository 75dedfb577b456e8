//! The result of each record of an import, as one line of JSON, and the counts at the end.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use iam_core::text::controls_text;
use iam_core::{FieldError, UserId};
use iam_import::{NOT_SHOWN, Row, may_be_hash, shown_name};
use serde_json::{Map, Value, json};

use crate::command::document::name_of;
use crate::failure::Failure;

/// How many characters of a text of the file are shown.
const MAX_TEXT: usize = 320;

/// How many characters an e-mail has at most, and an identifier or a username. A longer text is another value.
const MAX_EMAIL: usize = 254;
const MAX_IDENTIFIER: usize = 255;

/// After how many records a terminal shows how far the import is.
const PROGRESS: u64 = 100;

/// How many things that are left out are counted, each with its name. Their names are those of the files.
const MAX_COUNTED: usize = 1_000;

/// How many of them, those of the most users, are in the summary.
const MAX_SHOWN: usize = 50;

/// Moves to the beginning of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// What became of a record.
pub(super) enum Outcome {
    Created(UserId),
    WouldCreate,
    AlreadyThere(UserId),
    /// The user with the identifier of the record has another e-mail.
    OtherEmail(UserId),
    Refused(Vec<FieldError>),
}

pub(super) struct Report {
    output: Box<dyn Write + Send>,
    /// The file that was created.
    file: Option<PathBuf>,
    is_progress_shown: bool,
    is_dry_run: bool,
    created: u64,
    already_there: u64,
    /// Those of them that have another e-mail.
    other_email: u64,
    refused: u64,
    /// The users of each thing that is left out.
    left_out: BTreeMap<String, u64>,
}

/// Where a record stands, and what the report shows of it.
pub(super) struct Subject {
    line: u64,
    email: String,
    foreign_id: Option<String>,
    username: Option<String>,
}

impl Subject {
    pub(super) fn of(row: &Row) -> Self {
        let identifier = |text: &str| shown_value(text, MAX_IDENTIFIER);
        Self {
            line: row.line,
            email: shown_value(&row.email, MAX_EMAIL),
            foreign_id: row.foreign_id.as_deref().map(identifier),
            username: row.username.as_deref().map(identifier),
        }
    }
}

impl Report {
    /// Writes the results to a new file, which only its owner can read, or to the standard output. An earlier report stays
    /// as it is: it can be the only one with the results of an import that was killed.
    pub(super) fn new(file: Option<&Path>, is_dry_run: bool) -> Result<Self, Failure> {
        let output: Box<dyn Write + Send> = match file {
            Some(file) => {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
                // Without a buffer: each line is there when its user is.
                Box::new(options.open(file).map_err(|error| uncreated(file, &error))?)
            }
            None => Box::new(io::stdout()),
        };
        let is_progress_shown = io::stderr().is_terminal() && (file.is_some() || !io::stdout().is_terminal());
        Ok(Self {
            output,
            file: file.map(Path::to_path_buf),
            is_progress_shown,
            is_dry_run,
            created: 0,
            already_there: 0,
            other_email: 0,
            refused: 0,
            left_out: BTreeMap::new(),
        })
    }

    /// Removes the file if it has no line: the next run can have the same one.
    pub(super) fn abandon(self) {
        let is_empty = self.rows() == 0;
        if let Some(file) = self.file.filter(|_| is_empty) {
            // The failure of the import is the one to report.
            let _ = fs::remove_file(file);
        }
    }

    /// Counts what of a user is left out: each role, group and attribute that no rule names, and the other kinds.
    pub(super) fn count_left_out(&mut self, left_out: &[String], unmapped: &[String]) {
        let kinds = left_out.iter().filter_map(|text| text.split(':').next());
        let others = kinds.filter(|kind| !["roles", "clientRoles", "groups", "attributes"].contains(kind));
        for name in others.chain(unmapped.iter().map(String::as_str)) {
            let name = shown(name);
            if self.left_out.len() < MAX_COUNTED || self.left_out.contains_key(&name) {
                *self.left_out.entry(name).or_default() += 1;
            }
        }
    }

    /// Returns the numbers of users of what is left out: those of the most users, and how many more things
    /// there are at least.
    fn left_out(&self) -> Map<String, Value> {
        let mut counts: Vec<(&String, u64)> = self.left_out.iter().map(|(name, users)| (name, *users)).collect();
        counts.sort_by_key(|(_, users)| std::cmp::Reverse(*users));
        let mut shown: Map<String, Value> =
            counts.iter().take(MAX_SHOWN).map(|(name, users)| ((*name).clone(), json!(users))).collect();
        if let Some(more) = counts.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            shown.insert("and more".to_owned(), json!(more));
        }
        shown
    }

    /// Writes the result of a record.
    pub(super) fn add(&mut self, subject: &Subject, outcome: &Outcome, left_out: &[String]) -> Result<(), Failure> {
        let mut line = json!({ "row": self.rows() + 1, "line": subject.line, "email": subject.email });
        let mut set = |name: &str, value: Value| {
            if let Some(line) = line.as_object_mut() {
                line.insert(name.to_owned(), value);
            }
        };
        for (name, text) in [("foreignId", &subject.foreign_id), ("username", &subject.username)] {
            if let Some(text) = text {
                set(name, json!(text));
            }
        }
        match outcome {
            Outcome::Created(id) => {
                self.created += 1;
                set("outcome", json!("CREATED"));
                set("id", json!(id));
            }
            Outcome::WouldCreate => {
                self.created += 1;
                set("outcome", json!("WOULD_CREATE"));
            }
            Outcome::AlreadyThere(id) | Outcome::OtherEmail(id) => {
                self.already_there += 1;
                set("outcome", json!("ALREADY_THERE"));
                set("id", json!(id));
                if matches!(outcome, Outcome::OtherEmail(_)) {
                    self.other_email += 1;
                    set("otherEmail", json!(true));
                }
            }
            Outcome::Refused(errors) => {
                self.refused += 1;
                set("outcome", json!("REFUSED"));
                let named =
                    |error: &FieldError| json!({ "field": shown_name(&error.field), "message": shown(&error.message) });
                set("reasons", errors.iter().map(named).collect());
            }
        }
        if !left_out.is_empty() && !matches!(outcome, Outcome::Refused(_)) {
            set("leftOut", left_out.iter().map(|text| shown(text)).collect());
        }
        // One write for a line, so that a kill loses a whole line or nothing.
        self.output.write_all(format!("{line}\n").as_bytes()).map_err(|error| unwritten(&error))?;
        self.show_progress();
        Ok(())
    }

    fn rows(&self) -> u64 {
        self.created + self.already_there + self.refused
    }

    /// A failure to write to the terminal is ignored.
    fn show_progress(&self) {
        if self.is_progress_shown && self.rows().is_multiple_of(PROGRESS) {
            let _ = write!(io::stderr(), "{CLEAR_LINE}{} users, {} refused", self.rows(), self.refused);
        }
    }

    /// Writes all results, and returns the counts as one line of JSON with the number of records that were refused.
    pub(super) fn end(mut self) -> Result<(String, u64), Failure> {
        if self.is_progress_shown {
            let _ = write!(io::stderr(), "{CLEAR_LINE}");
        }
        self.output.flush().map_err(|error| unwritten(&error))?;
        let created = if self.is_dry_run { "wouldCreate" } else { "created" };
        let mut counts = json!({ created: self.created, "alreadyThere": self.already_there, "refused": self.refused });
        if let Some(counts) = counts.as_object_mut() {
            if self.other_email > 0 {
                counts.insert("otherEmail".to_owned(), json!(self.other_email));
            }
            if !self.left_out.is_empty() {
                counts.insert("leftOut".to_owned(), self.left_out().into());
            }
        }
        Ok((counts.to_string(), self.refused))
    }
}

fn uncreated(file: &Path, error: &io::Error) -> Failure {
    let name = name_of(file);
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Failure(format!("the report {name} exists already: name a file that does not exist"));
    }
    Failure::new(format!("writing {name}"), error)
}

fn unwritten(error: &io::Error) -> Failure {
    Failure::new("writing the results (import the same files again)", error)
}

/// Returns a value of a record for the report. A text that may be a hash, that is longer than such a value, or that has
/// several lines is not shown: the columns of the file were swapped, or a quotation mark is missing.
fn shown_value(text: &str, longest: usize) -> String {
    let is_other = may_be_hash(text) || text.contains(['\r', '\n']) || text.chars().nth(longest).is_some();
    if is_other { NOT_SHOWN.to_owned() } else { shown(text) }
}

/// Returns a text of the file without characters that change what a terminal shows, and not longer than is useful.
fn shown(text: &str) -> String {
    text.chars().take(MAX_TEXT).map(|character| if controls_text(character) { '\u{fffd}' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file is read while the report is open, as after a kill.
    #[test]
    fn a_report_is_complete_after_each_line_and_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report");
        let mut report = Report::new(Some(&file), false).unwrap();
        let subject = Subject {
            line: 1,
            email: "a@example.com".into(),
            foreign_id: Some("7".into()),
            username: Some("a".into()),
        };
        let id: UserId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        report.add(&subject, &Outcome::AlreadyThere(id), &[]).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let line: Value = serde_json::from_str(written.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!(
            (&line["outcome"], &line["foreignId"], &line["username"], &line["id"]),
            (&json!("ALREADY_THERE"), &json!("7"), &json!("a"), &json!(id))
        );
        #[cfg(unix)]
        {
            let permissions = std::fs::metadata(&file).unwrap().permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, 0o600);
        }
        let Err(failure) = Report::new(Some(&file), true) else { panic!() };
        assert!(failure.to_string().contains("exists already"), "{failure}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    }

    #[test]
    fn the_summary_counts_the_users_of_what_is_left_out() {
        let mut report = Report::new(None, true).unwrap();
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<String>>();
        report.count_left_out(
            &texts(&["groups: /a, /vip", "second factors: 2"]),
            &texts(&["groups: /a", "groups: /vip"]),
        );
        report.count_left_out(&texts(&["groups: /vip", "second factors: 1"]), &texts(&["groups: /vip"]));
        let counts = json!({ "groups: /a": 1, "groups: /vip": 2, "second factors": 2 });
        assert_eq!(Value::Object(report.left_out()), counts);
        for number in 0..2 * MAX_COUNTED {
            report.count_left_out(&[], &[format!("groups: /{number}")]);
        }
        let found = report.left_out();
        assert_eq!((found.len(), &found["groups: /vip"]), (MAX_SHOWN + 1, &json!(2)));
        assert_eq!(found["and more"], json!(MAX_COUNTED - MAX_SHOWN));
    }

    #[test]
    fn a_report_without_a_line_does_not_stay() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report");
        Report::new(Some(&file), false).unwrap().abandon();
        assert!(!file.exists());
        let mut report = Report::new(Some(&file), false).unwrap();
        let subject = Subject { line: 1, email: "a@example.com".into(), foreign_id: None, username: None };
        report.add(&subject, &Outcome::WouldCreate, &[]).unwrap();
        report.abandon();
        assert!(file.exists());
    }

    /// The source has renamed the e-mail of the user, or another source has the same identifier.
    #[test]
    fn a_user_with_another_email_is_marked_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report");
        let mut report = Report::new(Some(&file), false).unwrap();
        let subject = || Subject { line: 1, email: "a@example.com".into(), foreign_id: None, username: None };
        let id: UserId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        report.add(&subject(), &Outcome::AlreadyThere(id), &[]).unwrap();
        report.add(&subject(), &Outcome::OtherEmail(id), &[]).unwrap();
        let written = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&lines[0]["otherEmail"], &lines[1]["otherEmail"]), (&Value::Null, &json!(true)));
        assert_eq!(lines[1]["outcome"], "ALREADY_THERE");
        let (counts, _) = report.end().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&counts).unwrap(),
            json!({ "created": 0, "alreadyThere": 2, "otherEmail": 1, "refused": 0 })
        );
    }

    #[test]
    fn a_value_of_another_column_is_not_shown() {
        let long = format!("{}@example.com", "a".repeat(MAX_EMAIL));
        for text in ["$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "a@example.com\nb", &long] {
            assert_eq!(shown_value(text, MAX_EMAIL), NOT_SHOWN, "{text}");
        }
        for text in ["", "grace", "grace@example.com"] {
            assert_eq!(shown_value(text, MAX_EMAIL), text);
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report");
        let mut report = Report::new(Some(&file), true).unwrap();
        let subject = Subject { line: 1, email: String::new(), foreign_id: None, username: None };
        let error = FieldError::new("attributes.$2b$10$hunter2", "is wrong");
        report.add(&subject, &Outcome::Refused(vec![error]), &[]).unwrap();
        assert!(!std::fs::read_to_string(&file).unwrap().contains("hunter2"));
    }

    #[test]
    fn a_text_of_the_file_cannot_change_what_a_terminal_shows() {
        assert_eq!(shown("a\u{1b}[2J\u{9b}\u{202e}b\n"), "a\u{fffd}[2J\u{fffd}\u{fffd}b\u{fffd}");
        assert_eq!(shown(&"é".repeat(MAX_TEXT + 1)).chars().count(), MAX_TEXT);
    }
}
