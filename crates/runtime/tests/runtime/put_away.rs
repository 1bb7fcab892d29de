//! Sessions renamed, archived, taken up again and cleaned up; and resets that come with an input.

use palyra_ports::read_records::SessionFilter;
use palyra_runtime::RequestError;
use palyra_runtime::runs::InputRequest;
use palyra_runtime::session::{ResetMode, SessionChange, SessionSelector, SubmitRequest};
use palyra_testkit::{Gate, Script};
use palyra_types::event::{JournalEvent, SessionEvent};
use palyra_types::recall::RecallSwitch;
use palyra_types::run::{InputDelivery, RunLifecycleState};
use palyra_types::session::OrchestratorSessionRecord;
use palyra_types::{RunId, SessionId};

use crate::delivery::{begun_runs, user_texts};
use crate::rig::{Rig, by_id, by_key, entries_of, request, settle, soon};
use crate::waiting::a_waiting_run;

async fn change(
    rig: &Rig,
    session: SessionId,
    change: SessionChange,
) -> Result<OrchestratorSessionRecord, RequestError> {
    soon("an answer to a change", rig.gateway.sessions.change(rig.me(), session, change)).await
}

#[tokio::test]
async fn a_session_gets_another_title_and_none() {
    let rig = Rig::start().await;
    let id = rig.resolve(by_key("k")).await.unwrap().record.session.id;
    let named = change(&rig, id, SessionChange::Rename(Some("title".into()))).await.unwrap();
    assert_eq!(named.label.map(|label| label.into_exposed()).as_deref(), Some("title"));
    assert_eq!(change(&rig, id, SessionChange::Rename(None)).await.unwrap().label, None);
    for bad in ["", "a\nb", "x".repeat(201).as_str()] {
        let refused = change(&rig, id, SessionChange::Rename(Some(bad.into()))).await;
        assert!(matches!(refused, Err(RequestError::InvalidArgument { .. })));
    }
}

#[tokio::test]
async fn an_archived_session_takes_no_input_and_its_open_runs_go_on() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await;
    let queued = rig.submit("k", "second").await.run;
    soon("the model is asked", gate.reached()).await;
    assert!(change(&rig, first.session, SessionChange::Archive).await.unwrap().archived.is_some());
    settle().await;
    let before = entries_of(&rig.memory).await.len();
    for delivery in [InputDelivery::Queue, InputDelivery::Steer, InputDelivery::Interrupt] {
        let submit = SubmitRequest { delivery, ..request(by_id(first.session), "no") };
        let refused = rig.gateway.sessions.submit(rig.me(), submit).await;
        assert!(matches!(refused, Err(RequestError::SessionArchived)), "{delivery:?}");
        let said = InputRequest { delivery, ..InputRequest::text("no".into()) };
        let refused = rig.gateway.runs.send_input(rig.me(), first.run, said).await;
        assert!(matches!(refused, Err(RequestError::SessionArchived)), "{delivery:?}");
    }
    let reset = rig.resolve(SessionSelector { reset: ResetMode::Reset, ..by_key("k") }).await;
    assert!(matches!(reset, Err(RequestError::SessionArchived)));
    assert_eq!(entries_of(&rig.memory).await.len(), before, "nothing of it was recorded");
    gate.open();
    for run in [first.run, queued] {
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    }
    let again = change(&rig, first.session, SessionChange::Archive).await.unwrap();
    assert!(again.archived.is_some());
    let rig = rig.restarted().await;
    assert!(matches!(rig.try_submit(by_key("k"), "no").await, Err(RequestError::SessionArchived)));
    assert_eq!(change(&rig, first.session, SessionChange::Restore).await.unwrap().archived, None);
    rig.finished(rig.submit("k", "third").await.run).await;
    assert_eq!(user_texts(&rig, 0), ["first", "second", "third"]);
}

#[tokio::test]
async fn what_is_accepted_while_a_session_is_archived_stands_before_that() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await;
    soon("the model is asked", gate.reached()).await;
    let late = rig.faults.delay_next_answer();
    let sessions = rig.gateway.sessions.clone();
    let (me, id) = (rig.me(), first.session);
    let archiving = tokio::spawn(async move { sessions.change(me, id, SessionChange::Archive).await });
    soon("the entry is on its way", late.reached()).await;
    assert!(matches!(rig.try_submit(by_key("k"), "no").await, Err(RequestError::SessionArchived)));
    late.open();
    soon("it is archived", archiving).await.unwrap().unwrap();
    gate.open();
    rig.finished(first.run).await;
}

#[tokio::test]
async fn an_archive_that_was_not_recorded_leaves_the_session_open() {
    let rig = Rig::start().await;
    let id = rig.resolve(by_key("k")).await.unwrap().record.session.id;
    rig.memory.fail_next(palyra_ports::AppendError::DiskFull);
    assert!(change(&rig, id, SessionChange::Archive).await.is_err());
    let run = rig.submit("k", "first").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_cleanup_stops_every_open_run_begins_none_and_archives() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await;
    soon("the model is asked", gate.reached()).await;
    let mut runs: Vec<RunId> = vec![first.run];
    for text in ["second", "third"] {
        runs.push(rig.submit("k", text).await.run);
    }
    let cleaning = rig.gateway.sessions.clean_up(rig.me(), first.session);
    let cleaned = soon("an answer to a cleanup", cleaning).await.unwrap();
    assert_eq!(cleaned.cancelled_runs, 3);
    assert!(cleaned.record.archived.is_some());
    for run in runs {
        assert_eq!(rig.finished(run).await.state, RunLifecycleState::Cancelled);
    }
    assert_eq!(begun_runs(&entries_of(&rig.memory).await), [first.run]);
    let again = rig.gateway.sessions.clean_up(rig.me(), first.session).await.unwrap();
    assert_eq!(again.cancelled_runs, 0);
}

