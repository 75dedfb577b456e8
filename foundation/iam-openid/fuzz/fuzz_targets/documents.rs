#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../entry.rs"]
#[expect(dead_code, reason = "the other target uses the rest")]
mod entry;

fuzz_target!(|bytes: &[u8]| {
    entry::read_documents(bytes);
});
