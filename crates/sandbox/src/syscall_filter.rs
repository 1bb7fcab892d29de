//! Which system calls a program may make: a list of what is allowed, and what of it with which arguments.
//!
//! Owns the list. What is not on it does not exist for the program (`ENOSYS`), so that C libraries fall back to older
//! calls. Not on it on purpose: namespaces and mounts, tracing and other processes' memory, BPF, io_uring, keys,
//! userfaultfd, performance counters, modules, clocks, file leases, `openat2` and `clone3` (their arguments cannot be
//! looked at). Source: seccomp(2).

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use crate::allowed_calls;
use crate::failure::StepFailure;
use crate::message::{KeeperOrder, Namespaces};

const STAGE: &str = "seccomp";

/// Bits of a file's mode that lend its owner to whoever runs it.
const SET_ID: u64 = 0o6000;
/// Every flag of `clone` that makes a namespace.
const NAMESPACE_FLAGS: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned() as u64;
/// `O_TMPFILE` without the `O_DIRECTORY` in it.
const TMPFILE_BIT: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY).cast_unsigned() as u64;

/// Whether memory that nobody maps is counted by somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnmappedMemory {
    Counted,
    Refused,
}

/// Whether the program shares its tables with other programs of this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableSharing {
    /// Namespaces keep them out of its sight.
    OutOfSight,
    /// Their processes, their shared memory and the host's network are there for whoever can name them.
    InSight,
}

/// What the filter has to make up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilterSurroundings {
    pub(crate) unmapped: UnmappedMemory,
    pub(crate) others: TableSharing,
}

impl FilterSurroundings {
    /// Returns those of an order.
    pub(crate) fn of(order: &KeeperOrder) -> Self {
        Self {
            unmapped: if order.limits.memory_is_counted {
                UnmappedMemory::Counted
            } else {
                UnmappedMemory::Refused
            },
            others: match order.namespaces {
                Namespaces::Own => TableSharing::OutOfSight,
                Namespaces::None => TableSharing::InSight,
            },
        }
    }
}

/// Filters the calls of this process and of all that it starts.
pub(crate) fn apply(around: FilterSurroundings) -> Result<(), StepFailure> {
    let broken = |error: &dyn std::error::Error| StepFailure {
        stage: STAGE,
        cause: io::Error::other(error.to_string()),
    };
    let program = program(around).map_err(|error| broken(&error))?;
    apply_filter(&program).map_err(|error| broken(&error))
}

/// Makes the filter; nothing in it depends on the program that it is for.
pub(crate) fn program(around: FilterSurroundings) -> Result<BpfProgram, BackendError> {
    let (always, looked_at) = rules(around)?;
    let refused = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    let rest = SeccompFilter::new(looked_at, refused, SeccompAction::Allow, ARCH)?.try_into()?;
    Ok(allowed_calls::before(always.into_iter(), &rest))
}

/// Returns the calls that are allowed, and those that are with some arguments only.
fn rules(around: FilterSurroundings) -> Result<(BTreeSet<i64>, Rules), BackendError> {
    let mut always: BTreeSet<i64> = ALWAYS.iter().copied().collect();
    #[cfg(target_arch = "x86_64")]
    always.extend(ALWAYS_X86);
    if around.unmapped == UnmappedMemory::Counted {
        always.insert(libc::SYS_memfd_create);
    }
    let mut rules = looked_at()?;
    match around.others {
        TableSharing::InSight => rules.extend(of_itself_only()?),
        TableSharing::OutOfSight => {
            always.extend(IN_OWN_TABLES);
            rules.insert(libc::SYS_socket, any_of(0, &[libc::AF_INET as u64, libc::AF_INET6 as u64])?);
            if around.unmapped == UnmappedMemory::Counted {
                always.extend(SHARED_MEMORY);
            }
        }
    }
    Ok((always, rules))
}

#[cfg(target_arch = "x86_64")]
const ARCH: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCH: TargetArch = TargetArch::aarch64;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A pair of local sockets that stays one: an end that takes datagrams could send to whoever has a name.
fn pair_of(kind: libc::c_int) -> Result<SeccompRule, BackendError> {
    const KIND_BITS: u64 = 0xf;
    let local = condition(0, SeccompCmpOp::Eq, libc::AF_UNIX as u64)?;
    let kind = condition(1, SeccompCmpOp::MaskedEq(KIND_BITS), u64::from(kind.cast_unsigned()))?;
    SeccompRule::new(vec![local, kind])
}

