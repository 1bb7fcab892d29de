//! The parts of a conversation that a request holds, as the tape records them.

use crate::Seq;

/// The parts of a conversation that a request holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextPlan {
    /// Messages sent.
    pub messages_kept: u32,
    /// Messages left out, oldest first.
    pub messages_dropped: u32,
    /// Why they were left out.
    pub dropped_because: Option<DropReason>,
    /// Journal seq of the oldest entry shown; `None` when only this run is.
    pub oldest_seq: Option<Seq>,
    /// Estimated tokens of the whole request.
    pub tokens_estimated: u64,
    /// SHA-256 of the instructions (body in the journal's static texts).
    pub instructions_digest: [u8; 32],
    /// SHA-256 of the tool catalogue (body in the journal's static texts).
    pub catalog_digest: [u8; 32],
    /// The totals of each source, in the order of the request; empty on tapes of older versions. At most one row per source.
    pub sources: Vec<PlannedSource>,
}

/// The part of a request that is of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedSource {
    /// The source.
    pub source: ContextSource,
    /// Pieces that are in the request: messages of a conversation, files, items.
    pub kept: u32,
    /// Pieces that are not.
    pub dropped: u32,
    /// Estimated tokens of what is in it.
    pub tokens_kept: u64,
    /// Estimated tokens of the part that is left out.
    pub tokens_dropped: u64,
    /// Why some are not; `None` when all are.
    pub dropped_because: Option<DropReason>,
}

/// Where a part of a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContextSource {
    /// The instructions of the system.
    Instructions,
    /// The instructions of the agent.
    Agent,
    /// Active skills.
    Skills,
    /// The tools on offer.
    Tools,
    /// Earlier runs of the session.
    History,
    /// Earlier rounds of the run itself.
    Rounds,
    /// The words of the person in this run, and the latest round.
    Input,
    /// Files of the project that the person accepted.
    ProjectRules,
    /// Files of the project that are not accepted.
    ProjectFiles,
    /// What is remembered for the person.
    Memory,
    /// The summary of older runs of the session.
    Summary,
    /// What the references of inputs of this run name.
    References,
    /// What is known of the person's preferences.
    Preferences,
    /// What a channel says beside the input.
    Channel,
}

impl ContextSource {
    /// Every source.
    pub const ALL: [Self; 14] = [
        Self::Instructions,
        Self::Agent,
        Self::Skills,
        Self::Tools,
        Self::History,
        Self::Rounds,
        Self::Input,
        Self::ProjectRules,
        Self::ProjectFiles,
        Self::Memory,
        Self::Summary,
        Self::References,
        Self::Preferences,
        Self::Channel,
    ];
}

/// Why a piece was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The window is too small for all of it.
    Window,
    /// It is larger than its source may be, also in a large window.
    Limit,
}
