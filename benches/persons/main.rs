//! The cost of what the API tells of persons: the export of one with 10,000 entries in the audit log, and the users
//! with a value of an attribute among 100,000, each beside the bare selects; and `GET /auth/me` with attributes, beside
//! one without. The requests go through the router, without a network.
//!
//! `IAM_TEST_POSTGRES_FSYNC=on scripts/with-postgres cargo bench -p iam-benches --bench persons`. `-- SQLite` leaves
//! the other database out, and `-- --quick` only tries everything, with little data.

mod floor;
mod world;

use std::env;

use axum::http::{Method, StatusCode};
use iam_benches::Outcome;
use iam_benches::database::{Database, selected};
use iam_benches::turns::in_turn;
use serde_json::Value;

use floor::Floor;
use world::{PAGE, Sizes, World, cost_centre};

const FULL: Sizes = Sizes { users: 100_000, entries: 10_000 };
const SMALL: Sizes = Sizes { users: 200, entries: 20 };

/// How often a request and its floor are measured.
const ROUNDS: usize = 200;
const EXPORTS: usize = 30;

#[tokio::main]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_named = |name: &str| env::args().any(|argument| argument == name);
    let is_quick = is_named("--quick") || !is_named("--bench");
    let (sizes, rounds, exports) = if is_quick { (SMALL, 2, 2) } else { (FULL, ROUNDS, EXPORTS) };
    for kind in selected() {
        let database = Database::of(kind).await?;
        let world = World::create(&database, sizes).await?;
        let floor = Floor::new(database.bare().await?, &world);
        measure(&database, &world, &floor, [rounds, exports]).await?;
        world.close().await;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn measure(database: &Database, world: &World, floor: &Floor, [rounds, exports]: [usize; 2]) -> Outcome {
    let Sizes { users, entries } = world.sizes;
    println!("## {}\n", database.description().await?);
    println!("| Request | p50 | p95 | floor p50 | ratio |\n|---|--:|--:|--:|--:|");
    let export = format!("/users/{}/export", world.person);
    let document = get(world, &world.token, &export).await?;
    let found = document.get("entries").and_then(Value::as_array).map_or(0, Vec::len);
    if u64::try_from(found)? < entries {
        return Err(format!("the export has {found} entries").into());
    }
    row(
        &format!("GET /users/{{id}}/export, {entries} entries"),
        exports,
        async || get(world, &world.token, &export).await,
        async || floor.export().await,
    )
    .await?;
    let value = cost_centre(users / PAGE / 2);
    let list = format!("/users?attribute=costCentre:{value}");
    let page = get(world, &world.token, &list).await?;
    if page.pointer("/pagination/total").and_then(Value::as_u64) != Some(PAGE) {
        return Err(format!("{list} is answered {page}").into());
    }
    row(
        &format!("GET /users?attribute=, {PAGE} of {users} users"),
        rounds,
        async || get(world, &world.token, &list).await,
        async || floor.users_with(&value).await,
    )
    .await?;
    row(
        "GET /auth/me with attributes; the floor is without",
        rounds,
        async || get(world, &world.token, "/auth/me").await,
        async || get(world, &world.plain_token, "/auth/me").await,
    )
    .await?;
    println!();
    Ok(())
}

async fn get(world: &World, token: &str, path: &str) -> Outcome<Value> {
    let body = world.client.ask(token, Method::GET, path, None, StatusCode::OK).await?;
    Ok(serde_json::from_slice(&body)?)
}

/// Measures a request and its floor in turn.
#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn row<A, B>(
    name: &str,
    rounds: usize,
    request: impl AsyncFnMut() -> Outcome<A>,
    floor: impl AsyncFnMut() -> Outcome<B>,
) -> Outcome {
    let turns = in_turn(rounds, request, floor).await?;
    let [p50, p95, floor] = turns.times().map(|time| time.as_secs_f64() * 1e3);
    println!("| {name} | {p50:.2} ms | {p95:.2} ms | {floor:.2} ms | {:.2} |", 1.0 / turns.ratio());
    Ok(())
}
