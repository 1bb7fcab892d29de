//! A journal that loses answers, goes read-only, cannot be read, or was written to by somebody else.

use std::time::Duration;

use palyra_admin::health::{CheckLevel, HealthCheck};
use palyra_ports::{AppendError, NewEntry, ReadError, ReadOnlyCause};
use palyra_runtime::RequestError;
use palyra_runtime::session::AdmissionKind;
use palyra_runtime::tape::TapeError;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script, ToolScript};
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::run::{CancelReason, RunLifecycleState, TerminationReason};
use palyra_types::{RunId, TapeSeq};

use crate::faults::Refusal;
use crate::rig::{Rig, append, by_key, follow_to_end, settle, soon};
use crate::shapes::{check, shape};

/// Lets all pauses pass, whatever they are.
async fn let_time_pass(rig: &Rig) {
    for _ in 0..20 {
        settle().await;
        rig.clock.advance(Duration::from_secs(2));
    }
    settle().await;
}

#[tokio::test]
async fn a_lost_answer_in_the_middle_of_a_run_costs_an_attempt_and_no_more() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("half"));
    let run = rig.submit("k", "go").await.run;
    let queued = rig.submit("k", "next").await.run;
    soon("the model is asked", gate.reached()).await;
    let following = tokio::spawn(follow_to_end(rig.follow(run, 0).await));
    rig.memory.lose_next_answer();
    gate.open();
    let_time_pass(&rig).await;
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(rig.record(run).await.state, RunLifecycleState::Done, "{:?}", shape(&tape));
    assert_eq!(rig.record(queued).await.state, RunLifecycleState::Done);
    let seen = soon("the follower's end", following).await.unwrap();
    assert_eq!(seen.into_iter().map(|entry| (*entry).clone()).collect::<Vec<_>>(), tape);
}

#[tokio::test]
async fn a_lost_answer_to_a_start_leaves_the_session_in_order() {
    let rig = Rig::start().await;
    rig.memory.lose_next_answer();
    let lost = rig.try_submit(by_key("k"), "lost").await;
    assert!(matches!(lost, Err(RequestError::Append(AppendError::Unknown))));
    let next = rig.submit("k", "next").await;
    assert_eq!(next.admission, AdmissionKind::Queued, "the lost one is there and has its turn");
    let_time_pass(&rig).await;
    assert_eq!(rig.record(next.run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_lost_answer_to_a_start_behind_another_leaves_the_session_in_order() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    rig.memory.lose_next_answer();
    let lost = rig.try_submit(by_key("k"), "lost").await;
    assert!(matches!(lost, Err(RequestError::Append(AppendError::Unknown))));
    let third = rig.submit("k", "third").await.run;
    gate.open();
    let_time_pass(&rig).await;
    assert_eq!(rig.record(first).await.state, RunLifecycleState::Done);
    assert_eq!(rig.record(third).await.state, RunLifecycleState::Done);
    let open = rig.gateway.health.open_runs().await.unwrap();
    assert_eq!(open, 0, "the lost one was there and had its turn");
}

#[tokio::test]
async fn a_start_whose_commit_failed_for_good_leaves_the_session_free() {
    let rig = Rig::start().await;
    rig.submit("k", "first").await;
    settle().await;
    rig.memory.fail_next(AppendError::Unknown);
    let lost = rig.try_submit(by_key("k"), "lost").await;
    assert!(matches!(lost, Err(RequestError::Append(AppendError::Unknown))));
    let next = rig.submit("k", "next").await;
    assert_eq!(next.admission, AdmissionKind::Started);
    assert_eq!(rig.finished(next.run).await.state, RunLifecycleState::Done);
}

/// What to do is said by the cause: a disk is looked at only after an I/O error.
#[tokio::test]
async fn a_read_only_journal_is_told_with_its_own_cause() {
    for (cause, words) in [
        (ReadOnlyCause::BehindAnchor { anchored: 9 }, "accept-rollback"),
        (ReadOnlyCause::KeyLost, "keys/"),
        (ReadOnlyCause::NewerEntries, "newer version"),
        (ReadOnlyCause::IoError, "I/O error"),
    ] {
        let rig = Rig::start().await;
        let journal = |checks: Vec<HealthCheck>| {
            checks.into_iter().find(|check| check.name == "journal_writable").unwrap()
        };
        assert_eq!(journal(rig.gateway.health.checks().await).level, CheckLevel::Ok);
        rig.memory.make_read_only(cause);
        let check = journal(rig.gateway.health.checks().await);
        assert!(check.level == CheckLevel::Error && check.mend.contains(words), "{check:?}");
        assert_eq!(check.mend.contains("disk"), cause == ReadOnlyCause::IoError, "{check:?}");
    }
}

#[tokio::test]
async fn a_read_only_journal_stops_runs_and_answers_callers_in_words() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("shown ").hold(&gate).text("never shown"));
    let run = rig.submit("k", "go").await.run;
    let queued = rig.submit("k", "queued").await.run;
    soon("the model pauses", gate.reached()).await;
    settle().await;
    let shown = rig.tape(run).await;
    rig.faults.refuse(Refusal::All(AppendError::Quarantined));
    gate.open();
    soon("the answer is refused", rig.faults.wait_refused(1)).await;
    let_time_pass(&rig).await;
    let quarantined = |error: Option<RequestError>| {
        assert!(matches!(error, Some(RequestError::Append(AppendError::Quarantined))), "{error:?}");
    };
    quarantined(rig.cancel(run).await.err());
    quarantined(rig.cancel(queued).await.err());
    quarantined(rig.try_submit(by_key("k"), "more").await.err());
    quarantined(rig.try_submit(by_key("other"), "more").await.err());
    quarantined(rig.input(run, "more").await.err());
    assert_eq!(rig.tape(run).await, shown);
    let refused = rig.faults.refused();
    let_time_pass(&rig).await;
    assert_eq!(rig.faults.refused(), refused, "nobody knocks at a door that stays shut");
    let rig = rig.restarted().await;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    assert_eq!(rig.finished(queued).await.state, RunLifecycleState::Done);
    check(&rig.tape(run).await);
}

