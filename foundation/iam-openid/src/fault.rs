use thiserror::Error;

/// Why a token is refused. The texts are for logs and administrators: a client learns only that the login has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// It is longer than 64 KiB, no signed JWT, or a required claim is missing or has another type.
    #[error("the token is no signed JWT with the required claims")]
    Malformed,
    /// It is signed by an algorithm that is not accepted, or that does not belong to its key.
    #[error("the token is signed by another algorithm than its key is for")]
    Algorithm,
    /// The provider has no key with its identifier. The keys may have been rotated since they were read.
    #[error("the token is signed by an unknown key")]
    UnknownKey,
    /// The signature is wrong.
    #[error("the signature of the token is wrong")]
    Signature,
    /// It was made by another issuer.
    #[error("the token is of another issuer")]
    Issuer,
    /// It was made for another client, or for several of which this one is not the authorized party.
    #[error("the token is for another client")]
    Audience,
    /// It has expired.
    #[error("the token has expired")]
    Expired,
    /// It was issued in the future, by more than a minute.
    #[error("the token was issued in the future")]
    IssuedInFuture,
    /// It belongs to another login.
    #[error("the nonce of the token is that of another login")]
    Nonce,
    /// It belongs to another access token.
    #[error("the token belongs to another access token")]
    AccessToken,
    /// It is no logout token, but for example an ID token.
    #[error("the token is no logout token")]
    NotALogout,
}

/// The kind of a [`Fault`], as the audit log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The token is not from this provider.
    Signature,
    /// The token is from another issuer.
    Issuer,
    /// The token is for another client.
    Audience,
    /// The token is not valid at this moment.
    Expired,
    /// The token is of another login.
    Nonce,
}

impl Cause {
    /// Returns the word of the audit log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "SIGNATURE",
            Self::Issuer => "ISSUER",
            Self::Audience => "AUDIENCE",
            Self::Expired => "EXPIRED",
            Self::Nonce => "NONCE",
        }
    }
}

impl Fault {
    /// Returns the kind of this fault.
    #[must_use]
    pub fn cause(self) -> Cause {
        match self {
            Self::Malformed | Self::Algorithm | Self::UnknownKey | Self::Signature | Self::NotALogout => {
                Cause::Signature
            }
            Self::Issuer => Cause::Issuer,
            Self::Audience => Cause::Audience,
            Self::Expired | Self::IssuedInFuture => Cause::Expired,
            Self::Nonce | Self::AccessToken => Cause::Nonce,
        }
    }
}
