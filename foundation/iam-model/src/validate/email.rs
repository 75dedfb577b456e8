//! The rules of e-mail addresses, and the key of an address.

use crate::text::{composed, folded, has_no_appearance, is_joiner, is_letter, is_mark};
use crate::validate::domain;
use crate::validate::{DomainName, Email, Invalid};

impl Email {
    /// Returns the form of the address that all its spellings have in common. Uniqueness, lookups, lockouts, limits of
    /// mail and searches use it.
    ///
    /// The local part is [`folded`]. Of the forms of the domain, which are equivalent, it has the readable one, so that
    /// a search finds it.
    #[must_use]
    pub fn key(&self) -> EmailKey {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((&self.0, ""));
        EmailKey(format!("{}@{}", folded(local), readable(domain)))
    }

    /// Whether two addresses with the same [`key`](Self::key) surely lead to the same mailbox: their local parts differ in
    /// case only. A mail server may have two mailboxes for other spellings with one key, such as `ﬁ` and `fi`.
    #[must_use]
    pub fn is_same_mailbox(&self, other: &Self) -> bool {
        let local = |email: &Self| email.0.rsplit_once('@').map(|(local, _)| local.to_lowercase());
        self.key() == other.key() && local(self) == local(other)
    }

    /// Returns the domain. `None` for an address that only an earlier release accepted.
    #[must_use]
    pub fn domain(&self) -> Option<DomainName> {
        self.0.rsplit_once('@').and_then(|(_, domain)| domain.parse().ok())
    }

    /// Returns an address by which a request looks for an account. It may be one that an earlier release has accepted,
    /// and that [`FromStr`](std::str::FromStr) refuses for new accounts: its owner must be able to log in.
    ///
    /// # Errors
    ///
    /// [`Invalid`] for a text that no release has accepted.
    pub fn for_lookup(text: &str) -> Result<Self, Invalid> {
        let parts = text.rsplit_once('@').filter(|(local, domain)| !local.is_empty() && !domain.is_empty());
        let is_bounded =
            text.chars().count() <= MAX_EMAIL && parts.is_some_and(|(local, _)| local.len() <= MAX_LOCAL_PART);
        let email = Self(if is_bounded { composed(text) } else { String::new() });
        // A key can be longer than its address, and longer than what a database keeps in an index.
        if !is_bounded || text.chars().any(char::is_control) || email.key().as_str().len() > MAX_KEY {
            return Err(Invalid::new("must be a valid e-mail address"));
        }
        Ok(email)
    }
}

/// The [key](Email::key) of an address. Accounts are found by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmailKey(String);

impl EmailKey {
    /// Returns a key that a store has kept.
    #[must_use]
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns a domain with its labels in their readable form (U-labels). An invalid one, which only an earlier release
/// accepted, is in lower case.
fn readable(domain: &str) -> String {
    match idna::domain_to_unicode(domain) {
        (readable, Ok(())) => readable,
        (_, Err(_)) => domain.to_lowercase(),
    }
}

const MAX_EMAIL: usize = 254;

/// In bytes: more than the key of any address that is accepted.
const MAX_KEY: usize = 1_500;

/// RFC 5321 §4.5.3.1.1.
const MAX_LOCAL_PART: usize = 64;

pub(super) fn parse(text: &str) -> Result<String, Invalid> {
    let too_long = || Invalid::new(format!("must be at most {MAX_EMAIL} characters"));
    let invalid = || Invalid::new("must be a valid e-mail address");
    let text = composed(text);
    if text.chars().count() > MAX_EMAIL {
        return Err(too_long());
    }
    let (local, domain) = text.rsplit_once('@').ok_or_else(invalid)?;
    let domain = domain::for_network(domain).ok_or_else(invalid)?;
    // The key is such a local part, too: no character becomes an `@` or a blank.
    if local.len() > MAX_LOCAL_PART || !is_dot_atom(local) || !is_dot_atom(&folded(local)) {
        return Err(invalid());
    }
    if local.len() + "@".len() + domain.len() > MAX_EMAIL {
        return Err(too_long());
    }
    Ok(text)
}

/// Whether a text is a dot-atom. Of the characters beyond ASCII, it may have letters and numbers with their marks. A
/// joiner may stand between characters of a word, where some scripts need it.
fn is_dot_atom(text: &str) -> bool {
    text.split('.').all(|atom| {
        let mut before = None;
        let is_atom = atom.chars().all(|character| {
            let previous = before.replace(character);
            match character {
                _ if character.is_ascii() => character.is_ascii_alphanumeric() || SIGNS.contains(character),
                _ if is_joiner(character) => previous.is_some_and(|previous| is_letter(previous) || is_mark(previous)),
                _ if is_mark(character) => previous.is_some() && !has_no_appearance(character),
                _ => character.is_alphanumeric() && !has_no_appearance(character),
            }
        });
        is_atom && before.is_some_and(|last| !is_joiner(last))
    })
}

/// The signs that an atom may have (RFC 5322 §3.2.3).
const SIGNS: &str = "!#$%&'*+-/=?^_`{|}~";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::validate::StoredText as _;

