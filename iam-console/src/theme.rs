//! Whether pages are light or dark. A person chooses it, and its browser keeps it.

use axum::http::request::Parts;

use crate::state::Console;
use crate::text;

/// The colours of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Those that the system of the person asks for.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    pub(crate) const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Returns the theme that the browser of a request keeps.
    pub(crate) fn of(console: &Console, parts: &Parts) -> Self {
        console.settings.cookie(parts).theme(&parts.headers).and_then(Self::typed).unwrap_or_default()
    }

    /// Returns the theme with this name.
    pub(crate) fn typed(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == name)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::System => text::t("theme-system"),
            Self::Light => text::t("theme-light"),
            Self::Dark => text::t("theme-dark"),
        }
    }
}
