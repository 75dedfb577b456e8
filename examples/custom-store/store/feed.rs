use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_model::change::{
    ApiKeyChange, AssignmentChange, Change, FactorChange, OrganizationChange, RoleChange, SessionChange, TenantChange,
    UserChange,
};
use iam_model::factor::AuthenticationMethod;
use iam_model::store::{ChangeFeed, FeedNotification};
use iam_model::store_error::StoreError;
use tokio::sync::Mutex;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tokio::time::timeout;
use uuid::Uuid;

/// How many commits a subscriber may be behind.
const BACKLOG: usize = 1024;

/// How long a subscriber waits for a notification, before the feed reports that nothing has changed.
const INTERVAL: Duration = Duration::from_millis(250);

/// Notifies every subscriber of the commits. Only one process has the file open, so no other process commits.
#[derive(Clone)]
pub(super) struct Feed {
    sender: Sender<Vec<Uuid>>,
    /// Held from before a commit until its notification is sent. While a subscriber holds it, the notification of every
    /// commit has been sent.
    committing: Arc<Mutex<()>>,
}

impl Default for Feed {
    fn default() -> Self {
        Self { sender: Sender::new(BACKLOG), committing: Arc::default() }
    }
}

impl Feed {
    /// Commits, and sends the notification if the commit succeeds. It is never sent before the commit, so a subscriber
    /// that receives it can read the change.
    pub(super) fn notify(
        &self,
        changed: Vec<Uuid>,
        commit: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let _committing = self.committing.blocking_lock();
        commit()?;
        if !changed.is_empty() {
            // This fails when there is no subscriber.
            let _ = self.sender.send(changed);
        }
        Ok(())
    }

    pub(super) fn subscribe(&self) -> Box<dyn ChangeFeed> {
        Box::new(Subscriber { receiver: self.sender.subscribe(), received: Vec::new(), feed: self.clone() })
    }
}

struct Subscriber {
    receiver: Receiver<Vec<Uuid>>,
    /// The ids that are not reported yet. They survive a call of `next` that is cancelled while it waits.
    received: Vec<Uuid>,
    feed: Feed,
}

#[async_trait]
impl ChangeFeed for Subscriber {
    async fn next(&mut self) -> Result<FeedNotification, StoreError> {
        if let Ok(received) = timeout(INTERVAL, self.receiver.recv()).await {
            self.received.extend(received.map_err(missed)?);
        }
        let _committing = self.feed.committing.lock().await;
        let complete_at = Some(Instant::now());
        loop {
            match self.receiver.try_recv() {
                Ok(more) => self.received.extend(more),
                Err(TryRecvError::Empty) => {
                    return Ok(FeedNotification { changed: mem::take(&mut self.received), complete_at });
                }
                Err(error) => return Err(missed(error)),
            }
        }
    }
}

/// The error that ends the feed. After it, the reader of the feed opens another one and drops all its cache entries.
fn missed(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// Returns the ids under which a change invalidates cached sessions. Too many ids would be safe, but a notification of
/// each login would be slow.
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
        Change::Assignment(AssignmentChange::Activate { grant, .. }) => vec![grant.assignment.user_id.into()],
        Change::Assignment(AssignmentChange::Update(changed)) => {
            changed.iter().map(|changed| changed.grant.assignment.user_id.into()).collect()
        }
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
        // A session that has authenticated by a factor may not be restricted any more.
        Change::Session(SessionChange::StepUp { session, method }) if *method != AuthenticationMethod::Password => {
            vec![session.id.into()]
        }
        Change::Tenant(TenantChange::ChangeStatus { after, .. }) => vec![after.id.into()],
        Change::Tenant(TenantChange::Update { before, after })
            if before.factor_demand() != after.factor_demand() || !before.has_attribute_rules_of(after) =>
        {
            vec![after.id.into()]
        }
        Change::Factor(FactorChange::Confirm(factor) | FactorChange::Register(factor)) => vec![factor.user_id.into()],
        Change::Factor(FactorChange::Remove { user, .. }) => vec![(*user).into()],
        Change::ApiKey(ApiKeyChange::Update { after, .. } | ApiKeyChange::Rotate { after, .. }) => {
            vec![after.id.into()]
        }
        Change::ApiKey(ApiKeyChange::Delete(keys)) => keys.iter().map(|key| key.id.into()).collect(),
        // Each variant is listed: a new one does not compile until its author has decided what it invalidates.
        Change::User(
            UserChange::Create { .. }
            | UserChange::Update { .. }
            | UserChange::ChangeStatus { .. }
            | UserChange::VerifyEmail { .. }
            | UserChange::ConfirmEmail { .. }
            | UserChange::MoveHomes { .. }
            | UserChange::ForgetAttributes { .. }
            | UserChange::Delete { .. },
        )
        | Change::Organization(
            OrganizationChange::Create { .. } | OrganizationChange::Update { .. } | OrganizationChange::Delete { .. },
        )
        | Change::Role(RoleChange::CreateBuiltIn(_) | RoleChange::Create(_))
        | Change::Session(
            SessionChange::Start(_)
            | SessionChange::Impersonate { .. }
            | SessionChange::Refresh(_)
            | SessionChange::RepeatRefresh(_)
            | SessionChange::StepUp { .. },
        )
        | Change::Factor(
            FactorChange::Prepare(_)
            | FactorChange::Rename { .. }
            | FactorChange::Use { .. }
            | FactorChange::IssueRecoveryCodes { .. }
            | FactorChange::UseRecoveryCode { .. },
        )
        | Change::ApiKey(ApiKeyChange::Create { .. })
        | Change::Webhook(_)
        | Change::AccessReview(_)
        | Change::Domain(_)
        | Change::IdentityProvider(_)
        | Change::Identity(_)
        | Change::Directory(_)
        | Change::DirectoryUser(_)
        | Change::DirectoryGroup(_)
        | Change::Challenge(_)
        | Change::Tenant(TenantChange::Create(_) | TenantChange::Update { .. })
        | Change::Credential(_)
        | Change::Permission(_)
        | Change::Audit(_)
        | Change::Idempotency(_)
        | Change::Invitation(_)
        | Change::Link(_)
        | Change::Eligibility(_)
        | Change::AccessRequest(_)
        | Change::Manifest(_)
        | Change::LegalHold(_)
        | Change::TenantDeletion(_)
        | Change::Mail(_) => Vec::new(),
    }
}
