//! The daemon with tools for tests: `palyra-testdaemon STATE_DIR`, never part of what ships.

use std::process::ExitCode;

use anyhow::Context;
use palyra_daemon::{ServeArgs, serve_equipped};
use palyra_testdaemon::tools::{EFFECTS_VARIABLE, KEYED_VARIABLE, equipment};

fn main() -> anyhow::Result<ExitCode> {
    let state_dir = std::env::args_os().nth(1).context("it takes a state directory")?;
    let effects =
        std::env::var_os(EFFECTS_VARIABLE).with_context(|| format!("{EFFECTS_VARIABLE} is not set"))?;
    let args = ServeArgs { state_dir: Some(state_dir.into()), ..ServeArgs::default() };
    let keyed = std::env::var(KEYED_VARIABLE).ok();
    serve_equipped(args, equipment(effects.as_ref(), keyed.as_deref()))
}
