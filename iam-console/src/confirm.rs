//! Changes that a person confirms on a page of their own. Most are tried out first, and the page shows who would gain
//! or lose what.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::access_request::AccessRequests;
use iam_core::assignment::Assignments;
use iam_core::clock::Timestamp;
use iam_core::directory::Directories;
use iam_core::organization::Organizations;
use iam_core::permission::Permissions;
use iam_core::role::Roles;
use iam_core::user::Users;
use iam_core::{Caller, Error, FieldError, Iam, Preview, Rule, Trial, UserId};

use crate::effects::Effects;
use crate::form::{ATTRIBUTE, Form};
use crate::names::Names;
use crate::problem::refused_in_place;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page};

const CONFIRMED: &str = "confirmed";
/// The button that leads from the preview back to the form.
const AGAIN: &str = "again";

/// The services for a change that the person has confirmed, or else for a trial of it.
pub(crate) enum Attempt {
    Change(Iam),
    Trial(Box<Trial>),
}

/// The result of an attempt.
pub(crate) enum Outcome {
    Changed,
    Previewed(Preview),
}

impl Attempt {
    pub(crate) fn of(console: &Console, form: &Form) -> Self {
        Self::confirmed_if(console, form.has(CONFIRMED))
    }

    pub(crate) fn confirmed_if(console: &Console, is_confirmed: bool) -> Self {
        if is_confirmed { Self::Change(console.iam.clone()) } else { Self::Trial(Box::new(console.iam.trial())) }
    }

    pub(crate) fn access_requests(&self) -> AccessRequests<'_> {
        match self {
            Self::Change(iam) => iam.access_requests(),
            Self::Trial(trial) => trial.access_requests(),
        }
    }

    pub(crate) fn assignments(&self) -> Assignments<'_> {
        match self {
            Self::Change(iam) => iam.assignments(),
            Self::Trial(trial) => trial.assignments(),
        }
    }

    pub(crate) fn organizations(&self) -> Organizations<'_> {
        match self {
            Self::Change(iam) => iam.organizations(),
            Self::Trial(trial) => trial.organizations(),
        }
    }

    pub(crate) fn permissions(&self) -> Permissions<'_> {
        match self {
            Self::Change(iam) => iam.permissions(),
            Self::Trial(trial) => trial.permissions(),
        }
    }

    pub(crate) fn roles(&self) -> Roles<'_> {
        match self {
            Self::Change(iam) => iam.roles(),
            Self::Trial(trial) => trial.roles(),
        }
    }

    pub(crate) fn users(&self) -> Users<'_> {
        match self {
            Self::Change(iam) => iam.users(),
            Self::Trial(trial) => trial.users(),
        }
    }

    /// Ends all sessions of a user.
    pub(crate) async fn logout_user(&self, caller: &Caller, user: UserId) -> Result<(), Error> {
        match self {
            Self::Change(iam) => iam.sessions().logout_user(caller, user).await,
            Self::Trial(trial) => trial.logout_user(caller, user).await,
        }
    }

    pub(crate) fn directories(&self) -> Directories<'_> {
        match self {
            Self::Change(iam) => iam.directories(),
            Self::Trial(trial) => trial.directories(),
        }
    }

    /// Returns the meaning of the call of a service. A rule that would refuse the change is an error, as for the
    /// change.
    pub(crate) async fn outcome<T>(&self, caller: &Caller, result: Result<T, Error>) -> Result<Outcome, Error> {
        match self {
            Self::Change(_) => result.map(|_| Outcome::Changed),
            Self::Trial(trial) => {
                let mut preview = trial.preview(caller, result).await?;
                preview.refusal.take().map_or(Ok(Outcome::Previewed(preview)), Err)
            }
        }
    }
}

pub(crate) fn is_confirmed(form: &Form) -> bool {
    form.has(CONFIRMED)
}

/// Whether the person goes back from the preview to the form.
pub(crate) fn goes_back(form: &Form) -> bool {
    form.has(AGAIN)
}

/// A change that waits for its confirmation.
pub(crate) struct Pending {
    /// The change, in a few words.
    pub(crate) title: String,
    /// The other effects.
    pub(crate) note: &'static str,
    pub(crate) button: &'static str,
    pub(crate) is_dangerous: bool,
    /// The address to which the form is sent.
    pub(crate) action: String,
    /// Where the person goes who does not confirm.
    pub(crate) back: String,
    /// Whether the person can go back to a form with the typed values.
    pub(crate) has_form: bool,
}

