//! Carries out effects; their results come back through the run's mailbox.

pub(super) mod call_model;

pub(super) mod prepare_tool;
pub(super) mod execute_tool;
