//! A session of 2,000 messages in a small window, with a model that knows only what is in its request.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_runtime::ModelDirectory;
use palyra_types::event::{ModelEvent, TapeEvent};
use palyra_types::model::{
    BYTES_PER_TOKEN_ESTIMATED, ChatMessage, FinishReason, ModelAnswer, ModelFailure, ModelFailureClass,
    ModelName, ModelPiece, ModelRef, ModelRequest, ProviderName,
};
use palyra_types::run::RunLifecycleState;

use crate::rig::{Parts, Rig, settle};

const WINDOW: u64 = 8_192;
const RUNS: usize = 1_000;
const QUESTIONS: usize = 50;
const QUESTION: &str = "What is the code of ";
const KEY: &str = "long";

/// Refuses what is larger than its window, and answers a question with what its request says.
struct RequestReader;

impl ModelProvider for RequestReader {
    fn name(&self) -> ProviderName {
        ProviderName::new("reader")
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        let capabilities = ModelCapabilities::TEXT;
        ModelInfo { name: model.clone(), context_tokens: WINDOW, note: String::new(), capabilities }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        stream::iter(answer(&request)).boxed()
    }
}

fn answer(request: &ModelRequest) -> Vec<Result<ModelPiece, ModelFailure>> {
    let texts: Vec<&str> = request.messages.iter().map(text_of).collect();
    let bytes = request.system.expose().len() + texts.iter().map(|text| text.len()).sum::<usize>();
    if bytes as u64 > WINDOW * BYTES_PER_TOKEN_ESTIMATED {
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

/// Returns how many of the planted codes the model can name at the end.
async fn score(compacts: bool) -> usize {
    let rig = Parts::new().start().await;
    rig.configure(|config| config.compacts = compacts);
    let model = ModelRef::new("reader", "reader");
    rig.replace_models(ModelDirectory::new(vec![Arc::new(RequestReader)], model, Vec::new()));
    let apart = RUNS / QUESTIONS;
    for number in 0..RUNS {
        let planted = (number % apart == 0).then(|| number / apart);
        let fact = planted.map(|at| format!("The code of {} is {}. ", project(at), code(at)));
        let text = format!("{}{}", fact.unwrap_or_default(), "We talk about plain things. ".repeat(12));
        say(&rig, &text).await;
    }
    let mut right = 0;
    for at in 0..QUESTIONS {
        let said = say(&rig, &format!("{QUESTION}{}?", project(at))).await;
        right += usize::from(said == code(at));
    }
    right
}

#[tokio::test]
async fn a_session_of_two_thousand_messages_answers_questions_within_a_small_window() {
    let with = score(true).await;
    let without = score(false).await;
    eprintln!("codes named of {QUESTIONS}: {with} with summaries, {without} without");
    assert!(with >= 45 && without <= 10, "{with} with summaries, {without} without");
}
