use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

use crate::validate::Invalid;
use crate::webhook::AddressPolicy;

/// The address to which a webhook sends events: `https` or `http`, with a host, without a user, a password or a
/// fragment, at most 2,048 characters.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

const MAX: usize = 2_048;

fn invalid() -> Invalid {
    Invalid::new("must be an address such as https://example.com/hook")
}

impl WebhookUrl {
    /// The text, as it was typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks the text itself: the form, the scheme, and a host that is an address. A host that is a name is checked
    /// when it is resolved.
    ///
    /// # Errors
    ///
    /// [`Invalid`] when webhooks may not reach it.
    pub fn check(&self, policy: AddressPolicy) -> Result<(), Invalid> {
        let url = parse(&self.0)?;
        // The parser adds missing slashes, removes extra ones and reads a backslash as a slash, so the host would not be
        // the one that a person reads.
        let (scheme, rest) = self.0.split_once("://").unwrap_or_default();
        let is_plain = scheme.eq_ignore_ascii_case(url.scheme()) && !rest.starts_with('/') && !rest.contains('\\');
        if !is_plain || url.port() == Some(0) {
            return Err(invalid());
        }
        if policy == AddressPolicy::Public && url.scheme() != "https" {
            return Err(Invalid::new("must begin with https://"));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        if address.is_some_and(|address| !policy.allows(address)) {
            return Err(Invalid::new("must not lead to a private or special address"));
        }
        Ok(())
    }
}

fn parse(text: &str) -> Result<Url, Invalid> {
    if text.chars().count() > MAX {
        return Err(Invalid::new(format!("must be at most {MAX} characters")));
    }
    // The parser removes these, so the address would not be the one that is shown.
    if text.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return Err(invalid());
    }
    let url = Url::parse(text).map_err(|_| invalid())?;
    if !matches!(url.scheme(), "https" | "http") || !url.has_host() {
        return Err(invalid());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Invalid::new("must not contain a user or a password"));
    }
    if url.fragment().is_some() {
        return Err(Invalid::new("must not contain a fragment"));
    }
    Ok(url)
}

serde_by_text! { WebhookUrl }

impl FromStr for WebhookUrl {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse(text).map(|_| Self(text.to_owned()))
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str, policy: AddressPolicy) -> Result<(), Invalid> {
        text.parse::<WebhookUrl>()?.check(policy)
    }

    #[test]
    fn an_address_is_printed_as_a_text() {
        let url: WebhookUrl = "https://example.com/hook".parse().unwrap();
        assert_eq!(format!("{url} {url:?}"), "https://example.com/hook \"https://example.com/hook\"");
    }

    #[test]
    fn an_address_is_https_with_a_host_and_nothing_secret() {
        let longest = format!("https://example.com/{}", "a".repeat(MAX - 20));
        for text in [
            "https://example.com",
            "HTTPS://example.com",
            "https://example.com:8443/a?b=c",
            "https://bücher.example",
            &longest,
        ] {
            assert_eq!(checked(text, AddressPolicy::Public), Ok(()), "{text}");
            assert_eq!(text.parse::<WebhookUrl>().unwrap().to_string(), text);
        }
        let too_long = format!("{longest}a");
        for text in [
            "",
            "example.com",
            "/hook",
            "https://",
            "ftp://example.com",
            "file:///etc/passwd",
            "https://user@example.com",
            "https://:secret@example.com",
            "https://example.com/#part",
            "https://exa\nmple.com",
            " https://example.com",
            "javascript:alert(1)",
            "https://example.com/a b",
            "https:example.com",
            "https:/example.com",
            "https:///example.com",
            "https://example.com\\@127.0.0.1/",
            "https://example.com:0/",
            &too_long,
        ] {
            assert!(checked(text, AddressPolicy::Anywhere).is_err(), "{text}");
        }
    }

    #[test]
    fn an_address_that_is_not_public_is_refused_however_it_is_written() {
        for text in [
            "http://example.com",
            "https://127.0.0.1",
            "https://127.1",
            "https://2130706433",
            "https://0x7f.1",
            "https://017700000001",
            "https://169.254.169.254/latest",
            "https://[::1]",
            "https://[::ffff:10.0.0.1]",
            "https://[64:ff9b::a00:1]",
            "https://①②⑦.⓪.⓪.①",
            "https://%31%32%37.0.0.1",
            "https://10.0.0.1.",
        ] {
            assert!(checked(text, AddressPolicy::Public).is_err(), "{text}");
            assert_eq!(checked(text, AddressPolicy::Anywhere), Ok(()), "{text}");
        }
        for text in ["https://1.1.1.1", "https://[2606:4700::1111]", "https://localhost"] {
            assert_eq!(checked(text, AddressPolicy::Public), Ok(()), "{text}");
        }
    }
}
