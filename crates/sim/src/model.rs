//! A model that says what the dice want, and fails as the weather wants.
//!
//! Owns the scripts of single answers; asks the oracle whether what it is shown is what the tapes say.
//! Begin at [`SimModel::stream`](ModelProvider::stream).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{Clock, ModelCapabilities, ModelInfo, ModelProvider};
use palyra_run_core::failure_table::CLASSES;
use palyra_types::Content;
use palyra_types::model::{
    ChatMessage, FinishReason, ModelAnswer, ModelFailure, ModelFailureClass, ModelName, ModelPiece,
    ModelRequest, ProviderName, RawModelAnswer, RawToolProposal, TokenUsage, ToolProposal, UsageSource,
};
use palyra_types::tool::ToolName;

use crate::fault::{Fault, Phase};
use crate::oracle::STRANGER;
use crate::tools::{ACT, CHANGE, COUNT, LOOK, PAY, POST, QUESTION, SEND, SIGN, WIRE};
use crate::world::{SimWorld, turns};

/// How large the models' window is: stories are short.
const CONTEXT_TOKENS: u64 = 200_000;
/// How large it is where sessions have to be summed up.
const SMALL_CONTEXT_TOKENS: u64 = 4_096;
/// Words of the instructions for a summary.
const SUMMARY_INSTRUCTIONS: &str = "sum up the older part";
/// Pieces of an answer, at most.
const PIECES_MAX: u64 = 6;
/// How long a model pauses, at most.
const PAUSE_MAX: Duration = Duration::from_secs(3);
/// How long a model is silent where work is long: a provider gives up after five minutes.
const LONG_PAUSE_MAX: Duration = Duration::from_secs(280);
/// What a provider asks to wait, at most.
const ASKED_PAUSE_MAX: Duration = Duration::from_secs(90);

/// What a model proposes, each as often as it stands here.
const SOME_TOOLS: &[&str] =
    &[LOOK, LOOK, COUNT, ACT, ACT, POST, CHANGE, CHANGE, CHANGE, SEND, SIGN, PAY, WIRE, QUESTION, "no_such"];

/// The same for another principal: nothing that asks.
const STRANGER_TOOLS: &[&str] = &[LOOK, COUNT, LOOK];

/// The provider `sim`.
#[derive(Clone)]
pub(crate) struct SimModel {
    world: Arc<SimWorld>,
}

/// One thing that an answer does.
enum AnswerStep {
    Turns(u64),
    Pause(Duration),
    Piece(ModelPiece),
    /// From here on it goes wrong if the weather wants, told by whether words were said.
    MayFail(Phase),
    Answer,
}

impl SimModel {
    pub(crate) fn new(world: Arc<SimWorld>) -> Self {
        Self { world }
    }

    /// Writes an answer down before it is given; what goes wrong is decided on the way.
    fn script(&self, phase: Phase) -> VecDeque<AnswerStep> {
        let dice = &self.world.dice;
        let mut steps = VecDeque::from([AnswerStep::Turns(dice.below(6)), AnswerStep::MayFail(phase)]);
        for piece in 0..dice.below(PIECES_MAX) {
            let words: Content<String> = format!("word {piece} {} ", dice.below(1_000)).into();
            let piece =
                if dice.below(5) == 0 { ModelPiece::Reasoning(words) } else { ModelPiece::Text(words) };
            steps.push_back(AnswerStep::Piece(piece));
            steps.push_back(AnswerStep::Turns(dice.below(4)));
            if dice.below(2) == 0 {
                steps.push_back(AnswerStep::Pause(dice.span(Duration::from_millis(400))));
            }
            if self.world.features().has_long_work && dice.below(3) == 0 {
                steps.push_back(AnswerStep::Pause(dice.span(LONG_PAUSE_MAX)));
            }
            steps.push_back(AnswerStep::MayFail(Phase::Streaming));
        }
        steps.push_back(AnswerStep::Answer);
        steps
    }

