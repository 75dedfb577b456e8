use iam_model::assignment::Assignment;
use iam_model::change::AuditBatch;
use iam_model::clock::Timestamp;
use iam_model::history::{EndedVersion, Past, PastStatus, Versioned};
use iam_model::organization::Organization;
use iam_model::role::Role;

/// The past versions of a tenant.
#[derive(Clone, Default)]
pub(super) struct PastVersions {
    /// `None` if they were kept since the tenant was created.
    pub(super) start: Option<Timestamp>,
    pub(super) assignments: Vec<Past<Assignment>>,
    pub(super) roles: Vec<Past<Role>>,
    pub(super) organizations: Vec<Past<Organization>>,
    pub(super) statuses: Vec<Past<PastStatus>>,
}

impl PastVersions {
    /// Keeps the versions that a change ends.
    pub(super) fn keep(&mut self, batch: &AuditBatch) {
        for ended in batch.ended_versions() {
            match ended {
                EndedVersion::Assignment(version) => keep(&mut self.assignments, version, batch.at()),
                EndedVersion::Role(version) => keep(&mut self.roles, version, batch.at()),
                EndedVersion::Organization(version) => keep(&mut self.organizations, version, batch.at()),
                EndedVersion::Status(version) => keep(&mut self.statuses, version, batch.at()),
            }
        }
    }

    /// Removes the versions that ended at or before a moment, from which on the history is complete then.
    pub(super) fn forget(&mut self, before: Timestamp) {
        self.start = self.start.max(Some(before));
        self.assignments.retain(|past| past.until > before);
        self.roles.retain(|past| past.until > before);
        self.organizations.retain(|past| past.until > before);
        self.statuses.retain(|past| past.until > before);
    }
}

fn keep<T: Versioned + Clone>(past: &mut Vec<Past<T>>, version: &T, until: Timestamp) {
    let is_known = |past: &Past<T>| past.until == until && past.version.id() == version.id();
    if !past.iter().any(is_known) {
        past.push(Past { version: version.clone(), until });
    }
}
