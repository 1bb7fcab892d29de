//! Attacks by way of the tools that start programs: what they are told, and what surrounds them.

mod yard;

pub(crate) mod word_splitting;
pub(crate) mod variables;
pub(crate) mod approvals;
pub(crate) mod output;
pub(crate) mod kept;
pub(crate) mod missing;
pub(crate) mod previews;
pub(crate) mod repository;
pub(crate) mod questions;
pub(crate) mod roots;
pub(crate) mod scripts;
pub(crate) mod leavings;
pub(crate) mod replaced;
pub(crate) mod placed;

pub use variables::{INSIDE as RUN_AS_TOOL, inside as with_variables};
