//! How far each run is that an actor works on, beside its tape: for self-healing, which only reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use palyra_types::RunId;
use palyra_types::run::RunPhase;
use tokio::sync::Notify;

/// How long a model may be silent: a provider ends a request itself after that time.
const MODEL_SILENCE_MAX: Duration = Duration::from_secs(300);
/// Runs without an actor that are listed until the next look.
const LEFT_RUNS_MAX: usize = 1_024;

/// What is known of a run that an actor works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunActivity {
    /// Pieces that models sent.
    pub received: u64,
    /// The longest time that its current effects may take, if they have a limit.
    pub effect_deadline: Option<Duration>,
}

/// The runs that are worked on. Clones share them.
#[derive(Clone, Default)]
pub struct RunBoard {
    marks: Arc<Mutex<BTreeMap<RunId, Arc<RunMark>>>>,
    /// Pieces that models sent to all runs. A request may wait for its turn at a provider while others are answered.
    received: Arc<AtomicU64>,
    begun: Arc<Notify>,
    left: Arc<Mutex<LeftRuns>>,
    reports_ends: Arc<AtomicBool>,
}

/// Runs that were to move when the last actor left them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LeftRuns {
    pub(super) runs: BTreeSet<RunId>,
    /// More of them than are listed were left.
    pub(super) are_more: bool,
}

/// What is known of one run.
#[derive(Debug, Default)]
struct RunMark {
    received: AtomicU64,
    is_moving: AtomicBool,
    is_asking: AtomicBool,
    /// The longest deadline of its effects, in microseconds; zero for none.
    deadline_us: AtomicU64,
}

/// The place of a run on the board, until it is dropped.
pub struct RunMarker {
    board: RunBoard,
    run: RunId,
    mark: Arc<RunMark>,
}

impl RunBoard {
    /// Takes note that an actor works on a run.
    #[must_use]
    pub fn begin(&self, run: RunId) -> RunMarker {
        let mark = Arc::new(RunMark::default());
        self.marks().insert(run, Arc::clone(&mark));
        self.begun.notify_one();
        RunMarker { board: self.clone(), run, mark }
    }

    /// Returns the signal that is given when an actor begins to work on a run, and when a run begins to move.
    #[must_use]
    pub fn begun(&self) -> Arc<Notify> {
        Arc::clone(&self.begun)
    }

    /// Returns what is known of a run; `None` where no actor works on it.
    #[must_use]
    pub fn activity(&self, run: RunId) -> Option<RunActivity> {
        let mark = self.marks().get(&run).map(Arc::clone)?;
        let is_asking = mark.is_asking.load(Ordering::Relaxed);
        let others = if is_asking { self.received.load(Ordering::Relaxed) } else { 0 };
        let received = mark.received.load(Ordering::Relaxed).wrapping_add(others);
        let deadline = Duration::from_micros(mark.deadline_us.load(Ordering::Relaxed));
        let deadline = if is_asking { deadline.max(MODEL_SILENCE_MAX) } else { deadline };
        Some(RunActivity { received, effect_deadline: (!deadline.is_zero()).then_some(deadline) })
    }

    /// Returns the runs that move, as far as the actors that work on them have shown.
    pub(super) fn moving(&self) -> Vec<RunId> {
        let is_moving = |mark: &RunMark| mark.is_moving.load(Ordering::Relaxed);
        self.marks().iter().filter(|(_, mark)| is_moving(mark)).map(|(run, _)| *run).collect()
    }

    /// Returns the runs that were left since the last time.
    pub(super) fn take_left(&self) -> LeftRuns {
        std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Gives the signal also when an actor leaves its run.
    pub(super) fn report_ends(&self) {
        self.reports_ends.store(true, Ordering::Relaxed);
    }

    /// Gives no signal any more when an actor leaves a run that does not move.
    pub(super) fn ignore_ends(&self) {
        self.reports_ends.store(false, Ordering::Relaxed);
    }

    fn leave(&self, run: RunId) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.runs.len() < LEFT_RUNS_MAX {
            left.runs.insert(run);
        } else {
            left.are_more = true;
        }
    }

