//! Memory as callers and the tools of their runs see it: whose it is, limits, ends, erasures.

use std::time::Duration;

use palyra_admin::AdminError;
use palyra_admin::memories::{MEMORY_ITEMS_MAX, MemoryFilter, NewMemory};
use palyra_ports::erase_journal::ErasureSubject;
use palyra_ports::search_memories::{MemoryCall, MemoryDraft, MemoryReach, UseMemories};
use palyra_runtime::Caller;
use palyra_types::event::{JournalEvent, TapeEvent, ToolEvent};
use palyra_types::memory::{ForgetCause, MemoryAuthor, MemoryEvent, MemoryRecord, MemoryScope};
use palyra_types::proof::ErasureReason;
use palyra_types::surface::Surface;
use palyra_types::tool::Taints;
use palyra_types::{Content, EffectId, ErrorCode, MemoryId};

use crate::rig::{Parts, Rig, SECRET, entries_of, settle, soon};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn item(text: &str) -> NewMemory {
    NewMemory { text: text.into(), scope: MemoryFilter::All, lifetime: None, replaces: None }
}

async fn save(rig: &Rig, caller: Caller, text: &str) -> MemoryRecord {
    rig.gateway.admin.memories.save(caller, item(text)).await.unwrap()
}

async fn listed(rig: &Rig, caller: Caller) -> Vec<String> {
    let page = rig.gateway.admin.memories.list(caller, MemoryFilter::All, None, 200).await.unwrap();
    texts(&page.items)
}

async fn found(rig: &Rig, caller: Caller, text: &str) -> Vec<String> {
    let handle = &rig.gateway.admin.memories;
    texts(&handle.search(caller, MemoryFilter::All, text.into(), 200).await.unwrap())
}

fn texts(items: &[MemoryRecord]) -> Vec<String> {
    items.iter().map(|item| item.saved.text.expose().clone()).collect()
}

/// A call of a tool in a run that is over: what the handle takes from its grant.
async fn call(rig: &Rig, taints: Taints) -> MemoryCall {
    let receipt = rig.submit("memory", "go").await;
    let record = rig.finished(receipt.run).await;
    MemoryCall {
        principal: record.principal,
        session: record.session,
        run: record.run,
        effect: EffectId(1),
        root: "/work".into(),
        taints,
    }
}

fn draft(text: &str, reach: MemoryReach) -> MemoryDraft {
    MemoryDraft { text: text.into(), reach, lifetime: None, replaces: None }
}

#[tokio::test]
async fn no_item_of_one_principal_is_in_any_answer_for_another() {
    let rig = Rig::start().await;
    let (me, other) = (rig.me(), rig.stranger());
    let mine = save(&rig, me, "canary-of-me likes tea").await;
    let theirs = save(&rig, other, "canary-of-other likes tea").await;
    for (caller, own, foreign) in
        [(me, "canary-of-me", theirs.saved.memory), (other, "canary-of-other", mine.saved.memory)]
    {
        for answer in [listed(&rig, caller).await, found(&rig, caller, "canary tea").await] {
            assert!(answer.len() == 1 && answer[0].starts_with(own), "{answer:?}");
        }
        let handle = &rig.gateway.admin.memories;
        let forgotten = handle.forget(caller, foreign).await;
        assert!(matches!(forgotten, Err(AdminError::MemoryNotFound)), "{forgotten:?}");
        let replacing = NewMemory { replaces: Some(foreign), ..item("replaced") };
        let replaced = handle.save(caller, replacing).await;
        assert!(matches!(replaced, Err(AdminError::MemoryNotFound)), "{replaced:?}");
    }
    let mut tool = call(&rig, Taints::NONE).await;
    for (principal, own) in [(me.actor.principal, "canary-of-me"), (other.actor.principal, "canary-of-other")]
    {
        tool.principal = principal;
        for text in ["", "canary tea"] {
            let answer = rig.gateway.admin.memories.clone();
            let answer = UseMemories::search(&answer, tool.clone(), text.into(), 50).await.unwrap();
            assert_eq!(answer.len(), 1, "{text}");
            assert!(answer[0].saved.text.expose().starts_with(own), "{text}");
        }
    }
    tool.principal = me.actor.principal;
    let refused = rig.gateway.admin.memories.clone();
    let refused = UseMemories::forget(&refused, tool, theirs.saved.memory).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::MemoryNotFound);
    assert_eq!(listed(&rig, other).await.len(), 1);
}

