//! One call of a component, and what the process in which it happens tells of it.
//!
//! Invariant: it tells in lines what became of it: `began`, `ended`, `beside`, `memory`, `files`, `used`, `alive`. Begin at
//! [`ComponentCall`].

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who calls the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallerKind {
    /// We, as a daemon does.
    Held,
    /// A host without limits that gives everything.
    Plain,
}

impl CallerKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Plain => "plain",
        }
    }
}

/// What is done with the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CallAction {
    /// It is called.
    Run,
    /// It is asked what it is.
    Describe,
    /// It is looked at before a person adds it, which compiles it.
    Add,
}

/// Which files of the workspace it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FileAccess {
    None,
    Read,
    Change,
}

/// One call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ComponentCall {
    pub(super) component: PathBuf,
    pub(super) ask: CallAction,
    pub(super) arguments: String,
    /// The workspace, and beside it the folder of what is outside.
    pub(super) work: PathBuf,
    pub(super) scratch: PathBuf,
    pub(super) files: FileAccess,
    /// What it may ask, each with its port.
    pub(super) hosts: Vec<String>,
    /// What the operator lets be reached of this machine.
    pub(super) lifted: Vec<String>,
    pub(super) fuel: u64,
    pub(super) time_max: Duration,
    /// An honest component that is called beside it.
    pub(super) beside: Option<PathBuf>,
    /// What the same component is told by the next caller.
    pub(super) again: Option<String>,
}

impl ComponentCall {
    /// Returns a call with nothing to reach and more fuel and time than it needs.
    pub(super) fn of(component: PathBuf, work: PathBuf, scratch: PathBuf) -> Self {
        Self {
            component,
            ask: CallAction::Run,
            arguments: "told".to_owned(),
            work,
            scratch,
            files: FileAccess::None,
            hosts: Vec::new(),
            lifted: Vec::new(),
            fuel: u64::MAX,
            time_max: Duration::from_secs(600),
            beside: None,
            again: None,
        }
    }
}

/// Bytes by which this process may grow before it says so: four times what a call may have.
const MEMORY_BYTES_MAX: u64 = 256 << 20;
/// Processor time after which this process says so; of its own, not of what it started.
const PROCESSOR_TIME_MAX: Duration = Duration::from_secs(3);

/// What may go wrong before a component is called.
pub(super) type SetupResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Says something to whoever started this.
pub(super) fn tell(what: &str) {
    let mut out = io::stdout().lock();
    // Who listened may have heard enough.
    let _ = writeln!(out, "{what}").and_then(|()| out.flush());
}

/// Says that the component is on now, and watches this process from here on.
pub(super) fn begin() -> io::Result<()> {
    // From here on the peak is counted anew (proc(5)).
    std::fs::write("/proc/self/clear_refs", "5")?;
    let (before, used) = (peak_bytes()?, processor_time());
    tell("began");
    std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
        let (mut large, mut busy, mut full) = (false, false, false);
        loop {
            let now = peak_bytes().unwrap_or(0);
            print_once(&mut large, now.saturating_sub(before) > MEMORY_BYTES_MAX, "memory");
            print_once(&mut busy, processor_time().saturating_sub(used) > PROCESSOR_TIME_MAX, "used");
            // Closed at once: what is held here is left when all others are taken.
            print_once(&mut full, std::fs::File::open("/dev/null").is_err(), "files");
            std::thread::sleep(Duration::from_millis(3));
        }
    })?;
    Ok(())
}

fn print_once(said: &mut bool, now: bool, what: &str) {
    if now && !*said {
        *said = true;
        tell(what);
    }
}

/// Says that the component's call is over, with what it answered.
pub(super) fn end(answer: &str) {
    // One more look, because what grew last may have grown since the watch looked.
    std::thread::sleep(Duration::from_millis(10));
    tell(&format!("answer {answer}"));
    tell("ended");
}

fn peak_bytes() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map(|kib| kib << 10).ok_or_else(|| io::Error::other("there is no peak"))
}

fn processor_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::from_secs(u64::try_from(spent.tv_sec).unwrap_or(0))
}
