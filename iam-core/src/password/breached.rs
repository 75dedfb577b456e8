//! Lookup of a SHA-1 digest in a file of breached passwords.
//!
//! The file has the form that Have I Been Pwned publishes: one line `digest:count` for each password, sorted by digest.
//! The digest has 40 hexadecimal digits. The count is optional.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of one read.
const WINDOW: usize = 4096;
/// 40 digits, a colon, a count of 20 digits and a line end.
const MAX_LINE: usize = 63;
/// Reads by interpolation before the search falls back to bisection. Uniform digests need fewer.
const INTERPOLATIONS: u32 = 8;

/// A file of breached passwords on disk.
///
/// Each search opens the file again, so a file that is renamed over the old one takes effect at the next search.
/// Replace the file by rename only: a search cannot notice that a file is still being copied.
#[derive(Debug, Clone)]
pub struct BreachedPasswords {
    path: PathBuf,
}

impl BreachedPasswords {
    /// Opens the file and checks the lines in its first and in its last 4 KiB: their form and their order.
    ///
    /// # Errors
    /// Returns the error of the operating system when the file cannot be read.
    /// Returns `InvalidData` when the file is empty, is not a regular file, or fails the checks.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let mut search = Search::new(&path, [0xff; 20])?;
        for position in [0, search.end] {
            if search.start < search.end {
                search.read(position)?;
            }
        }
        Ok(Self { path })
    }

    /// Tells whether the file holds the SHA-1 digest of a password.
    ///
    /// The search blocks the thread. It uses one buffer of 4 KiB and at most `10 + log2(file size / 4 KiB)` reads,
    /// whatever the file holds. It does not check lines that it does not read.
    ///
    /// # Errors
    /// Returns the error of the operating system when the file cannot be read.
    /// Returns `InvalidData` when the file is empty, is not a regular file, or holds a malformed or unsorted line
    /// where the search reads it.
    pub fn contains(&self, sha1: &[u8; 20]) -> io::Result<bool> {
        self.search(*sha1).map(|(found, _)| found)
    }

    /// Returns the answer and the number of reads.
    fn search(&self, target: [u8; 20]) -> io::Result<(bool, u32)> {
        let mut search = Search::new(&self.path, target)?;
        let mut reads = 0_u32;
        while search.start < search.end {
            let estimate = if reads < INTERPOLATIONS { search.interpolate() } else { None };
            let answer = search.read(estimate.unwrap_or_else(|| search.start.midpoint(search.end)))?;
            reads = reads.saturating_add(1);
            if let Some(found) = answer {
                return Ok((found, reads));
            }
        }
        Ok((false, reads))
    }
}

/// The byte range of the lines that can still hold the target, and digests that bound these lines.
struct Search {
    file: File,
    target: [u8; 20],
    start: u64,
    end: u64,
    low: [u8; 20],
    high: [u8; 20],
}

impl Search {
    fn new(path: &Path, target: [u8; 20]) -> io::Result<Self> {
        // The check precedes the open because the open of a FIFO waits for a writer.
        if !fs::metadata(path)?.is_file() {
            return Err(invalid("is not a regular file"));
        }
        let file = File::open(path)?;
        let end = file.metadata()?.len();
        if end == 0 {
            // Without this check an empty file would answer that no password is breached.
            return Err(invalid("is empty"));
        }
        Ok(Self { file, target, start: 0, end, low: [0; 20], high: [0xff; 20] })
    }

