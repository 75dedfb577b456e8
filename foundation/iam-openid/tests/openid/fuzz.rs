//! A bounded run of the fuzz targets: changed documents and tokens end in a refusal, never in a panic.

#[path = "../../fuzz/entry.rs"]
mod entry;

use iam_openid::ProviderKeys;
use proptest::prelude::*;

fn keys() -> ProviderKeys {
    ProviderKeys::parse(entry::KEYS.as_bytes()).unwrap()
}

/// Replaces a part of a text by any bytes.
fn changed(original: &str, at: usize, removed: usize, inserted: &[u8]) -> Vec<u8> {
    let mut bytes = original.as_bytes().to_vec();
    let at = at % (bytes.len() + 1);
    let end = (at + removed).min(bytes.len());
    bytes.splice(at..end, inserted.iter().copied());
    bytes
}

#[test]
fn the_texts_of_the_corpus_are_read() {
    assert_eq!(entry::read_documents(entry::METADATA.as_bytes()), 1);
    assert_eq!(entry::read_documents(entry::KEYS.as_bytes()), 1);
    assert!(!entry::verify_token(&keys(), entry::TOKEN.as_bytes()));
}

proptest! {
    #[test]
    fn changed_texts_end_in_no_panic(
        text in prop::sample::select(vec![entry::METADATA, entry::KEYS, "code=c&state=s&iss=i"]),
        at in 0_usize..600, removed in 0_usize..8, inserted in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        entry::read_documents(&changed(text, at, removed, &inserted));
    }

    #[test]
    fn no_changed_token_is_accepted(
        at in 0_usize..300, removed in 0_usize..8, inserted in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        prop_assert!(!entry::verify_token(&keys(), &changed(entry::TOKEN, at, removed, &inserted)));
    }
}
