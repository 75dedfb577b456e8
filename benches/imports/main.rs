//! The time in which a realm of Keycloak with 100,000 users is imported, beside the bare statements that it cannot do
//! without: each user as one transaction of its own, on one connection.
//!
//! `IAM_TEST_POSTGRES_FSYNC=on scripts/with-postgres cargo bench -p iam-benches --bench imports`. `-- SQLite` leaves the
//! other database out, and `-- --quick` only tries everything, with few users.

mod floor;

use std::env;
use std::time::{Duration, Instant};

use iam_benches::database::{Database, selected};
use iam_benches::{CHEAP, Outcome, email, iam, register};
use iam_core::user::{Imported, ImportedRole, ImportedUser};
use iam_core::{Caller, Iam, RoleId};
use iam_import::{ForeignPassword, Format, Source, read};
use serde_json::json;

const FULL: u64 = 100_000;
const SMALL: u64 = 200;

/// The floor needs fewer users: its cost does not depend on their number.
const FLOOR_PART: u64 = 10;

/// The hash of "Passw0rd!", by Python's hashlib.
const SECRET: &str = r#"{"value":"Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I=","salt":"AAECAwQFBgcICQoLDA0ODw=="}"#;
const FUNCTION: &str = r#"{"hashIterations":10000,"algorithm":"pbkdf2-sha256"}"#;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the bench prints its results")]
async fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let is_named = |name: &str| env::args().any(|argument| argument == name);
    let count = if is_named("--quick") || !is_named("--bench") { SMALL } else { FULL };
    let realm = realm(count);
    println!("{count} users, a file of {} MB\n", realm.len() / 1_000_000);
    let reading = Instant::now();
    let source = Source::default();
    let users = read(Format::Keycloak, realm.as_bytes(), &source)?.filter(Result::is_ok).count();
    println!("The file alone is read in {:.1} s: {users} users.\n", reading.elapsed().as_secs_f64());
    for kind in selected() {
        let database = Database::of(kind).await?;
        let iam = iam(database.store().await?, CHEAP).await?;
        let tenant = register(&iam).await?.tenant.id;
        let caller = Caller::system(tenant, "bench");
        let member = iam.roles().by_name(&caller, "MEMBER").await?.ok_or("the role is built in")?.id;
        println!("## {}\n", database.description().await?);
        println!("| Import | seconds | µs for a user | ratio to the floor |\n|---|--:|--:|--:|");
        let floor = floor::insert(&database.bare().await?, tenant.as_uuid(), count / FLOOR_PART).await? / part(count)?;
        row("floor", floor, count, floor)?;
        for (name, is_dry, roles) in [
            ("dry run", true, &[][..]),
            ("dry run, each with a role", true, &[member][..]),
            ("users without roles", false, &[][..]),
            ("again: all are there", false, &[][..]),
        ] {
            row(name, import(&iam, &caller, &realm, (is_dry, roles)).await? / u32::try_from(count)?, count, floor)?;
        }
        // Another tenant: the users of the first one are there.
        let caller = Caller::system(register(&iam).await?.tenant.id, "bench");
        let member = iam.roles().by_name(&caller, "MEMBER").await?.ok_or("the role is built in")?.id;
        let time = import(&iam, &caller, &realm, (false, &[member])).await? / u32::try_from(count)?;
        row("users, each with a role", time, count, floor)?;
        println!();
        iam.close().await;
    }
    Ok(())
}

fn part(count: u64) -> Outcome<u32> {
    Ok(u32::try_from(count / FLOOR_PART)?)
}

/// Prints the time for one user, and what it means for all of them.
#[expect(clippy::print_stdout, reason = "the bench prints its results")]
fn row(name: &str, time: Duration, count: u64, floor: Duration) -> Outcome {
    let (all, ratio) = (time * u32::try_from(count)?, time.as_secs_f64() / floor.as_secs_f64());
    println!("| {name} | {:.1} | {} | {ratio:.2} |", all.as_secs_f64(), time.as_micros());
    Ok(())
}

/// Returns how long the import of a realm takes. The tenant has its administrator already, whose e-mail has the number 0.
async fn import(iam: &Iam, caller: &Caller, realm: &str, (is_dry, roles): (bool, &[RoleId])) -> Outcome<Duration> {
    let began = Instant::now();
    let import = iam.users().import(caller)?;
    let mut import = if is_dry { import.dry_run() } else { import };
    let source = Source::default();
    for row in read(Format::Keycloak, realm.as_bytes(), &source)? {
        let record = row?.user.map_err(|error| error.message)?;
        let ForeignPassword::Hash(hash) = record.password else { return Err("a hash cannot be read".into()) };
        let user = ImportedUser {
            password_hash: Some(hash),
            roles: roles.iter().map(|role| ImportedRole { role: *role, organization: None }).collect(),
            ..ImportedUser::new(record.email, record.first_name, record.last_name)
        };
        let imported = import.add(user).await?;
        if is_dry && imported != Imported::Valid {
            return Err("a dry run has found a user".into());
        }
    }
    Ok(began.elapsed())
}

/// Returns a realm with this number of users.
fn realm(count: u64) -> String {
    let user = |number: u64| {
        json!({
            "id": format!("0f5d6b0e-57a5-4a0e-8f0d-{number:012}"),
            "username": format!("user{number}"),
            "email": email(number),
            "firstName": "Ada",
            "lastName": "Lovelace",
            "enabled": true,
            "credentials": [{ "type": "password", "secretData": SECRET, "credentialData": FUNCTION }],
            "realmRoles": ["default-roles-acme", "clerk"],
            "groups": ["/customers/north"],
        })
        .to_string()
    };
    let users: Vec<String> = (1..=count).map(user).collect();
    format!("{{\"realm\": \"acme\", \"roles\": {{\"realm\": []}}, \"users\": [\n{}\n]}}", users.join(",\n"))
}