#[tokio::test]
async fn an_item_is_redacted_saved_once_and_forgotten_at_once() {
    let rig = Rig::start().await;
    let handle = &rig.gateway.admin.memories;
    let saved = save(&rig, rig.me(), &format!("the key is {SECRET}")).await;
    assert!(!saved.saved.text.expose().contains(SECRET));
    assert_eq!((saved.saved.author, saved.saved.source), (MemoryAuthor::Person, None));
    let before = entries_of(&rig.memory).await.len();
    let again = save(&rig, rig.me(), &format!("  the key is {SECRET}\n")).await;
    assert_eq!(again, saved);
    assert_eq!(entries_of(&rig.memory).await.len(), before, "nothing is recorded twice");
    assert_eq!(found(&rig, rig.me(), "key").await.len(), 1);
    for _ in 0..2 {
        let forgotten = handle.forget(rig.me(), saved.saved.memory).await.unwrap();
        assert!(forgotten.forgotten.is_some());
    }
    assert_eq!(entries_of(&rig.memory).await.len(), before + 1);
    assert_eq!((listed(&rig, rig.me()).await, found(&rig, rig.me(), "key").await), (vec![], vec![]));
    let unknown = handle.forget(rig.me(), MemoryId::from_parts(1, 1)).await;
    assert!(matches!(unknown, Err(AdminError::MemoryNotFound)), "{unknown:?}");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_nothing_is_recorded() {
    let rig = Rig::start().await;
    let handle = &rig.gateway.admin.memories;
    let before = entries_of(&rig.memory).await.len();
    let long = "x".repeat(2_001);
    let folder = MemoryFilter::Folder(Content::new("work".into()));
    for refused in [
        item(""),
        item(" \n "),
        item("a\u{1b}[31mb"),
        item(&long),
        NewMemory { lifetime: Some(Duration::ZERO), ..item("x") },
        NewMemory { lifetime: Some(DAY * 3_651), ..item("x") },
        NewMemory { scope: folder, ..item("x") },
    ] {
        let answer = handle.save(rig.me(), refused).await;
        assert!(matches!(answer, Err(AdminError::InvalidArgument { .. })), "{answer:?}");
    }
    let nowhere = MemoryFilter::Session(palyra_types::SessionId::from_parts(1, 1));
    let answer = handle.save(rig.me(), NewMemory { scope: nowhere, ..item("x") }).await;
    assert!(matches!(answer, Err(AdminError::SessionNotFound)), "{answer:?}");
    assert_eq!(entries_of(&rig.memory).await.len(), before);
    for n in 0..MEMORY_ITEMS_MAX {
        save(&rig, rig.me(), &format!("item {n}")).await;
    }
    let too_many = handle.save(rig.me(), item("one more")).await;
    assert!(matches!(too_many, Err(AdminError::InvalidArgument { .. })), "{too_many:?}");
    save(&rig, rig.stranger(), "the limit is each person's own").await;
}

#[tokio::test]
async fn an_item_that_ends_is_used_until_then_and_its_end_is_recorded() {
    let rig = Rig::start().await;
    let handle = &rig.gateway.admin.memories;
    handle.save(rig.me(), NewMemory { lifetime: Some(DAY), ..item("parking level 2") }).await.unwrap();
    rig.clock.advance(DAY - Duration::from_secs(1));
    assert_eq!(listed(&rig, rig.me()).await, ["parking level 2"]);
    settle().await;
    let before = entries_of(&rig.memory).await.len();
    rig.clock.advance(Duration::from_secs(1));
    assert_eq!((listed(&rig, rig.me()).await, found(&rig, rig.me(), "parking").await), (vec![], vec![]));
    settle().await;
    assert_eq!(entries_of(&rig.memory).await.len(), before + 1, "its end");
    save(&rig, rig.me(), "parking level 3").await;
    assert_eq!(entries_of(&rig.memory).await.len(), before + 2);
    assert_eq!(rig.clock.next_deadline(), None, "nothing wakes the daemon");
}

#[tokio::test]
async fn ends_that_come_while_the_daemon_is_away_are_recorded_by_the_next_start() {
    let rig = Rig::start().await;
    let handle = &rig.gateway.admin.memories;
    for number in 0..70 {
        let text = format!("parking level {number}");
        handle.save(rig.me(), NewMemory { lifetime: Some(DAY), ..item(&text) }).await.unwrap();
    }
    handle.save(rig.me(), NewMemory { lifetime: Some(DAY * 9), ..item("holiday") }).await.unwrap();
    let (memory, clock) = (rig.memory.restarted(), rig.clock.clone());
    clock.advance(DAY * 2);
    let before = entries_of(&memory).await.len();
    let rig = Parts { memory, clock, seed: 1_000_003, ..Parts::new() }.start().await;
    settle().await;
    let entries = entries_of(&rig.memory).await;
    let ended = entries[before..].iter().filter(|entry| {
        matches!(&entry.event, JournalEvent::Memory(MemoryEvent::Forgotten { cause: ForgetCause::Ended, .. }))
    });
    assert_eq!(ended.count(), 70);
    assert_eq!(listed(&rig, rig.me()).await, ["holiday"]);
    assert!(rig.clock.next_deadline().is_some(), "the next end is waited for");
}

#[tokio::test]
async fn a_newer_item_supersedes_and_both_are_shown_the_newer_first() {
    let rig = Rig::start().await;
    let old = save(&rig, rig.me(), "drinks tea").await.saved.memory;
    let replacing = NewMemory { replaces: Some(old), ..item("drinks coffee, no tea") };
    let new = rig.gateway.admin.memories.save(rig.me(), replacing).await.unwrap();
    assert_eq!(new.saved.supersedes, Some(old));
    assert_eq!(listed(&rig, rig.me()).await, ["drinks coffee, no tea", "drinks tea"]);
    let all = rig.gateway.admin.memories.search(rig.me(), MemoryFilter::All, "drinks tea".into(), 9).await;
    let all = all.unwrap();
    assert_eq!(texts(&all), ["drinks coffee, no tea", "drinks tea"]);
    assert_eq!(all[1].superseded_by, Some(new.saved.memory));
}

#[tokio::test]
async fn pages_of_a_list_go_on_where_the_one_before_ended() {
    let rig = Rig::start().await;
    for n in 0..5 {
        save(&rig, rig.me(), &format!("item {n}")).await;
    }
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let handle = &rig.gateway.admin.memories;
        let page = handle.list(rig.me(), MemoryFilter::All, before, 2).await.unwrap();
        seen.extend(texts(&page.items));
        let Some(next) = page.next else { break };
        before = Some(next);
    }
    assert_eq!(seen, ["item 4", "item 3", "item 2", "item 1", "item 0"]);
}

