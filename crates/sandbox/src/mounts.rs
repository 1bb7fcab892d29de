//! What a program finds where: private scratch space, its own process table, and for tier C a root of its own.
//!
//! Owns the mounts. Invariant: every source is opened before anything is mounted over it, and what is not the
//! workspace or scratch is read-only, without devices and without set-user-id. Source: mount_setattr(2),
//! pivot_root(2), user_namespaces(7).

use std::ffi::CString;
use std::fs;
use std::io::{self, Seek};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change,
    move_mount, open_tree, unmount,
};

use crate::failure::StepFailure;
use crate::kept_files::{KeptPart, way_to};
use crate::mapped_mounts::MappedMounts;
use crate::message::{InWorkspace, KeeperOrder};
use crate::program_ids::ProgramIds;
use crate::workspace::WorkspacePlace;

/// Where the new root is put together; every Linux has it, and it is hidden in the end.
const BUILDING_SITE: &str = "/tmp";

/// Where a program finds scratch space under tier C.
const SCRATCH: [&str; 2] = ["/tmp", "/dev/shm"];

/// What a program needs of the system: where programs and libraries are.
pub(crate) const SYSTEM_FOLDERS: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"];

/// What it needs of `/etc`: nothing that names a secret or a person of this host.
pub(crate) const SYSTEM_FILES: [&str; 16] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/group",
    "/etc/protocols",
    "/etc/services",
];

/// What a process table shows beside processes and that is covered: keys, addresses, timers, locks, and counts by which
/// one program sees what others do. Processors, memory, load and the time since the start stay, for programs ask for them.
const KERNEL_FILES: [&str; 22] = [
    "allocinfo",
    "diskstats",
    "interrupts",
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "kpagecgroup",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "locks",
    "modules",
    "pagetypeinfo",
    "sched_debug",
    "schedstat",
    "slabinfo",
    "softirqs",
    "timer_list",
    "timer_stats",
    "vmallocinfo",
];

/// Devices that are no way out.
pub(crate) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Tier B: the host's own root, read-only but for the workspace, with a process table, scratch space and kept files
/// of its own. Returns the program where it is to be started by its descriptor, and what is kept.
pub(crate) fn beside_the_host(
    order: &KeeperOrder,
    sealed: &[OwnedFd],
) -> Result<(Option<OwnedFd>, Vec<PathBuf>), StepFailure> {
    be_private()?;
    let place = WorkspacePlace::here(order)?;
    let kept = ways(order);
    let workspace = open_workspace(order, None)?;
    let readable = open_all(order, MappedMounts::default())?;
    // Landlock knows nothing of modes, owners, times and attributes: without this a program could change those of every
    // file of its user.
    change_attributes(
        None,
        Path::new("/"),
        libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        MountDepth::All,
    )?;
    mount_proc(Path::new("/proc"))?;
    cover_kernel_files(Path::new("/proc"))?;
    // Covered at once by the scratch space, so that nobody finds the files but where they belong.
    let copies = seal(order, sealed, Path::new("/tmp"))?;
    mount_scratch(Path::new("/tmp"), order.limits.scratch_bytes_max)?;
    // What lies below the place that was just covered has to come back.
    for source in readable.into_iter().filter(|source| source.path.starts_with("/tmp")) {
        source.put(Path::new("/"))?;
    }
    workspace.put(Path::new("/"))?;
    let kept = keep_files(kept)?;
    place.enter()?;
    Ok((put_all(order, copies, sealed)?, kept))
}

