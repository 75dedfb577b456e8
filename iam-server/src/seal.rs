//! Sealing audit entries in the background.

use std::collections::BTreeSet;
use std::time::Duration;

use iam_core::audit::Sealed;
use iam_core::{Iam, Result};
use tokio::sync::watch;

use crate::background::{every, until_stopped, within};

/// How often it is looked whether anything waits. An entry is sealed within this and the time of a round.
const PERIOD: Duration = Duration::from_millis(250);
/// How long a round may take; one takes less than a second.
const LIMIT: Duration = Duration::from_secs(60);
/// How long an entry may wait before somebody should know.
const PATIENCE: chrono::TimeDelta = chrono::TimeDelta::seconds(30);

/// Seals until told to stop. What was committed and not sealed by then is sealed by the next process.
pub(crate) async fn seal(iam: Iam, stop: watch::Receiver<bool>) {
    let sealing = async {
        let mut watch = Watch::default();
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            loop {
                let round = within(LIMIT, iam.seal_audit_logs()).await;
                watch.see(&iam, &round);
                if !round.is_ok_and(|sealed| sealed.more) {
                    break;
                }
            }
        }
    };
    until_stopped(stop, sealing).await;
}

/// Says what goes wrong once, not with every round.
#[derive(Default)]
struct Watch {
    broken: BTreeSet<iam_core::TenantId>,
    fails: bool,
    waits: bool,
}

impl Watch {
    fn see(&mut self, iam: &Iam, round: &Result<Sealed>) {
        match round {
            Ok(sealed) => {
                for tenant in sealed.broken.iter().filter(|tenant| !self.broken.contains(tenant)) {
                    tracing::error!(%tenant, "the audit log is not what its own checkpoint says and is not sealed any more: see `iam-server audit verify`");
                }
                self.broken = sealed.broken.iter().copied().collect();
                let waits = sealed.waiting_since.is_some_and(|since| iam.now() - since > PATIENCE);
                if waits && !self.waits {
                    tracing::warn!("audit entries have been waiting to be sealed for half a minute");
                }
                (self.waits, self.fails) = (waits, false);
            }
            Err(error) => {
                if !self.fails {
                    tracing::warn!(%error, "audit entries could not be sealed; they wait");
                }
                self.fails = true;
            }
        }
    }
}
