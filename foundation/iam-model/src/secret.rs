//! Texts that must never appear in a log, an error or a `Debug` output.

use std::fmt;

use zeroize::Zeroizing;

macro_rules! secrets {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        ///
        /// `Debug` does not show it, and its memory is overwritten with zeros when it is dropped.
        #[derive(Clone)]
        pub struct $name(Zeroizing<String>);

        impl $name {
            /// Returns the secret itself. The calling code is responsible for every use of it.
            #[must_use]
            pub fn expose(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Zeroizing::new(text))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::from(text.to_owned())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "([REDACTED])"))
            }
        }
    )+};
}

secrets! {
    /// A password in plain text, as a person typed it.
    Password;
    /// A signed access token (JWT, RFC 7519), sent as a bearer token (RFC 6750).
    AccessToken;
    /// An opaque token that can be exchanged once for a new pair of tokens.
    RefreshToken;
    /// A password hash in PHC string form.
    PasswordHash;
    /// The token of a link in a message, which can be used once.
    LinkToken;
    /// The address of a page with the token of a link.
    LinkUrl;
    /// The token of a login that waits for a second factor.
    ChallengeToken;
    /// A code of an authenticator app, as a person typed it.
    OneTimeCode;
    /// An API key, sent as a bearer token (RFC 6750).
    ApiKeyToken;
    /// The secret with which the requests of a webhook are signed, as Standard Webhooks writes it: `whsec_` and base64.
    WebhookSecret;
    /// A recovery code, which can be used once in place of a second factor.
    RecoveryCode;
    /// The secret of an authenticator app, in base32 (RFC 4648 §6), or the URI that contains it.
    TotpSecret;
}

impl PartialEq for PasswordHash {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", Password::from("Tr0ub4dor&3")), "Password([REDACTED])");
    }
}
