//! Links: the one-time tokens in messages (`accounts.md`).

use chrono::TimeDelta;
pub use iam_model::change::LinkChange;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::{LinkId, TenantId};
use iam_model::invitation;
pub use iam_model::link::{Link, LinkPurpose};
pub use iam_model::secret::{LinkToken, LinkUrl};
pub use iam_model::store::{LinkStore, LinkTransaction};
use iam_model::tenant::{PasswordPolicy, Tenant, TenantStatus};
use iam_model::user::User;
use iam_model::validate::{Email, Name};
use uuid::Uuid;

use crate::engine::{Engine, UnitOfWork};
use crate::token::parse_link_token;

/// Returns the link of a token for a purpose, with its tenant, which is ACTIVE.
///
/// # Errors
///
/// [`refused`] for every token that is not valid now.
pub(crate) async fn find(engine: &Engine, token: &LinkToken, purpose: LinkPurpose) -> Result<(Link, Tenant)> {
    let (tenant, token_hash) = parse_link_token(token).ok_or_else(refused)?;
    let link = engine.store.link_by_token(tenant, &token_hash).await?;
    let link = link.filter(|link| link.purpose == purpose && link.is_live(engine.now())).ok_or_else(refused)?;
    let tenant = engine.store.tenant(tenant).await?;
    let tenant = tenant.filter(|tenant| tenant.status == TenantStatus::Active).ok_or_else(refused)?;
    Ok((link, tenant))
}

/// What a page shows of a link before it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkDetails {
    /// The address to which the link was sent.
    pub email: Email,
    /// The name of the tenant.
    pub tenant: Name,
    /// The rules for a new password.
    pub password_policy: PasswordPolicy,
    /// The minimum number of characters of a new password.
    pub min_password_length: usize,
    /// Until when the link works.
    pub expires_at: Timestamp,
}

/// Returns what a page shows of the link of a token, and does not use the link.
///
/// # Errors
///
/// [`refused`] for every token that is not valid now.
pub(crate) async fn look_up(engine: &Engine, token: &LinkToken, purpose: LinkPurpose) -> Result<LinkDetails> {
    let (link, tenant) = find(engine, token, purpose).await?;
    Ok(LinkDetails {
        email: link.email,
        password_policy: tenant.password_policy,
        min_password_length: tenant.min_password_length(),
        tenant: tenant.name,
        expires_at: link.expires_at,
    })
}

/// Ends a link that was found, so that no other unit of work can use it.
///
/// # Errors
///
/// [`refused`] if it was used, replaced or expired since it was found.
pub(crate) async fn spend(work: &mut UnitOfWork<'_>, link: &Link) -> Result<()> {
    let current = work.locks().lock_link(link.purpose, link.subject).await?;
    let now = work.now();
    current.filter(|current| current.id == link.id && current.is_live(now)).ok_or_else(refused)?;
    work.apply(LinkChange::End { purpose: link.purpose, subject: link.subject }).await
}

/// Returns the one error for tokens that are unknown, used, replaced, expired or for another purpose.
pub(crate) fn refused() -> Error {
    Error::field("token", "is not valid: the link was used, was replaced by a newer one, or has expired")
}

/// Whom a link is about, and the address to which it is sent.
#[derive(Clone, Copy)]
pub(crate) struct Addressee<'a> {
    pub(crate) tenant: TenantId,
    /// A user or an invitation.
    pub(crate) subject: Uuid,
    pub(crate) email: &'a Email,
}

impl<'a> Addressee<'a> {
    /// A user, at an address that need not be the user's.
    pub(crate) fn of_user(user: &User, email: &'a Email) -> Self {
        Self { tenant: user.tenant_id, subject: user.id.as_uuid(), email }
    }
}

/// Returns a new link.
pub(crate) fn new(engine: &Engine, id: LinkId, purpose: LinkPurpose, to: Addressee<'_>, now: Timestamp) -> Link {
    Link {
        id,
        tenant_id: to.tenant,
        purpose,
        subject: to.subject,
        email: to.email.clone(),
        token_hash: engine.link_key.token_hash(to.tenant, purpose, to.subject, id),
        created_at: now,
        expires_at: now + lifetime(purpose),
    }
}

/// How long a link works.
fn lifetime(purpose: LinkPurpose) -> TimeDelta {
    match purpose {
        LinkPurpose::Verify => TimeDelta::hours(24),
        LinkPurpose::Reset => TimeDelta::minutes(30),
        LinkPurpose::Invitation => invitation::LIFETIME,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::TimeDelta;
    use iam_model::clock::testing::FixedClock;
    use iam_model::error::Result;
    use iam_model::link::{Link, LinkPurpose};
    use iam_store_memory::MemoryStore;
    use uuid::Uuid;

    use super::{Addressee, LinkChange, new, spend};
    use crate::caller::Caller;
    use crate::hashing::HashingCost;
    use crate::iam::Iam;
    use crate::settings::Settings;
    use crate::tenant::NewTenant;
    use crate::user::NewUser;

    #[tokio::test]
    async fn a_link_is_not_spent_after_it_was_replaced_has_expired_or_was_spent() {
        let clock = FixedClock::at("2026-01-31T09:15:00Z");
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let settings = Settings { hashing_cost, ..Settings::default() };
        let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).clock(clock.clone());
        let iam = builder.build().await.unwrap();
        let administrator = NewUser {
            email: "ada@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        let new_tenant = NewTenant { name: "Acme".into(), slug: None, administrator };
        let caller = Caller::system(iam.tenants().create("test", new_tenant).await.unwrap().tenant.id, "test");
        let email = "ada@example.com".parse().unwrap();
        let issue = async || {
            let to = Addressee { tenant: caller.tenant(), subject: Uuid::from_u128(7), email: &email };
            let link = new(&iam.0, iam.0.next_id(), LinkPurpose::Verify, to, iam.now());
            let mut work = iam.0.begin(&caller).await.unwrap();
            work.apply(LinkChange::Issue { link: link.clone(), grants: None }).await.unwrap();
            work.commit().await.unwrap();
            link
        };
        let spent = async |link: &Link| -> Result<()> {
            let mut work = iam.0.begin(&caller).await.unwrap();
            spend(&mut work, link).await?;
            work.commit().await
        };
        let replaced = issue().await;
        let link = issue().await;
        spent(&replaced).await.unwrap_err();
        clock.advance(TimeDelta::hours(24));
        spent(&link).await.unwrap_err();
        let link = issue().await;
        spent(&link).await.unwrap();
        spent(&link).await.unwrap_err();
    }
}
