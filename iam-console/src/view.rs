//! The common parts of all pages.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse as _, Response};
use iam_axum::{HumanPage, Kind, Problem};
use iam_core::FieldError;
use iam_core::access::Permission;
use iam_core::assignment::Grant;
use iam_core::clock::Timestamp;
use iam_core::session::{AuthenticatedBy, Me};

use crate::assets::ASSETS;
use crate::brand::Look;
use crate::density::Density;
use crate::form::Form;
use crate::query::written;
use crate::state::Console;
use crate::text;
use crate::theme::Theme;

/// The frame of a page: the data of its head and its navigation.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The path of the console, without a slash at its end.
    pub(crate) base: String,
    pub(crate) look: Arc<Look>,
    pub(crate) density: Density,
    pub(crate) theme: Theme,
    /// Whether the page answers a form. Its address may have no page then.
    pub(crate) answers_form: bool,
    /// Who is signed in. `None` on pages that need no session.
    pub(crate) session: Option<FrameSession>,
}

/// The session of a page.
#[derive(Clone, Debug)]
pub(crate) struct FrameSession {
    /// The e-mail of the user. `None` on the page of an error.
    pub(crate) email: Option<String>,
    /// The name of the tenant. `None` if it is not known.
    pub(crate) tenant: Option<String>,
    /// The token of forms.
    pub(crate) form_token: String,
    /// The role assignments of the user. `None` if they are not known: then nothing is hidden.
    pub(crate) grants: Option<Vec<Grant>>,
    /// Until when the session is not restricted; see `Me::enrol_by`.
    pub(crate) enrol_by: Option<Timestamp>,
    /// Who acts as the user, if another person does.
    pub(crate) acting: Option<Acting>,
    /// How many actions on many users or role assignments go on, or have ended unseen.
    pub(crate) unseen_runs: usize,
}

/// A person who acts as the user of a session.
#[derive(Clone, Debug)]
pub(crate) struct Acting {
    /// The e-mail of the person.
    pub(crate) by: String,
    pub(crate) until: Timestamp,
    pub(crate) is_read_only: bool,
}

impl Acting {
    pub(crate) fn of(me: &Me) -> Option<Self> {
        let AuthenticatedBy::Session(session) = &me.by else { return None };
        let is_read_only = session.impersonator()?.is_read_only;
        let by = me.impersonator.as_ref()?.email.as_str().to_owned();
        Some(Self { by, until: session.expires_at, is_read_only })
    }
}

impl Frame {
    /// Returns the frame of a page without a session.
    pub(crate) fn without_session(console: &Console) -> Self {
        let (base, look) = (console.base().to_owned(), console.look.clone());
        let (density, theme) = (Density::default(), Theme::default());
        Self { base, look, density, theme, answers_form: false, session: None }
    }

    pub(crate) fn css(&self) -> String {
        format!("{}{}", self.base, ASSETS.css.path)
    }

    pub(crate) fn script(&self) -> String {
        format!("{}{}", self.base, ASSETS.script.path)
    }

    pub(crate) fn htmx(&self) -> String {
        format!("{}{}", self.base, ASSETS.htmx.path)
    }

    /// The picture of the site: the logo, if the brand has one.
    pub(crate) fn icon(&self) -> String {
        format!("{}{}", self.base, self.look.logo.as_ref().unwrap_or(&ASSETS.icon).path)
    }

    pub(crate) fn logo(&self) -> Option<String> {
        Some(format!("{}{}", self.base, self.look.logo.as_ref()?.path))
    }

    /// The colours of the brand.
    pub(crate) fn brand_style(&self) -> Option<String> {
        Some(format!("{}{}", self.base, self.look.style.as_ref()?.path))
    }

