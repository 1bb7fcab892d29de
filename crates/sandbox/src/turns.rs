//! How a program stands back where others want the processors too.
//!
//! Owns what a process says of itself; what all of them get together is its control group's. Invariant: nothing that
//! fails here fails a start, for none of it holds anybody. Source: sched_setattr(2).

use crate::message::Order;

/// How far a program stands back where no group weighs all of it together: weighs about as much as that group would.
const NICE: i32 = 13;
/// How long it wants to run at a time: the longest that there is, so that whoever wakes up goes first. Its part of the
/// whole stays the same.
const TURN_NANOS: u64 = 100_000_000;

/// Lets others go before the session that this process has begun: where no group shares out processors, many kernels give
/// each session as much as any other, however nice its processes are. Source: sched(7), the autogroup feature.
pub(crate) fn weigh_session() {
    let _ = std::fs::write("/proc/self/autogroup", NICE.to_string());
}

/// Lets others go before this process and all that it starts.
pub(crate) fn stand_back(order: &Order) {
    // SAFETY: takes a number and returns one.
    if unsafe { libc::sched_getscheduler(0) } != libc::SCHED_OTHER {
        // Somebody has decided otherwise for the daemon.
        return;
    }
    let nice = rustix::process::getpriority_process(None).unwrap_or(0);
    let nice = if order.limits.memory_is_counted { nice } else { nice.max(NICE) };
    // SAFETY: all-zero bytes are attributes of an ordinary process.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    attributes.size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or(0);
    attributes.sched_nice = nice;
    attributes.sched_runtime = TURN_NANOS;
    // SAFETY: the attributes live across the call, which reads as many bytes as they say.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}