    /// Estimates the offset of the target. Returns `None` when the first 64 bits of the bounds are equal.
    fn interpolate(&self) -> Option<u64> {
        let [low, target, high] = [&self.low, &self.target, &self.high]
            .map(|digest| digest.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte)));
        let bytes = u128::from(self.end.saturating_sub(self.start));
        let offset =
            bytes.saturating_mul(target.saturating_sub(low).into()).checked_div(high.saturating_sub(low).into())?;
        u64::try_from(offset).ok()?.checked_add(self.start)
    }

    /// Reads the lines around `position`. Returns the answer, or narrows the range and returns `None`.
    fn read(&mut self, position: u64) -> io::Result<Option<bool>> {
        let mut buffer = [0; WINDOW];
        let size = usize::try_from(self.end.saturating_sub(self.start)).map_or(WINDOW, |size| size.min(WINDOW));
        let buffer = buffer.get_mut(..size).unwrap_or_default();
        let latest = self.end.saturating_sub(size as u64);
        let read_start = position.saturating_sub(WINDOW as u64 / 2).min(latest).max(self.start);
        read_exact_at(&self.file, buffer, read_start).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => invalid("became shorter during a search"),
            _ => error,
        })?;

        let malformed = || invalid("holds a line that is not `40 hex digits:count`");
        let mut first = None;
        let (mut last, mut end, mut found) = (self.low, read_start, false);
        let mut next = read_start;
        for line in buffer.split_inclusive(|byte| *byte == b'\n') {
            let start = next;
            next = start.saturating_add(line.len() as u64);
            // The check includes cut lines: a read must not spend its window on one long line, or it hardly narrows.
            if line.len() > MAX_LINE {
                return Err(malformed());
            }
            let may_lack_start = start == read_start && start > self.start;
            let lacks_end = next < self.end && !line.ends_with(b"\n");
            if may_lack_start || lacks_end {
                continue;
            }
            // The errors name no offset: the offset of a line next to the target reveals leading bits of the digest
            // of a password to whoever reads the log.
            let digest = parse_line(line).ok_or_else(malformed)?;
            if digest < last || digest > self.high {
                return Err(invalid("is not sorted by digest"));
            }
            first.get_or_insert((start, digest));
            (last, end, found) = (digest, next, found || digest == self.target);
        }
        let (start, first) = first.ok_or_else(malformed)?;
        if self.target < first {
            (self.end, self.high) = (start, first);
        } else if self.target > last {
            (self.start, self.low) = (end, last);
        } else {
            return Ok(Some(found));
        }
        Ok(None)
    }
}

