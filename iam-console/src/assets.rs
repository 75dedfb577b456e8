//! The files that pages load. The path of a file contains a hash of it, so that a browser can keep it forever.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use axum::Router;
use axum::http::header;
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

/// A file.
pub(crate) struct Asset {
    content_type: &'static str,
    content: &'static str,
    /// Its path, below that of the console.
    pub(crate) path: String,
}

/// All files.
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
    pub(crate) passkey: Asset,
    pub(crate) import: Asset,
    /// The file with which an import can begin.
    pub(crate) template: Asset,
}

pub(crate) static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    css: asset("console.css", "text/css; charset=utf-8", CSS),
    script: asset("console.js", "text/javascript; charset=utf-8", SCRIPT),
    audit: asset("audit.js", "text/javascript; charset=utf-8", AUDIT),
    tree: asset("tree.js", "text/javascript; charset=utf-8", TREE),
    map: asset("map.js", "text/javascript; charset=utf-8", MAP),
    htmx: asset("htmx.js", "text/javascript; charset=utf-8", HTMX),
    icon: asset("icon.svg", "image/svg+xml", ICON),
    passkey: asset("passkey.js", "text/javascript; charset=utf-8", PASSKEY),
    import: asset("import.js", "text/javascript; charset=utf-8", IMPORT),
    template: asset("users.csv", "text/csv; charset=utf-8", TEMPLATE),
});

fn asset(name: &str, content_type: &'static str, content: &'static str) -> Asset {
    let hash = digest(&SHA256, content.as_bytes());
    let short: Vec<u8> = hash.as_ref().iter().copied().take(12).collect();
    let path = format!("/assets/{}/{name}", URL_SAFE_NO_PAD.encode(short));
    Asset { content_type, content, path }
}

/// Returns the routes of all files.
pub(crate) fn routes() -> Router {
    let Assets { css, script, audit, tree, map, htmx, icon, passkey, import, template } = &*ASSETS;
    [css, script, audit, tree, map, htmx, icon, passkey, import, template].into_iter().fold(
        Router::new(),
        |router, asset| {
            let headers = [
                (header::CONTENT_TYPE, asset.content_type),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            router.route(&asset.path, get(async move || (headers, asset.content)))
        },
    )
}
