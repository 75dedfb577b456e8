//! The key of logins by identity providers.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The key from which the secrets towards the provider are derived, so that no row contains them.
pub(crate) struct FederationKey(hmac::Key);

impl FederationKey {
    pub(crate) fn new(secret: [u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, &secret))
    }

    /// Returns the nonce of a login, which the ID token contains.
    pub(crate) fn nonce(&self, state: &str) -> String {
        self.derive(b"nonce", state)
    }

    /// Returns the secret whose challenge the provider gets (RFC 7636).
    pub(crate) fn code_verifier(&self, state: &str) -> String {
        self.derive(b"code verifier", state)
    }

    fn derive(&self, purpose: &[u8], state: &str) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(purpose);
        context.update(&[0]);
        context.update(state.as_bytes());
        URL_SAFE_NO_PAD.encode(context.sign())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_by_purpose_state_and_key() {
        let (key, other) = (FederationKey::new([1; 32]), FederationKey::new([2; 32]));
        let all = [key.nonce("a"), key.code_verifier("a"), key.nonce("b"), other.nonce("a")];
        assert!(all.iter().all(|secret| secret.len() == 43));
        assert!((0..4).all(|one| (0..one).all(|two| all[one] != all[two])));
        assert_eq!(key.nonce("a"), all[0]);
    }
}
