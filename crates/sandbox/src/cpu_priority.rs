//! How a program stands back where others want the processors too.
//!
//! Owns what a process says of itself; what all of them get together is its control group's. Invariant: nothing that
//! fails here fails a start, for none of it holds anybody. Source: sched_setattr(2).

/// How far a program stands back where no group weighs all of it together: weighs about as much as that group would.
const NICE: i32 = 13;
/// How long it wants to run at a time: the longest that there is, so that whoever wakes up goes first. Its part of the
/// whole stays the same.
const TURN_NANOS: u64 = 100_000_000;

/// Lets others go before this process, which has begun a session, and all that it starts. Where no group shares out
/// processors, many kernels give each session as much as any other, however nice its processes are, so both are said.
/// Source: sched(7), the autogroup feature.
pub(crate) fn lower_weight() {
    if is_ordinary() {
        let nice = rustix::process::getpriority_process(None).unwrap_or(0);
        let _ = rustix::process::setpriority_process(None, nice.max(NICE));
        let _ = std::fs::write("/proc/self/autogroup", NICE.to_string());
    }
}

/// Lets whoever wakes up go before this process and all that it starts.
pub(crate) fn use_long_slices() {
    if !is_ordinary() {
        return;
    }
    // SAFETY: all-zero bytes are attributes of an ordinary process.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or(0);
    attributes.sched_nice = rustix::process::getpriority_process(None).unwrap_or(0);
    attributes.sched_runtime = TURN_NANOS;
    // SAFETY: the attributes live across the call, which reads as many bytes as they say.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// Says whether nobody has decided otherwise for the daemon.
fn is_ordinary() -> bool {
    // SAFETY: takes a number and returns one.
    unsafe { libc::sched_getscheduler(0) == libc::SCHED_OTHER }
}
