//! The command `tenant delete`.

use chrono::TimeDelta;
use clap::{Args, ValueEnum};
use iam_core::clock::shown;
use iam_core::tenant::{NewTenantDeletion, TenantContents};
use iam_core::{Caller, Iam};

use crate::command::output::{print, refused};
use crate::failure::Failure;

#[derive(Clone, Args)]
pub(crate) struct Delete {
    /// The tenant, by its id or slug
    #[arg(long, value_name = "TENANT")]
    pub(super) tenant: String,
    /// How long the deletion waits, such as 30d or 12h; a running server begins it within a minute after that
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = waiting_time, conflicts_with = "cancel")]
    after: TimeDelta,
    /// Whether the entries of the audit log stay
    #[arg(long, value_name = "WORD", required_unless_present_any = ["cancel", "dry_run"], conflicts_with = "cancel")]
    audit_log: Option<AuditLog>,
    /// Why, for the audit log
    #[arg(long, value_name = "TEXT", required_unless_present = "dry_run")]
    reason: Option<String>,
    /// Call the deletion off
    #[arg(long, conflicts_with = "dry_run")]
    cancel: bool,
    /// Change nothing, and print how much would be deleted
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum AuditLog {
    /// The entries stay, and can be verified
    Keep,
    /// The entries go; hashes stay, which show that the log was there
    Erase,
}

impl Delete {
    pub(super) async fn run(self, iam: &Iam, caller: &Caller) -> Result<(), Failure> {
        let reason = self.reason.clone().unwrap_or_default();
        if self.dry_run {
            self.preview(iam, caller).await
        } else if self.cancel {
            let cancelled = iam.tenants().cancel_deletion(caller, &reason).await;
            cancelled.map_err(|error| refused(format!("calling off the deletion of {}", self.tenant), &error))?;
            print(&format!("The deletion of {} is called off.", self.tenant))
        } else {
            self.schedule(iam, caller, reason).await
        }
    }

    async fn preview(&self, iam: &Iam, caller: &Caller) -> Result<(), Failure> {
        let contents = iam.tenants().contents(caller).await;
        let contents = contents.map_err(|error| refused(format!("looking at {}", self.tenant), &error))?;
        print(&format!("Tenant {} has {}.", self.tenant, in_words(&contents)))?;
        match contents.legal_holds {
            0 => Ok(()),
            holds => print(&format!("Legal holds that stop the deletion: {holds}")),
        }
    }

    async fn schedule(&self, iam: &Iam, caller: &Caller, reason: String) -> Result<(), Failure> {
        let keeps_log = matches!(self.audit_log, Some(AuditLog::Keep));
        let new = NewTenantDeletion { after: self.after, keeps_log, reason };
        let deletion = iam.tenants().schedule_deletion(caller, new).await;
        let deletion = deletion.map_err(|error| refused(format!("deleting the tenant {}", self.tenant), &error))?;
        let entries = if keeps_log { "stay" } else { "go" };
        let (tenant, id, due_at) = (&self.tenant, deletion.tenant_id, shown(deletion.due_at));
        print(&format!(
            "Tenant {tenant} ({id}) will be deleted after {due_at}. The entries of its audit log {entries}. To call it \
             off: iam-server tenant delete --tenant {id} --cancel --reason TEXT"
        ))
    }
}

fn in_words(contents: &TenantContents) -> String {
    let TenantContents { users, organizations, roles, assignments, entries, .. } = contents;
    format!(
        "{users} users, {organizations} organizations, {roles} roles, {assignments} role assignments and {entries} \
         entries in its audit log"
    )
}

/// Reads a number of days or hours, such as `30d` or `12h`.
fn waiting_time(text: &str) -> Result<TimeDelta, String> {
    let parse = |number: &str| number.parse::<i64>().ok().filter(|number| *number >= 0);
    let time = match (text.strip_suffix('d'), text.strip_suffix('h')) {
        (Some(days), _) => parse(days).and_then(TimeDelta::try_days),
        (_, Some(hours)) => parse(hours).and_then(TimeDelta::try_hours),
        _ => None,
    };
    time.ok_or_else(|| "must be a number of days or hours, such as 30d or 12h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_of_days_or_hours() {
        for (text, hours) in [("30d", 720), ("0d", 0), ("12h", 12), ("0h", 0)] {
            assert_eq!(waiting_time(text), Ok(TimeDelta::hours(hours)), "{text}");
        }
        for bad in ["", "30", "d", "-1d", "1.5h", "30 d", "1w", "99999999999999999999d"] {
            assert!(waiting_time(bad).is_err(), "{bad}");
        }
    }
}
