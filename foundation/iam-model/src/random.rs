//! Randomness as an argument: the [`Random`] port.

/// The source of unpredictable bytes, for identifiers, salts, refresh tokens and signing keys.
pub trait Random: Send + Sync + 'static {
    /// Fills the buffer with bytes that are good enough for cryptographic keys.
    fn fill(&self, buffer: &mut [u8]);
}

impl dyn Random + '_ {
    /// Returns an array of unpredictable bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut buffer = [0; N];
        self.fill(&mut buffer);
        buffer
    }
}

/// Returns six random letters and digits, to make a name unique.
pub fn suffix(random: &dyn Random) -> String {
    let letters = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes: [u8; 6] = random.bytes();
    bytes.iter().filter_map(|byte| letters.get(usize::from(byte % 32))).map(|letter| char::from(*letter)).collect()
}

/// The random number generator of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that uses the system's random generator")]
    #[expect(clippy::expect_used, reason = "without randomness no secret is safe, so the program must stop")]
    fn fill(&self, buffer: &mut [u8]) {
        getrandom::fill(buffer).expect("the operating system's random number generator works");
    }
}
