use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{Kind, PathId, Problem, access_review_file};
use iam_core::access_review::{
    AccessReview, AccessReviewStatus, ListedAccessReview, ListedReviewItem, NewDecision, ReviewDecision,
    ReviewItemFilter, ReviewItemKind, ReviewOutcome, ReviewProgress, ReviewSubject,
};
use iam_core::eligibility::Eligible;
use iam_core::page::{Page, PageRequest};
use iam_core::permission::ACCESS_REVIEWS_UPDATE;
use iam_core::user::UserSummary;
use iam_core::{AccessReviewId, AccessReviewItemId, Error, FieldError, InvalidFields, RoleId, UserId};
use serde::Deserialize;

use crate::form::Form;
use crate::group_names::{GivenBy, GroupNames};
use crate::names::Names;
use crate::problem::{if_allowed, is_for_part, refused_in_place};
use crate::query::{Query, filter};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, part, query};

/// How many items a page of a review has.
const LIMIT: u32 = 25;

/// How many roles are read for their names.
const ROLES: u32 = 100;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    decision: String,
    page: Option<u64>,
    done: String,
}

impl Params {
    /// Reads which items the page showed when its form was sent.
    fn shown_by(form: &Form) -> Self {
        Self { decision: form.get("shown").to_owned(), page: form.get("page").parse().ok(), done: String::new() }
    }

    fn filter(&self) -> Result<Option<ReviewItemFilter>, Error> {
        filter("decision", &self.decision)
    }

    fn notice(&self) -> &'static str {
        match &*self.done {
            "begun" => text::t("review-begun"),
            "decided" => text::t("review-decided"),
            "completed" => text::t("review-is-completed"),
            "cancelled" => text::t("review-is-cancelled"),
            _ => "",
        }
    }
}

#[derive(Template)]
#[template(path = "access-review.html")]
struct ReviewPage {
    frame: Frame,
    params: Params,
    error: String,
    state: ReviewState,
    is_late: bool,
    created_by: Option<String>,
    closed_by: Option<String>,
    /// The name of the organization, or its id if the caller may not see it.
    organization: Option<String>,
    roles: Vec<String>,
    users: Vec<String>,
    items: Page<ListedReviewItem>,
    rows: Vec<ItemRow>,
}

impl ReviewPage {
    /// Returns the address of another page of the same items.
    fn address(&self, page: u64) -> String {
        let page = page.to_string();
        let query = query(&[("decision", &*self.params.decision), ("page", &page)]);
        format!("{}/access-reviews/{}?{query}", self.frame.base, self.state.review.id)
    }

    /// Whether the person can select items, to keep them together.
    fn selects(&self) -> bool {
        self.rows.iter().any(ItemRow::is_selectable)
    }
}

/// The part of the page that changes with each decision.
#[derive(Template)]
#[template(path = "access-review-state.html")]
struct ReviewState {
    base: String,
    form_token: String,
    shown: String,
    /// Whether it is sent beside an item, which it is not a part of.
    is_beside: bool,
    review: AccessReview,
    progress: ReviewProgress,
    can_decide: bool,
}

impl ReviewState {
    fn is_open(&self) -> bool {
        self.review.status == AccessReviewStatus::Open
    }

    /// Each filter of the items, with its name and the number of items.
    fn filters(&self) -> [(&'static str, &'static str, u64); 4] {
        let ReviewProgress { total, undecided, keep, revoke } = self.progress;
        [
            ("", text::t("all-items"), total),
            (ReviewItemFilter::Undecided.as_str(), text::t("undecided"), undecided),
            (ReviewItemFilter::Keep.as_str(), text::t("keep"), keep),
            (ReviewItemFilter::Revoke.as_str(), text::t("revoke"), revoke),
        ]
    }

    /// Whether the page shows the items of a filter.
    fn is_shown(&self, filter: &str) -> bool {
        filter == self.shown
    }

    /// The text about the effects of a completion.
    fn completion(&self) -> String {
        text::completion(self.progress.undecided, self.progress.keep, self.progress.revoke)
    }

