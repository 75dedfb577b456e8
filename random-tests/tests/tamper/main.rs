//! Random tampering with the log by the database's superuser, while a client keeps a checkpoint.
//!
//! `IAM_TAMPER_SEED` is the seed of the history and the trials. `IAM_TAMPER_TRIALS` is the number of trials.

#![cfg(test)]

mod ground;
mod history;
mod log;
mod tampering;

use std::collections::BTreeMap;

use fastrand::Rng;
use iam_core::audit::{Finding, Tampering, Verification};
use iam_core::{Caller, Error, Iam};
use test_support::repetitions;

use crate::ground::{Database, KeyRow, Rows};
use crate::history::History;
use crate::log::Log;
use crate::tampering::{ATTACKS, AttackTarget, Expected};

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

fn seed() -> u64 {
    let seed = variable("IAM_TAMPER_SEED").unwrap_or_else(|| fastrand::u64(..1 << 40));
    println!("IAM_TAMPER_SEED={seed}");
    seed
}

/// The number of trials between two checks that the log is restored and has no findings.
const CHECK_INTERVAL: usize = 25;

/// The number of trials in a long run.
const TRIALS: usize = 1_000;

/// The number of days in the history.
const DAYS: usize = 8;

struct Experiment {
    history: History,
    pristine: Rows,
    key: KeyRow,
    /// The log of each tenant, as it is and as it was at the end of each day.
    logs: Vec<(Log, Vec<Log>)>,
}

impl Experiment {
    /// Builds a log of more than 520 entries, so that it has two stored subtrees of 256 leaves, and a small log. In
    /// both, the retention has removed many entries, some entries are erased, and some are pending.
    async fn build(database: Database, seed: u64) -> Self {
        let mut history = History::begin(database, seed).await;
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
            history.sequence().await;
            older.push(history.database.read().await);
            history.keep(0).await;
            history.keep(1).await;
            history.next_day().await;
        }
        for tenant in 0..2 {
            let often = history.random.usize(0..9);
            history.happen_often(tenant, often).await;
            history.sequence().await;
            let often = history.random.usize(1..9);
            history.happen_often(tenant, often).await;
            if history.random.bool() {
                history.erase(tenant).await;
            }
            if history.random.bool() {
                assert!(history.apply_retention(tenant).await > 0);
            }
        }
        let (pristine, key) = (history.database.read().await, history.database.key().await);
        history.database.disarm().await;
        let logs = history.tenants.iter().map(|tenant| {
            let log = |rows| Log::of(tenant.id.as_uuid(), rows, &key);
            (log(&pristine), older.iter().map(log).collect())
        });
        Self { logs: logs.collect(), history, pristine, key }
    }

    async fn assert_unchanged(&mut self) {
        assert_eq!(self.history.database.read().await, self.pristine, "the trial before is undone");
        for tenant in 0..2 {
            assert_eq!(self.history.verify(tenant).await.findings, []);
        }
    }

    /// Runs one trial. Returns the name of the attack, and the error in the findings if there is one.
    async fn trial(&mut self, mut random: Rng) -> (&'static str, Option<String>) {
        let tenant = usize::from(random.u8(0..5) > 0);
        let (log, older) = &self.logs[tenant];
        let purged = log.sequenced.iter().take_while(|sequenced| sequenced.entry.is_none()).count();
        let covering = self.history.tenants[tenant].kept.iter().filter(|kept| kept.size as usize > purged + 5);
        let kept = random.choice(covering.collect::<Vec<_>>()).unwrap().clone();
        let kept_size = usize::try_from(kept.size).unwrap();
        let (attack, tamper) = ATTACKS[random.usize(0..ATTACKS.len())];
        let queue_holds_entries = self.history.database.queue_holds_entries();
        let (log_now, is_perfect) = (log.clone(), false);
        let mut target =
            AttackTarget { log: log_now, kept: kept_size, purged, older, queue_holds_entries, random, is_perfect };
        let expected = tamper(&mut target);
        assert!(target.log != *log, "{attack} changes the log");
        let (pristine, tampered) = (log.rows(), target.log.rows());

        self.history.database.write(&pristine, &tampered).await;
        let caller = self.history.system(tenant);
        let iam = if target.log.key == self.key {
            self.history.iam.clone()
        } else {
            self.history.database.write_key(&target.log.key).await;
            self.history.another().await
        };
        let found = iam.audit().verify(&caller, std::slice::from_ref(&kept.note)).await;
        let mut wrong = mismatch(&expected, &found);
        if target.is_perfect && wrong.is_none() {
            wrong = imperfect(&iam, &caller).await;
        }
        self.history.database.write(&tampered, &pristine).await;
        if target.log.key != self.key {
            self.history.database.write_key(&self.key).await;
        }
        let (size, first) =
            (target.log.size(), found.as_ref().map(|found| found.findings.iter().take(4).collect::<Vec<_>>()));
        let wrong = wrong.map(|wrong| {
            format!("{attack}: {wrong}: {expected:?}, kept {kept_size} of {size}, {purged} removed: {first:?}")
        });
        (attack, wrong)
    }
}

