//! One call of a component, from an empty store to its answer.
//!
//! Invariant: a store is made for one call and thrown away with it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_types::{PrincipalId, Redacted};
use wasmtime::{Store, Trap};

use crate::bindings::Tool;
use crate::bindings::palyra::tool::description as wit;
use crate::compiled::{Compiled, one_line};
use crate::imports::Ports;
use crate::inside::Inside;
use crate::limits::{CallLimits, TEXT_BYTES_MAX, limiter};
use crate::machine::{Described, DescribedCapability, DescribedContract, Machine, TICK};

/// Fuel between two points at which a call lets others go on.
const YIELD_FUEL: u64 = 10_000_000;

/// What a component is called with.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// JSON that fits its schema.
    pub arguments: Redacted<String>,
    /// For whom.
    pub principal: PrincipalId,
}

/// What a call may reach.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The workspace, and whether it may be changed.
    pub files: GivenFiles,
    /// Hosts, in small letters.
    pub hosts: BTreeSet<String>,
    /// Names of secrets.
    pub secrets: BTreeSet<String>,
    /// The name under which values are kept between calls; `None` when none may be.
    pub key_value: Option<String>,
}

/// Which files a call may reach.
#[derive(Debug, Clone, Default)]
pub enum GivenFiles {
    /// None.
    #[default]
    None,
    /// Those below a folder, to read.
    Read(PathBuf),
    /// The same, and to change.
    Change(PathBuf),
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
}

pub(crate) async fn describe(machine: &Machine, compiled: &Compiled) -> Result<Described, CallError> {
    let limits = CallLimits { fuel: 1_000_000_000, ..CallLimits::default() };
    let inside = Inside::with_nothing();
    let (mut store, tool) = enter(machine, compiled, inside, limits).await?;
    let described = tool.call_describe(&mut store).await.map_err(|error| ended(&error))?;
    Ok(described.into())
}

pub(crate) async fn run(
    machine: &Machine,
    compiled: &Compiled,
    request: CallRequest,
    given: Given,
    ports: Ports,
    limits: CallLimits,
) -> Result<String, CallError> {
    let _room = Arc::clone(&machine.room).acquire_owned().await.expect("it is never closed");
    let _counted = machine.ticker.count();
    let broken = |error: wasmtime::Error| CallError::Trapped(one_line(&error));
    let inside = Inside::new(given, ports, request.principal).map_err(broken)?;
    let (mut store, tool) = enter(machine, compiled, inside, limits).await?;
    let answer =
        tool.call_run(&mut store, request.arguments.expose()).await.map_err(|error| ended(&error))?;
    let bounded = |mut text: String| {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
        text
    };
    answer.map(bounded).map_err(|said| CallError::Said(bounded(said)))
}

async fn enter(
    machine: &Machine,
    compiled: &Compiled,
    inside: Inside,
    limits: CallLimits,
) -> Result<(Store<Inside>, Tool), CallError> {
    let broken = |error: wasmtime::Error| CallError::Trapped(one_line(&error));
    let mut store = Store::new(&machine.engine, inside);
    store.limiter(|inside| limiter(&mut inside.limits));
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

impl From<wit::ToolDescription> for Described {
    fn from(told: wit::ToolDescription) -> Self {
        let contract = match told.contract {
            wit::Contract::Pure => DescribedContract::Pure,
            wit::Contract::Keyed => DescribedContract::Keyed,
            wit::Contract::Probe => DescribedContract::Probe,
            wit::Contract::Opaque => DescribedContract::Opaque,
        };
        let capability = |told: wit::Capability| match told {
            wit::Capability::ReadFiles => DescribedCapability::ReadFiles,
            wit::Capability::WriteFiles => DescribedCapability::WriteFiles,
            wit::Capability::Http(host) => DescribedCapability::Http(host),
            wit::Capability::Secret(name) => DescribedCapability::Secret(name),
            wit::Capability::KeyValue => DescribedCapability::KeyValue,
        };
        Self {
            name: told.name,
            description: told.description,
            schema: told.schema,
            contract,
            capabilities: told.capabilities.into_iter().map(capability).collect(),
        }
    }
}