    /// Whether a person who completes it must decide about some items before.
    fn waits(&self) -> bool {
        self.is_open() && self.can_decide && self.progress.undecided > 0
    }

    fn decided(&self) -> u64 {
        self.progress.total.saturating_sub(self.progress.undecided)
    }

    /// What can be done with the review as a whole. It stands in the head of the page.
    fn actions(&self) -> ReviewActions<'_> {
        ReviewActions { state: self }
    }
}

/// The actions of a review, which change with each decision, too.
#[derive(Template)]
#[template(path = "access-review-actions.html")]
struct ReviewActions<'a> {
    state: &'a ReviewState,
}

/// An item with the form for its decision.
#[derive(Template)]
#[template(path = "access-review-item.html")]
struct ItemRow {
    base: String,
    form_token: String,
    params: Params,
    listed: ListedReviewItem,
    /// The user, or the holders of a role who may ask.
    who: String,
    granted_by: Option<String>,
    /// The group that gave the role when the review began, if one did.
    given: Option<GivenBy>,
    decided_by: Option<String>,
    can_decide: bool,
    is_own: bool,
    /// The values of a form that was refused, and the reason.
    refused: Option<(String, String)>,
}

impl ItemRow {
    fn id(&self) -> AccessReviewItemId {
        self.listed.item.id()
    }

    fn is_eligibility(&self) -> bool {
        self.listed.item.subject.kind() == ReviewItemKind::Eligibility
    }

    fn place(&self) -> &str {
        self.listed.item.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name)
    }

    fn page(&self) -> u64 {
        self.params.page.unwrap_or(1)
    }

    fn reason(&self) -> &str {
        match (&self.refused, &self.listed.item.decided) {
            (Some((typed, _)), _) => typed,
            (None, Some(decided)) => decided.reason.as_ref().map_or("", |reason| reason.as_str()),
            (None, None) => "",
        }
    }

    fn error(&self) -> &str {
        self.refused.as_ref().map_or("", |(_, error)| error)
    }

    fn is_decided(&self, decision: &ReviewDecision) -> bool {
        self.listed.item.decision() == Some(*decision)
    }

    fn is_selectable(&self) -> bool {
        self.can_decide && !self.is_own && self.listed.item.decided.is_none()
    }
}

/// The answer to a decision, for a page that stays.
#[derive(Template)]
#[template(path = "access-review-decided.html")]
struct DecidedPart {
    row: ItemRow,
    state: ReviewState,
}

fn text_of(decision: &ReviewDecision) -> &'static str {
    match decision {
        ReviewDecision::Keep => text::t("keep"),
        ReviewDecision::Revoke => text::t("revoke"),
    }
}

/// What is to become of an item, until the review is completed.
fn mark_of(decision: &ReviewDecision) -> &'static str {
    match decision {
        ReviewDecision::Keep => text::t("to-keep"),
        ReviewDecision::Revoke => text::t("to-revoke"),
    }
}

fn outcome_of(outcome: &ReviewOutcome) -> &'static str {
    match outcome {
        ReviewOutcome::Kept => text::t("outcome-kept"),
        ReviewOutcome::Revoked => text::t("outcome-revoked"),
        ReviewOutcome::Gone => text::t("outcome-gone"),
    }
}

/// The state that the page of a review and its parts share.
struct Shown<'a> {
    console: &'a Console,
    signed_in: &'a SignedIn,
    form_token: String,
    params: Params,
    can_decide: bool,
}

impl<'a> Shown<'a> {
    async fn of(
        console: &'a Console,
        signed_in: &'a SignedIn,
        form_token: &str,
        params: Params,
        review: &AccessReview,
    ) -> Result<Self, Error> {
        let permission = ACCESS_REVIEWS_UPDATE.clone();
        let may = console.iam.access().require(&signed_in.caller, permission, review.organization_id).await;
        let can_decide = review.status == AccessReviewStatus::Open && if_allowed(may)?.is_some();
        Ok(Self { console, signed_in, form_token: form_token.to_owned(), params, can_decide })
    }