/// Returns the first flaw of a forgery with the installation's key. Without the kept checkpoint, such a forgery must
/// have no findings except for missing and erased entries. Otherwise the trial would prove little.
async fn imperfect(iam: &Iam, caller: &Caller) -> Option<String> {
    let found = iam.audit().verify(caller, &[]).await.unwrap();
    let is_forgers_fault =
        |finding: &&Finding| !matches!(finding.what, Tampering::Removed | Tampering::GivenUp | Tampering::Erased);
    found.findings.iter().find(is_forgers_fault).map(|finding| format!("the forgery is not perfect: {finding}"))
}

/// Returns the error in the findings, if there is one.
fn mismatch(expected: &Expected, found: &Result<Verification, Error>) -> Option<String> {
    let found = match (expected, found) {
        (Expected::OtherKey, Err(Error::Validation(errors))) if errors[0].field == "checkpoint" => return None,
        (Expected::Unreadable(_), Err(Error::Store(_))) => return None,
        (_, Err(error)) => return Some(format!("error {error:?}")),
        (_, Ok(found)) => found,
    };
    let Some(first) = found.findings.first() else { return Some("NOT FOUND".to_owned()) };
    let positions =
        |finding: &Finding| finding.sequence.clone().map(|positions| positions.start as usize..positions.end as usize);
    let is_at = |finding: &Finding, position: usize| positions(finding) == Some(position..position + 1);
    let is_found_at = |position: usize| found.findings.iter().any(|finding| is_at(finding, position));
    let is_among = |position: usize| positions(first).is_some_and(|positions| positions.contains(&position));
    let names = match expected {
        Expected::Entry(position, id) => is_at(first, *position) && first.entry == Some((*id).into()),
        Expected::Unsequenced(id) => first.sequence.is_none() && first.entry == Some((*id).into()),
        Expected::Position(position) | Expected::Unreadable(position) => is_at(first, *position),
        Expected::OneOf(positions) => positions.iter().any(|position| is_at(first, *position)),
        Expected::Record(position) | Expected::Displaced(position) => is_found_at(*position),
        Expected::Around(position) => is_among(*position),
        Expected::Shortened(position) => is_among(*position) || first.what == Tampering::Shorter,
        Expected::OtherKey => false,
    };
    (!names).then(|| "WRONG ENTRY OR POSITION".to_owned())
}

async fn play(database: Database) {
    let seed = seed();
    let mut experiment = Experiment::build(database, seed).await;
    let trials = variable("IAM_TAMPER_TRIALS").map(|trials| trials.try_into().unwrap());
    let trials = trials.unwrap_or_else(|| repetitions(TRIALS));
    let (mut played, mut wrong) = (BTreeMap::<&str, usize>::new(), Vec::new());
    for trial in 0..trials {
        if trial % CHECK_INTERVAL == 0 {
            experiment.assert_unchanged().await;
        }
        let (attack, mismatch) = experiment.trial(Rng::with_seed(seed ^ ((trial as u64) << 40))).await;
        *played.entry(attack).or_default() += 1;
        wrong.extend(mismatch);
    }
    experiment.assert_unchanged().await;
    println!("{played:#?}");
    assert!(wrong.is_empty(), "IAM_TAMPER_SEED={seed}: {} of {trials}\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn every_tampering_under_a_kept_checkpoint_is_found_on_sqlite() {
    play(Database::sqlite().await).await;
}

#[tokio::test]
async fn every_tampering_with_a_second_history_is_found_on_sqlite() {
    play(Database::sqlite().await).await;
}

#[tokio::test]
async fn every_tampering_under_a_kept_checkpoint_is_found_on_postgres() {
    play(Database::postgres().await).await;
}

/// The number of steps in the history of a log without tampering.
const STEPS: usize = 120;

/// Verifies the log after every step with all checkpoints that were kept before. No step may lead to a finding.
async fn verify_without_tampering(database: Database) {
    let mut history = History::begin(database, seed()).await;
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
            _ => history.sequence().await,
        }
        if history.random.bool() {
            history.keep(tenant).await;
        }
        assert_eq!(history.verify(tenant).await.findings, []);
    }
}

#[tokio::test]
async fn an_unchanged_log_has_no_findings_on_sqlite() {
    verify_without_tampering(Database::sqlite().await).await;
}

#[tokio::test]
async fn an_unchanged_log_has_no_findings_on_postgres() {
    verify_without_tampering(Database::postgres().await).await;
}
