//! Recovery codes: 80 random bits each, as 16 characters of base32 (RFC 4648 §6) in groups of four.

use aws_lc_rs::digest::{Context, SHA256};
use data_encoding::BASE32_NOPAD;
use iam_model::id::UserId;
use iam_model::random::Random;
use iam_model::secret::RecoveryCode;
use zeroize::Zeroizing;

use crate::one_time::typed::is_significant;

/// The number of codes in a set.
pub(crate) const RECOVERY_CODES: usize = 10;

/// The random bytes of a code.
const BYTES: usize = 10;

/// The characters of a group.
const GROUP: usize = 4;

pub(crate) fn new_recovery_code(random: &dyn Random) -> RecoveryCode {
    let bytes: Zeroizing<[u8; BYTES]> = Zeroizing::new(random.bytes());
    let text = Zeroizing::new(BASE32_NOPAD.encode(bytes.as_slice()));
    let mut code = String::with_capacity(text.len() + text.len() / GROUP);
    for (number, character) in text.chars().enumerate() {
        if number > 0 && number.is_multiple_of(GROUP) {
            code.push('-');
        }
        code.push(character);
    }
    code.into()
}

/// Returns the digest of a code of a user. The code may be in upper or lower case, with or without separators. A fast
/// digest is enough: 80 random bits cannot be guessed. The user is part of it, so that a search does not find the codes
/// of all users at once.
pub(crate) fn hash_of(user: UserId, code: &RecoveryCode) -> [u8; 32] {
    let text: Zeroizing<String> =
        Zeroizing::new(code.expose().chars().filter(is_significant).map(|c| c.to_ascii_uppercase()).collect());
    let mut context = Context::new(&SHA256);
    context.update(user.as_uuid().as_bytes());
    context.update(text.as_bytes());
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;
    use uuid::Uuid;

    const ADA: UserId = UserId::from_uuid(Uuid::from_u128(1));
    const GRACE: UserId = UserId::from_uuid(Uuid::from_u128(2));

    #[test]
    fn a_code_has_80_random_bits_in_four_groups() {
        let [one, other] = [(); 2].map(|()| new_recovery_code(&SystemRandom));
        let groups: Vec<&str> = one.expose().split('-').collect();
        assert!(groups.len() == 4 && groups.iter().all(|group| group.len() == GROUP), "{}", one.expose());
        assert_eq!(BASE32_NOPAD.decode(groups.concat().as_bytes()).unwrap().len(), BYTES);
        assert_ne!(hash_of(ADA, &one), hash_of(ADA, &other));
        assert_ne!(hash_of(ADA, &one), hash_of(GRACE, &one));
    }

    #[test]
    fn a_code_may_be_typed_in_any_case_and_with_any_separators() {
        let hash = hash_of(ADA, &"ABCD-EFGH-IJKL-MN23".into());
        for typed in ["abcdefghijklmn23", "ABCD EFGH IJKL MN23", " abcd-efgh-ijkl-mn23\n", "abcd–efgh\u{a0}ijkl−mn23"]
        {
            assert_eq!(hash_of(ADA, &typed.into()), hash, "{typed}");
        }
        assert_ne!(hash_of(ADA, &"ABCD-EFGH-IJKL-MN24".into()), hash);
    }
}
