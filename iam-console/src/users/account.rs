//! Changes of the account of a user. A page of its own asks for the confirmation of each.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use iam_axum::{PathId, Problem};
use iam_core::user::{UserPatch, UserStatus};
use iam_core::version::Precondition;
use iam_core::{Caller, Error, UserId};

use crate::confirm::{self, Attempt, Outcome, Pending};
use crate::form::Form;
use crate::names::Names;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::users::one::back;

/// A change of an account.
struct Change {
    /// The end of its address.
    path: &'static str,
    /// Says what it is, with the name of the user.
    title: fn(&str) -> String,
    note: &'static str,
    button: &'static str,
    is_dangerous: bool,
    /// What the page of the user says afterwards.
    done: &'static str,
}

impl Change {
    async fn pending(&self, console: &Console, caller: &Caller, id: UserId) -> Result<Pending, Error> {
        let names = Names::read(&console.iam, caller, [id], []).await?;
        let back = format!("{}/users/{id}", console.base());
        Ok(Pending {
            title: (self.title)(&names.user(id)),
            note: self.note,
            button: self.button,
            is_dangerous: self.is_dangerous,
            action: format!("{back}/{}", self.path),
            back,
            has_form: false,
        })
    }

    /// Answers a change that was made, or tried out.
    async fn answer<T>(
        &self,
        console: &Console,
        signed_in: &SignedIn,
        id: UserId,
        form: Form,
        (attempt, result): (&Attempt, Result<T, Error>),
    ) -> Result<Response, Problem> {
        let outcome = attempt.outcome(&signed_in.caller, result).await;
        let pending = self.pending(console, &signed_in.caller, id).await?;
        match outcome {
            Ok(Outcome::Changed) => Ok(back(console, id, self.done)),
            Ok(Outcome::Previewed(preview)) => confirm::ask(console, signed_in, form, pending, preview).await,
            Err(error) => confirm::refuse(console, signed_in, pending, error).await,
        }
    }

    /// Makes a change that cannot be tried out, once it is confirmed.
    async fn make(
        &self,
        console: &Console,
        signed_in: &SignedIn,
        id: UserId,
        form: Form,
        change: impl Future<Output = Result<(), Error>>,
    ) -> Result<Response, Problem> {
        let caller = &signed_in.caller;
        if !confirm::is_confirmed(&form) {
            // A person who may not see the user is refused at once.
            console.iam.users().get(caller, id).await?;
            let pending = self.pending(console, caller, id).await?;
            return confirm::ask_untried(console, signed_in, form, pending).await;
        }
        match change.await {
            Ok(()) => Ok(back(console, id, self.done)),
            Err(error) => {
                let pending = self.pending(console, caller, id).await?;
                confirm::refuse(console, signed_in, pending, error).await
            }
        }
    }
}

pub(super) async fn suspend(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let attempt = Attempt::of(&console, &form);
    let result = attempt.users().suspend(&signed_in.caller, id).await;
    let change = Change {
        path: "suspend",
        title: text::suspend,
        note: text::t("suspend-what"),
        button: text::t("suspend-confirm"),
        is_dangerous: true,
        done: "suspended",
    };
    change.answer(&console, &signed_in, id, form, (&attempt, result)).await
}

pub(super) async fn reactivate(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let attempt = Attempt::of(&console, &form);
    let result = attempt.users().reactivate(&signed_in.caller, id).await;
    let change = Change {
        path: "reactivate",
        title: text::reactivate,
        note: text::t("reactivate-what"),
        button: text::t("reactivate"),
        is_dangerous: false,
        done: "reactivated",
    };
    change.answer(&console, &signed_in, id, form, (&attempt, result)).await
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let attempt = Attempt::of(&console, &form);
    let result = attempt.users().delete(&signed_in.caller, id).await;
    let change = Change {
        path: "delete",
        title: text::delete,
        note: text::t("delete-what"),
        button: text::t("delete-confirm"),
        is_dangerous: true,
        done: "deleted",
    };
    change.answer(&console, &signed_in, id, form, (&attempt, result)).await
}

pub(super) async fn restore(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let user = console.iam.users().get(&signed_in.caller, id).await?;
    // An old page must not lift a suspension that came after it.
    let restorable = (user.status == UserStatus::Inactive).then_some(user.version);
    let patch = UserPatch { status: Some(UserStatus::Active), ..UserPatch::default() };
    let precondition = Precondition::OneOf(restorable.into_iter().collect());
    let attempt = Attempt::of(&console, &form);
    let result = attempt.users().update_if(&signed_in.caller, id, patch, &precondition).await;
    let change = Change {
        path: "restore",
        title: text::restore,
        note: text::t("restore-what"),
        button: text::t("restore"),
        is_dangerous: false,
        done: "restored",
    };
    change.answer(&console, &signed_in, id, form, (&attempt, result)).await
}

pub(super) async fn sign_out(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let attempt = Attempt::of(&console, &form);
    let result = attempt.logout_user(&signed_in.caller, id).await;
    let change = Change {
        path: "sign-out",
        title: text::end_sessions,
        note: text::t("end-all-sessions-what"),
        button: text::t("end-all-sessions"),
        is_dangerous: true,
        done: "signed-out",
    };
    change.answer(&console, &signed_in, id, form, (&attempt, result)).await
}

pub(super) async fn reset_factors(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let change = Change {
        path: "reset-factors",
        title: text::reset_factors,
        note: text::t("reset-factors-after"),
        button: text::t("reset-factors-confirm"),
        is_dangerous: true,
        done: "factors-reset",
    };
    let factors = console.iam.factors();
    change.make(&console, &signed_in, id, form, factors.reset(&signed_in.caller, id)).await
}

/// Sends the user a link to choose a new password.
pub(super) async fn send_reset(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<UserId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let change = Change {
        path: "password-reset",
        title: text::send_reset,
        note: text::t("send-reset-what"),
        button: text::t("send-reset"),
        is_dangerous: false,
        done: "reset-sent",
    };
    let recovery = console.iam.recovery();
    change.make(&console, &signed_in, id, form, recovery.start(&signed_in.caller, id)).await
}
