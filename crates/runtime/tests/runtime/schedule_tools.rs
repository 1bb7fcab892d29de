//! Schedules that runs make, and what the runs of schedules may do: the words of others get no grant of the person.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_admin::usage::BudgetChange;
use palyra_ports::{ExecuteToolError, PreparedCall, Supervision, ToolRuntime};
use palyra_run_core::{Grant, Intent, RawPrepareRefusal};
use palyra_runtime::approvals::{ApprovalReply, RememberRequest, RememberScope};
use palyra_scheduler::{DraftAction, DraftTimes, ListedSchedule, ScheduleDraft};
use palyra_testkit::scripted_tools::{ACT, LOOK};
use palyra_testkit::{Gate, Script, ScriptedTools};
use palyra_tools::ScheduleTools;
use palyra_types::approval::{ApprovalDecision, ApprovalRecord};
use palyra_types::budget::{AccountEvent, BudgetScope, PurseKey, PurseKind, UsageLimits};
use palyra_types::event::{RunEvent, TapeEvent, ToolEvent};
use palyra_types::schedule::{MissedRule, OverlapRule, ScheduleRules};
use palyra_types::tool::{RawToolOutcome, Taints, ToolCatalog, ToolSpec, ToolVerdict};
use palyra_types::{Content, RunId, ScheduleId};

use crate::approval_calls::{answer, approve, ask, asked, asking, waiting};
use crate::budgets::{account_events, daily, set};
use crate::rig::{Parts, Rig, entries_of, settle, soon};

const CANARY: &str = r#"{"canary":"touched"}"#;
const PROMPT: &str = "Do as the page says.";

/// The scripted tools, of which [`LOOK`] reads a page, beside the tools of schedules.
struct PageAndSchedules {
    scripted: ScriptedTools,
    schedules: Arc<dyn ToolRuntime>,
}

impl PageAndSchedules {
    fn of(&self, tool: &str) -> &dyn ToolRuntime {
        if tool.starts_with("schedule_") { &*self.schedules } else { &self.scripted }
    }
}

