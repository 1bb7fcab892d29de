//! Many inputs into one session: one run at a time, in the order of their acceptance.

use std::time::Duration;

use palyra_runtime::RequestError;
use palyra_runtime::session::AdmissionKind;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{JournalEvent, ModelEvent, RunEvent, TapeEvent};
use palyra_types::run::RunLifecycleState;
use palyra_types::{RunId, SessionId};

use crate::rig::{Rig, by_id, by_key, entries_of, request, settle, soon};
use crate::shapes::check;

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Moment {
    Accepted(RunId),
    Begun(RunId),
    Ended(RunId),
}

async fn moments(rig: &Rig) -> Vec<Moment> {
    let of = |entry: &palyra_types::tape::JournalEventRecord| {
        let (run, _) = entry.run?;
        match &entry.event {
            JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(_))) => Some(Moment::Accepted(run)),
            JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(_))) => Some(Moment::Begun(run)),
            JournalEvent::Tape(TapeEvent::Run(RunEvent::Finished(_))) => Some(Moment::Ended(run)),
            _ => None,
        }
    };
    entries_of(&rig.memory).await.iter().filter_map(of).collect()
}

async fn many_inputs_run_one_at_a_time(session: palyra_runtime::session::SessionSelector) {
    let rig = Rig::start().await;
    let callers = (0..20).map(|caller| {
        let (sessions, me, session) = (rig.gateway.sessions.clone(), rig.me(), session.clone());
        tokio::spawn(async move {
            let mut runs = Vec::new();
            for input in 0..10 {
                let submit = request(session.clone(), &format!("{caller}.{input}"));
                runs.push(sessions.submit(me, submit).await.unwrap().run);
            }
            runs
        })
    });
    let runs = soon("200 inputs are accepted", futures::future::join_all(callers)).await;
    let runs: Vec<Vec<RunId>> = runs.into_iter().map(Result::unwrap).collect();
    for run in runs.iter().flatten() {
        assert_eq!(rig.finished(*run).await.state, RunLifecycleState::Done);
        check(&rig.tape(*run).await);
    }
    let moments = moments(&rig).await;
    let only = |wanted: fn(&Moment) -> Option<RunId>| moments.iter().filter_map(wanted).collect::<Vec<_>>();
    let accepted = only(|m| if let Moment::Accepted(run) = m { Some(*run) } else { None });
    let worked = only(|m| if let Moment::Accepted(_) = m { None } else { Some(run_of(*m)) });
    assert_eq!(accepted.len(), 200);
    let one_at_a_time: Vec<RunId> = accepted.iter().flat_map(|run| [*run, *run]).collect();
    assert_eq!(worked, one_at_a_time, "each begins and ends before the next, in order of acceptance");
    for mine in &runs {
        let places: Vec<_> = mine.iter().map(|run| accepted.iter().position(|other| other == run)).collect();
        assert!(places.is_sorted(), "one caller's inputs keep their order");
    }
}

