//! The links that a person without a session has asked for: they are issued when their message is sent
//! (`docs/http-api.md#links-by-mail`).

use iam_model::change::LinkChange;
use iam_model::error::Result;
use iam_model::id::{LinkId, TenantId};
use iam_model::link::{Link, LinkPurpose};
use iam_model::mail::Message;
use iam_model::tenant::{EmailLogin, Tenant, TenantStatus};
use iam_model::user::{User, UserStatus};
use iam_model::validate::EmailKey;
use uuid::Uuid;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::link::{self, LinkFor};
use crate::session::MAX_CANDIDATES;

/// Returns the accounts that a request for links is about, with a tenant or, for [`TenantId::NONE`], without: the
/// ACTIVE ones, and of these the verified ones if there are any. Users who log in by an identity provider alone are
/// left out. A link that logs in goes to verified accounts only, of tenants that want that.
pub(crate) async fn accounts_of_request(
    iam: &Engine,
    purpose: LinkPurpose,
    tenant: TenantId,
    key: &EmailKey,
) -> Result<Vec<(User, Tenant)>> {
    let mut accounts: Vec<(User, Tenant)> = if tenant == TenantId::NONE {
        let found = iam.store.login_candidates(key, MAX_CANDIDATES).await?.accounts;
        found.into_iter().map(|candidate| (candidate.account.user, candidate.tenant)).collect()
    } else {
        let account = iam.store.guarded_account(tenant, key).await?.account;
        let tenant = iam.store.tenant(tenant).await?;
        account.map(|account| account.user).zip(tenant).into_iter().collect()
    };
    accounts.retain(|(user, tenant)| user.status == UserStatus::Active && tenant.status == TenantStatus::Active);
    let is_verified = |(user, _): &(User, Tenant)| user.email_verified_at.is_some();
    if purpose == LinkPurpose::Login {
        accounts.retain(|account| is_verified(account) && account.1.email_login == EmailLogin::On);
    } else if accounts.iter().any(is_verified) {
        accounts.retain(is_verified);
    }
    let mut meant = Vec::with_capacity(accounts.len());
    for (user, tenant) in accounts {
        if iam.federated_logins((tenant.id, tenant.password_login), &user).await?.is_empty() {
            meant.push((user, tenant));
        }
    }
    Ok(meant)
}

/// Issues the link of a request to an account, unless a later request has replaced it, or the account has changed. If
/// the message is sent a second time, the link stays the same, unless it was used.
pub(crate) async fn issue_for_request(
    iam: &Engine,
    purpose: LinkPurpose,
    message: &Message,
    user: &User,
) -> Result<Option<Link>> {
    // A stranger may have created the account to watch what the owner of the address does.
    let is_open = iam.settings.registration && iam.has_several_tenants().await?;
    let is_watched = is_open && message.tenant_id == TenantId::NONE && user.email_verified_at.is_none();
    let context = if is_watched { iam.unrelated_context() } else { message.context.clone() };
    let caller = Caller::anonymous(user.tenant_id, context);
    let mut work = iam.begin(&caller).await?;
    let locked = work.reads().lock_user(user.id).await?;
    let is_same = |locked: &User| locked.status == UserStatus::Active && locked.email == user.email;
    let Some(user) = locked.filter(is_same) else { return Ok(None) };
    let named: Uuid = message.link_id.map_or_else(|| message.id.into(), Into::into);
    let (now, request) = (work.now(), request_of(named));
    let current = work.reads().lock_link(purpose, user.id.as_uuid()).await?;
    let (change, link) = match current {
        Some(current) if request_of(current.id) == request && current.is_live(now) => {
            let link = link::sent(current, now);
            (LinkChange::Send { link: link.clone() }, link)
        }
        Some(current) if request_of(current.id) > request => return Ok(None),
        _ => {
            let account = if purpose == LinkPurpose::Login { LinkFor::Login(&user) } else { LinkFor::Password(&user) };
            let link = link::new(iam, id_of_attempt(request, message.attempts), account, now);
            (LinkChange::Issue { link: link.clone(), grants: None }, link)
        }
    };
    work.apply(change).await?;
    work.commit().await?;
    Ok(Some(link))
}

/// Whether a link was issued for the request with this identifier.
pub(crate) fn is_of_request(link: &Link, request: LinkId) -> bool {
    request_of(link.id) == request_of(request)
}

/// Returns the identifier of the link that an attempt to send a message issues: that of the request, with the number of
/// the attempt as the last byte. So the token of a link that was used is never valid again, and later requests have
/// greater identifiers.
fn id_of_attempt(request: u128, attempts: u32) -> LinkId {
    let [attempt, ..] = attempts.to_le_bytes();
    Uuid::from_u128(request | u128::from(attempt)).into()
}

/// Returns the identifier of a request, or of a link that was issued for it, without its last byte.
fn request_of(id: impl Into<Uuid>) -> u128 {
    id.into().as_u128() & !0xff
}
