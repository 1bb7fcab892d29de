//! This machine, in spellings that a lenient reader of URLs understands.

/// Spellings of an address of this machine; `pointing.example` is a name that has one.
pub const LOOPBACK_SPELLINGS: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "127.000.000.001",
    "0.0.0.0",
    "0",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "①②⑦.⓪.⓪.①",
    "１２７．０．０．１",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "127.8.9.10",
    "pointing.example",
];
