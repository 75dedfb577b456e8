//! The commands of `audit`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use iam_core::audit::{Verification, tenant_of};
use iam_core::{Caller, Conflict, Error, Iam, TenantId};

use crate::command::output::print;
use crate::command::tenant;
use crate::failure::Failure;
use crate::services::open;
use crate::settings::Settings;

#[derive(Clone, Subcommand)]
pub(crate) enum Audit {
    /// Verify the audit logs: recompute them and name the first entry that was changed, removed, inserted or moved
    Verify {
        /// Only this tenant's log; may be repeated [default: all]
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<TenantId>,
        /// A file with a kept checkpoint, or a directory of such files; may be repeated
        #[arg(long = "checkpoint", value_name = "PATH")]
        checkpoints: Vec<PathBuf>,
    },
    /// Write the signed checkpoints of all audit logs into a directory; keep them in another place than the database
    Checkpoint {
        /// The directory; each file in it is named `TENANT-SIZE.checkpoint`
        #[arg(value_name = "DIRECTORY")]
        directory: PathBuf,
    },
    /// Remove the entries that are older than their tenant's retention
    Retain {
        /// Apply pending retentions at once
        #[arg(long)]
        now: bool,
        /// With --now: only the pending retention of the tenant with this id; may be repeated [default: all]
        #[arg(long = "tenant", value_name = "ID", requires = "now")]
        tenants: Vec<TenantId>,
    },
}

pub(crate) async fn audit(command: Audit, settings: &Settings) -> Result<(), Failure> {
    let iam = open(settings).await?;
    let result = match command {
        Audit::Verify { tenants, checkpoints } => verify(&iam, tenants, &checkpoints).await,
        Audit::Checkpoint { directory } => checkpoint(&iam, &directory).await,
        Audit::Retain { now, tenants } => retain(&iam, now, tenants).await,
    };
    iam.close().await;
    result
}

async fn verify(iam: &Iam, mut tenants: Vec<TenantId>, checkpoints: &[PathBuf]) -> Result<(), Failure> {
    let kept = read_checkpoints(checkpoints)?;
    if tenants.is_empty() {
        tenants = audited(iam).await?;
        // A tenant with a kept checkpoint is verified even if its whole log is gone.
        tenants.extend(kept.keys());
        tenants.sort();
        tenants.dedup();
    }
    let progress = Progress { is_shown: stderr().is_terminal(), tenants: tenants.len() };
    let mut broken = 0_usize;
    for (number, tenant) in tenants.into_iter().enumerate() {
        let kept = kept.get(&tenant).map_or(&[][..], Vec::as_slice);
        // An error in one log must not prevent the verification of the others.
        let watch = |read, all| progress.show(number, read, all);
        let verified = iam.audit().verify_watched(&caller(tenant), kept, watch).await;
        progress.clear();
        match verified {
            Ok(verified) => {
                report(tenant, &verified, kept.len())?;
                broken += usize::from(!verified.findings.is_empty());
            }
            Err(error) => {
                print(&Failure::new(format!("{tenant}: the log cannot be verified"), &error).to_string())?;
                broken += 1;
            }
        }
    }
    match broken {
        0 => Ok(()),
        broken => Err(Failure(format!("audit logs that failed verification: {broken}"))),
    }
}

/// Shows the progress of a verification in one line of a terminal. A failure to write the line is ignored.
struct Progress {
    is_shown: bool,
    tenants: usize,
}

/// Moves to the beginning of the line and clears it.
const CLEAR_LINE: &str = "\r\x1b[K";

impl Progress {
    fn show(&self, number: usize, read: u64, all: u64) {
        if self.is_shown {
            let (number, tenants) = (number + 1, self.tenants);
            let _ = write!(stderr(), "{CLEAR_LINE}log {number} of {tenants}: {read} of {all} entries");
        }
    }

    fn clear(&self) {
        if self.is_shown {
            let _ = write!(stderr(), "{CLEAR_LINE}");
        }
    }
}

fn report(tenant: TenantId, verified: &Verification, kept: usize) -> Result<(), Failure> {
    let Verification { sequenced, removed, pending, root, findings, .. } = verified;
    print(&format!(
        "{tenant}: {sequenced} entries sequenced, {removed} of them removed by retention, {pending} pending, \
         {kept} kept checkpoints; root {root}"
    ))?;
    if findings.is_empty() {
        return print(&format!("{tenant}: nothing was changed"));
    }
    findings.iter().try_for_each(|finding| print(&format!("{tenant}: {finding}")))
}

