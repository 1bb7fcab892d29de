//! What is done to a run from outside, and where it stood when it was done.
//!
//! Owns the two axes and the matrix that counts what was hit. Knows nothing of how a fault is brought about.

use std::collections::BTreeMap;
use std::fmt::Write;

use palyra_run_core::failure_table::CLASSES;
use palyra_types::model::ModelFailureClass;

/// What doubles panic with when the weather wants it; no other panic is expected.
pub(crate) const EXPECTED_PANIC: &str = "a simulated panic";

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Its first entry is not committed.
    BeforeFirstCommit,
    /// Accepted, waiting for its turn.
    Queued,
    /// A model was asked and has said nothing that is recorded.
    ModelWaiting,
    /// A model is answering.
    Streaming,
    /// A tool works out what a call would do.
    Preparing,
    /// A person is asked whether a call may run.
    Asked,
    /// A tool is under way.
    ToolRunning,
    /// Outcomes are recorded, and the model that was asked with them has said nothing yet.
    OutcomeToAnswer,
    /// It was told to stop, or its end is on its way to the journal.
    Ending,
    /// No run is at work: it is over, waits for a person's words, or the daemon is just starting.
    Idle,
}

impl Phase {
    /// All of them, in the order of a run's life.
    pub const ALL: [Self; 10] = [
        Self::BeforeFirstCommit,
        Self::Queued,
        Self::ModelWaiting,
        Self::Streaming,
        Self::Preparing,
        Self::Asked,
        Self::ToolRunning,
        Self::OutcomeToAnswer,
        Self::Ending,
        Self::Idle,
    ];

    /// Returns its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BeforeFirstCommit => "first commit",
            Self::Queued => "queued",
            Self::ModelWaiting => "model asked",
            Self::Streaming => "streaming",
            Self::Preparing => "preparing",
            Self::Asked => "asked",
            Self::ToolRunning => "tool running",
            Self::OutcomeToAnswer => "outcome",
            Self::Ending => "ending",
            Self::Idle => "idle",
        }
    }
}

/// What can be done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// An append takes place late.
    AppendLate,
    /// The answer to an append comes late.
    AnswerLate,
    /// The journal's queue is full.
    AppendBusy,
    /// The disk is full for new work.
    DiskFullForNewWork,
    /// The disk is full for everything.
    DiskFull,
    /// An append was answered with "unknown", and did not take place.
    UnknownLost,
    /// An append was answered with "unknown", and took place.
    UnknownKept,
    /// An append failed so that nothing is written until the next start; it did not take place.
    QuarantinedLost,
    /// The same, and the append appears after the next start.
    QuarantinedKept,
    /// No reader was free.
    ReadBusy,
    /// The store failed a read.
    ReadFails,
    /// A read took its time.
    ReadLate,
    /// The daemon is gone between two steps.
    Crash,
    /// The daemon is asked to come to rest, and is started anew.
    Restart,
    /// Somebody sets the wall clock.
    ClockSet,
    /// An operator's other rules come into force.
    PolicyChanges,
    /// A client is gone while it waits for an answer.
    CallerGone,
    /// A follower is gone, and comes back with a gap or an overlap.
    FollowerGone,
    /// The model fails.
    Model(ModelFailureClass),
    /// The model's stream ends without an answer.
    ModelSilent,
    /// The model's stream says more after its answer.
    ModelTalksOn,
    /// The model's adapter panics.
    ModelPanics,
    /// The model never answers.
    ModelHangs,
    /// The model pauses.
    ModelSlow,
    /// The tool fails.
    ToolFails,
    /// The tool never ends, whatever it is told.
    ToolHangs,
    /// The tool ends only when it is told to.
    ToolUntilTold,
    /// The tool is lost.
    ToolLost,
    /// The tool panics.
    ToolPanics,
    /// The tool takes its time.
    ToolSlow,
    /// What calls depend on changes while somebody answers.
    WorldChanges,
    /// The tool says that a call cannot work.
    PrepareRefuses,
    /// The tool takes its time to say what a call would do.
    PrepareSlow,
    /// The tool never says it.
    PrepareHangs,
    /// The tool panics instead.
    PreparePanics,
    /// A person decides an approval.
    Decide,
    /// A person says what became of a call whose outcome nobody knew.
    Settle,
    /// A person cancels the run.
    Cancel,
    /// A person steers it.
    Steer,
    /// A person interrupts it.
    Interrupt,
    /// A client says again what it said, under the same key.
    Repeat,
}

/// What can be done in which phases.
const AT_THE_MODEL: &[Phase] = &[Phase::ModelWaiting, Phase::Streaming, Phase::OutcomeToAnswer];
const AT_THE_TOOL: &[Phase] = &[Phase::ToolRunning];
/// What ends something may use the reserve.
const WITH_NEW_WORK: &[Phase] = &[
    Phase::BeforeFirstCommit,
    Phase::Queued,
    Phase::ModelWaiting,
    Phase::Streaming,
    Phase::Preparing,
    Phase::Asked,
    Phase::ToolRunning,
    Phase::OutcomeToAnswer,
    Phase::Idle,
];
/// Whom nobody knows yet, nobody can follow or speak to.
const ONCE_KNOWN: &[Phase] = &[
    Phase::Queued,
    Phase::ModelWaiting,
    Phase::Streaming,
    Phase::Preparing,
    Phase::Asked,
    Phase::ToolRunning,
    Phase::OutcomeToAnswer,
    Phase::Ending,
    Phase::Idle,
];

