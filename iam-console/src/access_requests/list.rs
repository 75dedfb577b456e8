use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use iam_axum::Problem;
use iam_core::access_request::{AccessRequest, AccessRequestFilter, AccessRequestStatus, ListedAccessRequest};
use iam_core::clock::Timestamp;
use iam_core::page::{Page, PageRequest};
use iam_core::permission::ROLE_ASSIGNMENTS_DELETE;
use iam_core::role::Role;
use iam_core::user::User;
use iam_core::{Caller, Error, FieldError, UserId};
use serde::Deserialize;

use crate::access_requests::own_open;
use crate::asking::may_ask;
use crate::confirm::{at_fields, text_above};
use crate::day::{first_moment, last_moment};
use crate::filters::{Chips, Filter};
use crate::names;
use crate::paging::{self, Pages};
use crate::person::Person;
use crate::picker;
use crate::problem::{if_allowed, is_for_part, refused_in_place};
use crate::query::{Query, filter};
use crate::roles;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Field, Frame, page, part, query};

/// Which requests a list shows before its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    Own,
    ToDecide,
    InForce,
    All,
}

impl Tab {
    const ALL: [Self; 4] = [Self::Own, Self::ToDecide, Self::InForce, Self::All];

    fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::ToDecide => "to-decide",
            Self::InForce => "in-force",
            Self::All => "all",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Own => text::t("own-requests"),
            Self::ToDecide => text::t("requests-to-decide"),
            Self::InForce => text::t("requests-in-force"),
            Self::All => text::t("all-requests"),
        }
    }

    fn nothing(self) -> &'static str {
        match self {
            Self::Own => text::t("no-own-requests"),
            Self::ToDecide => text::t("no-requests-to-decide"),
            Self::InForce => text::t("no-requests-in-force"),
            Self::All => text::t("no-request-matches"),
        }
    }

    fn named(text: &str) -> Result<Self, Error> {
        let named = Self::ALL.into_iter().find(|tab| tab.as_str() == text);
        named.ok_or_else(|| Error::field("show", text::t("one-of-the-list")))
    }

    /// The list with which the page opens: what waits for the person, unless a request of its own is open.
    async fn first(console: &Console, caller: &Caller) -> Result<Self, Error> {
        let decides = to_decide(console, caller).await? > 0 && own_open(&console.iam, caller).await?.is_empty();
        Ok(if decides { Self::ToDecide } else { Self::Own })
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    show: String,
    status: String,
    user: String,
    role: String,
    organization: String,
    /// The days on which it was asked.
    from: String,
    until: String,
    page: Option<u64>,
}

impl Params {
    fn is_filtered(&self) -> bool {
        let Self { status, user, role, organization, from, until, show: _, page: _ } = self;
        [status, user, role, organization, from, until].iter().any(|text| !text.is_empty())
    }

    fn query(&self, page: u64) -> String {
        query(&[
            ("show", &*self.show),
            ("status", &self.status),
            ("user", &self.user),
            ("role", &self.role),
            ("organization", &self.organization),
            ("from", &self.from),
            ("until", &self.until),
            ("page", &page.to_string()),
        ])
    }

    /// Returns the filters in force, with the names of what they name by ids.
    async fn chips(&self, console: &Console, caller: &Caller, tab: Tab) -> Result<Chips, Error> {
        let iam = &console.iam;
        // Some lists have one of these filters themselves.
        let given_status = if tab == Tab::InForce { "" } else { &*self.status };
        let given_user = if tab == Tab::Own { "" } else { &*self.user };
        let status: Option<AccessRequestStatus> = filter("status", given_status)?;
        let user = picker::shown_user(iam, caller, given_user).await?;
        let role = picker::shown_role(iam, caller, &self.role).await?;
        let place = picker::shown_organization(iam, caller, &self.organization).await?;
        let filters = [
            Filter::of("status", text::t("status"), given_status, status.as_ref().map_or("", super::text_of)),
            Filter::of("user", text::t("requested-by"), given_user, user),
            Filter::of("role", text::t("role"), &self.role, role),
            Filter::of("organization", text::t("organization"), &self.organization, place),
            Filter::typed("from", text::t("from-day"), &self.from),
            Filter::typed("until", text::t("until-day"), &self.until),
        ];
        Ok(Chips::of(&format!("{}/access-requests", console.base()), &filters, &[("show", &*self.show)]))
    }
}

