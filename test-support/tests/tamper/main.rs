//! Random tampering with the log by the database's superuser, under a checkpoint that a client kept.
//!
//! `IAM_TAMPER_SEED` plays the history and the trials of this seed, `IAM_TAMPER_TRIALS` so many of them.

#![cfg(test)]

mod ground;
mod history;
mod log;
mod tampering;

use std::collections::BTreeMap;

use fastrand::Rng;
use iam_core::audit::{Finding, Tampering, Verification};
use iam_core::{Caller, Error, Iam};

use crate::ground::{Ground, KeyRow, Rows};
use crate::history::History;
use crate::log::Log;
use crate::tampering::{DEEDS, Expected, Scene};

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

fn seed() -> u64 {
    let seed = variable("IAM_TAMPER_SEED").unwrap_or_else(|| fastrand::u64(..1 << 40));
    println!("IAM_TAMPER_SEED={seed}");
    seed
}

/// After so many trials the log is put back as it was, and must be clean.
const UNTOUCHED: usize = 25;

/// How many days are played.
const DAYS: usize = 8;

struct Arena {
    history: History,
    pristine: Rows,
    key: KeyRow,
    /// The log of each tenant, as it is and as it was on earlier days.
    logs: Vec<(Log, Vec<Log>)>,
}

impl Arena {
    /// A log of more than 520 entries, so that two subtrees of 256 are kept, and a small one; in both of them much was
    /// given up by retention, something was erased, and something still waits.
    async fn build(ground: Ground, seed: u64) -> Self {
        let mut history = History::begin(ground, seed).await;
        let mut older = Vec::new();
        for day in 0..DAYS {
            for (tenant, often) in [80, 14].into_iter().enumerate() {
                history.happen_often(tenant, often).await;
                match day {
                    3 | 5 | 7 => {
                        for _ in 0..4 {
                            history.erase(tenant).await;
                        }
                    }
                    6 => {
                        history.set_retention(tenant, 4).await;
                        assert!(history.apply_retention(tenant).await > 0);
                    }
                    _ => {}
                }
            }
            history.seal().await;
            older.push(history.ground.read().await);
            history.keep(0).await;
            history.keep(1).await;
            history.next_day().await;
        }
        for tenant in 0..2 {
            let often = history.random.usize(0..9);
            history.happen_often(tenant, often).await;
            history.seal().await;
            let often = history.random.usize(1..9);
            history.happen_often(tenant, often).await;
            if history.random.bool() {
                history.erase(tenant).await;
            }
            if history.random.bool() {
                assert!(history.apply_retention(tenant).await > 0);
            }
        }
        let (pristine, key) = (history.ground.read().await, history.ground.key().await);
        history.ground.disarm().await;
        let logs = history.tenants.iter().map(|tenant| {
            let log = |rows| Log::of(tenant.id.as_uuid(), rows, &key);
            (log(&pristine), older.iter().map(log).collect())
        });
        Self { logs: logs.collect(), history, pristine, key }
    }

    async fn assert_untouched(&mut self) {
        assert_eq!(self.history.ground.read().await, self.pristine, "the trial before it was taken back");
        for tenant in 0..2 {
            assert_eq!(self.history.verify(tenant).await.findings, []);
        }
    }

    /// One trial: tells what was done, and what is wrong about what was found.
    async fn trial(&mut self, mut random: Rng) -> (&'static str, Option<String>) {
        let tenant = usize::from(random.u8(0..5) > 0);
        let (log, older) = &self.logs[tenant];
        let purged = log.sealed.iter().take_while(|sealed| sealed.entry.is_none()).count();
        let covering = self.history.tenants[tenant].kept.iter().filter(|kept| kept.size as usize > purged + 5);
        let kept = random.choice(covering.collect::<Vec<_>>()).unwrap().clone();
        let kept_size = usize::try_from(kept.size).unwrap();
        let (deed, tamper) = DEEDS[random.usize(0..DEEDS.len())];
        let queue_holds_entries = self.history.ground.queue_holds_entries();
        let (log_now, is_perfect) = (log.clone(), false);
        let mut scene = Scene { log: log_now, kept: kept_size, purged, older, queue_holds_entries, random, is_perfect };
        let expected = tamper(&mut scene);
        assert!(scene.log != *log, "{deed} tampers with something");
        let (pristine, tampered) = (log.rows(), scene.log.rows());

        self.history.ground.write(&pristine, &tampered).await;
        let caller = self.history.system(tenant);
        let iam = if scene.log.key == self.key {
            self.history.iam.clone()
        } else {
            self.history.ground.write_key(&scene.log.key).await;
            self.history.another().await
        };
        let found = iam.audit().verify(&caller, std::slice::from_ref(&kept.note)).await;
        let mut wrong = misjudged(&expected, &found);
        if scene.is_perfect && wrong.is_none() {
            wrong = imperfect(&iam, &caller).await;
        }
        self.history.ground.write(&tampered, &pristine).await;
        if scene.log.key != self.key {
            self.history.ground.write_key(&self.key).await;
        }
        let (size, first) =
            (scene.log.size(), found.as_ref().map(|found| found.findings.iter().take(4).collect::<Vec<_>>()));
        let wrong = wrong.map(|wrong| {
            format!("{deed}: {wrong}: {expected:?}, kept {kept_size} of {size}, {purged} given up: {first:?}")
        });
        (deed, wrong)
    }
}

