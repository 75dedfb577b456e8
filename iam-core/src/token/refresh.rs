//! The key with which the successors of refresh tokens are made (`docs/http-api.md#tokens`).

use aws_lc_rs::hmac;
use zeroize::Zeroizing;

/// Makes the secret of the refresh token that follows another one. Every replica has the same key. It is derived from a
/// key of the installation, which is encrypted under the master key if there is one. So a database reader who also has
/// a spent token cannot compute the valid one.
pub(crate) struct RefreshKey(hmac::Key);

impl RefreshKey {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, Zeroizing::new(key).as_slice()))
    }

    /// Returns the secret that follows another one, for the nonce of the exchange.
    pub(crate) fn successor(&self, secret: &[u8; 32], nonce: &[u8; 32]) -> Zeroizing<[u8; 32]> {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(nonce);
        context.update(secret);
        let mut successor = Zeroizing::new([0; 32]);
        successor.copy_from_slice(context.sign().as_ref());
        successor
    }
}
