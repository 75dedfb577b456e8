use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use chrono::TimeDelta;
use iam_axum::Problem;
use iam_core::assignment::{AssignmentFilter, ListedAssignment};
use iam_core::page::{Page, PageRequest};
use iam_core::permission::{ROLE_ASSIGNMENTS_DELETE, ROLE_ASSIGNMENTS_UPDATE};
use iam_core::role::Role;
use iam_core::user::User;
use iam_core::{Caller, Error, FieldError, Iam};
use serde::Deserialize;

use crate::confirm::{at_fields, text_above};
use crate::filters::{Chips, Filter};
use crate::group_names::GroupNames;
use crate::names;
use crate::paging::{self, LONG, Pages};
use crate::person::Person;
use crate::picker;
use crate::problem::{if_allowed, is_for_part, refused_in_place};
use crate::query::Query;
use crate::roles;
use crate::runs;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::{Time, typed, utc};
use crate::view::{Field, Frame, page, part, query};

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    user: String,
    role: String,
    organization: String,
    at: String,
    /// Within how many days the assignments end; see [`ENDS`].
    ends: String,
    page: Option<u64>,
    /// See [`paging::request_of`].
    lines: String,
}

/// The choices of the filter by end, in days. The overview leads to one of them.
const ENDS: [i64; 3] = [7, 30, 90];

impl Params {
    fn is_filtered(&self) -> bool {
        [&self.user, &self.role, &self.organization, &self.at, &self.ends].iter().any(|text| !text.is_empty())
    }

    /// Returns within how many days the assignments end. `None` for all assignments.
    fn days(&self) -> Result<Option<i64>, Error> {
        if self.ends.is_empty() {
            return Ok(None);
        }
        let days = ENDS.into_iter().find(|days| days.to_string() == self.ends);
        days.map(Some).ok_or_else(|| Error::field("ends", text::t("one-of-the-list")))
    }

    fn query(&self, page: u64, lines: &str) -> String {
        query(&[
            ("user", &*self.user),
            ("role", &self.role),
            ("organization", &self.organization),
            ("at", &self.at),
            ("ends", &self.ends),
            ("page", &page.to_string()),
            ("lines", lines),
        ])
    }

    /// Returns the filters in force, with the names of what they name by ids.
    async fn chips(&self, console: &Console, caller: &Caller) -> Result<Chips, Error> {
        let iam = &console.iam;
        let user = picker::shown_user(iam, caller, &self.user).await?;
        let role = picker::shown_role(iam, caller, &self.role).await?;
        let place = picker::shown_organization(iam, caller, &self.organization).await?;
        let at = typed("at", &self.at)?.map(|at| utc(&at)).unwrap_or_default();
        let filters = [
            Filter::of("user", text::t("user"), &self.user, user),
            Filter::of("role", text::t("role"), &self.role, role),
            Filter::of("organization", text::t("organization"), &self.organization, place),
            Filter::of("at", text::t("held-at"), &self.at, at),
            Filter::of(
                "ends",
                text::t("ends-when"),
                &self.ends,
                self.days()?.map(text::within_days).unwrap_or_default(),
            ),
        ];
        Ok(Chips::of(&format!("{}/assignments", console.base()), &filters, &[]))
    }
}

#[derive(Template)]
#[template(path = "assignments.html")]
struct AssignmentsPage {
    frame: Frame,
    params: Params,
    error: String,
    user: Field,
    organization: Field,
    moment: Field,
    /// Empty if the caller may not see roles.
    roles: Vec<Role>,
    found: String,
    /// `None` if the filter is wrong.
    list: Option<AssignmentList>,
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "assignment-list.html")]
struct AssignmentList {
    base: String,
    is_filtered: bool,
    chips: Chips,
    /// Whether the list shows the assignments of now, and not of another moment.
    is_present: bool,
    /// Whether the person can do something with many of the assignments.
    selects: bool,
    assignments: Vec<ListedAssignment>,
    /// Those of their users whom the caller may see.
    users: Vec<User>,
    /// The groups that give some of them.
    groups: GroupNames,
    pages: Pages,
    /// The address of the same list with longer pages, on which more can be selected.
    longer: Option<String>,
}

