//! An input that is sent twice with one idempotency key is one run.

use palyra_admin::AdminError;
use palyra_ports::AppendError;
use palyra_ports::read_records::SessionFilter;
use palyra_runtime::RequestError;
use palyra_runtime::runs::InputRequest;
use palyra_runtime::session::{AdmissionKind, SessionSelector, SubmitRequest};
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::model::ModelRef;
use palyra_types::run::{InputDelivery, RunLifecycleState};

use crate::faults::Refusal;
use crate::rig::{Rig, by_key, entries_of, request, settle, soon};

fn keyed(session: SessionSelector, text: &str) -> SubmitRequest {
    SubmitRequest { idempotency_key: Some("once".into()), ..request(session, text) }
}

#[tokio::test]
async fn a_repeated_input_attaches_to_its_run() {
    let rig = Rig::start().await;
    let sessions = &rig.gateway.sessions;
    let first = sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await.unwrap();
    assert_eq!(first.admission, AdmissionKind::Started);
    let during = sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await.unwrap();
    assert_eq!((during.run, during.admission), (first.run, AdmissionKind::Attached));
    rig.finished(first.run).await;
    let after = sessions.submit(rig.me(), keyed(SessionSelector::default(), "hello")).await.unwrap();
    assert_eq!((after.run, after.session, after.session_created), (first.run, first.session, false));
    let rig = rig.restarted().await;
    let restarted = rig.gateway.sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await.unwrap();
    assert_eq!((restarted.run, restarted.admission), (first.run, AdmissionKind::Attached));
}

#[tokio::test]
async fn a_repetition_is_answered_whatever_speaks_against_it_now() {
    let rig = Rig::start().await;
    let sessions = &rig.gateway.sessions;
    let first = sessions.submit(rig.me(), keyed(SessionSelector::default(), "hello")).await.unwrap();
    assert!(first.session_created);
    rig.finished(first.run).await;
    let gone = || SubmitRequest {
        model: Some(ModelRef::new("gone", "model")),
        ..keyed(SessionSelector::default(), "hello")
    };
    let again = sessions.submit(rig.me(), gone()).await.unwrap();
    assert_eq!(
        (again.run, again.session, again.admission),
        (first.run, first.session, AdmissionKind::Attached)
    );
    let other = SubmitRequest { idempotency_key: Some("another".into()), ..gone() };
    let refused = sessions.submit(rig.me(), other).await;
    assert!(
        matches!(refused, Err(RequestError::Admin(AdminError::ModelNotConfigured { .. }))),
        "{refused:?}"
    );
    let all = rig.sessions(SessionFilter::All).await;
    assert_eq!(all.len(), 1, "no repetition leaves a session behind");
}

#[tokio::test]
async fn another_input_with_the_same_key_is_a_conflict() {
    let rig = Rig::start().await;
    let sessions = &rig.gateway.sessions;
    sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await.unwrap();
    let other = sessions.submit(rig.me(), keyed(by_key("k"), "goodbye")).await;
    assert!(matches!(other, Err(RequestError::IdempotencyConflict)));
}

#[tokio::test]
async fn a_stranger_s_key_is_a_key_of_its_own() {
    let rig = Rig::start().await;
    let sessions = &rig.gateway.sessions;
    let mine = sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await.unwrap();
    let theirs = sessions.submit(rig.stranger(), keyed(by_key("k"), "goodbye")).await.unwrap();
    assert_ne!((mine.run, mine.session), (theirs.run, theirs.session));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_repetitions_are_one_run_wherever_they_go() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.otherwise(Script::new().hold(&gate).text("done"));
    let repeated = (0..24).map(|n| {
        let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
        let session = if n % 3 == 0 { SessionSelector::default() } else { by_key("k") };
        tokio::spawn(async move { sessions.submit(me, keyed(session, "hello")).await.unwrap() })
    });
    let all = soon("every repetition is answered", futures::future::join_all(repeated)).await;
    let all: Vec<_> = all.into_iter().map(Result::unwrap).collect();
    assert!(all.iter().all(|one| one.run == all[0].run));
    assert_eq!(all.iter().filter(|one| one.admission != AdmissionKind::Attached).count(), 1);
    let known = rig.sessions(SessionFilter::All).await;
    assert_eq!(known.len(), 1, "a repetition opens no session");
    gate.open();
    assert_eq!(rig.finished(all[0].run).await.state, RunLifecycleState::Done);
    assert_eq!(rig.model.counts().begun, 1);
}

