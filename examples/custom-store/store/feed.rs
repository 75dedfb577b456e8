use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_core::assignment::AssignmentChange;
use iam_core::organization::OrganizationChange;
use iam_core::role::RoleChange;
use iam_core::session::SessionChange;
use iam_core::tenant::TenantChange;
use iam_core::user::UserChange;
use iam_core::{Change, ChangeFeed, News, StoreError};
use tokio::sync::Mutex;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::time::timeout;
use uuid::Uuid;

/// How many commits a follower may be behind.
const BACKLOG: usize = 1024;

/// For how long a follower hears nothing, before it is told that there is nothing.
const INTERVAL: Duration = Duration::from_millis(250);

/// Tells every follower what is committed. One process has the file open, so that nobody else commits.
#[derive(Clone)]
pub(super) struct Feed {
    sender: Sender<Vec<Uuid>>,
    /// Held from before a commit until it has been told: while a follower holds it, whatever is committed is told.
    committing: Arc<Mutex<()>>,
}

impl Default for Feed {
    fn default() -> Self {
        Self { sender: Sender::new(BACKLOG), committing: Arc::default() }
    }
}

impl Feed {
    /// Commits, and tells what has changed where that succeeds: never before, so that whoever is told can read it.
    pub(super) fn tell(
        &self,
        changed: Vec<Uuid>,
        commit: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let _committing = self.committing.blocking_lock();
        commit()?;
        if !changed.is_empty() {
            // It fails where nobody follows.
            let _ = self.sender.send(changed);
        }
        Ok(())
    }

    pub(super) fn follow(&self) -> Box<dyn ChangeFeed> {
        Box::new(Follower { receiver: self.sender.subscribe(), heard: Vec::new(), feed: self.clone() })
    }
}

struct Follower {
    receiver: Receiver<Vec<Uuid>>,
    /// What is not told yet. It outlives a call that is dropped while it waits.
    heard: Vec<Uuid>,
    feed: Feed,
}

#[async_trait]
impl ChangeFeed for Follower {
    async fn next(&mut self) -> Result<News, StoreError> {
        if let Ok(heard) = timeout(INTERVAL, self.receiver.recv()).await {
            self.heard.extend(heard.map_err(missed)?);
        }
        let _committing = self.feed.committing.lock().await;
        let complete_at = Some(Instant::now());
        loop {
            match self.receiver.try_recv() {
                Ok(more) => self.heard.extend(more),
                Err(TryRecvError::Empty) => return Ok(News { changed: mem::take(&mut self.heard), complete_at }),
                Err(error) => return Err(missed(error)),
            }
        }
    }
}

/// The feed ends, and whoever follows it asks for another one and believes nothing that it has kept.
fn missed(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// What may change who may do what. To tell too much would be safe; to tell of each login would be slow.
pub(super) fn changed_by(change: &Change) -> Vec<Uuid> {
    match change {
        Change::User(
            UserChange::Update { before, after, .. }
            | UserChange::ChangeStatus { before, after, .. }
            | UserChange::Delete { before, after },
        ) if before.status != after.status => vec![after.id.into()],
        Change::Assignment(AssignmentChange::Create(grants)) => {
            grants.iter().map(|grant| grant.assignment.user_id.into()).collect()
        }
        Change::Assignment(AssignmentChange::ChangeExpiry { after, .. }) => vec![after.user_id.into()],
        Change::Assignment(AssignmentChange::Revoke { grants, .. }) => {
            grants.iter().map(|grant| grant.assignment.user_id.into()).collect()
        }
        Change::Role(RoleChange::Update { after: role, .. } | RoleChange::Delete(role)) => vec![role.id.into()],
        Change::Organization(
            OrganizationChange::Update { before, after, .. } | OrganizationChange::Delete { before, after },
        ) if (before.status, before.parent_id) != (after.status, after.parent_id) => vec![after.id.into()],
        Change::Session(SessionChange::End { sessions, .. } | SessionChange::Forget(sessions)) => {
            sessions.iter().map(|session| session.id.into()).collect()
        }
        Change::Tenant(TenantChange::ChangeStatus { after, .. }) => vec![after.id.into()],
        // Variant by variant, so that a new one does not compile before somebody has asked what it changes.
        Change::User(
            UserChange::Create { .. }
            | UserChange::Update { .. }
            | UserChange::ChangeStatus { .. }
            | UserChange::VerifyEmail { .. }
            | UserChange::Delete { .. },
        )
        | Change::Organization(
            OrganizationChange::Create(_) | OrganizationChange::Update { .. } | OrganizationChange::Delete { .. },
        )
        | Change::Role(RoleChange::CreateBuiltIn(_) | RoleChange::Create { .. })
        | Change::Session(SessionChange::Start(_) | SessionChange::Refresh(_) | SessionChange::RepeatRefresh(_))
        | Change::Tenant(TenantChange::Create(_) | TenantChange::Update { .. })
        | Change::Credential(_)
        | Change::Permission(_)
        | Change::Audit(_)
        | Change::Idempotency(_) => Vec::new(),
    }
}
