//! The address under which a directory writes.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Uri, header};

use crate::settings::{SCIM, Settings};
use crate::state::ApiState;

/// The paths at which the API tells the address to administrators.
const DIRECTORIES: &str = "/directories";

/// The absolute URL under which directories write, as the client of a request reaches it.
pub(crate) struct ScimUrl(pub(crate) String);

impl FromRequestParts<ApiState> for ScimUrl {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Infallible> {
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri);
        let prefix = if state.is_whole { "" } else { prefix(uri.path()) };
        Ok(Self(format!("{}{prefix}{SCIM}", base(parts, uri, &state.settings))))
    }
}

/// Returns the prefix that a host program has given to the router.
fn prefix(path: &str) -> &str {
    let parts = path.rsplit_once(SCIM).or_else(|| path.rsplit_once(DIRECTORIES));
    parts.map_or("", |(prefix, _)| prefix)
}

/// Returns the URL of the whole service: that of the settings, or else that of the host that the client has named.
fn base(parts: &Parts, uri: &Uri, settings: &Settings) -> String {
    if let Some(url) = &settings.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let named = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let host = named.or_else(|| uri.authority().map(Authority::as_str)).unwrap_or("localhost");
    format!("{}://{host}", uri.scheme_str().unwrap_or("http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_of_a_host_is_before_the_path() {
        for (path, expected) in [
            ("/scim/v2/Users/1", ""),
            ("/iam/v1/scim/v2", "/iam/v1"),
            ("/iam/v1/directories/1", "/iam/v1"),
            ("/directories", ""),
            ("/other", ""),
        ] {
            assert_eq!(prefix(path), expected, "{path}");
        }
    }
}
