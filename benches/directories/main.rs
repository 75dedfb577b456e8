//! The cost of what a directory of a million users sends, each request beside the bare statements that it cannot do
//! without; and the time to map a group of 5,000 members to a role. The requests go through the router, without a
//! network.
//!
//! `IAM_TEST_POSTGRES_FSYNC=on scripts/with-postgres cargo bench -p iam-benches --bench directories`. `-- SQLite`
//! leaves the other database out, and `-- --quick` only tries everything, with little data. It needs about 3 GB of disk
//! while it runs.

mod fill;
mod floor;
mod person;
mod world;

use std::cell::Cell;
use std::env;
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use iam_benches::database::{Database, selected};
use iam_benches::turns::in_turn;
use iam_benches::{Outcome, PASSWORD, email};
use iam_core::RequestContext;
use iam_core::assignment::AssignmentFilter;
use iam_core::page::PageRequest;
use iam_core::session::Login;
use serde_json::{Value, json};

use floor::Floor;
use person::Person;
use world::{Sizes, World};

const FULL: Sizes = Sizes { users: 1_000_000, members: 5_000 };
const SMALL: Sizes = Sizes { users: 200, members: 20 };

/// How often a request and its floor are measured, and how often a group is mapped.
const ROUNDS: usize = 200;
const MAPPINGS: usize = 5;

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_named = |name: &str| env::args().any(|argument| argument == name);
    let is_quick = is_named("--quick") || !is_named("--bench");
    let (sizes, rounds, mappings) = if is_quick { (SMALL, 2, 1) } else { (FULL, ROUNDS, MAPPINGS) };
    for kind in selected() {
        let database = Database::of(kind).await?;
        let world = World::create(&database, sizes).await?;
        let floor = Floor::new(database.bare().await?, world.ids());
        let bench = Bench { world, floor, rounds, mappings, number: Cell::new(sizes.users) };
        bench.run(&database).await?;
    }
    Ok(())
}

struct Bench {
    world: World,
    floor: Floor,
    rounds: usize,
    mappings: usize,
    /// The number of the last user.
    number: Cell<u64>,
}

impl Bench {
    #[expect(clippy::print_stdout, reason = "the bench prints its results")]
    async fn run(&self, database: &Database) -> Outcome {
        let members = self.world.sizes.members;
        println!("## {}, {} users\n", database.description().await?, self.world.sizes.users);
        println!("| Request | p50 | p95 | floor p50 | ratio |\n|---|--:|--:|--:|--:|");
        self.row("POST /Users", async || self.make_user().await, async || self.floor.make_user(&self.next()).await)
            .await?;
        let name = email(self.number.get() / 2);
        let path = format!("/scim/v2/Users?filter=userName%20eq%20%22{name}%22");
        self.row(
            "GET /Users?filter=userName eq",
            async || self.find(&path).await,
            async || self.floor.find(&name).await,
        )
        .await?;
        self.members(false).await?;
        let [previewed, mapped] = self.mappings().await?;
        self.members(true).await?;
        println!("\n| A mapping for {members} members | median of {} | slowest |\n|---|--:|--:|", self.mappings);
        for (name, mut times) in [("preview", previewed), ("mapping", mapped)] {
            times.sort_unstable();
            let at = |place: usize| times.get(place).copied().unwrap_or_default().as_secs_f64();
            println!("| {name} | {:.2} s | {:.2} s |", at(times.len() / 2), at(times.len().saturating_sub(1)));
        }
        println!();
        self.world.close().await;
        Ok(())
    }

    /// Measures a request and its floor in turn.
    #[expect(clippy::print_stdout, reason = "the bench prints its results")]
    async fn row<A, B>(
        &self,
        name: &str,
        request: impl AsyncFnMut() -> Outcome<A>,
        floor: impl AsyncFnMut() -> Outcome<B>,
    ) -> Outcome {
        let turns = in_turn(self.rounds, request, floor).await?;
        let [p50, p95, floor] = turns.times().map(|time| time.as_secs_f64() * 1e3);
        println!("| {name} | {p50:.2} ms | {p95:.2} ms | {floor:.2} ms | {:.2} |", 1.0 / turns.ratio());
        Ok(())
    }

