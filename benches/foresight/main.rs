//! The cost of previews, of questions about the past, of "who can", and of access reviews, in a tenant with 100,000
//! users, each beside the least that the same answer can cost.
//!
//! `IAM_TEST_POSTGRES_FSYNC=on scripts/with-postgres cargo bench -p iam-benches --bench foresight`. `-- SQLite` leaves
//! the other database out.

mod fill;

use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{TimeDelta, Utc};
use iam_benches::database::{Database, selected};
use iam_benches::turns::in_turn;
use iam_benches::{CHEAP, Outcome, iam};
use iam_core::access::{Question, VisibleScope};
use iam_core::access_review::{NewAccessReview, NewDecision, ReviewDecision};
use iam_core::assignment::AssignmentFilter;
use iam_core::clock::Timestamp;
use iam_core::organization::OrganizationPatch;
use iam_core::page::PageRequest;
use iam_core::role::RolePatch;
use iam_core::{AccessReviewId, AssignmentId, Caller, Iam, OrganizationId, Preview, RoleId, Store, UserId};

use fill::{Sizes, World};

const FULL: Sizes = Sizes {
    users: 100_000,
    organizations: 1_000,
    assignments: 50_000,
    versions: 20,
    above: 100,
    reviewed: 10_000,
    permissions: 500,
};
const SMALL: Sizes =
    Sizes { users: 200, organizations: 20, assignments: 100, versions: 2, above: 10, reviewed: 50, permissions: 5 };

/// How often an operation is measured: less often if its floor alone would take longer than this in all rounds.
const ROUNDS: usize = 200;
const MIN_ROUNDS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(5);
/// How many people decide about a review at once.
const REVIEWERS: usize = 4;

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_bench = env::args().any(|argument| argument == "--bench");
    let (sizes, rounds) = if is_bench { (FULL, ROUNDS) } else { (SMALL, 2) };
    for kind in selected() {
        let database = Database::of(kind).await?;
        Bench::new(&database, sizes, rounds).await?.run(&database).await?;
    }
    Ok(())
}

struct Bench {
    iam: Iam,
    store: Arc<dyn Store>,
    world: World,
    sizes: Sizes,
    rounds: usize,
}

impl Bench {
    async fn new(database: &Database, sizes: Sizes, rounds: usize) -> Outcome<Self> {
        let store = database.store().await?;
        let world = World::create(database, &store, sizes).await?;
        Ok(Self { iam: iam(Arc::clone(&store), CHEAP).await?, store, world, sizes, rounds })
    }

    #[expect(clippy::print_stdout, reason = "the bench prints its results")]
    async fn run(&self, database: &Database) -> Outcome {
        println!("## {}\n", database.description().await?);
        println!("| Operation | p50 | p95 | floor p50 | ratio |\n|---|--:|--:|--:|--:|");
        self.previews().await?;
        self.past().await?;
        self.holders().await?;
        self.review(database).await?;
        println!();
        self.iam.close().await;
        Ok(())
    }

    /// Measures an operation and its floor in turn.
    #[expect(clippy::print_stdout, reason = "the bench prints its results")]
    async fn row<A, B>(
        &self,
        name: &str,
        operation: impl AsyncFnMut() -> Outcome<A>,
        mut floor: impl AsyncFnMut() -> Outcome<B>,
    ) -> Outcome {
        let begun = Instant::now();
        floor().await?;
        let floor_alone = begun.elapsed().max(Duration::from_micros(1));
        let affordable = (PATIENCE.as_secs_f64() / floor_alone.as_secs_f64()) as usize;
        let turns = in_turn(self.rounds.min(affordable.max(MIN_ROUNDS)), operation, floor).await?;
        let [p50, p95, floor] = turns.times().map(millis);
        println!("| {name} | {p50:.2} ms | {p95:.2} ms | {floor:.2} ms | {:.1} |", 1.0 / turns.ratio());
        Ok(())
    }

    fn caller(&self) -> &Caller {
        &self.world.caller
    }

