//! Where stories begin, and which calls of the daemon belong to them.

use std::fmt;

use crate::strace::SystemCall;

/// Calls of a start that are tried after the daemon serves: what was caught in mid-flight goes on there.
const AFTER_READY: usize = 60;

/// The part of the run in which the daemon is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunLeg {
    /// The whole run.
    Run,
    /// A start over what a kill left: the server had done it, and nobody had written that down.
    AfterKeyed,
    /// A start over what a kill left: the counter had counted, and nobody had written that down.
    AfterCounter,
    /// A start over what a kill left: a file was staged and not yet in its place.
    AfterStaging,
}

impl RunLeg {
    /// In the order in which they are tried.
    pub(super) const ALL: [Self; 4] = [Self::Run, Self::AfterKeyed, Self::AfterCounter, Self::AfterStaging];

    /// Returns the place of the call at which the daemon before this leg is killed, in a recording of the run.
    pub(super) fn killed_before(self, calls: &[SystemCall]) -> Option<usize> {
        let counts = |call: &SystemCall| call.kind == "write" && is_of(call, "/effects");
        match self {
            Self::Run => None,
            Self::AfterCounter => {
                calls.iter().position(|call| call.kind == "fsync" && is_of(call, "/effects"))
            }
            Self::AfterStaging => calls.iter().position(|call| call.kind.starts_with("rename")),
            // The last commit before the counter's first line holds what became of the request to the server.
            Self::AfterKeyed => {
                let before = calls.iter().position(counts)?;
                let mut syncs = (0..before).rev().filter(|place| is_sync(&calls[*place]));
                let begun = syncs.nth(1)?;
                (begun..before).find(|place| calls[*place].kind == "pwrite64")
            }
        }
    }

    /// Returns the calls of a recording that are disturbed: all of the run, or those of a start and a little more.
    pub(super) fn disturbed(self, calls: &[SystemCall]) -> usize {
        let ready =
            calls.iter().position(|call| call.path.as_ref().is_some_and(|path| path.starts_with("pipe:")));
        match (self, ready) {
            (Self::AfterKeyed | Self::AfterCounter | Self::AfterStaging, Some(ready)) => {
                calls.len().min(ready + AFTER_READY)
            }
            (_, _) => calls.len(),
        }
    }
}

impl fmt::Display for RunLeg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::AfterKeyed => "start, killed in a keyed call",
            Self::AfterCounter => "start, killed in an opaque call",
            Self::AfterStaging => "start, killed in a file change",
        })
    }
}

fn is_of(call: &SystemCall, end: &str) -> bool {
    call.path.as_ref().is_some_and(|path| path.ends_with(end))
}

fn is_sync(call: &SystemCall) -> bool {
    is_of(call, "journal.db-wal") && (call.kind == "fsync" || call.kind == "fdatasync")
}
