/// The cost of one password hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashingCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes: how many threads could compute one hash in parallel.
    pub lanes: u32,
}

impl Default for HashingCost {
    /// OWASP's first choice for Argon2id: 19 MiB, two passes, one lane.
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2, lanes: 1 }
    }
}