/// The calls that are allowed with some arguments only.
fn looked_at() -> Result<Rules, BackendError> {
    let is_not = |argument, value: u64| condition(argument, SeccompCmpOp::Ne, value);
    let has_none_of = |argument, bits| condition(argument, SeccompCmpOp::MaskedEq(bits), 0);
    let one = |conditions| SeccompRule::new(conditions).map(|rule| vec![rule]);
    let creates = libc::O_CREAT.cast_unsigned() as u64 | TMPFILE_BIT;
    let mut rules = BTreeMap::from([
        (libc::SYS_socketpair, vec![pair_of(libc::SOCK_STREAM)?, pair_of(libc::SOCK_SEQPACKET)?]),
        (libc::SYS_clone, one(vec![has_none_of(0, NAMESPACE_FLAGS)?])?),
        (
            libc::SYS_ioctl,
            one(IOCTLS_REFUSED.iter().map(|request| is_not(1, *request)).collect::<Result<_, _>>()?)?,
        ),
        (libc::SYS_fcntl, any_of(1, &FCNTLS)?),
        (libc::SYS_prctl, any_of(0, &PRCTLS)?),
        (libc::SYS_personality, any_of(0, &[0, 0xffff_ffff])?),
        (libc::SYS_fchmod, one(vec![has_none_of(1, SET_ID)?])?),
        (libc::SYS_fchmodat, one(vec![has_none_of(2, SET_ID)?])?),
        (libc::SYS_mkdirat, one(vec![has_none_of(2, SET_ID)?])?),
        (libc::SYS_mknodat, one(vec![has_none_of(2, SET_ID)?])?),
        (
            libc::SYS_openat,
            vec![
                SeccompRule::new(vec![has_none_of(2, creates)?])?,
                SeccompRule::new(vec![has_none_of(3, SET_ID)?])?,
            ],
        ),
    ]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([
        (libc::SYS_chmod, one(vec![has_none_of(1, SET_ID)?])?),
        (libc::SYS_creat, one(vec![has_none_of(1, SET_ID)?])?),
        (libc::SYS_mkdir, one(vec![has_none_of(1, SET_ID)?])?),
        (libc::SYS_mknod, one(vec![has_none_of(1, SET_ID)?])?),
        (
            libc::SYS_open,
            vec![
                SeccompRule::new(vec![has_none_of(1, creates)?])?,
                SeccompRule::new(vec![has_none_of(2, SET_ID)?])?,
            ],
        ),
    ]);
    Ok(rules)
}

/// The calls that a program may turn on itself, where others are within its reach.
fn of_itself_only() -> Result<Rules, BackendError> {
    let itself = |argument| condition(argument, SeccompCmpOp::Eq, 0);
    let one = |conditions| SeccompRule::new(conditions).map(|rule| vec![rule]);
    let process = condition(0, SeccompCmpOp::Eq, IOPRIO_WHO_PROCESS)?;
    Ok(BTreeMap::from([
        (libc::SYS_prlimit64, one(vec![itself(0)?])?),
        (libc::SYS_setpriority, one(vec![itself(0)?, itself(1)?])?),
        (libc::SYS_ioprio_set, one(vec![process, itself(1)?])?),
        (libc::SYS_sched_setaffinity, one(vec![itself(0)?])?),
        (libc::SYS_sched_setparam, one(vec![itself(0)?])?),
        (libc::SYS_sched_setscheduler, one(vec![itself(0)?])?),
    ]))
}

/// `ioprio_set` for one process, from linux/ioprio.h.
const IOPRIO_WHO_PROCESS: u64 = 1;

fn any_of(argument: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let one_of = |value: &u64| SeccompRule::new(vec![condition(argument, SeccompCmpOp::Eq, *value)?]);
    values.iter().map(one_of).collect()
}

fn condition(argument: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, is, value)
}

/// Of `ioctl`: input for a terminal, and who is signalled when a socket is ready. From asm-generic/sockios.h.
const IOCTLS_REFUSED: [u64; 5] = [libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCSETD, 0x8901, 0x8902];

/// Of `fcntl`: descriptors, locks, pipes and seals, the frequent first. Not on it: leases and delegations, for whoever
/// opens such a file waits for their holder; news of folders; and whom a descriptor signals, and how. From
/// linux/fcntl.h.
const FCNTLS: [u64; 24] = [
    libc::F_GETFL as u64,
    libc::F_SETFL as u64,
    libc::F_SETFD as u64,
    libc::F_DUPFD_CLOEXEC as u64,
    libc::F_GETFD as u64,
    libc::F_DUPFD as u64,
    libc::F_SETLK as u64,
    libc::F_SETLKW as u64,
    libc::F_GETLK as u64,
    libc::F_OFD_SETLK as u64,
    libc::F_OFD_SETLKW as u64,
    libc::F_OFD_GETLK as u64,
    libc::F_GETPIPE_SZ as u64,
    libc::F_SETPIPE_SZ as u64,
    libc::F_ADD_SEALS as u64,
    libc::F_GET_SEALS as u64,
    libc::F_GETOWN as u64,
    // F_GETSIG, F_GETOWN_EX, F_DUPFD_QUERY
    11,
    16,
    1027,
    // F_GET_RW_HINT, F_SET_RW_HINT, F_GET_FILE_RW_HINT, F_SET_FILE_RW_HINT
    1035,
    1036,
    1037,
    1038,
];

