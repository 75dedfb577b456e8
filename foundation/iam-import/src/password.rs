//! The texts of hashes that other systems store in parts.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD_NO_PAD};
use iam_model::secret::PasswordHash;

use crate::record::ForeignPassword;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Decodes base64 with or without padding, in both alphabets.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    LENIENT.decode(text.trim().replace('-', "+").replace('_', "/")).ok()
}

/// The name of a hash function in texts of PBKDF2: none for SHA-1.
#[derive(Clone, Copy)]
pub(crate) enum Sha {
    One,
    Two256,
    Two512,
}

/// Returns the text of a PBKDF2 hash in PHC string form.
pub(crate) fn pbkdf2(sha: Sha, rounds: u64, salt: &[u8], hash: &[u8]) -> ForeignPassword {
    let name = match sha {
        Sha::One => "pbkdf2",
        Sha::Two256 => "pbkdf2-sha256",
        Sha::Two512 => "pbkdf2-sha512",
    };
    text_of(name, &format!("i={rounds}"), salt, hash)
}

/// Returns the text of a hash in PHC string form.
pub(crate) fn text_of(name: &str, params: &str, salt: &[u8], hash: &[u8]) -> ForeignPassword {
    let (salt, hash) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(hash));
    ForeignPassword::Hash(PasswordHash::from(format!("${name}${params}${salt}${hash}")))
}

/// Returns a password whose hash cannot be read.
pub(crate) fn unusable(why: impl Into<String>) -> ForeignPassword {
    ForeignPassword::Unusable(why.into())
}
