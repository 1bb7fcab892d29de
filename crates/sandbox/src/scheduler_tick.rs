//! A tick on every processor, while programs run and this process works.
//!
//! Linux 6.6 and newer pick who runs next by what each group got so far, and look again when somebody wakes up on that
//! processor, else at the tick of their clock, 4 ms apart on many hosts. So a thread of ours that is ready just behind a
//! spinning program waits for a whole tick, whatever the weights say, several times in a run. Here a thread for each
//! processor wakes up every millisecond, and with each waking the kernel looks. docs/benchmarks.md has what it changes.
//!
//! Owns those threads, which live as long as the process. Invariant: without a program, or without work of our own for a
//! moment, none of them wakes up. Knows nothing of programs but their number. Source: sched-eevdf of the kernel's docs.

use std::num::NonZeroU32;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

const TICK: Duration = Duration::from_millis(1);
/// Ticks without work of our own after which a thread rests: longer than a commit or an answer on this host takes.
const TICKS_PER_NOTICE: NonZeroU32 = NonZeroU32::new(16).unwrap();
/// Where there are more processors, somebody is seldom short of one, and ticks would cost more than they mend.
const PROCESSORS_MAX: usize = 16;
/// It sleeps and counts.
const STACK_BYTES: usize = 64 * 1024;

static TICKERS: TickerSet =
    TickerSet { programs: AtomicUsize::new(0), tickers: OnceLock::new(), ticks: AtomicU64::new(0) };

struct TickerSet {
    programs: AtomicUsize,
    tickers: OnceLock<Vec<Ticker>>,
    /// Ticks so far, of all.
    ticks: AtomicU64,
}

/// A thread that ticks.
struct Ticker {
    thread: Thread,
    state: &'static TickerState,
}

/// The two flags that a ticker and its callers share.
#[derive(Default)]
struct TickerState {
    notified: AtomicBool,
    rests: AtomicBool,
}

/// Notifies the tickers that this process has something to do: call it when a thread that
/// drives futures wakes up. Costs a load where no program runs.
pub fn notify() {
    if TICKERS.programs.load(Ordering::Relaxed) == 0 {
        return;
    }
    for ticker in TICKERS.tickers.get().into_iter().flatten() {
        // Who said it before has looked, or looks now, whether the thread rests.
        if !ticker.state.notified.load(Ordering::Relaxed) {
            ticker.state.notified.store(true, Ordering::SeqCst);
            if ticker.state.rests.swap(false, Ordering::SeqCst) {
                ticker.thread.unpark();
            }
        }
    }
}

/// A program that runs; ticks are wanted until it is dropped.
pub(crate) struct TickGuard(());

impl TickGuard {
    pub(crate) fn begin() -> Self {
        TICKERS.tickers.get_or_init(|| tickers(&processors()));
        TICKERS.programs.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for TickGuard {
    fn drop(&mut self) {
        TICKERS.programs.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the processors that this process may use.
fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect()
}

/// Starts a thread for each of these; without one it has no ticks.
fn tickers(processors: &[usize]) -> Vec<Ticker> {
    if processors.len() > PROCESSORS_MAX {
        return Vec::new();
    }
    processors.iter().filter_map(|processor| ticker(*processor).ok()).collect()
}

fn ticker(processor: usize) -> std::io::Result<Ticker> {
    let state: &'static TickerState = Box::leak(Box::default());
    let thread = thread::Builder::new().name(format!("tick-{processor}")).stack_size(STACK_BYTES);
    let started = thread.spawn(move || {
        let mut own = CpuSet::new();
        own.set(processor);
        // Elsewhere it would tick twice.
        if sched_setaffinity(None, &own).is_ok() {
            tick(state);
        }
    })?;
    Ok(Ticker { thread: started.thread().clone(), state })
}

fn tick(state: &TickerState) -> ! {
    loop {
        while state.notified.swap(false, Ordering::SeqCst) && TICKERS.programs.load(Ordering::SeqCst) > 0 {
            for _ in 0..TICKS_PER_NOTICE.get() {
                thread::sleep(TICK);
                TICKERS.ticks.fetch_add(1, Ordering::Relaxed);
            }
        }
        state.rests.store(true, Ordering::SeqCst);
        if !state.notified.load(Ordering::SeqCst) {
            while state.rests.load(Ordering::SeqCst) {
                thread::park();
            }
        }
        state.rests.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks() -> u64 {
        TICKERS.ticks.load(Ordering::Relaxed)
    }

    fn rest() {
        let all_rest =
            || TICKERS.tickers.get().into_iter().flatten().all(|one| one.state.rests.load(Ordering::SeqCst));
        while !all_rest() {
            thread::yield_now();
        }
    }

    #[test]
    fn many_processors_have_no_ticker() {
        assert!(tickers(&[0; PROCESSORS_MAX + 1]).is_empty());
        assert_eq!(tickers(&[processors()[0]]).len(), 1);
    }

    /// One test, for there is one set of tickers in a process.
    #[test]
    fn it_ticks_while_a_program_runs_and_somebody_works() {
        notify();
        assert!(TICKERS.tickers.get().is_none(), "nobody has started a program yet");
        TICKERS.tickers.get_or_init(|| tickers(&processors()[..1]));
        let program = TickGuard::begin();
        rest();
        assert_eq!(ticks(), 0, "a program alone makes no tick");
        for more in 1..=3 {
            let before = ticks();
            notify();
            rest();
            let tickers = TICKERS.tickers.get().map_or(0, Vec::len) as u64;
            let a_notice = u64::from(TICKS_PER_NOTICE.get()) * tickers;
            assert!(tickers > 0 && ticks() >= before + a_notice, "notified {more} times: {} ticks", ticks());
        }
        let another = TickGuard::begin();
        drop(program);
        let before = ticks();
        notify();
        rest();
        assert!(ticks() > before, "one program is left");
        drop(another);
        let before = ticks();
        notify();
        rest();
        assert_eq!(ticks(), before, "work alone makes no tick");
    }
}
