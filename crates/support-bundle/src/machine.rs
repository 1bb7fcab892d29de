//! The machine: versions, and what the kernel offers to sandboxes.

use std::path::Path;

use palyra_client::build_id_of;
use serde_json::{Map, Value, json};

/// Switches and facts of the kernel that decide about the tiers of the sandbox.
const KERNEL_FILES: [&str; 8] = [
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/kernel/yama/ptrace_scope",
    "/proc/sys/kernel/seccomp/actions_avail",
    "/sys/kernel/security/lsm",
    "/sys/fs/cgroup/cgroup.controllers",
    "/sys/fs/cgroup/cgroup.subtree_control",
];
/// Fields of a process's status that say what holds it, and how large it is.
const PROCESS_FIELDS: [&str; 8] =
    ["VmRSS", "VmHWM", "VmSize", "Threads", "FDSize", "NoNewPrivs", "Seccomp", "Seccomp_filters"];
const FACT_CHARS_MAX: usize = 400;

/// Returns the versions of program and system.
pub(crate) fn versions(program: &Path) -> Value {
    let system = rustix::system::uname();
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let named = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    json!({
        "palyra": env!("CARGO_PKG_VERSION"),
        "build": build_id_of(program).ok(),
        "profile": if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" },
        "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "kernel": system.release().to_string_lossy(),
        "machine": system.machine().to_string_lossy(),
        "system": named.map(|name| name.trim_matches('"')),
        "processors": std::thread::available_parallelism().map(usize::from).unwrap_or_default(),
    })
}

/// Returns what the kernel offers to sandboxes, as far as it can be read.
pub(crate) fn sandbox() -> Value {
    let mut facts = Map::new();
    for file in KERNEL_FILES {
        facts.insert(file.to_owned(), fact(file).into());
    }
    facts.insert("this_process".to_owned(), process("self"));
    facts.insert("is_in_container".to_owned(), is_in_container().into());
    facts.into()
}

/// Returns the figures of a process, such as `self` or a number.
pub(crate) fn process(of: &str) -> Value {
    let status = std::fs::read_to_string(format!("/proc/{of}/status")).unwrap_or_default();
    let mut figures = Map::new();
    for (name, value) in status.lines().filter_map(|line| line.split_once(':')) {
        if PROCESS_FIELDS.contains(&name) {
            figures.insert(name.to_owned(), value.trim().into());
        }
    }
    if let Ok(open) = std::fs::read_dir(format!("/proc/{of}/fd")) {
        figures.insert("open_files".to_owned(), open.count().into());
    }
    figures.into()
}

fn fact(file: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.trim().chars().take(FACT_CHARS_MAX).collect())
}

fn is_in_container() -> bool {
    ["/.dockerenv", "/run/.containerenv"].iter().any(|file| Path::new(file).exists())
        || std::env::var_os("container").is_some()
}
