//! The rules of domains.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use crate::text::{has_no_appearance, is_joiner};
use crate::validate::Invalid;

/// The maximum length of a domain, in characters: the name of its challenge is 15 characters longer, and a name of the
/// DNS has at most 253 (RFC 1035 §2.3.4).
const MAX_DOMAIN: usize = 238;

pub(super) fn parse(text: &str) -> Result<String, Invalid> {
    let domain = for_network(text.trim()).filter(|domain| domain.len() <= MAX_DOMAIN);
    domain.ok_or_else(|| {
        Invalid::new(format!(
            "must be a domain of two labels or more, such as example.com, at most {MAX_DOMAIN} characters"
        ))
    })
}

/// Returns a domain in the form for the network (A-labels). `None` if it is no domain of the Internet.
pub(super) fn for_network(domain: &str) -> Option<String> {
    if domain.chars().any(|character| has_no_appearance(character) && !is_joiner(character)) {
        return None;
    }
    let ascii =
        Uts46::new().to_ascii(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify);
    let ascii = ascii.ok()?.into_owned();
    // An address of the network, such as 192.0.2.1, ends in a number.
    let (_, last) = ascii.rsplit_once('.')?;
    (!last.bytes().all(|byte| byte.is_ascii_digit())).then_some(ascii)
}

#[cfg(test)]
mod tests {
    use crate::validate::DomainName;

    #[test]
    fn a_domain_is_kept_in_the_form_for_the_network() {
        let longest = format!("{}.example", ["a".repeat(57), "b".repeat(57), "c".repeat(57), "d".repeat(56)].join("."));
        for (typed, kept) in [
            ("example.com", "example.com"),
            (" Example.COM ", "example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("ｅxample。com", "example.com"),
            ("a.b.c.example", "a.b.c.example"),
            (&longest, &longest),
        ] {
            assert_eq!(typed.parse::<DomainName>().map(String::from), Ok(kept.to_owned()), "{typed}");
        }
        let too_long = format!("a{longest}");
        for bad in [
            "",
            "example",
            "example.com.",
            ".example.com",
            "a..example",
            "-a.example",
            "a_b.example",
            "192.0.2.1",
            "[2001:db8::1]",
            "example.com:443",
            "https://example.com",
            "ada@example.com",
            "a b.example",
            "*.example.com",
            "exa\u{200b}mple.com",
            "xn--a.example",
            &format!("{}.example", "a".repeat(64)),
            &too_long,
        ] {
            assert!(bad.parse::<DomainName>().is_err(), "{bad}");
        }
    }
}
