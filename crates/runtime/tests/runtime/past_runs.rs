//! Runs that are read by a tool of another run: which, for whom, how much of them, and what comes of their labels.

use palyra_ports::NewEntry;
use palyra_ports::search_memories::{MemoryCall, MemoryRefusal, RunPart, ShownRun, UseMemories, WantedRun};
use palyra_runtime::Caller;
use palyra_runtime::session::SubmitReceipt;
use palyra_testkit::Script;
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent};
use palyra_types::run::RunLifecycleState;
use palyra_types::tool::Taints;
use palyra_types::{EffectId, ErrorCode, RunId, SessionId, TapeSeq};

use crate::rig::{Rig, append, by_key, follow_to_end, request};

/// A call of a run that is not recorded, as a preview makes it.
fn call_of(caller: Caller) -> MemoryCall {
    MemoryCall {
        principal: caller.actor.principal,
        session: SessionId::from_parts(8, 8),
        run: RunId::from_parts(8, 9),
        effect: EffectId(1),
        root: "/home".into(),
        taints: Taints::NONE,
    }
}

async fn read(rig: &Rig, call: MemoryCall, name: &str) -> Result<ShownRun, MemoryRefusal> {
    let wanted = WantedRun { name: name.to_owned(), from: None, to: None };
    UseMemories::read_run(&rig.gateway.admin.memories.clone(), call, wanted).await
}

async fn asked(rig: &Rig, key: &str, text: &str, answer: &str) -> RunId {
    rig.model.push(Script::new().text(answer));
    let run = rig.submit(key, text).await.run;
    assert_eq!(rig.finished(run).await.state, RunLifecycleState::Done);
    run
}

fn said(read: &ShownRun) -> Vec<(RunPart, &str)> {
    read.entries.iter().map(|entry| (entry.part, entry.text.expose().as_str())).collect()
}

#[tokio::test]
async fn a_run_is_found_by_its_id_a_part_of_it_and_as_the_last_one() {
    let rig = Rig::start().await;
    let first = asked(&rig, "a", "where is the boat?", "on the lake").await;
    let second = asked(&rig, "b", "and the oar?", "in the shed").await;
    let id = first.to_string();
    let expected = [(RunPart::Input, "where is the boat?"), (RunPart::Answer, "on the lake")];
    for name in [id.as_str(), &id[20..], "last~1"] {
        let found = read(&rig, call_of(rig.me()), name).await.unwrap();
        assert_eq!((found.run, said(&found)), (first, expected.to_vec()), "{name}");
    }
    let call = call_of(rig.me());
    assert_eq!(read(&rig, call.clone(), "last").await.unwrap().run, second);
    // A run that is recorded reads what came before it, and not itself.
    let own = MemoryCall { run: second, ..call };
    assert_eq!(read(&rig, own.clone(), "last").await.unwrap().run, first);
    let itself = read(&rig, own, &second.to_string()).await.unwrap_err();
    assert_eq!(itself.code, ErrorCode::InvalidArgument);
    let input_alone = WantedRun { name: id, from: Some(1), to: Some(1) };
    let memories = rig.gateway.admin.memories.clone();
    let part = UseMemories::read_run(&memories, call_of(rig.me()), input_alone).await.unwrap();
    assert_eq!(said(&part), [(RunPart::Input, "where is the boat?")]);
}

#[tokio::test]
async fn a_run_of_another_person_and_one_that_was_erased_do_not_exist() {
    let rig = Rig::start().await;
    let mine = asked(&rig, "a", "my canary is heron", "noted").await;
    rig.model.push(Script::new().text("noted"));
    let of_stranger = request(by_key("k"), "my canary is bittern");
    let submitted = rig.gateway.sessions.submit_followed(rig.stranger(), of_stranger).await.unwrap();
    let (SubmitReceipt { run: theirs, .. }, Some(follower)) = submitted else { panic!("it begins") };
    follow_to_end(follower).await;
    for (caller, own, other) in [(rig.me(), mine, theirs), (rig.stranger(), theirs, mine)] {
        for name in [other.to_string(), RunId::from_parts(5, 5).to_string()] {
            let refused = read(&rig, call_of(caller), &name).await.unwrap_err();
            let expected = MemoryRefusal { code: ErrorCode::RunNotFound, message: "no such run".to_owned() };
            assert_eq!(refused, expected);
        }
        assert_eq!(read(&rig, call_of(caller), "last").await.unwrap().run, own);
        let beyond = read(&rig, call_of(caller), "last~1").await.unwrap_err();
        assert_eq!(beyond.code, ErrorCode::RunNotFound);
    }
    let started = rig.tape(mine).await[0].seq;
    rig.memory.erase(started);
    for name in [mine.to_string(), "last".to_owned()] {
        let erased = read(&rig, call_of(rig.me()), &name).await.unwrap_err();
        assert_eq!((erased.code, erased.message.as_str()), (ErrorCode::RunNotFound, "no such run"));
    }
}

#[tokio::test]
async fn the_labels_of_the_whole_run_come_along_with_a_part_of_it() {
    let rig = Rig::start().await;
    let plain = asked(&rig, "a", "hello", "hello").await;
    let record = rig.record(plain).await;
    assert_eq!(read(&rig, call_of(rig.me()), "last").await.unwrap().taints, Taints::NONE);
    // A run whose conversation had read a page.
    let labelled = rig.tape(plain).await[0].clone();
    let TapeEvent::Run(RunEvent::Started(mut started)) = labelled.event else {
        panic!("a start comes first")
    };
    started.taints = Taints::WEB;
    let run = RunId::from_parts(3, 3);
    let entry = NewEntry {
        time: labelled.time,
        principal: record.principal,
        session: Some(record.session),
        run: Some((run, TapeSeq(1))),
        event: JournalEvent::Tape(RunEvent::Started(started).into()),
    };
    append(&rig.memory, entry).await;
    let wanted = WantedRun { name: run.to_string(), from: Some(5), to: None };
    let memories = rig.gateway.admin.memories.clone();
    let part = UseMemories::read_run(&memories, call_of(rig.me()), wanted).await.unwrap();
    assert_eq!((part.taints, part.entries.len(), part.state), (Taints::WEB, 0, RunLifecycleState::Pending));
}
