//! A beat on every processor, while programs run and this process works.
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

const BEAT: Duration = Duration::from_millis(1);
/// Beats without work of our own after which a thread rests: longer than a commit or an answer on this host takes.
const BEATS_PER_STIR: NonZeroU32 = NonZeroU32::new(16).unwrap();
/// Where there are more processors, somebody is seldom short of one, and beats would cost more than they mend.
const PROCESSORS_MAX: usize = 16;
/// It sleeps and counts.
const STACK_BYTES: usize = 64 * 1024;

static METRONOME: Metronome =
    Metronome { programs: AtomicUsize::new(0), beaters: OnceLock::new(), beats: AtomicU64::new(0) };

struct Metronome {
    programs: AtomicUsize,
    beaters: OnceLock<Vec<Beater>>,
    /// Beats so far, of all.
    beats: AtomicU64,
}

/// A thread that beats.
struct Beater {
    thread: Thread,
    state: &'static State,
}

/// What it is told, and what it says.
#[derive(Default)]
struct State {
    stirred: AtomicBool,
    rests: AtomicBool,
}

/// Says that this process has something to do: to be called whenever a thread that drives futures wakes up. Costs a
/// load where no program runs.
pub fn stir() {
    if METRONOME.programs.load(Ordering::Relaxed) == 0 {
        return;
    }
    for beater in METRONOME.beaters.get().into_iter().flatten() {
        // Who said it before has looked, or looks now, whether the thread rests.
        if !beater.state.stirred.load(Ordering::Relaxed) {
            beater.state.stirred.store(true, Ordering::SeqCst);
            if beater.state.rests.swap(false, Ordering::SeqCst) {
                beater.thread.unpark();
            }
        }
    }
}

/// A program that runs; beats are wanted until it is dropped.
pub(crate) struct Playing(());

impl Playing {
    pub(crate) fn begin() -> Self {
        METRONOME.beaters.get_or_init(|| beaters(&processors()));
        METRONOME.programs.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        METRONOME.programs.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the processors that this process may use.
fn processors() -> Vec<usize> {
    let allowed = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect()
}

/// Starts a thread for each of these; without one there is no beat on it.
fn beaters(processors: &[usize]) -> Vec<Beater> {
    if processors.len() > PROCESSORS_MAX {
        return Vec::new();
    }
    processors.iter().filter_map(|processor| beater(*processor).ok()).collect()
}

fn beater(processor: usize) -> std::io::Result<Beater> {
    let state: &'static State = Box::leak(Box::default());
    let thread = thread::Builder::new().name(format!("beat-{processor}")).stack_size(STACK_BYTES);
    let started = thread.spawn(move || {
        let mut own = CpuSet::new();
        own.set(processor);
        // Elsewhere it would beat twice.
        if sched_setaffinity(None, &own).is_ok() {
            beat(state);
        }
    })?;
    Ok(Beater { thread: started.thread().clone(), state })
}

fn beat(state: &State) -> ! {
    loop {
        while state.stirred.swap(false, Ordering::SeqCst) && METRONOME.programs.load(Ordering::SeqCst) > 0 {
            for _ in 0..BEATS_PER_STIR.get() {
                thread::sleep(BEAT);
                METRONOME.beats.fetch_add(1, Ordering::Relaxed);
            }
        }
        state.rests.store(true, Ordering::SeqCst);
        if !state.stirred.load(Ordering::SeqCst) {
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

    fn beats() -> u64 {
        METRONOME.beats.load(Ordering::Relaxed)
    }

    fn rest() {
        let all_rest = || {
            METRONOME.beaters.get().into_iter().flatten().all(|one| one.state.rests.load(Ordering::SeqCst))
        };
        while !all_rest() {
            thread::yield_now();
        }
    }

    #[test]
    fn many_processors_have_no_beat() {
        assert!(beaters(&[0; PROCESSORS_MAX + 1]).is_empty());
        assert_eq!(beaters(&[processors()[0]]).len(), 1);
    }

    /// One test, for there is one metronome in a process.
    #[test]
    fn it_beats_while_a_program_runs_and_somebody_works() {
        stir();
        assert!(METRONOME.beaters.get().is_none(), "nobody has started a program yet");
        METRONOME.beaters.get_or_init(|| beaters(&processors()[..1]));
        let program = Playing::begin();
        rest();
        assert_eq!(beats(), 0, "a program alone makes no beat");
        for more in 1..=3 {
            let before = beats();
            stir();
            rest();
            let beaters = METRONOME.beaters.get().map_or(0, Vec::len) as u64;
            let a_stir = u64::from(BEATS_PER_STIR.get()) * beaters;
            assert!(beaters > 0 && beats() >= before + a_stir, "stirred {more} times: {} beats", beats());
        }
        let another = Playing::begin();
        drop(program);
        let before = beats();
        stir();
        rest();
        assert!(beats() > before, "one program is left");
        drop(another);
        let before = beats();
        stir();
        rest();
        assert_eq!(beats(), before, "work alone makes no beat");
    }
}
