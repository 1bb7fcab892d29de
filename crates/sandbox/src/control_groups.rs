//! Groups of processes that the kernel counts together.
//!
//! Owns finding a place where groups may be made, making one for each program, and taking it away. Invariant: a group
//! is removed when its handle is dropped, and whoever is left in it ends; so does, at the next start, what is left of a
//! daemon that was killed, and of no other.
//! Source: cgroups(7).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use palyra_ports::{LimitRung, ProcessLimits};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::locked_dir::LockedDir;
use crate::spawn_blocking::spawn_blocking;

/// Name of the folder that holds all our groups.
const FOLDER: &str = "palyra";
/// The file of a group that lists its processes, and to which one is added.
const PROCESSES: &str = "cgroup.procs";
/// The same of a thread: where one moves itself, the kernel need not hold up everybody who forks, for tens of milliseconds.
const THREADS: &str = "tasks";
/// The file of a group that says what is counted below it.
const DIVISION: &str = "cgroup.subtree_control";
/// Name of the group of the daemon itself, where it was given the one above.
const DAEMON: &str = "palyra-daemon";
/// The part of the processors that all programs have together where others want them too: a twentieth of what anybody has
/// by default, which is 100 in version 2 and 1024 in version 1.
const WEIGHT: u64 = 5;
const SHARES: u64 = 51;
/// How long the end of a killed process is waited for.
const END_PAUSE_MAX: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Where groups are made.
#[derive(Debug, Clone)]
pub(crate) struct ControlGroups {
    rung: LimitRung,
    /// With version 1 one folder for memory and one for processes; with version 2 one for both.
    folders: Vec<(GroupKind, PathBuf)>,
    /// Whether they weigh less than others where processors are short.
    weighed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GroupKind {
    V2,
    Memory,
    Processes,
    Processor,
}

/// One program's groups.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    folders: Vec<(GroupKind, LockedDir)>,
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
        // A group that has processes cannot be divided: who gives us one puts the daemon into a group below it.
        let divided = if at.ends_with(DAEMON) { at.parent()?.to_owned() } else { at };
        if divided.join(DAEMON).exists() {
            let _ = fs::write(divided.join(DIVISION), "+memory +pids");
            let _ = fs::write(divided.join(DIVISION), "+cpu");
        }
        let offered = fs::read_to_string(divided.join(DIVISION)).ok()?;
        let has = |name: &str| offered.split_ascii_whitespace().any(|offered| offered == name);
        let place = divided.join(FOLDER);
        let made = has("memory") && has("pids") && make(GroupKind::V2, &place).is_ok();
        let usable = made && fs::write(place.join(DIVISION), "+memory +pids").is_ok();
        let weighed = usable && has("cpu") && fs::write(place.join("cpu.weight"), WEIGHT.to_string()).is_ok();
        if weighed {
            // Among each other they weigh the same.
            let _ = fs::write(place.join(DIVISION), "+cpu");
        }
        usable.then(|| Self { rung: LimitRung::CgroupV2, folders: vec![(GroupKind::V2, place)], weighed })
    }

    fn find_v1(own: &str, mounts: &str) -> Option<Self> {
        let folder = |kind: GroupKind, controller: &str| -> Option<(GroupKind, PathBuf)> {
            let path = own.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let names = parts.next()?;
                names.split(',').any(|name| name == controller).then(|| parts.next()).flatten()
            })?;
            let place =
                mount_of(mounts, "cgroup", controller)?.join(path.trim_start_matches('/')).join(FOLDER);
            make(kind, &place).ok().map(|()| (kind, place))
        };
        let mut folders = vec![folder(GroupKind::Processes, "pids")?, folder(GroupKind::Memory, "memory")?];
        let shared = folder(GroupKind::Processor, "cpu");
        let weigh = |place: &Path| fs::write(place.join("cpu.shares"), SHARES.to_string()).is_ok();
        let weighed = shared.as_ref().is_some_and(|(_, place)| weigh(place));
        folders.extend(shared);
        Some(Self { rung: LimitRung::CgroupV1, folders, weighed })
    }

    pub(crate) fn rung(&self) -> LimitRung {
        self.rung
    }

    /// Says whether programs in these groups stand back by that alone.
    pub(crate) fn weighed(&self) -> bool {
        self.weighed
    }

    /// Makes the groups of one program; `name` is used once.
    pub(crate) fn make(&self, name: &str) -> io::Result<ControlGroup> {
        let mut group = ControlGroup { folders: Vec::new() };
        for (kind, place) in &self.folders {
            group.folders.push((*kind, LockedDir::make(place, name)?));
        }
        Ok(group)
    }
}

