//! Items of memory in the requests of runs: what is recalled, for whom, where it is in a request, and what comes of its labels.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use palyra_admin::agents::AgentChange;
use palyra_admin::memories::{MemoryFilter, NewMemory};
use palyra_memory::MemoryIndexes;
use palyra_ports::ErasureSubject;
use palyra_ports::search_memories::{
    MemoryCall, MemoryDraft, MemoryRanking, MemoryReach, SearchMemories, UseMemories,
};
use palyra_runtime::Caller;
use palyra_runtime::session::SessionChange;
use palyra_testkit::{Gate, Script};
use palyra_types::event::{ContextSource, ModelEvent, PlannedSource, RunEvent, RunStarted, TapeEvent};
use palyra_types::memory::MemoryRecord;
use palyra_types::model::{ChatMessage, ModelRequest};
use palyra_types::proof::ErasureReason;
use palyra_types::recall::{RecallLevel, RecallSwitch};
use palyra_types::tool::Taints;
use palyra_types::{Content, EffectId, MemoryId, RunId, SessionId};

use crate::rig::{Parts, Rig, settle, soon};

const ITEM: &str = "My daughter is allergic to peanuts.";
const QUESTION: &str = "What is my daughter allergic to?";

/// What a run was given and what its first request had.
struct AskedRun {
    run: RunId,
    started: RunStarted,
    request: Arc<ModelRequest>,
    /// The row of memory in the plan.
    planned: Option<PlannedSource>,
}

impl AskedRun {
    /// Returns the messages before the last one of the first request.
    fn messages_before_input(&self) -> Vec<String> {
        let texts = self.request.messages.iter().map(|message| match message {
            ChatMessage::User { text, .. }
            | ChatMessage::Assistant { text, .. }
            | ChatMessage::ToolResult { text, .. } => text.expose().clone(),
        });
        let mut texts: Vec<String> = texts.collect();
        texts.pop();
        texts
    }
}

/// A daemon that recalls, which is not its default.
async fn rig() -> Rig {
    let rig = Parts { memories: Arc::new(MemoryIndexes::default()), ..Parts::new() }.start().await;
    rig.configure(|config| config.recalls_memory = true);
    rig
}

async fn ask(rig: &Rig, key: &str, text: &str) -> AskedRun {
    let before = rig.model.requests().len();
    let run = rig.submit(key, text).await.run;
    rig.finished(run).await;
    let request = Arc::clone(&rig.model.requests()[before]);
    let tape = rig.tape(run).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else { panic!("a start comes first") };
    let planned = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => {
            requested.context.sources.iter().find(|row| row.source == ContextSource::Memory).copied()
        }
        _ => None,
    });
    AskedRun { run, started: started.clone(), request, planned }
}

async fn save(rig: &Rig, caller: Caller, text: &str) -> MemoryRecord {
    let new = NewMemory { text: text.into(), scope: MemoryFilter::All, lifetime: None, replaces: None };
    rig.gateway.admin.memories.save(caller, new).await.unwrap()
}

fn assert_nothing_recalled(asked: &AskedRun) {
    assert!(asked.started.recalled.is_empty(), "{:?}", asked.started.recalled.len());
    assert_eq!(asked.planned, None);
    let shown = asked.messages_before_input();
    assert!(shown.iter().all(|text| !text.contains("from=\"memory\"")), "{shown:?}");
}

#[tokio::test]
async fn an_item_is_in_a_data_part_before_the_question_of_a_later_conversation() {
    let rig = rig().await;
    let saved = save(&rig, rig.me(), ITEM).await;
    save(&rig, rig.me(), "Deploys are on Fridays.").await;
    let asked = ask(&rig, "later", QUESTION).await;
    let [shown] = &asked.messages_before_input()[..] else { panic!("one item") };
    let (line, part) = shown.split_once('\n').unwrap();
    assert!(line.contains("read it as data"), "{line}");
    assert!(part.starts_with("<data-") && part.contains(" from=\"memory\">\n"), "{part}");
    let day = part.contains(&format!("\n{}, saved ", saved.saved.memory));
    assert!(day && part.contains(&format!(":\n{ITEM}\n</data-")), "{part}");
    let [recalled] = &asked.started.recalled[..] else { panic!("it is recorded") };
    assert_eq!((recalled.memory, recalled.text.expose().as_str()), (saved.saved.memory, ITEM));
    let planned = asked.planned.unwrap();
    assert_eq!((planned.kept, planned.dropped), (1, 0));
    assert_eq!(asked.started.taints, Taints::NONE);
    let other = ask(&rig, "other", "What is the height of the Eiffel Tower?").await;
    assert_nothing_recalled(&other);
}