/// What the page of a preview says beside the effects.
#[derive(Default)]
pub(crate) struct About {
    /// The title of the effects, if it is not the common one.
    pub(crate) title: Option<&'static str>,
    /// The typed values that the person checks, each with its label.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// Moments that the person checks, each with its label.
    pub(crate) moments: Vec<(&'static str, Timestamp)>,
    /// Who is told of the change. Empty if there is nothing to say about it.
    pub(crate) told: &'static str,
    /// What can keep the change from its effects. Empty if nothing does.
    pub(crate) warning: String,
    /// How long that lasts which is gained, if its end is not known yet; see [`Effects::lasting`].
    pub(crate) lasting: String,
    /// Names that the page says also to who may not look them up.
    pub(crate) known: Names,
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct ConfirmPage {
    frame: Frame,
    pending: Pending,
    /// Why the change is refused. Empty if the page asks for the confirmation.
    error: String,
    facts: Vec<(&'static str, String)>,
    moments: Vec<(&'static str, Timestamp)>,
    told: &'static str,
    warning: String,
    /// `None` if the change would be refused, or cannot be tried out.
    effects: Option<Effects>,
    kept: Vec<(String, String)>,
}

impl ConfirmPage {
    /// The page of a change, with nothing but what every such page has.
    fn of(frame: Frame, pending: Pending) -> Self {
        Self {
            frame,
            pending,
            error: String::new(),
            facts: Vec::new(),
            moments: Vec::new(),
            told: "",
            warning: String::new(),
            effects: None,
            kept: Vec::new(),
        }
    }

    /// Whether the change is made below a path of the console.
    fn is_below(&self, path: &str) -> bool {
        self.pending.action.strip_prefix(&self.frame.base).is_some_and(|action| action.starts_with(path))
    }
}

/// Returns the page that asks for the confirmation.
pub(crate) async fn ask(
    console: &Console,
    signed_in: &SignedIn,
    form: Form,
    pending: Pending,
    preview: Preview,
) -> Result<Response, Problem> {
    ask_about(console, signed_in, form, pending, About::default(), preview).await
}

/// Does the same, and says more about the change.
pub(crate) async fn ask_about(
    console: &Console,
    signed_in: &SignedIn,
    mut form: Form,
    pending: Pending,
    About { title, facts, moments, told, warning, lasting, known }: About,
    preview: Preview,
) -> Result<Response, Problem> {
    form.remove(&[CONFIRMED, AGAIN]);
    let effects = Effects::of(&console.iam, &signed_in.caller, console.base(), preview, &known).await?;
    let effects = match title {
        Some(title) => effects.titled(title),
        None => effects,
    };
    let (effects, kept) = (Some(effects.lasting(lasting)), form.into_fields());
    let shown = ConfirmPage::of(signed_in.frame(console).await?, pending);
    page(StatusCode::OK, &ConfirmPage { facts, moments, told, warning, effects, kept, ..shown })
}

/// Returns the page that asks for the confirmation of a change that cannot be tried out. It says no effects.
pub(crate) async fn ask_untried(
    console: &Console,
    signed_in: &SignedIn,
    mut form: Form,
    pending: Pending,
) -> Result<Response, Problem> {
    form.remove(&[CONFIRMED, AGAIN]);
    let shown = ConfirmPage::of(signed_in.frame(console).await?, pending);
    page(StatusCode::OK, &ConfirmPage { kept: form.into_fields(), ..shown })
}

/// Returns the page that says why a change is refused that began with a button, and not with a form.
pub(crate) async fn refuse(
    console: &Console,
    signed_in: &SignedIn,
    pending: Pending,
    error: Error,
) -> Result<Response, Problem> {
    refuse_about(console, signed_in, pending, Vec::new(), error).await
}

/// Does the same, and says more about it: texts, each with its label.
pub(crate) async fn refuse_about(
    console: &Console,
    signed_in: &SignedIn,
    pending: Pending,
    facts: Vec<(&'static str, String)>,
    error: Error,
) -> Result<Response, Problem> {
    let frame = signed_in.frame(console).await?;
    let late = matches!(error, Error::PreconditionFailed).then(|| text::t("changed-since").to_owned());
    refused_in_place(error, |text| {
        let error = late.unwrap_or(text);
        ConfirmPage { error, facts, ..ConfirmPage::of(frame, pending) }
    })
}

/// Returns the errors of the fields of a form.
pub(crate) fn at_fields(error: &Error) -> Vec<FieldError> {
    match error {
        Error::Validation(errors) => {
            errors.iter().map(|error| FieldError::new(name_of(&error.field), &*error.message)).collect()
        }
        Error::About { field, error } => {
            let message = match &**error {
                Error::Rule(Rule::OrganizationRequired) => text::t("organization-required").to_owned(),
                Error::Rule(Rule::OrganizationRefused) => text::t("organization-refused").to_owned(),
                error => text::not_accepted(text::of_service(&error.to_string()).trim_end_matches('.')),
            };
            vec![FieldError::new(name_of(field), message)]
        }
        _ => Vec::new(),
    }
}

/// Returns the error of the form as a whole.
pub(crate) fn text_above(error: &Error) -> String {
    match error {
        Error::PreconditionFailed => text::t("changed-since").to_owned(),
        Error::Validation(_) | Error::About { .. } => text::t("correct-fields").to_owned(),
        error => error.to_string(),
    }
}

/// Returns the name that a field of the API has in the forms of the console.
fn name_of(field: &str) -> &str {
    match field {
        "expiresAt" => "until",
        "asOf" => "at",
        attribute if attribute.starts_with(ATTRIBUTE) => attribute,
        other => other.strip_suffix("Id").unwrap_or(other),
    }
}
