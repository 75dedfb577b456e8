//! A passkey, as the relying party keeps it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base64url::{self, Bytes};

/// The maximum number of bytes of the identifier of a credential (Level 3 §4, "Credential ID").
pub(crate) const MAX_ID: usize = 1023;

/// The identifier of a credential.
pub(crate) type CredentialId = Bytes<MAX_ID>;

/// A registered passkey: a credential record (Level 3 §4). It contains no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Credential {
    /// The identifier that the authenticator gave it: 1 to 1023 bytes. The caller must refuse the registration of one
    /// that is registered already, for whichever user.
    #[serde(with = "base64url")]
    pub id: Vec<u8>,
    /// The public key: the COSE key that the authenticator sent.
    #[serde(with = "base64url")]
    pub public_key: Vec<u8>,
    /// The signature counter. It is zero for authenticators without one. A caller that keeps it elsewhere sets it
    /// before an authentication.
    pub counter: u32,
    /// Whether the passkey can be copied to other devices of the user. This never changes.
    pub backup_eligible: bool,
    /// Whether the passkey was copied to another place when it was last registered or used.
    pub backed_up: bool,
    /// How browsers reach the authenticator, for example `internal` or `usb`.
    pub transports: Vec<String>,
}

impl Credential {
    /// Its entry in a list of excluded or allowed credentials (Level 3 §5.8.3).
    pub(crate) fn descriptor(&self) -> Value {
        json!({ "type": "public-key", "id": base64url::encode(&self.id), "transports": self.transports })
    }
}
