//! Projections: tables that are a fold over the log.
//!
//! Owns one file per family. A fold takes an entry (facts and, unless erased, payload) and the family's rows;
//! it knows no clock, no randomness, no table of another class. Invariant: the same functions run in the
//! transaction that appends an entry and in a rebuild, so both end with equal tables. Begin at [`fold`].

mod fit;
mod recreate;

mod fold;

mod input_keys;
mod phases;
mod resets;
mod runs;
mod sessions;

mod approvals;
mod effect_numbers;
mod effects;
mod components;
mod skills;
mod stored_grants;
mod postures;
mod shadows;
mod jobs;
mod undos;

mod agents;
mod principals;
mod tokens;

mod epochs;
mod kinds_seen;

mod folded;
mod rows;

pub(crate) use fit::{agrees, differing_table, misfit};
pub(crate) use fold::Projections;
pub(crate) use folded::Folded;
pub(crate) use kinds_seen::outside_tapes as kinds_outside_tapes;
pub(crate) use recreate::{fold_log, recreate};

pub(crate) use agents::all as all_agents;
pub(crate) use approvals::{APPROVAL_COLUMNS, ApprovalRow};
pub(crate) use components::{COMPONENT_COLUMNS, ComponentRow};
pub(crate) use effects::{EFFECT_COLUMNS, EffectRow};
pub(crate) use epochs::{descending as epochs_descending, newest as newest_epoch};
pub(crate) use postures::standing as standing_postures;
pub(crate) use principals::all as all_principals;
pub(crate) use runs::{RUN_COLUMNS, RunRow};
pub(crate) use sessions::{SESSION_COLUMNS, SessionRow};
pub(crate) use shadows::newest as newest_shadow;
pub(crate) use skills::{SKILL_COLUMNS, SkillRow};
pub(crate) use stored_grants::{STORED_GRANT_COLUMNS, StoredGrantRow};
pub(crate) use tokens::all as all_tokens;
pub(crate) use undos::open as open_undos;