    fn state(&self, ListedAccessReview { review, progress }: ListedAccessReview, is_beside: bool) -> ReviewState {
        ReviewState {
            base: self.console.base().to_owned(),
            form_token: self.form_token.clone(),
            shown: self.params.decision.clone(),
            is_beside,
            review,
            progress,
            can_decide: self.can_decide,
        }
    }

    fn row(
        &self,
        listed: ListedReviewItem,
        (names, groups): (&Names, &GroupNames),
        refused: Option<(String, String)>,
    ) -> ItemRow {
        let (item, decided) = (&listed.item, listed.item.decided.as_ref());
        ItemRow {
            base: self.console.base().to_owned(),
            form_token: self.form_token.clone(),
            params: self.params.clone(),
            who: who_of(&listed, names),
            granted_by: item.granted_by.map(|id| names.user(id)),
            given: item.subject.directory_group().map(|id| groups.of(&id)),
            decided_by: decided.and_then(|decided| decided.decided_by).map(|id| names.user(id)),
            can_decide: self.can_decide,
            is_own: item.subject.user().is_some_and(|user| self.signed_in.caller.user() == Some(user)),
            refused,
            listed,
        }
    }

    /// Reads the names of these users, and of the roles whose holders may ask by one of these items.
    async fn names(&self, ids: impl Iterator<Item = UserId>, items: &[ListedReviewItem]) -> Result<Names, Error> {
        let (iam, caller) = (&self.console.iam, &self.signed_in.caller);
        let roles: Vec<RoleId> = items.iter().filter_map(held_role_of).collect();
        Names::read(iam, caller, ids, []).await?.with_roles(iam, caller, roles).await
    }

    async fn groups(&self, items: &[ListedReviewItem]) -> Result<GroupNames, Error> {
        let groups = items.iter().map(|listed| listed.item.subject.directory_group());
        GroupNames::read(self.console, &self.signed_in.caller, groups).await
    }
}

/// Returns the role whose holders may ask by the eligibility of an item.
fn held_role_of(listed: &ListedReviewItem) -> Option<RoleId> {
    match listed.item.subject {
        ReviewSubject::Eligibility { eligible: Eligible::HoldersOf(role), .. } => Some(role),
        ReviewSubject::Eligibility { eligible: Eligible::User(_), .. } | ReviewSubject::Assignment { .. } => None,
    }
}

/// Returns the user of an item, or the holders of a role who may ask.
fn who_of(listed: &ListedReviewItem, names: &Names) -> String {
    let named =
        |user: &UserSummary| user.service_name.as_ref().map_or_else(|| user.email.to_string(), ToString::to_string);
    let holders = || held_role_of(listed).map(|role| text::holders_of(&names.role(role)));
    listed.user.as_ref().map(named).or_else(holders).unwrap_or_default()
}

/// The users who are named beside the decision about an item.
fn users_of(listed: &ListedReviewItem) -> impl Iterator<Item = UserId> {
    let decided_by = listed.item.decided.as_ref().and_then(|decided| decided.decided_by);
    listed.item.granted_by.into_iter().chain(decided_by)
}

/// A form about an item that was refused: the item, the typed values, and the reason.
type Refused = (AccessReviewItemId, String, String);

