//! The files that pages load. The path of a file contains a hash of it, so that a browser can keep it forever.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::response::AppendHeaders;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const CSS: &str = include_str!("../assets/console.css");
const SCRIPT: &str = include_str!("../assets/console.js");
const AUDIT: &str = include_str!("../assets/audit.js");
const TREE: &str = include_str!("../assets/tree.js");
const MAP: &str = include_str!("../assets/map.js");
const PASSKEY: &str = include_str!("../assets/passkey.js");
const IMPORT: &str = include_str!("../assets/import.js");
/// The columns of an import, for people who begin with an empty file.
const TEMPLATE: &str = "\u{feff}email,firstName,lastName\r\n";
/// htmx 2.0.11, unchanged, from the package `htmx.org`; `assets/htmx-LICENSE` is its licence.
const HTMX: &str = include_str!("../assets/htmx.js");
const ICON: &str = include_str!("../assets/icon.svg");
/// Icons of lucide-static 1.62.0; `assets/lucide-LICENSE` is its licence.
const ICONS: &str = include_str!("../assets/icons.svg");

const STYLE: &str = "text/css; charset=utf-8";
const MODULE: &str = "text/javascript; charset=utf-8";

/// A file.
#[derive(Debug)]
pub(crate) struct Asset {
    content_type: &'static str,
    content: Bytes,
    /// The Content Security Policy, if it is not that of the console.
    policy: Option<&'static str>,
    /// Its path, below that of the console.
    pub(crate) path: String,
}

/// All files of the console itself.
pub(crate) struct Assets {
    pub(crate) css: Asset,
    pub(crate) script: Asset,
    /// The script of the audit log.
    pub(crate) audit: Asset,
    /// The script of the organization tree.
    pub(crate) tree: Asset,
    /// The script of the map of organizations.
    pub(crate) map: Asset,
    pub(crate) htmx: Asset,
    pub(crate) icon: Asset,
    /// The icons of the pages, in one file.
    pub(crate) icons: Asset,
    pub(crate) passkey: Asset,
    pub(crate) import: Asset,
    /// The file with which an import can begin.
    pub(crate) template: Asset,
}

pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    css: own("console.css", STYLE, CSS),
    script: own("console.js", MODULE, SCRIPT),
    audit: own("audit.js", MODULE, AUDIT),
    tree: own("tree.js", MODULE, TREE),
    map: own("map.js", MODULE, MAP),
    htmx: own("htmx.js", MODULE, HTMX),
    icon: own("icon.svg", "image/svg+xml", ICON),
    icons: own("icons.svg", "image/svg+xml", ICONS),
    passkey: own("passkey.js", MODULE, PASSKEY),
    import: own("import.js", MODULE, IMPORT),
    template: own("users.csv", "text/csv; charset=utf-8", TEMPLATE),
});

fn own(name: &str, content_type: &'static str, content: &'static str) -> Asset {
    Asset::new(name, content_type, Bytes::from_static(content.as_bytes()))
}

impl Asset {
    fn new(name: &str, content_type: &'static str, content: Bytes) -> Self {
        let hash = digest(&SHA256, &content);
        let short: Vec<u8> = hash.as_ref().iter().copied().take(12).collect();
        let path = format!("/assets/{}/{name}", URL_SAFE_NO_PAD.encode(short));
        Self { content_type, content, policy: None, path }
    }

    /// Returns a style that the settings make.
    pub(crate) fn style(name: &str, content: String) -> Self {
        Self::new(name, STYLE, content.into())
    }

    /// Returns a file of the operator, with a policy of its own.
    pub(crate) fn foreign(name: &str, content_type: &'static str, content: &[u8], policy: &'static str) -> Self {
        Self { policy: Some(policy), ..Self::new(name, content_type, Bytes::copy_from_slice(content)) }
    }

    fn route(&self, router: Router) -> Router {
        let headers =
            [(header::CONTENT_TYPE, self.content_type), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
        let policy = self.policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy));
        let content = self.content.clone();
        router.route(&self.path, get(async move || (headers, AppendHeaders(policy), content)))
    }
}

/// Returns the routes of all files: those of the console, and these others.
pub(crate) fn routes<'a>(others: impl Iterator<Item = &'a Asset>) -> Router {
    let Assets { css, script, audit, tree, map, htmx, icon, icons, passkey, import, template } = &*ASSETS;
    let own = [css, script, audit, tree, map, htmx, icon, icons, passkey, import, template];
    own.into_iter().chain(others).fold(Router::new(), |router, asset| asset.route(router))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use iam_core::brand::Colour;

    use super::*;

    /// Returns the values of a custom property in light and in dark.
    fn colours(name: &str) -> [Colour; 2] {
        let (_, value) = CSS.split_once(&format!("\n  --{name}: light-dark(")).unwrap_or_else(|| panic!("no --{name}"));
        let (value, _) = value.split_once(')').unwrap();
        let (light, dark) = value.split_once(", ").unwrap();
        [light, dark].map(|text| text.parse().unwrap_or_else(|_| panic!("--{name}: {text}")))
    }

    #[test]
    fn texts_can_be_read_in_light_and_in_dark() {
        let on_pages = ["text", "quiet", "accent", "danger", "good", "warn"].map(|name| (name, ["page", "surface"]));
        let on_pages = on_pages.into_iter().flat_map(|(text, backs)| backs.map(|back| (text, back)));
        let badges = [("good", "good-back"), ("warn", "warn-back"), ("danger", "danger-back"), ("quiet", "quiet-back")];
        let others = [("text", "mark"), ("on-button", "button"), ("on-danger", "danger-button")];
        for (text, back) in on_pages.chain(badges).chain(others) {
            for (text_colour, back_colour) in colours(text).into_iter().zip(colours(back)) {
                let contrast = text_colour.contrast(back_colour);
                assert!(contrast >= 450, "{text} {text_colour} on {back} {back_colour}: {contrast}");
            }
        }
    }

    /// The check of the accent colour of a brand is about these backgrounds.
    #[test]
    fn the_pages_have_the_colours_against_which_a_brand_is_checked() {
        let shown = |name: &str| colours(name).map(|colour| colour.to_string());
        assert_eq!(shown("page"), ["#f8fafc", "#0f172a"]);
        assert_eq!(shown("surface"), ["#ffffff", "#1e293b"]);
    }

    #[test]
    fn every_icon_that_a_template_shows_is_there_and_no_other() {
        fn names<'a>(text: &'a str, before: &str) -> BTreeSet<&'a str> {
            text.split(before).skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect()
        }
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let files = std::fs::read_dir(directory).unwrap();
        let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let shown: BTreeSet<&str> = texts.iter().flat_map(|text| names(text, ".svg(\"")).collect();
        assert_eq!(shown, names(ICONS, "<symbol id=\""));
    }
}
