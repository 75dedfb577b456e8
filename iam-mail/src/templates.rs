//! The texts of messages.

use std::path::Path;

use iam_model::brand::Brand;
use iam_model::clock::Timestamp;
use iam_model::link::LinkPurpose;
use iam_model::mail::{Mail, MailAccount, MailActor, MailKind};
use iam_model::secret::OneTimeCode;
use icu_normalizer::ComposingNormalizerBorrowed;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

/// The templates of messages, in the language of [minijinja](https://docs.rs/minijinja), which is that of Jinja2.
///
/// Each kind of message has three: `verify.subject.txt`, `verify.txt` and `verify.html`, for instance. They know `name`
/// (of the person), `tenant`, `link`, `code` (in `login`), `expires_at`, `to`, `kind`, `console`, `brand` (the name of the
/// installation), `accent` (a colour on which white text can be read), and `accounts`, the list of all accounts that the
/// message is about, each with `name`, `tenant`, `link`, `code` and `expires_at`. In `impersonation-started`, `actors` is
/// the list of those who act as the person, each with `name` and `reason`; elsewhere it is empty. Values in the HTML are
/// escaped.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
    console: Option<String>,
    brand: Option<String>,
    accent: String,
}

/// The colour of buttons without a brand.
const ACCENT: &str = "#1d4ed8";

/// Why a template cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the template {name}: {cause}")]
pub struct InvalidTemplate {
    name: String,
    cause: String,
}

impl InvalidTemplate {
    fn new(name: &str, cause: impl ToString) -> Self {
        Self { name: name.to_owned(), cause: cause.to_string() }
    }
}

/// The text of a message.
pub(crate) struct Text {
    pub(crate) subject: String,
    pub(crate) plain: String,
    pub(crate) html: String,
}

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../templates/", $name)))),+]
    };
}

const DEFAULTS: &[(&str, &str)] = templates![
    "layout.html",
    "verify.subject.txt",
    "verify.txt",
    "verify.html",
    "reset.subject.txt",
    "reset.txt",
    "reset.html",
    "invitation.subject.txt",
    "invitation.txt",
    "invitation.html",
    "login.subject.txt",
    "login.txt",
    "login.html",
    "password-changed.subject.txt",
    "password-changed.txt",
    "password-changed.html",
    "email-changed.subject.txt",
    "email-changed.txt",
    "email-changed.html",
    "new-login-blocked.subject.txt",
    "new-login-blocked.txt",
    "new-login-blocked.html",
    "factor-added.subject.txt",
    "factor-added.txt",
    "factor-added.html",
    "factor-removed.subject.txt",
    "factor-removed.txt",
    "factor-removed.html",
    "recovery-codes-replaced.subject.txt",
    "recovery-codes-replaced.txt",
    "recovery-codes-replaced.html",
    "recovery-code-used.subject.txt",
    "recovery-code-used.txt",
    "recovery-code-used.html",
    "api-key-created.subject.txt",
    "api-key-created.txt",
    "api-key-created.html",
    "identity-linked.subject.txt",
    "identity-linked.txt",
    "identity-linked.html",
    "impersonation-started.subject.txt",
    "impersonation-started.txt",
    "impersonation-started.html",
    "access-requested.subject.txt",
    "access-requested.txt",
    "access-requested.html",
    "access-approved.subject.txt",
    "access-approved.txt",
    "access-approved.html",
    "access-denied.subject.txt",
    "access-denied.txt",
    "access-denied.html",
    "access-ended.subject.txt",
    "access-ended.txt",
    "access-ended.html",
    "access-activated.subject.txt",
    "access-activated.txt",
    "access-activated.html",
    "tenant-deletion-scheduled.subject.txt",
    "tenant-deletion-scheduled.txt",
    "tenant-deletion-scheduled.html",
    "tenant-deletion-cancelled.subject.txt",
    "tenant-deletion-cancelled.txt",
    "tenant-deletion-cancelled.html",
];

