//! Randomness as an argument: the [`Random`] port.

/// Where the service gets unpredictable bytes: identifiers, salts, refresh tokens, signing keys.
pub trait Random: Send + Sync + 'static {
    /// Fills the buffer with bytes fit for cryptographic keys.
    fn fill(&self, buffer: &mut [u8]);
}

impl dyn Random + '_ {
    /// An array of unpredictable bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut buffer = [0; N];
        self.fill(&mut buffer);
        buffer
    }
}

/// A few random letters and digits, to tell apart what would have the same name.
pub(crate) fn suffix(random: &dyn Random) -> String {
    let letters = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes: [u8; 6] = random.bytes();
    bytes.iter().filter_map(|byte| letters.get(usize::from(byte % 32))).map(|letter| char::from(*letter)).collect()
}

/// The random number generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the system for randomness")]
    #[expect(clippy::expect_used, reason = "without randomness no secret is safe: stopping is the right answer")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system's random number generator works");
    }
}