    /// The floor reads the users that change, and their assignments.
    async fn previews(&self) -> Outcome {
        let (world, above) = (&self.world, self.sizes.above as u64);
        let [west, east] = world.branches.each_ref().map(|branch| branch.id);
        self.row(
            "preview: move the division",
            async || expect_users(self.move_division(Some(east)).await?, 2 * above),
            async || self.read(&[], &[west, east]).await,
        )
        .await?;
        let assigned = self.sizes.assignments.min(self.sizes.users).max(self.sizes.reviewed) as u64;
        self.row(
            "preview: take a permission from the members of all teams",
            async || {
                let trial = self.iam.trial();
                let patch = RolePatch { permissions: Some(Vec::new()), ..RolePatch::default() };
                let outcome = trial.roles().update(self.caller(), world.member.id, patch).await;
                let preview = trial.preview(self.caller(), outcome).await?;
                if preview.users == 0 || preview.users > assigned + 2 * above {
                    return Err(format!("{} users lose the permission", preview.users).into());
                }
                Ok(preview)
            },
            async || self.read(&[world.member.id], &[]).await,
        )
        .await?;
        // The user is at the limits: 1,000 assignments of a role of 500 permissions.
        self.row(
            "preview: suspend a user with many permissions in many organizations",
            async || {
                let trial = self.iam.trial();
                let outcome = trial.users().suspend(self.caller(), world.busy).await;
                expect_users(trial.preview(self.caller(), outcome).await?, 1)
            },
            async || Ok(self.store.grants_of(self.caller().tenant(), &[world.busy]).await?),
        )
        .await
    }

    async fn move_division(&self, to: Option<OrganizationId>) -> Outcome<Preview> {
        let trial = self.iam.trial();
        let patch = OrganizationPatch { parent: Some(to), ..OrganizationPatch::default() };
        let outcome = trial.organizations().update(self.caller(), self.world.division.id, patch).await;
        Ok(trial.preview(self.caller(), outcome).await?)
    }

    async fn read(&self, roles: &[RoleId], organizations: &[OrganizationId]) -> Outcome<usize> {
        let tenant = self.caller().tenant();
        let users = self.store.assigned_users(tenant, roles, organizations).await?;
        self.store.users_by_id(tenant, &users).await?;
        Ok(self.store.grants_of(tenant, &users).await?.len())
    }

    /// The floor asks the same about the present.
    async fn past(&self) -> Outcome {
        let world = &self.world;
        let mut number = 0;
        let mut next = || {
            number += 7_919;
            let user = world.users.get(number % self.sizes.assignments.min(world.users.len())).copied();
            let at = world.began + TimeDelta::hours(number as i64 % (24 * self.sizes.versions));
            Outcome::Ok((user.ok_or("there are no users")?, at))
        };
        let check = async |user: UserId, at: Option<Timestamp>| {
            let permission = "orders:refund".parse()?;
            let question = Question { permission, organization: Some(world.team.id), user: Some(user), at };
            Outcome::Ok(self.iam.access().check(self.caller(), question).await?)
        };
        let (user, _) = next()?;
        self.row(
            "check as of a random moment",
            async || {
                let (user, at) = next()?;
                check(user, Some(at)).await
            },
            async || check(user, None).await,
        )
        .await?;
        let (filter, page) = (AssignmentFilter::default(), PageRequest::new(1, 20)?);
        let middle = world.began + TimeDelta::days(self.sizes.versions / 2);
        self.row(
            "assignments as of a moment, first page of all",
            async || Ok(self.iam.assignments().list_at(self.caller(), &filter, middle, page).await?),
            async || Ok(self.iam.assignments().list(self.caller(), &filter, page).await?),
        )
        .await?;
        self.row(
            "roles of a user as of a moment",
            async || Ok(self.iam.assignments().of_user_at(self.caller(), user, middle).await?),
            async || Ok(self.iam.assignments().of_user(self.caller(), user).await?),
        )
        .await
    }

