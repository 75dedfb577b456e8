use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::{Problem, Query};
use iam_core::access::{Decision, Question};
use iam_core::{Caller, Error, FieldError, Iam, UserId};
use serde::Deserialize;

use crate::access::{Reason, permission, places};
use crate::confirm::{at_fields, text_above};
use crate::english;
use crate::names::Names;
use crate::picker::{self, Picker};
use crate::problem::refused_in_place;
use crate::roles::permission_names;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::{Time, typed};
use crate::view::{Field, Frame, page};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    user: String,
    permission: String,
    organization: String,
    at: String,
}

#[derive(Template)]
#[template(path = "access-why.html")]
struct WhyPage {
    frame: Frame,
    error: String,
    user: Picker,
    permission: Field,
    permissions: Vec<String>,
    organization: Picker,
    moment: Field,
    answer: Option<Answer>,
}

/// The decision about a question.
struct Answer {
    user: UserId,
    is_allowed: bool,
    sentence: String,
    reasons: Vec<Reason>,
}

impl Answer {
    async fn find(iam: &Iam, caller: &Caller, wanted: &Wanted) -> Result<Self, Error> {
        let user = match wanted.user.trim() {
            "" => caller.require_user()?.0,
            text => picker::user(iam, caller, text).await?,
        };
        let question = Question {
            permission: permission(&wanted.permission)?,
            organization: picker::organization(iam, caller, "organization", &wanted.organization).await?,
            user: Some(user),
            at: typed("at", &wanted.at)?,
        };
        let Decision { grants, denial, .. } = iam.access().check(caller, question).await?;
        let people: Vec<UserId> = grants.iter().filter_map(|grant| grant.granted_by).collect();
        let names = Names::read(iam, caller, people, places(&grants)).await?;
        let sentence = denial.as_ref().map_or_else(|| english::ALLOWED_BECAUSE.to_owned(), english::denial);
        let reasons = grants.into_iter().map(|grant| Reason::of(grant, &names)).collect();
        Ok(Self { user, is_allowed: denial.is_none(), sentence, reasons })
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    wanted: &Wanted,
    errors: &[FieldError],
) -> Result<WhyPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = Field::text("user", english::USER_OR_YOU).optional();
    let user = user.filled(&picker::shown_user(iam, caller, &wanted.user).await?).judged(errors);
    let permission = Field::text("permission", english::PERMISSION).with_hint(english::PERMISSION_HINT);
    let moment = Field::text("at", english::AT_MOMENT).with_hint(english::AS_OF_HINT);
    Ok(WhyPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        user: Picker::of_user(user),
        permission: permission.filled(&wanted.permission).judged(errors),
        permissions: permission_names(iam, caller).await?,
        organization: Picker::of_place(iam, caller, &wanted.organization, errors).await?,
        moment: moment.filled(&wanted.at).judged(errors),
        answer: None,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    if wanted.permission.is_empty() {
        return page(StatusCode::OK, &page_of(&console, &signed_in, &wanted, &[]).await?);
    }
    match Answer::find(&console.iam, &signed_in.caller, &wanted).await {
        Ok(answer) => {
            let shown = page_of(&console, &signed_in, &wanted, &[]).await?;
            page(StatusCode::OK, &WhyPage { answer: Some(answer), ..shown })
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, &wanted, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| WhyPage { error: text, ..shown })
        }
    }
}