/// More rows than are read at once.
#[tokio::test]
async fn a_page_of_a_folder_finds_an_item_behind_many_of_other_places() {
    let rig = Rig::start().await;
    let memory = &rig.gateway.admin.memories;
    let folder = || MemoryFilter::Folder(Content::new("/work".into()));
    let new = NewMemory { text: "in work".into(), scope: folder(), lifetime: None, replaces: None };
    memory.save(rig.me(), new).await.unwrap();
    for n in 0..70 {
        save(&rig, rig.me(), &format!("item {n}")).await;
    }
    let page = memory.list(rig.me(), folder(), None, 1).await.unwrap();
    assert_eq!((texts(&page.items), page.next), (vec!["in work".to_owned()], None));
    let all = memory.list(rig.me(), MemoryFilter::All, None, 70).await.unwrap();
    assert_eq!((all.items.len(), all.next), (70, all.items.last().map(|last| last.seq)));
    let rest = memory.list(rig.me(), MemoryFilter::All, all.next, 70).await.unwrap();
    assert_eq!((texts(&rest.items), rest.next), (vec!["in work".to_owned()], None));
}

#[tokio::test]
async fn an_item_of_a_tool_holds_where_it_says_and_keeps_what_the_run_had_read() {
    let rig = Rig::start().await;
    let tool = call(&rig, Taints::WEB).await;
    let memory = rig.gateway.admin.memories.clone();
    for (text, reach) in [
        ("everywhere", MemoryReach::Everywhere),
        ("here only", MemoryReach::Session),
        ("in work", MemoryReach::Folder),
    ] {
        let saved = UseMemories::save(&memory, tool.clone(), draft(text, reach)).await.unwrap();
        assert_eq!((saved.saved.taints, saved.saved.author), (Taints::WEB, MemoryAuthor::Model));
        assert_eq!(saved.saved.source.map(|source| source.run), Some(tool.run));
        assert_eq!(saved.saved.via, Surface::LocalSocket);
    }
    let found = async |call: MemoryCall| {
        let items = UseMemories::search(&memory, call, Content::default(), 50).await.unwrap();
        texts(&items)
    };
    assert_eq!(found(tool.clone()).await, ["in work", "here only", "everywhere"]);
    let elsewhere = MemoryCall { root: "/work/sub".into(), ..tool.clone() };
    assert_eq!(found(elsewhere).await, ["here only", "everywhere"]);
    let other = palyra_types::SessionId::from_parts(1, 1);
    assert_eq!(found(MemoryCall { session: other, ..tool }).await, ["in work", "everywhere"]);
    let page = memory.list(rig.me(), MemoryFilter::Folder(Content::new("/work".into())), None, 9).await;
    let page = page.unwrap();
    assert!(matches!(page.items[0].saved.scope, MemoryScope::PrincipalRoot(_)));
    assert_eq!(texts(&page.items), ["in work"]);
}

