//! Many inputs into one session: one run at a time, in the order of their acceptance.

use palyra_runtime::RequestError;
use palyra_runtime::session::Admission;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{JournalEvent, TapeEvent};
use palyra_types::run::RunLifecycleState;
use palyra_types::{RunId, SessionId};

use crate::rig::{Rig, by_id, by_key, entries_of, request, soon};
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
            JournalEvent::Tape(TapeEvent::RunStarted(_)) => Some(Moment::Accepted(run)),
            JournalEvent::Tape(TapeEvent::ModelRequested(_)) => Some(Moment::Begun(run)),
            JournalEvent::Tape(TapeEvent::RunFinished(_)) => Some(Moment::Ended(run)),
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
                let wish = request(session.clone(), &format!("{caller}.{input}"));
                runs.push(sessions.submit(me, wish).await.unwrap().run);
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
    assert_eq!(first.admission, Admission::Begun);
    let second = rig.submit("k", "second").await;
    let third = rig.submit("k", "third").await;
    assert_eq!((second.admission, third.admission), (Admission::Queued, Admission::Queued));
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
