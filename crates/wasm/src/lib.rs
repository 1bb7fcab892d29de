//! Tools that are WebAssembly components: tier A.
//!
//! Owns the engine, what a component can import, its limits, and how components are compiled, kept and called as
//! tools; not which ones a person added, nor who may use them. Invariant: a component reaches what was given to this
//! very call and nothing else; whatever it does, the call ends within its fuel, its time and its memory. Begin at
//! [`Components`], then [`Machine`].

mod components;

mod examine;
mod offered;
mod shelf;
mod workshop;
mod native;
#[cfg(feature = "compiler")]
mod compiler;

mod machine;
mod engine;
mod compiled;
mod call;

mod described;
mod reach;
mod limits;
mod inside;
mod imports;
mod guarded_files;
mod secret;
mod bindings;

mod key_value;
mod file_values;

pub use call::{CallError, CallRequest};
pub use compiled::{CompileError, Compiled};
#[cfg(feature = "compiler")]
pub use compiler::run as compile;
pub use components::{ComponentParts, Components};
pub use described::{Described, DescribedCapability, DescribedContract};
pub use examine::tool_of;
pub use file_values::FileValues;
pub use key_value::{KeepValues, KeyValueError, MemoryValues};
pub use limits::CallLimits;
pub use machine::{Machine, MachineError};
pub use offered::offered_tools;
pub use reach::{Given, GivenFiles, Methods, Ports};
pub use workshop::{COMPILE, COMPILE_LIMITS, COMPILER_PROGRAM};
