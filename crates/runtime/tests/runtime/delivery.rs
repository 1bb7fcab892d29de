//! How an input meets the active run: it joins it, or stops it and comes first; and what a stop of the daemon in
//! the middle changes, which is nothing.

use palyra_runtime::RequestError;
use palyra_runtime::runs::{InputReceipt, InputRequest};
use palyra_runtime::session::{AdmissionKind, ResetMode, SessionSelector, SubmitReceipt, SubmitRequest};
use palyra_testkit::scripted_tools::{COUNT, LOOK};
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::RunId;
use palyra_types::event::{JournalEvent, LogEvent, ModelEvent, RunEvent, TapeEvent};
use palyra_types::model::ChatMessage;
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, TerminationReason};
use palyra_types::tape::JournalEventRecord;

use crate::rig::{Rig, by_key, entries_of, journal_of, request, settle, soon};
use crate::shapes::{check, shape};
use crate::waiting::a_waiting_run;

fn delivered(delivery: InputDelivery, key: &str, text: &str) -> SubmitRequest {
    SubmitRequest { delivery, ..request(by_key(key), text) }
}

async fn submit(rig: &Rig, delivery: InputDelivery, text: &str) -> SubmitReceipt {
    let submitting = rig.gateway.sessions.submit(rig.me(), delivered(delivery, "k", text));
    soon("an answer to a submit", submitting).await.unwrap()
}

async fn say(rig: &Rig, run: RunId, delivery: InputDelivery, text: &str) -> InputReceipt {
    let said = InputRequest { delivery, ..InputRequest::text(text.into()) };
    soon("an answer to an input", rig.gateway.runs.send_input(rig.me(), run, said)).await.unwrap()
}

/// Returns what people said in the model request of this number.
pub(crate) fn user_texts(rig: &Rig, number: usize) -> Vec<String> {
    let text = |message: &ChatMessage| match message {
        ChatMessage::User { text, .. } => Some(text.expose().clone()),
        _ => None,
    };
    rig.model.requests()[number].messages.iter().filter_map(text).collect()
}

/// A run whose first answer proposes a call and is held back.
async fn a_busy_run(rig: &Rig) -> (RunId, Gate) {
    let gate = Gate::closed();
    rig.model.push(Script::new().text("let me see").hold(&gate).call(LOOK, "{}"));
    let run = rig.submit("k", "first").await.run;
    soon("the model is asked", gate.reached()).await;
    (run, gate)
}

