//! What is learned from finished runs: when, what the next request has of it, taking it back, and erasures.

use std::sync::Arc;
use std::time::Duration;

use palyra_admin::memories::learned::{CandidateReview, ReviewAct};
use palyra_background::queue::TaskQuery;
use palyra_learning::LearningRuntimeConfig;
use palyra_memory::MemoryIndexes;
use palyra_ports::ErasureSubject;
use palyra_testkit::Script;
use palyra_types::Content;
use palyra_types::event::{ContextSource, ModelEvent, RunEvent, TapeEvent};
use palyra_types::learning::{
    CandidateAuthor, CandidateKind, CandidateRecord, CandidateState, CitedEntry, HoldReason,
};
use palyra_types::model::{ChatMessage, ModelRequest};
use palyra_types::proof::ErasureReason;
use palyra_types::queued_task::{TaskKind, TaskStage};
use palyra_types::{RunId, TapeSeq};

use crate::rig::{Parts, Rig, settle, soon};

const SAID: &str = "From now on keep answers short.";
const COOLDOWN: Duration = Duration::from_secs(5 * 60);

async fn rig() -> Rig {
    let rig = Parts { memories: Arc::new(MemoryIndexes::default()), ..Parts::new() }.start().await;
    rig.configure(|config| config.learning = LearningRuntimeConfig::default());
    rig.model.otherwise(Script::new().text("ok"));
    rig
}

async fn say(rig: &Rig, key: &str, text: &str) -> RunId {
    let run = rig.submit(key, text).await.run;
    rig.finished(run).await;
    settle().await;
    run
}

/// Lets the cooldown pass; returns what was learned once no task waits any more.
async fn reflect(rig: &Rig) -> Vec<CandidateRecord> {
    let before = queued(rig).await.len();
    rig.clock.advance(COOLDOWN);
    let rested = soon("the end of the reflection", async {
        loop {
            let tasks = queued(rig).await;
            let is_open = |stage: &TaskStage| matches!(stage, TaskStage::Waiting | TaskStage::Leased);
            if tasks.len() > before && !tasks.iter().any(|(_, stage)| is_open(stage)) {
                break;
            }
            settle().await;
        }
    });
    rested.await;
    candidates(rig).await
}

async fn candidates(rig: &Rig) -> Vec<CandidateRecord> {
    rig.gateway.admin.memories.candidates(rig.me()).await.unwrap()
}

async fn queued(rig: &Rig) -> Vec<(TaskKind, TaskStage)> {
    let query = TaskQuery { limit: 50, ..TaskQuery::default() };
    let found = rig.gateway.health.queued_tasks(query).await.unwrap();
    found.iter().map(|task| (task.kind, task.stage)).collect()
}

async fn review(rig: &Rig, candidate: &CandidateRecord, act: ReviewAct) -> CandidateRecord {
    let review = CandidateReview { candidate: candidate.proposed.candidate, act, text: None };
    rig.gateway.admin.memories.review(rig.me(), review).await.unwrap()
}

/// Returns the system text and the messages of the first request of a new session; of its input all but the time.
async fn request_of(rig: &Rig, key: &str) -> Vec<String> {
    let before = rig.model.requests().len();
    say(rig, key, "hello").await;
    let request: Arc<ModelRequest> = Arc::clone(&rig.model.requests()[before]);
    let mut texts = vec![request.system.expose().clone()];
    texts.extend(request.messages.iter().map(|message| match message {
        ChatMessage::User { text, .. }
        | ChatMessage::Assistant { text, .. }
        | ChatMessage::ToolResult { text, .. } => text.expose().clone(),
    }));
    let input = texts.pop().unwrap();
    texts.extend(input.split_once('\n').map(|(_, said)| said.to_owned()));
    texts
}

async fn preferences_planned(rig: &Rig, run: RunId) -> u32 {
    let tape = rig.tape(run).await;
    let planned = tape.iter().find_map(|entry| match &entry.event {
        TapeEvent::Model(ModelEvent::Requested(requested)) => {
            let mut sources = requested.context.sources.iter();
            sources.find(|row| row.source == ContextSource::Preferences).map(|row| row.kept)
        }
        _ => None,
    });
    planned.unwrap_or_default()
}

#[tokio::test]
async fn a_preference_is_in_the_next_request_and_an_undo_restores_the_former_one_byte_for_byte() {
    let rig = rig().await;
    let former = request_of(&rig, "before").await;
    let run = say(&rig, "talk", SAID).await;
    let learned = reflect(&rig).await;
    let [preference] = &learned[..] else { panic!("one candidate: {learned:?}") };
    assert_eq!(preference.proposed.kind, CandidateKind::Preference);
    assert_eq!(
        (preference.state, preference.proposed.author),
        (CandidateState::Applied, CandidateAuthor::Rules)
    );
    assert_eq!(preference.proposed.evidence, [CitedEntry { run, tape_seq: TapeSeq(1) }]);
    let evidence = rig.gateway.admin.memories.evidence(preference).await.unwrap();
    assert_eq!(evidence[0].text.expose(), SAID);
    let with = request_of(&rig, "with").await;
    assert_eq!(with.len(), former.len() + 1);
    assert!(with[1].contains("keep answers short") && with[1].contains(" from=\"preference\">"), "{with:?}");
    let run = say(&rig, "planned", "hello").await;
    assert_eq!(preferences_planned(&rig, run).await, 1);
    let undone = review(&rig, preference, ReviewAct::Undo).await;
    assert_eq!((undone.state, undone.memory), (CandidateState::Undone, None));
    assert_eq!(request_of(&rig, "after").await, former);
    // It is not learned again from the same words.
    say(&rig, "again", SAID).await;
    assert_eq!(reflect(&rig).await.len(), 1);
}