/// Of `prctl`: names, death signals, what is asked, and what only takes away.
const PRCTLS: [u64; 17] = [
    libc::PR_SET_PDEATHSIG as u64,
    libc::PR_GET_PDEATHSIG as u64,
    libc::PR_GET_DUMPABLE as u64,
    libc::PR_SET_DUMPABLE as u64,
    libc::PR_SET_NAME as u64,
    libc::PR_GET_NAME as u64,
    libc::PR_CAPBSET_READ as u64,
    libc::PR_GET_SECCOMP as u64,
    libc::PR_SET_TIMERSLACK as u64,
    libc::PR_GET_TIMERSLACK as u64,
    libc::PR_SET_CHILD_SUBREAPER as u64,
    libc::PR_GET_CHILD_SUBREAPER as u64,
    libc::PR_SET_NO_NEW_PRIVS as u64,
    libc::PR_GET_NO_NEW_PRIVS as u64,
    libc::PR_SET_THP_DISABLE as u64,
    libc::PR_GET_THP_DISABLE as u64,
    libc::PR_SET_VMA as u64,
];

macro_rules! calls {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

/// Allowed whatever their arguments.
const ALWAYS: &[i64] = calls! {
    // Files that are open, and their names.
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev SYS_preadv2 SYS_pwritev2
    SYS_lseek SYS_close SYS_close_range SYS_dup SYS_dup3 SYS_flock SYS_fsync SYS_fdatasync SYS_sync_file_range
    SYS_syncfs SYS_truncate SYS_ftruncate SYS_fallocate SYS_fadvise64 SYS_readahead SYS_copy_file_range SYS_sendfile
    SYS_splice SYS_tee SYS_vmsplice SYS_fstat SYS_newfstatat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat SYS_faccessat2
    SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_unlinkat SYS_renameat SYS_renameat2 SYS_linkat
    SYS_symlinkat SYS_utimensat SYS_fchown SYS_fchownat SYS_umask SYS_pipe2
    SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch
    // Waiting.
    SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_signalfd4
    SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime SYS_nanosleep SYS_clock_nanosleep SYS_futex
    SYS_futex_waitv SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_membarrier SYS_restart_syscall
    // Memory.
    SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_msync SYS_madvise SYS_mincore SYS_brk SYS_mlock SYS_mlock2 SYS_munlock
    SYS_mlockall SYS_munlockall SYS_pkey_mprotect SYS_pkey_alloc SYS_pkey_free
    // Processes and signals.
    SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_kill SYS_tkill SYS_tgkill SYS_getpid
    SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid SYS_getsid SYS_setsid SYS_getuid SYS_geteuid SYS_getgid SYS_getegid
    SYS_getresuid SYS_getresgid SYS_getgroups SYS_setuid SYS_setgid SYS_setreuid SYS_setregid SYS_setresuid
    SYS_setresgid SYS_setfsuid SYS_setfsgid SYS_capget SYS_set_tid_address SYS_rt_sigaction SYS_rt_sigprocmask
    SYS_rt_sigpending SYS_rt_sigreturn SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_rt_sigqueueinfo SYS_rt_tgsigqueueinfo
    SYS_sigaltstack SYS_pidfd_open SYS_pidfd_send_signal SYS_getpriority SYS_sched_yield
    SYS_sched_getaffinity SYS_sched_getparam SYS_sched_getscheduler
    SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_sched_rr_get_interval SYS_sched_getattr SYS_ioprio_get
    SYS_getrusage SYS_getrlimit SYS_setrlimit SYS_times SYS_getcpu
    SYS_timer_create SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete SYS_getitimer SYS_setitimer
    // Time, host and chance.
    SYS_clock_gettime SYS_clock_getres SYS_gettimeofday SYS_uname SYS_sysinfo SYS_getrandom
    // Sockets, once they are there.
    SYS_bind SYS_connect SYS_listen SYS_accept SYS_accept4 SYS_getsockname SYS_getpeername SYS_getsockopt SYS_setsockopt
    SYS_sendto SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_sendmmsg SYS_recvmmsg SYS_shutdown
    // Landlock only ever takes away.
    SYS_landlock_create_ruleset SYS_landlock_add_rule SYS_landlock_restrict_self SYS_seccomp
};

/// Allowed where the tables that they reach into are the program's own.
const IN_OWN_TABLES: &[i64] = calls! {
    SYS_semget SYS_semop SYS_semtimedop SYS_semctl SYS_setpriority SYS_ioprio_set SYS_prlimit64 SYS_sched_setaffinity
    SYS_sched_setparam SYS_sched_setscheduler
};

/// Memory that no process has to map, and that another program's could be.
const SHARED_MEMORY: &[i64] = calls! { SYS_shmget SYS_shmat SYS_shmdt SYS_shmctl };

/// Allowed whatever their arguments, and only older machines have them.
#[cfg(target_arch = "x86_64")]
const ALWAYS_X86: &[i64] = calls! {
    SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_unlink SYS_rmdir SYS_rename SYS_link SYS_symlink SYS_chown
    SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_pipe SYS_dup2 SYS_poll SYS_select SYS_epoll_create SYS_epoll_wait
    SYS_eventfd SYS_signalfd SYS_inotify_init SYS_fork SYS_vfork SYS_getpgrp SYS_time SYS_alarm SYS_pause SYS_arch_prctl
};

#[cfg(test)]
mod tests;
