//! Requests, compared with their least cost or with their cost in a small tenant.

use std::fs::File;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use iam_benches::Outcome;

use super::comparison::{Comparison, Goal};
use super::load::{Rounds, Side, alternate};
use super::siege;
use super::storm::{self, Logins};
use super::{Installations, Kind, Scale};
use crate::data::RARE;
use crate::installation::{Installation, Tenant};
use crate::process::Process;
use crate::text::{grouped, progress};
use crate::work::{Destination, Work};

const LIST: &str = "/users?limit=20";
const ASSIGNMENTS: &str = "/role-assignments?limit=10";
/// The longest time for which a password waits before the server refuses it, in milliseconds.
const PASSWORD_WAIT: f64 = 2_000.0;
const ENTRIES: &str = "/audit-logs?limit=20";

pub(super) struct Requests<'a> {
    installations: &'a Installations,
    kind: Kind,
    organizations: u64,
    entries: [u64; 2],
    rounds: Rounds,
    floor: Process,
    only: &'a str,
    done: Vec<Comparison>,
}

impl<'a> Requests<'a> {
    pub(super) async fn new(installations: &'a Installations, kind: Kind, scale: &Scale) -> Outcome<Self> {
        let floor = Process::floor(installations.alone.database.url(), installations.small.id.as_uuid()).await?;
        let &Scale { organizations, entries, rounds, .. } = scale;
        Ok(Self { installations, kind, organizations, entries, rounds, floor, only: "", done: Vec::new() })
    }

    /// Measures only the requests whose work contains this text.
    pub(super) fn only(self, text: &'a str) -> Self {
        Self { only: text, ..self }
    }

    /// Prints the work and returns true, unless the work is left out.
    fn begins(&self, work: &str) -> Outcome<bool> {
        let is_wanted = work.contains(self.only);
        if is_wanted {
            progress(work)?;
        }
        Ok(is_wanted)
    }

    pub(super) async fn measure(mut self) -> Outcome<(Vec<Comparison>, Arc<Logins>)> {
        self.get_user().await?;
        self.get_user_by_key().await?;
        self.get_me().await?;
        self.list_users().await?;
        self.search().await?;
        self.list_entries().await?;
        self.list_assignments().await?;
        self.list_children().await?;
        self.check().await?;
        self.evaluate().await?;
        self.log_in().await?;
        let logins = self.read_among_logins().await?;
        self.log_in_under_attack().await?;
        self.with_everything_on().await?;
        // Last, because it makes the tables grow.
        self.create_users().await?;
        self.floor.stop().await?;
        Ok((self.done, logins))
    }

    async fn get_user(&mut self) -> Outcome {
        let goals = match self.kind {
            Kind::Postgres => vec![Goal::Rate(0.85), Goal::Times(990, 1.3)],
            Kind::Sqlite => vec![Goal::Rate(0.8)],
        };
        let sides =
            self.with_floor(|destination| Work::get_user(destination, self.installations.small.numbers())).await?;
        self.compare("`GET /users/{id}`", "one select", goals, sides).await
    }

    async fn get_user_by_key(&mut self) -> Outcome {
        let goal = match self.kind {
            Kind::Postgres => 0.85,
            Kind::Sqlite => 0.8,
        };
        let Installations { alone, small, .. } = self.installations;
        let ours = Work::get_user(&Destination::server(alone.key(small).await?), small.numbers());
        let theirs = Work::get_user(&Destination::default(), small.numbers());
        let sides = [Side::http(alone.server.address, ours), Side::http(self.floor.address, theirs)];
        self.compare("`GET /users/{id}` by an API key", "one select", vec![Goal::Rate(goal)], sides).await
    }

    async fn get_me(&mut self) -> Outcome {
        let Installations { alone, small, .. } = self.installations;
        let ours = Work::get(&self.destination(alone, small).await?, "/auth/me");
        let theirs = Work::get_user(&Destination::default(), small.numbers());
        let sides = [Side::http(alone.server.address, ours), Side::http(self.floor.address, theirs)];
        self.compare("`GET /auth/me`", "one select of a user", vec![Goal::Rate(0.5)], sides).await
    }

    async fn list_assignments(&mut self) -> Outcome {
        let sides = self.with_floor(|destination| Work::get(destination, ASSIGNMENTS)).await?;
        let baseline = "page with names and the stored total, one statement";
        self.compare(&format!("`GET {ASSIGNMENTS}`"), baseline, vec![Goal::Rate(0.6)], sides).await
    }

