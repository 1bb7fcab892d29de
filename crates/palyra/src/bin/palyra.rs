//! `palyra`: the command line; `palyra serve` is the daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = palyra::held(std::env::args_os()) {
        return code;
    }
    palyra::program(std::env::args_os().collect())
}
