//! Decides what is learned from conversations.
//!
//! Owns how candidates are found in runs (by rules, and in the answer of a model), how sure they are, which of them are applied
//! without a person, and which states follow each other. Knows no clock, disk, network or chance, and no model: times, runs and
//! answers are inputs.
//!
//! Invariant: a fact or a preference cites an entry that its principal typed, and its words are words of that entry outside of
//! quotations. Begin at [`find_candidates`], then [`decide_standing`].

#![warn(clippy::wildcard_enum_match_arm)]

mod reflected_run;

mod own_words;
mod word_lists;
mod sentence_rules;
mod statement_words;
mod fact_rules;
mod preference_rules;
mod sensitive_text;
mod rule_extraction;

mod procedure_steps;
mod procedures;
mod skill_draft;

mod model_request;
mod model_answer;

mod confidence;
mod learning_config;
mod standing;
mod known_candidates;
mod lifecycle;
mod find_candidates;

pub use confidence::{FULL_CONFIDENCE_BPS, SupportingEvidence, confidence_bps};
pub use find_candidates::{FoundCandidate, ModelReading, find_candidates};
pub use known_candidates::{KnownCandidate, NextStep, next_step};
pub use learning_config::LearningRuntimeConfig;
pub use lifecycle::{ReviewAct, WrongState, state_after};
pub use model_answer::{AnswerFault, CitationFault, ReadAnswer, read_answer};
pub use model_request::{
    REFLECTION_INPUT_TOKENS_MAX, REFLECTION_OUTPUT_TOKENS_MAX, ReflectionRequest, reflection_request,
};
pub use reflected_run::{EntryVoice, ReflectedCall, ReflectedEntry, ReflectedRun};
pub use standing::{CandidateStanding, decide_standing};
pub use statement_words::says_the_same;
