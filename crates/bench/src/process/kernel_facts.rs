//! What the kernel says of a process: memory, threads, processor time, wake-ups.

use std::time::Duration;

use anyhow::Context;

const BYTES_PER_KIB: f64 = 1_024.0;

/// Memory and threads of a process at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ResidentMemory {
    /// Resident memory in MiB.
    pub all_mib: f64,
    /// The part of it that is not a file's.
    pub own_mib: f64,
    /// Threads.
    pub threads: usize,
}

/// Returns memory and threads of a process.
///
/// # Errors
/// When it is gone.
pub fn resident(pid: u32) -> anyhow::Result<ResidentMemory> {
    let status = read(pid, "status")?;
    // One that has ended and was not waited for has threads, but no memory.
    let mib = |name| anyhow::Ok(field(&status, name).context("the process has ended")? / BYTES_PER_KIB);
    Ok(ResidentMemory { all_mib: mib("VmRSS:")?, own_mib: mib("RssAnon:")?, threads: threads(pid)?.len() })
}

/// Returns how many descriptors a process has open.
///
/// # Errors
/// When it is gone.
pub fn descriptors(pid: u32) -> anyhow::Result<usize> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/fd")).context("the process is gone")?;
    Ok(folder.flatten().count())
}

/// Returns how much processor time all threads of a process have used.
///
/// # Errors
/// When it is gone.
pub fn processor_time(pid: u32) -> anyhow::Result<Duration> {
    let of = |thread: &String| {
        let text = read(pid, &format!("task/{thread}/schedstat")).unwrap_or_default();
        text.split_whitespace().next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0)
    };
    Ok(Duration::from_nanos(threads(pid)?.iter().map(of).sum()))
}

/// Returns how often the threads of a process have gone to sleep, which is how often they were woken.
///
/// # Errors
/// When it is gone.
pub fn sleeps(pid: u32) -> anyhow::Result<f64> {
    let of = |thread: &String| {
        let status = read(pid, &format!("task/{thread}/status")).unwrap_or_default();
        field(&status, "voluntary_ctxt_switches:").unwrap_or(0.0)
    };
    Ok(threads(pid)?.iter().map(of).sum())
}

/// Returns how many bytes a process has handed to the kernel to write, into files and sockets.
///
/// # Errors
/// When it is gone or belongs to someone else.
pub fn bytes_written(pid: u32) -> anyhow::Result<u64> {
    let io = read(pid, "io")?;
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|count| count.trim().parse().ok()).context("the kernel does not count bytes here")
}

fn threads(pid: u32) -> anyhow::Result<Vec<String>> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/task")).context("the process is gone")?;
    Ok(folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect())
}

fn read(pid: u32, name: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(format!("/proc/{pid}/{name}")).context("the process is gone")
}

fn field(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known_to_the_kernel() {
        let pid = std::process::id();
        let found = resident(pid).expect("alive");
        assert!(found.all_mib > 0.5 && found.own_mib <= found.all_mib && found.threads >= 1, "{found:?}");
        assert!(processor_time(pid).expect("alive") > Duration::ZERO);
        assert!(bytes_written(pid).is_ok());
        assert!(descriptors(pid).expect("alive") >= 3);
        assert!(sleeps(pid).is_ok() && resident(u32::MAX).is_err());
    }
}
