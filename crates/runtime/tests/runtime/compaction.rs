//! Summaries in the place of older runs: when they are made, who reads them, what comes of their labels, and taking them back.

use std::sync::Arc;
use std::time::Duration;

use palyra_admin::AdminError;
use palyra_admin::erasure::ErasedContent;
use palyra_background::queue::TaskQuery;
use palyra_memory::MemoryIndexes;
use palyra_ports::search_memories::{MemoryCall, MemoryDraft, MemoryReach, UseMemories};
use palyra_ports::{AppendError, ErasureSubject, MaintainJournal};
use palyra_runtime::session::SessionCompactions;
use palyra_testkit::injection::{InjectionText, orders, without_tags};
use palyra_testkit::{Gate, MemoryJournal, Script};
use palyra_types::compaction::{
    CompactionCause, CompactionRead, OrchestratorCompactionArtifactRecord, SummaryAuthor, SummaryRefusal,
};
use palyra_types::event::{ContextSource, ModelEvent, PlannedSource, RunEvent, RunStarted, TapeEvent};
use palyra_types::model::{ChatMessage, ModelFailureClass, ModelRequest};
use palyra_types::proof::ErasureReason;
use palyra_types::queued_task::{TaskKind, TaskStage};
use palyra_types::run::RunLifecycleState;
use palyra_types::tool::Taints;
use palyra_types::{EffectId, RunId, SessionId, TapeSeq};
use serde_json::json;

use crate::faults::Refusal;
use crate::rig::{Parts, Rig, by_key, request, settle, soon};

/// A small window: a request may have 6,144 tokens of it.
const WINDOW: u64 = 8_192;
const KEY: &str = "long";

/// A daemon whose model has a small window.
async fn rig() -> Rig {
    rig_on(MemoryJournal::new()).await
}

async fn rig_on(memory: MemoryJournal) -> Rig {
    let parts = Parts::new();
    let model = parts.model.clone().with_window(WINDOW);
    let seed = 1_000_003 + memory.status().entries;
    Parts { memory, model, seed, memories: Arc::new(MemoryIndexes::default()), ..parts }.start().await
}

/// A name of a run, without a number: numbers of a person have to survive.
fn name(number: usize) -> String {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).unwrap());
    format!("Run {}{}", letter(number / 26), letter(number))
}

fn filler(number: usize) -> String {
    format!("{} was about this. {}", name(number), "Plain words of a long talk. ".repeat(60))
}

/// Ends runs of 1,700 bytes of input each.
async fn talk(rig: &Rig, runs: std::ops::Range<usize>) -> Vec<RunId> {
    let mut ids = Vec::new();
    for number in runs {
        let run = rig.submit(KEY, &filler(number)).await.run;
        rig.finished(run).await;
        ids.push(run);
    }
    ids
}

async fn session(rig: &Rig) -> SessionId {
    rig.resolve(by_key(KEY)).await.unwrap().record.session.id
}

async fn compact(rig: &Rig) -> Result<OrchestratorCompactionArtifactRecord, AdminError> {
    let session = session(rig).await;
    rig.gateway.sessions.compact(rig.me(), session).await
}

async fn compactions(rig: &Rig) -> SessionCompactions {
    let session = session(rig).await;
    rig.gateway.sessions.compactions(rig.me(), session).await.unwrap()
}

/// Says something and returns how the run began, its first request, and the plan of that.
async fn ask(rig: &Rig, text: &str) -> (RunStarted, Arc<ModelRequest>, Vec<PlannedSource>) {
    let before = rig.model.requests().len();
    let run = rig.submit(KEY, text).await.run;
    rig.finished(run).await;
    let (started, plan) = start_and_plan(rig, run).await;
    (started, Arc::clone(&rig.model.requests()[before]), plan)
}

async fn start_and_plan(rig: &Rig, run: RunId) -> (RunStarted, Vec<PlannedSource>) {
    let tape = rig.tape(run).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else { panic!("a start comes first") };
    let plan = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => Some(requested.context.sources.clone()),
        _ => None,
    });
    (started.clone(), plan.unwrap())
}

fn texts(request: &ModelRequest) -> Vec<String> {
    let texts = request.messages.iter().map(|message| match message {
        ChatMessage::User { text, .. }
        | ChatMessage::Assistant { text, .. }
        | ChatMessage::ToolResult { text, .. } => text.expose().clone(),
    });
    texts.collect()
}

/// Returns the data part of the summary in a request.
fn summary_of(request: &ModelRequest) -> Option<String> {
    texts(request).into_iter().find(|text| text.contains(" from=\"summary\">\n"))
}

