//! The engine with its pool, and all that a component can import.
//!
//! What is done with it stands beside its work: compiling in `compiled`, calling in `call`.

use std::sync::Arc;

use wasmtime::component::{HasSelf, Linker};

use crate::bindings::Tool;
use crate::engine_settings::{self, Ticker};
use crate::guarded_files;
use crate::inside::InstanceState;
use crate::limits::CALLS_MAX;

/// The engine could not be made on this host.
#[derive(Debug, Clone, thiserror::Error)]
#[error("components cannot be run on this host: {0}")]
pub struct EngineError(String);

/// Runs components. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) linker: Arc<Linker<InstanceState>>,
    pub(crate) room: Arc<tokio::sync::Semaphore>,
    pub(crate) ticker: Arc<Ticker>,
}

impl Engine {
    /// Makes the engine.
    ///
    /// # Errors
    /// [`EngineError`] when the host cannot reserve the address space, has no thread left, or has another processor
    /// than was built for.
    pub fn new() -> Result<Self, EngineError> {
        let told = |error: wasmtime::Error| EngineError(format!("{error:#}"));
        let engine = wasmtime::Engine::new(&engine_settings::running()).map_err(told)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(told)?;
        guarded_files::add_to_linker(&mut linker).map_err(told)?;
        Tool::add_to_linker::<_, HasSelf<_>>(&mut linker, |inside: &mut InstanceState| inside)
            .map_err(told)?;
        let room = Arc::new(tokio::sync::Semaphore::new(CALLS_MAX as usize));
        let ticking = engine.clone();
        let ticker = Ticker::start(move || ticking.increment_epoch());
        let ticker = ticker.map_err(|error| EngineError(format!("no thread for their clock: {error}")))?;
        Ok(Self { engine, linker: Arc::new(linker), room, ticker: Arc::new(ticker) })
    }
}
