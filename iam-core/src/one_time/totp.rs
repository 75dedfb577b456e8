//! Time-based one-time passwords (RFC 6238): HMAC-SHA-1, 6 digits, steps of 30 seconds.

use aws_lc_rs::hmac;
use data_encoding::BASE32_NOPAD;
use iam_model::clock::Timestamp;
use iam_model::error::{Error, Result};
use iam_model::random::Random;
use iam_model::secret::{OneTimeCode, TotpSecret};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::one_time::typed::digits;

/// The length of a secret in bytes, as RFC 4226 §4 recommends.
const SECRET: usize = 20;

/// The seconds of a step.
const PERIOD: i64 = 30;

/// How many steps the clock of an app may be late or early.
const SKEW: u64 = 1;

/// How many steps a used step may be ahead of the clock: five minutes. One that is further ahead was stored while the
/// clock of a server was wrong.
const AHEAD: u64 = 10;

/// The digits of a code.
const DIGITS: usize = 6;

/// Six digits.
const MODULUS: u32 = 1_000_000;

pub(crate) fn new_secret(random: &dyn Random) -> Zeroizing<[u8; SECRET]> {
    Zeroizing::new(random.bytes())
}

/// Returns a secret as a person types it.
pub(crate) fn text_of(secret: &[u8]) -> TotpSecret {
    BASE32_NOPAD.encode(secret).into()
}

/// The bytes that every QR code can hold: those of version 40 at the error correction M (ISO/IEC 18004, table 7).
const MAX_URI: usize = 2_331;

/// Returns the URI that an app reads from a QR code, with the names that it shows. Where they would not fit the QR code,
/// they are shortened.
pub(crate) fn otpauth_uri(secret: &TotpSecret, issuer: &str, account: &str) -> TotpSecret {
    // A colon separates the names, also when it is encoded.
    let (mut issuer, mut account) = (Label::new(&issuer.replace(':', " ")), Label::new(account));
    loop {
        let (of_issuer, of_account, secret) = (issuer.encoded(), account.encoded(), secret.expose());
        let uri = Zeroizing::new(format!(
            "otpauth://totp/{of_issuer}:{of_account}?secret={secret}&issuer={of_issuer}&algorithm=SHA1&digits=6\
             &period={PERIOD}"
        ));
        if uri.len() <= MAX_URI {
            return uri.as_str().into();
        }
        let longer = if of_issuer.len() < of_account.len() { &mut account } else { &mut issuer };
        longer.shorten();
    }
}

/// A name in a URI.
struct Label {
    letters: Vec<char>,
    is_whole: bool,
}

impl Label {
    fn new(name: &str) -> Self {
        Self { letters: name.chars().collect(), is_whole: true }
    }

    fn shorten(&mut self) {
        self.letters.pop();
        self.is_whole = false;
    }

    fn encoded(&self) -> String {
        const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
        let ellipsis = if self.is_whole { None } else { Some('…') };
        let shown: String = self.letters.iter().copied().chain(ellipsis).collect();
        utf8_percent_encode(&shown, KEPT).to_string()
    }
}

/// Returns a code as a person has typed it, without blanks and dashes.
///
/// # Errors
///
/// [`Error::Validation`] which names `code` if it is not six digits.
pub(crate) fn six_digits(typed: &OneTimeCode) -> Result<OneTimeCode> {
    digits(typed, DIGITS).ok_or_else(|| Error::field("code", "must be six digits"))
}

/// Returns the step of a code of [six digits](six_digits): the present one or one beside it, and later than the last step that was used. `None` if
/// the code is wrong.
///
/// A used step that is far in the future does not count. Otherwise a server with a wrong clock would lock the user out
/// until then.
pub(crate) fn step_of(secret: &[u8], code: &OneTimeCode, now: Timestamp, used: u64) -> Option<u64> {
    let present = u64::try_from(now.timestamp() / PERIOD).ok()?;
    let used = if used > present + AHEAD { 0 } else { used };
    let typed = code.expose();
    let steps = present.saturating_sub(SKEW)..=present + SKEW;
    // All steps are compared, so that the time does not tell which one is right.
    steps.fold(None, |found, step| {
        let is_right: bool = code_at(secret, step).as_bytes().ct_eq(typed.as_bytes()).into();
        if is_right && step > used { Some(step) } else { found }
    })
}

