//! The process in which a component is called, by us or by a host without limits.
//!
//! Invariant: whatever a component does to it, it ends with its limits and with whoever started it. Begin at [`inside`].

use std::io;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::call::{CallerKind, ComponentCall, SetupResult, tell};
use super::{held, plain};

/// The hidden word with which this executable calls a component and tells what became of it.
pub const INSIDE: &str = "component-host";

/// Files that this process may have open; a watch says when there is no room for one more.
const OPEN_FILES_MAX: u64 = 512;

/// Calls a component in this process. To be called before there is a second thread.
#[must_use]
pub fn inside(arguments: &[String]) -> ExitCode {
    let told = match arguments {
        [way, spec] => called(way, spec),
        _ => Err("a way and a call are expected".into()),
    };
    match told {
        Ok(()) => {
            tell("alive");
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell(&format!("broken {error}"));
            ExitCode::FAILURE
        }
    }
}

fn called(way: &str, spec: &str) -> SetupResult<()> {
    let spec: ComponentCall = serde_json::from_str(spec)?;
    limit()?;
    if way == CallerKind::Held.word() { held::call(&spec) } else { plain::call(&spec) }
}

/// Whatever a component does, this machine is not hurt.
fn limit() -> io::Result<()> {
    let at_most = |resource, most: u64| {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).map_err(io::Error::from)
    };
    at_most(Resource::Core, 0)?;
    at_most(Resource::Cpu, 60)?;
    at_most(Resource::Fsize, 256 << 20)?;
    at_most(Resource::Data, 3 << 30)?;
    at_most(Resource::Nofile, OPEN_FILES_MAX)
}