impl ControlGroup {
    /// Sets what all processes of the group may use up together.
    pub(crate) fn limit(&self, limits: &ProcessLimits) -> io::Result<()> {
        for (kind, folder) in &self.folders {
            let set = |file: &str, value: u64| fs::write(folder.path.join(file), value.to_string());
            match kind {
                GroupKind::V2 => {
                    set("memory.max", limits.memory_bytes_max)?;
                    // Not everywhere there is swap to count.
                    let _ = set("memory.swap.max", 0);
                    set("pids.max", limits.processes_max)?;
                }
                GroupKind::Memory => {
                    set("memory.limit_in_bytes", limits.memory_bytes_max)?;
                    let _ = set("memory.memsw.limit_in_bytes", limits.memory_bytes_max);
                }
                GroupKind::Processes => set("pids.max", limits.processes_max)?,
                GroupKind::Processor => {}
            }
        }
        Ok(())
    }

    /// Returns the files to which a process of one thread writes `0` to be held.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let file = |(kind, folder): &(GroupKind, LockedDir)| match kind {
            GroupKind::V2 => Some(folder.path.join(PROCESSES)),
            GroupKind::Memory | GroupKind::Processes => Some(folder.path.join(THREADS)),
            GroupKind::Processor => None,
        };
        self.folders.iter().filter_map(file).collect()
    }

    /// Returns the files to which it writes `0` to share processors fairly.
    pub(crate) fn share_files(&self) -> Vec<PathBuf> {
        let shares = self.folders.iter().filter(|(kind, _)| *kind == GroupKind::Processor);
        shares.map(|(_, folder)| folder.path.join(THREADS)).collect()
    }

    /// Takes it away; may wait for processes that are left in it.
    pub(crate) fn remove(mut self) {
        remove_all(&std::mem::take(&mut self.folders));
    }

    /// Says whether the kernel ended a process of the group for its memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let ended = |file: PathBuf| {
            let counts = fs::read_to_string(file).unwrap_or_default();
            counts.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|count| count.trim() != "0")
        };
        self.folders.iter().any(|(kind, folder)| match kind {
            GroupKind::V2 => ended(folder.path.join("memory.events")),
            GroupKind::Memory => ended(folder.path.join("memory.oom_control")),
            GroupKind::Processes | GroupKind::Processor => false,
        })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let folders = std::mem::take(&mut self.folders);
        if !folders.is_empty() {
            spawn_blocking(move || remove_all(&folders));
        }
    }
}

fn remove_all(folders: &[(GroupKind, LockedDir)]) {
    for (kind, folder) in folders {
        let _ = remove(*kind, &folder.path);
    }
}

/// Removes a group, and ends whoever is still in it: there are such only when their keeper was killed.
fn remove(kind: GroupKind, folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {}
        done => return done,
    }
    match kind {
        GroupKind::V2 => fs::write(folder.join("cgroup.kill"), "1")?,
        GroupKind::Processes => fs::write(folder.join("pids.max"), "0")?,
        GroupKind::Memory | GroupKind::Processor => {}
    }
    for pid in fs::read_to_string(folder.join(PROCESSES))?.lines().filter_map(|pid| pid.parse().ok()) {
        end_one_of(folder, pid);
    }
    fs::remove_dir(folder)
}

/// Ends a process and waits for that, if it is in the group.
fn end_one_of(folder: &Path, pid: i32) {
    let Some(process) = Pid::from_raw(pid) else { return };
    // The number may be another process's by now; the descriptor's will not be.
    let Ok(process) = rustix::process::pidfd_open(process, PidfdFlags::empty()) else { return };
    let still = fs::read_to_string(folder.join(PROCESSES)).unwrap_or_default();
    if still.lines().any(|one| one == pid.to_string()) {
        let _ = rustix::process::pidfd_send_signal(&process, Signal::KILL);
        let mut ended = [PollFd::new(&process, PollFlags::IN)];
        let _ = rustix::event::poll(&mut ended, Some(&END_PAUSE_MAX));
    }
}

