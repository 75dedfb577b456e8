//! Passkeys: the ceremonies of WebAuthn over this service's users, factors and challenges
//! (`docs/http-api.md#second-factors`).

use aws_lc_rs::digest::{SHA256, digest};
use iam_model::challenge::{Ceremony, Challenge, ChallengePurpose};
use iam_model::change::FactorChange;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::factor::{Factor, FactorKey, FactorKind};
use iam_model::id::{FactorId, TenantId, UserId};
use iam_model::user::User;
use iam_model::validate::Name;
use iam_webauthn::{AuthenticationResponse, Credential, Refusal, RegistrationResponse, RelyingParty};
use serde_json::Value;
use uuid::Uuid;

use crate::engine::Engine;

impl Engine {
    fn relying_party(&self) -> Result<&RelyingParty> {
        self.settings.relying_party.as_ref().ok_or(Error::PasskeysOff)
    }
}

/// A ceremony that begins.
pub(crate) struct BegunCeremony {
    /// The options for the browser.
    pub(crate) options: Value,
    /// The digest by which the ceremony is found again.
    pub(crate) challenge_hash: [u8; 32],
    /// The state of the ceremony.
    pub(crate) ceremony: Ceremony,
}

impl BegunCeremony {
    fn new(challenge: &[u8; 32], options: Value, ceremony: &iam_webauthn::Ceremony) -> Result<Self> {
        let ceremony = serde_json::to_vec(ceremony).map_err(|cause| Error::internal("a WebAuthn ceremony", cause))?;
        Ok(Self { options, challenge_hash: hash_of(challenge), ceremony: Ceremony(ceremony) })
    }

    /// Returns the challenge to keep, for a proof of this user or, without one, of any user.
    pub(crate) fn challenge(
        &self,
        tenant: TenantId,
        user: Option<UserId>,
        purpose: ChallengePurpose,
        now: Timestamp,
    ) -> Challenge {
        let challenge = Challenge::begin(purpose, tenant, user, self.challenge_hash, now);
        Challenge { ceremony: Some(self.ceremony.clone()), ..challenge }
    }
}

/// Begins a proof by one of these factors, or by a passkey of any user.
pub(crate) fn begin_authentication(iam: &Engine, allowed: Option<&[Factor]>) -> Result<BegunCeremony> {
    let relying_party = iam.relying_party()?;
    let challenge = iam.random.bytes();
    let credentials = allowed.map(credentials).transpose()?;
    let (options, ceremony) = relying_party.begin_authentication(challenge, credentials.as_deref());
    BegunCeremony::new(&challenge, options, &ceremony)
}

/// Begins the registration of a passkey of a user, who has these factors.
pub(crate) fn begin_registration(iam: &Engine, user: &User, factors: &[Factor]) -> Result<BegunCeremony> {
    let relying_party = iam.relying_party()?;
    let challenge = iam.random.bytes();
    let handle = user_handle(user.tenant_id, user.id);
    let display_name = format!("{} {}", user.first_name, user.last_name);
    let of = iam_webauthn::User { handle: &handle, name: user.email.as_str(), display_name: &display_name };
    let begun = relying_party.begin_registration(challenge, of, &credentials(factors)?);
    let (options, ceremony) = begun.map_err(|cause| Error::internal("the options of a registration", cause))?;
    BegunCeremony::new(&challenge, options, &ceremony)
}

/// Returns the digest of the challenge that a response answers.
pub(crate) fn hash_of(challenge: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, challenge).as_ref());
    hash
}

/// Returns the registered passkey of a user, if the response is right.
pub(crate) fn registered(
    iam: &Engine,
    user: &User,
    ceremony: &Ceremony,
    response: &RegistrationResponse,
    (id, name, now): (FactorId, Name, Timestamp),
) -> Result<Result<Factor, Refusal>> {
    let (relying_party, ceremony) = (iam.relying_party()?, read(ceremony)?);
    let handle = user_handle(user.tenant_id, user.id);
    let credential = match relying_party.finish_registration(&ceremony, &handle, response) {
        Ok(credential) => credential,
        Err(refusal) => return Ok(Err(refusal)),
    };
    Ok(Ok(Factor {
        id,
        tenant_id: user.tenant_id,
        user_id: user.id,
        kind: FactorKind::Passkey,
        name,
        key: key_of(&credential)?,
        counter: credential.counter.into(),
        credential_id: Some(credential.id),
        created_at: now,
        confirmed_at: Some(now),
        last_used_at: None,
    }))
}

/// Returns the use of the passkey among these factors that a response proves. `None` if the response is refused.
pub(crate) fn used(
    iam: &Engine,
    factors: &[Factor],
    ceremony: &Ceremony,
    response: &AuthenticationResponse,
    now: Timestamp,
) -> Result<Option<FactorChange>> {
    let (relying_party, ceremony) = (iam.relying_party()?, read(ceremony)?);
    let id = response.claimed_credential_id();
    let Some(factor) = factors.iter().find(|factor| factor.credential_id.as_deref() == Some(id)) else {
        return Ok(None);
    };
    let mut credential = credential_of(factor)?;
    let handle = user_handle(factor.tenant_id, factor.user_id);
    let authenticated = match relying_party.finish_authentication(&ceremony, &credential, &handle, response) {
        Ok(authenticated) => authenticated,
        Err(refusal) => {
            tracing::debug!(%refusal, "a passkey was refused");
            return Ok(None);
        }
    };
    (credential.counter, credential.backed_up) = (authenticated.counter, authenticated.backed_up);
    let key = key_of(&credential)?;
    let after = Factor { key, counter: authenticated.counter.into(), last_used_at: Some(now), ..factor.clone() };
    let fell_back_to = authenticated.fell_back_to.map(u64::from);
    Ok(Some(FactorChange::Use { after, fell_back_to }))
}

/// Returns the handle by which an authenticator knows a user: it says nothing about the person.
fn user_handle(tenant: TenantId, user: UserId) -> [u8; 32] {
    let mut handle = [0; 32];
    let (of_tenant, of_user) = handle.split_at_mut(16);
    of_tenant.copy_from_slice(tenant.as_uuid().as_bytes());
    of_user.copy_from_slice(user.as_uuid().as_bytes());
    handle
}

/// Returns the user that a response claims to come from.
pub(crate) fn claimed_user(response: &AuthenticationResponse) -> Option<(TenantId, UserId)> {
    let (tenant, user) = response.claimed_user_handle()?.split_first_chunk::<16>()?;
    let user: [u8; 16] = user.try_into().ok()?;
    Some((Uuid::from_bytes(*tenant).into(), Uuid::from_bytes(user).into()))
}

/// Returns the passkeys among these factors.
fn credentials(factors: &[Factor]) -> Result<Vec<Credential>> {
    factors.iter().filter(|factor| factor.kind == FactorKind::Passkey).map(credential_of).collect()
}

fn credential_of(factor: &Factor) -> Result<Credential> {
    let mut credential: Credential =
        serde_json::from_slice(&factor.key.0).map_err(|cause| Error::internal("a stored passkey", cause))?;
    credential.counter = u32::try_from(factor.counter).map_err(|cause| Error::internal("a stored passkey", cause))?;
    Ok(credential)
}

fn key_of(credential: &Credential) -> Result<FactorKey> {
    serde_json::to_vec(credential).map(FactorKey).map_err(|cause| Error::internal("a new passkey", cause))
}

fn read(ceremony: &Ceremony) -> Result<iam_webauthn::Ceremony> {
    serde_json::from_slice(&ceremony.0).map_err(|cause| Error::internal("a WebAuthn ceremony", cause))
}
