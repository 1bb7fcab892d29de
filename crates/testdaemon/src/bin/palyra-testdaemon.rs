//! The daemon with tools for tests: `palyra-testdaemon STATE_DIR`, never part of what ships.

use std::process::ExitCode;

use anyhow::Context;
use palyra_daemon::{ServeArgs, serve_equipped};
use palyra_testdaemon::equipment::{Setting, effects_file};

fn main() -> anyhow::Result<ExitCode> {
    let state_dir = std::env::args_os().nth(1).context("it takes a state directory")?;
    let args = ServeArgs { state_dir: Some(state_dir.into()), ..ServeArgs::default() };
    let equipment = Setting::from_environment()?.equipment(effects_file()?.as_ref());
    serve_equipped(args, equipment)
}