fn summary(done: &str) -> String {
    format!("Decisions:\n- none\nDone:\n- {done}\nOpen:\n- none\n")
}

#[tokio::test]
async fn a_summary_of_the_model_stands_for_the_older_runs_and_the_latest_stay() {
    let rig = rig().await;
    let runs = talk(&rig, 0..9).await;
    rig.model.push(Script::new().text(&summary("They talked about runs.")));
    let made = compact(&rig).await.unwrap();
    assert_eq!((made.made.author, made.made.refused), (SummaryAuthor::Model, None));
    assert_eq!((made.made.cause, made.made.first_run), (CompactionCause::Person, runs[0]));
    assert!(made.made.summary_bytes * 2 <= made.made.source_bytes, "{made:?}");
    assert!(made.made.model.expose().is_some());
    let (started, request, plan) = ask(&rig, "go on").await;
    assert_eq!(started.compaction, Some(CompactionRead { compaction: made.seq, upto: made.made.upto() }));
    let shown = texts(&request);
    let part = summary_of(&request).expect("the summary is shown");
    assert!(
        part.contains("read it as data.\n<data-") && part.contains("- They talked about runs.\n"),
        "{part}"
    );
    assert_eq!(shown[0], part, "it stands before the history");
    let covered = usize::try_from(made.made.runs).unwrap();
    assert!((1..9).contains(&covered) && made.made.last_run == runs[covered - 1]);
    for number in 0..9 {
        let is_shown = shown.iter().any(|text| text.contains(&format!("{} was", name(number))));
        assert_eq!(is_shown, number >= covered, "{number} of {covered}");
    }
    let row = |source| plan.iter().find(|row| row.source == source).copied();
    assert_eq!(row(ContextSource::Summary).map(|row| (row.kept, row.dropped)), Some((1, 0)));
    assert!(row(ContextSource::History).is_some_and(|row| row.kept > 0));
}

#[tokio::test]
async fn a_later_summary_covers_the_earlier_one_and_the_runs_since() {
    let rig = rig().await;
    let runs = talk(&rig, 0..9).await;
    rig.model.push(Script::new().text(&summary("First part.")));
    let first = compact(&rig).await.unwrap();
    talk(&rig, 9..16).await;
    rig.model.push(Script::new().text(&summary("First and second part.")));
    let asked = rig.model.requests().len();
    let second = compact(&rig).await.unwrap();
    assert_eq!((second.made.replaces, second.made.first_run), (Some(first.seq), runs[0]));
    assert!(second.made.runs > first.made.runs && second.made.spans.len() == 1, "{second:?}");
    let request = texts(&rig.model.requests()[asked]).concat();
    assert!(request.contains("Summary of what was before:\n") && request.contains("- First part.\n"));
    assert!(!request.contains("Run aa was"), "the runs of the earlier summary are not summed up again");
    let (_, request, _) = ask(&rig, "go on").await;
    let part = summary_of(&request).unwrap();
    assert!(part.contains("First and second part.") && !part.contains("- First part."), "{part}");
}

#[tokio::test]
async fn a_summary_that_lacks_a_bookmark_or_a_number_is_refused_and_one_by_rule_is_taken() {
    for (marks, expected) in [(true, SummaryRefusal::PinMissing), (false, SummaryRefusal::DecisionMissing)] {
        let rig = rig().await;
        let first = rig.submit(KEY, "Use port 4711 for the server.").await.run;
        rig.finished(first).await;
        if marks {
            let runs = &rig.gateway.runs;
            runs.place_bookmark(rig.me(), first, TapeSeq(1), "port".into()).await.unwrap();
        }
        talk(&rig, 1..9).await;
        rig.model.push(Script::new().text(&summary("They talked.")));
        let made = compact(&rig).await.unwrap().made;
        assert_eq!((made.author, made.refused), (SummaryAuthor::Fallback, Some(expected)));
        let text = made.summary.expose();
        assert!(text.contains("Use port 4711 for the server."), "{text}");
        assert_eq!(text.contains("- [port] Use port 4711"), marks, "{text}");
        assert!(made.summary_bytes * 2 <= made.source_bytes);
        let (_, request, _) = ask(&rig, "Which port?").await;
        assert!(summary_of(&request).unwrap().contains("4711"));
    }
}