#[tokio::test]
async fn a_steering_input_joins_the_active_run_at_its_next_request() {
    let rig = Rig::start().await;
    let (run, gate) = a_busy_run(&rig).await;
    let joined = submit(&rig, InputDelivery::Steer, "look to the left").await;
    assert_eq!((joined.run, joined.admission), (run, AdmissionKind::Joined));
    assert_eq!((joined.delivered, joined.notes.len()), (InputDelivery::Steer, 0));
    let said = say(&rig, run, InputDelivery::Steer, "and to the right").await;
    assert_eq!((said.run, said.queued, said.delivered), (run, false, InputDelivery::Steer));
    gate.open();
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(user_texts(&rig, 1), ["first", "look to the left", "and to the right"]);
    assert_eq!(rig.open_runs().await, []);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn steering_without_an_active_run_begins_one_and_says_so() {
    let rig = Rig::start().await;
    let alone = submit(&rig, InputDelivery::Steer, "hello").await;
    assert_eq!((alone.admission, alone.delivered), (AdmissionKind::Started, InputDelivery::Queue));
    assert!(alone.notes[0].contains("no run was active"), "{:?}", alone.notes);
    assert_eq!(rig.finished(alone.run).await.delivery, InputDelivery::Queue);
    let said = say(&rig, alone.run, InputDelivery::Steer, "one more thing").await;
    assert!(said.queued && said.run != alone.run && said.delivered == InputDelivery::Queue);
    assert!(said.notes[0].contains("was over"), "{:?}", said.notes);
    assert_eq!(rig.finished(said.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn steering_a_run_that_is_queued_or_stopping_becomes_a_run_behind_it() {
    let rig = Rig::start().await;
    rig.tools.push(LOOK, ToolScript::Hang);
    rig.model.push(Script::new().call(LOOK, "{}"));
    let first = rig.submit("k", "first").await.run;
    soon("the call runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    let queued = rig.submit("k", "second").await.run;
    let behind = say(&rig, queued, InputDelivery::Steer, "third").await;
    assert!(behind.queued && behind.notes[0].contains("takes no input now"), "{behind:?}");
    rig.cancel(first).await.unwrap();
    let late = say(&rig, first, InputDelivery::Steer, "fourth").await;
    assert!(late.queued && late.notes[0].contains("about to stop"), "{late:?}");
}

#[tokio::test]
async fn a_waiting_run_takes_a_steering_input_as_its_answer() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let joined = submit(&rig, InputDelivery::Steer, "go on").await;
    assert_eq!((joined.run, joined.admission), (run, AdmissionKind::Joined));
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn an_interrupt_is_accepted_then_stops_the_active_run_and_comes_before_what_waits() {
    let rig = Rig::start().await;
    let (first, _gate) = a_busy_run(&rig).await;
    let queued = rig.submit("k", "second").await.run;
    let urgent = submit(&rig, InputDelivery::Interrupt, "stop that").await;
    assert_eq!((urgent.admission, urgent.delivered), (AdmissionKind::Queued, InputDelivery::Interrupt));
    let stopped = rig.finished(first).await;
    assert_eq!(stopped.state, RunLifecycleState::Cancelled);
    assert_eq!(stopped.reason, Some(TerminationReason::Interrupted));
    assert_eq!(rig.finished(urgent.run).await.state, RunLifecycleState::Done);
    assert_eq!(rig.finished(queued).await.state, RunLifecycleState::Done);
    let order: Vec<_> = begun_runs(&entries_of(&rig.memory).await);
    assert_eq!(order, [first, urgent.run, queued]);
    assert_eq!(user_texts(&rig, 1), ["first", "stop that"], "what waits is not seen");
    assert_eq!(user_texts(&rig, 2), ["first", "stop that", "second"], "what came before it is");
}

#[tokio::test]
async fn interrupts_among_themselves_come_in_order_and_only_the_active_run_stops() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.tools.push(LOOK, ToolScript::Hold(gate.clone(), "late".to_owned()));
    rig.model.push(Script::new().call(LOOK, "{}"));
    let first = rig.submit("k", "first").await.run;
    soon("the call runs", rig.tools.wait_until(|counts| counts.begun == 1)).await;
    let queued = rig.submit("k", "second").await.run;
    let one = submit(&rig, InputDelivery::Interrupt, "one").await.run;
    let two = submit(&rig, InputDelivery::Interrupt, "two").await.run;
    gate.open();
    for run in [one, two, queued] {
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    }
    assert_eq!(begun_runs(&entries_of(&rig.memory).await), [first, one, two, queued]);
    assert_eq!(rig.record(first).await.reason, Some(TerminationReason::Interrupted));
}

#[tokio::test]
async fn an_interrupt_stops_a_run_that_waits_for_a_person() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let urgent = say(&rig, run, InputDelivery::Interrupt, "never mind").await;
    assert!(urgent.queued && urgent.delivered == InputDelivery::Interrupt);
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::Interrupted));
    assert_eq!(rig.finished(urgent.run).await.state, RunLifecycleState::Done);
}

/// Returns the runs in the order in which a model was first asked for them.
pub(crate) fn begun_runs(entries: &[JournalEventRecord]) -> Vec<RunId> {
    let mut begun = Vec::new();
    for entry in entries {
        if let (JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(_))), Some((run, _))) =
            (&entry.event, entry.run)
            && !begun.contains(&run)
        {
            begun.push(run);
        }
    }
    begun
}

/// Tool, interrupt and steering in one session, as its journal has it.
async fn interrupted_story() -> (Vec<JournalEventRecord>, [RunId; 3]) {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("look").call(COUNT, "{}"));
    rig.model.push(Script::new().text("and").hold(&gate).call(LOOK, "{}"));
    let first = rig.submit("k", "first").await.run;
    soon("the second request", gate.reached()).await;
    submit(&rig, InputDelivery::Steer, "to the left").await;
    let queued = rig.submit("k", "second").await.run;
    let urgent = submit(&rig, InputDelivery::Interrupt, "urgent").await.run;
    rig.finished(queued).await;
    let own = |entry: &JournalEventRecord| {
        matches!(entry.event, JournalEvent::Log(LogEvent::Opened { .. } | LogEvent::EpochStarted { .. }))
    };
    let entries = entries_of(&rig.memory).await;
    (entries.into_iter().filter(|entry| !own(entry)).collect(), [first, queued, urgent])
}