    fn marks(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<RunMark>>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunMarker {
    /// Counts a piece that a model sent.
    pub fn received(&self) {
        self.mark.received.fetch_add(1, Ordering::Relaxed);
        self.board.received.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes note of the recorded phase of the run: one that begins to move gives the signal. An actor begins before its run
    /// is recorded, so that a look at that time may not see the run.
    pub fn show_phase(&self, phase: RunPhase) {
        let is_moving = phase == RunPhase::Running;
        if !self.mark.is_moving.swap(is_moving, Ordering::Relaxed) && is_moving {
            self.board.begun.notify_one();
        }
    }

    /// Takes note of how many model requests and how many other effects of the run are at work.
    pub fn show(&self, requests: usize, effects: usize) {
        self.mark.is_asking.store(requests > 0, Ordering::Relaxed);
        if effects == 0 {
            self.mark.deadline_us.store(0, Ordering::Relaxed);
        }
    }

    /// Takes note of an effect that may take so long.
    pub fn begin_effect(&self, deadline: Duration) {
        let deadline = u64::try_from(deadline.as_micros()).unwrap_or(u64::MAX);
        self.mark.deadline_us.fetch_max(deadline, Ordering::Relaxed);
    }
}

impl Drop for RunMarker {
    fn drop(&mut self) {
        let mut marks = self.board.marks();
        // Another actor may work on it by now.
        if !marks.get(&self.run).is_some_and(|mark| Arc::ptr_eq(mark, &self.mark)) {
            return;
        }
        marks.remove(&self.run);
        drop(marks);
        let is_left = self.mark.is_moving.load(Ordering::Relaxed);
        if is_left {
            self.board.leave(self.run);
        }
        if is_left || self.board.reports_ends.load(Ordering::Relaxed) {
            self.board.begun.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use palyra_types::run::WaitReason;

    use super::*;

    #[test]
    fn a_run_is_on_the_board_while_its_marker_lives() {
        let board = RunBoard::default();
        let run = RunId::from_parts(1, 1);
        let first = board.begin(run);
        let second = board.begin(run);
        drop(first);
        assert_eq!(board.activity(run), Some(RunActivity::default()), "the second actor works on it");
        drop(second);
        assert_eq!(board.activity(run), None);
    }

    #[test]
    fn a_run_gives_the_signal_each_time_it_begins_to_move() {
        let board = RunBoard::default();
        let marker = board.begin(RunId::from_parts(1, 1));
        let is_given = || board.begun().notified().now_or_never().is_some();
        assert!(is_given(), "the actor begins");
        let waiting = RunPhase::Waiting(WaitReason::Approval);
        let given = [RunPhase::Running, RunPhase::Running, waiting, RunPhase::Running].map(|phase| {
            marker.show_phase(phase);
            is_given()
        });
        assert_eq!(given, [true, false, false, true]);
    }

    #[test]
    fn a_run_that_an_actor_leaves_while_it_moves_is_listed_once() {
        let board = RunBoard::default();
        let [moving, waiting] = [1, 2].map(|number| RunId::from_parts(1, number));
        let markers = [board.begin(moving), board.begin(waiting)];
        markers[0].show_phase(RunPhase::Running);
        assert_eq!(board.moving(), [moving]);
        drop(markers);
        assert_eq!(board.moving(), []);
        let left = LeftRuns { runs: BTreeSet::from([moving]), are_more: false };
        assert_eq!([board.take_left(), board.take_left()], [left, LeftRuns::default()]);
        for number in 0..=LEFT_RUNS_MAX {
            let marker = board.begin(RunId::from_parts(2, number as u128));
            marker.show_phase(RunPhase::Running);
        }
        let left = board.take_left();
        assert_eq!((left.runs.len(), left.are_more), (LEFT_RUNS_MAX, true));
    }

    #[test]
    fn the_end_of_a_run_gives_the_signal_where_it_is_asked_for() {
        let board = RunBoard::default();
        let is_given = || board.begun().notified().now_or_never().is_some();
        for reports in [false, true, false] {
            if reports {
                board.report_ends();
            } else {
                board.ignore_ends();
            }
            let marker = board.begin(RunId::from_parts(1, 1));
            assert!(is_given(), "the actor begins");
            drop(marker);
            assert_eq!(is_given(), reports);
        }
    }

    #[test]
    fn pieces_of_others_count_while_a_model_is_asked() {
        let board = RunBoard::default();
        let [asking, other] = [1, 2].map(|number| RunId::from_parts(1, number));
        let markers = [board.begin(asking), board.begin(other)];
        markers[0].show(1, 0);
        let before = board.activity(asking);
        markers[1].received();
        assert_ne!(board.activity(asking), before);
        markers[0].show(0, 0);
        let before = board.activity(asking);
        markers[1].received();
        assert_eq!(board.activity(asking), before);
    }

    #[test]
    fn the_longest_deadline_counts_until_the_effects_are_over() {
        let board = RunBoard::default();
        let run = RunId::from_parts(1, 1);
        let marker = board.begin(run);
        marker.begin_effect(Duration::from_secs(60));
        marker.begin_effect(Duration::from_secs(10));
        let deadline = || board.activity(run).and_then(|activity| activity.effect_deadline);
        assert_eq!(deadline(), Some(Duration::from_secs(60)));
        marker.show(1, 0);
        assert_eq!(deadline(), Some(MODEL_SILENCE_MAX));
        marker.show(0, 0);
        assert_eq!(deadline(), None);
    }
}
