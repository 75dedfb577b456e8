#![no_main]

use std::sync::LazyLock;

use iam_openid::ProviderKeys;
use libfuzzer_sys::fuzz_target;

#[path = "../entry.rs"]
#[expect(dead_code, reason = "the other target uses the rest")]
mod entry;

static KEYS: LazyLock<ProviderKeys> =
    LazyLock::new(|| ProviderKeys::parse(entry::KEYS.as_bytes()).expect("the keys are valid"));

fuzz_target!(|bytes: &[u8]| {
    entry::verify_token(&KEYS, bytes);
});