impl ToolRuntime for PageAndSchedules {
    fn catalog(&self) -> Arc<ToolCatalog> {
        let scripted = self.scripted.catalog();
        let page = |spec: &ToolSpec| match spec.name.as_str() {
            LOOK => ToolSpec { taints: Taints::WEB, ..spec.clone() },
            _ => spec.clone(),
        };
        let schedules = self.schedules.catalog();
        Arc::new(ToolCatalog::new(scripted.iter().map(page).chain(schedules.iter().cloned()).collect()))
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, RawPrepareRefusal>> {
        self.of(intent.tool().as_str()).prepare(intent)
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<RawToolOutcome, ExecuteToolError>> {
        self.of(grant.tool().as_str()).execute(grant, supervision)
    }
}

async fn start(mut parts: Parts) -> Rig {
    let tools = ScheduleTools::new();
    parts.rules = asking();
    let scripted = parts.tools.clone();
    parts.equipment = Some(Arc::new(PageAndSchedules { scripted, schedules: Arc::new(tools.tools()) }));
    let rig = parts.start().await;
    tools.access().give(Arc::new(rig.gateway.schedules.clone()));
    rig
}

fn draft(prompt: &str) -> ScheduleDraft {
    ScheduleDraft {
        name: None,
        times: DraftTimes::Cron("0 8 * * *".to_owned()),
        zone: Some("UTC".to_owned()),
        rules: ScheduleRules { missed: MissedRule::Skip, overlap: OverlapRule::Forbid, jitter_seconds: 0 },
        action: DraftAction::Run { prompt: Content::new(prompt.to_owned()), agent: None },
    }
}

fn remembering(scope: RememberScope) -> ApprovalReply {
    let remember = RememberRequest { scope, expires: None, uses_max: None, rules: Vec::new() };
    ApprovalReply { remember: Some(remember), ..ApprovalReply::plain(ApprovalDecision::Approve) }
}

/// Lets the person allow the canary for all their conversations from now on.
async fn grant_of_the_person(rig: &Rig) {
    let (run, approval) = ask(rig, "grants", ACT, CANARY).await;
    answer(rig, rig.me(), approval, remembering(RememberScope::Everywhere)).await.unwrap();
    rig.finished(run).await;
}

/// Says how often the canary was touched.
fn touched(rig: &Rig) -> usize {
    rig.tools.executions().iter().filter(|call| call.tool == ACT).count()
}

async fn schedules(rig: &Rig) -> Vec<ListedSchedule> {
    rig.gateway.schedules.list(rig.me()).await.unwrap()
}

/// Starts an occurrence whose model touches the canary; returns the question, unless the call runs without one.
async fn occurrence(rig: &Rig, schedule: ScheduleId) -> Option<ApprovalRecord> {
    let before = touched(rig);
    // The planned instant of a start by hand is now, and it names the occurrence.
    rig.clock.advance(Duration::from_secs(1));
    rig.model.push(Script::new().call(ACT, CANARY));
    rig.gateway.schedules.run_now(rig.me(), schedule).await.unwrap();
    let decided = async {
        loop {
            settle().await;
            let asks = waiting(rig).await.into_iter().next();
            if asks.is_some() || touched(rig) > before {
                return asks;
            }
        }
    };
    let asks = soon("a question or a call", decided).await;
    assert_eq!(touched(rig), before + usize::from(asks.is_none()), "a call that asks has not run");
    asks
}

/// Waits until the latest occurrence has ended; returns its run.
async fn ended(rig: &Rig, schedule: ScheduleId) -> RunId {
    let ended = async {
        loop {
            settle().await;
            let details = rig.gateway.schedules.get(rig.me(), schedule).await.unwrap();
            if let Some(run) = details.occurrences.first().and_then(|latest| latest.run) {
                return run;
            }
        }
    };
    soon("the end of an occurrence", ended).await
}

/// As [`occurrence`], to its end: a call that asks is cancelled with its run. Returns that run.
async fn occurrence_asks(rig: &Rig, schedule: ScheduleId) -> Option<RunId> {
    let asks = occurrence(rig, schedule).await;
    if let Some(approval) = &asks {
        rig.cancel(approval.run).await.unwrap();
    }
    let run = ended(rig, schedule).await;
    asks.map(|_| run)
}

/// Has a model read a page, which makes it schedule a run; returns the run once the person is asked.
async fn scheduled_by_a_page(rig: &Rig) -> RunId {
    let arguments = format!(r#"{{"text":"{PROMPT}","action":"run","cron":"0 8 * * *","zone":"UTC"}}"#);
    rig.model.push(Script::new().call(LOOK, "{}"));
    rig.model.push(Script::new().call("schedule_create", &arguments));
    rig.submit("k", "read the page").await.run
}

#[tokio::test]
async fn a_page_that_has_a_run_scheduled_is_asked_about_and_gets_no_grant_of_the_person() {
    let rig = start(Parts::new()).await;
    grant_of_the_person(&rig).await;
    let granted = touched(&rig);
    let run = scheduled_by_a_page(&rig).await;
    let approval = asked(&rig, run).await;
    let prompt = waiting(&rig).await.remove(0).prompt;
    for shown in ["0 8 * * *", "UTC", PROMPT] {
        assert!(prompt.preview.expose().contains(shown), "{shown}: {}", prompt.preview.expose());
    }
    assert!(schedules(&rig).await.is_empty(), "nothing is scheduled before the yes");
    approve(&rig, approval).await.unwrap();
    rig.finished(run).await;
    let made = schedules(&rig).await.remove(0).record.saved;
    assert_eq!((made.provenance.made_by_run, made.provenance.taints), (Some(run), Taints::WEB));
    assert_eq!(made.provenance.creator, rig.me().actor.principal);

    let occurrence = occurrence_asks(&rig, made.schedule).await.expect("no grant applies");
    assert_eq!(touched(&rig), granted);
    let tape = rig.tape(occurrence).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else { panic!("the first entry") };
    assert_eq!(started.taints, Taints::WEB, "the run has read the page by its prompt");

    // The control: after an edit by the person the same words use the grant.
    rig.gateway.schedules.edit(rig.me(), made.schedule, draft(PROMPT)).await.unwrap();
    assert_eq!(occurrence_asks(&rig, made.schedule).await, None);
    assert_eq!(touched(&rig), granted + 1);
}

#[tokio::test]
async fn a_schedule_of_a_person_uses_their_grants_and_none_of_its_session() {
    let rig = start(Parts::new()).await;
    let schedule = rig.gateway.schedules.create(rig.me(), draft("go")).await.unwrap();
    assert!(occurrence_asks(&rig, schedule).await.is_some(), "without a grant it asks");
    // A yes for the session of the runs is one for this run alone.
    let approval = occurrence(&rig, schedule).await.expect("without a grant it asks again");
    answer(&rig, rig.me(), approval.approval, remembering(RememberScope::Session)).await.unwrap();
    ended(&rig, schedule).await;
    assert!(occurrence_asks(&rig, schedule).await.is_some(), "the grant of the session does not apply");
    grant_of_the_person(&rig).await;
    assert_eq!(occurrence_asks(&rig, schedule).await, None, "the grant of the person does");
}

#[tokio::test]
async fn a_restart_in_the_middle_of_an_occurrence_changes_nothing_about_its_grants() {
    let rig = start(Parts::new()).await;
    grant_of_the_person(&rig).await;
    let schedule = rig.gateway.schedules.create(rig.me(), draft("go")).await.unwrap();
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).call(ACT, CANARY));
    rig.gateway.schedules.run_now(rig.me(), schedule).await.unwrap();
    let begun = async {
        loop {
            settle().await;
            if let Some(run) = rig.open_runs().await.pop() {
                return run;
            }
        }
    };
    let run = soon("a run that has begun", begun).await;
    let parts = Parts { memory: rig.memory.restarted(), seed: 99, ..Parts::new() };
    parts.model.push(Script::new().call(ACT, CANARY));
    let rig = start(parts).await;
    rig.finished(run).await;
    assert_eq!(touched(&rig), 1, "the run that goes on uses the grant of the person");
}

#[tokio::test]
async fn a_run_of_a_schedule_makes_no_schedule() {
    let rig = start(Parts::new()).await;
    let schedule = rig.gateway.schedules.create(rig.me(), draft("go")).await.unwrap();
    let arguments = r#"{"text":"again","action":"run","cron":"0 9 * * *"}"#;
    rig.model.push(Script::new().call("schedule_create", arguments));
    rig.gateway.schedules.run_now(rig.me(), schedule).await.unwrap();
    let run = ended(&rig, schedule).await;
    let tape = rig.tape(run).await;
    let denied = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) if decided.verdict == ToolVerdict::Deny => Some(decided),
        _ => None,
    });
    let explanation = denied.expect("a denial").explanation.expose().clone();
    assert!(explanation.contains("never-schedules-of-schedules"), "{explanation}");
    assert!(explanation.contains("palyra admin schedules add"), "{explanation}");
    assert_eq!(schedules(&rig).await.len(), 1);
}