    /// Returns an icon of `assets/icons.svg`. Screen readers pass over it, so that a text must stand beside it.
    pub(crate) fn svg(&self, name: &'static str) -> Icon<'_> {
        Icon { base: &self.base, path: &ASSETS.icons.path, name }
    }

    pub(crate) fn passkey(&self) -> String {
        format!("{}{}", self.base, ASSETS.passkey.path)
    }

    pub(crate) fn import(&self) -> String {
        format!("{}{}", self.base, ASSETS.import.path)
    }

    /// The address of the first page.
    pub(crate) fn home(&self) -> &str {
        if self.base.is_empty() { "/" } else { &self.base }
    }

    /// Whether the person holds a permission, tenant-wide or at least in an organization. A page hides links that only
    /// lead to a refusal; the services decide.
    pub(crate) fn may(&self, permission: &Permission) -> bool {
        let grants = self.session.as_ref().and_then(|session| session.grants.as_ref());
        grants.is_none_or(|grants| grants.iter().any(|grant| grant.role.permissions.allows(permission)))
    }

    /// Whether the person holds a permission tenant-wide.
    pub(crate) fn may_everywhere(&self, permission: &Permission) -> bool {
        let grants = self.session.as_ref().and_then(|session| session.grants.as_ref());
        let allows =
            |grant: &Grant| grant.assignment.organization_id.is_none() && grant.role.permissions.allows(permission);
        grants.is_none_or(|grants| grants.iter().any(allows))
    }

    /// The token of forms; empty without a session.
    pub(crate) fn form_token(&self) -> &str {
        self.session.as_ref().map_or("", |session| &session.form_token)
    }

    /// The e-mail of the user; empty if it is not known.
    pub(crate) fn email(&self) -> &str {
        self.session.as_ref().and_then(|session| session.email.as_deref()).unwrap_or_default()
    }

    /// The name of the tenant, if it is known.
    pub(crate) fn tenant(&self) -> Option<&str> {
        self.session.as_ref()?.tenant.as_deref()
    }

    /// Who acts as the user, if another person does.
    pub(crate) fn acting(&self) -> Option<&Acting> {
        self.session.as_ref()?.acting.as_ref()
    }

    /// How many actions on many go on, or have ended unseen.
    pub(crate) fn unseen_runs(&self) -> usize {
        self.session.as_ref().map_or(0, |session| session.unseen_runs)
    }

    /// Returns the frame of a page that shows the actions on many itself.
    pub(crate) fn of_runs(mut self) -> Self {
        if let Some(session) = &mut self.session {
            session.unseen_runs = 0;
        }
        self
    }

    /// Until when the person must set up a second factor. `None` if nothing is to be said about it.
    pub(crate) fn factor_needed_by(&self) -> Option<&Timestamp> {
        self.session.as_ref()?.enrol_by.as_ref()
    }
}

/// An icon. The names of templates are those of the file.
#[derive(Template)]
#[template(path = "icon.html")]
pub(crate) struct Icon<'a> {
    base: &'a str,
    path: &'a str,
    name: &'static str,
}

/// A name or an e-mail, as HTML.
#[derive(Clone, Debug)]
pub(crate) struct Breakable(String);

/// The text is escaped.
impl HtmlSafe for Breakable {}

impl fmt::Display for Breakable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The characters of a name that have room in a column of a list.
const SHORT: usize = 17;

/// Returns a name or an e-mail. A long one can be broken after each of `_ . -`, and so is not broken inside a word. A
/// long e-mail is broken after its `@`, and elsewhere only if what stands before or behind that is long, too. A permission
/// can be broken after its resource.
pub(crate) fn breakable(text: &str) -> Breakable {
    let is_long = text.chars().count() > SHORT;
    let mut html = String::with_capacity(text.len());
    for part in text.split_inclusive('@') {
        let is_long_part = part.chars().count() > SHORT;
        for character in part.chars() {
            match character {
                '&' => html.push_str("&#38;"),
                '<' => html.push_str("&#60;"),
                '>' => html.push_str("&#62;"),
                '"' => html.push_str("&#34;"),
                '\'' => html.push_str("&#39;"),
                character => html.push(character),
            }
            let is_end = character == ':' || is_long && character == '@';
            if is_end || (is_long_part && matches!(character, '_' | '.' | '-')) {
                html.push_str("<wbr>");
            }
        }
    }
    Breakable(html)
}

/// Returns a page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Result<Response, Problem> {
    match template.render() {
        Ok(html) => Ok(HumanPage((status, Html(html))).into_response()),
        Err(error) => {
            tracing::error!(%error, "a page cannot be shown");
            Err(Problem::new(Kind::Internal))
        }
    }
}

/// A part of a page, with the new text of a live region that stays in the page.
#[derive(Template)]
#[template(path = "part.html")]
struct Part<'a, T: Template> {
    content: &'a T,
    found: &'a str,
}

/// Returns the part of a page that htmx replaces. The page has an element `found` with the role `status` outside of that
/// part, whose text becomes `found`: screen readers announce only changes in an element that stays.
pub(crate) fn part(content: &impl Template, found: &str) -> Result<Response, Problem> {
    page(StatusCode::OK, &Part { content, found })
}

/// Writes a query with the values that are not empty.
pub(crate) fn query(fields: &[(&str, &str)]) -> String {
    written(fields.iter().copied().filter(|(_, value)| !value.is_empty()))
}

