//! The sandbox of this host: looked at once, when the first one asks or soon after the start.
//!
//! Owns the hidden sub-commands of the program: a keeper is this same executable, run again.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_ports::{
    ConfinedCommand, ConfinedProcess, LimitRung, ProcessSandbox, ProcessTier, SandboxError, SandboxOffer,
};
use palyra_sandbox::Sandbox;

/// Stays the same when the file of the program is replaced.
const KEEPER: &str = "/proc/self/exe";

/// Does the work of a process that a daemon started to hold a program; `None` for any other process. To be asked
/// before there is a second thread.
#[must_use]
pub fn start_confined(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
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
    pub(crate) fn check(&self) -> HealthCheck {
        let mut check = check_of(self.offer());
        check.found.push_str(&user_note(
            rustix::process::geteuid(),
            self.offer(),
            self.found().runs_as_root().map(|(workspace, why)| RootWorkspace { workspace, why }),
        ));
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

/// A workspace whose programs run as root, and why.
struct RootWorkspace {
    workspace: PathBuf,
    why: io::Error,
}

/// Returns what commands are beside how they are held: as whom they run where the daemon is root.
fn user_note(
    user: rustix::process::Uid,
    offer: &SandboxOffer,
    runs_as_root: Option<RootWorkspace>,
) -> String {
    if !user.is_root() {
        return String::new();
    }
    if !offer.own_users {
        let missing = &offer.own_users_missing;
        return format!(
            "; the daemon runs as root, and so do commands, without capabilities, for this host cannot give them a \
             user of their own ({missing}): run it as an ordinary user"
        );
    }
    let note = "; the daemon runs as root, and commands as unprivileged users of their own";
    match runs_as_root {
        None => note.to_owned(),
        Some(RootWorkspace { workspace, why }) => format!(
            "{note}, but in {} as root without capabilities, for its file system has no idmapped mounts ({why})",
            workspace.display()
        ),
    }
}

fn check_of(offer: &SandboxOffer) -> HealthCheck {
    let name = "tool_isolation";
    let (confined, isolated) =
        (offer.missing_for(ProcessTier::Confined), offer.missing_for(ProcessTier::Isolated));
    if let Some(mechanism) = confined {
        return HealthCheck {
            name,
            level: CheckLevel::Error,
            found: format!("commands are refused: this host has no {mechanism}; files only by descriptor"),
            mend: "run a kernel with Landlock (5.13 or newer) and seccomp; `palyra explain docs/sandbox.md` says what each is for",
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
    HealthCheck { name, level, found, mend }
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
    fn a_daemon_of_root_says_as_whom_commands_run() {
        use rustix::process::Uid;
        let with = SandboxOffer { own_users: true, ..SandboxOffer::default() };
        let without =
            SandboxOffer { own_users_missing: "idmapped mount: no".to_owned(), ..SandboxOffer::default() };
        let why = io::Error::from_raw_os_error(22);
        let unmapped = RootWorkspace { workspace: PathBuf::from("/work"), why };
        assert_eq!(user_note(Uid::from_raw(1000), &SandboxOffer::default(), None), "");
        for (offer, noted, words) in [
            (&with, None, &["runs as root", "users of their own"][..]),
            (&with, Some(unmapped), &["users of their own", "but in /work as root", "Invalid argument"]),
            (&without, None, &["and so do commands", "idmapped mount: no", "ordinary user"]),
        ] {
            let note = user_note(Uid::ROOT, offer, noted);
            assert!(words.iter().all(|word| note.contains(word)), "{note}");
        }
    }

    #[test]
    fn only_the_hidden_words_are_ours() {
        for word in ["serve", "run", "sandbox", ""] {
            assert!(start_confined(["palyra", word].map(OsString::from).into_iter()).is_none(), "{word}");
        }
        assert!(start_confined(std::iter::empty()).is_none());
    }
}