#[tokio::test]
async fn followers_see_what_is_committed_and_are_told_when_no_more_will_come() {
    for error in [AppendError::Quarantined, AppendError::Fenced, AppendError::Closed] {
        let rig = Rig::start().await;
        let gate = Gate::closed();
        rig.model.push(Script::new().text("shown ").hold(&gate).text("never shown"));
        let run = rig.submit("k", "go").await.run;
        let queued = rig.submit("k", "queued").await.run;
        soon("the model pauses", gate.reached()).await;
        settle().await;
        let mut follower = rig.follow(run, 0).await;
        let mut behind = rig.follow(queued, 0).await;
        for _ in 0..4 {
            soon("three entries and the word that it caught up", follower.next()).await.unwrap();
        }
        for _ in 0..2 {
            soon("one entry and the word that it caught up", behind.next()).await.unwrap();
        }
        rig.faults.refuse(Refusal::All(error.clone()));
        assert!(futures::FutureExt::now_or_never(follower.next()).is_none());
        gate.open();
        let mut late = rig.follow(run, 3).await;
        soon("the word that it caught up", late.next()).await.unwrap();
        for follower in [&mut follower, &mut behind, &mut late] {
            for _ in 0..2 {
                let told = soon("the word that it is over", follower.next()).await;
                assert!(matches!(&told, Err(TapeError::Append(found)) if *found == error), "{told:?}");
            }
        }
        assert_eq!((follower.last(), behind.last()), (TapeSeq(3), TapeSeq(1)));
    }
}

