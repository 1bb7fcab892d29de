//! The queue under every order of its threads that a scheduler comes up with.
//!
//! The queue's own source is compiled here once more, over locks whose every step a scheduler decides. It also
//! tells of a thread that waits for ever.

use std::sync::Arc;

use futures::channel::oneshot;
use palyra_ports::{AppendError, CommitReceipt};
use palyra_testkit::FixedEntropy;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use shuttle::thread;

use queue::{PendingAppend, Queue, QueueRefusal, WriterWork};

mod sync {
    pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard};
}
mod erasure {
    pub(super) use crate::write::erasure::PendingErasure;
}
mod prepare {
    pub(super) use crate::write::prepare::PreparedAppend;
}
#[expect(dead_code, reason = "only what races is used here")]
#[expect(clippy::duplicate_mod, reason = "the other one has the locks of the standard library")]
#[path = "queue.rs"]
mod queue;

const SCHEDULES: usize = 2_000;
/// How often a schedule changes its mind against priorities (probabilistic concurrency testing).
const CHANGES: usize = 3;
const PRODUCERS: u64 = 3;
const APPENDS_EACH: u64 = 2;

type Answer = oneshot::Receiver<Result<CommitReceipt, AppendError>>;

/// An append whose content's size tells who made it, and which of theirs it is.
fn append(producer: u64, number: u64) -> (PendingAppend, Answer) {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let append =
        crate::write::prepare::prepare(samples::append(vec![run.started("x")]), &FixedEntropy::new(1));
    let mut append = append.unwrap();
    append.payload_bytes = (producer * APPENDS_EACH + number) as usize;
    let (answer, answered) = oneshot::channel();
    (PendingAppend { append, answer }, answered)
}

/// Starts everybody who appends; each returns how many of theirs were taken before the queue closed.
fn producers(queue: &Arc<Queue>) -> Vec<thread::JoinHandle<u64>> {
    let produce = |producer| {
        let queue = Arc::clone(queue);
        thread::spawn(move || {
            let taken = (0..APPENDS_EACH).take_while(|number| {
                let (pending, answered) = append(producer, *number);
                drop(answered);
                queue.push(pending) != Err(QueueRefusal::Closed)
            });
            taken.count() as u64
        })
    };
    (0..PRODUCERS).map(produce).collect()
}

fn explore(story: fn()) {
    shuttle::check_random(story, SCHEDULES);
    shuttle::check_pct(story, SCHEDULES, CHANGES);
}

#[test]
fn what_was_taken_is_handed_out_once_and_in_each_callers_order() {
    explore(|| {
        let queue = Arc::new(Queue::default());
        let producers = producers(&queue);
        let closer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                queue.push_store();
                queue.close();
            })
        };
        let mut seen: Vec<u64> = Vec::new();
        loop {
            match queue.take(None) {
                WriterWork::Group(group) => {
                    seen.extend(group.iter().map(|one| one.append.payload_bytes as u64));
                }
                WriterWork::End => break,
                WriterWork::Rebuild(_)
                | WriterWork::Erase(_)
                | WriterWork::Sign(_)
                | WriterWork::Shrink(_)
                | WriterWork::Store
                | WriterWork::Rest => {}
            }
        }
        closer.join().unwrap();
        for (producer, handle) in (0..).zip(producers) {
            let taken = handle.join().unwrap();
            let own: Vec<u64> = seen.iter().copied().filter(|one| one / APPENDS_EACH == producer).collect();
            let expected: Vec<u64> = (0..taken).map(|number| producer * APPENDS_EACH + number).collect();
            assert_eq!(own, expected, "of producer {producer}");
        }
    });
}

#[test]
fn a_writer_that_dies_leaves_nobody_waiting() {
    explore(|| {
        let queue = Arc::new(Queue::default());
        let callers: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    let (pending, answered) = append(producer, 0);
                    (queue.push(pending), answered)
                })
            })
            .collect();
        let writer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                drop(queue.take(None));
                queue.abandon();
            })
        };
        writer.join().unwrap();
        for caller in callers {
            let (pushed, mut answered) = caller.join().unwrap();
            if pushed.is_ok() {
                assert!(answered.try_recv().is_err(), "its question was dropped, which is an answer");
            }
        }
        assert!(queue.is_empty());
    });
}