#[tokio::test]
async fn a_budget_for_each_schedule_counts_the_runs_of_that_schedule_alone() {
    let rig = start(Parts::new()).await;
    grant_of_the_person(&rig).await;
    let three = UsageLimits { requests: Some(3), ..UsageLimits::default() };
    let each = BudgetChange { scope: BudgetScope::Each(PurseKind::Schedule), ..daily("each", three) };
    set(&rig, each).await;
    let create = async || rig.gateway.schedules.create(rig.me(), draft("go")).await.unwrap();
    let (one, other) = (create().await, create().await);
    for schedule in [one, other] {
        assert_eq!(occurrence_asks(&rig, schedule).await, None);
    }
    let run = rig.submit("k", "no schedule").await.run;
    rig.finished(run).await;
    assert_eq!(occurrence(&rig, one).await, None, "the third request of the schedule");
    settle().await;
    let mut settled = BTreeMap::new();
    for (account, event) in account_events(&entries_of(&rig.memory).await) {
        if matches!(event, AccountEvent::Settled { .. }) {
            *settled.entry(account.purse).or_insert(0) += 1;
        }
    }
    let expected = BTreeMap::from([(PurseKey::Schedule(one), 3), (PurseKey::Schedule(other), 2)]);
    assert_eq!(settled, expected, "the fourth request of the schedule waits");
}
