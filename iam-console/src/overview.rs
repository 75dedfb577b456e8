//! The first page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::TimeDelta;
use iam_axum::Problem;
use iam_core::access_request::{
    AccessRequest, AccessRequestFilter, AccessRequestStatus, AccessVerdict, ListedAccessRequest,
};
use iam_core::clock::Timestamp;
use iam_core::factor::SecondFactorPolicy;
use iam_core::organization::{OrganizationFilter, OrganizationSort};
use iam_core::page::PageRequest;
use iam_core::permission::{AUDIT_LOGS_READ, USERS_READ};
use iam_core::session::{AuthenticatedBy, Me, Session};
use iam_core::user::{UserFilter, UserSort, UserStatus};
use iam_core::{Caller, Error, Iam};

use crate::access_requests::{own_open, role_of, text_of};
use crate::asking::may_ask;
use crate::hands::{self, Hand, Line};
use crate::problem::if_allowed;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::{Ago, Time};
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    me: Me,
    session: Option<Session>,
    /// What needs a hand, as far as the caller may see it.
    hands: Vec<Hand>,
    now: Timestamp,
    /// Each role, with where and until when it is held.
    roles: Vec<(String, String, Option<Timestamp>)>,
    elevated: Elevated,
    /// `None` if the caller may not see any user.
    users: Option<[(UserStatus, u64); 3]>,
    /// `None` if the caller may not read the audit log.
    log: Option<LogLag>,
    /// Whether the tenant has one user and no organization, so that the page shows the first steps.
    is_new: bool,
    /// Which charts are loaded after the page.
    sees_log: bool,
    sees_people: bool,
}

/// What access requests give and ask for.
struct Elevated {
    /// The person's own requests that are in force.
    own: Vec<ListedAccessRequest>,
    /// Its other open requests: those that wait, and those that begin later.
    waiting: Vec<ListedAccessRequest>,
    /// Those that were refused in the last days.
    refused: Vec<ListedAccessRequest>,
    /// Whether there is a role for which it may ask.
    may_ask: bool,
}

/// How many refused requests are shown, and for how long.
const REFUSED: u32 = 3;
const RECENT: TimeDelta = TimeDelta::days(7);

impl Elevated {
    async fn read(iam: &Iam, caller: &Caller) -> Result<Self, Error> {
        let open = own_open(iam, caller).await?.into_iter();
        let (own, waiting) = open.partition(|listed| listed.request.status == AccessRequestStatus::Active);
        Ok(Self { own, waiting, refused: refused(iam, caller).await?, may_ask: may_ask(iam, caller).await? })
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.waiting.is_empty() && self.refused.is_empty() && !self.may_ask
    }
}

/// Returns the newest requests of the person that were refused in the last days.
async fn refused(iam: &Iam, caller: &Caller) -> Result<Vec<ListedAccessRequest>, Error> {
    let Some(user) = caller.user() else { return Ok(Vec::new()) };
    let status = Some(AccessRequestStatus::Denied);
    let filter = AccessRequestFilter { status, user: Some(user), ..AccessRequestFilter::default() };
    let mut found = iam.access_requests().list(caller, &filter, PageRequest::new(1, REFUSED)?).await?.items;
    let since = iam.now() - RECENT;
    found.retain(|listed| listed.request.closed_at.is_some_and(|closed| since <= closed));
    Ok(found)
}

/// Returns why a request was refused; empty without a reason.
fn refusal_of(request: &AccessRequest) -> &str {
    let refusal = request.decisions.iter().rev().find(|decision| decision.decision == AccessVerdict::Deny);
    refusal.and_then(|decision| decision.reason.as_ref()).map_or("", |reason| reason.as_str())
}

/// How far the proofs of the audit log are behind its entries.
enum LogLag {
    /// All entries, and how many of them wait for their place in the log, since when.
    State { size: u64, pending: usize, since: Option<Timestamp>, is_late: bool },
    /// The log does not match its own checkpoint.
    Broken,
}

/// After this time, an entry should have its place in the log.
const LATE: TimeDelta = TimeDelta::minutes(1);