    async fn list_children(&mut self) -> Outcome {
        // The organizations with children.
        let parents = self.organizations / 10;
        let sides = self.with_floor(|destination| Work::get_children(destination, parents)).await?;
        self.compare("`GET /organizations/{id}/children`, ten", "one select", vec![Goal::Rate(0.8)], sides).await
    }

    async fn list_users(&mut self) -> Outcome {
        let sides = self.with_floor(|destination| Work::get(destination, LIST)).await?;
        self.compare(&format!("`GET {LIST}`"), "count and page", vec![Goal::Rate(0.8)], sides).await?;
        let Installations { alone, small, crowded, large, beside_large } = self.installations;
        let ours = Work::get(&self.destination(alone, small).await?, LIST);
        let theirs = Work::get(&Destination::default(), "/users-by-one-statement?limit=20");
        let sides = [Side::http(alone.server.address, ours), Side::http(self.floor.address, theirs)];
        let baseline = "page and the stored total, one statement";
        self.compare(&format!("`GET {LIST}`"), baseline, vec![Goal::None], sides).await?;
        let few = format!("of {}, alone", grouped(self.installations.small.users));
        let work = format!("`GET {LIST}` of {}", grouped(large.users));
        let sides = self.with_small(LIST, crowded, large, Side::http).await?;
        self.compare(&work, &few, vec![Goal::Times(500, 2.0)], sides).await?;
        let work = format!("`GET {LIST}` of {}, beside {}", grouped(beside_large.users), grouped(large.users));
        let sides = self.with_small(LIST, crowded, beside_large, Side::http).await?;
        self.compare(&work, &few, vec![Goal::Times(500, 1.1)], sides).await
    }

    async fn search(&mut self) -> Outcome {
        let Installations { crowded, large, .. } = self.installations;
        let search = format!("/users?search={RARE}");
        let work = format!("`GET /users?search=…`, one of {}", grouped(large.users));
        let sides = self.with_small(&search, crowded, large, Side::one_by_one).await?;
        let goals = vec![Goal::Times(500, 5.0), Goal::Millis(500, 20.0)];
        self.compare(&work, &format!("one of {}", grouped(self.installations.small.users)), goals, sides).await
    }

    async fn list_entries(&mut self) -> Outcome {
        let Installations { crowded, large, .. } = self.installations;
        let [few, many] = self.entries.map(grouped);
        let sides = self.with_small(ENTRIES, crowded, large, Side::http).await?;
        self.compare(&format!("`GET {ENTRIES}` of {many}"), &format!("of {few}"), vec![Goal::None], sides).await
    }

    async fn check(&mut self) -> Outcome {
        let sides = self.with_floor(Work::check).await?;
        self.compare("`POST /authz/check`", "JSON echoed", vec![Goal::Rate(0.6)], sides).await?;
        let work = format!("`POST /authz/check` in one of {} organizations", grouped(self.organizations));
        let sides =
            self.with_floor(|destination| Work::check_in_organizations(destination, self.organizations)).await?;
        self.compare(&work, "JSON echoed", vec![Goal::Rate(0.6)], sides).await
    }

    async fn evaluate(&mut self) -> Outcome {
        let Installations { alone, small, .. } = self.installations;
        let token = alone.token(small).await?;
        let ours = Work::evaluate(&Destination::server(token.clone()), &alone.user(&token).await?);
        let theirs = Work::check(&Destination::server(token));
        let sides = [ours, theirs].map(|work| Side::http(alone.server.address, work));
        let baseline = "the same question, `POST /authz/check`";
        self.compare("`POST /access/v1/evaluation`", baseline, vec![Goal::Rate(0.9)], sides).await
    }

    async fn log_in(&mut self) -> Outcome {
        let login =
            Side::http(self.installations.alone.server.address, Work::login(self.installations.small.numbers()));
        self.compare("`POST /auth/login`", "bare hash", vec![Goal::Rate(0.9)], [login, Side::Hash]).await
    }

    async fn read_among_logins(&mut self) -> Outcome<Arc<Logins>> {
        let work = format!("`GET /users/{{id}}` at a fixed rate, among {} endless logins", storm::CLIENTS);
        if !self.begins(&work)? {
            return Ok(Arc::default());
        }
        let Installations { alone, small, .. } = self.installations;
        let read = Work::get_user(&self.destination(alone, small).await?, small.numbers());
        let login = Work::login(small.numbers());
        let reads = storm::measure(alone.server.address, read, login, self.rounds).await?;
        self.done.push(Comparison {
            work,
            baseline: "without logins".to_owned(),
            goals: vec![Goal::Times(990, 3.0)],
            ours: reads.among_logins,
            theirs: reads.alone,
        });
        Ok(reads.logins)
    }