    /// Writes a summary down: mostly one that has what must survive, now and then one that is refused.
    fn summary_script(&self, request: &ModelRequest) -> VecDeque<AnswerStep> {
        let dice = &self.world.dice;
        let text = if dice.below(4) == 0 { "word".to_owned() } else { summary_of(request) };
        let phase = Phase::ModelWaiting;
        VecDeque::from([
            AnswerStep::Turns(dice.below(12)),
            AnswerStep::MayFail(phase),
            AnswerStep::Piece(ModelPiece::Text(text.into())),
            AnswerStep::Turns(dice.below(12)),
            AnswerStep::MayFail(phase),
            AnswerStep::Answer,
        ])
    }

    fn answer(&self, tools: &[&'static str]) -> RawModelAnswer {
        let dice = &self.world.dice;
        let proposals: Vec<RawToolProposal> = if !tools.is_empty() && dice.below(2) == 0 {
            (0..=dice.below(3)).map(|at| self.proposal(at, tools)).collect()
        } else {
            Vec::new()
        };
        let usage = (dice.below(2) == 0).then(|| TokenUsage {
            input_tokens: dice.below(500),
            output_tokens: dice.below(200),
            source: UsageSource::Reported,
            ..TokenUsage::default()
        });
        let finish = match (proposals.is_empty(), dice.below(20)) {
            (true, 0) => FinishReason::Length,
            (true, 1) => FinishReason::ContentFilter,
            (true, _) => FinishReason::Stop,
            (false, _) => FinishReason::ToolCalls,
        };
        ModelAnswer {
            response_id: Content::new(format!("r{}", dice.below(10_000))),
            answered_by: ModelName::new("sim"),
            finish,
            usage,
            proposals,
            continuation: None,
        }
    }

    fn proposal(&self, at: u64, tools: &[&'static str]) -> RawToolProposal {
        let dice = &self.world.dice;
        let tool = dice.pick(tools);
        let arguments = match dice.below(12) {
            0 => "{".to_owned(),
            1..=7 => format!("{{\"n\":{}}}", dice.below(2)),
            _ => format!("{{\"n\":{}}}", dice.below(100_000)),
        };
        let model_call_id = Content::new(format!("call-{at}"));
        ToolProposal { model_call_id, tool: ToolName::new(tool), arguments: Content::new(arguments) }
    }

    /// Returns how an answer goes wrong here, if it does.
    fn failure(&self, phase: Phase) -> Option<AnswerFault> {
        let world = &self.world;
        let class = CLASSES.into_iter().find(|class| world.strikes(Fault::Model(*class), phase));
        if let Some(class) = class {
            return Some(AnswerFault::Fails(class));
        }
        if world.strikes(Fault::ModelSilent, phase) {
            Some(AnswerFault::Ends)
        } else if world.strikes(Fault::ModelPanics, phase) {
            Some(AnswerFault::Panics)
        } else if world.strikes(Fault::ModelHangs, phase) {
            Some(AnswerFault::Hangs)
        } else if world.strikes(Fault::ModelTalksOn, phase) {
            Some(AnswerFault::AnswersAndGoesOn)
        } else if world.strikes(Fault::ModelSlow, phase) {
            Some(AnswerFault::Pauses)
        } else {
            None
        }
    }
}

/// How an answer goes wrong.
enum AnswerFault {
    Fails(ModelFailureClass),
    Ends,
    Panics,
    Hangs,
    AnswersAndGoesOn,
    Pauses,
}

/// Returns a summary with all lines that a request says have to be kept.
fn summary_of(request: &ModelRequest) -> String {
    let ChatMessage::User { text, .. } = &request.messages[0] else { return String::new() };
    let kept = text.expose().split_once(" from=\"lines\">\n").map_or("", |(_, kept)| kept);
    let kept = kept.split_once("\n</data-").map_or("", |(kept, _)| kept);
    let lists = ["Pinned", "Decisions", "Done", "Open"].map(|list| {
        let begin = format!("{list}: ");
        let lines = kept.lines().filter_map(|line| line.strip_prefix(&begin));
        let lines: String = lines.map(|line| format!("- {line}\n")).collect();
        format!("{list}:\n{}", if lines.is_empty() { "- none\n" } else { &lines })
    });
    lists.concat()
}

fn is_of_stranger(request: &ModelRequest) -> bool {
    let said = request.messages.iter().rev().find_map(|message| match message {
        ChatMessage::User { text, .. } => Some(text.expose().as_str()),
        ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => None,
    });
    said.is_some_and(|text| text.starts_with(STRANGER))
}

/// One answer on its way.
struct AnswerStream {
    model: SimModel,
    steps: VecDeque<AnswerStep>,
    over: bool,
    /// What it proposes.
    tools: &'static [&'static str],
}

impl AnswerStream {
    fn begin(model: SimModel, request: &ModelRequest) -> Self {
        if request.system.expose().contains(SUMMARY_INSTRUCTIONS) {
            model.world.oracle().on_summary_request(request);
            model.world.note(format_args!("? model asked for a summary"));
            let steps = model.summary_script(request);
            return Self { model, steps, over: false, tools: &[] };
        }
        let phase = model.world.oracle().on_model_request(request);
        model.world.note(format_args!("? model asked while {}", phase.name()));
        let steps = model.script(phase);
        let tools = if is_of_stranger(request) { STRANGER_TOOLS } else { SOME_TOOLS };
        Self { model, steps, over: false, tools }
    }

