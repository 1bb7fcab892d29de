//! Renders a run's tape as messages for a model.
//!
//! Total: any prefix of any tape yields a conversation in which each call is answered exactly once, right
//! after the message that made it. Text of abandoned attempts does not appear.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use palyra_types::approval::{ApprovalResolved, ApprovalState, note_behind};
use palyra_types::attachment::{AttachmentBody, BlobRef, RenderedAttachment};
use palyra_types::client_tool::{ClientCallId, ClientToolsCalled};
use palyra_types::context_reference::{ReferenceError, ReferencesExpanded};
use palyra_types::effect::EffectResolution;
use palyra_types::event::{
    ApprovalEvent, ClientToolsAnswered, ModelEvent, RunEvent, TapeEvent, ToolDecided, ToolEvent,
    ToolProposed, UnknownOutcomeCause,
};
use palyra_types::model::{CallId, ChatMessage, ProviderContinuation, RenderedCall, ToolResultStatus};
use palyra_types::run::UserInput;
use palyra_types::tool::{DecisionReason, ToolName, ToolVerdict};
use palyra_types::{Attempt, EffectId, Redacted, RunId, TapeSeq, Timestamp};

use crate::clock_words::in_words;
use crate::data_key::{DataKey, DataPart};
use crate::plan::LeftOut;
use crate::references::{PreviewedInput, scan_references};
use references::InputReferences;

mod references;

const NOT_RECORDED: &str = "no outcome was recorded for this call; it may not have run";
const WITHDRAWN: &str = "this call did not run: the question whether it may was withdrawn";
const EDITED: &str = "a person changed the arguments of this call before it ran, to";
const OUTCOME_UNKNOWN: &str = "it is not known whether this call took effect; do not repeat it by yourself";
const ERASED_TOOL: &str = "erased_tool";
const ERASED_INPUT: &str = "(this message was erased)";

/// Returns whether the result of a call says that its outcome is not known.
pub(crate) fn is_open_outcome(result: &str) -> bool {
    result.starts_with(OUTCOME_UNKNOWN) || result.starts_with(NOT_RECORDED)
}

/// Gathers the events of one run, in order.
#[derive(Debug, Clone)]
pub struct Transcript {
    run: RunId,
    last: TapeSeq,
    data_key: DataKey,
    answering: bool,
    /// Whether the run has functions of its client.
    of_client: bool,
    items: Vec<TranscriptItem>,
    /// Said while a model was answering: the next request shows it, after that answer.
    steering: Vec<TranscriptItem>,
    open_text: BTreeMap<Attempt, Redacted<String>>,
}

#[derive(Debug, Clone)]
enum TranscriptItem {
    User(TranscriptInput),
    Assistant {
        text: Redacted<String>,
        calls: Vec<TranscriptCall>,
        continuation: Option<Arc<ProviderContinuation>>,
    },
}

/// What a person said.
#[derive(Debug, Clone)]
struct TranscriptInput {
    /// Its entry.
    entry: TapeSeq,
    text: Redacted<String>,
    attachments: Vec<RenderedAttachment>,
    references: Option<InputReferences>,
    at: Timestamp,
}

#[derive(Debug, Clone)]
struct TranscriptCall {
    key: CallKey,
    /// The id of a gateway that is the model: it goes on with its run by it.
    of_gateway: Option<ClientCallId>,
    tool: ToolName,
    arguments: Redacted<String>,
    /// What a person wrote instead of the arguments.
    edited: Option<Redacted<String>>,
    result: Option<TranscriptResult>,
    /// The entry that made the call.
    proposed: DataPart,
}

/// A conversation as messages.
#[derive(Debug, Clone, Default)]
pub struct RenderedTranscript {
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Which of them are references of inputs.
    pub references: Vec<ReferenceMessage>,
}

impl From<Vec<ChatMessage>> for RenderedTranscript {
    fn from(messages: Vec<ChatMessage>) -> Self {
        Self { messages, references: Vec::new() }
    }
}

/// A message that shows the references of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceMessage {
    /// Its place among the messages.
    pub at: usize,
    /// How many references it shows, also those without content.
    pub items: u32,
    /// What the limits of references leave out.
    pub left_out: LeftOut,
}

