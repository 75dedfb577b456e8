use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Uri, header};

use crate::cookie::CookieKind;

/// The path under which directories write, below the URL of the service.
const SCIM: &str = "/scim/v2";

/// The settings of the console.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The path under which the console is served: `/console` by default. `/` is the root of a host, whose unknown paths
    /// then have a page of the console.
    pub path: String,
    /// The origin under which browsers reach the console, such as `https://iam.example.com`. Without it, the `Host` of
    /// a request is the origin. A proxy that changes this header makes the setting necessary.
    pub origin: Option<String>,
    /// The address that administrators enter where the identity provider of their company writes its people: that of
    /// SCIM 2.0, such as `https://iam.example.com/scim/v2`. Without it, `/scim/v2` follows the
    /// [public URL](iam_axum::Settings::public_url) of the API, or else the origin. A host program that has given the
    /// API a prefix must set it, because the address has the same prefix.
    pub scim_url: Option<String>,
    /// The settings of the HTTP API, whose limits, conventions and [brand](iam_axum::Settings::brand) also hold for the
    /// console.
    pub api: iam_axum::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self { path: "/console".to_owned(), origin: None, scim_url: None, api: iam_axum::Settings::default() }
    }
}

impl Settings {
    /// Returns the path without a slash at its end, so that paths can follow: empty at the root.
    pub(crate) fn base(&self) -> String {
        match self.path.trim_matches('/') {
            "" => String::new(),
            path => format!("/{path}"),
        }
    }

    /// Returns the kind of the cookie of a browser that sends a request. Not every browser stores a cookie with the
    /// attribute `Secure` for a page that was loaded from the same machine without TLS.
    pub(crate) fn cookie(&self, parts: &Parts) -> CookieKind {
        let authority = match &self.origin {
            Some(origin) => authority_of(origin),
            None => host(parts).map(str::to_owned),
        };
        let has_tls = self.origin.as_ref().is_some_and(|origin| origin.starts_with("https:"));
        let port = authority.as_ref().and_then(|authority| authority.parse::<Authority>().ok()?.port_u16());
        CookieKind { is_secure: has_tls || !authority.as_deref().is_some_and(is_loopback), port }
    }

    /// Returns the address to which a person comes back from an identity provider. `None` if the request names no
    /// host.
    pub(crate) fn provider_callback(&self, parts: &Parts) -> Option<String> {
        Some(format!("{}{}/sign-in/provider", self.own_origin(parts)?, self.base()))
    }

    /// Returns the address under which directories write. `None` if no setting names it, and the request no host.
    pub(crate) fn scim_url(&self, parts: &Parts) -> Option<String> {
        if let Some(url) = &self.scim_url {
            return Some(url.trim_end_matches('/').to_owned());
        }
        let base = match &self.api.public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => self.own_origin(parts)?,
        };
        Some(format!("{base}{SCIM}"))
    }

    fn own_origin(&self, parts: &Parts) -> Option<String> {
        match &self.origin {
            Some(own) => Some(own.trim_end_matches('/').to_owned()),
            None => Some(format!("http://{}", host(parts)?)),
        }
    }

    /// Whether a browser reaches the console under this origin.
    pub(crate) fn is_own_origin(&self, origin: &str, parts: &Parts) -> bool {
        match &self.origin {
            Some(own) => own.trim_end_matches('/').eq_ignore_ascii_case(origin),
            None => authority_of(origin)
                .zip(host(parts))
                .is_some_and(|(authority, host)| authority.eq_ignore_ascii_case(host)),
        }
    }
}

fn authority_of(origin: &str) -> Option<String> {
    let uri: Uri = origin.parse().ok()?;
    Some(uri.authority()?.as_str().to_owned())
}

/// Returns the host and port that the browser has named.
fn host(parts: &Parts) -> Option<&str> {
    let header = parts.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    header.or_else(|| parts.uri.authority().map(Authority::as_str))
}