    async fn next(mut self) -> Option<(Result<ModelPiece, ModelFailure>, Self)> {
        // A summary has a limit of its own.
        if !self.tools.is_empty() && self.model.world.takes_hang() {
            return futures::future::pending().await;
        }
        while let Some(step) = self.steps.pop_front() {
            match step {
                AnswerStep::Turns(count) => turns(count).await,
                AnswerStep::Pause(span) => self.pause(span).await,
                AnswerStep::Piece(piece) => return Some((Ok(piece), self)),
                AnswerStep::Answer => {
                    let answer = self.model.answer(self.tools);
                    self.steps.clear();
                    return Some((Ok(ModelPiece::Answer(answer)), self));
                }
                AnswerStep::MayFail(_) if self.over => {}
                AnswerStep::MayFail(phase) => match self.model.failure(phase) {
                    None => {}
                    Some(AnswerFault::Fails(class)) => {
                        self.steps.clear();
                        let asked = self.model.world.dice.below(3) == 0;
                        let retry_after = asked.then(|| self.model.world.dice.span(ASKED_PAUSE_MAX));
                        let failure = ModelFailure { class, detail: "simulated".into(), retry_after };
                        return Some((Err(failure), self));
                    }
                    Some(AnswerFault::Ends) => return None,
                    Some(AnswerFault::Panics) => panic!("{}", crate::fault::EXPECTED_PANIC),
                    Some(AnswerFault::Hangs) => futures::future::pending().await,
                    Some(AnswerFault::AnswersAndGoesOn) => {
                        self.over = true;
                        let answer = self.model.answer(self.tools);
                        return Some((Ok(ModelPiece::Answer(answer)), self));
                    }
                    Some(AnswerFault::Pauses) => {
                        let span = self.model.world.dice.span(PAUSE_MAX);
                        self.pause(span).await;
                    }
                },
            }
        }
        None
    }

    async fn pause(&self, span: Duration) {
        let clock = &self.model.world.clock;
        clock.sleep_until(clock.boot().after(span)).await;
    }
}

impl ModelProvider for SimModel {
    fn name(&self) -> ProviderName {
        ProviderName::new("sim")
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: if self.world.features().has_small_window {
                SMALL_CONTEXT_TOKENS
            } else {
                CONTEXT_TOKENS
            },
            note: "simulated".to_owned(),
            capabilities: ModelCapabilities::ALL,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let info = self.model_info(&ModelName::new("sim"));
        async move { Ok(vec![info]) }.boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let model = self.clone();
        stream::once(async move { AnswerStream::begin(model, &request) })
            .flat_map(|answering| stream::unfold(answering, AnswerStream::next))
            .boxed()
    }
}