impl AssignmentList {
    async fn of(
        console: &Console,
        caller: &Caller,
        params: &Params,
        found: Page<ListedAssignment>,
    ) -> Result<Self, Error> {
        let base = console.base().to_owned();
        let selects = params.at.is_empty()
            && runs::offers(&console.iam, caller, &[ROLE_ASSIGNMENTS_DELETE, ROLE_ASSIGNMENTS_UPDATE]);
        let address = |page: u64, lines: &str| format!("{base}/assignments?{}", params.query(page, lines));
        let pages = Pages::of(&found, |page| address(page, &params.lines));
        let is_longer_offered = selects && paging::can_be_longer(found.total, &params.lines);
        let longer = is_longer_offered.then(|| address(1, LONG));
        let groups = found.items.iter().map(|held| held.assignment.directory_group_id);
        let users = found.items.iter().map(|held| held.assignment.user_id);
        Ok(Self {
            users: names::users(&console.iam, caller, users).await?,
            groups: GroupNames::read(console, caller, groups).await?,
            is_filtered: params.is_filtered(),
            chips: params.chips(console, caller).await?,
            is_present: params.at.is_empty(),
            selects,
            pages,
            longer,
            assignments: found.items,
            base,
        })
    }
}

async fn find(
    iam: &Iam,
    caller: &Caller,
    params: &Params,
    request: PageRequest,
) -> Result<Page<ListedAssignment>, Error> {
    let user = match params.user.trim() {
        "" => None,
        text => Some(picker::user(iam, caller, text).await?),
    };
    let role = match params.role.trim() {
        "" => None,
        text => Some(text.parse().map_err(|_| Error::field("role", text::t("one-of-the-list")))?),
    };
    let organization = picker::organization(iam, caller, "organization", &params.organization).await?;
    let at = typed("at", &params.at)?;
    // An end at the last moment of these days is among them, as in the overview.
    let end = |days| at.unwrap_or_else(|| iam.now()) + TimeDelta::days(days) + TimeDelta::milliseconds(1);
    let ends_before = params.days()?.map(end);
    let filter = AssignmentFilter { user, role, organization, ends_before, include_expired: false };
    match at {
        None => iam.assignments().list(caller, &filter, request).await,
        Some(at) => iam.assignments().list_at(caller, &filter, at, request).await,
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let caller = &signed_in.caller;
    let found = find(&console.iam, caller, &params, paging::request_of(params.page, &params.lines)?).await;
    if is_for_part(&headers) {
        let found = found?;
        let summary = text::assignments_found(found.total);
        return part(&AssignmentList::of(&console, caller, &params, found).await?, &summary);
    }
    match found {
        Ok(found) => {
            let shown = page_of(&console, &signed_in, &params, &[]).await?;
            let summary = text::assignments_found(found.total);
            let list = Some(AssignmentList::of(&console, caller, &params, found).await?);
            page(StatusCode::OK, &AssignmentsPage { found: summary, list, ..shown })
        }
        // Without the permission, there is nothing to see with another filter.
        Err(error @ Error::Forbidden(_)) if params.at.is_empty() => Err(error.into()),
        Err(error) => {
            let shown = page_of(&console, &signed_in, &params, &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| AssignmentsPage { error: text, ..shown })
        }
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    params: &Params,
    errors: &[FieldError],
) -> Result<AssignmentsPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = Field::text("user", text::t("user")).optional();
    let user = user.filled(&picker::shown_user(iam, caller, &params.user).await?).with_errors(errors);
    let organization = Field::text("organization", text::t("organization")).optional();
    let shown = picker::shown_organization(iam, caller, &params.organization).await?;
    let organization = organization.with_hint(text::t("pick-organization")).filled(&shown).with_errors(errors);
    let moment = Field::text("at", text::t("as-of")).with_hint(text::t("as-of-hint"));
    Ok(AssignmentsPage {
        frame: signed_in.frame(console).await?,
        error: String::new(),
        user: picker::of_user(console, user),
        organization: picker::of_organization(console, organization),
        moment: moment.filled(&params.at).with_errors(errors),
        roles: if_allowed(roles::all(iam, caller).await)?.unwrap_or_default(),
        params: params.clone(),
        found: String::new(),
        list: None,
    })
}

impl AssignmentsPage {
    fn selects(&self) -> bool {
        self.list.as_ref().is_some_and(|list| list.selects)
    }

    fn is_wanted(&self, role: &Role) -> bool {
        self.params.role == role.id.to_string()
    }

    /// The choices of the filter by end: the value, the text, and whether it is in force.
    fn ends(&self) -> [(String, String, bool); 3] {
        ENDS.map(|days| (days.to_string(), text::within_days(days), days.to_string() == self.params.ends))
    }
}