#[tokio::test]
async fn a_newer_statement_takes_the_place_of_the_older_one_and_its_undo_brings_that_back() {
    let rig = rig().await;
    say(&rig, "talk", "Call me Sam from now on.").await;
    reflect(&rig).await;
    let sam = request_of(&rig, "first").await;
    rig.clock.advance(Duration::from_secs(1));
    say(&rig, "talk", "Call me Alex from now on.").await;
    let learned = reflect(&rig).await;
    let states: Vec<CandidateState> = learned.iter().map(|one| one.state).collect();
    assert_eq!(states, [CandidateState::Applied, CandidateState::Superseded], "{learned:?}");
    let alex = request_of(&rig, "second").await.concat();
    assert!(alex.contains("Alex") && !alex.contains("Sam"), "{alex}");
    review(&rig, &learned[0], ReviewAct::Undo).await;
    let texts = |texts: &[String]| texts.iter().filter(|text| text.contains("Sam")).count();
    let after = request_of(&rig, "third").await;
    assert_eq!((after.len(), texts(&after)), (sam.len(), 1), "{after:?}");
}

#[tokio::test]
async fn a_claim_of_a_model_waits_for_a_person_and_is_used_once_accepted() {
    let rig = rig().await;
    say(&rig, "talk", "Tables with borders are easier for me to read.").await;
    let answer = r#"{"candidates":[{"kind":"preference","text":"tables with borders",
        "citations":[{"entry":1,"quote":"Tables with borders are easier"}]},
        {"kind":"preference","text":"no borders","citations":[{"entry":2,"quote":"ok"}]}]}"#;
    rig.model.push(Script::new().text(answer));
    let learned = reflect(&rig).await;
    let [claim] = &learned[..] else { panic!("one candidate: {learned:?}") };
    assert_eq!((claim.state, claim.proposed.author), (CandidateState::PendingReview, CandidateAuthor::Model));
    assert_eq!(claim.proposed.held_back, Some(HoldReason::Unsure));
    assert!(!request_of(&rig, "before").await.concat().contains("borders"));
    review(&rig, claim, ReviewAct::Accept).await;
    assert!(request_of(&rig, "after").await.concat().contains("tables with borders"));
    let edit = CandidateReview {
        candidate: claim.proposed.candidate,
        act: ReviewAct::Edit,
        text: Some(Content::from("tables with thin borders")),
    };
    rig.gateway.admin.memories.review(rig.me(), edit).await.unwrap();
    let edited = request_of(&rig, "edited").await.concat();
    assert!(edited.contains("thin borders") && !edited.contains("tables with borders"), "{edited}");
    let theirs = rig.gateway.admin.memories.candidate(rig.stranger(), claim.proposed.candidate).await;
    assert!(theirs.is_err(), "a candidate of another person is unknown");
}

#[tokio::test]
async fn runs_of_a_session_are_looked_at_together_after_the_cooldown() {
    let rig = rig().await;
    say(&rig, "talk", "hello").await;
    rig.clock.advance(Duration::from_secs(60));
    say(&rig, "talk", "I prefer metric units.").await;
    assert_eq!(queued(&rig).await, [], "no run costs an entry of the queue");
    assert_eq!(reflect(&rig).await.len(), 1);
    assert_eq!(queued(&rig).await, [(TaskKind::Reflection, TaskStage::Done)], "one task takes both along");
}

#[tokio::test]
async fn with_learning_off_nothing_is_queued_and_no_preference_is_given() {
    let rig = rig().await;
    say(&rig, "talk", SAID).await;
    reflect(&rig).await;
    rig.configure(|config| config.learning = LearningRuntimeConfig::disabled());
    let before = queued(&rig).await.len();
    assert!(!request_of(&rig, "off").await.concat().contains("keep answers short"));
    rig.clock.advance(COOLDOWN);
    settle().await;
    assert_eq!(queued(&rig).await.len(), before);
}

#[tokio::test]
async fn an_erased_run_takes_along_what_was_learned_from_it() {
    let rig = rig().await;
    let former = request_of(&rig, "before").await;
    let run = say(&rig, "talk", SAID).await;
    assert_eq!(reflect(&rig).await.len(), 1);
    rig.gateway
        .admin
        .erasures
        .erase(rig.me().actor.principal, ErasureSubject::Run(run), ErasureReason::Request)
        .await
        .unwrap();
    assert_eq!(candidates(&rig).await, []);
    assert_eq!(request_of(&rig, "after").await, former);
}

#[tokio::test]
async fn a_run_that_is_erased_before_it_is_looked_at_ends_the_task() {
    let rig = rig().await;
    let run = say(&rig, "talk", SAID).await;
    rig.gateway
        .admin
        .erasures
        .erase(rig.me().actor.principal, ErasureSubject::Run(run), ErasureReason::Request)
        .await
        .unwrap();
    assert_eq!(reflect(&rig).await, []);
    assert_eq!(queued(&rig).await, [(TaskKind::Reflection, TaskStage::Done)]);
}

#[tokio::test]
async fn the_first_entry_of_a_run_says_which_preferences_it_was_given() {
    let rig = rig().await;
    say(&rig, "talk", SAID).await;
    let learned = reflect(&rig).await;
    let run = say(&rig, "next", "hello").await;
    let tape = rig.tape(run).await;
    let TapeEvent::Run(RunEvent::Started(started)) = &tape[0].event else { panic!("a start comes first") };
    assert_eq!(started.recalled.len(), 1);
    assert_eq!(Some(started.recalled[0].memory), learned[0].memory);
}
