//! Texts that must never appear in a log, an error or a `Debug` output.

use std::fmt;

use zeroize::Zeroizing;

use crate::text::{composed, is_other_blank};

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
    /// The secret with which another system made its password hashes: the signer key of a Firebase project in base64, or
    /// a pepper.
    HashSecret;
    /// The token of a link in a message, which can be used once.
    LinkToken;
    /// The address of a page with the token of a link.
    LinkUrl;
    /// The token of a login that has begun and waits for its next step, such as a second factor.
    ChallengeToken;
    /// A code of an authenticator app or of a message, as a person typed it.
    OneTimeCode;
    /// An API key, sent as a bearer token (RFC 6750).
    ApiKeyToken;
    /// The secret with which the requests of a webhook are signed, as Standard Webhooks writes it: `whsec_` and base64.
    WebhookSecret;
    /// The secret of this service at an identity provider.
    ClientSecret;
    /// A recovery code, which can be used once in place of a second factor.
    RecoveryCode;
    /// The secret of an authenticator app, in base32 (RFC 4648 §6), or the URI that contains it.
    TotpSecret;
}

impl Password {
    /// Returns the form in which passwords are set and compared (RFC 8265 §4.2, `OpaqueString`): composed (NFC), with
    /// U+0020 in place of every other blank. Nothing is trimmed.
    ///
    /// A text that is too long for every password stays as it is: composing it costs time, and nothing compares equal
    /// to it.
    #[must_use]
    pub fn prepared(&self) -> Self {
        if self.0.len() > LONGEST_TYPED {
            return self.clone();
        }
        let with_blanks: Zeroizing<String> = self
            .0
            .chars()
            .map(|character| if is_other_blank(character) { ' ' } else { character })
            .collect::<String>()
            .into();
        Self(Zeroizing::new(composed(&with_blanks)))
    }
}

/// The bytes of the longest password as a client may type it: 128 characters, each decomposed into at most four of four
/// bytes.
const LONGEST_TYPED: usize = 128 * 4 * 4;

impl PasswordHash {
    /// The hash of no password, for a user who logs in by an identity provider and has chosen none.
    #[must_use]
    pub fn unset() -> Self {
        Self::from("!")
    }

    /// Whether the user has chosen no password.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        *self == Self::unset()
    }
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
    fn a_password_is_compared_composed_and_with_one_kind_of_blank() {
        for (typed, prepared) in [
            ("e\u{301}", "é"),
            ("a\u{a0}b\u{3000}c", "a b c"),
            (" \t a ", " \t a "),
            ("\u{2000}", " "),
            ("Ⅷ ﬁ Ａ", "Ⅷ ﬁ Ａ"),
            ("Straße", "Straße"),
            ("a\u{200d}b", "a\u{200d}b"),
        ] {
            assert_eq!(Password::from(typed).prepared().expose(), prepared, "{typed}");
            assert_eq!(Password::from(prepared).prepared().expose(), prepared);
        }
    }

    #[test]
    fn a_text_that_is_too_long_for_a_password_is_not_composed() {
        let typed = |count: usize| format!("{}{}", "e\u{301}", "a".repeat(count));
        let longest = LONGEST_TYPED - "e\u{301}".len();
        assert_eq!(Password::from(typed(longest)).prepared().expose(), format!("é{}", "a".repeat(longest)));
        assert_eq!(Password::from(typed(longest + 1)).prepared().expose(), typed(longest + 1));
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", Password::from("Tr0ub4dor&3")), "Password([REDACTED])");
    }
}