/// The values that templates know.
#[derive(Serialize)]
struct Values<'a> {
    kind: &'static str,
    to: &'a str,
    console: Option<&'a str>,
    brand: Option<&'a str>,
    accent: &'a str,
    #[serde(flatten)]
    first: Account<'a>,
    accounts: Vec<Account<'a>>,
}

#[derive(Clone, Default, Serialize)]
struct Account<'a> {
    name: String,
    tenant: String,
    link: Option<&'a str>,
    code: Option<&'a str>,
    expires_at: Option<String>,
    actors: Vec<Actor>,
}

#[derive(Clone, Serialize)]
struct Actor {
    name: String,
    reason: String,
}

impl Templates {
    /// Returns the templates of this crate, in English.
    ///
    /// # Errors
    ///
    /// None, unless a template of this crate is invalid, which a test would find.
    pub fn english() -> Result<Self, InvalidTemplate> {
        Self::with(|_| Ok(None))
    }

    /// Returns the templates of this crate, each replaced by the file of the same name in a directory, if there is one.
    ///
    /// # Errors
    ///
    /// [`InvalidTemplate`] if a file cannot be read, has an unknown name, or is not a template for its message.
    pub fn from_directory(directory: &Path) -> Result<Self, InvalidTemplate> {
        let shown = directory.display().to_string();
        for file in std::fs::read_dir(directory).map_err(|cause| InvalidTemplate::new(&shown, cause))? {
            let name = file.map_err(|cause| InvalidTemplate::new(&shown, cause))?.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') && !DEFAULTS.iter().any(|(known, _)| *known == name) {
                return Err(InvalidTemplate::new(&name, "there is no template with this name"));
            }
        }
        Self::with(|name| match std::fs::read_to_string(directory.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(InvalidTemplate::new(name, cause)),
        })
    }

    /// Returns the templates with the address of the console, such as `https://iam.example.com/console`, to which the
    /// messages about access requests lead. Without it, they have no link.
    #[must_use]
    pub fn with_console(self, address: impl Into<String>) -> Self {
        let address: String = address.into();
        Self { console: Some(address.trim_end_matches('/').to_owned()), ..self }
    }

    /// Returns the templates with the name and the colour of a brand. Its logo is in no message: mail programs show no SVG,
    /// and load no pictures without being asked.
    #[must_use]
    pub fn with_brand(self, brand: &Brand) -> Self {
        let accent = brand.accent().map_or_else(|| ACCENT.to_owned(), |accent| accent.light().to_string());
        Self { brand: brand.name().map(str::to_owned), accent, ..self }
    }

    fn with(replaced: impl Fn(&str) -> Result<Option<String>, InvalidTemplate>) -> Result<Self, InvalidTemplate> {
        let mut environment = Environment::new();
        // A misspelt name must be found at the start, and not by the person who gets a message without a link.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|name| match name.ends_with(".html") {
            true => AutoEscape::Html,
            false => AutoEscape::None,
        });
        for (name, text) in DEFAULTS {
            let text = replaced(name)?.unwrap_or_else(|| (*text).to_owned());
            let added = environment.add_template_owned(*name, text);
            added.map_err(|cause| InvalidTemplate::new(name, describe(&cause)))?;
        }
        let templates = Self { environment, console: None, brand: None, accent: ACCENT.to_owned() };
        for kind in MailKind::ALL {
            templates.check(*kind)?;
        }
        Ok(templates)
    }

    /// Renders a sample of a message. A message with a link must show it, and so must one with a code.
    fn check(&self, kind: MailKind) -> Result<(), InvalidTemplate> {
        let link = LinkPurpose::of(kind).map(|_| "sample-link");
        let code = (kind == MailKind::Login).then_some("sample-code");
        let expires_at = link.map(|_| "2026-01-31 09:15 UTC".to_owned());
        let actor = || Actor { name: "Grace Hopper".to_owned(), reason: "Ticket 4711".to_owned() };
        let actors = (kind == MailKind::ImpersonationStarted).then(actor).into_iter().collect();
        let (name, tenant) = ("Ada Lovelace".to_owned(), "Acme".to_owned());
        let account = Account { name, tenant, link, code, expires_at, actors };
        let (to, console, first) = ("ada@example.com", None, account.clone());
        let (brand, accent) = (Some("Acme"), ACCENT);
        let values = Values { kind: kind.as_str(), to, console, brand, accent, first, accounts: vec![account] };
        let text = self.fill(kind, &values)?;
        let name = file_name(kind);
        if text.subject.is_empty() {
            return Err(InvalidTemplate::new(&format!("{name}.subject.txt"), "the subject is empty"));
        }
        for (name, body) in [(format!("{name}.txt"), &text.plain), (format!("{name}.html"), &text.html)] {
            for (what, shown) in [("link", link), ("code", code)] {
                if shown.is_some_and(|shown| !body.contains(shown)) {
                    return Err(InvalidTemplate::new(&name, format!("does not show the {what}")));
                }
            }
        }
        Ok(())
    }

    /// Returns the text of a message.
    pub(crate) fn render(&self, mail: &Mail) -> Result<Text, InvalidTemplate> {
        fn account(account: &MailAccount) -> Account<'_> {
            Account {
                name: without_links(&account.name),
                tenant: without_links(&account.tenant),
                link: account.link.as_ref().map(|link| link.url.expose()),
                code: account.link.as_ref().and_then(|link| link.code.as_ref()).map(OneTimeCode::expose),
                expires_at: account.link.as_ref().map(|link| shown(link.expires_at)),
                actors: account.actors.iter().map(actor).collect(),
            }
        }
        fn actor(actor: &MailActor) -> Actor {
            Actor { name: without_links(&actor.name), reason: without_links(&actor.reason) }
        }
        let accounts: Vec<Account<'_>> = mail.accounts.iter().map(account).collect();
        let first = accounts.first().cloned().unwrap_or_default();
        let (to, console) = (mail.to.as_str(), self.console.as_deref());
        let (kind, brand, accent) = (mail.kind.as_str(), self.brand.as_deref(), &*self.accent);
        self.fill(mail.kind, &Values { kind, to, console, brand, accent, first, accounts })
    }

    fn fill(&self, kind: MailKind, values: &Values<'_>) -> Result<Text, InvalidTemplate> {
        let name = file_name(kind);
        let render = |extension: &str| {
            let name = format!("{name}.{extension}");
            let template =
                self.environment.get_template(&name).map_err(|cause| InvalidTemplate::new(&name, describe(&cause)))?;
            template.render(Serde(values)).map_err(|cause| InvalidTemplate::new(&name, describe(&cause)))
        };
        let subject = render("subject.txt")?.split_whitespace().collect::<Vec<_>>().join(" ");
        // `=?` begins an encoded word (RFC 2047), which a mail program would decode: to a link in a name, for instance.
        let subject = subject.replace("=?", "= ?");
        Ok(Text { subject, plain: render("txt")?, html: render("html")? })
    }
}

