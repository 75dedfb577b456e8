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
    /// Returns the density that the browser of a request keeps. Any other text is the usual one.
    pub(crate) fn of(console: &Console, parts: &Parts) -> Self {
        let kept = console.settings.cookie(parts).density(&parts.headers);
        kept.and_then(Self::typed).unwrap_or_default()
    }

    /// Returns the density with this name.
    pub(crate) fn typed(name: &str) -> Option<Self> {
        [Self::Comfortable, Self::Compact].into_iter().find(|density| density.as_str() == name)
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
