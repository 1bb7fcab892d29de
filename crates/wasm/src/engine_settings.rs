//! The settings of the engine, and the clock of its deadlines.
//!
//! Invariant: the settings that decide about compiled code are the same in the compiler and in the daemon, because what
//! one compiles the other runs; only where instances get their memory differs.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::{Config, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::limits::{CALLS_MAX, MEMORY_BYTES_MAX, PARTS_MAX, STACK_BYTES_MAX, TABLE_ELEMENTS_MAX};

/// Counts changes of [`settings`]: native code that was made under others is compiled again.
pub(crate) const SETTINGS_VERSION: u32 = 1;
/// How often deadlines are looked at while a call runs.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Settings of a process that runs components: their memory comes from a pool.
pub(crate) fn running() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(CALLS_MAX)
        .total_core_instances(CALLS_MAX * PARTS_MAX)
        .max_core_instances_per_component(PARTS_MAX)
        .max_memories_per_component(PARTS_MAX)
        .max_tables_per_component(PARTS_MAX)
        .total_memories(CALLS_MAX * 4)
        .total_tables(CALLS_MAX * 8)
        .total_stacks(CALLS_MAX)
        .max_memory_size(MEMORY_BYTES_MAX)
        .table_elements(TABLE_ELEMENTS_MAX)
        // What a component had in memory is nobody else's, and gone.
        .linear_memory_keep_resident(0)
        .table_keep_resident(0);
    let mut config = settings();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Settings that the compiler and the daemon share; nothing is reserved. Whoever changes them changes
/// [`SETTINGS_VERSION`].
pub(crate) fn settings() -> Config {
    let mut config = Config::new();
    config
        .memory_reservation(MEMORY_BYTES_MAX as u64)
        .memory_guard_size(64 << 10)
        .memory_may_move(false)
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES_MAX)
        .async_stack_size(STACK_BYTES_MAX * 4)
        .wasm_component_model(true)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(true)
        .wasm_relaxed_simd(false);
    #[cfg(feature = "compiler")]
    config.cranelift_opt_level(wasmtime::OptLevel::Speed).cranelift_nan_canonicalization(true);
    config
}

/// Ticks while calls run, and sleeps while none does; ends its thread when it is dropped.
pub(crate) struct Ticker(Arc<EpochTicker>);

struct EpochTicker {
    state: Mutex<TickerState>,
    changed: Condvar,
}

#[derive(Default)]
struct TickerState {
    /// Calls that run.
    running: u64,
    ended: bool,
}

impl Ticker {
    /// Calls `tick` every [`TICK`] while calls run.
    ///
    /// # Errors
    /// The host's, when there can be no further thread.
    pub(crate) fn start(tick: impl Fn() + Send + 'static) -> io::Result<Self> {
        let clockwork = Arc::new(EpochTicker { state: Mutex::default(), changed: Condvar::new() });
        let named = std::thread::Builder::new().name("component-clock".to_owned());
        let of_thread = Arc::clone(&clockwork);
        named.spawn(move || of_thread.run(&tick))?;
        Ok(Self(clockwork))
    }

    /// Counts a call for as long as the answer lives.
    pub(crate) fn count(&self) -> RunningCall {
        self.0.state().running += 1;
        self.0.changed.notify_one();
        RunningCall(Arc::clone(&self.0))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.state().ended = true;
        self.0.changed.notify_one();
    }
}

impl EpochTicker {
    fn state(&self) -> MutexGuard<'_, TickerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, tick: &dyn Fn()) {
        let mut state = self.state();
        loop {
            let idle = |state: &mut TickerState| state.running == 0 && !state.ended;
            state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            if state.ended {
                return;
            }
            // A call that begins wakes this too, and is no reason to tick.
            let waited = self.changed.wait_timeout_while(state, TICK, |state| !state.ended);
            let (after, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            state = after;
            if waited.timed_out() {
                tick();
            }
        }
    }
}

/// A call that runs.
pub(crate) struct RunningCall(Arc<EpochTicker>);

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.state().running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn calls_that_begin_and_end_do_not_make_time_pass_faster() {
        let begun = Instant::now();
        let (told, ticks) = mpsc::channel();
        let ticker = Ticker::start(move || told.send(()).expect("it is heard")).unwrap();
        ticks.try_recv().expect_err("nothing runs");
        let running = ticker.count();
        ticks.recv().expect("a tick while a call runs");
        for _ in 0..2_000 {
            drop(ticker.count());
            std::thread::yield_now();
        }
        drop(running);
        drop(ticker);
        // The thread is gone, and with it whoever tells; what it had told is all there is.
        let told = 1 + ticks.iter().count() as u128;
        let passed = begun.elapsed().as_millis() / TICK.as_millis();
        assert!(told <= passed, "{told} ticks in the time of {passed}");
    }
}
