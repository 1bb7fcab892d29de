//! The compiler of components as a program of its own, for tests; the daemon runs itself for it.

use std::process::ExitCode;

fn main() -> ExitCode {
    palyra_wasm::compile(std::env::args_os().skip(2))
}
