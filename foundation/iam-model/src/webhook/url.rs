use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use url::{Host, Url};

use crate::validate::Invalid;
use crate::webhook::Reach;

/// The address to which a webhook sends events: `https` or `http`, with a host, without a user, a password or a
/// fragment, at most 2,048 characters.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

const MAX: usize = 2_048;

impl WebhookUrl {
    /// The text, as it was typed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks what the text itself tells about whom it reaches: the scheme, and a host that is an address. A host that
    /// is a name is checked when it is resolved.
    ///
    /// # Errors
    ///
    /// [`Invalid`] when webhooks may not reach it.
    pub fn check(&self, reach: Reach) -> Result<(), Invalid> {
        let url = parse(&self.0)?;
        if reach == Reach::Public && url.scheme() != "https" {
            return Err(Invalid::new("must begin with https://"));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) | None => None,
        };
        if address.is_some_and(|address| !reach.allows(address)) {
            return Err(Invalid::new("must not lead to a private or special address"));
        }
        Ok(())
    }
}

fn parse(text: &str) -> Result<Url, Invalid> {
    let invalid = || Invalid::new("must be an address such as https://example.com/hook");
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

    fn checked(text: &str, reach: Reach) -> Result<(), Invalid> {
        text.parse::<WebhookUrl>()?.check(reach)
    }

    #[test]
    fn an_address_is_printed_as_a_text() {
        let url: WebhookUrl = "https://example.com/hook".parse().unwrap();
        assert_eq!(format!("{url} {url:?}"), "https://example.com/hook \"https://example.com/hook\"");
    }

    #[test]
    fn an_address_is_https_with_a_host_and_nothing_secret() {
        let longest = format!("https://example.com/{}", "a".repeat(MAX - 20));
        for text in ["https://example.com", "https://example.com:8443/a?b=c", "https://bücher.example", &longest] {
            assert_eq!(checked(text, Reach::Public), Ok(()), "{text}");
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
            &too_long,
        ] {
            assert!(checked(text, Reach::Anywhere).is_err(), "{text}");
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
            assert!(checked(text, Reach::Public).is_err(), "{text}");
            assert_eq!(checked(text, Reach::Anywhere), Ok(()), "{text}");
        }
        for text in ["https://1.1.1.1", "https://[2606:4700::1111]", "https://localhost"] {
            assert_eq!(checked(text, Reach::Public), Ok(()), "{text}");
        }
    }
}
