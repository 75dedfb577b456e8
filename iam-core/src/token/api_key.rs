//! The text of an API key (`docs/http-api.md#api-keys`): `iamk_<id>_<secret><checksum>`.
//!
//! The secret is the tenant and 32 random bytes in base62, and the checksum the CRC-32 of all characters before it. So
//! a scanner for leaked secrets recognizes a key without the service, and a mistyped key is refused without a query.

use iam_model::id::{ApiKeyId, TenantId};
use iam_model::random::Random;
use iam_model::secret::ApiKeyToken;
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::token::opaque::hash;

const PREFIX: &str = "iamk_";

/// The length of 16 bytes in base62.
const WORD: usize = 22;

/// The length of a checksum in base62.
const CHECKSUM: usize = 6;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Which key a text is, and the digest of its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedApiKey {
    pub(crate) tenant: TenantId,
    pub(crate) id: ApiKeyId,
    pub(crate) secret_hash: [u8; 32],
}

/// Returns a new text of a key, and the digest of its secret.
pub(crate) fn new_api_key(tenant: TenantId, id: ApiKeyId, random: &dyn Random) -> (ApiKeyToken, [u8; 32]) {
    let secret = Zeroizing::new(random.bytes());
    let (first, second) = secret.split_at(16);
    let mut text = Zeroizing::new(format!("{}_", api_key_prefix(id)));
    for word in [tenant.as_uuid().as_bytes().as_slice(), first, second] {
        let word = word.iter().fold(0, |word, byte| (word << 8) | u128::from(*byte));
        text.push_str(&encode::<WORD>(word));
    }
    let checksum = encode::<CHECKSUM>(crc32fast::hash(text.as_bytes()).into());
    text.push_str(&checksum);
    (text.as_str().into(), hash(&secret))
}

/// Returns the part of the text of a key that is no secret, by which people recognize it.
pub(crate) fn api_key_prefix(id: ApiKeyId) -> String {
    format!("{PREFIX}{id}")
}

/// Whether a bearer token is meant to be an API key.
pub(crate) fn is_api_key(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// Returns which key a text is. `None` when it does not have the format of a key.
pub(crate) fn parse_api_key(token: &str) -> Option<ParsedApiKey> {
    let (text, checksum) = token.split_at_checked(token.len().checked_sub(CHECKSUM)?)?;
    if decode(checksum)? != u128::from(crc32fast::hash(text.as_bytes())) {
        return None;
    }
    let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
    let (tenant, random) = secret.split_at_checked(WORD)?;
    let (first, second) = random.split_at_checked(WORD)?;
    if second.len() != WORD {
        return None;
    }
    let mut secret = Zeroizing::new([0; 32]);
    let (head, tail) = secret.split_at_mut(16);
    head.copy_from_slice(&decode(first)?.to_be_bytes());
    tail.copy_from_slice(&decode(second)?.to_be_bytes());
    let tenant = Uuid::from_u128(decode(tenant)?).into();
    Some(ParsedApiKey { tenant, id: id.parse().ok()?, secret_hash: hash(&secret) })
}

/// Returns a number in base62, with leading zeros.
fn encode<const LENGTH: usize>(number: u128) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(LENGTH));
    for place in (0..LENGTH as u32).rev() {
        let digit = number / 62_u128.pow(place) % 62;
        text.extend(DIGITS.get(digit as usize).map(|digit| char::from(*digit)));
    }
    text
}

/// Reads a number in base62. `None` for another character, and if it is too large.
fn decode(text: &str) -> Option<u128> {
    text.bytes().try_fold(0_u128, |number, character| {
        let digit = match character {
            b'0'..=b'9' => character - b'0',
            b'A'..=b'Z' => character - b'A' + 10,
            b'a'..=b'z' => character - b'a' + 36,
            _ => return None,
        };
        number.checked_mul(62)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use iam_model::random::SystemRandom;
    use proptest::prelude::*;

    use super::*;

    fn key() -> (TenantId, ApiKeyId, ApiKeyToken, [u8; 32]) {
        let (tenant, id) = (Uuid::from_u128(u128::MAX).into(), Uuid::from_u128(7).into());
        let (token, hash) = new_api_key(tenant, id, &SystemRandom);
        (tenant, id, token, hash)
    }

    #[test]
    fn a_key_is_parsed_to_its_tenant_its_id_and_the_digest_of_its_secret() {
        let (tenant, id, token, secret_hash) = key();
        assert_eq!(parse_api_key(token.expose()), Some(ParsedApiKey { tenant, id, secret_hash }));
        let (of_id, secret) = token.expose().strip_prefix("iamk_").unwrap().split_once('_').unwrap();
        assert_eq!(of_id, id.to_string());
        assert!(secret.len() == 72 && secret.bytes().all(|character| character.is_ascii_alphanumeric()));
        assert_ne!(key().3, secret_hash);
    }

    #[test]
    fn the_checksum_is_that_of_everything_before_it() {
        let (.., token, _) = key();
        let (text, checksum) = token.expose().split_at(token.expose().len() - 6);
        assert_eq!(decode(checksum), Some(crc32fast::hash(text.as_bytes()).into()));
        assert_eq!(encode::<6>(u32::MAX.into()).as_str(), "4gfFC3");
        assert_eq!(decode("zzzzzzzzzzzzzzzzzzzzzz"), None, "it is more than 16 bytes");
    }

    #[test]
    fn a_text_with_the_right_checksum_and_another_form_is_no_key() {
        let (.., token, _) = key();
        let text = &token.expose()[..token.expose().len() - 6];
        let (head, _) = text.split_once('_').unwrap();
        for bad in [
            String::new(),
            text.replace("iamk_", "iamx_"),
            text.replace("iamk_0", "iamk_z"),
            format!("{text}0"),
            text[..text.len() - 1].to_owned(),
            text[..text.len() - 23].to_owned(),
            head.to_owned(),
        ] {
            let checksum = encode::<CHECKSUM>(crc32fast::hash(bad.as_bytes()).into());
            assert_eq!(parse_api_key(&format!("{bad}{}", checksum.as_str())), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_changed_character_is_no_key(at in 0..114_usize, character in "[ -~ü]") {
            let (.., token, _) = key();
            let mut text: Vec<char> = token.expose().chars().collect();
            prop_assert_eq!(text.len(), 114);
            let changed = character.chars().next().unwrap();
            prop_assume!(text[at] != changed);
            text[at] = changed;
            prop_assert_eq!(parse_api_key(&text.into_iter().collect::<String>()), None);
        }

        #[test]
        fn no_text_is_a_key_by_chance(text in "iamk_[0-9a-f-]{36}_[0-9A-Za-z]{72}|.{0,130}") {
            prop_assert_eq!(parse_api_key(&text), None);
        }
    }
}
