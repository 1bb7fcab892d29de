//! What the daemon does by itself: sessions are archived and erased as the rules say, the journal is checked again.

use std::time::Duration;

use palyra_admin::upkeep::{JournalCareRules, RetentionRules, UpkeepRules};
use palyra_background::queue::TaskQuery;
use palyra_ports::read_records::SessionFilter;
use palyra_runtime::GatewayRuntimeConfigSnapshot;
use palyra_runtime::session::{BranchRequest, SessionChange, SessionSelector};
use palyra_testkit::Script;
use palyra_testkit::scripted_tools::LOOK;
use palyra_types::event::{JournalEvent, LogEvent, RunEvent, TapeEvent};
use palyra_types::proof::ErasureReason;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskKind, TaskStage};
use palyra_types::{RunId, SessionId, TapeSeq};

use crate::rig::{Parts, Rig, by_id, by_key, entries_of, settle};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn retention(archive_days: u32, erase_days: u32) -> GatewayRuntimeConfigSnapshot {
    let days = |days: u32| (days > 0).then_some(DAY * days);
    let retention = RetentionRules { archive_after: days(archive_days), erase_after: days(erase_days) };
    let upkeep = UpkeepRules { retention, journal: None };
    GatewayRuntimeConfigSnapshot { upkeep, ..Default::default() }
}

/// A session that no client finds by a key, with one finished run.
async fn finished(rig: &Rig, selector: SessionSelector, text: &str) -> (SessionId, RunId) {
    let receipt = rig.try_submit(selector, text).await.unwrap();
    rig.finished(receipt.run).await;
    (receipt.session, receipt.run)
}

/// Lets days pass, as a daemon sees them that is never asleep.
async fn days(rig: &Rig, days: u32) {
    for _ in 0..days {
        settle().await;
        rig.clock.advance(DAY);
    }
    settle().await;
}

async fn archived(rig: &Rig) -> Vec<SessionId> {
    rig.sessions(SessionFilter::Archived).await.into_iter().map(|record| record.session.id).collect()
}

async fn tasks(rig: &Rig) -> Vec<OrchestratorBackgroundTaskRecord> {
    let query = TaskQuery { limit: 100, ..TaskQuery::default() };
    rig.gateway.health.queued_tasks(query).await.unwrap()
}

async fn text_of(rig: &Rig, run: RunId) -> String {
    let tape = rig.tape(run).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else { panic!("{tape:?}") };
    started.input.text.expose().clone()
}

#[tokio::test]
async fn sessions_without_use_are_archived_and_later_erased_and_others_are_left_alone() {
    let rig = Parts { config: retention(30, 60), ..Parts::new() }.start().await;
    let (idle, idle_run) = finished(&rig, SessionSelector::default(), "idle").await;
    let (keyed, keyed_run) = finished(&rig, by_key("k"), "keyed").await;
    let (marked, marked_run) = finished(&rig, SessionSelector::default(), "marked").await;
    rig.gateway.runs.place_bookmark(rig.me(), marked_run, TapeSeq(2), "place".into()).await.unwrap();
    for _ in 0..3 {
        rig.model.push(Script::new().call(LOOK, "{}"));
    }
    let waiting = rig.try_submit(SessionSelector::default(), "waits").await.unwrap();
    let is_loop = |event: &TapeEvent| matches!(event, TapeEvent::Run(RunEvent::LoopDetected { .. }));
    rig.until(waiting.run, "the loop guard", is_loop).await;
    days(&rig, 29).await;
    assert_eq!(
        (archived(&rig).await, tasks(&rig).await),
        (vec![], vec![]),
        "nothing is due, so nothing is written"
    );
    let (used, _) = finished(&rig, SessionSelector::default(), "used").await;
    days(&rig, 3).await;
    assert_eq!(archived(&rig).await, [idle]);
    let task = tasks(&rig).await.remove(0);
    assert_eq!((task.kind, task.stage), (TaskKind::SessionCleanup, TaskStage::Done));
    assert_eq!(task.explanation.expose(), "1 sessions archived, 0 erased, 2 left alone");
    assert_eq!(text_of(&rig, idle_run).await, "idle", "an archived session can be read");
    days(&rig, 61).await;
    let mut now_archived = archived(&rig).await;
    now_archived.sort_unstable();
    let mut expected = vec![idle, used];
    expected.sort_unstable();
    assert_eq!(now_archived, expected);
    assert_eq!(text_of(&rig, idle_run).await, "", "its content is erased");
    for (run, text) in [(keyed_run, "keyed"), (marked_run, "marked"), (waiting.run, "waits")] {
        assert_eq!(text_of(&rig, run).await, text);
    }
    assert!(rig.open_runs().await.contains(&waiting.run));
    let entries = entries_of(&rig.memory).await;
    let reasons = entries.iter().filter_map(|entry| match &entry.event {
        JournalEvent::Log(LogEvent::Erased { authoriser, reason, .. }) => Some((*authoriser, *reason)),
        _ => None,
    });
    assert_eq!(reasons.collect::<Vec<_>>(), [(rig.me().actor.principal, ErasureReason::Retention)]);
    assert!(rig.sessions(SessionFilter::Current).await.iter().any(|record| record.session.id == keyed));
    assert!(rig.sessions(SessionFilter::Current).await.iter().any(|record| record.session.id == marked));
}