#[tokio::test]
async fn an_interruption_stopped_after_any_entry_is_finished_at_the_next_start() {
    let (entries, [first, queued, urgent]) = interrupted_story().await;
    let place =
        |wanted: RunId| entries.iter().position(|entry| entry.run.is_some_and(|(run, _)| run == wanted));
    let accepted = place(urgent).unwrap();
    for stopped_after in accepted + 1..=entries.len() {
        let rig = Rig::on(journal_of(&entries[..stopped_after]).await).await;
        for run in [first, urgent, queued] {
            let record = rig.finished(run).await;
            let interrupted = record.reason == Some(TerminationReason::Interrupted);
            assert_eq!(interrupted, run == first, "stopped after {stopped_after}: {record:?}");
            check(&rig.tape(run).await);
        }
        let order = begun_runs(&entries_of(&rig.memory).await);
        assert_eq!(order, [first, urgent, queued], "stopped after {stopped_after}");
        let said = shape(&rig.tape(first).await).into_iter().filter(|word| word == "input to the left");
        assert_eq!(said.count(), 1, "what was said stays said once");
    }
}

#[tokio::test]
async fn a_waiting_run_does_not_keep_an_interrupt_waiting_after_a_start() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let waiting = entries_of(&rig.memory).await;
    let urgent = say(&rig, run, InputDelivery::Interrupt, "never mind").await.run;
    rig.finished(urgent).await;
    let all = entries_of(&rig.memory).await;
    let accepted = &all[..=waiting.len()];
    assert!(accepted.last().is_some_and(|entry| entry.run.is_some_and(|(run, _)| run == urgent)));
    let rig = Rig::on(journal_of(accepted).await).await;
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::Interrupted));
    assert_eq!(rig.finished(urgent).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn repeating_an_input_finds_where_it_went() {
    let rig = Rig::start().await;
    let (run, gate) = a_busy_run(&rig).await;
    let keyed = |key: &str, delivery| SubmitRequest {
        idempotency_key: Some(key.into()),
        ..delivered(delivery, "k", key)
    };
    let sessions = &rig.gateway.sessions;
    let steered = sessions.submit(rig.me(), keyed("steer", InputDelivery::Steer)).await.unwrap();
    assert_eq!((steered.run, steered.admission), (run, AdmissionKind::Joined));
    let again = sessions.submit(rig.me(), keyed("steer", InputDelivery::Steer)).await.unwrap();
    assert_eq!((again.run, again.admission), (run, AdmissionKind::Joined));
    let urgent = sessions.submit(rig.me(), keyed("now", InputDelivery::Interrupt)).await.unwrap();
    gate.open();
    rig.finished(urgent.run).await;
    for (key, expected) in [("steer", run), ("now", urgent.run)] {
        for delivery in [InputDelivery::Queue, InputDelivery::Steer, InputDelivery::Interrupt] {
            let late = sessions.submit(rig.me(), keyed(key, delivery)).await.unwrap();
            assert_eq!(late.run, expected, "{key}");
        }
    }
    let other =
        SubmitRequest { input: request(by_key("k"), "other").input, ..keyed("steer", InputDelivery::Queue) };
    let conflict = sessions.submit(rig.me(), other).await;
    assert!(matches!(conflict, Err(RequestError::IdempotencyConflict)));
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape.iter().filter(|word| *word == "input steer").count(), 1);
    assert_eq!(rig.memory_runs().await, 2);
}

#[tokio::test]
async fn an_answer_whose_receipt_was_lost_is_not_given_twice() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let said = InputRequest { idempotency_key: Some("once".into()), ..InputRequest::text("go on".into()) };
    rig.memory.lose_next_answer();
    let lost = rig.gateway.runs.send_input(rig.me(), run, said.clone()).await;
    assert!(lost.is_err());
    let again = soon("an answer", rig.gateway.runs.send_input(rig.me(), run, said)).await.unwrap();
    assert_eq!((again.run, again.queued), (run, false));
    let tape = shape(&rig.tape(run).await);
    assert_eq!(tape.iter().filter(|word| *word == "input go on").count(), 1);
    assert_eq!(rig.memory_runs().await, 1);
}

#[tokio::test]
async fn a_steering_input_cannot_reset_its_session() {
    let rig = Rig::start().await;
    let selector = SessionSelector { reset: ResetMode::Reset, ..by_key("k") };
    let submit = SubmitRequest { delivery: InputDelivery::Steer, ..request(selector, "x") };
    let refused = rig.gateway.sessions.submit(rig.me(), submit).await;
    assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })));
}

