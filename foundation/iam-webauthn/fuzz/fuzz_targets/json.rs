#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;

#[path = "../entry.rs"]
mod entry;

static WAITING: LazyLock<entry::Waiting> = LazyLock::new(entry::Waiting::begin);

fuzz_target!(|bytes: &[u8]| {
    WAITING.verify_json(bytes);
});
