//! `palyra`: the command line; `palyra serve` is the daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    palyra::program(std::env::args_os().collect())
}