#[derive(Debug, Clone)]
struct TranscriptResult {
    /// Why it failed, as references name it; `None` for success.
    failure: Option<ReferenceError>,
    /// Whether the text is what a person said when they denied the call.
    is_denial: bool,
    text: Redacted<String>,
}

/// What a call is found by within its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKey {
    /// A call of a tool.
    Effect(EffectId),
    /// A call of a function of the client, by its number.
    Client(u32),
}

impl Transcript {
    /// Makes an empty transcript.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            last: TapeSeq::default(),
            data_key: DataKey::default(),
            answering: false,
            of_client: false,
            items: Vec::new(),
            steering: Vec::new(),
            open_text: BTreeMap::new(),
        }
    }

    /// Takes the next event of the run, and when it happened.
    pub fn push(&mut self, event: &TapeEvent, time: Timestamp) {
        self.last = self.last.next();
        match event {
            TapeEvent::Run(RunEvent::Started(started)) => {
                self.data_key = DataKey::new(&started.run_salt);
                self.items.push(self.user(&started.input, time));
            }
            TapeEvent::Run(RunEvent::InputReceived { input, .. }) => {
                let said = self.user(input, time);
                // What was said during a broken answer keeps its place before what was said after it.
                let waits = self.answering || !self.steering.is_empty();
                let place = if waits { &mut self.steering } else { &mut self.items };
                place.push(said);
            }
            TapeEvent::Model(ModelEvent::Text { attempt, text }) => {
                self.open_text.entry(*attempt).or_default().push(text);
            }
            TapeEvent::Model(ModelEvent::Message(message)) => {
                self.answering = false;
                let text = self.open_text.remove(&message.attempt).unwrap_or_default();
                self.items.push(TranscriptItem::Assistant {
                    text,
                    calls: Vec::new(),
                    continuation: message.continuation.clone().map(Arc::new),
                });
            }
            TapeEvent::Model(ModelEvent::AttemptAbandoned { attempt, .. }) => {
                self.answering = false;
                self.open_text.remove(attempt);
            }
            TapeEvent::Run(RunEvent::ReferencesExpanded(expanded)) => self.expand(expanded),
            TapeEvent::Tool(ToolEvent::Proposed(proposed)) => self.propose(proposed),
            TapeEvent::Tool(ToolEvent::Decided(decided)) => self.decide(decided),
            TapeEvent::Tool(ToolEvent::Finished(finished)) => {
                let failure = finished.failure.map(ReferenceError::of_failure);
                self.settle_effect(finished.effect, failure, finished.output.clone());
            }
            TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause }) => {
                let text = match cause {
                    UnknownOutcomeCause::Restart
                    | UnknownOutcomeCause::Deadline
                    | UnknownOutcomeCause::Cancelled
                    | UnknownOutcomeCause::ExecutorLost => OUTCOME_UNKNOWN,
                };
                self.settle_effect(*effect, Some(ReferenceError::Failed), text.into());
            }
            TapeEvent::Approval(ApprovalEvent::Requested(asked)) => self.reopen(asked.effect),
            TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => self.resolve(resolved),
            TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, note, .. }) => {
                let (failure, text) = resolution_text(*resolution);
                self.settle_effect(*effect, failure, note_behind(text, note));
            }
            TapeEvent::Model(ModelEvent::Requested(_)) => {
                self.answering = true;
                self.items.append(&mut self.steering);
            }
            TapeEvent::Run(RunEvent::ClientToolsOffered(_)) => self.of_client = true,
            TapeEvent::Run(RunEvent::ClientToolsCalled(called)) => self.call_client(called),
            TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) => self.answer_client(answered),
            TapeEvent::Run(_)
            | TapeEvent::Model(_)
            | TapeEvent::Tool(_)
            | TapeEvent::Approval(_)
            | TapeEvent::Unknown { .. } => {}
        }
    }

    /// Returns the conversation so far, oldest first, with the times of the person's words in a zone.
    #[must_use]
    pub fn messages(&self, zone: &TimeZone) -> Vec<ChatMessage> {
        self.rendered(zone).messages
    }

    /// Returns the conversation so far, and which of its messages are references of inputs.
    #[must_use]
    pub fn rendered(&self, zone: &TimeZone) -> RenderedTranscript {
        let mut rendered = RenderedTranscript::default();
        for item in self.items.iter().chain(&self.steering) {
            match item {
                TranscriptItem::User(input) => self.render_input(input, zone, &mut rendered),
                TranscriptItem::Assistant { text, calls, continuation } => {
                    if !text.expose().is_empty() || !calls.is_empty() {
                        self.render(text, continuation.as_ref(), calls, &mut rendered.messages);
                    }
                }
            }
        }
        rendered
    }

    /// Returns the words of the input that an entry has; empty when they are erased.
    #[must_use]
    pub fn input_text(&self, entry: TapeSeq) -> Option<&Redacted<String>> {
        self.items.iter().chain(&self.steering).find_map(|item| match item {
            TranscriptItem::User(input) if input.entry == entry => Some(&input.text),
            TranscriptItem::User(_) | TranscriptItem::Assistant { .. } => None,
        })
    }

    /// Returns what the references of an input cost, as far as their calls were made; `None` when it has none that became
    /// proposals. `unmade` are calls that the caller did not make.
    #[must_use]
    pub fn preview_references(&self, entry: TapeSeq, unmade: &BTreeSet<EffectId>) -> Option<PreviewedInput> {
        self.items.iter().chain(&self.steering).find_map(|item| match item {
            TranscriptItem::User(input) if input.entry == entry => {
                input.references.as_ref().map(|references| references.preview(unmade))
            }
            TranscriptItem::User(_) | TranscriptItem::Assistant { .. } => None,
        })
    }

    /// Notes what the references of an input became.
    fn expand(&mut self, expanded: &ReferencesExpanded) {
        let references = InputReferences::new(expanded, self.last);
        let items = self.items.iter_mut().chain(&mut self.steering).rev();
        for item in items {
            match item {
                TranscriptItem::User(input) if input.entry == expanded.input => {
                    input.references = Some(references);
                    return;
                }
                TranscriptItem::User(_) | TranscriptItem::Assistant { .. } => {}
            }
        }
    }

    fn propose(&mut self, proposed: &ToolProposed) {
        let name = proposed.tool.expose();
        let call = TranscriptCall {
            key: CallKey::Effect(proposed.effect),
            of_gateway: self.id_of_gateway(&proposed.model_call_id),
            tool: ToolName::new(if name.is_empty() { ERASED_TOOL } else { name }),
            arguments: object_text(&proposed.arguments),
            edited: None,
            result: None,
            proposed: DataPart { entry: self.last, place: 0 },
        };
        let mut inputs =
            self.items.iter_mut().chain(&mut self.steering).rev().filter_map(|item| match item {
                TranscriptItem::User(input) => input.references.as_mut(),
                TranscriptItem::Assistant { .. } => None,
            });
        match inputs.find(|references| references.has_call(proposed.effect)) {
            Some(references) => references.calls.push(call),
            None => self.push_call(call),
        }
    }

    fn call_client(&mut self, called: &ClientToolsCalled) {
        for (place, (number, call)) in (0..).zip(called.span.numbers().zip(&called.calls)) {
            self.push_call(TranscriptCall {
                key: CallKey::Client(number),
                of_gateway: self.id_of_gateway(&call.model_call),
                tool: ToolName::new(call.name.expose()),
                arguments: object_text(&call.arguments),
                edited: None,
                result: None,
                proposed: DataPart { entry: self.last, place },
            });
        }
    }

    fn answer_client(&mut self, answered: &ClientToolsAnswered) {
        for (number, output) in answered.span.numbers().zip(&answered.outputs) {
            self.settle(CallKey::Client(number), None, output.clone());
        }
    }

    fn push_call(&mut self, call: TranscriptCall) {
        match self.items.last_mut() {
            Some(TranscriptItem::Assistant { calls, .. }) => calls.push(call),
            Some(TranscriptItem::User(_)) | None => self.items.push(TranscriptItem::Assistant {
                text: Redacted::default(),
                calls: vec![call],
                continuation: None,
            }),
        }
    }

    fn user(&self, input: &UserInput, at: Timestamp) -> TranscriptItem {
        let rendered = (0..).zip(&input.attachments).map(|(place, attachment)| RenderedAttachment {
            attachment: Arc::new(attachment.clone()),
            place: match &attachment.body {
                AttachmentBody::Text(_) => None,
                AttachmentBody::Blob { index } => {
                    Some(BlobRef { run: self.run, tape_seq: self.last, index: *index })
                }
            },
            data: None,
            delimiter: self.data_key.delimiter(DataPart { entry: self.last, place }),
        });
        TranscriptItem::User(TranscriptInput {
            entry: self.last,
            text: input.text.clone(),
            attachments: rendered.collect(),
            references: None,
            at,
        })
    }

    /// Shows an input, and its references before it: a person's words are what a model reads last.
    fn render_input(&self, input: &TranscriptInput, zone: &TimeZone, rendered: &mut RenderedTranscript) {
        let TranscriptInput { text, attachments, references, at, .. } = input;
        if text.expose().is_empty() && attachments.is_empty() {
            // Providers refuse an empty message.
            rendered.messages.push(ChatMessage::user(ERASED_INPUT.into()));
            return;
        }
        if let Some(references) = references {
            let shown = references.render(&self.data_key);
            if !shown.expose().is_empty() {
                rendered.references.push(references.message_at(rendered.messages.len()));
                rendered.messages.push(ChatMessage::user(shown));
            }
        }
        let said = in_words(*at, zone).map(Arc::from);
        rendered.messages.push(ChatMessage::User {
            text: self.shown_words(text),
            attachments: attachments.clone(),
            said,
        });
    }

    /// Returns the words of an input without the second `@` that makes a reference plain text. A run with functions of
    /// its client has no references, so its words stay as they are.
    fn shown_words(&self, text: &Redacted<String>) -> Redacted<String> {
        if self.of_client || !text.expose().contains("@@") {
            return text.clone();
        }
        text.clone().map(|text| scan_references(&text).shown_text(&text))
    }

    fn render(
        &self,
        text: &Redacted<String>,
        continuation: Option<&Arc<ProviderContinuation>>,
        calls: &[TranscriptCall],
        messages: &mut Vec<ChatMessage>,
    ) {
        let rendered = calls.iter().map(|call| RenderedCall {
            call: self.call_id(call),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        });
        messages.push(ChatMessage::Assistant {
            text: text.clone(),
            calls: rendered.collect(),
            continuation: continuation.cloned(),
        });
        for call in calls {
            messages.push(self.result_of(call));
        }
    }

    fn result_of(&self, call: &TranscriptCall) -> ChatMessage {
        let result = call.result.clone().unwrap_or_else(|| TranscriptResult {
            failure: Some(ReferenceError::Failed),
            is_denial: false,
            text: NOT_RECORDED.into(),
        });
        let status = match &result {
            TranscriptResult { failure: None, .. } => ToolResultStatus::Succeeded,
            // Edited arguments may repeat what a file or a page says.
            TranscriptResult { is_denial: true, .. } if call.edited.is_none() => {
                ToolResultStatus::DeniedByPerson
            }
            TranscriptResult { .. } => ToolResultStatus::Failed,
        };
        let text = match &call.edited {
            None => result.text,
            Some(edited) => {
                edited.clone().zip(result.text).map(|(edited, text)| format!("{EDITED} {edited}\n{text}"))
            }
        };
        ChatMessage::ToolResult {
            call: self.call_id(call),
            tool: call.tool.clone(),
            text,
            status,
            delimiter: self.data_key.delimiter(call.proposed),
        }
    }

    /// Numbers are unique within a run and runs within a request, so this pairs; those of another gateway are so too.
    fn call_id(&self, call: &TranscriptCall) -> CallId {
        CallId(match (call.of_gateway, call.key) {
            (Some(id), _) => id.to_string(),
            (None, CallKey::Effect(effect)) => format!("call_{}_{effect}", self.run),
            (None, CallKey::Client(number)) => ClientCallId { run: self.run, number }.to_string(),
        })
    }

    /// Reads the id of a call as another gateway gives it: once, and never for a run of its own.
    fn id_of_gateway(&self, given: &Redacted<String>) -> Option<ClientCallId> {
        let id = ClientCallId::parse(given.expose()).filter(|id| id.run != self.run)?;
        let mut calls = self.items.iter().chain(&self.steering).flat_map(|item| match item {
            TranscriptItem::Assistant { calls, .. } => calls.as_slice(),
            TranscriptItem::User(_) => &[],
        });
        calls.all(|call| call.of_gateway != Some(id)).then_some(id)
    }

    fn settle_effect(&mut self, effect: EffectId, failure: Option<ReferenceError>, text: Redacted<String>) {
        self.settle(CallKey::Effect(effect), failure, text);
    }

    fn settle(&mut self, key: CallKey, failure: Option<ReferenceError>, text: Redacted<String>) {
        if let Some(call) = self.call_mut(key) {
            call.result = Some(TranscriptResult { failure, is_denial: false, text });
        }
    }

    fn decide(&mut self, decided: &ToolDecided) {
        match decided.verdict {
            ToolVerdict::Allow | ToolVerdict::Ask => {}
            ToolVerdict::Deny => {
                let failure = Some(ReferenceError::of_denial(decided.reason));
                let is_denial = decided.reason == DecisionReason::ApprovalDenied;
                let text = decided.explanation.clone();
                if let Some(call) = self.call_mut(CallKey::Effect(decided.effect)) {
                    call.result = Some(TranscriptResult { failure, is_denial, text });
                }
            }
        }
    }

    /// Forgets the result of a call that a person is asked about again.
    fn reopen(&mut self, effect: EffectId) {
        if let Some(call) = self.call_mut(CallKey::Effect(effect)) {
            call.result = None;
        }
    }

    /// Notes how an approval ended, as far as no decision says it.
    fn resolve(&mut self, resolved: &ApprovalResolved) {
        let Some(call) = self.call_mut(CallKey::Effect(resolved.effect)) else { return };
        match resolved.state {
            ApprovalState::Approved => call.edited = resolved.edited.clone().or(call.edited.take()),
            ApprovalState::Withdrawn => {
                let text = WITHDRAWN.into();
                let failure = Some(ReferenceError::Denied);
                call.result = Some(TranscriptResult { failure, is_denial: false, text });
            }
            ApprovalState::Pending | ApprovalState::Denied | ApprovalState::Expired => {}
        }
    }

    fn call_mut(&mut self, key: CallKey) -> Option<&mut TranscriptCall> {
        let items = self.items.iter_mut().chain(&mut self.steering).rev();
        let calls = items.filter_map(|item| match item {
            TranscriptItem::Assistant { calls, .. } => Some(calls),
            TranscriptItem::User(input) => input.references.as_mut().map(|references| &mut references.calls),
        });
        calls.flatten().find(|call| call.key == key)
    }
}

/// Returns the text for the model after a person's word about an effect that was in doubt.
fn resolution_text(resolution: EffectResolution) -> (Option<ReferenceError>, &'static str) {
    match resolution {
        EffectResolution::Happened => (None, "a person looked: this call took effect; its output is lost"),
        EffectResolution::DidNotHappen => {
            (Some(ReferenceError::Failed), "a person looked: this call did not take effect")
        }
        EffectResolution::Retry => (
            Some(ReferenceError::Failed),
            "a person looked: this call did not take effect; they want it to be made again, as a new call",
        ),
    }
}

/// Returns the arguments when they look like a JSON object, else an empty object: providers refuse a history
/// that holds anything else. The model reads what was wrong in the call's result.
fn object_text(arguments: &Redacted<String>) -> Redacted<String> {
    arguments.clone().map(|arguments| {
        let text = arguments.trim();
        if is_json_object(text) { text.to_owned() } else { "{}".to_owned() }
    })
}

fn is_json_object(text: &str) -> bool {
    matches!(serde_json::from_str::<serde_json::Value>(text), Ok(serde_json::Value::Object(_)))
}