/// Returns the code of a step (RFC 4226 §5.3).
fn code_at(secret: &[u8], step: u64) -> Zeroizing<String> {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag.last().copied().unwrap_or_default() & 0xf);
    let chosen = tag.iter().skip(offset).take(4).fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    Zeroizing::new(format!("{:06}", (chosen & 0x7fff_ffff) % MODULUS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;
    use iam_model::random::SystemRandom;
    use proptest::prelude::*;

    const RFC_SECRET: &[u8] = b"12345678901234567890";

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    /// RFC 6238, appendix B, without the first two of its eight digits.
    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(*code_at(RFC_SECRET, seconds / 30), code);
            assert_eq!(step_of(RFC_SECRET, &code.into(), at(seconds as i64), 0), Some(seconds / 30));
        }
    }

    #[test]
    fn a_code_is_valid_one_step_early_or_late_and_no_step_twice() {
        let step = 41_152_263;
        let code = OneTimeCode::from(code_at(RFC_SECRET, step).as_str());
        let begin = at(step as i64 * PERIOD);
        let second = TimeDelta::seconds(1);
        for (now, expected) in [
            (begin - second * 31, None),
            (begin - second * 30, Some(step)),
            (begin, Some(step)),
            (begin + second * 59, Some(step)),
            (begin + second * 60, None),
        ] {
            assert_eq!(step_of(RFC_SECRET, &code, now, 0), expected, "{now}");
        }
        assert_eq!(step_of(RFC_SECRET, &code, begin, step - 1), Some(step));
        assert_eq!(step_of(RFC_SECRET, &code, begin, step), None);
        assert_eq!(step_of(RFC_SECRET, &code, begin, step + 1), None);
    }

    #[test]
    fn a_used_step_far_in_the_future_does_not_count() {
        let step = 41_152_263;
        let code = OneTimeCode::from(code_at(RFC_SECRET, step).as_str());
        let now = at(step as i64 * PERIOD);
        for (used, expected) in [(step + AHEAD, None), (step + AHEAD + 1, Some(step)), (u64::MAX, Some(step))] {
            assert_eq!(step_of(RFC_SECRET, &code, now, used), expected, "{used}");
        }
    }

    #[test]
    fn a_code_is_six_digits_with_any_blanks_and_dashes() {
        let now = at(59);
        for typed in
            ["287082", " 287082\n", "287 082", "287-082", "28 70 82", "287\u{a0}082", "287\u{2009}–\u{202f}082"]
        {
            let code = six_digits(&typed.into()).unwrap();
            assert!(step_of(RFC_SECRET, &code, now, 0).is_some(), "{typed}");
        }
        for bad in ["", " ", "28708", "2870820", "94287082", "28708２", "28708x", "287.082", "287_082"] {
            assert!(matches!(six_digits(&bad.into()), Err(Error::Validation(_))), "{bad}");
        }
    }

    #[test]
    fn names_are_shortened_until_the_uri_fits_every_qr_code() {
        let secret = text_of(&[0xff; SECRET]);
        for (issuer, account) in [
            ("😀".repeat(120), format!("{}@example.com", "😀".repeat(50))),
            ("😀".repeat(120), "😀".repeat(254)),
            ("A".to_owned(), "😀".repeat(254)),
        ] {
            let uri = otpauth_uri(&secret, &issuer, &account);
            assert!((MAX_URI - 30..=MAX_URI).contains(&uri.expose().len()), "{}", uri.expose().len());
            let (label, query) = uri.expose().split_once('?').unwrap();
            let of_issuer = query.split('&').find_map(|pair| pair.strip_prefix("issuer=")).unwrap();
            assert!(label.starts_with(&format!("otpauth://totp/{of_issuer}:")), "{label}");
            assert!(uri.expose().contains("%E2%80%A6"), "it says that something is missing: {label}");
        }
        let whole = otpauth_uri(&secret, &"A".repeat(120), &"a".repeat(254));
        assert!(!whole.expose().contains("%E2%80%A6"));
    }

    #[test]
    fn the_uri_names_the_tenant_and_the_account() {
        let secret = text_of(&[0xff; SECRET]);
        assert_eq!(secret.expose(), "77777777777777777777777777777777");
        assert_eq!(
            otpauth_uri(&secret, "Acme & Söhne", "ada@example.com").expose(),
            "otpauth://totp/Acme%20%26%20S%C3%B6hne:ada%40example.com?secret=77777777777777777777777777777777\
             &issuer=Acme%20%26%20S%C3%B6hne&algorithm=SHA1&digits=6&period=30"
        );
        assert_ne!(*new_secret(&SystemRandom), *new_secret(&SystemRandom));
    }

    proptest! {
        #[test]
        fn a_later_code_is_always_for_a_later_step(secret: [u8; SECRET], step in 2_u64..1 << 37, used in 0_u64..1 << 37) {
            let code = OneTimeCode::from(code_at(&secret, step).as_str());
            if let Some(found) = step_of(&secret, &code, at(step as i64 * PERIOD), used) {
                prop_assert!((found > used || used > step + AHEAD) && found.abs_diff(step) <= SKEW);
            } else {
                prop_assert!(used >= step && used <= step + AHEAD);
            }
        }
    }
}