#[tokio::test]
async fn a_tape_that_somebody_else_wrote_to_is_read_again() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("half"));
    let run = rig.submit("k", "go").await.run;
    let queued = rig.submit("k", "next").await.run;
    soon("the model is asked", gate.reached()).await;
    let record = rig.record(run).await;
    let reason = CancelReason::User;
    let cancelled = TapeEvent::Run(RunEvent::CancelRequested { actor: record.principal, reason });
    let entry = NewEntry {
        time: record.updated,
        principal: record.principal,
        session: Some(record.session),
        run: Some((run, record.last_tape_seq.next())),
        event: JournalEvent::Tape(cancelled),
    };
    append(&rig.memory, entry).await;
    gate.open();
    let_time_pass(&rig).await;
    let tape = rig.tape(run).await;
    check(&tape);
    assert_eq!(rig.record(run).await.state, RunLifecycleState::Cancelled, "{:?}", shape(&tape));
    assert_eq!(rig.record(queued).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_step_that_is_not_valid_fails_the_run_and_no_more() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("half"));
    let run = rig.submit("k", "go").await.run;
    soon("the model is asked", gate.reached()).await;
    rig.memory.fail_next(AppendError::Invalid { what: "for the test" });
    gate.open();
    assert_eq!(rig.finished(run).await.reason, Some(TerminationReason::InternalError));
    check(&rig.tape(run).await);
    let next = rig.submit("k", "next").await.run;
    assert_eq!(rig.finished(next).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_queued_run_that_cannot_be_read_at_its_turn_is_tried_again() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    soon("the model is asked", gate.reached()).await;
    rig.faults.fail_next_read(ReadError::Busy);
    gate.open();
    settle().await;
    assert_eq!(rig.record(first).await.state, RunLifecycleState::Done);
    let_time_pass(&rig).await;
    assert_eq!(rig.faults.reads_to_fail(), 0);
    assert_eq!(rig.record(second).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_session_that_cannot_be_read_at_the_start_is_tried_again() {
    let rig = Rig::start().await;
    rig.submit("k", "past").await;
    settle().await;
    rig.model.push(Script::new().hang());
    let run = rig.submit("k", "go").await.run;
    let memory = rig.memory.restarted();
    let rig = Rig::on(memory).await;
    // The session reads only after the start; what it reads first is what was said before.
    for _ in 0..3 {
        rig.faults.fail_next_read(ReadError::Busy);
    }
    let_time_pass(&rig).await;
    assert_eq!(rig.faults.reads_to_fail(), 0);
    assert_eq!(rig.record(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_session_that_cannot_be_read_says_so_and_works_later() {
    let rig = Rig::start().await;
    rig.submit("k", "past").await;
    settle().await;
    let rig = rig.restarted().await;
    rig.faults.fail_next_read(ReadError::Busy);
    let refused = rig.try_submit(by_key("k"), "go").await;
    assert!(matches!(refused, Err(RequestError::Read(ReadError::Busy))), "{refused:?}");
    let run = rig.submit("k", "go").await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_cancel_of_a_queued_run_that_could_not_be_recorded_leaves_it_in_the_queue() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let first = rig.submit("k", "first").await.run;
    let second = rig.submit("k", "second").await.run;
    soon("the model is asked", gate.reached()).await;
    rig.memory.fail_next(AppendError::Unknown);
    let refused = rig.cancel(second).await;
    assert!(matches!(refused, Err(RequestError::Append(AppendError::Unknown))), "{refused:?}");
    gate.open();
    let_time_pass(&rig).await;
    assert_eq!(rig.record(first).await.state, RunLifecycleState::Done);
    assert_eq!(rig.record(second).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn the_tools_of_a_run_that_stops_are_told_to_stop() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().call(LOOK, "{}").call(LOOK, "{}"));
    let gate = Gate::closed();
    rig.tools.push(LOOK, ToolScript::UntilCancelled);
    rig.tools.push(LOOK, ToolScript::Hold(gate.clone(), "done".to_owned()));
    let run = rig.submit("k", "go").await.run;
    soon("both calls run", rig.tools.wait_until(|counts| counts.begun == 2)).await;
    rig.faults.refuse(Refusal::All(AppendError::Quarantined));
    gate.open();
    soon("both calls end", rig.tools.wait_until(|counts| counts.ended == 2)).await;
    let rig = rig.restarted().await;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
}

#[tokio::test]
async fn a_run_that_somebody_else_began_in_a_session_is_found_and_finished() {
    let rig = Rig::start().await;
    let first = rig.submit("k", "first").await.run;
    rig.finished(first).await;
    settle().await;
    // Another run of the session, begun behind the runtime's back.
    let foreign = RunId::from_parts(7, 7);
    for entry in rig.tape(first).await.into_iter().take(2) {
        let new = NewEntry {
            time: entry.time,
            principal: entry.principal,
            session: Some(entry.session),
            run: Some((foreign, entry.tape_seq)),
            event: JournalEvent::Tape(entry.event),
        };
        append(&rig.memory, new).await;
    }
    let second = rig.submit("k", "second").await;
    assert_eq!(second.admission, AdmissionKind::Queued);
    assert_eq!(rig.finished(foreign).await.state, RunLifecycleState::Done);
    assert_eq!(rig.finished(second.run).await.state, RunLifecycleState::Done);
}