/// Tier C: nothing but what is named here. Returns the same.
pub(crate) fn own_root(
    order: &KeeperOrder,
    sealed: &[OwnedFd],
    mut mapped: MappedMounts,
) -> Result<(Option<OwnedFd>, Vec<PathBuf>), StepFailure> {
    be_private()?;
    let place = WorkspacePlace::here(order)?;
    let kept = ways(order);
    let workspace = open_workspace(order, mapped.workspace.take())?;
    let mut sources = open_all(order, mapped)?;
    let mut system = Vec::new();
    for path in SYSTEM_FILES {
        system.extend(MountSource::open_if_there(Path::new(path))?);
    }
    let mut links = Vec::new();
    for path in SYSTEM_FOLDERS {
        match fs::read_link(path) {
            Ok(target) => links.push((path, target)),
            Err(_) => system.extend(MountSource::open_if_there(Path::new(path))?),
        }
    }
    let devices = DEVICES.iter().map(|path| MountSource::open(Path::new(path), MountChange::Allowed));
    let devices = devices.collect::<Result<Vec<_>, _>>()?;

    let root = Path::new(BUILDING_SITE);
    tmpfs(root, "mode=755,size=16m,nr_inodes=4k")?;
    for (link, target) in links {
        std::os::unix::fs::symlink(target, below(root, Path::new(link))).map_err(StepFailure::at("root"))?;
    }
    make_folder(&root.join("proc"))?;
    for source in system {
        source.put_apart(root, &root.join("proc"))?;
    }
    order.user.map_or(Ok(()), |user| name_user(root, user)).map_err(StepFailure::at("system file"))?;
    // The shallow before the deep, so that none hides another.
    sources.sort_by_key(|source| source.path.components().count());
    let in_scratch = |source: &MountSource| SCRATCH.iter().any(|scratch| source.path.starts_with(scratch));
    let (above_scratch, sources): (Vec<_>, Vec<_>) = sources.into_iter().partition(in_scratch);
    for source in sources.into_iter().chain(devices) {
        source.put(root)?;
    }
    for (link, target) in [
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
    ] {
        std::os::unix::fs::symlink(target, below(root, Path::new(link))).map_err(StepFailure::at("root"))?;
    }
    mount_proc(&root.join("proc"))?;
    cover_kernel_files(&root.join("proc"))?;
    make_folder(&root.join("tmp"))?;
    let copies = seal(order, sealed, &root.join("tmp"))?;
    for scratch in SCRATCH {
        let scratch = below(root, Path::new(scratch));
        make_folder(&scratch)?;
        mount_scratch(&scratch, order.limits.scratch_bytes_max)?;
    }
    for source in above_scratch {
        source.put(root)?;
    }
    workspace.put(root)?;
    enter(root)?;
    let kept = keep_files(kept)?;
    place.enter()?;
    Ok((put_all(order, copies, sealed)?, kept))
}

/// Takes the current folder, or a mount of it that was made before, to be put where the workspace is.
fn open_workspace(order: &KeeperOrder, mapped: Option<OwnedFd>) -> Result<MountSource, StepFailure> {
    let change = match order.access {
        InWorkspace::Read => MountChange::Refused,
        InWorkspace::Change => MountChange::Allowed,
    };
    let path = order.workspace.path();
    match mapped {
        Some(tree) => Ok(MountSource { path, tree, change }),
        None => MountSource::open_here(&path, change),
    }
}

/// The full name of the program's user, under which git commits where a repository names nobody.
const FULL_NAME: &str = "agent";

