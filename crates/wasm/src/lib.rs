//! Tools that are WebAssembly components: tier A.
//!
//! Owns the engine, what a component can import, and its limits; not where components come from, nor who may use
//! them. Invariant: a component reaches what was given to this very call and nothing else; whatever it does, the call
//! ends within its fuel, its time and its memory. Begin at [`Machine`].

mod machine;

mod limits;
mod compiled;
mod call;
mod inside;
mod imports;
mod key_value;

pub use call::{CallError, CallRequest, Given};
pub use compiled::{CompileError, Compiled};
pub use imports::Ports;
pub use key_value::{KeepValues, KeyValueError, MemoryValues};
pub use limits::CallLimits;
pub use machine::{Described, DescribedCapability, DescribedContract, Machine, MachineError};

/// What `wit/tool.wit` says, as types and traits.
#[allow(unreachable_pub, clippy::all, reason = "made by a macro")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "tool",
        imports: { default: async | trappable },
        exports: { default: async },
        with: { "palyra:tool/secrets.secret": crate::inside::OpenedSecret },
    });
}
