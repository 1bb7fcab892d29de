//! The compiler, in a process of its own: whatever a component does to it, it ends with that process.
//!
//! Invariant: it reads one file and writes native code to its standard output, and nothing else. What it cannot compile
//! is told on standard error in one line, with an exit code that says whose fault it is.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use wasmtime::Engine;

use crate::compile_cache::{HOST, MALFORMED};
use crate::compiled::one_line;
use crate::engine_settings;
use crate::limits::COMPONENT_BYTES_MAX;

/// Compiles the file that the first of these arguments names. To be called before there is a second thread.
#[must_use]
pub fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let told = |code: u8, why: &str| {
        // Who started this may be gone.
        let _ = writeln!(std::io::stderr(), "{why}");
        ExitCode::from(code)
    };
    let Some(path) = arguments.next() else { return told(HOST, "no file was named") };
    let bytes = match read(Path::new(&path)) {
        Ok(bytes) => bytes,
        Err(error) => return told(HOST, &format!("the component cannot be read: {error}")),
    };
    let engine = match Engine::new(&engine_settings::settings()) {
        Ok(engine) => engine,
        Err(error) => return told(HOST, &one_line(&error)),
    };
    match engine.precompile_component(&bytes) {
        Ok(native) => match std::io::stdout().write_all(&native) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => told(HOST, &error.to_string()),
        },
        Err(error) => told(MALFORMED, &one_line(&error)),
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(COMPONENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
