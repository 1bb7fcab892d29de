//! Tools that are WebAssembly components: tier A.
//!
//! Owns the engine, what a component can import, its limits, and how components are compiled, kept and called as
//! tools; not which ones a person added, nor who may use them. Invariant: a component reaches what was given to this
//! very call and nothing else; whatever it does, the call ends within its fuel, its time and its memory. Begin at
//! [`ComponentTools`], then [`Engine`].

mod components;

mod examine;
mod component_catalog;
mod component_store;
mod artifact_checks;
mod compile_cache;
mod native;
#[cfg(feature = "compiler")]
mod compiler;

mod engine;
mod engine_settings;
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
pub use compile_cache::{COMPILE, COMPILE_LIMITS, COMPILER_PROGRAM};
pub use compiled::{CompileError, CompiledComponent};
#[cfg(feature = "compiler")]
pub use compiler::run as compile;
pub use component_catalog::offered_tools;
pub use components::{ComponentParts, ComponentTools};
pub use described::{DescribedCapability, DescribedComponent, DescribedContract};
pub use engine::{Engine, EngineError};
pub use examine::tool_of;
pub use file_values::FileValues;
pub use key_value::{KeepValues, KeyValueError, MemoryValues};
pub use limits::CallLimits;
pub use reach::{CallReach, GivenFiles, Methods, Ports};