fn file_name(kind: MailKind) -> String {
    kind.as_str().to_lowercase().replace('_', "-")
}

/// Describes an error without the values of the message, which contain the link.
fn describe(error: &minijinja::Error) -> String {
    let line = error.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    format!("{}{line}", error.kind())
}

fn shown(moment: Timestamp) -> String {
    moment.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// The characters that join the parts of an address of the web or of mail. U+3002 is the full stop of other scripts.
const JOINS: [char; 5] = ['.', ':', '/', '@', '\u{3002}'];

/// Whether a mail program may read a character as one that joins: it maps characters to their compatible ones first
/// (UTS 46 §4).
fn joins(letter: char) -> bool {
    ComposingNormalizerBorrowed::new_nfkc().normalize(letter.encode_utf8(&mut [0; 4])).contains(JOINS)
}

/// Returns a text in which a mail program finds no link: a name, or a reason.
///
/// A stranger chooses the names with which it registers the address of a victim. Without this, it could let the service
/// send its advertisement.
fn without_links(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    let mut previous = None;
    while let Some(letter) = letters.next() {
        let is_inside = |letter: Option<&char>| letter.is_some_and(|letter| !letter.is_whitespace());
        let is_between = is_inside(previous.as_ref()) && is_inside(letters.peek());
        shown.push(if is_between && joins(letter) { '\u{b7}' } else { letter });
        previous = Some(letter);
    }
    shown
}

#[cfg(test)]
mod tests {
    use iam_model::clock::Clock as _;
    use iam_model::clock::testing::FixedClock;
    use iam_model::id::MessageId;
    use iam_model::mail::{MailLink, Recipient};
    use mail_parser::MessageParser;
    use tempfile::TempDir;
    use uuid::Uuid;

    use super::*;
    use crate::message::build;

    fn mail(kind: MailKind, accounts: Vec<MailAccount>) -> Mail {
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        Mail::new(id, kind, Recipient::on_record("ada@example.com".parse().unwrap()), accounts)
    }

    fn account(name: &str, tenant: &str, url: Option<&str>) -> MailAccount {
        let expires_at = FixedClock::at("2026-01-31T09:15:59Z").now();
        MailAccount::new(name.into(), tenant.into(), url.map(|url| MailLink::new(url.into(), expires_at)))
    }

    fn replacing(files: &[(&str, &str)]) -> Result<Templates, String> {
        let directory = TempDir::new().unwrap();
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
        Templates::from_directory(directory.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_message_greets_the_person_and_shows_its_links() {
        let templates = Templates::english().unwrap();
        for kind in MailKind::ALL {
            let url = LinkPurpose::of(*kind).map(|_| "https://a.example/x?t=1&u=2");
            let text = templates.render(&mail(*kind, vec![account("Ada Lovelace", "Acme", url)])).unwrap();
            assert!(text.plain.starts_with("Hello Ada Lovelace,\n"), "{}", text.plain);
            assert!(text.html.contains("Hello Ada Lovelace,") && text.html.starts_with("<!doctype html>"));
            assert!(!text.subject.contains('\n') && !text.subject.is_empty());
            if let Some(url) = url {
                assert!(text.plain.contains(&format!("\n{url}\n")) && text.plain.contains("2026-01-31 09:15 UTC"));
                assert!(text.html.contains("https:&#x2f;&#x2f;a.example&#x2f;x?t=1&amp;u=2"), "{}", text.html);
            }
        }
    }

    #[test]
    fn a_message_about_a_page_of_the_console_leads_there_if_its_address_is_known() {
        let kinds = [
            (MailKind::AccessRequested, "/access-requests?show=to-decide"),
            (MailKind::AccessApproved, "/access-requests"),
            (MailKind::AccessDenied, "/access-requests"),
            (MailKind::AccessEnded, "/access-requests"),
            (MailKind::AccessActivated, "/access-requests?show=all"),
            (MailKind::TenantDeletionScheduled, "/tenant"),
            (MailKind::TenantDeletionCancelled, "/tenant"),
        ];
        let plain = Templates::english().unwrap();
        let linked = Templates::english().unwrap().with_console("https://a.example/console/");
        for (kind, path) in kinds {
            let mail = mail(kind, vec![account("Ada", "Acme", None)]);
            let text = linked.render(&mail).unwrap();
            assert!(text.plain.contains(&format!("\n\nhttps://a.example/console{path}\n\n")), "{}", text.plain);
            assert!(text.html.contains("https:&#x2f;&#x2f;a.example&#x2f;console"), "{}", text.html);
            let text = plain.render(&mail).unwrap();
            assert!(!text.plain.contains("console/") && !text.html.contains("href"), "{}", text.html);
            assert!(!text.plain.contains("\n\n\n") && !text.plain.contains("none"), "{}", text.plain);
        }
    }

    #[test]
    fn every_message_has_the_name_and_the_colour_of_the_brand() {
        let brand = Brand::default().with_name("Acme <b>").unwrap().with_accent("#7c3aed").unwrap();
        let branded = Templates::english().unwrap().with_brand(&brand);
        for kind in MailKind::ALL {
            let url = LinkPurpose::of(*kind).map(|_| "https://a.example/1");
            let mail = mail(*kind, vec![account("Ada", "North", url)]);
            let text = branded.render(&mail).unwrap();
            assert!(text.plain.ends_with("\n\n-- \nAcme <b>"), "{}", text.plain);
            assert!(text.html.contains(">Acme &lt;b&gt;</p>") && !text.html.contains(ACCENT), "{}", text.html);
            assert!(text.html.contains("3px solid #7c3aed"), "{}", text.html);
            let has_button = text.html.contains("background:#7c3aed;color:#fff");
            assert_eq!(has_button, url.is_some(), "{}", text.html);
            let text = Templates::english().unwrap().render(&mail).unwrap();
            assert!(!text.plain.contains("-- ") && !text.html.contains("3px solid"), "{}", text.plain);
            assert_eq!(text.html.contains(&format!("background:{ACCENT};color:#fff")), url.is_some(), "{}", text.html);
        }
    }

    #[test]
    fn an_invitation_greets_a_person_without_a_name() {
        let sent = account("", "Acme", Some("https://a.example/1"));
        let text = Templates::english().unwrap().render(&mail(MailKind::Invitation, vec![sent])).unwrap();
        assert!(text.plain.starts_with("Hello,\n") && text.html.contains("Hello,"), "{}", text.plain);
    }

    #[test]
    fn a_message_about_several_accounts_has_a_link_for_each() {
        let accounts = vec![
            account("Ada", "Acme", Some("https://a.example/1")),
            account("Ada", "Other", Some("https://a.example/2")),
        ];
        let text = Templates::english().unwrap().render(&mail(MailKind::Reset, accounts)).unwrap();
        for line in ["Acme:\nhttps://a.example/1\n", "Other:\nhttps://a.example/2\n", "Each link works until"] {
            assert!(text.plain.contains(line), "{}", text.plain);
        }
    }

    #[test]
    fn a_message_that_logs_in_has_a_code_and_a_link_for_each_account() {
        let with_code = |tenant: &str, code: &str| {
            let mut account = account("Ada", tenant, Some("https://a.example/1"));
            account.link = account.link.map(|link| link.with_code(code.into()));
            account
        };
        let accounts = vec![with_code("Acme", "01234567"), with_code("Other", "76543210")];
        let text = Templates::english().unwrap().render(&mail(MailKind::Login, accounts)).unwrap();
        for line in ["Acme:\n01234567\nhttps://a.example/1\n", "Other:\n76543210\n", "until 2026-01-31 09:15 UTC"] {
            assert!(text.plain.contains(line), "{}", text.plain);
        }
        assert!(text.html.contains(">01234567<") && text.html.contains(">76543210<"), "{}", text.html);
        assert!(!text.subject.contains("0123"));
    }

    #[test]
    fn names_are_escaped_and_contain_no_links() {
        let sent = account("<b>Win</b> at https://evil.example/now", "evil.example", Some("https://a.example/1"));
        let text = Templates::english().unwrap().render(&mail(MailKind::Verify, vec![sent])).unwrap();
        for body in [&text.subject, &text.plain, &text.html] {
            assert!(!body.contains("evil.example") && !body.contains("://evil"), "{body}");
        }
        assert!(text.html.contains("&lt;b&gt;Win"));
        for (name, expected) in [
            ("Dr. Ada O'Neil-Smith", "Dr. Ada O'Neil-Smith"),
            ("Acme Inc.", "Acme Inc."),
            ("booking.com", "booking\u{b7}com"),
            ("booking\u{3002}com", "booking\u{b7}com"),
            ("booking\u{ff0e}com\u{ff0f}now", "booking\u{b7}com\u{b7}now"),
            ("http://a", "http\u{b7}\u{b7}\u{b7}a"),
            ("a@b", "a\u{b7}b"),
            (".x", ".x"),
            ("evil\u{3002}com", "evil\u{b7}com"),
            ("evil\u{ff0e}com", "evil\u{b7}com"),
            ("evil\u{ff61}com", "evil\u{b7}com"),
            ("evil\u{2024}com", "evil\u{b7}com"),
            ("evil\u{fe52}com", "evil\u{b7}com"),
            ("http\u{fe55}//evil", "http\u{b7}\u{b7}\u{b7}evil"),
            ("a\u{fe6b}b", "a\u{b7}b"),
            ("evil\u{2100}d", "evil\u{b7}d"),
        ] {
            assert_eq!(without_links(name), expected);
        }
    }

    #[test]
    fn a_message_about_acting_as_the_person_says_who_does_it_and_why() {
        let actor = |name: &str, reason: &str| MailActor::new(name.to_owned(), reason.to_owned());
        let actors =
            vec![actor("Grace Hopper", "<i>Ticket</i> 4711: see evil.example"), actor("Bob Ross", "Ticket 4712")];
        let sent = account("Ada", "Acme", None).with_actors(actors);
        let templates = Templates::english().unwrap();
        let text = templates.render(&mail(MailKind::ImpersonationStarted, vec![sent])).unwrap();
        let reason = "<i>Ticket<\u{b7}i> 4711: see evil\u{b7}example";
        for line in [format!("\nGrace Hopper, because: {reason}\n"), "\nBob Ross, because: Ticket 4712\n".to_owned()] {
            assert!(text.plain.contains(&line), "{}", text.plain);
        }
        assert!(text.html.contains("Grace Hopper, because: &lt;i&gt;Ticket&lt;"), "{}", text.html);
        assert!(!text.html.contains("<i>") && !text.html.contains("evil.example"), "{}", text.html);
        let text = templates.render(&mail(MailKind::ImpersonationStarted, vec![account("Ada", "Acme", None)])).unwrap();
        assert!(!text.plain.contains("because") && !text.plain.contains("\n\n\n"), "{}", text.plain);
    }

    #[test]
    fn a_subject_is_one_line() {
        let sent = account("Ada", "Acme\r\nBcc: all", None);
        let text = Templates::english().unwrap().render(&mail(MailKind::PasswordChanged, vec![sent])).unwrap();
        assert_eq!(text.subject, "Your password for Acme Bcc: all was changed");
    }

    #[test]
    fn a_subject_is_shown_as_it_was_written() {
        let templates = Templates::english().unwrap();
        for name in
            ["=?utf-8?b?aHR0cHM6Ly9ldmlsLmNvbQ==?=", "=?utf-8?q?evil=2Ecom?=", "é =?utf-8?q?evil=2Ecom?=", "Zoë"]
        {
            let mail = mail(MailKind::PasswordChanged, vec![account("Ada", name, None)]);
            let message = build(&"no-reply@example.com".parse().unwrap(), &templates, &mail).unwrap().formatted();
            let shown = MessageParser::default().parse(&message).unwrap().subject().unwrap().to_owned();
            assert_eq!(shown, templates.render(&mail).unwrap().subject);
        }
    }

    #[test]
    fn each_template_can_be_replaced() {
        let templates = replacing(&[("verify.txt", "{{ tenant }}: {{ link }}"), (".keep", "")]).unwrap();
        let text = templates
            .render(&mail(MailKind::Verify, vec![account("Ada", "Acme", Some("https://a.example/1"))]))
            .unwrap();
        assert_eq!(text.plain, "Acme: https://a.example/1");
        assert!(text.subject.starts_with("Confirm"));
    }

    #[test]
    fn a_template_that_cannot_be_used_is_refused_by_its_name() {
        for (file, text, complaint) in [
            ("verify.txt", "{{ link", "the template verify.txt: syntax error in line 1"),
            ("verify.txt", "Hello\n{{ lnik }}", "the template verify.txt: undefined value in line 2"),
            ("verify.txt", "no link", "the template verify.txt: does not show the link"),
            ("reset.html", "no link", "the template reset.html: does not show the link"),
            ("login.txt", "{{ link }}", "the template login.txt: does not show the code"),
            ("verify.subject.txt", " \n", "the template verify.subject.txt: the subject is empty"),
            ("verfy.txt", "{{ link }}", "the template verfy.txt: there is no template with this name"),
        ] {
            assert_eq!(replacing(&[(file, text)]).unwrap_err(), complaint);
        }
        assert!(Templates::from_directory(Path::new("/does/not/exist")).is_err());
    }
}
