//! The logins that succeed for other clients while an attacker sends many logins.

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

/// The number of logins that the attacker sends for each login that the server can answer.
pub(crate) const TIMES: f64 = 10.0;
/// The number of the attacker's connections. It is greater than the number of logins that wait at any moment, so the
/// attacker never waits for a connection.
const ATTACKERS: u64 = 512;

/// Logins during the attack, and without it.
pub(crate) struct Logins {
    pub(crate) attacked: Series,
    pub(crate) alone: Series,
}

/// Logs in with all connections busy, without the attack and during it.
pub(crate) async fn measure(address: SocketAddr, login: Work, attack: Work, rounds: Rounds) -> Outcome<Logins> {
    let (side, attack) = (Side::http(address, login), Arc::new(attack));
    let mut logins = Logins { attacked: Series::new(), alone: Series::new() };
    side.round(rounds.length / 3).await?;
    for _ in 0..rounds.count {
        logins.alone.push(side.round(rounds.length).await?);
        let rate = TIMES * logins.alone.figure(Figure::Rate);
        // Longer than the round, because the attacker begins before it.
        let pace = Pace { rate, length: rounds.length * 3 / 2, connections: ATTACKERS };
        let attacker = begin(address, Arc::clone(&attack), pace);
        sleep(rounds.length / 4).await;
        logins.attacked.push(side.round(rounds.length).await?);
        // The attacker still waits for its last answers. That must not block this thread.
        let sent = tokio::task::spawn_blocking(|| attacker.join()).await?.map_err(|_| "the attack failed")??;
        if !rounds.is_trial {
            require_rate(&sent, rate)?;
        }
    }
    Ok(logins)
}

/// Starts the attack on a separate thread, so that no login waits in the client for the attack.
fn begin(address: SocketAddr, attack: Arc<Work>, pace: Pace) -> JoinHandle<Outcome<Round>> {
    thread::spawn(move || {
        Builder::new_current_thread().enable_all().build()?.block_on(paced::round(address, &attack, pace))
    })
}

/// Fails if the attack was too slow: a measurement during a weaker attack would prove nothing.
fn require_rate(sent: &Round, rate: f64) -> Outcome {
    let reached = sent.latencies.len() as f64 / sent.elapsed.saturating_sub(LAST_ANSWERS).as_secs_f64();
    if reached < rate * 0.9 {
        return Err(format!("the attack had {reached:.0} logins a second instead of {rate:.0}").into());
    }
    Ok(())
}

/// How long the last logins wait for their answers after all are sent.
const LAST_ANSWERS: Duration = Duration::from_secs(2);
