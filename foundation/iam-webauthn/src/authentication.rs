//! The authentication by a passkey (Level 3 §7.2).

use serde_json::{Value, json};

use crate::authenticator_data::AuthenticatorData;
use crate::base64url::{self, Bytes};
use crate::ceremony::{Ceremony, TIMEOUT};
use crate::client_data::GET;
use crate::public_key::PublicKey;
use crate::{AuthenticationResponse, Credential, Refusal, RelyingParty};

/// A response that is verified: the owner of the passkey is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authenticated {
    /// The counter to keep: the larger one of those before and after.
    pub counter: u32,
    /// The counter that the authenticator sent, if it did not increase: a sign, but no proof, that a copy of the
    /// passkey exists (Level 3 §6.1.1).
    pub fell_back_to: Option<u32>,
    /// Whether the passkey is copied to another place now. To be kept in the [`Credential`].
    pub backed_up: bool,
}

impl RelyingParty {
    /// Begins an authentication. Returns the argument of `PublicKeyCredential.parseRequestOptionsFromJSON()` (Level 3
    /// §5.1.9), and the state to keep until the response.
    ///
    /// The caller takes the challenge from a secure random generator, for each ceremony anew (§13.4.3).
    ///
    /// If the user is known, `allow` has its passkeys, and only one of these is accepted: none, if the list is empty.
    /// `None` accepts a passkey of any user: the passkey tells who the user is.
    #[must_use]
    pub fn begin_authentication(&self, challenge: [u8; 32], allow: Option<&[Credential]>) -> (Value, Ceremony) {
        let options = json!({
            "challenge": base64url::encode(&challenge),
            "timeout": TIMEOUT.as_millis(),
            "rpId": self.id,
            "allowCredentials": allow.unwrap_or_default().iter().map(Credential::descriptor).collect::<Vec<_>>(),
            "userVerification": "required",
        });
        (options, Ceremony::authentication(&challenge, allow))
    }

    /// Verifies the response. `credential` is the passkey that the caller found by the identifier in the response, and
    /// `owner` is the handle of the user to whom it belongs.
    ///
    /// The caller has removed the ceremony before. A counter that fell back is reported, not refused.
    ///
    /// # Errors
    ///
    /// [`Refusal`] when a step of the verification fails.
    pub fn finish_authentication(
        &self,
        ceremony: &Ceremony,
        credential: &Credential,
        owner: &[u8],
        response: &AuthenticationResponse,
    ) -> Result<Authenticated, Refusal> {
        let allowed = ceremony.as_authentication()?;
        if response.id != credential.id {
            return Err(Refusal::Credential);
        }
        if allowed.is_some_and(|allowed| !allowed.iter().any(|Bytes(id)| *id == response.id)) {
            return Err(Refusal::NotAllowed);
        }
        match &response.user_handle {
            Some(handle) if handle != owner => return Err(Refusal::UserHandle),
            // Nothing else tells who the user is.
            None if allowed.is_none() => return Err(Refusal::UserHandle),
            _ => {}
        }
        response.client_data.verify(GET, ceremony.challenge_hash(), &self.origins)?;
        let data = AuthenticatorData::parse(&response.authenticator_data)?;
        data.verify(&self.id)?;
        if data.attested.is_some() {
            return Err(Refusal::AttestedCredential);
        }
        if data.is_backup_eligible() != credential.backup_eligible {
            return Err(Refusal::Backup);
        }
        let signed = [&response.authenticator_data, response.client_data.hash().as_ref()].concat();
        PublicKey::parse(&credential.public_key)?.verify(&signed, &response.signature)?;
        let has_counter = data.counter != 0 || credential.counter != 0;
        Ok(Authenticated {
            counter: data.counter.max(credential.counter),
            fell_back_to: (has_counter && data.counter <= credential.counter).then_some(data.counter),
            backed_up: data.is_backed_up(),
        })
    }
}
