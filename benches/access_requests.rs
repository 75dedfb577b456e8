//! The time for the lists of access requests, in a tenant with few and with 100,000 of them, and what a request costs
//! beside an ordinary role assignment.
//!
//! `cargo bench -p iam-benches --bench access_requests` under `scripts/with-postgres`. `-- SQLite` leaves the other
//! database out.

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};
use iam_benches::database::{Database, selected};
use iam_benches::{CHEAP, Outcome, PASSWORD, email, fill, iam, register, write, write_all};
use iam_core::access_request::{
    AccessRequest, AccessRequestChange, AccessRequestFilter, AccessRequestStatus, NewAccessRequest,
};
use iam_core::assignment::{Assignment, AssignmentChange, Grant, NewAssignment};
use iam_core::clock::Timestamp;
use iam_core::eligibility::NewEligibility;
use iam_core::page::PageRequest;
use iam_core::role::{NewRole, Role};
use iam_core::session::Login;
use iam_core::tenant::Registered;
use iam_core::version::{Precondition, Version};
use iam_core::{Caller, Change, EligibilityId, Iam, RequestContext, Store, TenantId, UserId};
use uuid::Uuid;

/// The number of requests in the small and in the large tenant.
const FULL: [u64; 2] = [1_000, 100_000];
const SMALL: [u64; 2] = [50, 500];
/// The users who have asked.
const ASKING: u64 = 50;
/// How often a page is read. The result is the median.
const READS: usize = 101;
/// How many requests one transaction writes.
const WRITTEN_AT_ONCE: usize = 1_000;

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_bench = env::args().any(|argument| argument == "--bench");
    let (sizes, calls) = if is_bench { (FULL, 101) } else { (SMALL, 3) };
    for kind in selected() {
        lists(kind, sizes).await?;
        single_calls(kind, calls).await?;
    }
    Ok(())
}

