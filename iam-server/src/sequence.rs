//! Sequences audit entries in the background.

use std::collections::BTreeSet;
use std::time::Duration;

use iam_core::audit::Sequenced;
use iam_core::{Iam, Result};
use tokio::sync::watch;

use crate::background::{every, until_stopped, within};

/// How often the task looks for pending entries. An entry is sequenced within this time and the time of one round.
const PERIOD: Duration = Duration::from_millis(250);
/// How long a round may take. A round usually takes less than a second.
const LIMIT: Duration = Duration::from_secs(60);
/// How long an entry may be pending before the log warns the operator.
const PENDING_LIMIT: chrono::TimeDelta = chrono::TimeDelta::seconds(30);

/// Sequences entries until the server stops. The next process sequences the entries that are still pending then.
pub(crate) async fn sequence(iam: Iam, stop: watch::Receiver<bool>) {
    let sequencing = async {
        let mut problems = LoggedProblems::default();
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            loop {
                let round = within(LIMIT, iam.sequence_audit_logs()).await;
                problems.log(&iam, &round);
                if !round.is_ok_and(|sequenced| sequenced.more) {
                    break;
                }
            }
        }
    };
    until_stopped(stop, sequencing).await;
}

/// Logs each problem once, and not in every round.
#[derive(Default)]
struct LoggedProblems {
    broken: BTreeSet<iam_core::TenantId>,
    is_failing: bool,
    is_late: bool,
}

impl LoggedProblems {
    fn log(&mut self, iam: &Iam, round: &Result<Sequenced>) {
        match round {
            Ok(sequenced) => {
                for tenant in sequenced.broken.iter().filter(|tenant| !self.broken.contains(tenant)) {
                    tracing::error!(
                        %tenant,
                        "the audit log does not match its own checkpoint, so its new entries stay pending: \
                         run `iam-server audit verify`"
                    );
                }
                self.broken = sequenced.broken.iter().copied().collect();
                let is_late = sequenced.waiting_since.is_some_and(|since| iam.now() - since > PENDING_LIMIT);
                if is_late && !self.is_late {
                    tracing::warn!("audit entries have been pending for more than 30 seconds");
                }
                (self.is_late, self.is_failing) = (is_late, false);
            }
            Err(error) => {
                if !self.is_failing {
                    tracing::warn!(%error, "audit entries could not be sequenced; they stay pending");
                }
                self.is_failing = true;
            }
        }
    }
}