/// Returns the page of a review, with the values of a form that was refused.
async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessReviewId,
    params: Params,
    refused: Option<Refused>,
) -> Result<ReviewPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let listed = iam.access_reviews().get(caller, id).await?;
    let frame = signed_in.frame(console).await?;
    let request =
        PageRequest::new(params.page.unwrap_or(1), LIMIT).map_err(|invalid: InvalidFields| Error::from(invalid))?;
    let mut items = iam.access_reviews().items(caller, id, params.filter()?, request).await?;
    let review = &listed.review;
    let shown = Shown::of(console, signed_in, frame.form_token(), params.clone(), review).await?;
    let about = review.user_ids.iter().copied().chain(review.created_by).chain(review.closed_by);
    let names = shown.names(items.items.iter().flat_map(users_of).chain(about), &items.items).await?;
    let groups = shown.groups(&items.items).await?;
    let refusal = |item: &ListedReviewItem| {
        let refused = refused.as_ref().filter(|(id, ..)| *id == item.item.id());
        refused.map(|(_, typed, error)| (typed.clone(), error.clone()))
    };
    let rows = std::mem::take(&mut items.items).into_iter().map(|item| {
        let refused = refusal(&item);
        shown.row(item, (&names, &groups), refused)
    });
    let rows = rows.collect();
    Ok(ReviewPage {
        frame,
        error: String::new(),
        is_late: review.status == AccessReviewStatus::Open && review.due_at < iam.now(),
        created_by: review.created_by.map(|id| names.user(id)),
        closed_by: review.closed_by.map(|id| names.user(id)),
        organization: match review.organization_id {
            None => None,
            Some(id) => {
                let found = if_allowed(iam.organizations().get(caller, id).await)?;
                Some(found.map_or_else(|| id.to_string(), |found| found.organization.name.to_string()))
            }
        },
        roles: role_names(console, signed_in, &review.role_ids).await?,
        users: review.user_ids.iter().map(|id| names.user(*id)).collect(),
        state: shown.state(listed, false),
        params,
        items,
        rows,
    })
}

/// Returns the names of roles, or the ids of those that the caller may not see.
async fn role_names(console: &Console, signed_in: &SignedIn, ids: &[RoleId]) -> Result<Vec<String>, Error> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let request = PageRequest::new(1, ROLES).map_err(|invalid: InvalidFields| Error::from(invalid))?;
    let found = if_allowed(console.iam.roles().list(&signed_in.caller, request).await)?;
    let names: BTreeMap<RoleId, String> =
        found.into_iter().flat_map(|page| page.items).map(|role| (role.id, role.name.to_string())).collect();
    Ok(ids.iter().map(|id| names.get(id).cloned().unwrap_or_else(|| id.to_string())).collect())
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessReviewId>,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, id, params, None).await?)
}

/// Returns the items that pass the filter as CSV.
pub(super) async fn file(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessReviewId>,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let items = console.iam.access_reviews().all_items(&signed_in.caller, id, params.filter()?).await?;
    console.iam.compute(&signed_in.caller, move || access_review_file(items)).await?
}

pub(super) async fn decide(
    State(console): State<Console>,
    signed_in: SignedIn,
    Path((id, item)): Path<(String, String)>,
    headers: HeaderMap,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (Ok(id), Ok(item)) = (id.parse::<AccessReviewId>(), item.parse::<AccessReviewItemId>()) else {
        return Err(Problem::new(Kind::NotFound));
    };
    let params = Params::shown_by(&form);
    let reason = form.get("reason");
    let decided = match form.get("decision").parse::<ReviewDecision>() {
        Ok(decision) => {
            let decision = NewDecision { decision, reason: Some(reason.to_owned()) };
            console.iam.access_reviews().decide(&signed_in.caller, id, item, decision).await
        }
        Err(_) => Err(Error::field("decision", text::t("must-decide"))),
    };
    match decided {
        Ok(listed) if is_for_part(&headers) => {
            let review = console.iam.access_reviews().get(&signed_in.caller, id).await?;
            let shown = Shown::of(&console, &signed_in, &signed_in.form_token, params, &review.review).await?;
            let names = shown.names(users_of(&listed), std::slice::from_ref(&listed)).await?;
            let groups = shown.groups(std::slice::from_ref(&listed)).await?;
            let row = shown.row(listed, (&names, &groups), None);
            let decision = row.listed.item.decision().map_or("", |decision| text_of(&decision));
            let saved = format!("{} {decision}, {}, {}", text::t("decision-saved"), row.who, row.listed.item.role.name);
            part(&DecidedPart { row, state: shown.state(review, true) }, &saved)
        }
        Ok(_) => Ok(back(&console, id, &params, "decided")),
        Err(error) if is_for_part(&headers) => Err(error.into()),
        Err(Error::Validation(errors)) => {
            let named = |error: &FieldError| {
                let name = if error.field == "reason" { text::t("reason") } else { text::t("decision") };
                text::about(name, &error.message)
            };
            let error = errors.iter().map(named).collect::<Vec<_>>().join(" ");
            let refused = Some((item, reason.to_owned(), error));
            page(StatusCode::BAD_REQUEST, &page_of(&console, &signed_in, id, params, refused).await?)
        }
        Err(error) => {
            let refused = Some((item, reason.to_owned(), String::new()));
            let shown = page_of(&console, &signed_in, id, params, refused).await?;
            refused_in_place(error, |error| ReviewPage { error, ..shown })
        }
    }
}