/// Gives the program's user and group a name, in the copies of the host's lists that the new root has.
fn name_user(root: &Path, user: ProgramIds) -> io::Result<()> {
    let number = user.number();
    for (list, line) in [
        ("etc/passwd", format!("program:x:{number}:{number}:{FULL_NAME}:/tmp:/bin/sh\n")),
        ("etc/group", format!("program:x:{number}:\n")),
    ] {
        let mut text = match fs::read_to_string(root.join(list)) {
            Ok(text) => text,
            // The host has no such list, or one that no program could read.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&line);
        match fs::write(root.join(list), text) {
            // A long list is the host's own.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
            done => done?,
        }
    }
    Ok(())
}

/// Copies the sealed files to a file system of their own at `place`, ready to be put where they belong.
fn seal(order: &KeeperOrder, sealed: &[OwnedFd], place: &Path) -> Result<Vec<MountSource>, StepFailure> {
    const SEALED_BYTES_MAX: u64 = 1 << 30;
    if sealed.is_empty() {
        return Ok(Vec::new());
    }
    tmpfs(place, &format!("mode=755,size={SEALED_BYTES_MAX},nr_inodes=64"))?;
    let mut sources = Vec::new();
    for (index, (path, bytes)) in order.sealed.iter().zip(sealed).enumerate() {
        let path = path.path();
        // Some kernels call a process after its file's name.
        let copy = place.join(index.to_string()).join(path.file_name().unwrap_or_default());
        copy_sealed(bytes, &copy).map_err(StepFailure::at("sealed file"))?;
        let source = MountSource::open(&copy, MountChange::Refused)?;
        sources.push(MountSource { path, ..source });
    }
    Ok(sources)
}

fn copy_sealed(bytes: &OwnedFd, to: &Path) -> io::Result<()> {
    fs::create_dir(to.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    let mut from = fs::File::from(bytes.try_clone()?);
    from.seek(io::SeekFrom::Start(0))?;
    let mut to = fs::OpenOptions::new().write(true).create_new(true).mode(0o555).open(to)?;
    io::copy(&mut from, &mut to).map(drop)
}

/// Puts the sealed files over their names. Who renames another file over such a name, outside of these mounts, takes
/// the mount off it: so a program that the kernel starts by itself is started by what is returned. One that it starts by
/// an interpreter is opened by name all the same.
fn put_all(
    order: &KeeperOrder,
    copies: Vec<MountSource>,
    sealed: &[OwnedFd],
) -> Result<Option<OwnedFd>, StepFailure> {
    let mut program = None;
    for (copy, bytes) in copies.into_iter().zip(sealed) {
        if fs::symlink_metadata(&copy.path).is_err() {
            let cause = io::Error::from(io::ErrorKind::NotFound);
            return Err(StepFailure { stage: "sealed file", cause });
        }
        if copy.path == order.program.path() && is_native(bytes).map_err(StepFailure::at("sealed file"))? {
            program = Some(copy.tree.try_clone().map_err(StepFailure::at("sealed file"))?);
        }
        copy.put(Path::new("/"))?;
    }
    Ok(program)
}

/// Says whether this machine runs a file by itself, by its first bytes. Source: elf(5), linux/elf-em.h.
fn is_native(file: &OwnedFd) -> io::Result<bool> {
    const MACHINE_AT: usize = 18;
    #[cfg(target_arch = "x86_64")]
    const MACHINES: [u16; 2] = [62, 3];
    #[cfg(target_arch = "aarch64")]
    const MACHINES: [u16; 2] = [183, 40];
    let mut head = [0; MACHINE_AT + 2];
    let length = rustix::io::pread(file, &mut head[..], 0)?;
    let machine = u16::from_le_bytes([head[MACHINE_AT], head[MACHINE_AT + 1]]);
    Ok(length == head.len() && head.starts_with(b"\x7fELF") && MACHINES.contains(&machine))
}

/// Tries the two mounts that hosts forbid first, in namespaces just made.
pub(crate) fn probe() -> Result<(), StepFailure> {
    be_private()?;
    mount_proc(Path::new("/proc"))?;
    mount_scratch(Path::new(BUILDING_SITE), 1 << 20)
}

/// Tries to put a mapped folder of root's somewhere and to look at it as the user that it is mapped to, likewise.
pub(crate) fn probe_mapped(tree: OwnedFd, user: ProgramIds) -> Result<(), StepFailure> {
    be_private()?;
    let site = Path::new(BUILDING_SITE);
    mount_scratch(site, 1 << 20)?;
    let path = site.join("mapped");
    MountSource { path: path.clone(), tree, change: MountChange::Allowed }.put_at(&path)?;
    let stage = "user of the program";
    user.become_them().map_err(StepFailure::at(stage))?;
    let shown = fs::metadata(&path).map_err(StepFailure::at(stage))?.uid();
    if shown == user.number() {
        Ok(())
    } else {
        Err(StepFailure::at(stage)(io::Error::from_raw_os_error(libc::EOVERFLOW)))
    }
}

/// Makes `root` the only thing that there is.
fn enter(root: &Path) -> Result<(), StepFailure> {
    let stage = "pivot_root";
    rustix::process::chdir(root).map_err(StepFailure::at(stage))?;
    rustix::process::pivot_root(".", ".").map_err(StepFailure::at(stage))?;
    unmount(".", UnmountFlags::DETACH).map_err(StepFailure::at(stage))?;
    rustix::process::chdir("/").map_err(StepFailure::at(stage))?;
    change_attributes(None, Path::new("/"), libc::MOUNT_ATTR_RDONLY, MountDepth::This)
}

/// Looks what has to be held for the kept files, while all of the host can be seen.
fn ways(order: &KeeperOrder) -> Vec<(PathBuf, KeptPart)> {
    let workspace = order.workspace.path();
    order.kept.iter().flat_map(|kept| way_to(&workspace, &kept.path())).collect()
}

/// Binds what is held onto itself, so that none can be moved away, and what stays as it is read-only. Returns the paths.
fn keep_files(kept: Vec<(PathBuf, KeptPart)>) -> Result<Vec<PathBuf>, StepFailure> {
    let mut done: Vec<(PathBuf, KeptPart)> = Vec::new();
    for (path, held) in kept {
        // What stays as it is with all that is in it needs no more.
        if done
            .iter()
            .any(|(folder, held)| *held == KeptPart::Whole && path != *folder && path.starts_with(folder))
        {
            continue;
        }
        if done.contains(&(path.clone(), KeptPart::Whole)) || done.contains(&(path.clone(), held)) {
            continue;
        }
        let change = match held {
            KeptPart::Place => MountChange::Allowed,
            KeptPart::Whole => MountChange::Refused,
        };
        MountSource::open_itself(&path, change)?.put(Path::new("/"))?;
        done.push((path, held));
    }
    let mut paths: Vec<PathBuf> = done.into_iter().map(|(path, _)| path).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn be_private() -> Result<(), StepFailure> {
    let deep = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", deep).map_err(StepFailure::at("private mounts"))
}

fn mount_proc(at: &Path) -> Result<(), StepFailure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", at, "proc", flags, None).map_err(StepFailure::at("/proc"))
}

/// Puts a device that cannot be opened over what tells of the kernel and of everybody's doings; no program needs it. A file of the
/// kernel that belongs to root is else open to a program of a daemon that is root.
fn cover_kernel_files(proc: &Path) -> Result<(), StepFailure> {
    for name in KERNEL_FILES {
        let path = proc.join(name);
        if fs::symlink_metadata(&path).is_ok() {
            let nothing = MountSource::open(Path::new("/dev/null"), MountChange::Refused)?;
            MountSource { path, ..nothing }.put(Path::new("/"))?;
        }
    }
    Ok(())
}

fn mount_scratch(at: &Path, bytes_max: u64) -> Result<(), StepFailure> {
    // A file of a page for each inode: a program runs out of both together.
    tmpfs(at, &format!("mode=1777,size={bytes_max},nr_inodes={}", (bytes_max / 4096).clamp(1024, 1 << 20)))
}

fn tmpfs(at: &Path, options: &str) -> Result<(), StepFailure> {
    let options = CString::new(options).map_err(StepFailure::at("tmpfs"))?;
    mount("tmpfs", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())
        .map_err(StepFailure::at("tmpfs"))
}

fn open_all(order: &KeeperOrder, mut mapped: MappedMounts) -> Result<Vec<MountSource>, StepFailure> {
    let mut sources = Vec::new();
    for path in &order.readable {
        let path = path.path();
        match mapped.take_readable(&path) {
            Some(tree) => sources.push(MountSource { path, tree, change: MountChange::Refused }),
            None => sources.extend(MountSource::open_if_there(&path)?),
        }
    }
    Ok(sources)
}

/// Whether a program may change what is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MountChange {
    Allowed,
    Refused,
}

/// Whether a change is for one mount or for all below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MountDepth {
    This,
    All,
}