fn parse_line(line: &[u8]) -> Option<[u8; 20]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (hex, rest) = line.split_at_checked(40)?;
    let rest_is_valid = match rest {
        [] => true,
        [b':', count @ ..] => !count.is_empty() && count.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let mut digest = [0; 20];
    for (byte, [high, low]) in digest.iter_mut().zip(hex.as_chunks().0) {
        *byte = hex_digit(*high)? << 4 | hex_digit(*low)?;
    }
    rest_is_valid.then_some(digest)
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

fn invalid(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the file of breached passwords {problem}"))
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    io::Seek::seek(&mut file, io::SeekFrom::Start(offset))?;
    io::Read::read_exact(&mut file, buffer)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A file that is removed at the end of the test.
    struct TestFile(PathBuf);

    impl TestFile {
        fn new(content: impl AsRef<[u8]>) -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let name = format!("breached-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            fs::write(&path, content).unwrap();
            Self(path)
        }

        fn open(&self) -> io::Result<BreachedPasswords> {
            BreachedPasswords::open(&self.0)
        }

        /// Searches without the checks of `open`.
        fn search(&self, target: [u8; 20]) -> io::Result<(bool, u32)> {
            let length = fs::metadata(&self.0).unwrap().len();
            let result = BreachedPasswords { path: self.0.clone() }.search(target);
            if let Ok((_, reads)) = result {
                assert!(reads <= bound(length), "{reads} reads of {length} bytes");
            }
            result
        }
    }

    impl Drop for TestFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    fn bound(length: u64) -> u32 {
        10 + (length / WINDOW as u64).checked_ilog2().unwrap_or(0)
    }

    /// `SplitMix64`.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^ (bits >> 31)
        }

        fn below(&mut self, limit: u64) -> u64 {
            self.next() % limit
        }

        fn digest(&mut self) -> [u8; 20] {
            let mut digest = [0; 20];
            for byte in &mut digest {
                *byte = self.next().to_le_bytes()[0];
            }
            digest
        }

        fn sorted(&mut self, lines: usize) -> Vec<[u8; 20]> {
            let mut digests: Vec<_> = (0..lines).map(|_| self.digest()).collect();
            digests.sort_unstable();
            digests
        }

        /// A count of 1 to 20 digits, or at times none.
        fn count(&mut self) -> String {
            match self.below(21) {
                0 => String::new(),
                digits => format!(":{}", &format!("{:020}", self.next())[..usize::try_from(digits).unwrap()]),
            }
        }

        fn text(&mut self, digests: &[[u8; 20]], line_end: &str) -> String {
            digests.iter().fold(String::new(), |text, digest| text + &hex(digest) + &self.count() + line_end)
        }
    }

    fn hex(digest: &[u8; 20]) -> String {
        digest.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02X}").unwrap();
            text
        })
    }

    fn neighbour(digest: &[u8; 20], up: bool) -> [u8; 20] {
        let mut digest = *digest;
        for byte in digest.iter_mut().rev() {
            let (next, carry) = if up { byte.overflowing_add(1) } else { byte.overflowing_sub(1) };
            *byte = next;
            if !carry {
                break;
            }
        }
        digest
    }

    /// Every line is found. A text between the lines, before the first or after the last is not.
    fn assert_finds_exactly(file: &TestFile, digests: &[[u8; 20]]) {
        file.open().unwrap();
        for digest in digests {
            assert!(file.search(*digest).unwrap().0, "{}", hex(digest));
        }
        let between = digests.iter().step_by(4).map(|digest| neighbour(digest, true));
        for other in between.chain([[0; 20], neighbour(&digests[0], false), [0xff; 20]]) {
            assert_eq!(file.search(other).unwrap().0, digests.binary_search(&other).is_ok(), "{}", hex(&other));
        }
    }

    fn assert_refuses(content: impl AsRef<[u8]>, message: &str) {
        let error = TestFile::new(content).open().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn finds_every_line_of_files_of_every_size() {
        let mut random = Random(1);
        for lines in 1..=200 {
            let digests = random.sorted(lines);
            let line_end = if lines % 2 == 0 { "\n" } else { "\r\n" };
            let text = random.text(&digests, line_end);
            let text = if lines % 3 == 0 { text.trim_end() } else { &text };
            assert_finds_exactly(&TestFile::new(text), &digests);
        }
    }

    #[test]
    fn finds_lines_of_a_longer_file_in_few_reads() {
        let mut random = Random(2);
        let digests = random.sorted(100_000);
        let file = TestFile::new(random.text(&digests, "\r\n"));
        for target in digests.iter().step_by(101) {
            let (found, reads) = file.search(*target).unwrap();
            assert!(found && reads <= 5, "{reads} reads");
            assert!(!file.search(random.digest()).unwrap().0);
        }
    }

    #[test]
    fn finds_the_first_and_the_last_possible_digest() {
        let mut digests = Random(3).sorted(500);
        digests.insert(0, [0; 20]);
        digests.push([0xff; 20]);
        assert_finds_exactly(&TestFile::new(Random(4).text(&digests, "\n")), &digests);
    }

    #[test]
    fn accepts_lower_case_and_repeated_lines() {
        let digests = Random(5).sorted(300);
        let lines: Vec<_> =
            digests.iter().map(|digest| format!("{0}:7\n{0}:8\n", hex(digest).to_lowercase())).collect();
        assert_finds_exactly(&TestFile::new(lines.concat()), &digests);
    }

    #[test]
    fn finds_skewed_digests_in_bounded_reads() {
        let mut random = Random(6);
        for prefix in [1, 8, 16] {
            for fill in [0x5a, 0xff] {
                let mut digests = random.sorted(5000);
                for digest in &mut digests {
                    digest[..prefix].fill(fill);
                }
                // A few digests outside the cluster mislead the interpolation.
                digests.extend([[0; 20], [1; 20], [0xfe; 20], [0xff; 20]]);
                digests.sort_unstable();
                digests.dedup();
                let file = TestFile::new(random.text(&digests, "\n"));
                file.open().unwrap();
                for target in digests.iter().step_by(211).chain(&digests[..3]).chain(&digests[digests.len() - 3..]) {
                    assert!(file.search(*target).unwrap().0);
                    let absent = neighbour(target, true);
                    assert_eq!(file.search(absent).unwrap().0, digests.binary_search(&absent).is_ok());
                }
            }
        }
        // Each digest is twice the one before: each interpolation is far off.
        let digests: Vec<_> = (0..150_u32)
            .map(|bit| {
                let mut digest = [0; 20];
                digest[..16].copy_from_slice(&(1_u128 << bit.min(127)).to_be_bytes());
                digest[16..].copy_from_slice(&bit.to_be_bytes());
                digest
            })
            .collect();
        assert_finds_exactly(&TestFile::new(random.text(&digests, "\r\n")), &digests);
    }

    #[test]
    fn ends_on_any_content() {
        let mut random = Random(7);
        let alphabets: [&[u8]; 5] = [b"\n", b"\r\n:", b"0123456789ABCDEFabcdef:\r\n", b"A\n", b"\0\xff\n:A"];
        for round in 0..700 {
            let length = usize::try_from(random.below(20_000)).unwrap();
            let content: Vec<u8> = match round % 7 {
                5 => (0..length).map(|_| random.next().to_le_bytes()[0]).collect(),
                // Lines of the right form in no order, and then a few damaged bytes.
                6 => {
                    let digests: Vec<_> = (0..length / 50).map(|_| random.digest()).collect();
                    let mut content = random.text(&digests, "\n").into_bytes();
                    for _ in 0..random.below(3).min(content.len() as u64) {
                        let at = usize::try_from(random.below(content.len() as u64)).unwrap();
                        content[at] = random.next().to_le_bytes()[0];
                    }
                    content
                }
                alphabet => {
                    let alphabet = alphabets[alphabet];
                    let letters = alphabet.len() as u64;
                    (0..length).map(|_| alphabet[usize::try_from(random.below(letters)).unwrap()]).collect()
                }
            };
            let file = TestFile::new(&content);
            for target in [[0; 20], [0xff; 20], random.digest(), random.digest()] {
                if let Err(error) = file.search(target) {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                }
            }
            if let Err(error) = file.open() {
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            }
        }
    }

    #[test]
    fn ends_on_a_sorted_file_with_damage_or_a_cut() {
        let mut random = Random(8);
        let digests = random.sorted(400);
        let text = random.text(&digests, "\n").into_bytes();
        for _ in 0..1000 {
            let mut content = text.clone();
            let at = usize::try_from(random.below(text.len() as u64)).unwrap();
            if random.below(2) == 0 {
                content[at] ^= random.next().to_le_bytes()[0];
            } else {
                content.truncate(at.max(1));
            }
            let file = TestFile::new(&content);
            for target in [digests[at % 400], random.digest()] {
                if let Err(error) = file.search(target) {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                }
            }
        }
    }

    #[test]
    fn refuses_lines_that_contradict_an_earlier_read() {
        // The first read meets 90.., so the target 80.. is before it. The second read meets FE...
        let [greater, middle] = [0xfe, 0x90].map(|byte| format!("{}\n", hex(&[byte; 20])));
        let file = TestFile::new(greater.repeat(900) + &middle.repeat(1100));
        let mut target = [0; 20];
        target[0] = 0x80;
        assert!(file.search(target).unwrap_err().to_string().contains("not sorted"));
    }

    #[test]
    fn refuses_a_long_line_that_the_window_cuts() {
        let [low, high] = [(0x10, 1000), (0xf0, 1010)].map(|(byte, n)| format!("{}\n", hex(&[byte; 20])).repeat(n));
        let mut target = [0; 20];
        target[0] = 0x80;
        // The first read starts in the long line and meets the target.
        let file = TestFile::new(format!("{low}{}\n{}\n{high}", "A".repeat(4000), hex(&target)));
        file.open().unwrap();
        assert!(file.search(target).unwrap_err().to_string().contains("40 hex digits"));
    }

    #[test]
    fn open_refuses_what_is_not_a_file_of_breached_passwords() {
        let [low, high] = [hex(&[0x11; 20]), hex(&[0x22; 20])];
        assert_refuses("", "empty");
        assert_refuses("\n", "40 hex digits");
        assert_refuses("password\n", "40 hex digits");
        assert_refuses(format!("{low}:\n"), "40 hex digits");
        assert_refuses(format!("{low}:x\n"), "40 hex digits");
        assert_refuses(format!("{low} 1\n"), "40 hex digits");
        assert_refuses(format!("{low}{low}\n"), "40 hex digits");
        assert_refuses(format!("+{}:1\n", &low[1..]), "40 hex digits");
        assert_refuses(format!("\u{feff}{low}:1\n"), "40 hex digits");
        assert_refuses(format!("{low}:1\n\n"), "40 hex digits");
        assert_refuses(format!("{low}:{}\n", "1".repeat(5000)), "40 hex digits");
        assert_refuses(format!("{low}:1\n{}", &high[..39]), "40 hex digits");
        assert_refuses(format!("{high}:1\n{low}:1\n"), "not sorted");
        let long = format!("{high}:1\n").repeat(1000);
        assert_refuses(format!("{long}{low}:1\n"), "not sorted");
        assert_refuses(format!("{long}{}", &high[..39]), "40 hex digits");
        TestFile::new(format!("{low}\n{long}{high}")).open().unwrap();

        let error = BreachedPasswords::open(std::env::temp_dir()).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        let error = BreachedPasswords::open(std::env::temp_dir().join("breached-absent")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn names_a_file_that_became_shorter() {
        let file = TestFile::new(format!("{}\n", "0".repeat(40)).repeat(3));
        let mut search = Search::new(&file.0, [0xff; 20]).unwrap();
        fs::write(&file.0, "").unwrap();
        let error = search.read(0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("became shorter"), "{error}");
    }

    #[test]
    fn honours_a_replaced_file() {
        let [old, new] = [[0x11; 20], [0x22; 20]];
        let file = TestFile::new(format!("{}:1\r\n", hex(&old)));
        let passwords = file.open().unwrap();
        assert!(passwords.contains(&old).unwrap() && !passwords.contains(&new).unwrap());
        fs::rename(&TestFile::new(format!("{}:1\r\n", hex(&new))).0, &file.0).unwrap();
        assert!(!passwords.contains(&old).unwrap() && passwords.contains(&new).unwrap());
        fs::write(&file.0, "").unwrap();
        assert_eq!(passwords.contains(&new).unwrap_err().kind(), io::ErrorKind::InvalidData);
        fs::remove_file(&file.0).unwrap();
        assert_eq!(passwords.contains(&new).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
