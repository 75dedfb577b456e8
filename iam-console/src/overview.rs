//! The first page.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::TimeDelta;
use iam_axum::Problem;
use iam_core::access_request::{AccessRequestFilter, AccessRequestStatus, ListedAccessRequest};
use iam_core::api_key::ApiKey;
use iam_core::assignment::ListedAssignment;
use iam_core::clock::Timestamp;
use iam_core::factor::SecondFactorPolicy;
use iam_core::invitation::{InvitationFilter, InvitationStatus};
use iam_core::organization::{OrganizationFilter, OrganizationSort};
use iam_core::page::PageRequest;
use iam_core::session::{AuthenticatedBy, Me, Session};
use iam_core::user::{UserFilter, UserSort, UserStatus};
use iam_core::{Caller, Error, Iam, UserId};

use crate::access_requests::{may_ask, own_open, role_of, text_of};
use crate::activity::Activity;
use crate::english;
use crate::names::label_of;
use crate::problem::if_allowed;
use crate::session::SignedIn;
use crate::state::Console;
use crate::time::Time;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    me: Me,
    session: Option<Session>,
    /// Each role, with where and until when it is held.
    roles: Vec<(String, String, Option<Timestamp>)>,
    elevated: Elevated,
    /// `None` if the caller may not see any user.
    users: Option<[(UserStatus, u64); 3]>,
    /// `None` if the caller may not read the audit log.
    activity: Option<Activity>,
    /// `None` if there are none, or if the caller may not see them.
    linked: Option<Linked>,
    ending: Ending,
    /// `None` if the caller may not read the audit log.
    log: Option<LogLag>,
    /// Whether the tenant has one user and no organization, so that the page shows the first steps.
    is_new: bool,
}

/// The holders of all permissions whom an identity provider can sign in.
struct Linked {
    holders: Vec<LinkedHolder>,
    /// Whether there are too many holders to look at all of them.
    is_cut: bool,
}

struct LinkedHolder {
    id: UserId,
    label: String,
    /// The names of the providers.
    providers: String,
}

impl Linked {
    async fn read(iam: &Iam, caller: &Caller) -> Result<Option<Self>, Error> {
        let Some(found) = if_allowed(iam.federation().linked_holders(caller).await)? else { return Ok(None) };
        let holders = found.holders.into_iter().map(|(user, providers)| LinkedHolder {
            id: user.id,
            label: label_of(&user),
            providers: providers.iter().map(|provider| provider.name.as_str()).collect::<Vec<_>>().join(", "),
        });
        let linked = Self { holders: holders.collect(), is_cut: found.truncated };
        Ok((linked.is_cut || !linked.holders.is_empty()).then_some(linked))
    }
}

/// What access requests give and ask for.
struct Elevated {
    /// The person's own requests that are in force.
    own: Vec<ListedAccessRequest>,
    /// Its other open requests: those that wait, and those that begin later.
    waiting: Vec<ListedAccessRequest>,
    /// Whether there is a role for which it may ask.
    may_ask: bool,
    /// How many requests wait for the decision of the person.
    to_decide: u64,
}

impl Elevated {
    async fn read(iam: &Iam, caller: &Caller) -> Result<Self, Error> {
        let (requests, all) = (iam.access_requests(), AccessRequestFilter::default());
        let to_decide = AccessRequestFilter { to_decide: true, ..all };
        let open = own_open(iam, caller).await?.into_iter();
        let (own, waiting) = open.partition(|listed| listed.request.status == AccessRequestStatus::Active);
        Ok(Self {
            own,
            waiting,
            may_ask: may_ask(iam, caller).await?,
            to_decide: requests.list(caller, &to_decide, PageRequest::new(1, 1)?).await?.total,
        })
    }

    fn is_empty(&self) -> bool {
        self.own.is_empty() && self.waiting.is_empty() && !self.may_ask && self.to_decide == 0
    }
}

/// The assignments and keys that end soon.
struct Ending {
    /// The role assignments that end within [`SOON`], those that end first first. `None` if the caller may not see them.
    assignments: Option<Vec<ListedAssignment>>,
    /// Until when an assignment counts as one of the next days.
    next: Timestamp,
    /// The caller's own keys that end within [`SOON`].
    keys: Vec<ApiKey>,
    /// How many invitations wait for an answer. `None` if the caller may not see them.
    invitations: Option<u64>,
}

/// The length of "soon" and of "the next days".
const SOON: TimeDelta = TimeDelta::days(30);
const NEXT: TimeDelta = TimeDelta::days(7);

/// How many assignments are counted, and how many are shown.
const COUNTED: u32 = 100;
const SHOWN: usize = 5;

impl Ending {
    async fn read(iam: &Iam, caller: &Caller) -> Result<Self, Error> {
        let now = iam.now();
        let keys = match caller.user() {
            Some(user) => iam.api_keys().list(caller, user).await?,
            None => Vec::new(),
        };
        let waiting = InvitationFilter { status: Some(InvitationStatus::Pending), ..InvitationFilter::default() };
        let invitations = iam.invitations().list(caller, &waiting, PageRequest::new(1, 1)?).await;
        Ok(Self {
            assignments: if_allowed(iam.assignments().expiring(caller, SOON, COUNTED).await)?,
            next: now + NEXT,
            keys: keys.into_iter().filter(|key| now < key.expires_at && key.expires_at <= now + SOON).collect(),
            invitations: if_allowed(invitations)?.map(|found| found.total),
        })
    }

    /// The text with the number of assignments that end within the next days, and of all that end soon.
    fn counts(&self, assignments: &[ListedAssignment]) -> String {
        let is_next = |listed: &&ListedAssignment| listed.assignment.expires_at.is_some_and(|end| end <= self.next);
        let next = assignments.iter().filter(is_next).count();
        english::ending(next, assignments.len(), COUNTED as usize)
    }
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
}

/// All entries, if they could be counted: at most 100 that wait are.
fn recorded(size: &u64, pending: &usize) -> String {
    let all = size.saturating_add(*pending as u64);
    if *pending < 100 { all.to_string() } else { english::at_least(all) }
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
        let place = grant.organization.as_ref().map_or(english::WHOLE_TENANT, |organization| &organization.name);
        (grant.role.name.to_string(), place.to_owned(), grant.assignment.expires_at)
    });
    let roles = roles.collect();
    let users = users_by_status(&console.iam, &signed_in.caller).await?;
    let is_new = is_new(&console.iam, &signed_in.caller, users.as_ref().map(|counts| &counts[..])).await?;
    let elevated = Elevated::read(&console.iam, &signed_in.caller).await?;
    let activity = Activity::read(&console.iam, &signed_in.caller).await?;
    let linked = Linked::read(&console.iam, &signed_in.caller).await?;
    let ending = Ending::read(&console.iam, &signed_in.caller).await?;
    let log = LogLag::read(&console.iam, &signed_in.caller).await?;
    let shown = Overview { frame, session, roles, elevated, users, activity, linked, ending, log, is_new, me };
    page(StatusCode::OK, &shown)
}