    #[test]
    fn a_mailbox_has_one_spelling_but_for_case_and_the_form_of_the_domain() {
        let email = |text: &str| text.parse::<Email>().unwrap();
        for (one, other, is_same) in [
            ("fi@example.com", "FI@EXAMPLE.com", true),
            ("fi@ex\u{e4}mple.de", "fi@xn--exmple-cua.de", true),
            ("fi@example.com", "\u{fb01}@example.com", false),
            ("stra\u{df}e@example.com", "strasse@example.com", false),
            ("fi@example.com", "fi@example.org", false),
        ] {
            assert_eq!(email(one).is_same_mailbox(&email(other)), is_same, "{one} {other}");
        }
        assert_eq!(email("fi@example.com").key(), email("\u{fb01}@example.com").key());
    }

    #[test]
    fn an_email_has_a_dot_atom_and_a_domain() {
        let label = "a".repeat(63);
        let longest = format!("{}@{label}.{label}.{}.de", "a".repeat(64), "a".repeat(58));
        assert_eq!(longest.len(), MAX_EMAIL);
        for good in [
            "ada@example.com",
            "Ada.Lovelace+iam@mail.example.co",
            "!#$%&'*+-/=?^_`{|}~@example.com",
            "ünïcode@exämple.de",
            "u\u{308}n@exa\u{308}mple.de",
            "νίκος@example.gr",
            "राम@example.in",
            "हिन्दी.ராமன்@उदाहरण.भारत",
            "क्\u{200d}ष@example.in",
            "می\u{200c}خواهم@example.ir",
            "用户@例子。公司",
            "ada@xn--exmple-cua.de",
            "ada@XN--EXMPLE-CUA.DE",
            "ada@a--b.example",
            "ada@1.2.example",
            &longest,
        ] {
            assert!(good.parse::<Email>().is_ok(), "{good}");
        }
        let decoded_is_longer = format!("{}@{}.de", "a".repeat(64), ["ä".repeat(40).as_str(); 4].join("."));
        for bad in [
            "",
            "ada",
            "ada@",
            "@example.com",
            "ada@localhost",
            "a b@example.com",
            "Ada <ada@example.com>",
            "ada@example.com\n",
            "\"ada\"@example.com",
            "\"a b\"@example.com",
            "\"a@b\"@example.com",
            "a\\b@example.com",
            "ada(comment)@example.com",
            ".ada@example.com",
            "ada.@example.com",
            "a..da@example.com",
            "a@b@example.com",
            "ada@[127.0.0.1]",
            "ada@[IPv6:::1]",
            "ada@1.2.3.4",
            "ada@１.２.３.４",
            "ada@example.123",
            "ada@example..com",
            "ada@.example.com",
            "ada@example.com.",
            "ada@-example.com",
            "ada@example-.com",
            "ada@exa_mple.com",
            "ada@xn--a.example",
            "ada@xn--ada-.example",
            "ada@exam ple.com",
            "ada＠example.com@example.com",
            "\u{301}ada@example.com",
            "ada\u{a0}@example.com",
            "ada\u{202e}@example.com",
            "ada\u{200b}@example.com",
            "ada\u{ad}@example.com",
            "ada\u{200d}@example.com",
            "\u{200d}ada@example.com",
            "ada\u{fe0f}@example.com",
            "ada\u{3164}@example.com",
            "ada@exa\u{ad}mple.com",
            "ada@exa\u{200b}mple.com",
            "\u{e000}@example.com",
            "🦀@example.com",
            "a\u{2024}b@example.com",
            "\u{2100}@example.com",
            "col\u{b7}lega@example.com",
            "\u{3300}@example.com",
            "\u{fdfa}@example.com",
            &format!("{longest}a"),
            &decoded_is_longer,
            &format!("{}@example.com", "a".repeat(65)),
        ] {
            assert!(bad.parse::<Email>().is_err(), "{bad:?}");
        }
    }