#[tokio::test]
async fn a_lost_answer_is_found_by_repeating() {
    let rig = Rig::start().await;
    rig.memory.lose_next_answer();
    let lost = rig.gateway.sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await;
    assert!(matches!(lost, Err(RequestError::Append(palyra_ports::AppendError::Unknown))));
    let again = rig.gateway.sessions.submit(rig.me(), keyed(by_key("k"), "hello")).await.unwrap();
    assert_eq!(again.admission, AdmissionKind::Attached);
    let rig = rig.restarted().await;
    assert_eq!(rig.finished(again.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn bad_keys_and_inputs_are_refused_before_anything_is_written() {
    let rig = Rig::start().await;
    rig.configure(|config| config.input_bytes_max = 10);
    let before = entries_of(&rig.memory).await.len();
    let long = "k".repeat(201);
    for key in ["", long.as_str()] {
        let submit =
            SubmitRequest { idempotency_key: Some(key.into()), ..request(SessionSelector::default(), "x") };
        let refused = rig.gateway.sessions.submit(rig.me(), submit).await;
        assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })));
    }
    let blank = rig.try_submit(by_key("k"), " \n").await;
    assert!(matches!(blank, Err(RequestError::InvalidArgument { .. })));
    let large = rig.try_submit(by_key("k"), "eleven bytes").await;
    assert!(matches!(large, Err(RequestError::TooLarge { bytes: 12, bytes_max: 10 })));
    assert_eq!(entries_of(&rig.memory).await.len(), before);
}

#[tokio::test]
async fn an_input_that_became_a_run_does_not_also_answer_the_run_it_was_sent_to() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(LOOK, "{}"));
    let first = rig.submit("k", "go").await.run;
    for _ in 0..2 {
        rig.model.push(Script::new().call(LOOK, "{}"));
    }
    let said = InputRequest { idempotency_key: Some("once".into()), ..InputRequest::text("more".into()) };
    let send = || rig.gateway.runs.send_input(rig.me(), first, said.clone());
    let sent = send().await.unwrap();
    assert!(sent.queued);
    gate.open();
    rig.until(first, "the loop guard", |event| {
        matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. }))
    })
    .await;
    assert_eq!(send().await.unwrap(), sent, "its answer was lost, and it is sent again");
    rig.cancel(first).await.unwrap();
    assert_eq!(rig.finished(sent.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_repetition_waits_for_the_one_that_is_being_taken_even_when_nothing_else_fits() {
    for delivery in [InputDelivery::Queue, InputDelivery::Steer, InputDelivery::Interrupt] {
        let rig = Rig::start().await;
        rig.configure(|config| config.session_queue_max = 1);
        let gate = Gate::closed();
        rig.model.push(Script::new().hold(&gate).text("done"));
        let first = rig.submit("k", "go").await.run;
        let disk = rig.faults.delay_next_append();
        let repeat = |delivery| {
            let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
            let submit = SubmitRequest { delivery, ..keyed(by_key("k"), "hello") };
            tokio::spawn(async move { sessions.submit(me, submit).await })
        };
        let taken = repeat(InputDelivery::Queue);
        soon("the append begins", disk.reached()).await;
        let repeated = repeat(delivery);
        settle().await;
        assert!(!repeated.is_finished(), "nobody knows yet: {:?}", repeated.await);
        disk.open();
        let taken = soon("an answer", taken).await.unwrap().unwrap();
        let repeated = soon("an answer", repeated).await.unwrap().unwrap();
        assert_eq!((repeated.run, repeated.admission), (taken.run, AdmissionKind::Attached), "{delivery:?}");
        gate.open();
        for run in [first, taken.run] {
            assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
        }
        assert_eq!(rig.memory_runs().await, 2);
    }
}

#[tokio::test]
async fn who_loses_every_race_is_told_so() {
    let rig = Rig::start().await;
    let first = rig.submit("k", "go").await.run;
    rig.finished(first).await;
    rig.faults.refuse(Refusal::All(AppendError::GuardFailed { index: 0 }));
    for key in ["k", "new"] {
        let lost = rig.try_submit(by_key(key), "hello").await;
        assert!(matches!(lost, Err(RequestError::Append(AppendError::GuardFailed { .. }))), "{lost:?}");
    }
    let lost = rig.resolve(by_key("new")).await.map(|resolved| resolved.created);
    assert!(matches!(lost, Err(RequestError::Append(AppendError::GuardFailed { .. }))), "{lost:?}");
}
