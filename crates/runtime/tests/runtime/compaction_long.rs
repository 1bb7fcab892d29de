//! A session of 2,000 messages, more than a window takes, with a model that knows only what is in its request: in a small
//! window and in a large one, with summaries, without, with items of memory, and with the summaries taken back.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_admin::memories::{MemoryFilter, NewMemory};
use palyra_memory::MemoryIndexes;
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_runtime::ModelDirectory;
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::model::{
    BYTES_PER_TOKEN_ESTIMATED, ChatMessage, FinishReason, ModelAnswer, ModelFailure, ModelFailureClass,
    ModelName, ModelPiece, ModelRef, ModelRequest, ProviderName,
};
use palyra_types::run::RunLifecycleState;

use crate::rig::{Parts, Rig, by_key, settle};

const SMALL: Conversation = Conversation { window: 8_192, words: 12 };
const LARGE: Conversation = Conversation { window: 131_072, words: 48 };
const RUNS: usize = 1_000;
const QUESTIONS: usize = 50;
const QUESTION: &str = "What is the code of ";
const KEY: &str = "long";

/// A conversation that does not fit its window.
#[derive(Debug, Clone, Copy)]
struct Conversation {
    /// Tokens of the window.
    window: u64,
    /// How often plain words come in each input.
    words: usize,
}

/// What the daemon does for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aid {
    Nothing,
    Summaries,
    /// Each fact is remembered when it is said, and items that fit are given to runs.
    Memory,
}

/// Refuses what is larger than its window, and answers a question with what its request says.
struct RequestReader {
    window: u64,
}

impl ModelProvider for RequestReader {
    fn name(&self) -> ProviderName {
        ProviderName::new("reader")
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        let capabilities = ModelCapabilities::TEXT;
        ModelInfo { name: model.clone(), context_tokens: self.window, note: String::new(), capabilities }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        stream::iter(answer(&request, self.window)).boxed()
    }
}

fn answer(request: &ModelRequest, window: u64) -> Vec<Result<ModelPiece, ModelFailure>> {
    let texts: Vec<&str> = request.messages.iter().map(text_of).collect();
    let bytes = request.system.expose().len() + texts.iter().map(|text| text.len()).sum::<usize>();
    if bytes as u64 > window * BYTES_PER_TOKEN_ESTIMATED {
        let class = ModelFailureClass::ContextExceeded;
        return vec![Err(ModelFailure { class, detail: "too large".into(), retry_after: None })];
    }
    let asked = texts.last().and_then(|text| text.split_once(QUESTION));
    let said = match asked {
        Some((_, project)) => {
            let wanted = format!("The code of {} is ", project.trim_end_matches('?'));
            let found = texts.iter().rev().find_map(|text| text.split_once(&wanted));
            let code = found.map(|(_, rest)| rest.chars().take_while(char::is_ascii_digit).collect());
            code.unwrap_or_else(|| "unknown".to_owned())
        }
        None => "I see.".to_owned(),
    };
    let answer = ModelAnswer {
        response_id: String::new().into(),
        answered_by: request.model.model.clone(),
        finish: FinishReason::Stop,
        usage: None,
        proposals: Vec::new(),
        continuation: None,
    };
    vec![Ok(ModelPiece::Text(said.into())), Ok(ModelPiece::Answer(answer))]
}

fn text_of(message: &ChatMessage) -> &str {
    match message {
        ChatMessage::User { text, .. }
        | ChatMessage::Assistant { text, .. }
        | ChatMessage::ToolResult { text, .. } => text.expose(),
    }
}

fn project(number: usize) -> String {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).unwrap());
    format!("project {}{}", letter(number / 26), letter(number))
}

fn code(number: usize) -> String {
    (48_211 + 137 * number).to_string()
}

async fn say(rig: &Rig, text: &str) -> String {
    let run = rig.submit(KEY, text).await.run;
    let record = rig.finished(run).await;
    assert_eq!(record.state, RunLifecycleState::Done, "{text}");
    settle().await;
    let tape = rig.tape(run).await;
    let said = tape.iter().filter_map(|entry| match &entry.event {
        TapeEvent::Model(ModelEvent::Text { text, .. }) => Some(text.expose().as_str()),
        _ => None,
    });
    said.collect()
}

fn fact(at: usize) -> String {
    format!("The code of {} is {}.", project(at), code(at))
}

/// Lets a person talk for 1,000 runs, with a fact now and then.
async fn talk(conversation: Conversation, aid: Aid) -> Rig {
    let rig = Parts { memories: Arc::new(MemoryIndexes::default()), ..Parts::new() }.start().await;
    rig.configure(|config| {
        config.compacts = aid == Aid::Summaries;
        config.recalls_memory = aid == Aid::Memory;
    });
    let model = ModelRef::new("reader", "reader");
    let reader = RequestReader { window: conversation.window };
    rig.replace_models(ModelDirectory::new(vec![Arc::new(reader)], model, Vec::new()));
    let apart = RUNS / QUESTIONS;
    for number in 0..RUNS {
        let planted = (number % apart == 0).then(|| fact(number / apart));
        let words = "We talk about plain things. ".repeat(conversation.words);
        say(&rig, &format!("{} {words}", planted.as_deref().unwrap_or_default())).await;
        if let Some(text) = planted.filter(|_| aid == Aid::Memory) {
            let new =
                NewMemory { text: text.into(), scope: MemoryFilter::All, lifetime: None, replaces: None };
            rig.gateway.admin.memories.save(rig.me(), new).await.unwrap();
        }
    }
    rig
}

/// Returns how many of the planted codes the model can name.
async fn score(rig: &Rig) -> usize {
    let mut right = 0;
    for at in 0..QUESTIONS {
        let said = say(rig, &format!("{QUESTION}{}?", project(at))).await;
        right += usize::from(said == code(at));
    }
    right
}

/// Takes all summaries back; the journal still has the runs themselves.
async fn revert_all(rig: &Rig) {
    rig.configure(|config| config.compacts = false);
    let session = rig.resolve(by_key(KEY)).await.unwrap().record.session.id;
    while rig.gateway.sessions.compactions(rig.me(), session).await.unwrap().in_force.is_some() {
        rig.gateway.sessions.revert_compaction(rig.me(), session, None).await.unwrap();
    }
}

async fn measure(conversation: Conversation) {
    let rig = talk(conversation, Aid::Summaries).await;
    let with = score(&rig).await;
    revert_all(&rig).await;
    let reverted = score(&rig).await;
    let without = score(&talk(conversation, Aid::Nothing).await).await;
    let remembered = score(&talk(conversation, Aid::Memory).await).await;
    let window = conversation.window;
    eprintln!(
        "codes named of {QUESTIONS} in a window of {window}: {with} with summaries, {reverted} once they were taken back, \
         {without} without, {remembered} with items of memory"
    );
    assert!(with >= 45 && remembered >= 45, "{with} with summaries, {remembered} with memory");
    assert!(without <= 25 && reverted <= 25, "{without} without, {reverted} once taken back");
}

#[tokio::test]
async fn a_session_of_two_thousand_messages_answers_questions_within_a_small_window() {
    measure(SMALL).await;
}

#[tokio::test]
async fn a_session_of_two_thousand_messages_answers_questions_within_a_large_window() {
    measure(LARGE).await;
}