    /// The attacker has one network, and all other clients have another one.
    async fn log_in_under_attack(&mut self) -> Outcome {
        let work = format!("`POST /auth/login`, an attacker at {}× the capacity", siege::TIMES);
        if !self.begins(&work)? {
            return Ok(());
        }
        let Installations { alone, small, .. } = self.installations;
        let proxies = [("IAM_TRUSTED_PROXIES", "127.0.0.1")];
        let other = Process::server_with(alone.database.url(), &proxies, Stdio::inherit()).await?;
        let numbers = small.numbers();
        let half = numbers.start + small.users / 2;
        let login = Work::login_from("192.0.2.1", numbers.start..half);
        let attack = Work::login_from("198.51.100.1", half..numbers.end).or_refused();
        let siege::Logins { attacked, alone } = siege::measure(other.address, login, attack, self.rounds).await?;
        let goals = vec![Goal::Rate(0.4), Goal::Millis(990, PASSWORD_WAIT)];
        let baseline = "without the attacker".to_owned();
        self.done.push(Comparison { work, baseline, goals, ours: attacked, theirs: alone });
        other.stop().await
    }

    /// Measures with rate limits and a log, which are off in the other measurements.
    async fn with_everything_on(&mut self) -> Outcome {
        let Installations { alone, small, .. } = self.installations;
        let directory = tempfile::tempdir()?;
        let log = Stdio::from(File::create(directory.path().join("log"))?);
        let settings = [("IAM_LOG", "info"), ("IAM_RATE_LIMITS", "on"), ("IAM_RATE_LIMIT_USER", "1000000")];
        let other = Process::server_with(alone.database.url(), &settings, log).await?;
        let destination = self.destination(alone, small).await?;
        let sides = [other.address, alone.server.address]
            .map(|address| Side::http(address, Work::get_user(&destination, small.numbers())));
        self.compare("`GET /users/{id}`, rate limits and log on", "off", vec![Goal::None], sides).await?;
        other.stop().await
    }

    async fn create_users(&mut self) -> Outcome {
        let Installations { alone, small, .. } = self.installations;
        let router = Process::router(alone.database.url()).await?;
        let next = Arc::new(AtomicU64::new(small.numbers().end));
        let ours = Work::create_users(&self.destination(alone, small).await?, &next);
        let theirs = Work::create_users(&Destination::default(), &next);
        let sides = [Side::http(router.address, ours), Side::http(self.floor.address, theirs)];
        let baseline = "least hash, inserts";
        self.compare("`POST /users`, least hash", baseline, vec![Goal::Rate(0.7)], sides).await?;
        router.stop().await
    }

    async fn destination(&self, installation: &Installation, tenant: &Tenant) -> Outcome<Destination> {
        Ok(Destination::server(installation.token(tenant).await?))
    }

    /// The same work for the server and for the floor, on the same database.
    async fn with_floor(&self, work: impl Fn(&Destination) -> Work) -> Outcome<[Side; 2]> {
        let Installations { alone, small, .. } = self.installations;
        let server = Side::http(alone.server.address, work(&self.destination(alone, small).await?));
        Ok([server, Side::http(self.floor.address, work(&Destination::default()))])
    }

    /// The same request in a tenant, and in the small tenant that is alone in its database.
    async fn with_small(
        &self,
        path: &str,
        installation: &Installation,
        tenant: &Tenant,
        side: impl Fn(SocketAddr, Work) -> Side,
    ) -> Outcome<[Side; 2]> {
        let Installations { alone, small, .. } = self.installations;
        let ours = Work::get(&self.destination(installation, tenant).await?, path);
        let theirs = Work::get(&self.destination(alone, small).await?, path);
        Ok([side(installation.server.address, ours), side(alone.server.address, theirs)])
    }

    async fn compare(&mut self, work: &str, baseline: &str, goals: Vec<Goal>, sides: [Side; 2]) -> Outcome {
        if !self.begins(work)? {
            return Ok(());
        }
        let [ours, theirs] = alternate(&sides, self.rounds).await?;
        self.done.push(Comparison { work: work.to_owned(), baseline: baseline.to_owned(), goals, ours, theirs });
        Ok(())
    }
}
