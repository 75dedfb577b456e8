//! Legal holds: what is not destroyed while a court or an authority may ask for it (`docs/operating.md#legal-holds`).
//!
//! [`UnitOfWork::apply`](crate::UnitOfWork::apply) asks for a hold whenever a change
//! [destroys](iam_model::change::Change::destroys) something, in every operation.

use iam_model::audit::ResourceType;
use iam_model::error::{Conflict, Error, Forbidden, Result};
use iam_model::id::{LegalHoldId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::tenant_deletion::TenantDeletion;
use iam_model::validate::{Fields, Reason};

use crate::caller::Caller;
use crate::engine::Engine;
use crate::idempotency::Idempotency;

pub use iam_model::change::LegalHoldChange;
pub use iam_model::legal_hold::{Destroyed, LegalHold};
pub use iam_model::store::{LegalHoldStore, LegalHoldTransaction};

/// Places, reads and releases legal holds; see [`Iam::legal_holds`](crate::iam::Iam::legal_holds).
///
/// A caller needs each permission tenant-wide.
///
/// ```
#[doc = doctest_setup!()]
/// use iam_core::{Conflict, Error};
///
/// let grace = iam.users().create(&ada, person("grace@example.com")).await?;
/// let hold = iam.legal_holds().place(&ada, Some(grace.id), "Order of the court, 2026-17").await?;
/// let refused = iam.users().delete(&ada, grace.id).await;
/// assert!(matches!(refused, Err(Error::Conflict(Conflict::LegalHold(id))) if id == hold.id));
///
/// iam.legal_holds().release(&ada, hold.id, "The case is closed.").await?;
/// iam.users().delete(&ada, grace.id).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct LegalHolds<'a>(pub(crate) &'a Engine);

impl LegalHolds<'_> {
    /// Places a hold on the data of a user, or of the whole tenant. The reason is as typed. Needs
    /// `iam-legal-holds:create`.
    ///
    /// From then on, these are refused by [`Conflict::LegalHold`]: for the whole tenant, the deletion of every user, the
    /// erasure of a person, the deletion of a directory, and the removal of old entries of the audit log; for a user, its
    /// deletion, its erasure, the deletion of the directory that says something of it, and the removal of old entries,
    /// because entries cannot be kept apart by person. A user can still be suspended. What was destroyed before is not restored.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Validation`] which names `reason`, [`Error::NotFound`] about `userId`,
    /// [`Conflict::TooManyLegalHolds`], [`Conflict::TenantDeletionBegun`].
    pub async fn place(&self, caller: &Caller, user: Option<UserId>, reason: &str) -> Result<LegalHold> {
        self.place_once(caller, user, reason, None).await
    }

    /// Places a hold as [`place`](Self::place) does, at most once for an [idempotency key](crate::idempotency). `None`
    /// is for clients that may leave out the key.
    ///
    /// # Errors
    ///
    /// Those of [`place`](Self::place), [`Error::IdempotencyKeyReused`], [`Conflict::StillRunning`].
    pub async fn place_once(
        &self,
        caller: &Caller,
        user: Option<UserId>,
        reason: &str,
        idempotency: Option<&Idempotency>,
    ) -> Result<LegalHold> {
        let iam = self.0;
        iam.rights(caller).require(&permission::LEGAL_HOLDS_CREATE)?;
        let reason = checked(reason)?;
        let once = iam.once(caller, idempotency, &ResourceType::LEGAL_HOLD);
        let mut work = iam.begin(caller).await?;
        if let Some(hold) = once.find(&mut work).await? {
            return Ok(hold);
        }
        work.lock_rights().await?.rights().require(&permission::LEGAL_HOLDS_CREATE)?;
        if let Some(user) = user
            && work.reads().users_by_id(&[user]).await?.is_empty()
        {
            return Err(Error::NotFound(ResourceType::USER).about("userId"));
        }
        let has_begun = |deletion: TenantDeletion| deletion.begun_at.is_some();
        if work.reads().tenant_deletion().await?.is_some_and(has_begun) {
            return Err(Conflict::TenantDeletionBegun.into());
        }
        if work.reads().count_legal_holds().await? >= LegalHold::MAX {
            return Err(Conflict::TooManyLegalHolds.into());
        }
        let hold = LegalHold {
            id: iam.next_id(),
            tenant_id: caller.tenant(),
            user_id: user,
            reason,
            placed_by: caller.user(),
            created_at: work.now(),
        };
        work.apply(LegalHoldChange::Place(hold.clone())).await?;
        once.keep(&mut work, &hold).await?;
        work.commit().await?;
        Ok(hold)
    }

    /// Returns a page of the holds of the tenant, newest first. Those that were released are in the audit log alone.
    /// Needs `iam-legal-holds:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`].
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Page<LegalHold>> {
        self.0.rights(caller).require(&permission::LEGAL_HOLDS_READ)?;
        Ok(self.0.store.legal_holds(caller.tenant(), page).await?)
    }

    /// Returns a hold. Needs `iam-legal-holds:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::NotFound`].
    pub async fn get(&self, caller: &Caller, id: LegalHoldId) -> Result<LegalHold> {
        self.0.rights(caller).require(&permission::LEGAL_HOLDS_READ)?;
        self.0.store.legal_hold(caller.tenant(), id).await?.ok_or_else(not_found)
    }

    /// Releases a hold: what it kept can be destroyed again. The audit log keeps the hold with both reasons. Needs
    /// `iam-legal-holds:delete`, and a session that has authenticated within the last ten minutes. A user cannot release
    /// a hold on its own data.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], also for a caller by an API key and for a user who acts as another one,
    /// [`Forbidden::OwnLegalHold`], [`Error::Validation`] which
    /// names `reason`, [`Error::NotFound`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh).
    pub async fn release(&self, caller: &Caller, id: LegalHoldId, reason: &str) -> Result<()> {
        caller.refuse_impersonator()?;
        self.0.rights(caller).require(&permission::LEGAL_HOLDS_DELETE)?;
        let reason = checked(reason)?;
        let mut work = self.0.begin(caller).await?;
        work.lock_rights().await?.rights().require(&permission::LEGAL_HOLDS_DELETE)?;
        work.require_fresh().await?;
        let hold = work.reads().legal_hold(id).await?.ok_or_else(not_found)?;
        if hold.user_id.is_some() && hold.user_id == caller.user() {
            return Err(Forbidden::OwnLegalHold.into());
        }
        work.apply(LegalHoldChange::Release { hold, reason }).await?;
        work.commit().await
    }
}

fn checked(reason: &str) -> Result<Reason> {
    let mut fields = Fields::default();
    fields.check("reason", reason.parse()).ok_or_else(|| fields.into_error().into())
}

fn not_found() -> Error {
    Error::NotFound(ResourceType::LEGAL_HOLD)
}
