//! Every order in which two workers, a deadline, a cancel and a crash can meet, up to a depth.
//!
//! A worker that lost its lease goes on: its effect may take place at any later time, and its report may arrive then.

use palyra_types::LeaseFence;
use palyra_types::queued_task::{AttemptEnd, TaskEvent, TaskKind, TaskStage};

use crate::fixture::{report, waiting};
use crate::queue_time::QueueTime;
use crate::queued_task::QueuedTask;

const DEPTH: usize = 9;
const WORKERS: usize = 2;

#[derive(Debug, Clone, Copy)]
enum Action {
    Lease,
    Report(usize, AttemptEnd),
    Expire,
    ProcessEnds,
    Cancel,
}

/// A task with the workers that ever had a lease of it.
#[derive(Debug, Clone)]
struct World {
    task: QueuedTask,
    workers: Vec<LeaseFence>,
    completions: usize,
    unknowns: usize,
}

impl World {
    fn actions(&self) -> Vec<Action> {
        let mut actions = vec![Action::Expire, Action::ProcessEnds, Action::Cancel];
        if self.workers.len() < WORKERS {
            actions.push(Action::Lease);
        }
        for worker in 0..self.workers.len() {
            let ends = [AttemptEnd::Completed, AttemptEnd::Failed, AttemptEnd::Stopped];
            actions.extend(ends.map(|end| Action::Report(worker, end)));
        }
        actions
    }

    /// Returns the event that follows, if any: a report of a lease that is over has none.
    fn event(&self, action: Action) -> Option<TaskEvent> {
        let state = self.task.state();
        let due = QueueTime::agreed(state.due.max(state.until));
        match action {
            Action::Lease => self.task.lease(due),
            Action::Report(worker, end) => self.task.end_attempt(report(self.workers[worker].0, end), due),
            Action::Expire => {
                self.task.is_expired(due).then(|| self.task.lose(AttemptEnd::NoHeartbeat, due))?
            }
            Action::ProcessEnds => self.task.lose(AttemptEnd::ProcessEnded, due),
            Action::Cancel => self.task.cancel(),
        }
    }

    fn act(&mut self, action: Action) -> bool {
        let before = self.task;
        let Some(event) = self.event(action) else { return false };
        self.task.evolve(&event);
        assert_ne!(self.task, before, "an event changes its task: {action:?}");
        if let TaskEvent::Leased { fence, .. } = event {
            assert!(self.workers.iter().all(|earlier| *earlier < fence), "a fence is given once");
            self.workers.push(fence);
        }
        if let Action::Report(worker, AttemptEnd::Completed) = action {
            assert_eq!(Some(&self.workers[worker]), self.workers.last(), "of the latest lease alone");
            self.completions += 1;
        }
        self.unknowns += usize::from(self.task.state().stage == TaskStage::OutcomeUnknown);
        true
    }
}

/// Visits every world that follows; returns how many there are.
fn explore(world: &World, depth: usize) -> usize {
    let stage = world.task.state().stage;
    assert!(world.completions <= 1, "done once: {world:?}");
    assert_eq!(world.completions == 1, stage == TaskStage::Done, "{world:?}");
    assert_eq!(world.unknowns == 1, stage == TaskStage::OutcomeUnknown, "{world:?}");
    if world.task.state().kind == TaskKind::OutboxSend && stage == TaskStage::Waiting {
        let knows_no_effect =
            matches!(world.task.state().last_end, None | Some(AttemptEnd::Failed | AttemptEnd::Stopped));
        assert!(knows_no_effect, "a lost attempt is never repeated by itself: {world:?}");
    }
    if depth == 0 {
        return 1;
    }
    let mut worlds = 1;
    for action in world.actions() {
        let mut next = world.clone();
        if next.act(action) {
            worlds += explore(&next, depth - 1);
        } else {
            assert_eq!(next.task, world.task);
        }
    }
    worlds
}

#[test]
fn in_every_order_of_two_workers_a_deadline_a_crash_and_a_cancel_a_task_is_done_at_most_once() {
    for kind in [TaskKind::Compaction, TaskKind::OutboxSend] {
        let world = World { task: waiting(kind, 1, 0), workers: Vec::new(), completions: 0, unknowns: 0 };
        let worlds = explore(&world, DEPTH);
        assert!(worlds > 20, "{worlds} worlds of {kind:?}");
    }
}
