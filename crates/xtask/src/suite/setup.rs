//! System packages that the suite cannot do without.
//!
//! Owns the list, how each is recognised, and installing what is missing with apt-get as root.
//! Installs nothing that is already there. Begin at [`setup`].

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::command;

/// Whether to change the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupAction {
    Do,
    /// Only say what would be done.
    Show,
}

/// A need, the command that shows it is met, and the packages that meet it.
struct SystemRequirement {
    what: &'static str,
    probe: &'static [&'static str],
    packages: &'static [&'static str],
}

const NEEDS: [SystemRequirement; 15] = [
    SystemRequirement {
        what: "a C compiler, for ring and the bundled SQLite",
        probe: &["cc", "--version"],
        packages: &["gcc", "libc6-dev"],
    },
    SystemRequirement { what: "make, for jemalloc", probe: &["make", "--version"], packages: &["make"] },
    SystemRequirement {
        what: "Python 3, for the tests that drive official client libraries",
        probe: &["python3", "--version"],
        packages: &["python3"],
    },
    SystemRequirement {
        what: "pip, which fetches the prebuilt tools",
        probe: &["python3", "-m", "pip", "--version"],
        packages: &["python3-pip", "python3-venv"],
    },
    SystemRequirement {
        what: "Node, for the tests that drive official client libraries",
        probe: &["node", "--version"],
        packages: &["nodejs"],
    },
    SystemRequirement {
        what: "npm, which fetches those libraries",
        probe: &["npm", "--version"],
        packages: &["npm"],
    },
    SystemRequirement {
        what: "Chromium, for the tests that watch from a browser",
        probe: &["chromium", "--version"],
        packages: &["chromium"],
    },
    SystemRequirement {
        what: "git, for tests over work trees",
        probe: &["git", "--version"],
        packages: &["git"],
    },
    SystemRequirement {
        what: "strace, which injects faults",
        probe: &["strace", "-V"],
        packages: &["strace"],
    },
    SystemRequirement {
        what: "mkfs.ext4, for the file systems of power cuts",
        probe: &["mkfs.ext4", "-V"],
        packages: &["e2fsprogs"],
    },
    SystemRequirement {
        what: "unshare, for file systems that end with their test",
        probe: &["unshare", "--version"],
        packages: &["util-linux", "mount"],
    },
    SystemRequirement {
        what: "dpkg-deb, for the packages",
        probe: &["dpkg-deb", "--version"],
        packages: &["dpkg"],
    },
    SystemRequirement {
        what: "strip, for the packages",
        probe: &["strip", "--version"],
        packages: &["binutils"],
    },
    SystemRequirement {
        what: "ip, for networks that lead nowhere but to their test",
        probe: &["ip", "-V"],
        packages: &["iproute2"],
    },
    SystemRequirement {
        what: "systemd-analyze, which checks the unit of the service",
        probe: &["systemd-analyze", "--version"],
        packages: &["systemd"],
    },
];

const INSTALL_TIME: Duration = Duration::from_secs(15 * 60);

/// Installs what is missing, or says what that is.
pub(crate) fn setup(mode: SetupAction) -> Result<ExitCode> {
    let missing = missing();
    for need in &missing {
        println!("missing: {}: apt-get install {}", need.what, need.packages.join(" "));
    }
    if missing.is_empty() {
        println!("setup: nothing is missing");
    } else if mode == SetupAction::Do {
        install(&missing)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes sure that nothing is missing: installs as root, else fails naming the command.
pub(super) fn ensure() -> Result<()> {
    if missing().is_empty() {
        return Ok(());
    }
    if !is_root() {
        let what: Vec<&str> = missing().iter().map(|need| need.what).collect();
        bail!("missing on this machine: {}; run `cargo xtask setup` as root", what.join(", "));
    }
    setup(SetupAction::Do).map(|_| ())
}

/// Makes sure that a program is there which only one command needs: installs its package as root.
pub(crate) fn ensure_program(program: &'static str, package: &'static str) -> Result<()> {
    let mut probe = Command::new(program);
    command::find_system_programs(&mut probe);
    let found = probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    if !is_root() {
        bail!("{program} is missing; run `apt-get install {package}` as root");
    }
    let deadline = Instant::now() + INSTALL_TIME;
    command::run(apt_get(&["update", "-q"]), deadline)?;
    command::run(apt_get(&["install", "-q", "-y", "--no-install-recommends", package]), deadline)
}

fn install(missing: &[&SystemRequirement]) -> Result<()> {
    if !is_root() {
        bail!("installing system packages needs root; run `cargo xtask setup` as root");
    }
    let deadline = Instant::now() + INSTALL_TIME;
    command::run(apt_get(&["update", "-q"]), deadline)?;
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages).copied().collect();
    let arguments = [&["install", "-q", "-y", "--no-install-recommends"], &packages[..]].concat();
    command::run(apt_get(&arguments), deadline)?;
    if let Some(still) = missing.iter().find(|need| !is_met(need)) {
        bail!("{} is still missing after installing {}", still.what, still.packages.join(" "));
    }
    Ok(())
}

fn apt_get(arguments: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn missing() -> Vec<&'static SystemRequirement> {
    NEEDS.iter().filter(|need| !is_met(need)).collect()
}

fn is_met(need: &SystemRequirement) -> bool {
    let [program, arguments @ ..] = need.probe else { return false };
    let mut command = Command::new(program);
    command::find_system_programs(&mut command);
    let status = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

pub(super) fn is_root() -> bool {
    let mut id = Command::new("id");
    id.arg("-u");
    command::read(id).is_ok_and(|uid| uid.trim() == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_met_when_its_probe_succeeds() {
        let need = |probe| SystemRequirement { what: "", probe, packages: &[] };
        assert!(is_met(&need(&["true"])));
        assert!(!is_met(&need(&["false"])));
        assert!(!is_met(&need(&["no-such-program-anywhere"])));
    }
}
