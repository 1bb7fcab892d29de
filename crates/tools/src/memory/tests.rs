//! The tools of memory over a memory that notes what it is asked.

use std::path::Path;
use std::sync::Mutex;

use futures::future::ready;
use palyra_ports::search_memories::{FoundSession, MemoryDraft, RunPart, ShownEntry, ShownRun, WantedRun};
use palyra_ports::{Supervision, ToolRuntime};
use palyra_testkit::grants::{GrantRequest, grant_for};
use palyra_types::memory::{MemoryAuthor, MemoryRecord, MemorySaved, MemoryScope};
use palyra_types::run::RunLifecycleState;
use palyra_types::surface::Surface;
use palyra_types::tool::{EffectContract, RawToolOutcome, Taints};
use palyra_types::{Content, MemoryId, PrincipalId, RunId, Seq, SessionId, TapeSeq, Timestamp};

use super::*;

const ROOT: &str = "/work";

fn record(number: u128, text: &'static str, taints: Taints) -> MemoryRecord {
    MemoryRecord {
        saved: MemorySaved {
            memory: MemoryId::from_parts(1, number),
            scope: MemoryScope::Principal,
            author: MemoryAuthor::Person,
            via: Surface::LocalSocket,
            source: None,
            taints,
            expires: None,
            supersedes: None,
            text: text.into(),
        },
        principal: PrincipalId::from_parts(1, 1),
        seq: Seq(1),
        created: Timestamp(0),
        superseded_by: None,
        forgotten: None,
    }
}

/// Answers with fixed items, and notes each request.
#[derive(Default)]
struct NotedMemory {
    found: Vec<MemoryRecord>,
    noted: Mutex<Vec<String>>,
}

impl NotedMemory {
    fn note(&self, call: &MemoryCall, request: &str) {
        let noted = format!("{} {} {request}", call.principal, call.root.display());
        self.noted.lock().unwrap().push(noted);
    }

    fn noted(&self) -> Vec<String> {
        self.noted.lock().unwrap().clone()
    }
}

impl UseMemories for NotedMemory {
    fn search(
        &self,
        call: MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<MemoryRecord>, MemoryRefusal>> {
        self.note(&call, &format!("search {} {limit}", text.expose()));
        ready(Ok(self.found.clone())).boxed()
    }

    fn save(
        &self,
        call: MemoryCall,
        draft: MemoryDraft,
    ) -> BoxFuture<'static, Result<MemoryRecord, MemoryRefusal>> {
        let MemoryDraft { text, reach, lifetime, replaces } = draft;
        self.note(&call, &format!("save {} {reach:?} {lifetime:?} {replaces:?}", text.expose()));
        let full = MemoryRefusal { code: ErrorCode::InvalidArgument, message: "full".to_owned() };
        ready(if text.expose() == "too much" { Err(full) } else { Ok(record(7, "kept", Taints::NONE)) })
            .boxed()
    }

    fn forget(
        &self,
        call: MemoryCall,
        memory: MemoryId,
    ) -> BoxFuture<'static, Result<MemoryRecord, MemoryRefusal>> {
        self.note(&call, &format!("forget {memory}"));
        ready(Ok(record(7, "gone", Taints::NONE))).boxed()
    }

    fn search_sessions(
        &self,
        call: MemoryCall,
        text: Content<String>,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<FoundSession>, MemoryRefusal>> {
        self.note(&call, &format!("sessions {} {limit}", text.expose()));
        let session = FoundSession {
            session: SessionId::from_parts(1, 1),
            title: "The move".into(),
            updated: Timestamp(0),
            first_input: "hello".into(),
            matched: "the flat".into(),
        };
        ready(Ok(vec![session])).boxed()
    }

    fn read_run(
        &self,
        call: MemoryCall,
        wanted: WantedRun,
    ) -> BoxFuture<'static, Result<ShownRun, MemoryRefusal>> {
        self.note(&call, &format!("read {} {:?} {:?}", wanted.name, wanted.from, wanted.to));
        let entry = ShownEntry { tape_seq: TapeSeq(1), part: RunPart::Input, text: "hello".into() };
        let run = ShownRun {
            run: RunId::from_parts(1, 1),
            session: SessionId::from_parts(1, 1),
            created: Timestamp(0),
            state: RunLifecycleState::InProgress,
            last: TapeSeq(2),
            entries: vec![entry],
            taints: Taints::WEB,
        };
        let missing = MemoryRefusal { code: ErrorCode::RunNotFound, message: "no such run".to_owned() };
        ready(if wanted.name == "last" { Ok(run) } else { Err(missing) }).boxed()
    }
}

async fn called(memory: &Arc<NotedMemory>, tool: &str, arguments: &str) -> RawToolOutcome {
    let tools = MemoryTools::new();
    tools.access().give(Arc::clone(memory) as _);
    let contract = if tool == "memory_write" { EffectContract::Local } else { EffectContract::Pure };
    let grant = GrantRequest::new(tool, arguments, Path::new(ROOT)).contract(contract).grant();
    tools.tools().execute(grant, Supervision::default()).await.unwrap()
}

