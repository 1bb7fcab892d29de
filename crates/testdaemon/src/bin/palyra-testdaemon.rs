//! The daemon with tools for tests: `palyra-testdaemon STATE_DIR`, never part of what ships.

use std::process::ExitCode;

use anyhow::Context;
use palyra_daemon::{ServeArgs, serve_with_tools};
use palyra_testdaemon::tool_setup::{TestSettings, effects_file};

fn main() -> anyhow::Result<ExitCode> {
    if let Some(code) = palyra_daemon::start_confined(std::env::args_os()) {
        return Ok(code);
    }
    let state_dir = std::env::args_os().nth(1).context("it takes a state directory")?;
    let setting = TestSettings::from_environment()?;
    let effects = effects_file()?;
    let healing_window = setting.healing_window;
    let args = ServeArgs { state_dir: Some(state_dir.into()), healing_window, ..ServeArgs::default() };
    serve_with_tools(args, |place| setting.tool_setup(effects.as_ref(), place))
}
