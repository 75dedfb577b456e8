use std::fmt;

/// The reason why a command failed, in one line.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl Failure {
    /// Creates a failure that names the action of the program, the error, and every cause of the error.
    pub(crate) fn new(doing: impl fmt::Display, error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(Some(error), |error| error.source());
        let mut causes: Vec<String> = causes.map(ToString::to_string).collect();
        // An error that wraps another one often has the same text.
        causes.dedup();
        Self(format!("{doing}: {}", causes.join(": ")).replace('\n', " "))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