#[tokio::test]
async fn a_cleanup_ends_a_waiting_run() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let session = rig.record(run).await.session;
    let cleaned = rig.gateway.sessions.clean_up(rig.me(), session).await.unwrap();
    assert_eq!(cleaned.cancelled_runs, 1);
    assert!(rig.finished(run).await.state.is_terminal());
}

#[tokio::test]
async fn a_stranger_changes_nothing_and_learns_nothing() {
    let rig = Rig::start().await;
    let id = rig.resolve(by_key("k")).await.unwrap().record.session.id;
    let sessions = &rig.gateway.sessions;
    for submit in [
        SessionChange::Rename(None),
        SessionChange::Reset,
        SessionChange::Archive,
        SessionChange::Restore,
        SessionChange::SetRecall(Some(RecallSwitch::On)),
    ] {
        for session in [id, SessionId::from_parts(5, 5)] {
            let theirs = sessions.change(rig.stranger(), session, submit.clone()).await;
            assert!(matches!(theirs, Err(RequestError::SessionNotFound)));
        }
    }
    assert!(matches!(sessions.clean_up(rig.stranger(), id).await, Err(RequestError::SessionNotFound)));
    assert_eq!(rig.sessions(SessionFilter::Current).await.len(), 1);
}

#[tokio::test]
async fn a_reset_and_its_input_are_one_commit() {
    let rig = Rig::start().await;
    rig.finished(rig.submit("k", "first").await.run).await;
    settle().await;
    let before = entries_of(&rig.memory).await.len();
    let reset = || SessionSelector { reset: ResetMode::Reset, ..by_key("k") };
    rig.memory.fail_next(palyra_ports::AppendError::DiskFull);
    assert!(rig.try_submit(reset(), "lost").await.is_err());
    assert_eq!(entries_of(&rig.memory).await.len(), before, "neither without the other");
    rig.finished(rig.submit("k", "second").await.run).await;
    assert_eq!(user_texts(&rig, 1), ["first", "second"], "what was refused reset nothing");
    let third = rig.try_submit(reset(), "third").await.unwrap().run;
    rig.finished(third).await;
    rig.finished(rig.submit("k", "fourth").await.run).await;
    assert_eq!(user_texts(&rig, 2), ["third"]);
    assert_eq!(user_texts(&rig, 3), ["third", "fourth"]);
}

#[tokio::test]
async fn a_reset_takes_its_place_among_the_runs_that_wait() {
    let rig = Rig::start().await;
    rig.finished(rig.submit("k", "zeroth").await.run).await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    rig.submit("k", "first").await;
    soon("the model is asked", gate.reached()).await;
    rig.submit("k", "second").await;
    let reset = SessionSelector { reset: ResetMode::Reset, ..by_key("k") };
    let third = rig.try_submit(reset, "third").await.unwrap().run;
    let last = rig.submit("k", "fourth").await.run;
    let entries = entries_of(&rig.memory).await;
    gate.open();
    rig.finished(last).await;
    let expected: [&[&str]; 3] = [&["zeroth", "first", "second"], &["third"], &["third", "fourth"]];
    for (at, expected) in expected.into_iter().enumerate() {
        assert_eq!(user_texts(&rig, 2 + at), expected);
    }
    let place = entries
        .iter()
        .position(|entry| matches!(entry.event, JournalEvent::Session(SessionEvent::Reset { .. })));
    assert!(entries[place.unwrap() + 1].run.is_some_and(|(run, _)| run == third), "next to each other");
    let rig = Rig::on(crate::rig::journal_of(&entries).await).await;
    rig.finished(last).await;
    let seen: Vec<_> = (0..rig.model.requests().len()).map(|at| user_texts(&rig, at)).collect();
    assert_eq!(seen[seen.len() - 3..], expected, "and after a start");
}

#[tokio::test]
async fn an_archive_under_way_holds_though_the_session_is_read_again_meanwhile() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await;
    soon("the model is asked", gate.reached()).await;
    let disk = rig.faults.delay_next_append();
    let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
    let archiving =
        tokio::spawn(async move { sessions.change(me, first.session, SessionChange::Archive).await });
    soon("the archive is begun", disk.reached()).await;
    rig.memory.fail_next(palyra_ports::AppendError::GuardFailed { index: 0 });
    gate.open();
    settle().await;
    rig.cancel(first.run).await.unwrap();
    let early = rig.try_submit(by_key("k"), "early").await;
    assert!(matches!(early, Err(RequestError::SessionArchived)), "{early:?}");
    disk.open();
    assert!(soon("an answer", archiving).await.unwrap().unwrap().archived.is_some());
    let late = rig.try_submit(by_key("k"), "late").await;
    assert!(matches!(late, Err(RequestError::SessionArchived)), "{late:?}");
}