#[tokio::test]
async fn a_full_queue_refuses_an_interrupt_and_stops_nothing() {
    let rig = Rig::start().await;
    rig.configure(|config| config.session_queue_max = 1);
    let (first, gate) = a_busy_run(&rig).await;
    rig.submit("k", "second").await;
    let refused = rig.gateway.sessions.submit(rig.me(), delivered(InputDelivery::Interrupt, "k", "x")).await;
    assert!(matches!(refused, Err(RequestError::QueueFull)));
    settle().await;
    assert_eq!(rig.record(first).await.phase, RunPhase::Running);
    gate.open();
    assert_eq!(rig.finished(first).await.state, RunLifecycleState::Done);
}

/// Repetitions look first and speak then; meanwhile the run they meant may be over and another one active.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn repetitions_of_a_steering_input_are_said_once_whoever_is_active() {
    let rig = Rig::start().await;
    for round in 0..20 {
        let gate = Gate::closed();
        rig.model.push(Script::new().hold(&gate).text("done"));
        for text in ["first", "second", "third"] {
            rig.submit("k", text).await;
        }
        let text = format!("steer {round}");
        let repeated = (0..12).map(|number| {
            let (sessions, me, text) = (rig.gateway.sessions.clone(), rig.me(), text.clone());
            let gate = gate.clone();
            tokio::spawn(async move {
                if number == 3 {
                    gate.open();
                }
                let submit = delivered(InputDelivery::Steer, "k", &text);
                let submit = SubmitRequest { idempotency_key: Some(text.as_str().into()), ..submit };
                sessions.submit(me, submit).await
            })
        });
        let all = soon("every repetition is answered", futures::future::join_all(repeated)).await;
        // One that met too many others on its way is told to come again.
        let all: Vec<_> = all.into_iter().filter_map(|one| one.unwrap().ok()).collect();
        assert!(!all.is_empty() && all.iter().all(|one| one.run == all[0].run), "round {round}: {all:?}");
        let said = entries_of(&rig.memory).await.into_iter().filter(|entry| match &entry.event {
            JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) => {
                *started.input.text.expose() == text
            }
            JournalEvent::Tape(TapeEvent::Run(RunEvent::InputReceived { input, .. })) => {
                *input.text.expose() == text
            }
            _ => false,
        });
        assert_eq!(said.count(), 1, "round {round}");
        for run in rig.open_runs().await {
            rig.finished(run).await;
        }
    }
}

/// A run may end at the very moment at which somebody speaks to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_said_at_the_end_of_a_run_is_where_its_receipt_says_once_and_a_model_sees_it() {
    let rig = Rig::start().await;
    for round in 0..40 {
        let gate = Gate::closed();
        rig.model.push(Script::new().hold(&gate).text("done"));
        let run = rig.submit("k", "go").await.run;
        soon("the model is asked", gate.reached()).await;
        let said = (0..4).map(|number| {
            let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
            let submit = delivered(InputDelivery::Steer, "k", &format!("steer {round} {number}"));
            tokio::spawn(async move { sessions.submit(me, submit).await.unwrap() })
        });
        let said: Vec<_> = said.collect();
        gate.open();
        let said = soon("every input is taken", futures::future::join_all(said)).await;
        rig.finished(run).await;
        for open in rig.open_runs().await {
            rig.finished(open).await;
        }
        let entries = entries_of(&rig.memory).await;
        for (number, receipt) in said.into_iter().enumerate() {
            let (receipt, text) = (receipt.unwrap(), format!("steer {round} {number}"));
            let places = entries.iter().filter(|entry| match &entry.event {
                JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) => {
                    *started.input.text.expose() == text
                }
                JournalEvent::Tape(TapeEvent::Run(RunEvent::InputReceived { input, .. })) => {
                    *input.text.expose() == text
                }
                _ => false,
            });
            let runs: Vec<_> = places.filter_map(|entry| entry.run).map(|(run, _)| run).collect();
            assert_eq!(runs, [receipt.run], "{text}");
            let asked = rig.model.requests();
            let shows = |message: &ChatMessage| matches!(message, ChatMessage::User { text: shown, .. } if *shown.expose() == text);
            assert!(asked.iter().any(|request| request.messages.iter().any(shows)), "{text}");
        }
    }
}