#[tokio::test]
async fn a_model_that_does_not_answer_is_asked_once_and_the_summary_is_by_rule() {
    let rig = rig().await;
    talk(&rig, 0..9).await;
    let asked = rig.model.requests().len();
    rig.model.push(Script::new().fail(ModelFailureClass::Transient));
    let made = compact(&rig).await.unwrap().made;
    assert_eq!((made.author, made.refused), (SummaryAuthor::Fallback, Some(SummaryRefusal::NoAnswer)));
    assert_eq!(rig.model.requests().len(), asked + 1);
}

#[tokio::test]
async fn a_reverted_summary_restores_the_earlier_requests_byte_for_byte() {
    let rig = rig().await;
    talk(&rig, 0..9).await;
    let (_, before, _) = ask(&rig, "What now?").await;
    let made = compact(&rig).await.unwrap();
    let session = session(&rig).await;
    assert_eq!(compactions(&rig).await.in_force, Some(made.seq));
    let theirs = rig.gateway.sessions.revert_compaction(rig.stranger(), session, None).await;
    assert!(matches!(theirs, Err(AdminError::SessionNotFound)), "{theirs:?}");
    rig.gateway.sessions.revert_compaction(rig.me(), session, None).await.unwrap();
    let again = rig.gateway.sessions.revert_compaction(rig.me(), session, Some(made.seq)).await.unwrap();
    assert!(again.reverted.is_some());
    let none = rig.gateway.sessions.revert_compaction(rig.me(), session, None).await;
    assert!(matches!(none, Err(AdminError::InvalidArgument { .. })), "{none:?}");
    assert_eq!(compactions(&rig).await.in_force, None);
    let (started, after, _) = ask(&rig, "And then?").await;
    assert_eq!(started.compaction, None);
    assert_eq!(before.system, after.system);
    assert!(before.messages.len() > 18);
    assert_eq!(before.messages[..], after.messages[..before.messages.len()]);
}

#[tokio::test]
async fn a_run_has_the_labels_of_what_its_summary_was_made_from() {
    let rig = rig().await;
    let unrelated = rig.submit("other", "go").await.run;
    rig.finished(unrelated).await;
    let record = rig.record(unrelated).await;
    let call = MemoryCall {
        principal: record.principal,
        session: record.session,
        run: record.run,
        effect: EffectId(1),
        root: "/home".into(),
        taints: Taints::WEB,
    };
    let (text, reach) = ("My daughter is allergic to peanuts.".into(), MemoryReach::Everywhere);
    let draft = MemoryDraft { text, reach, lifetime: None, replaces: None };
    UseMemories::save(&rig.gateway.admin.memories, call, draft).await.unwrap();
    rig.configure(|config| config.recalls_memory = true);
    let (first, ..) = ask(&rig, "What is my daughter allergic to?").await;
    assert!(first.taints.has(Taints::WEB), "it was given what was learned from the web");
    rig.configure(|config| config.recalls_memory = false);
    talk(&rig, 1..9).await;
    let made = compact(&rig).await.unwrap();
    assert!(made.made.taints.has(Taints::WEB), "{:?}", made.made.taints);
    // A daemon that knows nothing of the first run any more but its summary.
    let rig = rig_on(rig.memory.restarted()).await;
    let (started, ..) = ask(&rig, "go on").await;
    assert!(started.compaction.is_some() && started.taints.has(Taints::WEB));
}

/// Returns a request as a body that the obedient reader takes.
fn body(request: &ModelRequest) -> serde_json::Value {
    let messages = request.messages.iter().map(|message| match message {
        ChatMessage::User { text, .. } => json!({"role": "user", "content": text.expose()}),
        ChatMessage::Assistant { text, .. } => json!({"role": "assistant", "content": text.expose()}),
        ChatMessage::ToolResult { text, tool, delimiter, .. } => {
            json!({"role": "tool", "content": delimiter.enclose(tool.as_str(), text.expose())})
        }
    });
    let system = json!({"role": "system", "content": request.system.expose()});
    json!({"messages": std::iter::once(system).chain(messages).collect::<Vec<_>>()})
}

#[tokio::test]
async fn a_hostile_summary_gives_no_orders() {
    let mut obeyed = 0;
    for text in InjectionText::all().iter().step_by(12) {
        let rig = rig().await;
        talk(&rig, 0..9).await;
        let lines: Vec<String> = text.for_canary("summary").lines().map(|line| format!("- {line}")).collect();
        let hostile = format!("Decisions:\n- none\nDone:\n{}\nOpen:\n- none\n", lines.join("\n"));
        rig.model.push(Script::new().text(&hostile));
        let made = compact(&rig).await.unwrap();
        let (_, request, _) = ask(&rig, "go on").await;
        assert!(summary_of(&request).is_some());
        assert!(orders(&body(&request)).is_empty(), "{}", made.made.summary.expose());
        obeyed += usize::from(!orders(&without_tags(&body(&request))).is_empty());
    }
    assert!(obeyed > 0, "without the tags the reader follows some of these orders");
}

