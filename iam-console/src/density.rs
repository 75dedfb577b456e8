//! How much room the lines of pages have. A person chooses it, and its browser keeps it.

use axum::http::request::Parts;

use crate::state::Console;

/// The room between lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Density {
    #[default]
    Comfortable,
    Compact,
}

impl Density {
    /// Returns the density that the browser of a request keeps.
    pub(crate) fn of(console: &Console, parts: &Parts) -> Self {
        Self::named(console.settings.cookie(parts).density(&parts.headers).unwrap_or_default())
    }

    /// Returns the density with this name. Any other text is the usual one.
    pub(crate) fn named(name: &str) -> Self {
        if name == Self::Compact.as_str() { Self::Compact } else { Self::Comfortable }
    }

    pub(crate) fn is_compact(self) -> bool {
        self == Self::Compact
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Comfortable => "comfortable",
            Self::Compact => "compact",
        }
    }
}
