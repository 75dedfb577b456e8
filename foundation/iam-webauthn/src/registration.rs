//! The registration of a passkey (Level 3 §7.1).

use serde_json::{Value, json};

use crate::authenticator_data::AuthenticatorData;
use crate::base64url::{self, Bytes};
use crate::ceremony::{Ceremony, TIMEOUT};
use crate::client_data::CREATE;
use crate::public_key::{ALGORITHMS, PublicKey};
use crate::{Credential, Refusal, RegistrationResponse, RelyingParty, attestation};

/// The user for whom a passkey is registered (Level 3 §5.4.3).
#[derive(Clone, Copy, Debug)]
pub struct User<'a> {
    /// Identifies the user: 1 to 64 bytes that say nothing else about the user. An authenticator keeps only one passkey
    /// for each user handle.
    pub handle: &'a [u8],
    /// The name with which the user logs in.
    pub name: &'a str,
    /// The name of the person.
    pub display_name: &'a str,
}

impl RelyingParty {
    /// Begins the registration of a passkey. Returns the argument of
    /// `PublicKeyCredential.parseCreationOptionsFromJSON()` (Level 3 §5.1.8), and the state to keep until the response.
    ///
    /// The caller takes the challenge from a secure random generator, for each ceremony anew (§13.4.3). Passkeys in
    /// `exclude`, the ones that the user has, are not registered again.
    ///
    /// Browsers create only passkeys that can log in without a user name: those that the authenticator itself finds
    /// and that verify the user.
    ///
    /// # Errors
    ///
    /// [`Refusal::UserHandle`] when the user handle has not 1 to 64 bytes.
    pub fn begin_registration(
        &self,
        challenge: [u8; 32],
        user: User<'_>,
        exclude: &[Credential],
    ) -> Result<(Value, Ceremony), Refusal> {
        if !(1..=64).contains(&user.handle.len()) {
            return Err(Refusal::UserHandle);
        }
        let options = json!({
            "rp": { "id": self.id, "name": self.name },
            "user": {
                "id": base64url::encode(user.handle),
                "name": user.name,
                "displayName": user.display_name,
            },
            "challenge": base64url::encode(&challenge),
            "pubKeyCredParams": ALGORITHMS.map(|alg| json!({ "type": "public-key", "alg": alg })),
            "timeout": TIMEOUT.as_millis(),
            "excludeCredentials": exclude.iter().map(Credential::descriptor).collect::<Vec<_>>(),
            "authenticatorSelection": {
                "residentKey": "required",
                "requireResidentKey": true,
                "userVerification": "required",
            },
            "attestation": "none",
        });
        Ok((options, Ceremony::registration(&challenge, user.handle, exclude)))
    }

    /// Verifies the response, and returns the passkey. `owner` is the handle of the user that sends the response.
    ///
    /// The caller has removed the ceremony before, and afterwards refuses a credential that is registered already, for
    /// whichever user.
    ///
    /// # Errors
    ///
    /// [`Refusal`] when a step of the verification fails.
    pub fn finish_registration(
        &self,
        ceremony: &Ceremony,
        owner: &[u8],
        response: &RegistrationResponse,
    ) -> Result<Credential, Refusal> {
        let (user_handle, excluded) = ceremony.as_registration()?;
        if owner != user_handle {
            return Err(Refusal::UserHandle);
        }
        response.client_data.verify(CREATE, ceremony.challenge_hash(), &self.origins)?;
        let data = attestation::authenticator_data(&response.attestation_object)?;
        let data = AuthenticatorData::parse(&data)?;
        data.verify(&self.id)?;
        let attested = data.attested.as_ref().ok_or(Refusal::AttestedCredential)?;
        PublicKey::parse(attested.public_key)?;
        if attested.id != response.id {
            return Err(Refusal::Credential);
        }
        if excluded.iter().any(|Bytes(id)| id == attested.id) {
            return Err(Refusal::Excluded);
        }
        Ok(Credential {
            id: attested.id.to_vec(),
            public_key: attested.public_key.to_vec(),
            counter: data.counter,
            backup_eligible: data.is_backup_eligible(),
            backed_up: data.is_backed_up(),
            transports: response.transports.clone(),
        })
    }
}
