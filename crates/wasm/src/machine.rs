//! The engine with its pool, and the clock of its deadlines.
//!
//! Invariant: its settings are the same in every process of this executable, because what one compiles another runs.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig};

use crate::bindings::Tool;
use crate::call::{self, CallError, CallRequest, Given};
use crate::compiled::{CompileError, Compiled};
use crate::imports::Ports;
use crate::inside::Inside;
use crate::limits::{
    CALLS_MAX, CallLimits, MEMORY_BYTES_MAX, PARTS_MAX, STACK_BYTES_MAX, TABLE_ELEMENTS_MAX,
};

/// How often deadlines are looked at while a call runs.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// The engine could not be made on this host.
#[derive(Debug, thiserror::Error)]
#[error("components cannot be run on this host: {0}")]
pub struct MachineError(String);

/// Runs components. Cheap to clone.
#[derive(Clone)]
pub struct Machine {
    pub(crate) engine: Engine,
    pub(crate) linker: Arc<Linker<Inside>>,
    pub(crate) room: Arc<tokio::sync::Semaphore>,
    pub(crate) ticker: Arc<Ticker>,
}

/// What a component says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Its name as a tool.
    pub name: String,
    /// For a model to read.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: String,
    /// What may be done when the outcome of a call is not known.
    pub contract: DescribedContract,
    /// What it asks to reach.
    pub capabilities: Vec<DescribedCapability>,
}

/// The contract that a component claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescribedContract {
    /// It changes nothing.
    Pure,
    /// It can be repeated with the same key.
    Keyed,
    /// It can look whether it was done.
    Probe,
    /// Nobody can tell.
    Opaque,
}

/// What a component asks to reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescribedCapability {
    /// Files of the workspace.
    ReadFiles,
    /// The same, and change them.
    WriteFiles,
    /// One host.
    Http(String),
    /// One secret of the vault.
    Secret(String),
    /// To keep values between its calls.
    KeyValue,
}

impl Machine {
    /// Makes the engine.
    ///
    /// # Errors
    /// [`MachineError`] when the host cannot reserve the address space, or has another processor than was built for.
    pub fn new() -> Result<Self, MachineError> {
        let told = |error: wasmtime::Error| MachineError(format!("{error:#}"));
        let engine = Engine::new(&config()).map_err(told)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(told)?;
        Tool::add_to_linker::<_, HasSelf<_>>(&mut linker, |inside: &mut Inside| inside).map_err(told)?;
        let room = Arc::new(tokio::sync::Semaphore::new(CALLS_MAX as usize));
        let ticker = Ticker::start(engine.clone());
        Ok(Self { engine, linker: Arc::new(linker), room, ticker })
    }

    /// Compiles a component; takes seconds of a processor for a large one. A hostile one can make that minutes and
    /// gigabytes, so this is for a process that is held to limits.
    ///
    /// # Errors
    /// [`CompileError`] for what is no component, is too large, or wants what is not offered.
    pub fn compile(&self, bytes: &[u8]) -> Result<Compiled, CompileError> {
        Compiled::make(self, bytes)
    }

    /// Asks a component what it is, with nothing to reach.
    ///
    /// # Errors
    /// [`CallError`] when it traps or takes too much.
    pub async fn describe(&self, compiled: &Compiled) -> Result<Described, CallError> {
        call::describe(self, compiled).await
    }

    /// Calls a component.
    ///
    /// # Errors
    /// [`CallError`] when it traps, says no, or takes too much.
    pub async fn call(
        &self,
        compiled: &Compiled,
        request: CallRequest,
        given: Given,
        ports: Ports,
        limits: CallLimits,
    ) -> Result<String, CallError> {
        call::run(self, compiled, request, given, ports, limits).await
    }
}

fn config() -> Config {
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
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
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
    fn start(engine: Engine) -> Arc<Self> {
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
