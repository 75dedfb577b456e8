use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::assignment::{Assignment, AssignmentFilter};
use iam_model::change::AuditBatch;
use iam_model::clock::Timestamp;
use iam_model::history::{EndedVersion, Past, PastStatus, Versions};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{HistoryStore, HolderQuery};
use iam_model::store_error::StoreError;
use iam_model::user::{User, UserStatus};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rows::{Draft, Row, View};
use super::{RedbStore, newest_first, page};

/// A past version.
#[derive(Serialize, Deserialize)]
pub(super) struct PastRow {
    until: Timestamp,
    version: EndedVersion,
}

impl Row for PastRow {
    const TABLE: &'static str = "past_versions";

    fn key(&self) -> Vec<u8> {
        let (kind, id): (u8, Uuid) = match &self.version {
            EndedVersion::Assignment(version) => (0, version.id.into()),
            EndedVersion::Role(version) => (1, version.id.into()),
            EndedVersion::Organization(version) => (2, version.id.into()),
            EndedVersion::Status(version) => (3, version.user_id.into()),
        };
        [&[kind][..], id.as_bytes(), &self.until.timestamp_millis().to_be_bytes()].concat()
    }
}

/// From which moment on the history of a tenant is complete.
#[derive(Serialize, Deserialize)]
pub(super) struct HistoryStartRow {
    since: Timestamp,
}

impl Row for HistoryStartRow {
    const TABLE: &'static str = "history_starts";

    fn key(&self) -> Vec<u8> {
        Vec::new()
    }
}

macro_rules! past {
    ($view:expr, $variant:ident, $after:expr, $passes:expr) => {{
        let rows = $view.select(|row: &PastRow| row.until > $after)?.into_iter();
        let past = rows.filter_map(|PastRow { until, version }| match version {
            EndedVersion::$variant(version) => Some(Past { version, until }),
            _ => None,
        });
        past.filter(|past| $passes(&past.version)).collect()
    }};
}

#[async_trait]
impl HistoryStore for RedbStore {
    async fn history_start(&self, tenant: TenantId) -> Result<Option<Timestamp>, StoreError> {
        let start: Option<HistoryStartRow> = self.read(tenant, |view| view.get(&[]))?;
        Ok(start.map(|start| start.since))
    }

    async fn past_assignments_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<Assignment>>, StoreError> {
        self.read(tenant, |view| {
            Ok(past!(view, Assignment, after, |version: &Assignment| users.contains(&version.user_id)))
        })
    }

    async fn past_roles(
        &self,
        tenant: TenantId,
        roles: Option<&[RoleId]>,
        after: Timestamp,
    ) -> Result<Vec<Past<Role>>, StoreError> {
        let passes = |version: &Role| roles.is_none_or(|roles| roles.contains(&version.id));
        self.read(tenant, |view| Ok(past!(view, Role, after, passes)))
    }

    async fn past_organizations(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        after: Timestamp,
    ) -> Result<Vec<Past<Organization>>, StoreError> {
        let passes = |version: &Organization| organizations.contains(&version.id);
        self.read(tenant, |view| Ok(past!(view, Organization, after, passes)))
    }

    async fn past_statuses(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<PastStatus>>, StoreError> {
        let passes = |version: &PastStatus| users.contains(&version.user_id);
        self.read(tenant, |view| Ok(past!(view, Status, after, passes)))
    }

    async fn assignments_at(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        scope: &VisibleScope,
        request: PageRequest,
        at: Timestamp,
    ) -> Result<Page<Assignment>, StoreError> {
        let found = self.read(tenant, |view| {
            let organizations = view.organizations()?;
            let versions = view.assignment_versions(at)?;
            let passes = |found: &&Assignment| {
                filter.matches(found, at) && organizations.is_visible(scope, found.organization_id)
            };
            Ok(versions.all_at(at).filter(passes).cloned().collect())
        })?;
        Ok(page(newest_first(found, |found: &Assignment| (found.created_at, found.id)), request))
    }

    async fn holders(
        &self,
        tenant: TenantId,
        HolderQuery { roles, organizations, at }: &HolderQuery,
        request: PageRequest,
        _now: Timestamp,
    ) -> Result<Page<UserId>, StoreError> {
        let holders: BTreeSet<UserId> = self.read(tenant, |view| {
            let versions = view.assignment_versions(*at)?;
            let ended: Vec<Past<PastStatus>> = past!(view, Status, *at, |_| true);
            let statuses = Versions::new(view.all::<User>()?.iter().map(PastStatus::from), ended);
            let counts = |found: &&Assignment| {
                roles.as_ref().is_none_or(|roles| roles.contains(&found.role_id))
                    && found.organization_id.is_none_or(|id| organizations.contains(&id))
                    && found.is_live(*at)
                    && statuses.at(found.user_id, *at).is_some_and(|user| user.status == UserStatus::Active)
            };
            Ok(versions.all_at(*at).filter(counts).map(|found| found.user_id).collect())
        })?;
        Ok(page(holders.into_iter().collect(), request))
    }
}

impl View<'_> {
    /// The versions of all assignments that lasted after a moment.
    fn assignment_versions(self, after: Timestamp) -> Result<Versions<Assignment>, StoreError> {
        let past: Vec<Past<Assignment>> = past!(self, Assignment, after, |_| true);
        Ok(Versions::new(self.all::<Assignment>()?, past))
    }
}

impl Draft<'_> {
    /// Keeps the versions that a change ends.
    pub(super) fn keep_ended_versions(self, batch: &AuditBatch) -> Result<(), StoreError> {
        for version in batch.ended_versions() {
            let row = PastRow { until: batch.at(), version: version.clone() };
            if !self.view().has::<PastRow>(&row.key())? {
                self.put(row)?;
            }
        }
        Ok(())
    }

    /// Removes the versions that ended at or before a moment, from which on the history is complete then.
    pub(super) fn forget_past_versions(self, before: Timestamp) -> Result<(), StoreError> {
        for row in self.view().select(|row: &PastRow| row.until <= before)? {
            self.remove::<PastRow>(&row.key())?;
        }
        let start: Option<HistoryStartRow> = self.view().get(&[])?;
        self.put(HistoryStartRow { since: start.map_or(before, |start| start.since.max(before)) })
    }
}
