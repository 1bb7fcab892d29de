//! Policies that are tried out: each recorded decision is put to them, differences are counted, and nothing else changes.

use std::time::Duration;

use palyra_admin::health::CheckLevel;
use palyra_admin::shadow_report::ShadowReport;
use palyra_background::TaskState;
use palyra_journal_core::families::shadows;
use palyra_journal_core::family::QueryFamilies;
use palyra_testkit::Script;
use palyra_testkit::scripted_tools::{ACT, LOOK};
use palyra_types::event::{JournalEvent, PolicyEvent, TapeEvent, ToolEvent};
use palyra_types::tool::ToolVerdict;
use palyra_types::{EffectId, RunId};

use crate::approval_calls::{asking, waiting};
use crate::rig::{Parts, Rig, settle};
use crate::shapes::check;

/// Would let everything run: nothing must, because of it.
const ALLOWS_ALL: &str = r#"@id("all") permit (principal, action, resource);"#;
/// Would stop everything: nothing must be, because of it.
const FORBIDS_ALL: &str = r#"@id("none") forbid (principal, action, resource);"#;

async fn rig() -> Rig {
    Parts { rules: asking(), ..Parts::new() }.start().await
}

/// A run that looks, which runs by itself, and then acts, which asks; it is left waiting.
async fn looks_and_acts(rig: &Rig, key: &str) -> RunId {
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.model.push(Script::new().call(ACT, r#"{"a":1}"#));
    let run = rig.submit(key, "go").await.run;
    settle().await;
    run
}

async fn shadow(rig: &Rig) -> ShadowReport {
    rig.gateway.admin.policy.shadow().await.unwrap().unwrap()
}

fn counts(report: &ShadowReport) -> (u64, u64, u64, u64, u64) {
    let counts = &report.counts;
    (counts.judged, counts.same, counts.newly_allowed, counts.newly_asked, counts.newly_denied)
}

/// What a tape says, without the ids and keyed digests that differ from run to run.
async fn told(rig: &Rig, run: RunId) -> Vec<String> {
    let tape = rig.tape(run).await;
    check(&tape);
    let told = tape.iter().map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            format!(
                "{:?} {:?} {:?} {}",
                decided.verdict,
                decided.reason,
                decided.policy_digest,
                decided.explanation.expose()
            )
        }
        other => format!("{:?}", std::mem::discriminant(other)),
    });
    told.collect()
}

#[tokio::test]
async fn every_background_task_has_a_status_and_none_failed() {
    let rig = rig().await;
    looks_and_acts(&rig, "one").await;
    let tasks = rig.gateway.health.background_tasks();
    let names: Vec<_> = tasks.iter().map(|task| task.name).collect();
    let at_start =
        ["component_catalog", "lost_jobs", "lost_requests", "open_undos", "skill_copies", "vault_changes"];
    for name in ["approval_expiry", "budget_waits", "shadow_counting"].iter().chain(&at_start) {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    for task in tasks {
        let last = task.last.expect("it was ticked");
        assert_eq!((task.failures_in_a_row, last.failure), (0, None), "{}", task.name);
        assert_eq!(task.state == TaskState::Finished, at_start.contains(&task.name), "{}", task.name);
    }
    let checks = rig.gateway.health.checks().await;
    assert!(checks.iter().any(|check| check.name == "background_tasks" && check.level == CheckLevel::Ok));
}

#[tokio::test]
async fn what_is_tried_out_is_counted_and_changes_nothing() {
    let rig = rig().await;
    let without = looks_and_acts(&rig, "without").await;
    assert_eq!(rig.gateway.admin.policy.shadow().await.unwrap(), None);
    for (key, candidate) in [("all", ALLOWS_ALL), ("none", FORBIDS_ALL)] {
        rig.try_out(&asking(), candidate);
        let (waits, executed) = (waiting(&rig).await.len(), rig.tools.executions().len());
        let with = looks_and_acts(&rig, key).await;
        assert_eq!(told(&rig, with).await, told(&rig, without).await, "{key}: the same tape");
        assert_eq!(waiting(&rig).await.len(), waits + 1, "{key}: still asked");
        assert_eq!(rig.tools.executions().len(), executed + 1, "{key}: the look runs, the act does not");
        let report = shadow(&rig).await;
        let expect = if key == "all" { (2, 1, 1, 0, 0) } else { (2, 0, 0, 0, 2) };
        assert_eq!((counts(&report), report.comparing, report.counts.missed), (expect, true, 0));
        let newest = &report.examples[0];
        assert_eq!((newest.example.run, newest.example.effect), (with, EffectId(2)));
        assert_eq!((newest.example.was, newest.tool.expose().as_str()), (ToolVerdict::Ask, ACT));
        assert_eq!(newest.policies, [key]);
        assert!(newest.time.is_some());
    }
    rig.rule(&asking());
    let last = shadow(&rig).await;
    assert_eq!((last.comparing, last.counts.judged), (false, 2), "the last one is still told of");
}

#[tokio::test]
async fn a_count_is_one_entry_a_while_and_goes_on_after_a_restart() {
    let rig = rig().await;
    rig.try_out(&asking(), FORBIDS_ALL);
    let entries = async |rig: &Rig| {
        let all = rig.memory_entries().await;
        all.iter()
            .filter(|entry| matches!(entry.event, JournalEvent::Policy(PolicyEvent::ShadowCounted(_))))
            .count()
    };
    looks_and_acts(&rig, "a").await;
    looks_and_acts(&rig, "b").await;
    assert_eq!((counts(&shadow(&rig).await).0, entries(&rig).await), (4, 0), "nothing is recorded at once");
    rig.clock.advance(Duration::from_secs(11));
    settle().await;
    assert_eq!(entries(&rig).await, 1, "and then in one entry");
    let recorded =
        rig.memory.query(move |rows, log| shadows::newest(rows, log, None)).await.unwrap().unwrap();
    assert_eq!((recorded.judged, recorded.newly_denied, recorded.examples.len()), (4, 4, 4));

    let rig =
        Parts { memory: rig.memory.restarted(), seed: 99, rules: asking(), ..Parts::new() }.start().await;
    rig.try_out(&asking(), FORBIDS_ALL);
    looks_and_acts(&rig, "c").await;
    assert_eq!(counts(&shadow(&rig).await), (6, 0, 0, 0, 6));
    crate::rig::soon("the drain", rig.gateway.sessions.drain()).await;
    assert_eq!(
        rig.memory.query(move |rows, log| shadows::newest(rows, log, None)).await.unwrap().unwrap().judged,
        6,
        "a drain leaves nothing unrecorded"
    );
}