#[tokio::test]
async fn the_erasure_of_a_run_takes_what_was_learned_from_it() {
    let rig = Rig::start().await;
    let tool = call(&rig, Taints::NONE).await;
    let memory = rig.gateway.admin.memories.clone();
    let learned = draft("learned in the run", MemoryReach::Everywhere);
    UseMemories::save(&memory, tool.clone(), learned).await.unwrap();
    save(&rig, rig.me(), "typed by the person").await;
    assert_eq!(listed(&rig, rig.me()).await.len(), 2);
    let erasures = rig.gateway.admin.erasures.clone();
    let subject = ErasureSubject::Run(tool.run);
    soon("the erasure", erasures.erase(rig.me().actor.principal, subject, ErasureReason::Request))
        .await
        .unwrap();
    assert_eq!(listed(&rig, rig.me()).await, ["typed by the person"]);
    let found = UseMemories::search(&memory, tool, "learned".into(), 9).await.unwrap();
    assert_eq!(texts(&found), [""; 0]);
}

#[tokio::test]
async fn a_tool_saves_nothing_of_a_run_whose_content_was_erased_meanwhile() {
    let rig = Rig::start().await;
    let tool = call(&rig, Taints::NONE).await;
    let (me, memories) = (rig.me(), rig.gateway.admin.memories.clone());
    let subject = ErasureSubject::Run(tool.run);
    let erasures = &rig.gateway.admin.erasures;
    erasures.erase(me.actor.principal, subject, ErasureReason::Request).await.unwrap();
    let new = draft("said in the run", MemoryReach::Everywhere);
    let refused = UseMemories::save(&memories, tool, new).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidArgument, "{}", refused.message);
    assert_eq!(listed(&rig, me).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_search_of_conversations_finds_ones_own_by_all_their_words() {
    let rig = Rig::start().await;
    let tool = call(&rig, Taints::NONE).await;
    let run = rig.submit("flat", "the new flat has two rooms").await.run;
    rig.finished(run).await;
    let memory = rig.gateway.admin.memories.clone();
    let first_inputs = async |principal, text: &str| {
        let call = MemoryCall { principal, ..tool.clone() };
        let sessions = memory.search_sessions(call, text.into(), 9).await.unwrap();
        sessions.into_iter().map(|one| one.first_input.expose().clone()).collect::<Vec<_>>()
    };
    let me = rig.me().actor.principal;
    assert_eq!(first_inputs(me, "rooms flat").await, ["the new flat has two rooms"]);
    assert_eq!(first_inputs(me, "rooms garden").await, [""; 0]);
    assert_eq!(first_inputs(rig.stranger().actor.principal, "rooms flat").await, [""; 0]);
}

/// The control of what `call` takes for granted: no scripted run calls a tool here.
#[tokio::test]
async fn an_item_names_the_entry_that_started_its_call_or_else_the_newest_one() {
    let rig = Rig::start().await;
    let tool = call(&rig, Taints::NONE).await;
    let memory = rig.gateway.admin.memories.clone();
    let item = draft("x", MemoryReach::Everywhere);
    let saved = UseMemories::save(&memory, tool.clone(), item).await.unwrap();
    let tape = rig.tape(tool.run).await;
    let started = tape.iter().find(|entry| matches!(&entry.event, TapeEvent::Tool(ToolEvent::Started(_))));
    let expected = started.or(tape.last()).map(|entry| entry.tape_seq);
    assert_eq!(saved.saved.source.map(|source| source.tape_seq), expected);
}
