use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::access::{Decision, Denial, Question};
use iam_core::assignment::GrantOrganization;
use iam_core::{Caller, Error, FieldError, UserId};
use serde::Deserialize;

use crate::access::{Reason, Tabs, meaning_of, permission, places};
use crate::catalogue::described_permissions;
use crate::confirm::{at_fields, text_above};
use crate::group_names::GroupNames;
use crate::names::Names;
use crate::picker;
use crate::problem::{if_allowed, refused_in_place};
use crate::query::Query;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::{Time, typed};
use crate::view::{Field, Frame, page, query};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    user: String,
    permission: String,
    organization: String,
    at: String,
}

impl Params {
    fn typed(&self) -> [(&'static str, &str); 4] {
        let Self { user, permission, organization, at } = self;
        [("user", user), ("permission", permission), ("organization", organization), ("at", at)]
    }
}

#[derive(Template)]
#[template(path = "access-why.html")]
struct WhyPage {
    frame: Frame,
    tabs: Tabs,
    error: String,
    user: Field,
    permission: Field,
    permissions: Vec<(String, String)>,
    organization: Field,
    moment: Field,
    answer: Option<Answer>,
}

/// The decision about a question.
struct Answer {
    user: UserId,
    /// The permission, as the question was understood, and its meaning.
    permission: String,
    meaning: String,
    is_allowed: bool,
    sentence: String,
    reasons: Vec<Reason>,
    /// Where else a role of the user has the permission. Empty if the caller may not see it.
    elsewhere: Vec<OtherOrganization>,
}

/// An organization in which a role has the permission of the question.
struct OtherOrganization {
    organization: String,
    role: String,
    /// The address of the same question about this organization.
    address: String,
}

impl Answer {
    async fn find(
        console: &Console,
        caller: &Caller,
        described: &[(String, String)],
        params: &Params,
    ) -> Result<Self, Error> {
        let iam = &console.iam;
        let user = match params.user.trim() {
            "" => caller.require_user()?.0,
            text => picker::user(iam, caller, text).await?,
        };
        let question = Question {
            permission: permission(described, &params.permission)?,
            organization: picker::organization(iam, caller, "organization", &params.organization).await?,
            user: Some(user),
            at: typed("at", &params.at)?,
        };
        let is_present = question.at.is_none();
        let permission = question.permission.clone();
        let Decision { grants, denial, .. } = iam.access().check(caller, question).await?;
        let held = if is_present && matches!(denial, Some(Denial::HeldElsewhere)) {
            if_allowed(iam.assignments().of_user(caller, user).await)?.unwrap_or_default()
        } else {
            Vec::new()
        };
        let held = held.into_iter().filter(|grant| grant.role.permissions.allows(&permission));
        let elsewhere = held.filter_map(|grant| {
            let GrantOrganization { id, name, .. } = grant.organization?;
            let (user, organization) = (user.to_string(), id.to_string());
            let same = [("user", &*user), ("permission", permission.as_str()), ("organization", &organization)];
            let address = format!("{}/access?{}", console.base(), query(&same));
            Some(OtherOrganization { organization: name.to_string(), role: grant.role.name.to_string(), address })
        });
        let elsewhere: Vec<OtherOrganization> = elsewhere.collect();
        let people: Vec<UserId> = grants.iter().filter_map(|grant| grant.granted_by).collect();
        let names = Names::read(iam, caller, people, places(&grants)).await?;
        let groups = GroupNames::read(console, caller, grants.iter().map(|grant| grant.directory_group)).await?;
        let sentence = denial.as_ref().map_or_else(|| text::t("allowed-because").to_owned(), text::denial);
        let reasons = grants.into_iter().map(|grant| Reason::of(grant, &names, &groups)).collect();
        let meaning = meaning_of(described, &permission);
        Ok(Self {
            user,
            permission: permission.as_str().to_owned(),
            meaning,
            is_allowed: denial.is_none(),
            sentence,
            reasons,
            elsewhere,
        })
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    described: Vec<(String, String)>,
    params: &Params,
    errors: &[FieldError],
) -> Result<WhyPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = Field::text("user", text::t("user-or-you")).optional();
    let user = user.filled(&picker::shown_user(iam, caller, &params.user).await?).with_errors(errors);
    let permission = Field::text("permission", text::t("permission")).with_hint(text::t("permission-hint"));
    let moment = Field::text("at", text::t("at-moment")).with_hint(text::t("asked-moment-hint"));
    Ok(WhyPage {
        frame: signed_in.frame(console).await?,
        tabs: Tabs::of(console.base(), &params.typed()),
        error: String::new(),
        user: picker::of_user(console, user),
        permission: permission.filled(&params.permission).with_errors(errors),
        permissions: described,
        organization: picker::of_place(console, caller, &params.organization, errors).await?,
        moment: moment.filled(&params.at).with_errors(errors),
        answer: None,
    })
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let described = described_permissions(&console.iam, &signed_in.caller).await?;
    if params.permission.is_empty() {
        return page(StatusCode::OK, &page_of(&console, &signed_in, described, &params, &[]).await?);
    }
    match Answer::find(&console, &signed_in.caller, &described, &params).await {
        Ok(answer) => {
            let shown = page_of(&console, &signed_in, described, &params, &[]).await?;
            page(StatusCode::OK, &WhyPage { answer: Some(answer), ..shown })
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, described, &params, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| WhyPage { error: text, ..shown })
        }
    }
}
