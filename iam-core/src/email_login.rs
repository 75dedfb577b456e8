//! Login by e-mail: a user logs in by a link or a code in a message to its address
//! (`docs/http-api.md#login-by-e-mail`).

use chrono::TimeDelta;
use iam_model::challenge::{Challenge, ChallengePurpose};
use iam_model::change::{ChallengeChange, LinkChange};
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::credential::LoginAttempts;
use iam_model::error::{Error, Result};
use iam_model::factor::{AuthenticationMethod, AuthenticationMethods};
use iam_model::id::{LinkId, TenantId};
use iam_model::link::{Link, LinkPurpose};
use iam_model::mail::MailKind;
use iam_model::secret::{ChallengeToken, LinkToken, OneTimeCode};
use iam_model::tenant::{EmailLogin, Tenant};
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, Fields};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

use crate::caller::Caller;
use crate::challenge_state::{kept, read};
use crate::engine::Engine;
use crate::guard::{AccountUnderLock, count_wrong_code};
use crate::link::{self, LinkDetails};
use crate::mail::LinkRequest;
use crate::one_time::eight_digits;
use crate::requested_link::{accounts_of_request, is_of_request};
use crate::session::{LoggedIn, MAX_CANDIDATES, NO_TENANT, Proof, begin_second_factor, open_session, unknown_tenant};
use crate::token::{new_challenge_token, parse_challenge_token};

/// Logs users in by messages to their addresses; see [`Iam::email_logins`](crate::iam::Iam::email_logins).
///
/// Only users with a verified address can log in so, and only in tenants that want it ([`EmailLogin`]). Such a session
/// counts as one that has authenticated long ago: it must authenticate again before it changes credentials.
#[derive(Clone, Copy)]
pub struct EmailLogins<'a>(pub(crate) &'a Engine);

/// The proof that a person reads the mail of an address.
#[derive(Clone, Debug)]
pub enum EmailProof {
    /// The token of the link in the message.
    Link(LinkToken),
    /// The code in the message, with the flow of the request that has caused it.
    Code {
        /// What [`EmailLogins::request`] has returned.
        flow: ChallengeToken,
        /// Eight digits.
        code: OneTimeCode,
    },
}

/// What the challenge of a flow keeps of its request.
#[derive(Serialize, Deserialize)]
struct Flow {
    /// The tenant that the request names, also if it does not exist; [`TenantId::NONE`] if it names none.
    tenant: TenantId,
    /// The address that the request names.
    email: Email,
    /// Identifies the request in the links that it causes.
    request: LinkId,
}

/// An account that may have got the message of a flow.
struct Meant {
    user: User,
    tenant: Tenant,
    /// The link in the newest message. `None` if it was not sent, or was used or has expired.
    link: Option<Link>,
}

/// What a person has typed as the code of a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typed {
    /// The code in its message.
    Right,
    /// The code in the newest message, which another request has caused. It logs in to nothing, and counts as no
    /// failure: a stranger may have asked for either of them.
    OfAnotherFlow,
    Wrong,
}

/// The outcome of a try of a flow.
struct Tried {
    /// Whether it was the last one.
    is_last: bool,
    /// The failures of the address, if they lock out logins that name no tenant.
    locked: Option<LoginAttempts>,
}

/// How long the code of a flow can be typed. The code itself works for a shorter time, which begins when its message is
/// sent: the mail server may accept it only later.
const FLOW_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// The tenant of the challenges of flows, so that a flow does not tell whether its tenant exists.
const OF_FLOWS: TenantId = TenantId::NONE;