#[tokio::test]
async fn a_search_shows_items_with_what_they_come_from_and_brings_it() {
    let found = vec![
        record(1, "likes tea", Taints::NONE),
        record(2, "said by a page", Taints::WEB),
        record(3, "said by a file", Taints::WORKSPACE),
    ];
    let memory = Arc::new(NotedMemory { found, ..NotedMemory::default() });
    let outcome = called(&memory, "memory_search", r#"{"query": "tea", "limit": 2}"#).await;
    assert_eq!(outcome.taints, Taints::WEB.with(Taints::WORKSPACE));
    let text = outcome.output.expose();
    assert!(text.starts_with("3 items\n"), "{text}");
    assert!(text.contains("learned after reading: web: said by a page"), "{text}");
    let owner = grant_for("memory_search", "{}", Path::new(ROOT)).principal();
    assert_eq!(memory.noted(), [format!("{owner} /work search tea 2")]);

    let nothing = Arc::new(NotedMemory::default());
    let outcome = called(&nothing, "memory_search", "{}").await;
    assert_eq!(outcome.taints, Taints::NONE);
    assert_eq!(outcome.output.expose(), "nothing is remembered about this");
}

#[tokio::test]
async fn a_write_saves_or_forgets_and_never_both() {
    let memory = Arc::new(NotedMemory::default());
    let id = MemoryId::from_parts(1, 5);
    let cases = [
        (r#"{"text": "likes tea"}"#.to_owned(), Some("save likes tea Everywhere None None".to_owned())),
        (
            format!(r#"{{"text": "x", "holds": "folder", "days": 2, "replaces": "{id}"}}"#),
            Some(format!("save x Folder Some(172800s) Some({id:?})")),
        ),
        (r#"{"text": "x", "holds": "conversation"}"#.to_owned(), Some("save x Session None None".to_owned())),
        (format!(r#"{{"forget": "{id}"}}"#), Some(format!("forget {id}"))),
        (format!(r#"{{"text": "x", "forget": "{id}"}}"#), None),
        ("{}".to_owned(), None),
        (r#"{"forget": "the one about tea"}"#.to_owned(), None),
        (r#"{"text": "x", "principal": "another person"}"#.to_owned(), None),
    ];
    for (arguments, expected) in cases {
        let before = memory.noted().len();
        let outcome = called(&memory, "memory_write", &arguments).await;
        let noted = memory.noted().split_off(before);
        assert_eq!(outcome.failure.is_none(), expected.is_some(), "{arguments}");
        assert_eq!(noted.len(), usize::from(expected.is_some()), "{arguments}");
        for (noted, expected) in noted.iter().zip(expected) {
            assert!(noted.ends_with(&format!(" /work {expected}")), "{noted}");
        }
    }
    let refused = called(&memory, "memory_write", r#"{"text": "too much"}"#).await;
    assert_eq!(
        (refused.failure, refused.output.expose().as_str()),
        (Some(ErrorCode::InvalidArgument), "full")
    );
}

#[tokio::test]
async fn a_conversation_is_shown_with_its_title_and_what_was_said() {
    let memory = Arc::new(NotedMemory::default());
    let outcome = called(&memory, "session_search", r#"{"query": "flat"}"#).await;
    let id = SessionId::from_parts(1, 1);
    let expected = format!("1 conversation\n{id} last used 1970-01-01 \"The move\": hello ... the flat");
    assert_eq!(outcome.output.expose(), &expected);
}

#[tokio::test]
async fn a_call_waits_for_the_memory() {
    let tools = MemoryTools::new();
    let grant = grant_for("memory_search", "{}", Path::new(ROOT));
    let call = tools.tools().execute(grant, Supervision::default());
    let mut call = std::pin::pin!(call);
    assert!(futures::poll!(&mut call).is_pending());
    tools.access().give(Arc::new(NotedMemory::default()));
    assert_eq!(call.await.unwrap().failure, None);
}

#[test]
fn every_argument_says_what_it_names() {
    for tool in &TOOLS {
        let spec = (tool.spec)();
        let undeclared = palyra_types::argument_meaning::undeclared_properties(&spec.schema);
        assert_eq!(undeclared, [""; 0], "{}", spec.name);
    }
}

#[tokio::test]
async fn a_run_that_is_read_brings_its_labels_and_its_person_comes_from_the_grant() {
    let memory = Arc::new(NotedMemory::default());
    let outcome = called(&memory, "read_run", r#"{"run":"last","from":2,"to":5}"#).await;
    assert_eq!(outcome.taints, Taints::WEB);
    let shown = outcome.output.expose();
    assert!(shown.contains(", 2 entries, not over yet\n1 the person said: hello"), "{shown}");
    let [noted] = &memory.noted()[..] else { panic!("one call") };
    assert!(noted.ends_with(" read last Some(2) Some(5)"), "{noted}");
    let unknown = called(&memory, "read_run", r#"{"run":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#).await;
    assert_eq!(unknown.failure, Some(ErrorCode::RunNotFound));
    for range in [r#"{"run":"last","from":5,"to":2}"#, r#"{"run":"last","from":0}"#] {
        let refused = called(&memory, "read_run", range).await;
        assert_eq!(refused.failure, Some(ErrorCode::ToolArgumentsInvalid), "{range}");
    }
    assert_eq!(memory.noted().len(), 2);
}