    fn key(email: &str) -> String {
        email.parse::<Email>().unwrap().key().0
    }

    #[test]
    fn an_address_of_an_earlier_release_can_be_looked_for() {
        for text in ["\"q q\"@sole.com", "x@10.0.0.1", "admin@sole_x.com", "ada@example.com"] {
            assert_eq!(Email::for_lookup(text).unwrap().key(), Email::stored(text.to_owned()).key(), "{text}");
        }
        let long = format!("{}@example.com", "\u{fdfa}".repeat(22));
        for text in ["", "ada", "@example.com", "ada@", "ada\n@example.com", &long] {
            assert!(Email::for_lookup(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_email_keeps_the_case_in_which_it_was_typed_and_is_composed() {
        let email: Email = "Ada@Example.COM".parse().unwrap();
        assert_eq!((email.as_str(), email.key().as_str()), ("Ada@Example.COM", "ada@example.com"));
        let email: Email = "U\u{308}@Exa\u{308}mple.de".parse().unwrap();
        assert_eq!((email.as_str(), email.key().as_str()), ("Ü@Exämple.de", "ü@exämple.de"));
    }

    #[test]
    fn the_spellings_of_an_address_have_one_key() {
        for (one, other) in [
            ("νικοσ@example.com", "ΝΙΚΟΣ@example.com"),
            ("νικος@example.com", "ΝΙΚΟΣ@example.com"),
            ("ada@exämple.de", "ada@xn--exmple-cua.de"),
            ("ada@EXA\u{308}MPLE.DE", "ada@xn--exmple-cua.de"),
            ("weiß@example.com", "WEISS@example.com"),
            ("\u{212a}elvin@example.com", "kelvin@example.com"),
            ("ａｄａ@example.com", "ada@example.com"),
            ("é@example.com", "e\u{301}@example.com"),
            ("ﬁn@example.com", "FIN@example.com"),
            ("क्\u{200d}ष@example.in", "क्ष@example.in"),
            ("ada@例子。公司", "ada@例子.公司"),
        ] {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
        for (one, other) in [
            ("ada@straße.de", "ada@strasse.de"),
            ("ada@νίκος.gr", "ada@νίκοσ.gr"),
            ("é@example.com", "e@example.com"),
            ("a.da@example.com", "ada@example.com"),
        ] {
            assert_ne!(key(one), key(other), "{one} {other}");
        }
    }

    #[test]
    fn an_address_that_an_earlier_release_accepted_is_read_and_has_a_key() {
        for (old, key) in [("\"A b\"@Example.com", "\"a b\"@example.com"), ("x@1.2.3.4", "x@1.2.3.4"), ("É", "é@")] {
            let email = Email::stored(old.to_owned());
            assert_eq!((email.as_str(), email.key().as_str()), (old, key));
        }
    }

    proptest! {
        #[test]
        fn the_key_of_a_key_is_the_key(local in "\\PC{1,12}", domain in "\\PC{1,12}\\.(com|de|भारत|xn--p1ai)") {
            if let Ok(email) = format!("{local}@{domain}").parse::<Email>() {
                let again = Email::stored(email.key().as_str().to_owned());
                prop_assert_eq!(again.key(), email.key());
                prop_assert_eq!(email.as_str().parse::<Email>().unwrap(), email);
            }
        }

        #[test]
        fn letters_of_every_script_can_be_an_address(local in "\\p{L}{1,8}") {
            if let Ok(email) = format!("{local}@example.com").parse::<Email>() {
                let again = Email::stored(email.key().as_str().to_owned());
                prop_assert_eq!(again.key(), email.key());
            }
        }
    }
}