fn run_of(moment: Moment) -> RunId {
    match moment {
        Moment::Accepted(run) | Moment::Begun(run) | Moment::Ended(run) => run,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_inputs_of_twenty_callers_run_in_order_of_acceptance() {
    many_inputs_run_one_at_a_time(by_key("k")).await;
}

#[tokio::test]
async fn the_same_on_one_thread_into_a_session_named_by_id() {
    many_inputs_run_one_at_a_time(by_id(SessionId::from_parts(1, 1))).await;
}

#[tokio::test]
async fn a_full_queue_is_told_and_takes_nothing() {
    let rig = Rig::start().await;
    rig.configure(|config| config.session_queue_max = 2);
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await;
    assert_eq!(first.admission, AdmissionKind::Started);
    let second = rig.submit("k", "second").await;
    let third = rig.submit("k", "third").await;
    assert_eq!((second.admission, third.admission), (AdmissionKind::Queued, AdmissionKind::Queued));
    let before = entries_of(&rig.memory).await.len();
    assert!(matches!(rig.try_submit(by_key("k"), "fourth").await, Err(RequestError::QueueFull)));
    assert_eq!(entries_of(&rig.memory).await.len(), before);
    rig.submit("another", "not in the way").await;
    gate.open();
    rig.finished(third.run).await;
    let fifth = rig.submit("k", "fifth").await;
    assert_eq!(rig.finished(fifth.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn sessions_do_not_wait_for_each_other() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("late"));
    let held = rig.submit("one", "hold").await;
    soon("the model is asked", gate.reached()).await;
    let other = rig.submit("two", "go").await;
    assert_eq!(rig.finished(other.run).await.state, RunLifecycleState::Done);
    assert_eq!(rig.record(held.run).await.state, RunLifecycleState::InProgress);
    gate.open();
    rig.finished(held.run).await;
}

#[tokio::test]
async fn the_queue_is_taken_up_after_a_restart_in_its_order() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().hang());
    let mut runs = Vec::new();
    for text in ["first", "second", "third"] {
        runs.push(rig.submit("k", text).await.run);
    }
    let rig = rig.restarted().await;
    for run in &runs {
        assert_eq!(rig.finished(*run).await.state, RunLifecycleState::Done);
        check(&rig.tape(*run).await);
    }
    let worked: Vec<RunId> = moments(&rig)
        .await
        .into_iter()
        .filter_map(|m| if let Moment::Ended(run) = m { Some(run) } else { None })
        .collect();
    assert_eq!(worked, runs);
}

/// An input sent by a task of its own.
fn sent(rig: &Rig, text: &str) -> tokio::task::JoinHandle<Result<RunId, RequestError>> {
    let (sessions, me, submit) = (rig.gateway.sessions.clone(), rig.me(), request(by_key("k"), text));
    tokio::spawn(async move { sessions.submit(me, submit).await.map(|submitted| submitted.run) })
}

#[tokio::test]
async fn an_input_does_not_overtake_one_whose_answer_is_late() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let late = rig.faults.delay_next_answer();
    let second = sent(&rig, "second");
    soon("the second is written", late.reached()).await;
    gate.open();
    rig.finished(first).await;
    let third = sent(&rig, "third");
    settle().await;
    rig.clock.advance(Duration::from_secs(60));
    settle().await;
    assert_eq!(rig.model.counts().begun, 1, "nobody begins before the second");
    late.open();
    let second = soon("the second is answered", second).await.unwrap().unwrap();
    let third = soon("the third is answered", third).await.unwrap().unwrap();
    rig.finished(third).await;
    let begun = moments(&rig).await.into_iter().filter_map(|moment| match moment {
        Moment::Begun(run) => Some(run),
        Moment::Accepted(_) | Moment::Ended(_) => None,
    });
    assert_eq!(begun.collect::<Vec<_>>(), [first, second, third]);
}

#[tokio::test]
async fn inputs_whose_answers_are_late_count_as_waiting() {
    let rig = Rig::start().await;
    rig.configure(|config| config.session_queue_max = 2);
    rig.model.push(Script::new().hang());
    rig.submit("k", "first").await;
    let late = [rig.faults.delay_next_answer(), rig.faults.delay_next_answer()];
    let waiting = [sent(&rig, "second"), sent(&rig, "third")];
    soon("the second is written", late[0].reached()).await;
    settle().await;
    assert!(matches!(rig.try_submit(by_key("k"), "fourth").await, Err(RequestError::QueueFull)));
    late.iter().for_each(Gate::open);
    for accepted in waiting {
        soon("an answer", accepted).await.unwrap().unwrap();
    }
}

/// The journal is read again while the answer to an append is under way, so the run is known before it is.
#[tokio::test]
async fn a_run_that_was_found_in_the_journal_before_its_answer_came_is_one_run() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("lost"));
    let first = rig.submit("k", "first").await.run;
    let late = rig.faults.delay_next_answer();
    let second = sent(&rig, "second");
    soon("the second is written", late.reached()).await;
    rig.memory.fail_next(palyra_ports::AppendError::Unknown);
    gate.open();
    for _ in 0..4 {
        settle().await;
        rig.clock.advance(Duration::from_secs(1));
    }
    assert_eq!(rig.finished(first).await.state, RunLifecycleState::Done, "after another attempt");
    settle().await;
    late.open();
    let second = soon("the second is answered", second).await.unwrap().unwrap();
    assert_eq!(rig.finished(second).await.state, RunLifecycleState::Done);
    let third = rig.submit("k", "third").await.run;
    rig.finished(third).await;
    let last = rig.model.requests().last().unwrap().clone();
    assert_eq!(last.messages.len(), 5, "each run is in the history once: {:?}", last.messages.len());
}
