//! Attacks by way of the tools that read and write files.

mod field;

pub(crate) mod paths;
pub(crate) mod patches;
pub(crate) mod special;
pub(crate) mod races;
