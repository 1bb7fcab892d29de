//! Erasing: runs end first, nothing remembered is shown again, and the house goes on.

use palyra_admin::access::TokenRequest;
use palyra_admin::erasure::{EraseContentError, ErasedContent};
use palyra_ports::{EraseError, ErasureSubject};
use palyra_runtime::tape::TapeFollowEvent;
use palyra_testkit::scripted_tools::LOOK;
use palyra_testkit::{Gate, Script};
use palyra_types::access::LOCAL_PRINCIPAL_NAME;
use palyra_types::event::{AgentEvent, ModelEvent, TapeEvent};
use palyra_types::proof::{ErasureReason, SeqRange};
use palyra_types::run::RunLifecycleState;
use palyra_types::session::SessionRef;
use palyra_types::tape::ContentState;
use palyra_types::{RunId, Seq, TapeSeq};

use crate::history::shown;
use crate::rig::{Rig, soon};
use crate::waiting::a_waiting_run;

async fn erase(rig: &Rig, subject: ErasureSubject) -> Result<ErasedContent, EraseContentError> {
    let erasures = rig.gateway.admin.erasures.clone();
    let erasing = erasures.erase(rig.me().actor.principal, subject, ErasureReason::Request);
    soon("the end of an erasure", erasing).await
}

#[tokio::test]
async fn an_erased_run_is_a_tombstone_for_whoever_comes_later() {
    let rig = Rig::start().await;
    rig.model.push(Script::new().text("the secret answer").call(LOOK, "{}"));
    let first = rig.submit("k", "the secret question").await.run;
    rig.finished(first).await;
    let second = rig.submit("k", "second").await.run;
    rig.finished(second).await;
    let erased = erase(&rig, ErasureSubject::Run(first)).await.unwrap();
    assert!(erased.receipt.erased >= 4 && erased.cancelled.is_empty(), "{erased:?}");
    let third = rig.submit("k", "third").await.run;
    rig.finished(third).await;
    let expected = [
        "user (this message was erased)",
        "model  +1",
        "result ",
        "user second",
        "model ok +0",
        "user third",
    ];
    assert_eq!(shown(&rig), expected, "the session was at work all the time");
    let rig = rig.restarted().await;
    let fourth = rig.submit("k", "fourth").await.run;
    rig.finished(fourth).await;
    assert_eq!(shown(&rig)[..5], expected[..5]);
    let tape = rig.tape(first).await;
    assert!(tape.iter().any(|entry| entry.content == ContentState::Erased));
    assert_eq!(tape.last().unwrap().tape_seq.0 as usize, tape.len());
}

#[tokio::test]
async fn a_run_at_work_is_cancelled_and_its_end_awaited() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("begun").hold(&gate));
    let run = rig.submit("k", "first").await.run;
    rig.until(run, "its text", |event| matches!(event, TapeEvent::Model(ModelEvent::Text { .. }))).await;
    let waiting = rig.submit("k", "second").await.run;
    let session = rig.record(run).await.session;
    let session = SessionRef { principal: rig.me().actor.principal, id: session };
    let mut erased = erase(&rig, ErasureSubject::Session(session)).await.unwrap();
    erased.cancelled.sort();
    let mut both = vec![run, waiting];
    both.sort();
    assert_eq!(erased.cancelled, both);
    for run in both {
        assert_eq!(rig.record(run).await.state, RunLifecycleState::Cancelled);
        assert_eq!(rig.record(run).await.input_preview.expose(), "");
    }
    let third = rig.submit("k2", "third").await.run;
    rig.finished(third).await;
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_is_ended_too() {
    let rig = Rig::start().await;
    let run = a_waiting_run(&rig, "k").await;
    let erased = erase(&rig, ErasureSubject::Run(run)).await.unwrap();
    assert_eq!(erased.cancelled, [run]);
    assert!(rig.record(run).await.state.is_terminal());
}

#[tokio::test]
async fn followers_go_on_with_what_is_left() {
    let rig = Rig::start().await;
    let gate = Gate::closed();
    rig.model.push(Script::new().text("begun").hold(&gate));
    let run = rig.submit("k", "first").await.run;
    let mut follower = rig.follow(run, 0).await;
    let other = rig.submit("other", "something else").await.run;
    rig.finished(other).await;
    erase(&rig, ErasureSubject::Run(other)).await.unwrap();
    gate.open();
    let mut seen = Vec::new();
    while let Some(followed) = soon("the rest", follower.next()).await.unwrap() {
        if let TapeFollowEvent::Entry(entry) = followed {
            seen.push(entry.tape_seq);
        }
    }
    let whole: Vec<TapeSeq> = rig.tape(run).await.iter().map(|entry| entry.tape_seq).collect();
    assert_eq!(seen, whole);
}