#[derive(Template)]
#[template(path = "access-requests.html")]
struct RequestsPage {
    frame: Frame,
    params: Params,
    tab: Tab,
    /// How many requests wait for the person.
    to_decide: u64,
    error: String,
    user: Field,
    organization: Field,
    /// From when until when the list goes.
    days: [Field; 2],
    /// Empty if the caller may not see roles.
    roles: Vec<Role>,
    found: String,
    /// `None` if the filter is wrong.
    list: Option<RequestList>,
}

impl RequestsPage {
    fn is_of_all(&self) -> bool {
        self.tab == Tab::All
    }

    /// Each list, with its address and with how many wait in it.
    fn tabs(&self) -> [(String, &'static str, Option<u64>, bool); 4] {
        Tab::ALL.map(|tab| {
            let query = query(&[("show", tab.as_str())]);
            let count = Some(self.to_decide).filter(|count| tab == Tab::ToDecide && *count > 0);
            (format!("{}/access-requests?{query}", self.frame.base), tab.text(), count, tab == self.tab)
        })
    }

    fn is_wanted(&self, role: &Role) -> bool {
        self.params.role == role.id.to_string()
    }

    fn is_status(&self, status: &AccessRequestStatus) -> bool {
        self.params.status == status.as_str()
    }
}

/// The part of the page that changes with the filter.
#[derive(Template)]
#[template(path = "access-request-list.html")]
struct RequestList {
    base: String,
    form_token: String,
    tab: Tab,
    is_filtered: bool,
    chips: Chips,
    requests: Vec<ListedAccessRequest>,
    /// Those who have made them, as far as the caller may see users.
    users: Vec<User>,
    /// The person, which can end the access that it has itself.
    own: Option<UserId>,
    /// Whether the person may end the access of others, in some places.
    may_end: bool,
    /// Whether the empty list leads to asking.
    may_ask: bool,
    pages: Pages,
}

impl RequestList {
    async fn of(
        console: &Console,
        signed_in: &SignedIn,
        frame: &Frame,
        (tab, params): (Tab, &Params),
        found: Page<ListedAccessRequest>,
    ) -> Result<Self, Error> {
        let (iam, caller, base) = (&console.iam, &signed_in.caller, console.base().to_owned());
        let may_ask = found.items.is_empty() && may_ask(iam, caller).await?;
        let users = found.items.iter().map(|listed| listed.request.requested_by);
        Ok(Self {
            users: names::users(iam, caller, users).await?,
            form_token: frame.form_token().to_owned(),
            tab,
            is_filtered: params.is_filtered(),
            chips: params.chips(console, caller, tab).await?,
            own: caller.user(),
            may_end: frame.may(&ROLE_ASSIGNMENTS_DELETE),
            may_ask,
            pages: Pages::of(&found, |page| format!("{base}/access-requests?{}", params.query(page))),
            requests: found.items,
            base,
        })
    }

    /// Whether the list has the button that ends an elevation.
    fn ends(&self, request: &AccessRequest) -> bool {
        let is_own = self.own == Some(request.requested_by);
        request.status == AccessRequestStatus::Active && (is_own || self.may_end)
    }

    /// Whether the requests of the list wait for the decision of the person.
    fn decides(&self) -> bool {
        self.tab == Tab::ToDecide
    }