#[tokio::test]
async fn no_item_of_another_principal_is_recalled() {
    let rig = rig().await;
    save(&rig, rig.stranger(), "My daughter is allergic to canary seed.").await;
    assert_nothing_recalled(&ask(&rig, "k", QUESTION).await);
    save(&rig, rig.me(), ITEM).await;
    let asked = ask(&rig, "k", QUESTION).await;
    assert_eq!(asked.started.recalled.len(), 1);
    assert!(asked.messages_before_input().iter().all(|text| !text.contains("canary")));
}

#[tokio::test]
async fn a_forgotten_item_is_not_recalled() {
    let rig = rig().await;
    let saved = save(&rig, rig.me(), ITEM).await;
    assert_eq!(ask(&rig, "one", QUESTION).await.started.recalled.len(), 1);
    rig.gateway.admin.memories.forget(rig.me(), saved.saved.memory).await.unwrap();
    assert_nothing_recalled(&ask(&rig, "two", QUESTION).await);
    assert_nothing_recalled(&ask(&rig, "one", QUESTION).await);
}

#[tokio::test]
async fn a_run_has_the_labels_of_what_it_is_given_and_so_has_its_conversation() {
    let rig = rig().await;
    let first = ask(&rig, "first", "go").await;
    let record = rig.record(first.run).await;
    let call = MemoryCall {
        principal: record.principal,
        session: record.session,
        run: record.run,
        effect: EffectId(1),
        root: "/home".into(),
        taints: Taints::WEB,
    };
    let memories = rig.gateway.admin.memories.clone();
    let draft =
        MemoryDraft { text: ITEM.into(), reach: MemoryReach::Everywhere, lifetime: None, replaces: None };
    UseMemories::save(&memories, call.clone(), draft.clone()).await.unwrap();
    let asked = ask(&rig, "second", QUESTION).await;
    assert_eq!(asked.started.taints, Taints::WEB);
    // The session hears of the end after those who follow the run. An input that comes before that is accepted without the
    // labels of the run, which count once it begins.
    settle().await;
    let next = ask(&rig, "second", "What is the height of the Eiffel Tower?").await;
    assert!(next.started.recalled.is_empty());
    assert_eq!(next.started.taints, Taints::WEB, "the conversation has read it");
    let secret = MemoryDraft { text: "The height of the Eiffel Tower is 330 metres.".into(), ..draft };
    UseMemories::save(&memories, MemoryCall { taints: Taints::SECRET, ..call }, secret).await.unwrap();
    assert_nothing_recalled(&ask(&rig, "third", "What is the height of the Eiffel Tower?").await);
}

#[tokio::test]
async fn an_item_of_one_conversation_or_folder_is_recalled_there_only() {
    let rig = rig().await;
    let first = ask(&rig, "first", "go").await;
    let record = rig.record(first.run).await;
    let memories = &rig.gateway.admin.memories;
    let folder = MemoryFilter::Folder(Content::new("/else".into()));
    for scope in [MemoryFilter::Session(record.session), folder] {
        let new = NewMemory { text: ITEM.into(), scope, lifetime: None, replaces: None };
        memories.save(rig.me(), new).await.unwrap();
    }
    assert_eq!(ask(&rig, "first", QUESTION).await.started.recalled.len(), 1);
    assert_nothing_recalled(&ask(&rig, "second", QUESTION).await);
}

#[tokio::test]
async fn nothing_is_recalled_where_the_configuration_turns_it_off() {
    let rig = rig().await;
    save(&rig, rig.me(), ITEM).await;
    rig.configure(|config| config.recalls_memory = false);
    assert_nothing_recalled(&ask(&rig, "off", QUESTION).await);
    rig.configure(|config| config.recalls_memory = true);
    assert_eq!(ask(&rig, "on", QUESTION).await.started.recalled.len(), 1);
}

#[tokio::test]
async fn an_item_from_before_a_start_is_recalled() {
    let before = rig().await;
    save(&before, before.me(), ITEM).await;
    let after = before.restarted().await;
    after.configure(|config| config.recalls_memory = true);
    assert_eq!(ask(&after, "k", QUESTION).await.started.recalled.len(), 1);
}

async fn say(rig: &Rig, session: SessionId, recall: Option<RecallSwitch>) {
    let change = SessionChange::SetRecall(recall);
    let record = rig.gateway.sessions.change(rig.me(), session, change).await.unwrap();
    assert_eq!(record.recall, recall);
}

fn recalls(asked: &AskedRun) -> (RecallSwitch, RecallLevel, usize) {
    let setting = asked.started.recall.expect("it is recorded");
    (setting.switch, setting.level, asked.started.recalled.len())
}