impl EmailLogins<'_> {
    /// Sends the person with an address a link and a code with which it logs in. Without a tenant, the message has
    /// those of each account with the address, at most five. Only verified accounts of ACTIVE users get them, in
    /// tenants that want logins by e-mail, unless the user logs in by an identity provider alone.
    ///
    /// Returns the flow, which [`finish`](Self::finish) takes with the code. The accounts are looked for when the
    /// message is sent. So neither the answer nor its time tells whether an account has the address. At most three such
    /// messages are sent to an address in an hour. A request for more sends nothing, unless it names the tenant of an
    /// account which has no link that works: then its message waits.
    ///
    /// # Errors
    ///
    /// [`Error::MailOff`], [`Error::Validation`] which names `email`.
    pub async fn request(&self, context: &RequestContext, email: &str, tenant: Option<&str>) -> Result<ChallengeToken> {
        let iam = self.0;
        iam.require_mail()?;
        let mut fields = Fields::default();
        let Some(email) = fields.check("email", Email::for_lookup(email)) else {
            return Err(fields.into_error().into());
        };
        let (tenant, is_wanted) = match tenant {
            Some(named) => match iam.find_tenant(named).await? {
                Some(tenant) => (tenant.id, tenant.email_login == EmailLogin::On),
                None => (unknown_tenant(named), false),
            },
            None => (TenantId::NONE, true),
        };
        // Asked whether or not there is such an account, so that the time of the answer does not tell. Requests about
        // an account that gets no message use up nothing of the limit of one that does.
        let named = iam.store.guarded_account(tenant, &email.key()).await?.account.map(|account| account.user);
        let subject = named.as_ref().map_or_else(|| iam.next_id(), |user| user.id.as_uuid());
        let link = iam.store.link(tenant, LinkPurpose::Login, subject).await?;
        let named = named.filter(|user| user.email_verified_at.is_some());
        let is_counted = is_wanted && (named.is_some() || tenant == TenantId::NONE);
        // Requests that name no tenant may have used up the limit.
        let has_link = |user: &User| link.is_some_and(|link| link.is_live(iam.now()) && link.email == user.email);
        let may_wait = is_wanted && named.is_some_and(|user| user.status == UserStatus::Active && !has_link(&user));
        let request: LinkId = iam.next_id();
        let flow = self.begin(&Flow { tenant, email: email.clone(), request }).await?;
        // Not the tenant of the request: requests of strangers must not occupy the units of work of a tenant.
        let caller = Caller::anonymous(iam.next_id(), context.clone());
        let mut work = iam.begin(&caller).await?;
        let request = LinkRequest { kind: MailKind::Login, tenant, email: email.key(), link_id: Some(request) };
        iam.queue_request(&mut work, request, is_counted, may_wait).await?;
        work.commit().await?;
        Ok(flow)
    }

    /// Returns the details of a link for a page, for a form that uses its token. The link can still be used afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `token`.
    pub async fn look_up(&self, token: &LinkToken) -> Result<LinkDetails> {
        link::look_up(self.0, token, LinkPurpose::Login).await
    }

    /// Whether users of this installation may log in by e-mail: mail is on, and at least one ACTIVE tenant wants it.
    /// For pages that offer it before they know the tenant.
    ///
    /// # Errors
    ///
    /// [`Error::Store`].
    pub async fn are_offered(&self) -> Result<bool> {
        Ok(self.0.mail.is_some() && self.0.store.has_email_logins().await?)
    }

    /// Logs in by the link or the code in the newest message to an address. Each works once, and ends the other one.
    ///
    /// A wrong code counts like a wrong password. The fifth one for a flow ends its message.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] which names `token` or `code`, always the same: for one that is wrong, unknown, used,
    /// replaced or expired; while the account is locked; if the user or its tenant is not ACTIVE, its address is not
    /// verified, its tenant does not want such logins, or it logs in by an identity provider alone. A code that is not
    /// eight digits names `code`, too, and counts as nothing. [`Error::SecondFactorRequired`] when the user has a
    /// second factor: then [`login_with_factor`](crate::session::Sessions::login_with_factor) finishes the login.
    pub async fn finish(&self, context: &RequestContext, proof: &EmailProof) -> Result<LoggedIn> {
        match proof {
            EmailProof::Link(token) => self.finish_by_link(context, token).await,
            EmailProof::Code { flow, code } => self.finish_by_code(context, flow, code).await,
        }
    }

    async fn finish_by_link(&self, context: &RequestContext, token: &LinkToken) -> Result<LoggedIn> {
        let (link, tenant) = link::find(self.0, token, LinkPurpose::Login).await?;
        let user = self.0.store.user(link.tenant_id, link.subject.into()).await?.ok_or_else(link::refused)?;
        self.enter(context, (&tenant, &user), &link).await?.ok_or_else(link::refused)
    }

    async fn finish_by_code(
        &self,
        context: &RequestContext,
        token: &ChallengeToken,
        code: &OneTimeCode,
    ) -> Result<LoggedIn> {
        let iam = self.0;
        let code = eight_digits(code)?;
        let (_, token_hash) = parse_challenge_token(token).ok_or_else(refused)?;
        // Refused without a lock: a client with invented flows must not block other writers.
        let challenge = iam.store.challenge(OF_FLOWS, &token_hash).await?;
        let challenge = challenge.filter(|challenge| is_open(challenge, iam.now())).ok_or_else(refused)?;
        let flow: Flow = read(challenge.ceremony.as_ref())?;
        let meant = self.meant(&flow).await?;
        let has_code = |link: &&Link| -> bool {
            iam.keys.links.code(link).expose().as_bytes().ct_eq(code.expose().as_bytes()).into()
        };
        let found = meant.iter().find_map(|meant| Some((meant, meant.link.as_ref().filter(has_code)?)));
        let typed = match found {
            Some((_, link)) if is_of_request(link, flow.request) => Typed::Right,
            Some(_) => Typed::OfAnotherFlow,
            None => Typed::Wrong,
        };
        let tried = self.take_try(&token_hash, &flow, typed).await?;
        match (typed, found) {
            (Typed::Right, Some((Meant { user, tenant, .. }, link))) if tried.locked.is_none() => {
                self.enter(context, (tenant, user), link).await?.ok_or_else(refused)
            }
            (Typed::OfAnotherFlow, _) if tried.locked.is_none() => Err(refused()),
            _ => {
                self.count_everywhere(context, &flow, &meant, &tried).await?;
                Err(refused())
            }
        }
    }

    /// Begins a flow, for a known address as for an unknown one.
    async fn begin(&self, flow: &Flow) -> Result<ChallengeToken> {
        let iam = self.0;
        let (token, token_hash) = new_challenge_token(OF_FLOWS, &*iam.random);
        let caller = Caller::anonymous(OF_FLOWS, RequestContext::default());
        let mut work = iam.begin(&caller).await?;
        let now = work.now();
        let challenge = Challenge::begin(ChallengePurpose::EmailLoginStart, OF_FLOWS, None, token_hash, now);
        let challenge = Challenge { ceremony: Some(kept(flow)?), expires_at: now + FLOW_LIFETIME, ..challenge };
        work.apply(ChallengeChange::Issue(challenge)).await?;
        work.commit().await?;
        Ok(token)
    }

    /// Returns the accounts that the message of a flow went to, with their newest links.
    async fn meant(&self, flow: &Flow) -> Result<Vec<Meant>> {
        let iam = self.0;
        let accounts = accounts_of_request(iam, LinkPurpose::Login, flow.tenant, &flow.email.key()).await?;
        let mut meant = Vec::with_capacity(accounts.len());
        for (user, tenant) in accounts {
            let link = iam.store.link(tenant.id, LinkPurpose::Login, user.id.as_uuid()).await?;
            let link = link.filter(|link| link.is_live(iam.now()));
            meant.push(Meant { user, tenant, link });
        }
        Ok(meant)
    }

    /// Uses up one try of a flow. A right code ends the flow, and so does the last try. If the flow names no tenant, a
    /// wrong code is counted by the address alone.
    ///
    /// Each code is compared before this lock, and counts only after it: of concurrent guesses, those after the last
    /// try are refused, even if they are right.
    async fn take_try(&self, token_hash: &[u8; 32], flow: &Flow, typed: Typed) -> Result<Tried> {
        let iam = self.0;
        let caller = Caller::anonymous(OF_FLOWS, RequestContext::default());
        let mut work = iam.begin(&caller).await?;
        // Before the challenge, in the order of all locks.
        let attempts = if flow.tenant == TenantId::NONE {
            Some(work.reads().lock_guarded_account(&flow.email.key(), None).await?.attempts)
        } else {
            None
        };
        let now = work.now();
        let challenge = work.reads().lock_challenge(token_hash).await?;
        let challenge = challenge.filter(|challenge| is_open(challenge, now)).ok_or_else(refused)?;
        let tries = challenge.tries + 1;
        let is_last = tries >= Challenge::MAX_TRIES;
        let change = if typed == Typed::Right || is_last {
            ChallengeChange::End(challenge)
        } else {
            ChallengeChange::Update(Challenge { tries, ..challenge })
        };
        work.apply(change).await?;
        let locked = attempts.clone().filter(|attempts| attempts.locked_for(now).is_some());
        if let Some(attempts) = attempts.filter(|_| typed == Typed::Wrong && locked.is_none()) {
            count_wrong_code(iam, &mut work, (&flow.email, None), &attempts).await?;
        }
        work.commit().await?;
        Ok(Tried { is_last, locked })
    }

    /// Counts a wrong code in the tenant that the flow names, or in each account that a wrong password would be tried
    /// for: which of them got the message must not show. Without one, it is counted in a tenant that does not exist, so
    /// that it takes as long.
    async fn count_everywhere(
        &self,
        context: &RequestContext,
        flow: &Flow,
        meant: &[Meant],
        tried: &Tried,
    ) -> Result<()> {
        let (key, is_meant) = (flow.email.key(), |link: &&Link| is_of_request(link, flow.request));
        let link_of = |user: &User| {
            let meant = meant.iter().find(|meant| meant.user.id == user.id)?;
            meant.link.as_ref().filter(is_meant).map(|link| link.id)
        };
        if flow.tenant != TenantId::NONE {
            let named = self.0.store.guarded_account(flow.tenant, &key).await?.account;
            let user = named.as_ref().map(|account| &account.user);
            return self.count_in(context, (flow.tenant, user), (flow, user.and_then(link_of)), tried).await;
        }
        let candidates = self.0.store.login_candidates(&key, MAX_CANDIDATES).await?.accounts;
        if candidates.is_empty() {
            return self.count_in(context, (unknown_tenant(NO_TENANT), None), (flow, None), tried).await;
        }
        for candidate in candidates {
            let user = &candidate.account.user;
            self.count_in(context, (candidate.tenant.id, Some(user)), (flow, link_of(user)), tried).await?;
        }
        Ok(())
    }

    /// Counts a wrong code in a tenant. The last try also ends the link in the message.
    async fn count_in(
        &self,
        context: &RequestContext,
        (tenant, user): (TenantId, Option<&User>),
        (flow, link): (&Flow, Option<LinkId>),
        tried: &Tried,
    ) -> Result<()> {
        let iam = self.0;
        let caller = Caller::anonymous(tenant, context.clone());
        let mut work = iam.begin(&caller).await?;
        let guarded = work.reads().lock_guarded_account(&flow.email.key(), user.map(|user| user.id)).await?;
        // Locked also without an account, so that it takes as long.
        let subject = user.map_or_else(|| iam.next_id(), |user| user.id.as_uuid());
        let current = work.reads().lock_link(LinkPurpose::Login, subject).await?;
        if tried.is_last && current.is_some_and(|current| Some(current.id) == link) {
            work.apply(LinkChange::End { purpose: LinkPurpose::Login, subject }).await?;
        }
        let attempts = tried.locked.as_ref().unwrap_or(&guarded.attempts);
        count_wrong_code(iam, &mut work, (&flow.email, user), attempts).await?;
        work.commit().await
    }

    /// Logs in a user who has proven that it reads the mail of its address, and ends the link in the message. `None` if
    /// the user may not log in so, or if the link was used or replaced since it was found.
    async fn enter(
        &self,
        context: &RequestContext,
        (tenant, user): (&Tenant, &User),
        link: &Link,
    ) -> Result<Option<LoggedIn>> {
        let iam = self.0;
        if tenant.email_login == EmailLogin::Off {
            return Ok(None);
        }
        let federated = iam.federated_logins((tenant.id, tenant.password_login), user).await?;
        iam.refresh_keys().await?;
        let caller = Caller::anonymous(tenant.id, context.clone());
        let mut work = iam.begin(&caller).await?;
        let account = AccountUnderLock::lock(&mut work, user).await?;
        let Some(account) = account.filter(|account| is_proven(&account.user, link)) else { return Ok(None) };
        if account.admit_by_email(&mut work, tenant.status, !federated.is_empty()).await?.is_err() {
            work.commit().await?;
            return Ok(None);
        }
        if !link::end_found(&mut work, link).await? {
            return Ok(None);
        }
        if !account.factors().is_empty() {
            let first_half = (ChallengePurpose::EmailLogin, None);
            let pending = begin_second_factor(iam, &mut work, first_half, &account.user, account.factors()).await?;
            work.commit().await?;
            return Err(Error::SecondFactorRequired(pending));
        }
        let enrol_by = tenant.factor_demand().enrol_by(account.user.created_at);
        let logged_in = open_session(iam, &mut work, account.user, iam.next_id(), proof()).await?;
        work.commit().await?;
        Ok(Some(LoggedIn { enrol_by, ..logged_in }))
    }
}

/// Whether the message with a link went to the address that the user still has, and has proven before.
fn is_proven(user: &User, link: &Link) -> bool {
    user.email == link.email && user.email_verified_at.is_some()
}

/// Returns the proof of a login by e-mail. It counts as long ago, so that the session is not fresh: a reader of the
/// mailbox must not change the password, the address or the factors of the account.
fn proof() -> Proof {
    let methods = AuthenticationMethods::only(AuthenticationMethod::Email);
    Proof { authenticated_at: Some(Timestamp::UNIX_EPOCH), ..Proof::from(methods) }
}

fn is_open(challenge: &Challenge, now: Timestamp) -> bool {
    challenge.is_open_for(ChallengePurpose::EmailLoginStart, now)
}

/// Returns the one error for codes that do not log in.
fn refused() -> Error {
    Error::field("code", "is not valid: it is wrong, was used, was replaced by a newer one, or has expired")
}
