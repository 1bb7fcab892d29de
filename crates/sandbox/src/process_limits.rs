//! Limits of each process, which every host has.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::message::Limits;

/// Sets the limits of this process and of all that it starts; none can be raised again.
pub(crate) fn set(limits: &Limits) -> io::Result<()> {
    let mut all = vec![
        (Resource::Core, 0),
        (Resource::Nproc, limits.processes_max),
        (Resource::Nofile, limits.open_files_max),
        (Resource::Fsize, limits.file_bytes_max),
        (Resource::Cpu, limits.processor_secs_max),
        (Resource::Memlock, 64 * 1024),
        (Resource::Msgqueue, 0),
    ];
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
