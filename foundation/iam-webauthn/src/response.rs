//! The JSON that browsers make of a response: `PublicKeyCredential.toJSON()` (Level 3 §5.1). Nothing in it is verified
//! here, except that it can be read and that no member is too long.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Refusal;
use crate::base64url::Bytes;
use crate::client_data::ClientData;
use crate::credential::CredentialId;

// Maximum numbers of bytes. Those of known browsers and authenticators are far below.
const CLIENT_DATA: usize = 4096;
/// A key of 8192 bits, and the certificates of a statement that a browser has not removed.
const ATTESTATION_OBJECT: usize = 16 * 1024;
const AUTHENTICATOR_DATA: usize = 4096;
/// A signature by an RSA key of 8192 bits.
const SIGNATURE: usize = 1024;
const USER_HANDLE: usize = 64;

/// The maximum number of transports, and of bytes in each. Browsers may send unknown ones (Level 3 §5.2.1).
const TRANSPORTS: usize = 16;
const TRANSPORT: usize = 32;

/// Members that are not verified are not read, for example `clientExtensionResults`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PublicKeyCredential<R> {
    id: CredentialId,
    raw_id: CredentialId,
    r#type: String,
    response: R,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attestation {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes<CLIENT_DATA>,
    attestation_object: Bytes<ATTESTATION_OBJECT>,
    #[serde(default)]
    transports: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(rename = "clientDataJSON")]
    client_data: Bytes<CLIENT_DATA>,
    authenticator_data: Bytes<AUTHENTICATOR_DATA>,
    signature: Bytes<SIGNATURE>,
    user_handle: Option<Bytes<USER_HANDLE>>,
}

/// Returns the identifier of the credential and the response of the authenticator.
fn read<R: DeserializeOwned>(json: &Value) -> Result<(Vec<u8>, R), Refusal> {
    let credential = PublicKeyCredential::<R>::deserialize(json).map_err(|_| Refusal::Response)?;
    // Both are the same by definition. A reader of one must not see another credential than a reader of the other.
    if credential.r#type != "public-key" || credential.id != credential.raw_id {
        return Err(Refusal::Response);
    }
    Ok((credential.raw_id.0, credential.response))
}

/// The response of a browser to the options of a registration.
#[derive(Clone, Debug)]
pub struct RegistrationResponse {
    pub(crate) id: Vec<u8>,
    pub(crate) client_data: ClientData,
    pub(crate) attestation_object: Vec<u8>,
    pub(crate) transports: Vec<String>,
}

impl RegistrationResponse {
    /// Reads a `RegistrationResponseJSON`.
    ///
    /// # Errors
    ///
    /// [`Refusal`] when it cannot be read.
    pub fn from_json(json: &Value) -> Result<Self, Refusal> {
        let (id, response) = read::<Attestation>(json)?;
        if response.transports.len() > TRANSPORTS || response.transports.iter().any(|name| name.len() > TRANSPORT) {
            return Err(Refusal::Response);
        }
        Ok(Self {
            id,
            client_data: ClientData::parse(response.client_data.0)?,
            attestation_object: response.attestation_object.0,
            transports: response.transports,
        })
    }

    /// The challenge that is answered, not yet verified. By its digest, the caller finds the ceremony.
    #[must_use]
    pub fn claimed_challenge(&self) -> &[u8] {
        self.client_data.challenge()
    }

    /// The identifier of the credential, not yet verified.
    #[must_use]
    pub fn claimed_credential_id(&self) -> &[u8] {
        &self.id
    }
}

/// The response of a browser to the options of an authentication.
#[derive(Clone, Debug)]
pub struct AuthenticationResponse {
    pub(crate) id: Vec<u8>,
    pub(crate) client_data: ClientData,
    pub(crate) authenticator_data: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) user_handle: Option<Vec<u8>>,
}

impl AuthenticationResponse {
    /// Reads an `AuthenticationResponseJSON`.
    ///
    /// # Errors
    ///
    /// [`Refusal`] when it cannot be read.
    pub fn from_json(json: &Value) -> Result<Self, Refusal> {
        let (id, response) = read::<Assertion>(json)?;
        Ok(Self {
            id,
            client_data: ClientData::parse(response.client_data.0)?,
            authenticator_data: response.authenticator_data.0,
            signature: response.signature.0,
            user_handle: response.user_handle.map(|handle| handle.0),
        })
    }

    /// The challenge that is answered, not yet verified. By its digest, the caller finds the ceremony.
    #[must_use]
    pub fn claimed_challenge(&self) -> &[u8] {
        self.client_data.challenge()
    }

    /// The identifier of the credential, not yet verified. By it, the caller finds the credential and its owner.
    #[must_use]
    pub fn claimed_credential_id(&self) -> &[u8] {
        &self.id
    }

    /// The handle of the user that the authenticator knows, not yet verified.
    #[must_use]
    pub fn claimed_user_handle(&self) -> Option<&[u8]> {
        self.user_handle.as_deref()
    }
}