#[tokio::test]
async fn a_session_decides_before_its_agent_and_the_agent_before_the_configuration() {
    use RecallLevel::{Agent, Configuration, Session};
    use RecallSwitch::{Off, On};
    let rig = rig().await;
    save(&rig, rig.me(), ITEM).await;
    let first = ask(&rig, "k", QUESTION).await;
    assert_eq!(recalls(&first), (On, Configuration, 1));
    let session = rig.record(first.run).await.session;
    say(&rig, session, Some(Off)).await;
    let off = ask(&rig, "k", QUESTION).await;
    assert_eq!(recalls(&off), (Off, Session, 0));
    assert_nothing_recalled(&off);
    assert_eq!(recalls(&ask(&rig, "other", QUESTION).await), (On, Configuration, 1));
    let agents = &rig.gateway.agents;
    let main = agents.by_name(None).unwrap().id;
    let change = |recall| AgentChange { recall: Some(recall), ..AgentChange::default() };
    agents.update(rig.me(), main, change(Some(Off))).await.unwrap();
    assert_eq!(recalls(&ask(&rig, "other", QUESTION).await), (Off, Agent, 0));
    say(&rig, session, Some(On)).await;
    assert_eq!(recalls(&ask(&rig, "k", QUESTION).await), (On, Session, 1));
    rig.configure(|config| config.recalls_memory = false);
    agents.update(rig.me(), main, change(Some(On))).await.unwrap();
    say(&rig, session, None).await;
    assert_eq!(recalls(&ask(&rig, "k", QUESTION).await), (On, Agent, 1));
    agents.update(rig.me(), main, change(None)).await.unwrap();
    assert_eq!(recalls(&ask(&rig, "k", QUESTION).await), (Off, Configuration, 0));
}

#[tokio::test]
async fn what_a_session_says_holds_after_a_start() {
    let before = rig().await;
    save(&before, before.me(), ITEM).await;
    let session = before.record(ask(&before, "k", QUESTION).await.run).await.session;
    say(&before, session, Some(RecallSwitch::Off)).await;
    let after = before.restarted().await;
    after.configure(|config| config.recalls_memory = true);
    let asked = ask(&after, "k", QUESTION).await;
    assert_eq!(recalls(&asked), (RecallSwitch::Off, RecallLevel::Session, 0));
}

#[tokio::test]
async fn a_run_that_was_accepted_keeps_what_it_was_accepted_with() {
    let rig = rig().await;
    save(&rig, rig.me(), ITEM).await;
    let gate = Gate::closed();
    rig.model.push(Script::new().hold(&gate).text("done"));
    let active = rig.submit("k", QUESTION).await;
    gate.reached().await;
    let queued = rig.submit("k", QUESTION).await;
    say(&rig, active.session, Some(RecallSwitch::Off)).await;
    gate.open();
    for run in [active.run, queued.run] {
        rig.finished(run).await;
        let tape = rig.tape(run).await;
        let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else {
            panic!("a start comes first")
        };
        assert_eq!(started.recalled.len(), 1);
    }
    let shown = rig.model.requests().iter().all(|request| {
        request
            .messages
            .iter()
            .any(|message| matches!(message, ChatMessage::User { text, .. } if text.expose().contains(ITEM)))
    });
    assert!(shown, "both were asked with the item");
    assert_nothing_recalled(&ask(&rig, "k", QUESTION).await);
}

/// A ranking that waits until it may answer.
struct SlowRanking {
    index: MemoryIndexes,
    gate: Gate,
}

impl SearchMemories for SlowRanking {
    fn rank(&self, request: MemoryRanking) -> BoxFuture<'static, Vec<MemoryId>> {
        let (gate, ranked) = (self.gate.clone(), self.index.rank(request));
        async move {
            gate.pass().await;
            ranked.await
        }
        .boxed()
    }
}

#[tokio::test]
async fn what_is_erased_while_a_run_looks_for_items_is_not_given_to_it() {
    let gate = Gate::closed();
    let ranking = SlowRanking { index: MemoryIndexes::default(), gate: gate.clone() };
    let rig = Parts { memories: Arc::new(ranking), ..Parts::new() }.start().await;
    let source = rig.submit("source", "go").await.run;
    let record = rig.finished(source).await;
    let call = MemoryCall {
        principal: record.principal,
        session: record.session,
        run: source,
        effect: EffectId(1),
        root: "/home".into(),
        taints: Taints::NONE,
    };
    let draft =
        MemoryDraft { text: ITEM.into(), reach: MemoryReach::Everywhere, lifetime: None, replaces: None };
    UseMemories::save(&rig.gateway.admin.memories, call, draft).await.unwrap();
    rig.configure(|config| config.recalls_memory = true);
    let submitting = rig.submit("later", QUESTION);
    let erasing = async {
        gate.reached().await;
        let erasures = &rig.gateway.admin.erasures;
        let principal = rig.me().actor.principal;
        let erased = erasures.erase(principal, ErasureSubject::Run(source), ErasureReason::Request).await;
        erased.unwrap();
        gate.open();
    };
    let (receipt, ()) = soon("a run and an erasure", futures::future::join(submitting, erasing)).await;
    rig.finished(receipt.run).await;
    let tape = rig.tape(receipt.run).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else { panic!("a start comes first") };
    assert!(started.recalled.is_empty(), "{:?}", started.recalled[0].text.expose());
}
