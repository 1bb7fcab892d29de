//! libFuzzer's way into [`palyra_untrusted::targets::http_request`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| palyra_untrusted::targets::http_request(bytes));
