//! Several servers over PostgreSQL nodes of which another one becomes the primary.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::client::{Client, text};
use crate::load::{Load, assert_all_are_there_once};
use crate::process::{Home, Server, TIMEOUT, wait_for};
use crate::revocation::wait_until_changes_are_received;

const SERVERS: usize = 3;
const KILLS: usize = 10;
/// Patroni waits 20 seconds before it believes that a whole node is lost.
const FAILOVER: Duration = Duration::from_secs(120);

/// The nodes of `scripts/with-patroni`.
struct Nodes {
    url: String,
    directory: PathBuf,
}

/// A node that was the primary.
struct Killed {
    name: String,
    at: Instant,
}

impl Nodes {
    fn of_environment() -> Self {
        let variable = |name| std::env::var(name).unwrap_or_else(|_| panic!("{name}: run scripts/check-failover"));
        Self { url: variable("IAM_TEST_PATRONI_URL"), directory: variable("IAM_TEST_PATRONI_DIRECTORY").into() }
    }

    /// What the nodes say of themselves, as the first one that answers sees it.
    fn members(&self) -> Option<Vec<Value>> {
        (1..=3).find_map(|number| {
            let rest = fs::read_to_string(self.directory.join(format!("node{number}/rest"))).unwrap();
            let answer = Client::of(rest.trim().parse().unwrap()).try_get("/cluster").ok()?;
            answer.body["members"].as_array().cloned()
        })
    }

    /// Returns the name of the primary, once there is one beside a synchronous standby, and every node follows it.
    fn whole(&self) -> String {
        wait_for("three nodes", FAILOVER, || {
            let members = self.members()?;
            let named = |role: &str| members.iter().find(|member| member["role"] == role);
            let leader = named("leader")?;
            named("sync_standby")?;
            let follows = |member: &&Value| {
                ["running", "streaming"].contains(&member["state"].as_str().unwrap_or_default())
                    && member["timeline"] == leader["timeline"]
            };
            (members.iter().filter(follows).count() == 3).then(|| text(&leader["name"]))
        })
    }

    /// Kills the primary with all its processes; if `whole_node`, its Patroni too.
    fn kill_primary(&self, whole_node: bool) -> Killed {
        let name = self.whole();
        let node = self.directory.join(&name);
        let first_line = |file: &str| -> i32 {
            let text = fs::read_to_string(node.join(file)).unwrap();
            text.lines().next().unwrap().trim().parse().unwrap()
        };
        if whole_node {
            fs::write(node.join("lost"), "").unwrap();
            kill(first_line("patroni.pid"));
        }
        let postmaster = first_line("data/postmaster.pid");
        let at = Instant::now();
        kill(postmaster);
        children(postmaster).into_iter().for_each(kill);
        Killed { name, at }
    }

    /// Waits until another node is the primary.
    fn elected(&self, killed: &Killed) -> Duration {
        wait_for("another primary", FAILOVER, || {
            let leads = |member: &&Value| member["role"] == "leader" && member["state"] == "running";
            let members = self.members()?;
            let leader = members.iter().find(leads)?;
            (leader["name"] != *killed.name).then(|| killed.at.elapsed())
        })
    }

    /// Lets a killed node come back.
    fn restore(&self, killed: &Killed) {
        // There is no such file if only the server was killed.
        let _ = fs::remove_file(self.directory.join(&killed.name).join("lost"));
    }
}

/// Fails silently for a process that has just ended.
fn kill(pid: i32) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
}

fn children(parent: i32) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let parent_of = |pid: &i32| -> Option<i32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program is in parentheses and may contain spaces.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    pids.filter(|pid| parent_of(pid) == Some(parent)).collect()
}

/// Clients repeat unanswered requests under an idempotency key. So every acknowledged change exists once after ten
/// failovers, no other change exists, and no server was restarted.
#[test]
#[ignore = "needs the nodes of scripts/with-patroni; scripts/check-failover runs it"]
fn killed_primaries_lose_nothing_and_do_nothing_twice() {
    let nodes = Nodes::of_environment();
    let home = Home::new();
    let launch = || home.iam_server().env("IAM_DATABASE_URL", &nodes.url);
    let servers: Vec<Server> = (0..SERVERS).map(|_| launch().serve()).collect();
    let session = servers[0].client().register("grace@navy.example");
    let addresses = servers.iter().map(|server| server.address).collect();
    let made = Load::during(addresses, &session.access, |load| {
        for kill in 0..KILLS {
            load.wait_for(20);
            let whole_node = kill % 5 == 4;
            let killed = nodes.kill_primary(whole_node);
            let elected = nodes.elected(&killed);
            let pause = load.pause_since(killed.at, FAILOVER);
            nodes.restore(&killed);
            let what = if whole_node { "the node" } else { "the server" };
            println!("{what} killed: another primary after {elected:.1?}, the next change after {pause:.1?}");
        }
        nodes.whole();
        load.wait_for(20);
    });
    println!("{} changes are acknowledged", made.len());
    for server in &servers {
        let client = server.client();
        wait_for("readiness", TIMEOUT, || (client.get("/health/ready").status == 200).then_some(()));
        client.with_token(&session.access).get("/api/v1/auth/me").expect(200);
        wait_until_changes_are_received(&client);
        assert!(!server.log().text().contains("panicked"), "{}", server.log().text());
    }
    let client = servers[0].client().with_token(&session.access);
    assert_all_are_there_once(&client, made);
    let unsealed = || client.get("/api/v1/audit-logs/checkpoint").expect(200)["unsealed"].as_array().unwrap().len();
    wait_for("all entries to be sequenced", TIMEOUT, || (unsealed() == 0).then_some(()));
    let verified = launch().args(["audit", "verify"]).run();
    assert_eq!(verified.code, Some(0), "{verified:?}");
}