const ANYWHERE: &[Phase] = &Phase::ALL;

impl Fault {
    /// Returns all of them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![
            Self::AppendLate,
            Self::AnswerLate,
            Self::AppendBusy,
            Self::DiskFullForNewWork,
            Self::DiskFull,
            Self::UnknownLost,
            Self::UnknownKept,
            Self::QuarantinedLost,
            Self::QuarantinedKept,
            Self::ReadBusy,
            Self::ReadFails,
            Self::ReadLate,
            Self::Crash,
            Self::Restart,
            Self::ClockSet,
            Self::PolicyChanges,
            Self::CallerGone,
            Self::FollowerGone,
        ];
        all.extend(CLASSES.map(Self::Model));
        all.extend([
            Self::ModelSilent,
            Self::ModelTalksOn,
            Self::ModelPanics,
            Self::ModelHangs,
            Self::ModelSlow,
            Self::ToolFails,
            Self::ToolHangs,
            Self::ToolUntilTold,
            Self::ToolLost,
            Self::ToolPanics,
            Self::ToolSlow,
            Self::WorldChanges,
            Self::PrepareRefuses,
            Self::PrepareSlow,
            Self::PrepareHangs,
            Self::PreparePanics,
            Self::Decide,
            Self::Settle,
            Self::Cancel,
            Self::Steer,
            Self::Interrupt,
            Self::Repeat,
        ]);
        all
    }

    /// Returns in which phases it can happen at all.
    #[must_use]
    pub fn reaches(self) -> &'static [Phase] {
        match self {
            Self::AppendLate
            | Self::AnswerLate
            | Self::AppendBusy
            | Self::DiskFull
            | Self::UnknownLost
            | Self::UnknownKept
            | Self::QuarantinedLost
            | Self::QuarantinedKept
            | Self::ReadBusy
            | Self::ReadFails
            | Self::ReadLate
            | Self::Crash
            | Self::Restart
            | Self::ClockSet
            | Self::PolicyChanges
            | Self::CallerGone
            | Self::Repeat => ANYWHERE,
            Self::DiskFullForNewWork => WITH_NEW_WORK,
            Self::FollowerGone | Self::Cancel | Self::Steer | Self::Interrupt => ONCE_KNOWN,
            Self::Model(_)
            | Self::ModelSilent
            | Self::ModelPanics
            | Self::ModelHangs
            | Self::ModelSlow
            | Self::ModelTalksOn => AT_THE_MODEL,
            Self::ToolFails
            | Self::ToolHangs
            | Self::ToolUntilTold
            | Self::ToolLost
            | Self::ToolPanics
            | Self::ToolSlow => AT_THE_TOOL,
            Self::Settle => &[Phase::Idle],
            Self::WorldChanges | Self::Decide => &[Phase::Asked, Phase::ToolRunning],
            Self::PrepareRefuses | Self::PrepareSlow | Self::PrepareHangs | Self::PreparePanics => {
                &[Phase::Preparing]
            }
        }
    }

    /// Returns whether it is a wish of a person rather than something that goes wrong.
    #[must_use]
    pub fn is_requested(self) -> bool {
        matches!(
            self,
            Self::Decide | Self::Settle | Self::Cancel | Self::Steer | Self::Interrupt | Self::Repeat
        )
    }

    /// Returns its name in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Model(class) => format!("Model{class:?}"),
            _ => format!("{self:?}"),
        }
    }
}

/// How often what was done in which phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultMatrix {
    cells: BTreeMap<(Fault, Phase), u64>,
}

impl FaultMatrix {
    /// Counts one.
    pub fn count(&mut self, fault: Fault, phase: Phase) {
        *self.cells.entry((fault, phase)).or_default() += 1;
    }

    /// Adds another story's counts.
    pub fn add(&mut self, other: &Self) {
        for (cell, count) in &other.cells {
            *self.cells.entry(*cell).or_default() += count;
        }
    }

    /// Returns one count.
    #[must_use]
    pub fn at(&self, fault: Fault, phase: Phase) -> u64 {
        self.cells.get(&(fault, phase)).copied().unwrap_or_default()
    }

    /// Returns how many faults were injected; wishes of people are none.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.cells.iter().filter(|((fault, _), _)| !fault.is_requested()).map(|(_, count)| count).sum()
    }

    /// Returns the cells that can be reached and were not.
    #[must_use]
    pub fn empty(&self) -> Vec<(Fault, Phase)> {
        let all = Fault::all();
        let cells = all.iter().flat_map(|fault| fault.reaches().iter().map(|phase| (*fault, *phase)));
        cells.filter(|(fault, phase)| self.at(*fault, *phase) == 0).collect()
    }

    /// Writes it as a table; `-` where a fault cannot reach.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = format!("| {:<20} |", "fault");
        for phase in Phase::ALL {
            let _ = write!(text, " {:>12} |", phase.name());
        }
        let _ = write!(text, "\n|{}|", "-".repeat(22));
        for _ in Phase::ALL {
            let _ = write!(text, "{}:|", "-".repeat(13));
        }
        for fault in Fault::all() {
            let _ = write!(text, "\n| {:<20} |", fault.name());
            for phase in Phase::ALL {
                let count = match self.at(fault, phase) {
                    0 if !fault.reaches().contains(&phase) => "-".to_owned(),
                    count => count.to_string(),
                };
                let _ = write!(text, " {count:>12} |");
            }
        }
        text.push('\n');
        text
    }
}
