//! The queue's bounds and the shape of its groups.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::AppendClass;
use palyra_testkit::FixedEntropy;
use palyra_testkit::journal_suite::samples::{self, SampleRun};

use futures::channel::oneshot;
use palyra_ports::{AppendError, CommitReceipt};

use super::prepare::{PreparedAppend, prepare};
use super::queue::*;

type AppendAnswer = oneshot::Receiver<Result<CommitReceipt, AppendError>>;

fn pending(entries: usize, payload_bytes: usize) -> (PendingAppend, AppendAnswer) {
    let mut run = SampleRun::new(samples::session(samples::principal(0), 0), 0);
    let mut all = vec![run.started("x")];
    all.extend((1..entries).map(|_| run.text(1, "x")));
    let append = prepare(samples::append(all), &FixedEntropy::new(1)).unwrap();
    let (answer, answered) = oneshot::channel();
    (
        PendingAppend {
            append: PreparedAppend { payload_bytes, class: AppendClass::Normal, ..append },
            answer,
        },
        answered,
    )
}

fn push(queue: &Queue, entries: usize, payload_bytes: usize) -> Result<(), QueueRefusal> {
    queue.push(pending(entries, payload_bytes).0)
}

fn group_sizes(queue: &Queue) -> Vec<usize> {
    match queue.take(None) {
        WriterWork::Group(group) => group.iter().map(|pending| pending.append.entries.len()).collect(),
        WriterWork::Erase(_)
        | WriterWork::Rebuild(_)
        | WriterWork::Sign(_)
        | WriterWork::Shrink(_)
        | WriterWork::Store
        | WriterWork::Rest => vec![0],
        WriterWork::End => Vec::new(),
    }
}

#[test]
fn a_group_takes_what_fits_and_leaves_the_rest_in_order() {
    let queue = Queue::default();
    for entries in [100, 100, 56, 1, 256, 3] {
        push(&queue, entries, 10).unwrap();
    }
    let rebuild = PendingRebuild { progress: Arc::new(|_, _| ()), answer: oneshot::channel().0 };
    queue.push_rebuild(rebuild).unwrap();
    push(&queue, 2, 10).unwrap();
    queue.close();
    let groups: Vec<_> = std::iter::repeat_with(|| group_sizes(&queue)).take(6).collect();
    let expected: [&[usize]; 6] = [&[100, 100, 56], &[1], &[256], &[3], &[0], &[2]];
    assert_eq!(groups, expected);
    assert!(matches!(queue.take(None), WriterWork::End));
    assert_eq!(push(&queue, 1, 1), Err(QueueRefusal::Closed));
}

#[test]
fn a_writer_without_work_may_rest_and_one_with_work_may_not() {
    let queue = Queue::default();
    assert!(matches!(queue.take(Some(Duration::ZERO)), WriterWork::Rest));
    push(&queue, 1, 1).unwrap();
    assert!(matches!(queue.take(Some(Duration::ZERO)), WriterWork::Group(_)));
    assert!(matches!(queue.take(Some(Duration::ZERO)), WriterWork::Rest));
    queue.close();
    assert!(matches!(queue.take(Some(Duration::ZERO)), WriterWork::End));
}

#[test]
fn a_full_queue_refuses_and_room_returns() {
    let queue = Queue::default();
    push(&queue, 1, QUEUE_BYTES_MAX + 1).unwrap();
    assert_eq!(push(&queue, 1, 1), Err(QueueRefusal::Full), "bytes");
    assert_eq!(group_sizes(&queue), [1]);
    for _ in 0..QUEUE_ENTRIES_MAX / 256 {
        push(&queue, 256, 1).unwrap();
    }
    assert_eq!(push(&queue, 1, 1), Err(QueueRefusal::Full), "entries");
    assert_eq!(group_sizes(&queue), [256]);
    push(&queue, 256, 1).unwrap();
    assert_eq!(push(&queue, 1, 1), Err(QueueRefusal::Full));
}

#[test]
fn a_writer_that_is_gone_answers_nobody_and_keeps_nobody_waiting() {
    let queue = Queue::default();
    let (waiting, mut answered) = pending(1, 1);
    queue.push(waiting).unwrap();
    queue.abandon();
    assert!(answered.try_recv().is_err(), "the question was dropped");
    assert_eq!(push(&queue, 1, 1), Err(QueueRefusal::Closed));
}

#[test]
fn orders_beside_appends_are_limited_too_and_room_returns() {
    let queue = Queue::default();
    let order =
        || queue.push_rebuild(PendingRebuild { progress: Arc::new(|_, _| ()), answer: oneshot::channel().0 });
    for _ in 0..QUEUE_ORDERS_MAX {
        assert_eq!(order(), Ok(()));
    }
    assert_eq!(order(), Err(QueueRefusal::Full));
    push(&queue, 1, 1).unwrap();
    assert_eq!(group_sizes(&queue), [0]);
    assert_eq!(order(), Ok(()));
    queue.close();
    assert_eq!(order(), Err(QueueRefusal::Closed));
}