/// A field of a form, with the typed value and its error.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    pub(crate) name: Cow<'static, str>,
    pub(crate) label: Cow<'static, str>,
    pub(crate) kind: &'static str,
    pub(crate) autocomplete: &'static str,
    pub(crate) hint: String,
    /// Says in an empty field what belongs there; empty if the label is enough.
    pub(crate) placeholder: &'static str,
    /// Where the browser asks for matches of the typed text; empty if it offers nothing. See [`crate::picker`].
    pub(crate) offered_at: String,
    pub(crate) is_required: bool,
    /// Whether the cursor is in this field when the page is opened.
    pub(crate) is_first: bool,
    pub(crate) value: String,
    pub(crate) error: String,
    /// Whether the error is in English, on a page in another language.
    pub(crate) error_is_english: bool,
}

impl Field {
    /// Returns a required field for a text.
    pub(crate) fn text(name: impl Into<Cow<'static, str>>, label: impl Into<Cow<'static, str>>) -> Self {
        let (name, label) = (name.into(), label.into());
        Self { name, label, kind: "text", autocomplete: "off", is_required: true, ..Self::default() }
    }

    /// Returns a field for an e-mail. Its type is text: in a field of the type `email`, browsers refuse most scripts.
    pub(crate) fn email() -> Self {
        Self { kind: "email", autocomplete: "username", ..Self::text("email", text::t("email")) }
    }

    pub(crate) fn password(autocomplete: &'static str) -> Self {
        Self::secret("password", text::t("password"), autocomplete)
    }

    pub(crate) fn secret(name: &'static str, label: &'static str, autocomplete: &'static str) -> Self {
        Self { kind: "password", autocomplete, ..Self::text(name, label) }
    }

    pub(crate) fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }

    pub(crate) fn first(self) -> Self {
        Self { is_first: true, ..self }
    }

    pub(crate) fn completed_as(self, autocomplete: &'static str) -> Self {
        Self { autocomplete, ..self }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Fills in the typed value, except a password.
    pub(crate) fn filled(self, value: &str) -> Self {
        if self.kind == "password" { self } else { Self { value: value.to_owned(), ..self } }
    }

    /// Shows the typed value of this field of a form, and its error.
    pub(crate) fn shown(self, form: &Form, errors: &[FieldError]) -> Self {
        let typed = form.get(&self.name);
        self.filled(typed).with_errors(errors)
    }

    /// Adds the error of this field.
    pub(crate) fn with_errors(self, errors: &[FieldError]) -> Self {
        let found = errors.iter().find(|error| error.field == self.name);
        let error = found.map(|error| text::about(&self.label, &error.message)).unwrap_or_default();
        let error_is_english = found.is_some_and(|error| text::is_foreign(&error.message));
        Self { error, error_is_english, ..self }
    }
}

/// Returns the errors of a field with several values. An error about one of them names it.
pub(crate) fn errors_of_list(name: &str, label: &str, typed: &[String], errors: &[FieldError]) -> String {
    let texts = errors.iter().filter_map(|error| {
        let index = error.field.strip_prefix(name)?;
        let number = index.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')?.parse::<usize>().ok());
        let named = number.and_then(|number| typed.get(number)).map_or(label, String::as_str);
        Some(text::about(named, &error.message))
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// A text that a person copies to another system.
pub(crate) struct Copied {
    /// Names its element in the page.
    pub(crate) id: &'static str,
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

/// A page with one form.
#[derive(Template)]
#[template(path = "form.html")]
pub(crate) struct FormPage {
    pub(crate) frame: Frame,
    pub(crate) title: &'static str,
    pub(crate) notice: &'static str,
    pub(crate) intro: &'static str,
    pub(crate) error: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) button: &'static str,
    /// The page to which the person returns, below the path of the console.
    pub(crate) back: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_breaks_between_its_words_and_is_escaped() {
        assert_eq!(breakable("grace@example.com").to_string(), "grace@example.com");
        assert_eq!(breakable("ORGANIZATION_ADMIN").to_string(), "ORGANIZATION_<wbr>ADMIN");
        assert_eq!(breakable("users:read").to_string(), "users:<wbr>read");
        assert_eq!(breakable("ada.king@example.org").to_string(), "ada.king@<wbr>example.org");
        let long = "ada@international-example.org";
        assert_eq!(breakable(long).to_string(), "ada@<wbr>international-<wbr>example.<wbr>org");
        let escaped = "&#60;b&#62;&#38;&#34;&#39;-@<wbr>.abcdefghij";
        assert_eq!(breakable("<b>&\"'-@.abcdefghij").to_string(), escaped);
    }
}
