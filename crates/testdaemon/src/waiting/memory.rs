//! What the kernel says of a process's memory.

use anyhow::{Context, Result};

/// Resident memory, in KiB.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResidentMemory {
    /// All of it.
    pub(super) all_kib: u64,
    /// What is no file's.
    pub(super) own_kib: u64,
}

/// Returns a process's resident memory.
///
/// # Errors
/// When it is gone.
pub(super) fn resident(pid: u32) -> Result<ResidentMemory> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).with_context(|| format!("no {name}"))
    };
    Ok(ResidentMemory { all_kib: field("VmRSS:")?, own_kib: field("RssAnon:")? })
}
