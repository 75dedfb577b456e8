//! The brand of the installation, with the files of it that pages load.

use iam_core::brand::{Brand, Logo};

use crate::assets::Asset;
use crate::text;

/// How the pages of this installation look.
#[derive(Debug)]
pub(crate) struct Look {
    /// The name on every page.
    name: Option<String>,
    pub(crate) logo: Option<Asset>,
    /// The colours in place of those of the console.
    pub(crate) style: Option<Asset>,
}

impl Look {
    pub(crate) fn of(brand: &Brand) -> Self {
        let logo = brand
            .logo()
            .map(|logo| Asset::foreign(logo.file_name(), logo.content_type(), logo.content(), Logo::POLICY));
        let style = brand.style().map(|style| Asset::style("brand.css", style));
        Self { name: brand.name().map(str::to_owned), logo, style }
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_else(|| text::t("console"))
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Asset> {
        self.logo.iter().chain(&self.style)
    }
}
