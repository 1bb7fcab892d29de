//! The attack suite: what somebody would try who means harm, carried out against each mechanism that stops it, and
//! once without it.
//!
//! Read [`pair`] and [`trial`] first, then one zone: [`processes`] is the largest. The judge looks at canaries, never
//! at what an attack or a refusal says. Invariant: a pair whose control touches nothing counts for nothing.

pub mod pair;
pub mod trial;

pub mod catalogue;
pub mod trial_folder;
pub mod zones;
pub mod half;
pub mod tally;

mod calls;
mod processes;
mod shell;
mod fetch;
mod files;
mod judged;
mod pages;
mod secrets;
mod components;
mod state;
mod served;

pub use components::{COMPONENT_HOST, call_component};
pub use pages::{READ_PAGE, read_as};
pub use shell::{RUN_AS_TOOL, with_variables};