/// A copy of a part of the host's tree, not put anywhere yet.
struct MountSource {
    path: PathBuf,
    tree: OwnedFd,
    change: MountChange,
}

impl MountSource {
    fn open(path: &Path, change: MountChange) -> Result<Self, StepFailure> {
        Self::try_open(path, change)
            .map_err(|cause| StepFailure { stage: "mount source", cause: cause.into() })
    }

    /// Opens a link itself, where it is one.
    fn open_itself(path: &Path, change: MountChange) -> Result<Self, StepFailure> {
        Self::try_open_with(path, change, OpenTreeFlags::AT_SYMLINK_NOFOLLOW)
            .map_err(|cause| StepFailure { stage: "kept file", cause: cause.into() })
    }

    /// Opens the current folder, to be put at a path.
    fn open_here(path: &Path, change: MountChange) -> Result<Self, StepFailure> {
        let here = Self::open(Path::new("."), change)?;
        Ok(Self { path: path.to_owned(), ..here })
    }

    fn open_if_there(path: &Path) -> Result<Option<Self>, StepFailure> {
        match Self::try_open(path, MountChange::Refused) {
            Ok(source) => Ok(Some(source)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
            Err(error) => Err(StepFailure { stage: "mount source", cause: error.into() }),
        }
    }

    fn try_open(path: &Path, change: MountChange) -> Result<Self, Errno> {
        Self::try_open_with(path, change, OpenTreeFlags::empty())
    }

    fn try_open_with(path: &Path, change: MountChange, more: OpenTreeFlags) -> Result<Self, Errno> {
        let flags =
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        Ok(Self { path: path.to_owned(), tree: open_tree(CWD, path, flags | more)?, change })
    }

    /// Puts a part of the system there as a file system of its own: what the program watches or locks of it is not what
    /// others open. A folder of programs is seen through an overlay that changes nothing, a small file is copied. Where
    /// the kernel cannot do the one or the file is large, it is mounted as everything else. `empty` is a folder without content.
    fn put_apart(self, root: &Path, empty: &Path) -> Result<(), StepFailure> {
        const COPIED_BYTES_MAX: u64 = 512 * 1024;
        let to = below(root, &self.path);
        let found = fs::metadata(&self.path).ok();
        let is_small = |found: &fs::Metadata| found.is_file() && found.len() <= COPIED_BYTES_MAX;
        let has_programs = SYSTEM_FOLDERS.iter().any(|folder| self.path == Path::new(folder));
        if has_programs && found.as_ref().is_some_and(fs::Metadata::is_dir) {
            make_folder(&to)?;
            let layers = format!("lowerdir={}:{}", self.path.display(), empty.display());
            let layers = CString::new(layers).map_err(StepFailure::at("overlay"))?;
            let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
            if mount("overlay", &to, "overlay", flags, layers.as_c_str()).is_ok() {
                return Ok(());
            }
        } else if found.as_ref().is_some_and(is_small)
            && let Ok(bytes) = fs::read(&self.path)
        {
            make_folder(to.parent().unwrap_or(root))?;
            return fs::write(&to, bytes).map_err(StepFailure::at("system file"));
        }
        self.put(root)
    }

    /// Mounts it at its own path below `root`.
    fn put(self, root: &Path) -> Result<(), StepFailure> {
        let to = below(root, &self.path);
        self.put_at(&to)
    }

    fn put_at(self, to: &Path) -> Result<(), StepFailure> {
        let is_folder = rustix::fs::fstat(&self.tree)
            .map(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir())
            .map_err(StepFailure::at("mount"))?;
        if fs::symlink_metadata(to).is_err() {
            if is_folder {
                make_folder(to)?;
            } else {
                make_folder(to.parent().unwrap_or(to))?;
                fs::write(to, "").map_err(StepFailure::at("mount point"))?;
            }
        }
        // Not a workspace in memory, which lies in the same folder.
        let is_device = DEVICES.iter().any(|device| self.path == Path::new(device));
        let attributes = match (self.change, is_device) {
            // A device is written to all the same; its mode and its times stay.
            (_, true) => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_RDONLY,
            (MountChange::Allowed, false) => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
            (MountChange::Refused, false) => {
                libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY
            }
        };
        change_attributes(Some(&self.tree), Path::new(""), attributes, MountDepth::All)?;
        move_mount(&self.tree, "", CWD, to, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
            .map_err(StepFailure::at("mount"))
    }
}

/// Sets attributes of a mount; none is ever taken away.
fn change_attributes(
    tree: Option<&OwnedFd>,
    path: &Path,
    set: u64,
    depth: MountDepth,
) -> Result<(), StepFailure> {
    let stage = "mount attributes";
    let path = CString::new(path.as_os_str().as_bytes()).map_err(StepFailure::at(stage))?;
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let flags = match (tree, depth) {
        (Some(_), MountDepth::All) => libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
        (Some(_), MountDepth::This) => libc::AT_EMPTY_PATH,
        (None, MountDepth::All) => libc::AT_RECURSIVE,
        (None, MountDepth::This) => 0,
    };
    let folder = tree.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
    // SAFETY: path and attributes live across the call, and the size is that of the attributes.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if changed < 0 { Err(StepFailure { stage, cause: io::Error::last_os_error() }) } else { Ok(()) }
}

fn make_folder(path: &Path) -> Result<(), StepFailure> {
    fs::create_dir_all(path).map_err(StepFailure::at("mount point"))
}

/// Returns where an absolute path lies below another root.
fn below(root: &Path, path: &Path) -> PathBuf {
    let inner = path.components().filter(|part| matches!(part, Component::Normal(_)));
    root.join(inner.collect::<PathBuf>())
}
