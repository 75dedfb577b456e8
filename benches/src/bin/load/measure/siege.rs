//! What an attacker who sends logins leaves of them to everybody else.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use iam_benches::Outcome;
use tokio::runtime::Builder;
use tokio::time::sleep;

use super::load::{Rounds, Side};
use super::paced::{self, Pace};
use super::series::{Figure, Round, Series};
use crate::work::Work;

/// How many logins the attacker sends for each that the server can answer.
pub(crate) const TIMES: f64 = 10.0;
/// More than wait at any moment, so that the attacker never waits for a connection.
const ATTACKERS: u64 = 512;

/// Logins, beside the attack and alone.
pub(crate) struct Logins {
    pub(crate) besieged: Series,
    pub(crate) alone: Series,
}

/// Logs in with all connections busy, without the attack and beside it.
pub(crate) async fn measure(address: SocketAddr, login: Work, attack: Work, rounds: Rounds) -> Outcome<Logins> {
    let (side, attack) = (Side::http(address, login), Arc::new(attack));
    let mut logins = Logins { besieged: Series::new(), alone: Series::new() };
    side.round(rounds.length / 3).await?;
    for _ in 0..rounds.count {
        logins.alone.push(side.round(rounds.length).await?);
        let rate = TIMES * logins.alone.figure(Figure::Rate);
        // Until after the round, for the attacker begins before it.
        let pace = Pace { rate, length: rounds.length * 3 / 2, connections: ATTACKERS };
        let attacker = begin(address, Arc::clone(&attack), pace);
        sleep(rounds.length / 4).await;
        logins.besieged.push(side.round(rounds.length).await?);
        // The attacker still waits for its last answers, which must not keep this thread.
        let sent = tokio::task::spawn_blocking(|| attacker.join()).await?.map_err(|_| "the attack failed")??;
        require_rate(&sent, rate)?;
    }
    Ok(logins)
}

/// On a thread of its own, so that no login waits in the client for the attack.
fn begin(address: SocketAddr, attack: Arc<Work>, pace: Pace) -> JoinHandle<Outcome<Round>> {
    thread::spawn(move || {
        Builder::new_current_thread().enable_all().build()?.block_on(paced::round(address, &attack, pace))
    })
}

/// A weaker attack would say nothing.
fn require_rate(sent: &Round, rate: f64) -> Outcome {
    let reached = sent.latencies.len() as f64 / sent.elapsed.saturating_sub(LAST_ANSWERS).as_secs_f64();
    if reached < rate * 0.9 {
        return Err(format!("the attack had {reached:.0} logins a second instead of {rate:.0}").into());
    }
    Ok(())
}

/// For so long the last ones wait, after all are sent.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