impl LogLag {
    async fn read(iam: &Iam, caller: &Caller) -> Result<Option<Self>, Error> {
        match iam.audit().checkpoint(caller).await {
            Ok(state) => Ok(Some(Self::State {
                size: state.signed.checkpoint.size,
                pending: state.pending.len(),
                since: state.pending_since,
                is_late: state.pending_since.is_some_and(|since| iam.now() - since > LATE),
            })),
            Err(Error::Internal(_)) => Ok(Some(Self::Broken)),
            Err(error) => if_allowed(Err(error)),
        }
    }

    /// Returns what needs a hand; `None` if the proofs keep up with the entries.
    fn hand(&self) -> Option<Hand> {
        let (text, hint, since) = match self {
            Self::Broken => (text::t("log-fails").to_owned(), text::t("log-broken"), None),
            Self::State { pending, since, is_late: true, .. } => {
                (text::entries_late(*pending), text::t("log-late"), *since)
            }
            Self::State { .. } => return None,
        };
        let line = |at| Line {
            label: text::t("oldest-entry").to_owned(),
            address: String::new(),
            more: String::new(),
            at: Some(at),
        };
        Some(Hand { id: "log", text, address: "/audit", hint, lines: since.map(line).into_iter().collect() })
    }
}

/// All entries, if they could be counted: at most 100 that wait are.
fn recorded(size: &u64, pending: &usize) -> String {
    let all = size.saturating_add(*pending as u64);
    if *pending < 100 { all.to_string() } else { text::at_least(all) }
}

/// Whether nothing was done in the tenant since its registration. `false` for a caller that cannot see it.
async fn is_new(iam: &Iam, caller: &Caller, users: Option<&[(UserStatus, u64)]>) -> Result<bool, Error> {
    if users.is_none_or(|counts| counts.iter().map(|(_, count)| count).sum::<u64>() != 1) {
        return Ok(false);
    }
    let (filter, sort) = (OrganizationFilter::default(), OrganizationSort::default());
    let found = iam.organizations().list(caller, &filter, sort, PageRequest::new(1, 1)?).await;
    Ok(if_allowed(found)?.is_some_and(|found| found.total == 0))
}

/// Counts the users that the caller may see.
async fn users_by_status(iam: &Iam, caller: &Caller) -> Result<Option<[(UserStatus, u64); 3]>, Error> {
    let mut counts = [UserStatus::Active, UserStatus::Suspended, UserStatus::Inactive].map(|status| (status, 0));
    for (status, count) in &mut counts {
        let filter = UserFilter { status: Some(*status), ..UserFilter::default() };
        match iam.users().list(caller, &filter, UserSort::default(), PageRequest::new(1, 1)?).await {
            Ok(found) => *count = found.total,
            Err(Error::Forbidden(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(counts))
}

pub(crate) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    let me = console.iam.sessions().me(&signed_in.caller).await?;
    let frame = signed_in.frame_for(&console, &me);
    let session = match &me.by {
        AuthenticatedBy::Session(session) => Some(session.clone()),
        AuthenticatedBy::ApiKey(_) => None,
    };
    let roles = me.grants.iter().map(|grant| {
        let place = grant.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name);
        (grant.role.name.to_string(), place.to_owned(), grant.assignment.expires_at)
    });
    let roles = roles.collect();
    let users = users_by_status(&console.iam, &signed_in.caller).await?;
    let is_new = is_new(&console.iam, &signed_in.caller, users.as_ref().map(|counts| &counts[..])).await?;
    let elevated = Elevated::read(&console.iam, &signed_in.caller).await?;
    let log = LogLag::read(&console.iam, &signed_in.caller).await?;
    let mut hands: Vec<Hand> = log.as_ref().and_then(LogLag::hand).into_iter().collect();
    hands.extend(hands::read(&console.iam, &signed_in.caller, &me).await?);
    let (sees_log, sees_people) = (frame.may_everywhere(&AUDIT_LOGS_READ), frame.may_everywhere(&USERS_READ));
    let now = console.iam.now();
    let shown = Overview { frame, session, hands, now, roles, elevated, users, log, is_new, sees_log, sees_people, me };
    page(StatusCode::OK, &shown)
}
