//! Webhooks and the audit log.

use iam_core::webhook::EventFormat;

use crate::text::{named, t, t_with};

/// The name of a format of events.
pub(crate) fn event_format(format: &EventFormat) -> &'static str {
    match format {
        EventFormat::Native => t("format-native"),
        EventFormat::Ocsf => t("format-ocsf"),
    }
}

pub(crate) fn unknown_types(types: &str) -> String {
    t_with("unknown-types", [("types", types.into())])
}

/// The answer of the receiver of a webhook to a test.
pub(crate) fn test_result(status: Option<u16>, error: Option<&str>, duration_ms: u32) -> String {
    let duration = ("duration", duration_ms.into());
    let answer = match status {
        Some(status) => t_with("test-answered", [("status", status.into()), duration]),
        None => t_with("test-failed", [duration]),
    };
    match error {
        Some(error) => t_with("test-error", [("answer", answer.into()), ("error", error.into())]),
        None => t_with("test-accepted", [("answer", answer.into())]),
    }
}

/// The words for an action of the log. `None` for one of an application.
pub(crate) fn log_action(action: &str) -> Option<&'static str> {
    named(&log_id("action", action))
}

/// The words for a type of resource in the log. `None` for one of an application.
pub(crate) fn log_resource(resource: &str) -> Option<&'static str> {
    named(&log_id("resource", resource))
}

/// The words for a field of an entry, by the names that lead to it. A field without words has its names.
pub(crate) fn log_field(path: &str) -> String {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut id = String::from("log-field-");
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            id.push('-');
        }
        id.push(letter.to_ascii_lowercase());
    }
    match (named(&id), rest) {
        (Some(words), "") => words.to_owned(),
        (Some(words), rest) => format!("{words}: {rest}"),
        (None, _) => path.to_owned(),
    }
}

/// Returns the id of the words for a code of the log.
pub(in crate::text) fn log_id(what: &str, code: &str) -> String {
    format!("log-{what}-{}", code.to_lowercase().replace('_', "-"))
}

/// How many entries of the log a page shows.
pub(crate) fn entries_shown(count: usize) -> String {
    t_with("entries-shown", [("count", count.into())])
}

/// How many fields of an entry have the same value before and after.
pub(crate) fn fields_unchanged(count: usize) -> String {
    t_with("fields-unchanged", [("count", count.into())])
}

/// The texts of the script of the audit log, by their names.
pub(crate) fn audit_texts() -> [(&'static str, &'static str); 43] {
    [
        ("following", t("audit-text-following")),
        ("news", t("audit-text-news")),
        ("gap", t("audit-text-gap")),
        ("long", t("audit-text-long")),
        ("stopped", t("audit-text-stopped")),
        ("ended", t("audit-text-ended")),
        ("good", t("audit-text-good")),
        ("bad", t("audit-text-bad")),
        ("unknown", t("audit-text-unknown")),
        ("checking", t("audit-text-checking")),
        ("log-good", t("audit-text-log-good")),
        ("log-first", t("audit-text-log-first")),
        ("log-kept", t("audit-text-log-kept")),
        ("log-compared", t("audit-text-log-compared")),
        ("log-waiting", t("audit-text-log-waiting")),
        ("entry-differs", t("audit-text-entry-differs")),
        ("mark-good", t("audit-text-mark-good")),
        ("mark-bad", t("audit-text-mark-bad")),
        ("mark-unknown", t("audit-text-mark-unknown")),
        ("how", t("audit-text-how")),
        ("included", t("audit-text-included")),
        ("not-included", t("audit-text-not-included")),
        ("signed", t("audit-text-signed")),
        ("signed-first", t("audit-text-signed-first")),
        ("not-signed", t("audit-text-not-signed")),
        ("signature-unknown", t("audit-text-signature-unknown")),
        ("other-key", t("audit-text-other-key")),
        ("grown", t("audit-text-grown")),
        ("not-grown", t("audit-text-not-grown")),
        ("personal", t("audit-text-personal")),
        ("not-personal", t("audit-text-not-personal")),
        ("erased", t("audit-text-erased")),
        ("shown", t("audit-text-shown")),
        ("not-shown", t("audit-text-not-shown")),
        ("protected", t("audit-text-protected")),
        ("newer", t("audit-text-newer")),
        ("first", t("audit-text-first")),
        ("limit-truth", t("audit-text-limit-truth")),
        ("limit-others", t("audit-text-limit-others")),
        ("limit-script", t("audit-text-limit-script")),
        ("evidence", t("audit-text-evidence")),
        ("operator", t("audit-text-operator")),
        ("insecure", t("audit-text-insecure")),
    ]
}
