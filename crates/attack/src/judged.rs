//! Calls that nobody is asked about: what grants, standing settings and rules let run, and what they never do.

mod desk;

pub(crate) mod credentials;
pub(crate) mod grants;
pub(crate) mod names;
pub(crate) mod spellings;

pub(crate) use desk::{GrantDraft, PolicyCase, is_let_run, shipped_for};
