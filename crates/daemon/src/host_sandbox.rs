//! The sandbox of this host: looked at once, when the first one asks or soon after the start.
//!
//! Owns the hidden sub-commands of the program: a keeper is this same executable, run again.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use palyra_ports::{
    ConfinedCommand, ConfinedProcess, LimitRung, ProcessSandbox, ProcessTier, SandboxError, SandboxOffer,
};
use palyra_runtime::health::{Check, CheckLevel};
use palyra_sandbox::Sandbox;

/// Stays the same when the file of the program is replaced.
const KEEPER: &str = "/proc/self/exe";

/// Does the work of a process that a daemon started to hold a program; `None` for any other process. To be asked
/// before there is a second thread.
#[must_use]
pub fn held(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let word = arguments.nth(1)?;
    if word == OsStr::new(palyra_sandbox::KEEP) {
        return Some(palyra_sandbox::keeper::run());
    }
    (word == OsStr::new(palyra_sandbox::PROBE)).then(palyra_sandbox::keeper::probe)
}

/// A sandbox that is probed when it is first needed.
pub(crate) struct HostSandbox {
    scratch: PathBuf,
    found: OnceLock<Sandbox>,
}

impl HostSandbox {
    /// Names the folder in which programs without a `/tmp` of their own get one.
    pub(crate) fn new(scratch: PathBuf) -> Arc<Self> {
        Arc::new(Self { scratch, found: OnceLock::new() })
    }

    fn found(&self) -> &Sandbox {
        self.found.get_or_init(|| Sandbox::probe(PathBuf::from(KEEPER), self.scratch.clone()))
    }

    /// Tells what holds the programs of tools here; probes if nobody did yet.
    pub(crate) fn check(&self) -> Check {
        let mut check = check_of(self.offer());
        check.found.push_str(user_note(rustix::process::geteuid()));
        check
    }
}

impl ProcessSandbox for HostSandbox {
    fn offer(&self) -> &SandboxOffer {
        self.found().offer()
    }

    fn start(
        &self,
        command: ConfinedCommand,
    ) -> BoxFuture<'static, Result<Box<dyn ConfinedProcess>, SandboxError>> {
        self.found().start(command)
    }
}

/// Returns what commands are beside how they are held: the user of the daemon.
fn user_note(user: rustix::process::Uid) -> &'static str {
    if user.is_root() {
        "; the daemon runs as root, and so do commands, without capabilities: run it as an ordinary user"
    } else {
        ""
    }
}

fn check_of(offer: &SandboxOffer) -> Check {
    let name = "tool_isolation";
    let (confined, isolated) =
        (offer.missing_for(ProcessTier::Confined), offer.missing_for(ProcessTier::Isolated));
    if let Some(mechanism) = confined {
        return Check {
            name,
            level: CheckLevel::Error,
            found: format!("commands are refused: this host has no {mechanism}; files only by descriptor"),
            mend: "run a kernel with Landlock (5.13 or newer) and seccomp; docs/sandbox.md says what each is for",
        };
    }
    let tier = match isolated {
        None => "commands run in namespaces of their own (tier C)".to_owned(),
        Some(_) => format!(
            "commands run without namespaces (tier B), and without network: {}",
            offer.namespaces_missing
        ),
    };
    let limits = match offer.limits {
        LimitRung::CgroupV2 => "memory and processes counted by cgroup v2",
        LimitRung::CgroupV1 => "memory and processes counted by cgroup v1",
        LimitRung::ProcessLimits => "limits of each process, and a watch over the memory of all together",
    };
    let found =
        format!("{tier}; Landlock {}, seccomp; {limits}; files only by descriptor", offer.landlock_abi);
    let (level, mend) = match (isolated, offer.limits) {
        (Some(_), _) => (
            CheckLevel::Warning,
            "let unprivileged users make namespaces (kernel.unprivileged_userns_clone=1)",
        ),
        (None, LimitRung::ProcessLimits) => {
            (CheckLevel::Ok, "a delegated control group counts exactly: `Delegate=yes` in the systemd unit")
        }
        (None, LimitRung::CgroupV1 | LimitRung::CgroupV2) => (CheckLevel::Ok, ""),
    };
    Check { name, level, found, mend }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let nothing = check_of(&SandboxOffer::default());
        assert_eq!(nothing.level, CheckLevel::Error);
        assert!(nothing.found.contains("Landlock"), "{}", nothing.found);
        let without = SandboxOffer {
            landlock_abi: 6,
            syscall_filter: true,
            namespaces_missing: "user namespaces are switched off".to_owned(),
            ..SandboxOffer::default()
        };
        let without = check_of(&without);
        assert_eq!(without.level, CheckLevel::Warning);
        assert!(without.found.contains("switched off"), "{}", without.found);
    }

    #[test]
    fn a_daemon_of_root_says_that_commands_are_root_too() {
        assert!(user_note(rustix::process::Uid::ROOT).contains("runs as root"));
        assert_eq!(user_note(rustix::process::Uid::from_raw(1000)), "");
    }

    #[test]
    fn only_the_hidden_words_are_ours() {
        for word in ["serve", "run", "sandbox", ""] {
            assert!(held(["palyra", word].map(OsString::from).into_iter()).is_none(), "{word}");
        }
        assert!(held(std::iter::empty()).is_none());
    }
}
