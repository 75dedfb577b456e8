//! The relying party of passkeys.

use std::net::SocketAddr;

use iam_core::factor::webauthn::RelyingParty;
use url::Url;

use crate::failure::Failure;
use crate::settings::Settings;

/// Returns the relying party. `None` if no browser would accept passkeys at the address under which users reach this
/// server. Its id is the host of that address, and its pages have the origins of the settings.
pub(crate) fn relying_party(settings: &Settings, address: SocketAddr) -> Result<Option<RelyingParty>, Failure> {
    let scheme = if settings.tls.is_some() { "https" } else { "http" };
    // Browsers accept no passkeys for an IP address.
    let local = if address.ip().is_loopback() { format!("localhost:{}", address.port()) } else { address.to_string() };
    let base = settings.public_url.clone().unwrap_or_else(|| format!("{scheme}://{local}"));
    let base = Url::parse(&base).map_err(|error| Failure::new("public_url", &error))?;
    let id = base.host_str().unwrap_or_default().to_owned();
    let origins = match &settings.webauthn_origins {
        Some(origins) => origins.clone(),
        None => vec![base.origin().ascii_serialization()],
    };
    match RelyingParty::new(id, settings.iam.issuer.clone(), origins) {
        Ok(relying_party) => Ok(Some(relying_party)),
        Err(error) if settings.webauthn_origins.is_some() => Err(Failure::new("webauthn_origins", &error)),
        Err(error) => {
            tracing::info!("passkeys are off: {error}");
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::from_toml;

    fn of(settings: &str, address: &str) -> Result<Option<RelyingParty>, String> {
        relying_party(&from_toml(settings).unwrap(), address.parse().unwrap()).map_err(|failure| failure.to_string())
    }

    fn expected(id: &str, origins: &[&str]) -> Option<RelyingParty> {
        Some(RelyingParty::new(id, "iam", origins.iter().copied()).unwrap())
    }

    #[test]
    fn the_id_and_the_origins_come_from_the_address_of_the_server() {
        let local = "127.0.0.1:8080";
        assert_eq!(of("", local), Ok(expected("localhost", &["http://localhost:8080"])));
        assert_eq!(of("", "[::1]:8080"), Ok(expected("localhost", &["http://localhost:8080"])));
        let public = "public_url = 'https://iam.example.com/base'";
        assert_eq!(of(public, local), Ok(expected("iam.example.com", &["https://iam.example.com"])));
        let public =
            "public_url = 'https://example.com'\nwebauthn_origins = 'https://app.example.com, https://example.com'";
        assert_eq!(of(public, local), Ok(expected("example.com", &["https://app.example.com", "https://example.com"])));
    }

    #[test]
    fn passkeys_are_off_where_no_browser_accepts_them() {
        for address in ["192.0.2.1:8080", "0.0.0.0:8080", "[::]:8080", "[2001:db8::1]:8080"] {
            assert_eq!(of("", address), Ok(None), "{address}");
        }
        assert_eq!(of("public_url = 'http://iam.example.com'", "127.0.0.1:8080"), Ok(None));
    }

    #[test]
    fn origins_that_do_not_fit_are_refused_by_name() {
        for origins in ["https://example.org", "http://iam.example.com", "iam.example.com"] {
            let settings = format!("public_url = 'https://iam.example.com'\nwebauthn_origins = '{origins}'");
            let refused = of(&settings, "127.0.0.1:8080").unwrap_err();
            assert!(refused.starts_with("webauthn_origins"), "{refused}");
        }
    }
}
