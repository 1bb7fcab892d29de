//! `palyrad`: the same program as daemon, `palyra serve` under a name of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = palyra::held(std::env::args_os()) {
        return code;
    }
    let mut arguments: Vec<_> = std::env::args_os().collect();
    arguments.insert(1.min(arguments.len()), "serve".into());
    palyra::program(arguments)
}
