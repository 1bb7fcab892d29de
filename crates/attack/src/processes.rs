//! Attacks by programs: held by a tier, and by nothing.

pub(crate) mod written;

mod canaries;
mod carry_out;
mod descriptors;
mod hold;
mod host_activity;
pub(crate) mod own_user;
mod victim;

pub(crate) use carry_out::trials;
pub(crate) use hold::{ConfinementKind, HOLDS};
