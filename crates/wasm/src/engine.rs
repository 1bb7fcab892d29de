//! The settings of the engine, and the clock of its deadlines.
//!
//! Invariant: what decides about compiled code is the same in every process of this executable, because what one
//! compiles another runs; only where instances get their memory differs.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use crate::limits::{CALLS_MAX, MEMORY_BYTES_MAX, PARTS_MAX, STACK_BYTES_MAX, TABLE_ELEMENTS_MAX};

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
    let mut config = compiling();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// Settings of a process that only compiles: nothing is reserved.
pub(crate) fn compiling() -> Config {
    let mut config = Config::new();
    config
        .memory_reservation(MEMORY_BYTES_MAX as u64)
        .memory_guard_size(64 << 10)
        .memory_may_move(false)
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(STACK_BYTES_MAX)
        .async_stack_size(STACK_BYTES_MAX * 4)
        .cranelift_opt_level(OptLevel::Speed)
        .cranelift_nan_canonicalization(true)
        .wasm_component_model(true)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_tail_call(true)
        .wasm_relaxed_simd(false);
    config
}

/// Advances the engine's epoch while calls run, and sleeps while none does.
pub(crate) struct Ticker {
    running: Mutex<u64>,
    changed: Condvar,
}

impl Ticker {
    pub(crate) fn start(engine: Engine) -> Arc<Self> {
        let ticker = Arc::new(Self { running: Mutex::new(0), changed: Condvar::new() });
        let weak = Arc::downgrade(&ticker);
        let named = std::thread::Builder::new().name("component-clock".to_owned());
        // Without it deadlines are kept by fuel and by the caller alone.
        let _ = named.spawn(move || {
            while let Some(ticker) = weak.upgrade() {
                ticker.tick(&engine);
            }
        });
        ticker
    }

    fn tick(&self, engine: &Engine) {
        const IDLE: Duration = Duration::from_secs(60);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let span = if *running == 0 { IDLE } else { TICK };
        let (running, _) = self.changed.wait_timeout(running, span).unwrap_or_else(PoisonError::into_inner);
        if *running > 0 {
            engine.increment_epoch();
        }
    }

    /// Counts a call for as long as the answer lives.
    pub(crate) fn count(self: &Arc<Self>) -> Counted {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.changed.notify_one();
        Counted(Arc::clone(self))
    }
}

/// A call that runs.
pub(crate) struct Counted(Arc<Ticker>);

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.running.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