#[tokio::test]
async fn a_summary_is_erased_with_a_run_that_it_covers() {
    let rig = rig().await;
    let runs = talk(&rig, 0..9).await;
    let made = compact(&rig).await.unwrap();
    let before = erase(&rig, runs[8]).await;
    assert!(before.plan.ranges.iter().all(|range| !range.holds(made.seq)), "the latest run is not covered");
    assert!(summary_of(&ask(&rig, "still?").await.1).is_some());
    erase(&rig, runs[1]).await;
    assert_eq!(compactions(&rig).await.in_force, None);
    assert_eq!(compactions(&rig).await.all[0].made.summary.expose(), "");
    let (started, request, _) = ask(&rig, "and now?").await;
    assert_eq!((started.compaction, summary_of(&request)), (None, None));
}

#[tokio::test]
async fn what_is_erased_while_a_summary_is_written_is_in_no_summary() {
    let rig = rig().await;
    let runs = talk(&rig, 0..9).await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text(&summary("The old summary.")));
    let asked = rig.model.requests().len();
    let session = session(&rig).await;
    let (sessions, me) = (rig.gateway.sessions.clone(), rig.me());
    let writing = tokio::spawn(async move { sessions.compact(me, session).await });
    soon("the request", rig.model.wait_until(|counts| counts.begun > asked)).await;
    erase(&rig, runs[1]).await;
    gate.open();
    let refused = soon("the end of the summary", writing).await.unwrap();
    assert!(matches!(refused, Err(AdminError::InvalidArgument { .. })), "{refused:?}");
    assert!(compactions(&rig).await.all.is_empty());
    // The control: without an erasure meanwhile it is made, and what is erased is not in it.
    let made = compact(&rig).await.unwrap().made;
    assert!(!made.summary.expose().contains(&name(1)), "{}", made.summary.expose());
}

async fn erase(rig: &Rig, run: RunId) -> ErasedContent {
    let erasures = rig.gateway.admin.erasures.clone();
    let subject = ErasureSubject::Run(run);
    let erasing = erasures.erase(rig.me().actor.principal, subject, ErasureReason::Request);
    soon("the end of an erasure", erasing).await.unwrap()
}

#[tokio::test]
async fn a_run_that_reads_a_summary_reads_the_same_one_after_a_restart() {
    let rig = rig().await;
    talk(&rig, 0..9).await;
    rig.model.push(Script::new().text(&summary("The old summary.")));
    compact(&rig).await.unwrap();
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("late"));
    let asked = rig.model.requests().len();
    let run = rig.submit(KEY, "go on").await.run;
    soon("the request", rig.model.wait_until(|counts| counts.begun > asked)).await;
    let session = session(&rig).await;
    rig.gateway.sessions.revert_compaction(rig.me(), session, None).await.unwrap();
    let after = rig_on(rig.memory.restarted()).await;
    after.finished(run).await;
    let (first, again) = (&rig.model.requests()[asked], &after.model.requests()[0]);
    assert!(summary_of(first).unwrap().contains("The old summary."));
    assert_eq!(first.messages, again.messages);
    gate.open();
}

#[tokio::test]
async fn a_reset_ends_a_summary() {
    let rig = rig().await;
    talk(&rig, 0..9).await;
    compact(&rig).await.unwrap();
    let mut afresh = request(by_key(KEY), "a new start");
    afresh.session.reset = palyra_runtime::session::ResetMode::Reset;
    let run = rig.gateway.sessions.submit(rig.me(), afresh).await.unwrap().run;
    rig.finished(run).await;
    let (started, plan) = start_and_plan(&rig, run).await;
    assert_eq!(started.compaction, None);
    assert!(plan.iter().all(|row| row.source != ContextSource::Summary));
    let (started, request, _) = ask(&rig, "next").await;
    assert_eq!((started.compaction, summary_of(&request)), (None, None));
}

#[tokio::test]
async fn there_is_nothing_to_sum_up_in_a_short_session_and_another_principal_has_none() {
    let rig = rig().await;
    talk(&rig, 0..1).await;
    let short = compact(&rig).await;
    assert!(matches!(short, Err(AdminError::SessionTooShort { .. })), "{short:?}");
    let session = session(&rig).await;
    let theirs = rig.gateway.sessions.compact(rig.stranger(), session).await;
    assert!(matches!(theirs, Err(AdminError::SessionNotFound)), "{theirs:?}");
    let theirs = rig.gateway.sessions.compactions(rig.stranger(), session).await;
    assert!(matches!(theirs, Err(AdminError::SessionNotFound)));
}

