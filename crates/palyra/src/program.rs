//! Joins the command line and the daemon, which do not know each other.

use std::ffi::OsString;
use std::process::ExitCode;

use palyra_cli::ServeArgs;

/// Runs the program with these arguments, its own name first.
pub fn program(arguments: Vec<OsString>) -> ExitCode {
    palyra_cli::run(arguments, serve)
}

fn serve(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let ServeArgs { auto_started, state_dir, config, listen } = args;
    palyra_daemon::serve(palyra_daemon::ServeArgs { auto_started, state_dir, config, listen })
}