#[tokio::test]
async fn a_session_is_not_erased_while_one_that_branched_off_it_stays() {
    let rig = Parts { config: retention(0, 10), ..Parts::new() }.start().await;
    let (source, run) = finished(&rig, SessionSelector::default(), "shared").await;
    let branch = BranchRequest { run, tape_seq: None };
    let made = rig.gateway.sessions.branch(rig.me(), SessionSelector::default(), None, branch).await.unwrap();
    let branched = made.record.session.id;
    finished(&rig, by_id(branched), "goes on").await;
    let archive = async |session| {
        rig.gateway.sessions.change(rig.me(), session, SessionChange::Archive).await.unwrap();
    };
    archive(source).await;
    days(&rig, 12).await;
    assert_eq!(text_of(&rig, run).await, "shared", "the branch shows it to models");
    archive(branched).await;
    days(&rig, 12).await;
    assert_eq!(text_of(&rig, run).await, "");
}

#[tokio::test]
async fn retention_is_off_until_it_is_configured_and_survives_a_restart() {
    let rig = Rig::start().await;
    let (idle, _) = finished(&rig, SessionSelector::default(), "idle").await;
    days(&rig, 40).await;
    assert_eq!((archived(&rig).await, tasks(&rig).await), (vec![], vec![]));
    assert_eq!(rig.clock.next_deadline(), None, "nothing wakes the daemon");
    rig.configure(|config| *config = retention(30, 0));
    settle().await;
    assert_eq!(archived(&rig).await, [idle]);
    rig.configure(|config| *config = retention(0, 0));
    let (later, _) = finished(&rig, SessionSelector::default(), "later").await;
    let (memory, clock) = (rig.memory.restarted(), rig.clock.clone());
    let rig =
        Parts { memory, clock, config: retention(30, 0), seed: 1_000_003, ..Parts::new() }.start().await;
    days(&rig, 33).await;
    let all = archived(&rig).await;
    assert!(all.contains(&idle) && all.contains(&later), "{all:?}");
}

#[tokio::test]
async fn every_entry_is_checked_again_after_a_week_and_an_idle_journal_is_left_alone() {
    let upkeep = UpkeepRules { journal: Some(JournalCareRules::USUAL), ..UpkeepRules::default() };
    let config = GatewayRuntimeConfigSnapshot { upkeep, ..Default::default() };
    let rig = Parts { config, ..Parts::new() }.start().await;
    let before = entries_of(&rig.memory).await.len();
    for _ in 0..(6 * 24) {
        settle().await;
        rig.clock.advance(Duration::from_secs(60 * 60));
    }
    settle().await;
    assert_eq!(entries_of(&rig.memory).await.len(), before, "nothing is written while nothing is due");
    for _ in 0..26 {
        rig.clock.advance(Duration::from_secs(60 * 60));
        settle().await;
    }
    let tasks = tasks(&rig).await;
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    assert_eq!((tasks[0].kind, tasks[0].stage), (TaskKind::JournalCare, TaskStage::Done));
    let explained = tasks[0].explanation.expose();
    assert!(explained.ends_with("entries hold"), "{explained}");
    assert_eq!(entries_of(&rig.memory).await.len(), before + 3);
}
