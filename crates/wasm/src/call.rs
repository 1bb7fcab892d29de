//! One call of a component, from an empty store to its answer.
//!
//! Invariant: a store is made for one call and thrown away with it, and all that is done with a component, its start
//! included, ends with the time it was given.

use std::time::Duration;

use palyra_types::{Content, PrincipalId};
use tokio::time::{Instant, timeout_at};
use wasmtime::{Store, Trap};

use crate::bindings::Tool;
use crate::compiled::{CompiledComponent, one_line};
use crate::described::DescribedComponent;
use crate::engine::Engine;
use crate::engine_settings::TICK;
use crate::inside::InstanceState;
use crate::limits::{CallLimits, TEXT_BYTES_MAX};
use crate::reach::{CallReach, Ports};

/// Fuel between two points at which a call lets others go on.
const YIELD_FUEL: u64 = 10_000_000;
/// Fuel in which a component has to say what it is.
const DESCRIBE_FUEL: u64 = 2_000_000_000;

/// What a component is called with.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// JSON that fits its schema.
    pub arguments: Content<String>,
    /// For whom.
    pub principal: PrincipalId,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The component says why it could not do it.
    #[error("{0}")]
    Said(String),
    /// It ran into a trap, its own or one that its limits set.
    #[error("the component was ended: {0}")]
    Trapped(String),
    /// It used all its fuel.
    #[error("the component was ended, because it did more work than a call may")]
    OutOfFuel,
    /// Its time was over.
    #[error("the component was ended, because it took longer than a call may")]
    TimedOut,
    /// Its time was over before it began: others were inside components all the while.
    #[error(
        "the limit of concurrent component calls was reached until the deadline; this call did not start"
    )]
    NoRoom,
    /// The folder that it was to be given cannot be entered; nothing of it ran.
    #[error("{0}")]
    Workspace(String),
}

impl Engine {
    /// Asks a component what it is, with nothing to reach.
    ///
    /// # Errors
    /// [`CallError`] when it traps or takes too much.
    pub async fn describe(&self, compiled: &CompiledComponent) -> Result<DescribedComponent, CallError> {
        let limits = CallLimits { fuel: DESCRIBE_FUEL, ..CallLimits::default() };
        let asked = async {
            let (mut store, tool) = enter(self, compiled, InstanceState::with_nothing(), limits).await?;
            let described = tool.call_describe(&mut store).await.map_err(|error| ended(&error))?;
            Ok(described.into())
        };
        self.in_time(limits.time_max, asked).await
    }

    /// Makes an instance with nothing to reach, and throws it away: the least that a call can cost.
    ///
    /// # Errors
    /// [`CallError`] when it traps at its start.
    pub async fn instantiate(&self, compiled: &CompiledComponent) -> Result<(), CallError> {
        let limits = CallLimits::default();
        let entered = enter(self, compiled, InstanceState::with_nothing(), limits);
        self.in_time(limits.time_max, async { entered.await.map(drop) }).await
    }

    /// Calls a component.
    ///
    /// # Errors
    /// [`CallError`] when it traps, says no, or takes too much.
    pub async fn call(
        &self,
        compiled: &CompiledComponent,
        request: CallRequest,
        given: CallReach,
        ports: Ports,
        limits: CallLimits,
    ) -> Result<String, CallError> {
        let called = async {
            let inside = InstanceState::new(given, ports, request.principal)
                .map_err(|error| CallError::Workspace(error.to_string()))?;
            let (mut store, tool) = enter(self, compiled, inside, limits).await?;
            let ran = tool.call_run(&mut store, request.arguments.expose()).await;
            let answer = ran.map_err(|error| ended(&error))?;
            answer.map(bounded).map_err(|said| CallError::Said(bounded(said)))
        };
        self.in_time(limits.time_max, called).await
    }

    /// Does something with a component once there is room for it, and ends it with its time, waiting included. Waiting
    /// does not use fuel, and the epoch is looked at by running code only.
    async fn in_time<T>(
        &self,
        time_max: Duration,
        work: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let end = Instant::now() + time_max;
        let room = timeout_at(end, self.room.acquire()).await;
        let _room = room.map_err(|_| CallError::NoRoom)?.expect("it is never closed");
        let _counted = self.ticker.count();
        timeout_at(end, work).await.unwrap_or(Err(CallError::TimedOut))
    }
}

fn bounded(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    text
}

async fn enter(
    engine: &Engine,
    compiled: &CompiledComponent,
    inside: InstanceState,
    limits: CallLimits,
) -> Result<(Store<InstanceState>, Tool), CallError> {
    let broken = |error: wasmtime::Error| CallError::Trapped(one_line(&error));
    let mut store = Store::new(&engine.engine, inside);
    store.limiter(|inside| &mut inside.limits);
    store.set_fuel(limits.fuel).map_err(broken)?;
    store.fuel_async_yield_interval(Some(YIELD_FUEL)).map_err(broken)?;
    let ticks = limits.time_max.as_millis() / TICK.as_millis();
    store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX).max(1));
    store.epoch_deadline_trap();
    let tool = compiled.ready.instantiate_async(&mut store).await.map_err(|error| ended(&error))?;
    Ok((store, tool))
}

fn ended(error: &wasmtime::Error) -> CallError {
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => CallError::OutOfFuel,
        Some(Trap::Interrupt) => CallError::TimedOut,
        Some(trap) => CallError::Trapped(trap.to_string()),
        None => CallError::Trapped(one_line(error)),
    }
}