#[tokio::test]
async fn a_session_whose_window_fills_is_summed_up_by_itself_and_goes_on() {
    let rig = rig().await;
    rig.configure(|config| config.compacts = true);
    rig.model.otherwise(Script::new().text("ok"));
    for number in 0..40 {
        let run = rig.submit(KEY, &filler(number)).await.run;
        let record = rig.finished(run).await;
        assert_eq!(record.state, RunLifecycleState::Done, "{number}");
        settle().await;
    }
    let made = compactions(&rig).await.all;
    assert!(made.len() >= 2, "{}", made.len());
    assert!(made.iter().all(|one| one.made.cause == CompactionCause::Window));
    let (_, request, plan) = ask(&rig, "What was the first run about?").await;
    assert!(summary_of(&request).is_some());
    let dropped: u32 = plan.iter().map(|row| row.dropped).sum();
    assert_eq!(dropped, 0, "nothing is left out: {plan:?}");
}

#[tokio::test]
async fn a_session_that_rests_is_summed_up_by_a_task_of_the_queue() {
    let rig = rig().await;
    rig.configure(|config| config.compacts = true);
    rig.model.otherwise(Script::new().text("ok"));
    for number in 0..22 {
        let input = format!("{} was short. {}", name(number), "Plain words. ".repeat(45));
        let run = rig.submit(KEY, &input).await.run;
        rig.finished(run).await;
    }
    settle().await;
    assert_eq!(compactions(&rig).await.all, [], "the window is not full");
    assert_eq!(queued(&rig).await, []);
    rig.clock.advance(Duration::from_secs(30 * 60));
    let made = soon("a summary", async {
        loop {
            settle().await;
            if let Some(made) = compactions(&rig).await.all.pop() {
                return made;
            }
        }
    });
    assert_eq!(made.await.made.cause, CompactionCause::Idle);
    settle().await;
    assert_eq!(queued(&rig).await, [(TaskKind::Compaction, TaskStage::Done)]);
    rig.clock.advance(Duration::from_secs(60 * 60));
    settle().await;
    assert_eq!(queued(&rig).await.len(), 1, "a rest is summed up once");
}

async fn queued(rig: &Rig) -> Vec<(TaskKind, TaskStage)> {
    let query = TaskQuery { limit: 9, ..TaskQuery::default() };
    let found = rig.gateway.health.queued_tasks(query).await.unwrap();
    found.iter().map(|task| (task.kind, task.stage)).collect()
}

#[tokio::test]
async fn a_request_that_the_provider_refuses_as_too_large_is_made_again_with_a_summary() {
    let rig = rig().await;
    rig.configure(|config| config.compacts = true);
    talk(&rig, 0..6).await;
    settle().await;
    let made_before = compactions(&rig).await.all.len();
    rig.model.push(Script::new().fail(ModelFailureClass::ContextExceeded));
    rig.model.push(Script::new().text(&summary("What was before.")));
    rig.model.push(Script::new().text("with the summary"));
    let asked = rig.model.requests().len();
    let run = rig.submit(KEY, "go on").await.run;
    let record = rig.finished(run).await;
    assert_eq!(record.state, RunLifecycleState::Done);
    let made = compactions(&rig).await.all;
    assert_eq!(made.len(), made_before + 1);
    assert_eq!(made[0].made.cause, CompactionCause::Refused);
    let requests = rig.model.requests();
    assert!(summary_of(&requests[asked]).is_none());
    assert!(summary_of(&requests[asked + 2]).unwrap().contains("What was before."));
    assert_eq!(requests.len(), asked + 3, "it is asked again once");
}

#[tokio::test]
async fn a_summary_that_cannot_be_recorded_is_not_read() {
    let rig = rig().await;
    talk(&rig, 0..9).await;
    rig.faults.refuse(Refusal::All(AppendError::DiskFull));
    let refused = compact(&rig).await;
    assert!(matches!(refused, Err(AdminError::Append(_))), "{refused:?}");
    rig.faults.mend();
    assert_eq!(compactions(&rig).await.all.len(), 0);
    assert!(summary_of(&ask(&rig, "go on").await.1).is_none());
    assert!(compact(&rig).await.is_ok(), "it can be asked for again");
}
