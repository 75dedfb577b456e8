//! A bounded run of the fuzz targets: changed responses end in a refusal, never in a panic.

#[path = "../../fuzz/entry.rs"]
mod entry;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use entry::Waiting;

/// How often each text of the corpus is changed.
const ROUNDS: usize = 2_000;

/// Numbers of a xorshift generator: the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 as usize % end.max(1)
    }
}

/// Changes bytes as a fuzzer does: flips, replaces, removes, inserts, cuts and repeats.
fn mutated(original: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for _ in 0..=numbers.below(4) {
        let (at, byte) = (numbers.below(bytes.len()), numbers.below(256) as u8);
        match numbers.below(6) {
            _ if bytes.is_empty() => bytes.push(byte),
            0 => bytes[at] ^= 1 << (byte % 8),
            1 => bytes[at] = byte,
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, byte),
            4 => bytes.truncate(at),
            _ => {
                let piece = bytes[at..(at + usize::from(byte)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

#[test]
fn the_responses_of_the_corpus_are_accepted() {
    let waiting = Waiting::begin();
    for response in waiting.accepted() {
        assert!(waiting.verify_json(response.to_string().as_bytes()), "{response}");
    }
}

#[test]
fn changed_responses_end_in_no_panic() {
    let (waiting, mut numbers) = (Waiting::begin(), Numbers(0x9e37_79b9_7f4a_7c15));
    for response in waiting.accepted() {
        let json = response.to_string();
        for _ in 0..ROUNDS {
            waiting.verify_json(&mutated(json.as_bytes(), &mut numbers));
        }
        for (chosen, member) in (0_u8..).zip(["attestationObject", "clientDataJSON", "authenticatorData"]) {
            let Some(encoded) = response["response"][member].as_str() else { continue };
            let original = URL_SAFE_NO_PAD.decode(encoded).unwrap();
            for _ in 0..ROUNDS {
                let changed = [&[chosen][..], &mutated(&original, &mut numbers)].concat();
                waiting.verify_member(&changed);
            }
        }
    }
}