/// Makes our folder, and removes what an earlier daemon left in it.
fn make(kind: GroupKind, place: &Path) -> io::Result<()> {
    match fs::create_dir(place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    for left in LockedDir::abandoned(place, "")? {
        let _ = remove(kind, &left.path);
    }
    // The folder may be another user's.
    let tried = LockedDir::make(place, &format!("{}-tried", std::process::id()))?;
    fs::remove_dir(&tried.path)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like version 2, as far as files without a kernel behind them can.
    fn hierarchy(own: &str, divided: &str, counted: &str) -> (tempfile::TempDir, Option<ControlGroups>) {
        let root = tempfile::tempdir().expect("a folder");
        let at = |path: &str| root.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(at(own)).expect("its own group");
        fs::write(at(divided).join(DIVISION), counted).expect("what is counted");
        // The kernel makes this file in every group.
        fs::create_dir_all(at(divided).join(FOLDER)).expect("our folder");
        let mounts = format!("cgroup2 {} cgroup2 rw,nosuid 0 0\n", root.path().display());
        let found = ControlGroups::find_v2(&format!("0::{own}\n"), &mounts);
        (root, found)
    }

    #[test]
    fn a_group_that_is_ours_to_divide_is_used() {
        let (root, found) = hierarchy("/", "/", "cpuset memory pids");
        let found = found.expect("groups");
        assert_eq!(found.folders, [(GroupKind::V2, root.path().join(FOLDER))]);
        let group = found.make("1-1").expect("a group");
        group.limit(&ProcessLimits { processes_max: 7, ..ProcessLimits::default() }).expect("limits");
        let read =
            |file: &str| fs::read_to_string(root.path().join(FOLDER).join("1-1").join(file)).expect(file);
        assert_eq!((read("pids.max").as_str(), read("memory.max")), ("7", (2_u64 << 30).to_string()));
    }

    #[test]
    fn groups_weigh_less_where_the_kernel_shares_out_processors() {
        for (counted, weight) in [("cpu memory pids", Some("5")), ("memory pids", None)] {
            let (root, found) = hierarchy("/", "/", counted);
            assert_eq!(found.expect("groups").weighed(), weight.is_some(), "{counted}");
            let written = fs::read_to_string(root.path().join(FOLDER).join("cpu.weight")).ok();
            assert_eq!(written.as_deref(), weight, "{counted}");
        }
    }

    #[test]
    fn where_nothing_is_counted_there_is_no_group() {
        assert!(hierarchy("/user.slice", "/user.slice", "cpu").1.is_none());
    }

    #[test]
    fn the_group_above_is_divided_where_the_daemon_was_put_below_it() {
        let own = format!("/system.slice/palyra.service/{DAEMON}");
        let (root, found) = hierarchy(&own, "/system.slice/palyra.service", "");
        // A plain file takes the place of what was written last.
        assert!(found.is_none());
        let above = root.path().join("system.slice/palyra.service");
        assert_eq!(fs::read_to_string(above.join(DIVISION)).expect("what was asked for"), "+cpu");
        // One with another name is not asked for more than it has.
        let (root, _) = hierarchy("/system.slice/other.service/daemon", "/system.slice/other.service", "");
        let above = root.path().join("system.slice/other.service");
        assert_eq!(fs::read_to_string(above.join(DIVISION)).expect("what was there"), "");
    }

    #[test]
    fn who_looks_at_the_same_time_finds_the_same_and_takes_nothing_away() {
        let place = tempfile::tempdir().expect("a folder");
        let groups = ControlGroups {
            rung: LimitRung::CgroupV2,
            folders: vec![(GroupKind::V2, place.path().to_owned())],
            weighed: false,
        };
        // Its maker is in another table of processes: nobody here has that number.
        let group = groups.make("999999999-1").expect("a group");
        let left = place.path().join("1-1");
        fs::create_dir(&left).expect("one whose maker is gone, though its number is not");
        std::thread::scope(|scope| {
            let look = || (0..200).try_for_each(|_| make(GroupKind::V2, place.path()));
            let looking: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
            for one in looking {
                one.join().expect("it looked").expect("it found the place");
            }
        });
        assert!(!left.exists());
        let files = group.files();
        assert!(files.iter().all(|file| file.parent().is_some_and(Path::exists)), "{files:?}");
        group.remove();
        assert_eq!(fs::read_dir(place.path()).expect("the folder").count(), 0);
    }

    #[test]
    fn mounts_are_found_by_kind_and_option() {
        let mounts = "a /a cgroup rw,pids 0 0\nb /b cgroup2 rw 0 0\nc /c cgroup rw,memory 0 0\n";
        assert_eq!(mount_of(mounts, "cgroup", "memory"), Some("/c".into()));
        assert_eq!(mount_of(mounts, "cgroup2", ""), Some("/b".into()));
        assert_eq!(mount_of(mounts, "cgroup", "cpu"), None);
    }
}
