//! `palyrad`: the same program as daemon, `palyra serve` under a name of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = palyra::start_confined(std::env::args_os()) {
        return code;
    }
    palyra::program(palyra::daemon_words(std::env::args_os().collect()))
}
