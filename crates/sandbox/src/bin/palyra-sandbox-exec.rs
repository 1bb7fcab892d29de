//! A keeper by itself, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(palyra_sandbox::KEEP) => palyra_sandbox::keeper::run(),
        Some(palyra_sandbox::PROBE) => palyra_sandbox::keeper::probe(),
        _ => ExitCode::FAILURE,
    }
}
