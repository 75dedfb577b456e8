//! Why a response is refused.

/// The reason why a response is refused. The texts contain nothing of the response, so they may be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The JSON is not that of a public key credential, or one of its members is too long.
    #[error("the response is not a public key credential in JSON")]
    Response,
    /// The client data are not JSON, or lack a member.
    #[error("the client data are malformed")]
    ClientData,
    /// The attestation object is not CBOR, or lacks a member.
    #[error("the attestation object is malformed")]
    AttestationObject,
    /// The authenticator data are too short, or their extensions are not CBOR.
    #[error("the authenticator data are malformed")]
    AuthenticatorData,
    /// Bytes follow the authenticator data, the attestation object or the public key.
    #[error("bytes follow the end of the data")]
    TrailingBytes,
    /// A registration contains no credential, or an authentication contains one.
    #[error("attested credential data are missing or out of place")]
    AttestedCredential,
    /// The public key is not a COSE key, or its values are out of range.
    #[error("the public key is malformed")]
    PublicKey,
    /// The public key is not one of ES256, EdDSA and RS256.
    #[error("the algorithm was not offered")]
    Algorithm,
    /// The ceremony is a registration, and the response an authentication, or the other way round.
    #[error("the ceremony or the client data are of another type")]
    Type,
    /// The response answers another challenge.
    #[error("the challenge is another one")]
    Challenge,
    /// The page that called the authenticator has another origin.
    #[error("the origin is not allowed")]
    Origin,
    /// The page that called the authenticator was inside a page of another origin.
    #[error("the page was embedded in a page of another origin")]
    CrossOrigin,
    /// The credential is scoped to another relying party.
    #[error("the relying party is another one")]
    RelyingParty,
    /// The authenticator did not test that a user was present.
    #[error("the user was not present")]
    UserPresence,
    /// The authenticator did not verify the user, for example by a PIN or a fingerprint.
    #[error("the user was not verified")]
    UserVerification,
    /// The credential is backed up without being eligible, or its eligibility changed.
    #[error("the backup flags are inconsistent")]
    Backup,
    /// The response names another credential than the authenticator data or the database.
    #[error("the credential is another one")]
    Credential,
    /// The user has registered this credential already.
    #[error("the credential was excluded")]
    Excluded,
    /// The credential is not one of those that the ceremony allows.
    #[error("the credential is not allowed")]
    NotAllowed,
    /// The user handle is missing, is that of another user, or has not 1 to 64 bytes.
    #[error("the user handle is missing or wrong")]
    UserHandle,
    /// The signature is not by the public key, or over other data.
    #[error("the signature is wrong")]
    Signature,
}
