//! `palyra`: the command line; `palyra serve` is the daemon, and so is a link to it with the name
//! `palyrad`.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = palyra::start_confined(std::env::args_os()) {
        return code;
    }
    palyra::program(palyra::words(std::env::args_os().collect()))
}