/// Reads the signed notes in these files and directories. Groups them by the tenant of the log.
fn read_checkpoints(paths: &[PathBuf]) -> Result<BTreeMap<TenantId, Vec<String>>, Failure> {
    let mut notes: BTreeMap<TenantId, Vec<String>> = BTreeMap::new();
    for path in paths.iter().map(|path| files(path)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        let failed = |error: std::io::Error| Failure::new(format!("reading {}", path.display()), &error);
        let note = fs::read_to_string(&path).map_err(failed)?;
        let tenant = tenant_of(&note);
        let tenant = tenant.ok_or_else(|| Failure(format!("{} is not a signed checkpoint", path.display())))?;
        notes.entry(tenant).or_default().push(note);
    }
    Ok(notes)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |error: std::io::Error| Failure::new(format!("reading {}", path.display()), &error);
    let entries = fs::read_dir(path).map_err(failed)?;
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    files.sort();
    Ok(files)
}

async fn checkpoint(iam: &Iam, directory: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("creating {}", directory.display()), &error);
    fs::create_dir_all(directory).map_err(failed)?;
    let mut missing = 0_usize;
    for tenant in audited(iam).await? {
        match iam.audit().checkpoint(&caller(tenant)).await {
            Ok(state) => {
                let path = directory.join(format!("{tenant}-{}.checkpoint", state.signed.checkpoint.size));
                keep(&path, &state.signed.note)?;
                print(&path.display().to_string())?;
            }
            Err(error) => {
                print(&Failure::new(format!("{tenant}: no checkpoint was written"), &error).to_string())?;
                missing += 1;
            }
        }
    }
    match missing {
        0 => Ok(()),
        missing => Err(Failure(format!("audit logs without a checkpoint: {missing}"))),
    }
}

/// Writes a checkpoint, as a whole or not at all. Never overwrites one: if an existing file differs, the two are the
/// proof that the log was rewritten.
fn keep(path: &Path, note: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(format!("writing {}", path.display()), &error);
    if path.exists() {
        let kept = fs::read_to_string(path).map_err(failed)?;
        let differs = || Failure(format!("{} exists and differs: the log was rewritten", path.display()));
        return if kept == note { Ok(()) } else { Err(differs()) };
    }
    let draft = path.with_extension("draft");
    fs::write(&draft, note).map_err(failed)?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft).map_err(failed)?;
    linked.map_err(failed)
}

async fn retain(iam: &Iam, now: bool, tenants: Vec<TenantId>) -> Result<(), Failure> {
    if now && tenants.is_empty() {
        hasten_all(iam).await?;
    }
    for tenant in tenants {
        let caller = tenant::find(iam, &tenant.to_string(), AUDIT_COMMAND).await?;
        let hastened = iam.audit().hasten_retention(&caller).await;
        hastened.map_err(|error| not_changed(tenant, &error))?;
    }
    let mut held = Vec::new();
    let removed = iam.apply_audit_retention_watched(|tenant| held.push(tenant)).await;
    let removed = removed.map_err(|error| Failure::new("applying retention", &error))?;
    print(&format!("Entries removed: {removed}"))?;
    held.iter().try_for_each(|tenant| print(&format!("{tenant}: a legal hold keeps the entries")))
}

/// Puts the pending retention of every tenant into effect. A log can outlast its tenant: a deleted one is passed over, and
/// one whose deletion has begun.
async fn hasten_all(iam: &Iam) -> Result<(), Failure> {
    for tenant in audited(iam).await? {
        let found = iam.tenants().find(&tenant.to_string()).await;
        if found.map_err(|error| Failure::new("looking for the tenant", &error))?.is_none() {
            continue;
        }
        match iam.audit().hasten_retention(&caller(tenant)).await {
            Ok(_) | Err(Error::Conflict(Conflict::TenantDeletionBegun)) => {}
            Err(error) => return Err(not_changed(tenant, &error)),
        }
    }
    Ok(())
}

fn not_changed(tenant: TenantId, error: &Error) -> Failure {
    Failure::new(format!("{tenant}: the retention cannot be changed"), error)
}

async fn audited(iam: &Iam) -> Result<Vec<TenantId>, Failure> {
    iam.audited_tenants().await.map_err(|error| Failure::new("listing the audit logs", &error))
}

/// The name of these commands in the audit entries that they cause.
const AUDIT_COMMAND: &str = "audit command";

fn caller(tenant: TenantId) -> Caller {
    Caller::system(tenant, AUDIT_COMMAND)
}
