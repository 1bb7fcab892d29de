//! Random histories of a queue: decisions, reports of any lease, deadlines, cancels, retries, clocks that jump.

use std::collections::BTreeMap;
use std::time::Duration;

use palyra_types::queued_task::{AttemptEnd, TaskEvent, TaskKind, TaskStage};
use palyra_types::{QueuedTaskId, Timestamp};
use proptest::prelude::*;

use crate::decide::{QueueView, WORKERS_MAX, decide};
use crate::fixture::{enqueued, report};
use crate::queue_time::QueueTime;
use crate::queued_task::QueuedTask;
use crate::task_rules::rules;

#[derive(Debug, Clone)]
enum Step {
    Enqueue { kind: TaskKind, delay: u32 },
    Decide,
    Wait { seconds: u32 },
    WallJumps { seconds: i32 },
    Report { task: usize, fence: u32, end: AttemptEnd },
    Heartbeat { task: usize, fence: u32, marker: u64 },
    Person { task: usize, act: u8 },
    Crash,
}

struct History {
    tasks: Vec<QueuedTask>,
    first: Vec<QueuedTask>,
    events: Vec<TaskEvent>,
    now: QueueTime,
    completions: BTreeMap<QueuedTaskId, u32>,
}

impl History {
    fn new() -> Self {
        let now = QueueTime::agreed(Timestamp(1_000_000_000));
        Self { tasks: Vec::new(), first: Vec::new(), events: Vec::new(), now, completions: BTreeMap::new() }
    }

    fn record(&mut self, event: TaskEvent) {
        let task = self.tasks.iter_mut().find(|task| task.state().task == event.task());
        let task = task.expect("the event is of a known task");
        let before = *task.state();
        task.evolve(&event);
        let after = *task.state();
        let reopens = matches!(event, TaskEvent::RetryRequested { .. });
        let was_final = matches!(before.stage, TaskStage::Done | TaskStage::Cancelled | TaskStage::Dropped);
        assert!(!was_final, "a final task has no further event: {event:?}");
        assert!(before.stage.is_open() || !after.stage.is_open() || reopens, "{event:?}");
        assert!(after.fence >= before.fence);
        assert!(after.attempts <= rules(after.kind).attempts_max);
        if after.stage == TaskStage::Done {
            *self.completions.entry(after.task).or_default() += 1;
        }
        self.events.push(event);
    }

    fn pick(&self, at: usize) -> Option<QueuedTask> {
        self.tasks.get(at % self.tasks.len().max(1)).copied()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Enqueue { kind, delay } => {
                let due = self.now.wall.after(Duration::from_secs((*delay).into()));
                let task = QueuedTask::enqueued(&enqueued(*kind, self.tasks.len() as u128, due.0));
                self.tasks.push(task);
                self.first.push(task);
            }
            Step::Decide => self.decide(),
            Step::Wait { seconds } => {
                let span = Duration::from_secs((*seconds).into());
                self.now = QueueTime { wall: self.now.wall.after(span), steady: self.now.steady.after(span) };
            }
            Step::WallJumps { seconds } => self.now.wall.0 += i64::from(*seconds) * 1_000_000,
            Step::Report { task, fence, end } => {
                let event =
                    self.pick(*task).and_then(|task| task.end_attempt(report(*fence, *end), self.now));
                event.into_iter().for_each(|event| self.record(event));
            }
            Step::Heartbeat { task, fence, marker } => {
                let fence = palyra_types::LeaseFence(*fence);
                let event = self.pick(*task).and_then(|task| task.heartbeat(fence, *marker, self.now));
                event.into_iter().for_each(|event| self.record(event));
            }
            Step::Person { task, act } => {
                let event = self.pick(*task).and_then(|task| match act % 4 {
                    0 => task.cancel(),
                    1 => task.run_now(),
                    2 => task.retry(),
                    _ => task.drop_failed(),
                });
                event.into_iter().for_each(|event| self.record(event));
            }
            Step::Crash => {
                for task in self.tasks.clone() {
                    let event = task.lose(AttemptEnd::ProcessEnded, self.now);
                    event.into_iter().for_each(|event| self.record(event));
                }
            }
        }
    }

    fn in_stage(&self, stage: TaskStage) -> Vec<QueuedTask> {
        self.tasks.iter().filter(|task| task.state().stage == stage).copied().collect()
    }

    fn decide(&mut self) {
        let (waiting, leased) = (self.in_stage(TaskStage::Waiting), self.in_stage(TaskStage::Leased));
        let view = QueueView { waiting: &waiting, leased: &leased, may_lease: true };
        let decision = decide(view, self.now);
        assert_eq!(decision, decide(view, self.now), "the same again");
        for event in decision.events {
            let leases = matches!(event, TaskEvent::Leased { .. });
            let task = self.tasks.iter().find(|task| task.state().task == event.task()).copied();
            assert!(task.is_some_and(|task| if leases {
                task.is_ready(self.now)
            } else {
                task.is_expired(self.now)
            }));
            self.record(event);
        }
        let leased = self.in_stage(TaskStage::Leased);
        assert!(leased.len() <= WORKERS_MAX);
        for (kind, _) in TaskKind::ALL {
            let busy = leased.iter().filter(|task| task.state().kind == kind).count();
            assert!(busy <= rules(kind).concurrency, "{busy} of {kind:?}");
        }
        assert!(leased.is_empty() || decision.wake.is_some(), "a lease has a deadline");
        let all_wait = leased.is_empty() && !self.in_stage(TaskStage::Waiting).is_empty();
        assert!(!all_wait || decision.wake.is_some(), "what waits is looked at again");
    }
}

