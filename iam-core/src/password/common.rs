use aws_lc_rs::digest::{SHA256, digest};

/// The 100,000 most common passwords of at least 8 characters, in lower case, as the first 32 bits of their SHA-256
/// digests. The first 65,536 bytes say how many digests have each value of the first 16 bits. Then the other 16 bits of
/// all digests follow, in the order of the digests. `scripts/common-passwords` writes the file and names the source.
const FILTER: &[u8] = include_bytes!("common.bin");

/// Returns whether a password is one of the most common passwords, in upper or lower case. One of 43,000 other passwords
/// passes for one, too.
pub(super) fn is_common(password: &str) -> bool {
    let digest = digest(&SHA256, password.to_lowercase().as_bytes());
    let &[first, second, third, fourth, ..] = digest.as_ref() else { return false };
    let (counts, rest) = FILTER.split_at(1 << 16);
    let bucket = usize::from(u16::from_be_bytes([first, second]));
    let (before, from) = counts.split_at(bucket);
    let skipped: usize = before.iter().copied().map(usize::from).sum();
    let count = from.first().copied().map_or(0, usize::from);
    let (rests, _) = rest.as_chunks::<2>();
    rests.iter().skip(skipped).take(count).any(|rest| *rest == [third, fourth])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_has_all_entries() {
        let entries: usize = FILTER[..1 << 16].iter().copied().map(usize::from).sum();
        assert_eq!((entries, FILTER.len()), (100_000, (1 << 16) + 2 * 100_000));
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
        let wrong = (0..200_000).filter(|number| is_common(&format!("no common password {number}"))).count();
        assert!(wrong <= 20, "{wrong}");
    }
}
