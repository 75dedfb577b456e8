use aws_lc_rs::digest::{SHA256, digest};

/// The 100,000 most common passwords of at least 8 characters, in lower case, as the first 32 bits of their SHA-256
/// digests. The first [`COUNTS`] bytes say how many digests have each value of the first 16 bits, 4 bits for each. Then
/// the other 16 bits of all digests follow, in the order of the digests. `scripts/common-passwords` writes the file and
/// names the source.
const FILTER: &[u8] = include_bytes!("common.bin");

const COUNTS: usize = 1 << 15;

/// Returns whether a password is one of the most common passwords, in upper or lower case. One of 43,000 other
/// passwords passes for one, too.
pub(super) fn is_common(password: &str) -> bool {
    let digest = digest(&SHA256, password.to_lowercase().as_bytes());
    let &[first, second, third, fourth, ..] = digest.as_ref() else { return false };
    let bucket = usize::from(u16::from_be_bytes([first, second]));
    let skipped: usize = counts().take(bucket).sum();
    let count = counts().nth(bucket).unwrap_or_default();
    let (rests, _) = FILTER.split_at(COUNTS).1.as_chunks::<2>();
    rests.iter().skip(skipped).take(count).any(|rest| *rest == [third, fourth])
}

/// How many digests have each value of the first 16 bits.
fn counts() -> impl Iterator<Item = usize> {
    FILTER.iter().take(COUNTS).flat_map(|byte| [usize::from(byte >> 4), usize::from(byte & 15)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_has_all_entries() {
        assert_eq!((counts().sum::<usize>(), FILTER.len()), (100_000, COUNTS + 2 * 100_000));
    }

    #[test]
    fn common_passwords_are_found_in_any_letter_case() {
        for common in
            ["password", "Password1", "P@ssw0rd", "QWERTY123", "iloveyou1", "letmein123", "trustno1", "12345678"]
        {
            assert!(is_common(common), "{common}");
        }
        for other in ["Sup3r$ecret", "correct horse battery staple", "", "zk7-quartz-lemur"] {
            assert!(!is_common(other), "{other}");
        }
    }

    #[test]
    fn few_other_passwords_pass_for_common_ones() {
        let wrong = (0..2_000).filter(|number| is_common(&format!("no common password {number}"))).count();
        assert!(wrong <= 2, "{wrong}");
    }
}
