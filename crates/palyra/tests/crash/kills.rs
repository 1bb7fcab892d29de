//! When to kill: phases, their triggers, and how often each was hit.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use palyra_wire::v1::TapeEntry;
use palyra_wire::v1::tape_entry::Event;

/// Kills within one model request, at most: after a fifth the run would wait for a person.
const KILLS_PER_TURN_MAX: u32 = 3;
/// Kills that may have come so late that they hit the request after the one whose entries triggered them.
const LATE_KILLS_MAX: u32 = 2;
/// The longest pause between a trigger and its kill.
const DELAY_MS_MAX: u64 = 50;

/// Where a run is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// The request to start is on its way, and nothing of it is committed.
    BeforeFirstCommit,
    /// A model was asked and has said nothing.
    ModelWaiting,
    /// A model is speaking.
    TextStreaming,
    /// A tool is running.
    ToolRunning,
    /// A tool's outcome is committed; the next answer has not begun.
    BetweenOutcomeAndAnswer,
    /// The run is over.
    AfterTerminal,
}

impl Phase {
    pub(crate) const ALL: [Self; 6] = [
        Self::BeforeFirstCommit,
        Self::ModelWaiting,
        Self::TextStreaming,
        Self::ToolRunning,
        Self::BetweenOutcomeAndAnswer,
        Self::AfterTerminal,
    ];

    /// Returns the phase that an entry begins.
    fn begun_by(entry: &TapeEntry, before: Option<&Event>) -> Option<Self> {
        match entry.event.as_ref()? {
            Event::ModelRequested(_) if matches!(before, Some(Event::ToolFinished(_))) => {
                Some(Self::BetweenOutcomeAndAnswer)
            }
            Event::ModelRequested(_) => Some(Self::ModelWaiting),
            Event::ModelText(_) => Some(Self::TextStreaming),
            Event::ToolStarted(_) => Some(Self::ToolRunning),
            Event::RunFinished(_) => Some(Self::AfterTerminal),
            _ => None,
        }
    }
}

/// Counts kills and chooses the next.
pub(crate) struct Tally {
    kills: BTreeMap<Phase, usize>,
    in_turn: u32,
    before: Option<Event>,
    seed: u64,
    longest_gap: Duration,
}

impl Tally {
    pub(crate) fn new(seed: u64) -> Self {
        Self { kills: BTreeMap::new(), in_turn: 0, before: None, seed, longest_gap: Duration::ZERO }
    }

    pub(crate) fn total(&self) -> usize {
        self.kills.values().sum()
    }

    pub(crate) fn of(&self, phase: Phase) -> usize {
        self.kills.get(&phase).copied().unwrap_or(0)
    }

    pub(crate) fn each_phase_has(&self, least: usize) -> bool {
        Phase::ALL.iter().all(|phase| self.of(*phase) >= least)
    }

    pub(crate) fn count(&mut self, phase: Phase) {
        *self.kills.entry(phase).or_default() += 1;
    }

    /// Notes how long it took until another daemon served. It is printed, not judged: on a busy machine that is the
    /// machine's time.
    pub(crate) fn was_gone_for(&mut self, gap: Duration) {
        self.longest_gap = self.longest_gap.max(gap);
    }

    /// Forgets the run before. A kill before the first commit may hit the first request, so that counts one.
    pub(crate) fn new_run(&mut self) {
        (self.in_turn, self.before) = (1, None);
    }

    /// Looks at a committed entry; says whether to kill now, and after which pause.
    pub(crate) fn look(&mut self, entry: &TapeEntry) -> Option<(Phase, Duration)> {
        let phase = Phase::begun_by(entry, self.before.as_ref());
        self.before.clone_from(&entry.event);
        if let Some(Event::ModelMessage(_)) = &entry.event {
            // The last kills may have come so late that they hit what follows.
            self.in_turn = self.in_turn.min(LATE_KILLS_MAX);
        }
        let phase = phase?;
        let room = self.in_turn < KILLS_PER_TURN_MAX || phase == Phase::AfterTerminal;
        let rarest = Phase::ALL.iter().map(|phase| self.of(*phase)).min().unwrap_or(0);
        let wanted = self.of(phase) == rarest || self.random().is_multiple_of(3);
        if !wanted || !room {
            return None;
        }
        self.in_turn += 1;
        self.count(phase);
        // A tool is quick: it is caught at once, or not at all.
        let delay_max = if phase == Phase::ToolRunning { 10 } else { DELAY_MS_MAX };
        Some((phase, Duration::from_millis(self.random() % (delay_max + 1))))
    }

    /// splitmix64: the same seed gives the same choices.
    pub(crate) fn random(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} kills:", self.total())?;
        Phase::ALL.iter().try_for_each(|phase| write!(f, " {phase:?} {}", self.of(*phase)))?;
        write!(f, ", serving again after {:?} at most", self.longest_gap)
    }
}
