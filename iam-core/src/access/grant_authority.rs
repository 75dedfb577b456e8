use iam_model::access::{Authority, Covered, GrantedRights, Rights};
use iam_model::clock::Timestamp;
use iam_model::context::Actor;
use iam_model::error::{Result, Unauthenticated};
use iam_model::store::GrantQuery;
use iam_model::user::UserStatus;

use crate::engine::UnitOfWork;

/// The grant authority of the caller: what it may grant to others at this moment.
///
/// [`lock`](Self::lock) locks the tenant. So changes of rights, of the organization tree and of users' states are
/// serialized, and everything that is read under the lock stays true until the unit of work ends. The caller's own
/// roles are read again, so that a role that was revoked a moment ago has no effect.
pub(crate) struct GrantAuthority {
    authority: Authority,
    now: Timestamp,
}

impl GrantAuthority {
    /// Locks the tenant and reads the caller's rights.
    pub(crate) async fn lock(work: &mut UnitOfWork<'_>) -> Result<Self> {
        work.locks().lock_tenant().await?;
        let authority = match work.caller().actor() {
            Actor::System { .. } => Authority::everything(),
            Actor::Anonymous => Authority::of([]),
            Actor::User { user, .. } => {
                let users = work.locks().users_by_id(&[*user]).await?;
                if users.first().is_none_or(|user| user.status != UserStatus::Active) {
                    return Err(Unauthenticated::InvalidToken.into());
                }
                Authority::of(&work.locks().grants(GrantQuery::OfUser(*user)).await?)
            }
        };
        Ok(Self { authority, now: work.now() })
    }

    /// The caller's rights.
    pub(crate) fn rights(&self) -> Rights<'_> {
        Rights::new(&self.authority, self.now)
    }
    /// Does the escalation check for a change that gives these rights; see [`Covered::check`].
    pub(crate) fn cover<'g>(&self, gains: impl IntoIterator<Item = GrantedRights<'g>>) -> Result<Covered> {
        Covered::check(&self.authority, gains, self.now)
    }
}
