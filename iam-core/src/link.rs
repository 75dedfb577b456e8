//! Links: the one-time tokens in messages (`docs/http-api.md#links-by-mail`).

use chrono::TimeDelta;
pub use iam_model::change::LinkChange;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::id::{LinkId, TenantId, UserId};
use iam_model::invitation::{self, Invitation};
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

/// The details of a link that a page shows before it is used.
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

/// Returns the details of the link of a token, and does not use the link.
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
    if end_found(work, link).await? { Ok(()) } else { Err(refused()) }
}

/// Ends a link that was found, if it was neither used nor replaced and has not expired since. Returns whether it did.
pub(crate) async fn end_found(work: &mut UnitOfWork<'_>, link: &Link) -> Result<bool> {
    let current = work.reads().lock_link(link.purpose, link.subject).await?;
    let now = work.now();
    let is_there = current.is_some_and(|current| current.id == link.id && current.is_live(now));
    if is_there {
        work.apply(LinkChange::End { purpose: link.purpose, subject: link.subject }).await?;
    }
    Ok(is_there)
}

/// Ends the link that would give a user another address, if there is one. The account must be locked before.
pub(crate) async fn end_new_address(work: &mut UnitOfWork<'_>, user: &User) -> Result<()> {
    let (purpose, subject) = (LinkPurpose::Verify, user.id.as_uuid());
    let link = work.reads().lock_link(purpose, subject).await?;
    if link.is_some_and(|link| link.email.key() != user.email.key()) {
        work.apply(LinkChange::End { purpose, subject }).await?;
    }
    Ok(())
}

/// The purposes of the links of a user.
pub(crate) const OF_USERS: [LinkPurpose; 3] = [LinkPurpose::Verify, LinkPurpose::Reset, LinkPurpose::Login];

/// Ends the links that verify an address of a user, set its password or log it in.
pub(crate) async fn end_links(work: &mut UnitOfWork<'_>, user: UserId) -> Result<()> {
    for purpose in OF_USERS {
        work.apply(LinkChange::End { purpose, subject: user.as_uuid() }).await?;
    }
    Ok(())
}

/// Returns the one error for tokens that are unknown, used, replaced, expired or for another purpose.
pub(crate) fn refused() -> Error {
    Error::field("token", "is not valid: the link was used, was replaced by a newer one, or has expired")
}

/// The purpose of a link, with the address to which it is sent: that of the record, or the one that it verifies.
#[derive(Clone, Copy)]
pub(crate) enum LinkFor<'a> {
    /// The user proves that it receives mail at its address.
    Address(&'a User),
    /// The user proves that it receives mail at the address that it wants to have.
    NewAddress(&'a User, &'a Email),
    /// The user chooses a new password.
    Password(&'a User),
    /// The person becomes a user.
    Invitation(&'a Invitation),
    /// The user logs in.
    Login(&'a User),
}

impl LinkFor<'_> {
    fn purpose(self) -> LinkPurpose {
        match self {
            Self::Address(_) | Self::NewAddress(..) => LinkPurpose::Verify,
            Self::Password(_) => LinkPurpose::Reset,
            Self::Invitation(_) => LinkPurpose::Invitation,
            Self::Login(_) => LinkPurpose::Login,
        }
    }

    fn email(&self) -> &Email {
        match self {
            Self::Address(user) | Self::Password(user) | Self::Login(user) => &user.email,
            Self::NewAddress(_, new) => new,
            Self::Invitation(invitation) => &invitation.email,
        }
    }

    fn tenant_and_subject(self) -> (TenantId, Uuid) {
        match self {
            Self::Address(user) | Self::NewAddress(user, _) | Self::Password(user) | Self::Login(user) => {
                (user.tenant_id, user.id.as_uuid())
            }
            Self::Invitation(invitation) => (invitation.tenant_id, invitation.id.as_uuid()),
        }
    }
}

/// Returns a new link that is sent now.
pub(crate) fn new(engine: &Engine, id: LinkId, purpose: LinkFor<'_>, now: Timestamp) -> Link {
    let (tenant_id, subject) = purpose.tenant_and_subject();
    let email = purpose.email().clone();
    let purpose = purpose.purpose();
    Link {
        id,
        tenant_id,
        purpose,
        subject,
        email,
        token_hash: engine.keys.links.token_hash(tenant_id, purpose, subject, id),
        created_at: now,
        expires_at: now + lifetime(purpose),
    }
}

/// Returns a new link whose message waits. It begins to age when the message is sent; see [`sent`].
pub(crate) fn unsent(engine: &Engine, id: LinkId, purpose: LinkFor<'_>, now: Timestamp) -> Link {
    let link = new(engine, id, purpose, now);
    Link { expires_at: link.expires_at + LONGEST_WAIT, ..link }
}

/// Returns a link whose message is sent now.
pub(crate) fn sent(link: Link, now: Timestamp) -> Link {
    Link { expires_at: now + lifetime(link.purpose), ..link }
}

/// How long a link is kept before its message is sent. No message waits so long: those that the mail server refuses are
/// given up after nine hours, and the pending invitations of a tenant are sent within a few hours.
const LONGEST_WAIT: TimeDelta = TimeDelta::days(7);

/// How long a link works.
fn lifetime(purpose: LinkPurpose) -> TimeDelta {
    match purpose {
        LinkPurpose::Verify => TimeDelta::hours(24),
        LinkPurpose::Reset => TimeDelta::minutes(30),
        LinkPurpose::Invitation => invitation::LIFETIME,
        LinkPurpose::Login => TimeDelta::minutes(10),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chrono::TimeDelta;
    use iam_model::clock::testing::FixedClock;
    use iam_model::error::Result;
    use iam_model::link::Link;
    use iam_model::validate::Email;
    use iam_store_memory::MemoryStore;

    use super::{LinkChange, LinkFor, new, spend};
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
        let user =
            iam.0.store.guarded_account(caller.tenant(), &Email::key(&email)).await.unwrap().account.unwrap().user;
        let issue = async || {
            let link = new(&iam.0, iam.0.next_id(), LinkFor::Address(&user), iam.now());
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