/// Keeps the items that the person has selected.
pub(super) async fn keep(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessReviewId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match keep_selected(&console, &signed_in, id, &form).await {
        Ok(done) => Ok(back(&console, id, &Params::shown_by(&form), done)),
        Err(error) => answer(&console, &signed_in, id, &form, Err(error)).await,
    }
}

/// Decides about each selected item by itself, up to one that is refused. What another person has decided meanwhile stays.
async fn keep_selected(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessReviewId,
    form: &Form,
) -> Result<&'static str, Error> {
    let (reviews, caller) = (console.iam.access_reviews(), &signed_in.caller);
    // A page offers no more.
    let selected: BTreeSet<&str> = form.all("selected").take(LIMIT as usize).collect();
    let mut done = "";
    for listed in reviews.all_items(caller, id, Some(ReviewItemFilter::Undecided)).await? {
        let item = listed.item.id();
        if selected.contains(item.to_string().as_str()) {
            let keep = NewDecision { decision: ReviewDecision::Keep, reason: None };
            reviews.decide(caller, id, item, keep).await?;
            done = "decided";
        }
    }
    Ok(done)
}

pub(super) async fn complete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessReviewId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let result = console.iam.access_reviews().complete(&signed_in.caller, id).await;
    answer(&console, &signed_in, id, &form, result.map(|_| "completed")).await
}

pub(super) async fn cancel(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<AccessReviewId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let result = console.iam.access_reviews().cancel(&signed_in.caller, id).await;
    answer(&console, &signed_in, id, &form, result.map(|_| "cancelled")).await
}

/// Leads back to the page of the review, or shows there why the call was refused.
async fn answer(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessReviewId,
    form: &Form,
    result: Result<&'static str, Error>,
) -> Result<Response, Problem> {
    let params = Params::shown_by(form);
    match result {
        Ok(done) => Ok(back(console, id, &Params::default(), done)),
        Err(error) => {
            let item = refused_item(console, signed_in, id, &error).await?;
            let shown = page_of(console, signed_in, id, params, None).await?;
            refused_in_place(error, |error| {
                let error = item.map_or_else(|| error.clone(), |item| format!("{item}: {error}"));
                ReviewPage { error, ..shown }
            })
        }
    }
}

/// Returns the user and the role of the item that cannot be revoked, if the error is about one.
async fn refused_item(
    console: &Console,
    signed_in: &SignedIn,
    id: AccessReviewId,
    error: &Error,
) -> Result<Option<String>, Error> {
    let Error::About { field, .. } = error else { return Ok(None) };
    let named = field.strip_prefix("items[").and_then(|rest| rest.strip_suffix(']'));
    let Some(Ok(item)) = named.map(str::parse::<AccessReviewItemId>) else { return Ok(None) };
    let revoked = Some(ReviewItemFilter::Revoke);
    let items = console.iam.access_reviews().all_items(&signed_in.caller, id, revoked).await?;
    let Some(found) = items.into_iter().find(|listed| listed.item.id() == item) else { return Ok(None) };
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let names = Names::default().with_roles(iam, caller, held_role_of(&found)).await?;
    Ok(Some(format!("{}, {}", who_of(&found, &names), found.item.role.name)))
}

fn back(console: &Console, id: AccessReviewId, params: &Params, done: &str) -> Response {
    let page = params.page.map(|page| page.to_string()).unwrap_or_default();
    let query = query(&[("decision", &*params.decision), ("page", &page), ("done", done)]);
    Redirect::to(&format!("{}/access-reviews/{id}?{query}", console.base())).into_response()
}