/// Without the kept checkpoint a perfect forgery must be convincing, or the trial would prove little.
async fn imperfect(iam: &Iam, caller: &Caller) -> Option<String> {
    let found = iam.audit().verify(caller, &[]).await.unwrap();
    let is_forgers_fault =
        |finding: &&Finding| !matches!(finding.what, Tampering::Removed | Tampering::GivenUp | Tampering::Erased);
    found.findings.iter().find(is_forgers_fault).map(|finding| format!("the forgery is not perfect: {finding}"))
}

/// What is wrong about what was found, if anything is.
fn misjudged(expected: &Expected, found: &Result<Verification, Error>) -> Option<String> {
    let found = match (expected, found) {
        (Expected::OtherKey, Err(Error::Validation(errors))) if errors[0].field == "checkpoint" => return None,
        (Expected::Unreadable(_), Err(Error::Store(_))) => return None,
        (_, Err(error)) => return Some(format!("error {error:?}")),
        (_, Ok(found)) => found,
    };
    let Some(first) = found.findings.first() else { return Some("NOT FOUND".to_owned()) };
    let places = |finding: &Finding| finding.sequence.clone().map(|places| places.start as usize..places.end as usize);
    let is_at = |finding: &Finding, place: usize| places(finding) == Some(place..place + 1);
    let is_found_at = |place: usize| found.findings.iter().any(|finding| is_at(finding, place));
    let is_among = |place: usize| places(first).is_some_and(|places| places.contains(&place));
    let names = match expected {
        Expected::Entry(place, id) => is_at(first, *place) && first.entry == Some((*id).into()),
        Expected::Unplaced(id) => first.sequence.is_none() && first.entry == Some((*id).into()),
        Expected::Place(place) | Expected::Unreadable(place) => is_at(first, *place),
        Expected::OneOf(places) => places.iter().any(|place| is_at(first, *place)),
        Expected::Record(place) | Expected::Displaced(place) => is_found_at(*place),
        Expected::Around(place) => is_among(*place),
        Expected::Shortened(place) => is_among(*place) || first.what == Tampering::Shorter,
        Expected::OtherKey => false,
    };
    (!names).then(|| "misnamed".to_owned())
}

async fn play(ground: Ground, trials: u64) {
    let seed = seed();
    let mut arena = Arena::build(ground, seed).await;
    let trials = usize::try_from(variable("IAM_TAMPER_TRIALS").unwrap_or(trials)).unwrap();
    let (mut played, mut wrong) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for trial in 0..trials {
        if trial % UNTOUCHED == 0 {
            arena.assert_untouched().await;
        }
        let (deed, misjudged) = arena.trial(Rng::with_seed(seed ^ ((trial as u64) << 40))).await;
        *played.entry(deed).or_default() += 1;
        wrong.extend(misjudged);
    }
    arena.assert_untouched().await;
    println!("{played:#?}");
    assert!(wrong.is_empty(), "IAM_TAMPER_SEED={seed}: {} of {trials}\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn every_tampering_under_a_kept_checkpoint_is_found_on_sqlite() {
    play(Ground::sqlite().await, 1_000).await;
}

#[tokio::test]
async fn every_tampering_with_a_second_history_is_found_on_sqlite() {
    play(Ground::sqlite().await, 1_000).await;
}

#[tokio::test]
async fn every_tampering_under_a_kept_checkpoint_is_found_on_postgres() {
    play(Ground::postgres().await, 1_000).await;
}

/// How much happens to a log that nobody touches.
const STEPS: usize = 120;

/// Under all checkpoints that were ever kept, whatever happens after them.
async fn leave_untouched(ground: Ground) {
    let mut history = History::begin(ground, seed()).await;
    history.happen_often(0, 20).await;
    history.happen_often(1, 20).await;
    for _ in 0..STEPS {
        let tenant = history.random.usize(0..2);
        match history.random.u8(0..10) {
            0..4 => {
                let often = history.random.usize(1..12);
                history.happen_often(tenant, often).await;
            }
            4 => drop(history.erase(tenant).await),
            5 => {
                let days = history.random.u32(1..4);
                history.set_retention(tenant, days).await;
            }
            6 => drop(history.apply_retention(tenant).await),
            7 => history.next_day().await,
            _ => history.seal().await,
        }
        if history.random.bool() {
            history.keep(tenant).await;
        }
        assert_eq!(history.verify(tenant).await.findings, []);
    }
}

#[tokio::test]
async fn nothing_is_reported_on_an_untouched_log_on_sqlite() {
    leave_untouched(Ground::sqlite().await).await;
}

#[tokio::test]
async fn nothing_is_reported_on_an_untouched_log_on_postgres() {
    leave_untouched(Ground::postgres().await).await;
}
