//! The state that the relying party keeps between the options and the response.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::base64url::Bytes;
use crate::credential::{Credential, CredentialId};

/// How long a browser waits for the user, and a ceremony should be kept (Level 3 §15.1).
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// A registration or an authentication that has begun.
///
/// The caller keeps it, for example as JSON in a row of a database, until it expires or is finished. It must be
/// impossible to finish a ceremony twice: the caller removes it before it finishes it.
///
/// Of the challenge, it contains only the SHA-256 digest. A reader of the database does not learn what an
/// authenticator would have to sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ceremony {
    challenge_hash: Bytes<32>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    #[serde(rename_all = "camelCase")]
    Registration {
        user_handle: Bytes<64>,
        excluded: Vec<CredentialId>,
    },
    Authentication {
        allowed: Option<Vec<CredentialId>>,
    },
}

impl Ceremony {
    pub(crate) fn registration(challenge: &[u8; 32], user_handle: &[u8], excluded: &[Credential]) -> Self {
        let kind = Kind::Registration { user_handle: Bytes(user_handle.to_vec()), excluded: ids(excluded) };
        Self { challenge_hash: hash(challenge), kind }
    }

    pub(crate) fn authentication(challenge: &[u8; 32], allowed: Option<&[Credential]>) -> Self {
        Self { challenge_hash: hash(challenge), kind: Kind::Authentication { allowed: allowed.map(ids) } }
    }

    pub(crate) fn challenge_hash(&self) -> &[u8] {
        &self.challenge_hash.0
    }

    /// Returns the user handle and the excluded credentials of a registration.
    pub(crate) fn as_registration(&self) -> Result<(&[u8], &[CredentialId]), Refusal> {
        match &self.kind {
            Kind::Registration { user_handle, excluded } => Ok((&user_handle.0, excluded)),
            Kind::Authentication { .. } => Err(Refusal::Type),
        }
    }

    /// Returns the allowed credentials of an authentication. `None` allows those of all users.
    pub(crate) fn as_authentication(&self) -> Result<Option<&[CredentialId]>, Refusal> {
        match &self.kind {
            Kind::Authentication { allowed } => Ok(allowed.as_deref()),
            Kind::Registration { .. } => Err(Refusal::Type),
        }
    }
}

fn hash(challenge: &[u8; 32]) -> Bytes<32> {
    Bytes(digest(&SHA256, challenge).as_ref().to_vec())
}

fn ids(credentials: &[Credential]) -> Vec<CredentialId> {
    credentials.iter().map(|credential| Bytes(credential.id.clone())).collect()
}