fn kind() -> impl Strategy<Value = TaskKind> {
    (0..TaskKind::ALL.len()).prop_map(|at| TaskKind::ALL[at].0)
}

fn end() -> impl Strategy<Value = AttemptEnd> {
    (0..AttemptEnd::ALL.len()).prop_map(|at| AttemptEnd::ALL[at].0)
}

fn step() -> impl Strategy<Value = Step> {
    let task = 0..16_usize;
    prop_oneof![
        3 => (kind(), 0..100_u32).prop_map(|(kind, delay)| Step::Enqueue { kind, delay }),
        6 => Just(Step::Decide),
        2 => prop_oneof![0..10_u32, 0..10_000_u32].prop_map(|seconds| Step::Wait { seconds }),
        1 => (-5_000..5_000_i32).prop_map(|seconds| Step::WallJumps { seconds }),
        6 => (task.clone(), 1..4_u32, end()).prop_map(|(task, fence, end)| Step::Report { task, fence, end }),
        2 => (task.clone(), 1..4_u32, any::<u64>())
            .prop_map(|(task, fence, marker)| Step::Heartbeat { task, fence, marker }),
        3 => (task, any::<u8>()).prop_map(|(task, act)| Step::Person { task, act }),
        1 => Just(Step::Crash),
    ]
}

proptest! {
    #[test]
    fn a_replay_gives_the_same_tasks_and_each_is_done_at_most_once(steps in proptest::collection::vec(step(), 0..80)) {
        let mut history = History::new();
        for step in &steps {
            history.step(step);
        }
        prop_assert!(history.completions.values().all(|count| *count == 1));
        let mut replayed = history.first.clone();
        for event in &history.events {
            replayed.iter_mut().for_each(|task| task.evolve(event));
        }
        prop_assert_eq!(&replayed, &history.tasks);
    }

    #[test]
    fn events_in_any_order_and_twice_do_no_harm(steps in proptest::collection::vec(step(), 0..60)) {
        let mut history = History::new();
        for step in &steps {
            history.step(step);
        }
        for task in &mut history.first {
            for event in history.events.iter().rev().chain(&history.events).chain(history.events.iter().rev()) {
                let was_final = matches!(
                    task.state().stage,
                    TaskStage::Done | TaskStage::Cancelled | TaskStage::Dropped
                );
                let before = *task;
                task.evolve(event);
                prop_assert!(!was_final || *task == before, "final stays final");
            }
        }
    }
}