    fn next(&self) -> Person {
        self.number.set(self.number.get() + 1);
        Person::new(self.number.get())
    }

    async fn make_user(&self) -> Outcome {
        let user = self.next().resource();
        self.world.as_directory(Method::POST, "/scim/v2/Users", Some(&user), StatusCode::CREATED).await?;
        Ok(())
    }

    async fn find(&self, path: &str) -> Outcome {
        self.world.as_directory(Method::GET, path, None, StatusCode::OK).await?;
        Ok(())
    }

    /// Measures that a user becomes a member of the group and leaves it. The answer is the whole group, unless the
    /// directory asks for less.
    async fn members(&self, is_mapped: bool) -> Outcome {
        let role = is_mapped.then_some(self.world.role.as_uuid());
        let group = if is_mapped { "mapped to a role" } else { "not mapped" };
        for (answer, parameters) in [("", ""), (", answered without members", "?excludedAttributes=members")] {
            let name = format!("PATCH /Groups/{{id}}, twice: a member comes and goes, {group}{answer}");
            self.row(
                &name,
                async || self.come_and_go(parameters).await,
                async || {
                    self.floor.come(role).await?;
                    self.floor.go(role).await?;
                    // Both answers have the members.
                    let answers = if parameters.is_empty() { 2 } else { 0 };
                    for _ in 0..answers {
                        self.floor.members().await?;
                    }
                    Ok(())
                },
            )
            .await?;
        }
        Ok(())
    }

    async fn come_and_go(&self, parameters: &str) -> Outcome {
        self.change_member("add", parameters).await?;
        self.change_member("remove", parameters).await
    }

    async fn change_member(&self, op: &str, parameters: &str) -> Outcome {
        let path = format!("/scim/v2/Groups/{}{parameters}", self.world.group);
        let member = json!({ "op": op, "path": "members", "value": [{ "value": self.world.member }] });
        let message = json!({ "Operations": [member] });
        self.world.as_directory(Method::PATCH, &path, Some(&message), StatusCode::OK).await?;
        Ok(())
    }

    /// Returns the times of the previews, and of the mappings. At the end, the group is mapped.
    async fn mappings(&self) -> Outcome<[Vec<Duration>; 2]> {
        // The session of the registration may have ended while the database was filled.
        let login = Login { email: email(0), password: PASSWORD.into(), tenant: None };
        let login = self.world.iam.sessions().login(&RequestContext::default(), login).await?;
        let admin = login.tokens.access.expose();
        let path = format!("/directories/{}/groups/{}/grants", self.world.directory, self.world.group);
        let mapped = json!({ "grants": [{ "roleId": self.world.role }] });
        let unmapped = json!({ "grants": [] });
        let put = async |path: &str, grants: &Value| {
            let began = Instant::now();
            let answer = self.world.client.ask(admin, Method::PUT, path, Some(grants), StatusCode::OK).await?;
            Outcome::Ok((began.elapsed(), answer))
        };
        let (mut previews, mut mappings) = (Vec::new(), Vec::new());
        self.change_member("add", "").await?;
        for _ in 0..self.mappings {
            put(&path, &unmapped).await?;
            let (time, preview) = put(&format!("{path}?preview=true"), &mapped).await?;
            let preview: Value = serde_json::from_slice(&preview)?;
            if preview.get("users").and_then(Value::as_u64) != Some(self.world.sizes.members) {
                let (users, problem) = (preview.get("users"), preview.get("problem"));
                return Err(format!("the preview affects {users:?} users: {problem:?}").into());
            }
            previews.push(time);
            mappings.push(put(&path, &mapped).await?.0);
        }
        let filter = AssignmentFilter { role: Some(self.world.role), ..AssignmentFilter::default() };
        let held = self.world.iam.assignments().list(&self.world.caller, &filter, PageRequest::new(1, 1)?).await?.total;
        if held != self.world.sizes.members {
            return Err(format!("{held} users hold the role").into());
        }
        self.change_member("remove", "").await?;
        Ok([previews, mappings])
    }
}
