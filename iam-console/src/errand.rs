//! The way of a person to an identity provider and back: for sign-in, for a link from the account, and for a step-up.

use axum::http::request::Parts;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::factor::{AuthenticationMethod, FactorList};
use iam_core::federation::{ProviderSummary, StartFederation, StartedFederation, code_challenge};
use iam_core::session::{AuthenticatedBy, Me};
use iam_core::{Error, IdentityProviderId};

use crate::cookie::{TemporaryCookie, random_text, with_cookie};
use crate::form::{Form, KEPT};
use crate::session::{SignedIn, destination, leading_to};
use crate::state::Console;

/// The longest form that a cookie keeps, in bytes: a browser refuses a cookie of more than 4096.
const MAX_KEPT: usize = 2_000;

/// What a person wants at a provider.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    SignIn,
    Link,
    StepUp,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::Link => "link",
            Self::StepUp => "step-up",
        }
    }
}

/// A way to a provider and back. The browser keeps it until it has come back.
pub(crate) struct Errand {
    pub(crate) purpose: Purpose,
    /// Proves that this browser has begun.
    pub(crate) verifier: String,
    /// Where the person goes after sign-in, or where the form goes after a step-up.
    next: String,
    /// A form for `next` that waits for a session or for a step-up; may be empty.
    kept: String,
    /// A form token of the session that may see the form; empty before there is one.
    form_token: String,
}

impl Errand {
    /// Returns an errand of a person that is signed in.
    pub(crate) fn link() -> Self {
        Self::new(Purpose::Link, (String::new(), String::new()), String::new())
    }

    fn new(purpose: Purpose, (next, kept): (String, String), form_token: String) -> Self {
        Self { purpose, verifier: random_text(), next, kept, form_token }
    }

    /// Returns a sign-in that leads where a form does.
    pub(crate) fn sign_in(console: &Console, form: &Form) -> Self {
        // Without its form, an address may have no page.
        let waiting = waiting(console, form).unwrap_or_else(|| (console.home().to_owned(), String::new()));
        Self::new(Purpose::SignIn, waiting, String::new())
    }

    /// Returns a step-up for which a form waits.
    pub(crate) fn step_up(console: &Console, signed_in: &SignedIn, form: &Form) -> Self {
        let waiting = waiting(console, form).unwrap_or_else(|| (proof_alone(console), String::new()));
        Self::new(Purpose::StepUp, waiting, signed_in.form_token.clone())
    }

    /// Returns the input for the service: the provider of a form, and the way back.
    pub(crate) fn input(
        &self,
        form: &Form,
        redirect_uri: String,
        login_hint: Option<String>,
    ) -> Result<StartFederation, Error> {
        let provider = form.get("provider").parse::<IdentityProviderId>();
        let provider = provider.map_err(|invalid| Error::field("provider", invalid.to_string()))?;
        let code_challenge = code_challenge(&self.verifier);
        Ok(StartFederation { provider, redirect_uri, code_challenge, login_hint })
    }

    /// Leads to the provider.
    ///
    /// By a page, and not by a redirect: the policy of the console forbids forms that lead to another origin, and
    /// browsers apply it to the redirects of a form, too.
    pub(crate) fn leave(
        self,
        console: &Console,
        parts: &Parts,
        started: &StartedFederation,
    ) -> Result<Response, Problem> {
        let texts = [self.purpose.as_str(), &self.verifier, &self.next, &self.kept];
        let cookie = TemporaryCookie::Provider.keep(&self.form_token, &texts, console.settings.cookie(parts));
        Ok(with_cookie(cookie, leading_to(console, started.authorization_url.as_str())?))
    }

    pub(crate) fn read(console: &Console, parts: &Parts) -> Option<Self> {
        let texts = TemporaryCookie::Provider.read(parts, console.settings.cookie(parts))?;
        let [purpose, verifier, next, kept] = <[String; 4]>::try_from(texts).ok()?;
        let known = [Purpose::SignIn, Purpose::Link, Purpose::StepUp];
        let purpose = known.into_iter().find(|known| known.as_str() == purpose)?;
        Some(Self { purpose, verifier, next, kept, form_token: String::new() })
    }

    /// Returns the form that waits for a step-up, and where it goes.
    pub(crate) fn into_waiting(self) -> (String, Form) {
        (self.next, Form::parse(self.kept.as_bytes()))
    }

    /// Returns the form with which the person has begun to sign in.
    pub(crate) fn into_form(self) -> Form {
        Form::of([("next", self.next), (KEPT, self.kept)])
    }
}

/// Whether the form that waits for a session is too long for the way to a provider.
pub(crate) fn loses(form: &Form) -> bool {
    form.get(KEPT).len() > MAX_KEPT
}

/// Returns where a form leads, and the form that waits for that. `None` if it is too long for the way.
fn waiting(console: &Console, form: &Form) -> Option<(String, String)> {
    (!loses(form)).then(|| (destination(console, form.get("next")), form.get(KEPT).to_owned()))
}

/// The way on which a person authenticates its session again, at the provider by which it began.
pub(crate) struct Confirmation {
    pub(crate) provider: ProviderSummary,
    /// Where the form goes that waits for it.
    pub(crate) next: String,
    pub(crate) kept: String,
    /// Whether the form is lost on the way.
    pub(crate) loses_form: bool,
}

impl Confirmation {
    /// Returns the way for a form. `None` for a session that did not begin by a provider of now, and where a proof at
    /// the provider would not be enough.
    pub(crate) async fn of(
        console: &Console,
        signed_in: &SignedIn,
        (me, factors): (&Me, &FactorList),
        (action, form): (&str, &Form),
    ) -> Result<Option<Self>, Error> {
        let AuthenticatedBy::Session(session) = &me.by else { return Ok(None) };
        let began_by = session.provider.as_ref().filter(|_| signed_in.provider_callback.is_some());
        let Some(began_by) = began_by else { return Ok(None) };
        let methods = session.methods.to_string();
        let has_factor_there = methods.contains(AuthenticationMethod::ProviderFactor.as_str());
        if !factors.factors.is_empty() && !has_factor_there {
            return Ok(None);
        }
        let providers = console.iam.federation().providers(&signed_in.caller.tenant().to_string()).await?;
        let provider = providers.into_iter().find(|provider| provider.id == began_by.provider_id);
        let Some(provider) = provider else { return Ok(None) };
        let kept = form.encoded();
        Ok(Some(if kept.len() > MAX_KEPT {
            Self { provider, next: proof_alone(console), kept: String::new(), loses_form: true }
        } else {
            Self { provider, next: action.to_owned(), kept, loses_form: false }
        }))
    }
}

/// Returns the address of a form that changes nothing: it is for a proof of identity alone, and leads to the first
/// page.
pub(crate) fn proof_alone(console: &Console) -> String {
    format!("{}/account/second-factor", console.base())
}