    /// The floor is a page of the assignments.
    async fn holders(&self) -> Outcome {
        let (world, page) = (&self.world, PageRequest::new(1, 20)?);
        let middle = world.began + TimeDelta::days(self.sizes.versions / 2);
        let filter = AssignmentFilter::default();
        let floor = async || {
            let (tenant, now) = (self.caller().tenant(), self.iam.now());
            Ok(self.store.assignments(tenant, &filter, &VisibleScope::Tenant, page, now).await?)
        };
        let who = async |permission: &str, place: Option<OrganizationId>, at: Option<Timestamp>| {
            let permission = permission.parse()?;
            let holders = self.iam.access().who(self.caller(), permission, place, at, page).await?;
            if holders.items.is_empty() { Err("nobody holds the permission".into()) } else { Outcome::Ok(holders) }
        };
        let team = Some(world.team.id);
        self.row("who can in a team", async || who("orders:refund", team, None).await, floor).await?;
        self.row("who can tenant-wide", async || who("orders:refund", None, None).await, floor).await?;
        self.row("who could in a team", async || who("orders:refund", team, Some(middle)).await, floor).await?;
        self.row("who could tenant-wide", async || who("orders:refund", None, Some(middle)).await, floor).await
    }

    /// A whole review, once. The people decide at the same time, each about every fourth item.
    #[expect(clippy::print_stdout, reason = "the bench prints its results")]
    async fn review(&self, database: &Database) -> Outcome {
        let reviews = self.iam.access_reviews();
        let new = NewAccessReview {
            name: "Bench".to_owned(),
            organization: None,
            roles: vec![self.world.reviewed.id],
            users: Vec::new(),
            due_at: Utc::now() + TimeDelta::days(30),
        };
        let began = Instant::now();
        let review = reviews.create(self.caller(), new).await?.review.id;
        let created = began.elapsed();
        let began = Instant::now();
        let items = reviews.all_items(self.caller(), review, None).await?;
        let read = began.elapsed();
        let items: Arc<Vec<AssignmentId>> =
            Arc::new(items.iter().filter_map(|item| item.item.subject.assignment()).collect());
        let began = Instant::now();
        let deciders: Vec<_> = (0..REVIEWERS)
            .map(|number| {
                let (iam, caller, items) = (self.iam.clone(), self.caller().clone(), Arc::clone(&items));
                tokio::spawn(async move { decide(&iam, &caller, review, &items, number).await })
            })
            .collect();
        for decider in deciders {
            decider.await??;
        }
        let decided = began.elapsed();
        database.vacuum().await?;
        let began = Instant::now();
        let progress = reviews.complete(self.caller(), review).await?.progress;
        let completed = began.elapsed();
        let count = items.len();
        if (progress.keep, progress.revoke) != (count as u64 / 2, count as u64 - count as u64 / 2) {
            return Err(format!("not everything was decided: {progress:?}").into());
        }
        println!("\nA review of {count} items, half of which are revoked:");
        println!("\n- begin: {:.0} ms", millis(created));
        println!("- read all items: {:.0} ms", millis(read));
        println!("- decide, {REVIEWERS} people at once: {:.2} ms for each item", millis(decided) / count as f64);
        println!("- complete: {:.0} ms", millis(completed));
        Ok(())
    }
}

async fn decide(iam: &Iam, caller: &Caller, review: AccessReviewId, items: &[AssignmentId], from: usize) -> Outcome {
    for (number, item) in items.iter().enumerate().skip(from).step_by(REVIEWERS) {
        let decision = if number % 2 == 1 { ReviewDecision::Keep } else { ReviewDecision::Revoke };
        iam.access_reviews().decide(caller, review, *item, NewDecision { decision, reason: None }).await?;
    }
    Ok(())
}

fn expect_users(preview: Preview, users: u64) -> Outcome<Preview> {
    if preview.refusal.is_some() || preview.users != users {
        return Err(format!("the preview should affect {users} users: {:?}, {}", preview.refusal, preview.users).into());
    }
    Ok(preview)
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
