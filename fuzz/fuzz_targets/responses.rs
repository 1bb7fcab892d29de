//! libFuzzer's way into [`palyra_untrusted::targets::responses`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| palyra_untrusted::targets::responses(bytes));