/// A filter, and whether the administrator reads it, who may decide about all requests, or a user who has asked.
type List = (&'static str, bool, AccessRequestFilter);

fn lists_of() -> [List; 4] {
    let all = AccessRequestFilter::default();
    [
        ("to decide", true, AccessRequestFilter { to_decide: true, ..all }),
        ("all", true, all),
        ("PENDING", true, AccessRequestFilter { status: Some(AccessRequestStatus::Pending), ..all }),
        ("one's own", false, all),
    ]
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn lists(kind: &str, [small, large]: [u64; 2]) -> Outcome {
    let database = Database::of(kind).await?;
    let store = database.store().await?;
    let iam = iam(Arc::clone(&store), CHEAP).await?;
    let few = FilledTenant::new(&iam, &*store, small, 100).await?;
    // Of the last two, one waits among a hundred, or all wait.
    let many = FilledTenant::new(&iam, &*store, large, 100).await?;
    let waiting = FilledTenant::new(&iam, &*store, large, 1).await?;
    database.vacuum().await?;
    println!("## {kind}\n");
    println!("| The first page | {small} | {large}, of which 1 in 100 waits | {large}, which all wait |");
    println!("|---|--:|--:|--:|");
    for (name, is_deciding, filter) in lists_of() {
        let mut cells = Vec::new();
        for tenant in [&few, &many, &waiting] {
            let caller = if is_deciding { &tenant.administrator } else { &tenant.asking };
            cells.push(format!("{:.2} ms", median(&iam, caller, &filter).await?.as_secs_f64() * 1e3));
        }
        println!("| {name} | {} |", cells.join(" | "));
    }
    iam.close().await;
    Ok(())
}

/// The median time of the first page.
async fn median(iam: &Iam, caller: &Caller, filter: &AccessRequestFilter) -> Outcome<Duration> {
    let mut times = Vec::with_capacity(READS);
    for _ in 0..READS {
        let begun = Instant::now();
        iam.access_requests().list(caller, filter, PageRequest::default()).await?;
        times.push(begun.elapsed());
    }
    Ok(middle(times))
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A tenant with requests, one in so many of which waits. The others were denied.
struct FilledTenant {
    administrator: Caller,
    asking: Caller,
}

impl FilledTenant {
    async fn new(iam: &Iam, store: &dyn Store, requests: u64, one_in: u64) -> Outcome<Self> {
        let registered = register(iam).await?;
        let tenant = registered.tenant.id;
        let users = fill(iam, tenant, 1, ASKING).await?;
        let role = role(iam, tenant, "ASKED").await?;
        let now = Utc::now();
        let request = |number: u64| {
            let user = users.get(usize::try_from(number % ASKING)?).ok_or("there is no such user")?;
            let asked = asked(&role, *user, now - TimeDelta::seconds(i64::try_from(number % 100_000)?))?;
            Outcome::Ok(if number.is_multiple_of(one_in) {
                asked
            } else {
                let at = asked.created_at;
                asked.closed(AccessRequestStatus::Denied, at, None)
            })
        };
        let mut left: Vec<Change> = Vec::with_capacity(WRITTEN_AT_ONCE);
        for number in 0..requests {
            left.push(AccessRequestChange::Create(Box::new(request(number)?)).into());
            if left.len() == WRITTEN_AT_ONCE || number + 1 == requests {
                write_all(store, tenant, left.drain(..)).await?;
            }
        }
        let asking = log_in(iam, &registered, 1).await?;
        Ok(Self { administrator: by_token(iam, &registered).await?, asking })
    }
}

async fn role(iam: &Iam, tenant: TenantId, name: &str) -> Outcome<Role> {
    let system = Caller::system(tenant, "benchmark");
    let permissions = vec!["users:read".to_owned()];
    Ok(iam.roles().create(&system, NewRole { name: name.to_owned(), permissions, ..NewRole::default() }).await?)
}

/// A request that waits.
fn asked(role: &Role, user: UserId, at: Timestamp) -> Outcome<AccessRequest> {
    Ok(AccessRequest {
        id: Uuid::now_v7().into(),
        tenant_id: role.tenant_id,
        eligibility_id: Uuid::now_v7().into(),
        role_id: role.id,
        role_name: role.name.clone(),
        organization_id: None,
        requested_by: user,
        reason: "The disk is full.".parse()?,
        ticket: None,
        seconds: 3_600,
        approvals_needed: 1,
        approver_role_id: None,
        decisions: Vec::new(),
        status: AccessRequestStatus::Pending,
        assignment_id: None,
        starts_at: None,
        ends_at: None,
        lapses_at: at + TimeDelta::hours(72),
        created_at: at,
        closed_at: None,
        closed_by: None,
        close_reason: None,
        cancel_cause: None,
        version: Version::FIRST,
    })
}

async fn by_token(iam: &Iam, registered: &Registered) -> Outcome<Caller> {
    Ok(iam.authenticate(registered.login.tokens.access.expose(), RequestContext::default()).await?)
}

/// Logs in the user with this number.
async fn log_in(iam: &Iam, registered: &Registered, number: u64) -> Outcome<Caller> {
    let tenant = Some(registered.tenant.id.to_string());
    let login = Login { email: email(number), password: PASSWORD.into(), tenant };
    let login = iam.sessions().login(&RequestContext::default(), login).await?;
    Ok(iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await?)
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn single_calls(kind: &str, calls: u64) -> Outcome {
    let database = Database::of(kind).await?;
    let store = database.store().await?;
    let iam = iam(Arc::clone(&store), CHEAP).await?;
    let registered = register(&iam).await?;
    let (tenant, administrator) = (registered.tenant.id, by_token(&iam, &registered).await?);
    let users = fill(&iam, tenant, 1, calls).await?;
    let mut callers = Vec::new();
    for number in 1..=calls {
        callers.push(log_in(&iam, &registered, number).await?);
    }
    let [bare, ordinary, at_once, approved] =
        ["BARE", "ORDINARY", "AT_ONCE", "APPROVED"].map(|name| role(&iam, tenant, name));
    let (bare, ordinary) = (bare.await?, ordinary.await?);
    let at_once = eligibility(&iam, &administrator, &users, (at_once.await?, 0)).await?;
    let approved = eligibility(&iam, &administrator, &users, (approved.await?, 1)).await?;
    let mut times: [Vec<Duration>; 6] = [const { Vec::new() }; 6];
    for (user, caller) in users.iter().zip(&callers) {
        let grant = grant(*user, &bare);
        let writes = timed(write(&*store, tenant, AssignmentChange::Create(vec![grant]))).await?;
        let new = NewAssignment { user: *user, role: ordinary.id, organization: None, expires_at: None };
        let assigns = timed(async { Ok(iam.assignments().create(&administrator, new).await?) }).await?;
        let begins = timed(ask(&iam, caller, at_once)).await?;
        let asks = timed(ask(&iam, caller, approved)).await?;
        let (requests, request) = (iam.access_requests(), asks.1.id);
        let exists = Precondition::Exists;
        let approves = timed(async { Ok(requests.approve(&administrator, request, None, &exists).await?) }).await?;
        let ends = timed(async { Ok(requests.end(caller, request, None).await?) }).await?;
        let measured = [writes.0, assigns.0, begins.0, asks.0, approves.0, ends.0];
        times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
    }
    println!("\n| {kind} | median |\n|---|--:|");
    let names = [
        "floor: the assignment alone is written",
        "an ordinary assignment",
        "a request that needs no approval begins",
        "a request that waits",
        "the last approval",
        "the end, before its time",
    ];
    for (name, times) in names.into_iter().zip(times) {
        println!("| {name} | {:.2} ms |", middle(times).as_secs_f64() * 1e3);
    }
    iam.close().await;
    Ok(())
}

async fn timed<T>(call: impl Future<Output = Outcome<T>>) -> Outcome<(Duration, T)> {
    let begun = Instant::now();
    let answer = call.await?;
    Ok((begun.elapsed(), answer))
}

/// Lets these users ask for a role, with so many approvals: as holders of another role.
async fn eligibility(
    iam: &Iam,
    administrator: &Caller,
    users: &[UserId],
    (asked, approvals): (Role, i64),
) -> Outcome<EligibilityId> {
    let tenant = administrator.tenant();
    let held = role(iam, tenant, &format!("MAY_ASK_FOR_{}", asked.name)).await?;
    let system = Caller::system(tenant, "benchmark");
    for user in users {
        let new = NewAssignment { user: *user, role: held.id, organization: None, expires_at: None };
        iam.assignments().create(&system, new).await?;
    }
    let new = NewEligibility {
        role: asked.id,
        organization: None,
        user: None,
        held_role: Some(held.id),
        max_seconds: None,
        approvals: Some(approvals),
        approver_role: None,
        expires_at: None,
    };
    Ok(iam.eligibilities().create(administrator, new).await?.id)
}

async fn ask(iam: &Iam, caller: &Caller, eligibility: EligibilityId) -> Outcome<AccessRequest> {
    let new = NewAccessRequest {
        eligibility,
        seconds: Some(3_600),
        reason: "The disk is full.".to_owned(),
        ticket: None,
        starts_at: None,
    };
    Ok(iam.access_requests().create(caller, new).await?)
}

fn grant(user: UserId, role: &Role) -> Grant {
    let assignment = Assignment {
        id: Uuid::now_v7().into(),
        tenant_id: role.tenant_id,
        user_id: user,
        role_id: role.id,
        organization_id: None,
        expires_at: None,
        created_at: Utc::now(),
        created_by: None,
        directory_group_id: None,
        access_request_id: None,
    };
    // Only the assignment is written.
    Grant { assignment, role: Arc::new(role.clone()), organization: None }
}