#[tokio::test]
async fn the_owner_and_the_agent_keep_their_places_when_their_names_are_erased() {
    let rig = Rig::start().await;
    let me = rig.me().actor.principal;
    let (token, text) = rig
        .gateway
        .admin
        .access
        .create_token(rig.me(), TokenRequest::program("ann", "laptop", std::time::Duration::from_secs(3_600)))
        .await
        .unwrap();
    let run = rig.submit("k", "first").await.run;
    rig.finished(run).await;
    let agent = rig.gateway.agents.by_name(None).unwrap().id;
    let all = ErasureSubject::Range(SeqRange { first: Seq(0), last: Seq(1_000) });
    erase(&rig, all).await.unwrap();
    let known = rig.gateway.admin.access.known();
    assert_eq!((rig.me().actor.principal, known.name_of(me)), (me, Some(LOCAL_PRINCIPAL_NAME)));
    assert_eq!(known.name_of(token.principal), Some(""));
    assert_eq!(
        rig.gateway.admin.access.authenticate(text.expose()).map(|credential| credential.principal),
        Some(token.principal),
        "a token still opens"
    );
    assert_eq!(rig.gateway.agents.by_name(None).unwrap().id, agent);
    let rig = rig.restarted().await;
    assert_eq!((rig.me().actor.principal, rig.gateway.admin.access.known().principals.len()), (me, 2));
    assert_eq!(rig.gateway.agents.by_name(None).unwrap().id, agent);
    let session = rig.record(run).await.session;
    let next = rig.try_submit(crate::rig::by_id(session), "second").await.unwrap().run;
    rig.finished(next).await;
}

#[tokio::test]
async fn a_start_gives_names_back_that_an_erasure_took_before_it_was_cut_off() {
    let rig = Rig::start().await;
    let me = rig.me().actor.principal;
    let run = rig.submit("k", "first").await.run;
    rig.finished(run).await;
    let agent = rig.gateway.agents.by_name(None).unwrap().id;
    (0..6).for_each(|seq| rig.memory.erase(Seq(seq)));
    let rig = rig.restarted().await;
    assert_eq!((rig.me().actor.principal, rig.gateway.admin.access.known().principals.len()), (me, 1));
    assert_eq!(rig.gateway.agents.by_name(None).unwrap().id, agent);
    assert_eq!(rig.record(run).await.principal, me);
}

#[tokio::test]
async fn an_agent_whose_profile_is_gone_may_use_no_tool() {
    use palyra_types::AgentId;
    use palyra_types::agent::AgentProfile;
    use palyra_types::event::JournalEvent;
    let rig = Rig::start().await;
    let agent = AgentId::from_parts(5, 5);
    let profile = AgentProfile {
        name: "careful".into(),
        instructions: "be careful".into(),
        tools: Some(Vec::new()),
        ..AgentProfile::default()
    };
    let event = JournalEvent::Agent(AgentEvent::Saved { agent, profile });
    let (time, principal) = (palyra_types::Timestamp(1), rig.me().actor.principal);
    let saved = palyra_ports::NewEntry { time, principal, session: None, run: None, event };
    crate::rig::append(&rig.memory, saved).await;
    let last = crate::rig::entries_of(&rig.memory).await.len() as u64 - 1;
    rig.memory.erase(Seq(last));
    let rig = rig.restarted().await;
    let kept = rig.gateway.agents.by_id(agent).unwrap();
    assert_eq!(kept.profile.tools, Some(Vec::new()));
    assert!(rig.gateway.agents.by_name(Some("careful")).is_err());
}

#[tokio::test]
async fn nothing_to_erase_is_said() {
    let rig = Rig::start().await;
    let unknown = ErasureSubject::Run(RunId::from_parts(3, 3));
    let refused = erase(&rig, unknown).await;
    assert!(matches!(refused, Err(EraseContentError::Erase(EraseError::Nothing))), "{refused:?}");
}
