//! Groups of processes that the kernel counts together.
//!
//! Owns finding a place where groups may be made, making one for each program, and taking it away. Invariant: a group
//! is removed when its handle is dropped; what is left of a daemon that was killed is removed at the next start.
//! Source: cgroups(7).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use palyra_ports::{LimitRung, ProcessLimits};

/// Name of the folder that holds all our groups.
const FOLDER: &str = "palyra";

/// Where groups are made.
#[derive(Debug, Clone)]
pub(crate) struct ControlGroups {
    rung: LimitRung,
    /// With version 1 one folder for memory and one for processes; with version 2 one for both.
    folders: Vec<(Kind, PathBuf)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    V2,
    Memory,
    Processes,
}

/// One program's groups.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl ControlGroups {
    /// Finds a place where this process may make groups that count memory and processes.
    pub(crate) fn find() -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
        Self::find_v2(&own, &mounts).or_else(|| Self::find_v1(&own, &mounts))
    }

    fn find_v2(own: &str, mounts: &str) -> Option<Self> {
        let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
        let at = mount_of(mounts, "cgroup2", "")?.join(path.trim_start_matches('/'));
        let offered = fs::read_to_string(at.join("cgroup.subtree_control")).ok()?;
        let has = |name: &str| offered.split_ascii_whitespace().any(|offered| offered == name);
        let place = at.join(FOLDER);
        let made = has("memory") && has("pids") && make(&place).is_ok();
        let usable = made && fs::write(place.join("cgroup.subtree_control"), "+memory +pids").is_ok();
        usable.then(|| Self { rung: LimitRung::CgroupV2, folders: vec![(Kind::V2, place)] })
    }

    fn find_v1(own: &str, mounts: &str) -> Option<Self> {
        let folder = |controller: &str| -> Option<PathBuf> {
            let path = own.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let names = parts.next()?;
                names.split(',').any(|name| name == controller).then(|| parts.next()).flatten()
            })?;
            let place =
                mount_of(mounts, "cgroup", controller)?.join(path.trim_start_matches('/')).join(FOLDER);
            make(&place).ok().map(|()| place)
        };
        let folders = vec![(Kind::Memory, folder("memory")?), (Kind::Processes, folder("pids")?)];
        Some(Self { rung: LimitRung::CgroupV1, folders })
    }

    pub(crate) fn rung(&self) -> LimitRung {
        self.rung
    }

    /// Makes the groups of one program; `name` is used once.
    pub(crate) fn make(&self, name: &str, limits: &ProcessLimits) -> io::Result<Group> {
        let mut group = Group { folders: Vec::new() };
        for (kind, place) in &self.folders {
            let folder = place.join(name);
            // One of a maker of the same number that is gone.
            let _ = fs::remove_dir(&folder);
            fs::create_dir(&folder)?;
            group.folders.push(folder.clone());
            let set = |file: &str, value: u64| fs::write(folder.join(file), value.to_string());
            match kind {
                Kind::V2 => {
                    set("memory.max", limits.memory_bytes_max)?;
                    // Not everywhere there is swap to count.
                    let _ = set("memory.swap.max", 0);
                    set("pids.max", limits.processes_max)?;
                }
                Kind::Memory => {
                    set("memory.limit_in_bytes", limits.memory_bytes_max)?;
                    let _ = set("memory.memsw.limit_in_bytes", limits.memory_bytes_max);
                }
                Kind::Processes => set("pids.max", limits.processes_max)?,
            }
        }
        Ok(group)
    }
}

impl Group {
    /// Returns the files to which a process writes `0` to join.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.join("cgroup.procs")).collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes our folder, and removes what an earlier daemon left in it.
fn make(place: &Path) -> io::Result<()> {
    match fs::create_dir(place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    for left in fs::read_dir(place)?.flatten() {
        let name = left.file_name();
        let maker = name.to_str().and_then(|name| name.split_once('-')).map_or("", |(pid, _)| pid);
        // A group that is empty may belong to a program about to start.
        if !maker.is_empty() && !Path::new("/proc").join(maker).exists() {
            let _ = fs::remove_dir(left.path());
        }
    }
    // The folder may be another user's.
    let tried = place.join(format!("{}-tried", std::process::id()));
    fs::create_dir(&tried)?;
    fs::remove_dir(&tried)
}

/// Returns where a file system of a kind is mounted, given an option that it has to have.
fn mount_of(mounts: &str, kind: &str, option: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut parts = line.split(' ');
        let (at, found, options) = (parts.nth(1)?, parts.next()?, parts.next()?);
        let fits = found == kind && (option.is_empty() || options.split(',').any(|has| has == option));
        fits.then(|| PathBuf::from(at))
    })
}
