//! The client data: statements of the browser about the call (Level 3 §5.8.1).

use aws_lc_rs::digest::{Digest, SHA256, digest};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Refusal;
use crate::base64url::Bytes;

/// The client data of a registration.
pub(crate) const CREATE: &str = "webauthn.create";
/// The client data of an authentication.
pub(crate) const GET: &str = "webauthn.get";

/// The members that are verified, and the bytes that contain them, because a signature covers the bytes.
#[derive(Clone, Debug)]
pub(crate) struct ClientData {
    json: Vec<u8>,
    members: Members,
}

/// Unknown members are ignored, because browsers may add some. A repeated member is refused.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    r#type: String,
    challenge: Bytes<64>,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    top_origin: Option<IgnoredAny>,
}

impl ClientData {
    pub(crate) fn parse(json: Vec<u8>) -> Result<Self, Refusal> {
        let members = serde_json::from_slice(&json).map_err(|_| Refusal::ClientData)?;
        Ok(Self { json, members })
    }

    /// The challenge that was answered, according to the browser.
    pub(crate) fn challenge(&self) -> &[u8] {
        &self.members.challenge.0
    }

    /// The hash of the bytes, which an authenticator signs.
    pub(crate) fn hash(&self) -> Digest {
        digest(&SHA256, &self.json)
    }

    /// Verifies the type, the challenge and the origin (Level 3 §7.1 and §7.2, from "Verify that the value of C.type"
    /// to the step of `topOrigin`). Origins are compared byte for byte (§13.4.9).
    pub(crate) fn verify(&self, kind: &str, challenge_hash: &[u8], origins: &[String]) -> Result<(), Refusal> {
        if self.members.r#type != kind {
            return Err(Refusal::Type);
        }
        if digest(&SHA256, self.challenge()).as_ref() != challenge_hash {
            return Err(Refusal::Challenge);
        }
        if !origins.contains(&self.members.origin) {
            return Err(Refusal::Origin);
        }
        // A page of another origin could cover or move the embedded one, and so deceive the user.
        if self.members.cross_origin || self.members.top_origin.is_some() {
            return Err(Refusal::CrossOrigin);
        }
        Ok(())
    }
}
