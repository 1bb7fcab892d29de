//! Limits of each process, which every host has.
//!
//! Owns their numbers. One of them the kernel counts for all that a user runs in the same table of users, so that it
//! depends on who else is there.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::message::{KeeperOrder, Namespaces};

/// Sets the limits of this process and of all that it starts; none can be raised again.
pub(crate) fn set(order: &KeeperOrder) -> io::Result<()> {
    let limits = &order.limits;
    let mut all = vec![
        (Resource::Core, 0),
        (Resource::Nofile, limits.open_files_max),
        (Resource::Fsize, limits.file_bytes_max),
        (Resource::Cpu, limits.processor_secs_max),
        (Resource::Memlock, 64 * 1024),
        (Resource::Msgqueue, 0),
    ];
    match (order.namespaces, limits.memory_is_counted) {
        (Namespaces::Own, _) => all.push((Resource::Nproc, limits.processes_max)),
        // The group counts them.
        (Namespaces::None, true) => {}
        (Namespaces::None, false) => {
            all.push((Resource::Nproc, limits.processes_max.saturating_add(tasks_of_this_user()?)));
        }
    }
    if !limits.memory_is_counted {
        all.push((Resource::As, limits.memory_bytes_max));
    }
    for (resource, wanted) in all {
        let allowed = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Some(wanted.min(allowed));
        setrlimit(resource, Rlimit { current: limit, maximum: limit })?;
    }
    Ok(())
}

/// Counts the processes and threads that this user has already.
fn tasks_of_this_user() -> io::Result<u64> {
    let user = rustix::process::getuid().as_raw();
    let mut tasks = 0;
    for process in fs::read_dir("/proc")?.flatten() {
        // One link for each thread, and two for the folder itself; one that has just ended has none.
        let Ok(threads) = fs::metadata(process.path().join("task")) else { continue };
        if threads.uid() == user {
            tasks += threads.nlink().saturating_sub(2);
        }
    }
    Ok(tasks)
}