fn is_loopback(authority: &str) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn parts(host: &str) -> Parts {
        Request::builder().header(header::HOST, host).body(()).unwrap().into_parts().0
    }

    #[test]
    fn only_a_loopback_host_gets_a_cookie_without_secure() {
        let settings = Settings::default();
        for host in ["localhost", "localhost:8080", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "[::1]", "LOCALHOST"] {
            assert!(!settings.cookie(&parts(host)).is_secure, "{host}");
        }
        for host in ["iam.example.com", "localhost.example.com:80", "10.0.0.1:8080", "[2001:db8::1]:80", ""] {
            assert!(settings.cookie(&parts(host)).is_secure, "{host}");
        }
    }

    #[test]
    fn servers_on_two_ports_of_a_host_have_two_cookies() {
        let settings = Settings::default();
        let port = |host: &str| settings.cookie(&parts(host)).port;
        assert_eq!(["localhost:8080", "[::1]:8081", "iam.example.com"].map(port), [Some(8080), Some(8081), None]);
    }

    #[test]
    fn a_path_needs_no_slash_at_its_ends() {
        for (path, base) in [("/", ""), ("", ""), ("/console", "/console"), ("/a/b/", "/a/b"), ("console", "/console")]
        {
            assert_eq!(Settings { path: path.into(), ..Settings::default() }.base(), base, "{path}");
        }
    }

    #[test]
    fn a_provider_leads_back_to_the_origin_of_the_console() {
        let settings = Settings::default();
        let callback = settings.provider_callback(&parts("127.0.0.1:8080"));
        assert_eq!(callback.as_deref(), Some("http://127.0.0.1:8080/console/sign-in/provider"));
        let origin = Some("https://iam.example.com/".to_owned());
        let settings = Settings { origin, path: "/".into(), ..Settings::default() };
        let callback = settings.provider_callback(&parts("127.0.0.1:8080"));
        assert_eq!(callback.as_deref(), Some("https://iam.example.com/sign-in/provider"));
        let nameless = Request::builder().body(()).unwrap().into_parts().0;
        assert_eq!(Settings::default().provider_callback(&nameless), None);
    }

    #[test]
    fn the_address_of_directories_is_that_of_the_settings_or_of_the_service() {
        let address = |settings: &Settings| settings.scim_url(&parts("127.0.0.1:8080")).unwrap();
        let settings = Settings::default();
        assert_eq!(address(&settings), "http://127.0.0.1:8080/scim/v2");
        let settings = Settings { origin: Some("https://iam.example.com/".into()), ..settings };
        assert_eq!(address(&settings), "https://iam.example.com/scim/v2");
        let mut settings = settings;
        settings.api.public_url = Some("https://iam.example.com/base/".into());
        assert_eq!(address(&settings), "https://iam.example.com/base/scim/v2");
        let settings = Settings { scim_url: Some("https://shop.example/iam/v1/scim/v2/".into()), ..settings };
        assert_eq!(address(&settings), "https://shop.example/iam/v1/scim/v2");
        let nameless = Request::builder().body(()).unwrap().into_parts().0;
        assert_eq!(Settings::default().scim_url(&nameless), None);
    }

    #[test]
    fn behind_a_proxy_the_setting_decides() {
        let settings = Settings { origin: Some("https://iam.example.com".into()), ..Settings::default() };
        let proxied = parts("127.0.0.1:8080");
        assert_eq!(settings.cookie(&proxied), CookieKind { is_secure: true, port: None });
        assert!(settings.is_own_origin("https://iam.example.com", &proxied));
        assert!(!settings.is_own_origin("http://127.0.0.1:8080", &proxied));
    }

    #[test]
    fn an_origin_is_compared_with_the_host_and_the_port() {
        let settings = Settings::default();
        assert!(settings.is_own_origin("http://localhost:8080", &parts("localhost:8080")));
        for foreign in ["http://localhost:8081", "https://evil.example", "null", "", "localhost:8080/"] {
            assert!(!settings.is_own_origin(foreign, &parts("localhost:8080")), "{foreign}");
        }
    }
}