    /// Whether a line of the list has something that the person can do.
    fn has_actions(&self) -> bool {
        self.decides() || self.requests.iter().any(|listed| self.ends(&listed.request))
    }
}

/// Returns for how long the role is asked for.
fn time_of(request: &AccessRequest) -> String {
    text::duration(request.seconds)
}

/// Returns from when until when a request gives the role, or gave it; the next moment of one that has not begun, or when
/// it was closed. Each moment has the word before it.
fn moments_of(request: &AccessRequest) -> Vec<(&'static str, Timestamp)> {
    let one = |word: &'static str, at: Option<Timestamp>| vec![at.map(|at| (word, at))];
    let moments = match request.status {
        AccessRequestStatus::Pending => one(text::t("lapses"), Some(request.lapses_at)),
        AccessRequestStatus::Approved => one(text::t("begins"), request.starts_at),
        AccessRequestStatus::Active | AccessRequestStatus::Ended => {
            // One that has ended by itself may not be closed yet.
            let end = request.closed_at.into_iter().chain(request.ends_at).min();
            let begin = request.starts_at.map(|at| (text::t("from-moment"), at));
            vec![begin, end.map(|at| (text::t("until"), at))]
        }
        AccessRequestStatus::Lapsed => one(text::t("closed-on"), request.closed_at.or(Some(request.lapses_at))),
        AccessRequestStatus::Denied | AccessRequestStatus::Cancelled => one(text::t("closed-on"), request.closed_at),
    };
    moments.into_iter().flatten().collect()
}

/// Returns how many requests wait for the person.
async fn to_decide(console: &Console, caller: &Caller) -> Result<u64, Error> {
    let filter = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
    let waiting = if_allowed(console.iam.access_requests().list(caller, &filter, paging::request(None)?).await)?;
    Ok(waiting.map_or(0, |waiting| waiting.total))
}

async fn find(
    console: &Console,
    signed_in: &SignedIn,
    (tab, params): (Tab, &Params),
    request: PageRequest,
) -> Result<Page<ListedAccessRequest>, Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = match (tab, params.user.trim()) {
        (Tab::Own, _) => caller.user(),
        (_, "") => None,
        (_, text) => Some(picker::user(iam, caller, text).await?),
    };
    let role = match params.role.trim() {
        "" => None,
        text => Some(text.parse().map_err(|_| Error::field("role", text::t("one-of-the-list")))?),
    };
    let organization = picker::organization(iam, caller, "organization", &params.organization).await?;
    let status = match tab {
        Tab::InForce => Some(AccessRequestStatus::Active),
        _ => filter("status", &params.status)?,
    };
    let (from, until) = (first_moment("from", &params.from)?, last_moment("until", &params.until)?);
    let to_decide = tab == Tab::ToDecide;
    let filter = AccessRequestFilter { status, user, role, organization, from, until, to_decide };
    iam.access_requests().list(caller, &filter, request).await
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    headers: HeaderMap,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let tab = match &*params.show {
        "" => Tab::first(&console, &signed_in.caller).await?,
        named => Tab::named(named)?,
    };
    let params = Params { show: tab.as_str().to_owned(), ..params };
    let found = find(&console, &signed_in, (tab, &params), paging::request(params.page)?).await;
    if is_for_part(&headers) {
        let (found, frame) = (found?, signed_in.frame(&console).await?);
        let summary = text::requests_found(found.total);
        return part(&RequestList::of(&console, &signed_in, &frame, (tab, &params), found).await?, &summary);
    }
    match found {
        Ok(found) => {
            let shown = page_of(&console, &signed_in, (tab, &params), &[]).await?;
            let summary = text::requests_found(found.total);
            let list = Some(RequestList::of(&console, &signed_in, &shown.frame, (tab, &params), found).await?);
            page(StatusCode::OK, &RequestsPage { found: summary, list, ..shown })
        }
        Err(error) => {
            let shown = page_of(&console, &signed_in, (tab, &params), &at_fields(&error)).await?;
            let text = text_above(&error);
            refused_in_place(error, |_| RequestsPage { error: text, ..shown })
        }
    }
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    (tab, params): (Tab, &Params),
    errors: &[FieldError],
) -> Result<RequestsPage, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let user = Field::text("user", text::t("requested-by")).optional();
    let user = user.filled(&picker::shown_user(iam, caller, &params.user).await?).with_errors(errors);
    let organization = Field::text("organization", text::t("organization")).optional();
    let shown = picker::shown_organization(iam, caller, &params.organization).await?;
    let organization = organization.with_hint(text::t("pick-organization")).filled(&shown).with_errors(errors);
    let day = |name, label, typed: &str| {
        let field = Field { kind: "date", ..Field::text(name, label) };
        field.optional().filled(typed).with_errors(errors)
    };
    let days = [day("from", text::t("from-day"), &params.from), day("until", text::t("until-day"), &params.until)];
    let roles = if tab == Tab::All { if_allowed(roles::all(iam, caller).await)? } else { None };
    Ok(RequestsPage {
        frame: signed_in.frame(console).await?,
        tab,
        to_decide: to_decide(console, caller).await?,
        error: String::new(),
        user: picker::of_user(console, user),
        organization: picker::of_organization(console, organization),
        days,
        roles: roles.unwrap_or_default(),
        params: params.clone(),
        found: String::new(),
        list: None,
    })
}
