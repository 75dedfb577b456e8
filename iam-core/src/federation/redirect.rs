//! The addresses of clients to which a login may end.

use std::net::IpAddr;

use url::{Host, Url};

use crate::federation::Federation;

impl Federation<'_> {
    /// Whether a login may end at this address: federation is on, and the address is one of
    /// [`Settings::federation_redirects`](crate::Settings::federation_redirects). A client that does not know its own
    /// address beforehand asks this before it offers a login by a provider.
    #[must_use]
    pub fn allows_redirect(&self, address: &str) -> bool {
        self.0.federation.is_some() && is_allowed(address, &self.0.settings.federation_redirects)
    }
}

/// Whether an address is one of those that the operator allows: to the letter, but for the port of a loopback address
/// that is listed without one (RFC 8252, section 7.3).
pub(super) fn is_allowed(address: &str, allowed: &[String]) -> bool {
    allowed.iter().any(|allowed| allowed == address || without_port(address).is_some_and(|address| address == *allowed))
}

/// Returns a loopback address without its port. `None` for every other address.
fn without_port(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let is_loopback = match url.host()? {
        Host::Ipv4(address) => IpAddr::V4(address).is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(address).is_loopback(),
        Host::Domain(_) => false,
    };
    let port = format!(":{}", url.port().filter(|_| is_loopback)?);
    let (scheme, rest) = address.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    Some(format!("{scheme}://{}{path}", authority.strip_suffix(&port)?))
}

/// Returns an address with one more parameter in its query.
pub(super) fn with_parameter(address: &str, name: &str, value: &str) -> String {
    let separator = if address.contains('?') { '&' } else { '?' };
    let value: String = url::form_urlencoded::byte_serialize(value.as_bytes()).collect();
    format!("{address}{separator}{name}={value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_allowed_to_the_letter_or_with_any_port_of_a_loopback_address() {
        let allowed =
            ["https://app.example/cb", "http://127.0.0.1/cb", "http://[::1]/cb?a=b", "http://127.0.0.1:8000/x"]
                .map(str::to_owned);
        for address in [
            "https://app.example/cb",
            "http://127.0.0.1/cb",
            "http://127.0.0.1:50123/cb",
            "http://[::1]:50123/cb?a=b",
            "http://127.0.0.1:8000/x",
        ] {
            assert!(is_allowed(address, &allowed), "{address}");
        }
        for address in [
            "",
            "https://app.example/cb/",
            "https://app.example:443/cb",
            "https://app.example/cb?a=b",
            "https://APP.example/cb",
            "https://app.example.evil.example/cb",
            "https://127.0.0.1:50123/cb",
            "http://127.0.0.1:50123/other",
            "http://127.0.0.2:50123/cb",
            "http://localhost:50123/cb",
            "http://user@127.0.0.1:50123/cb",
            "http://127.0.0.1:50123@evil.example/cb",
            "http://127.0.0.1:9000/x",
            "http://[::1]:50123/cb",
        ] {
            assert!(!is_allowed(address, &allowed), "{address}");
        }
    }

    #[test]
    fn a_parameter_is_added_to_the_query() {
        assert_eq!(with_parameter("https://a.example/cb", "code", "a b&c"), "https://a.example/cb?code=a+b%26c");
        assert_eq!(
            with_parameter("https://a.example/cb?x=y", "error", "denied"),
            "https://a.example/cb?x=y&error=denied"
        );
    }
}
