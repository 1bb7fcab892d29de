//! A stateless client's conversation: where a part of it was answered before, and what a run is given of the rest.
//!
//! Owns the digests of the beginnings of a conversation, and the text of an input that carries instructions and messages
//! which the daemon did not see. Such messages are claims of the client, and the text says so.
//! Begin at [`ClientConversation::turns`].

use std::collections::BTreeMap;

use palyra_types::client_tool::{ClientCallId, ClientCallSpan};
use palyra_types::{Content, RunId};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::error_reply::ErrorReply;
use crate::request::client_message::{ClientFile, ClientMessage, MessageRole};

/// Turns of a conversation that are looked for, at most, the latest first.
pub const TURNS_SOUGHT_MAX: usize = 16;

/// A conversation with the instructions of its client.
#[derive(Debug, Clone)]
pub struct ClientConversation {
    messages: Vec<ClientMessage>,
}

/// A turn that the client says was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredTurn {
    /// Messages before the answer.
    pub asked: usize,
    /// Messages up to the end of the answer.
    pub answered: usize,
    /// What the client says that the answer was.
    pub answer: String,
}

/// An input for a run.
#[derive(Debug, Clone)]
pub struct RunText {
    /// The words.
    pub text: String,
    /// Files that come with them.
    pub files: Vec<ClientFile>,
}

/// Results at the end of a conversation, of functions that the client performed.
#[derive(Debug, Clone)]
pub struct BroughtResults {
    results: BTreeMap<String, BroughtResult>,
    last: String,
    /// Messages up to the last result; words can follow.
    pub upto: usize,
}

#[derive(Debug, Clone)]
struct BroughtResult {
    output: String,
    has_files: bool,
    path: String,
}

impl BroughtResults {
    /// Returns the last call that has a result; `None` where it is not one of ours.
    #[must_use]
    pub fn call(&self) -> Option<ClientCallId> {
        ClientCallId::parse(&self.last)
    }

    /// Returns the member of the request that holds the last result.
    #[must_use]
    pub fn path(&self) -> &str {
        self.results.get(&self.last).map_or("input", |result| result.path.as_str())
    }

    /// Refuses the last result, because no call is known that it answers.
    #[must_use]
    pub fn unknown_call(&self) -> ErrorReply {
        let text = format!("No tool call found for the output with the call id `{}`.", self.last);
        ErrorReply::invalid(self.path(), text)
    }

    /// Returns what the functions of these calls returned.
    ///
    /// # Errors
    /// [`ErrorReply`] that names the calls without a result, or a result that is not text.
    pub fn outputs(
        &self,
        run: RunId,
        span: ClientCallSpan,
        missing_at: &str,
    ) -> Result<Vec<Content<String>>, ErrorReply> {
        let ids: Vec<String> =
            span.numbers().map(|number| ClientCallId { run, number }.to_string()).collect();
        let missing: Vec<&str> =
            ids.iter().map(String::as_str).filter(|id| !self.results.contains_key(*id)).collect();
        if !missing.is_empty() {
            return Err(missing_outputs(missing_at, &missing));
        }
        let results = ids.iter().filter_map(|id| self.results.get(id));
        results
            .map(|result| match result.has_files {
                false => Ok(Content::new(result.output.clone())),
                true => {
                    let text = "Results of functions are text: images and files are not supported there.";
                    Err(ErrorReply::unsupported(result.path.clone(), text))
                }
            })
            .collect()
    }
}

/// Refuses a request that goes on without the results of calls.
#[must_use]
pub fn missing_outputs(path: &str, calls: &[&str]) -> ErrorReply {
    ErrorReply::invalid(path, format!("No tool output found for the calls {}.", calls.join(", ")))
}

impl ClientConversation {
    /// Makes a conversation.
    #[must_use]
    pub fn new(instructions: Option<&str>, messages: Vec<ClientMessage>) -> Self {
        let first =
            instructions.map(|text| ClientMessage::words(MessageRole::Instruction, text, "instructions"));
        Self { messages: first.into_iter().chain(messages).collect() }
    }

    /// Returns the messages.
    #[must_use]
    pub fn messages(&self) -> &[ClientMessage] {
        &self.messages
    }

    /// Returns a digest of the first messages, for one model: conversations with several models are several.
    #[must_use]
    pub fn digest(&self, model: &str, messages: usize) -> String {
        let mut hash = Sha256::new();
        part(&mut hash, model.as_bytes());
        for message in self.messages.iter().take(messages) {
            part(&mut hash, message.role.as_str().as_bytes());
            part(&mut hash, message.text.trim().as_bytes());
            part(&mut hash, message.answers.as_deref().unwrap_or_default().as_bytes());
            for file in &message.files {
                part(&mut hash, file.name.as_bytes());
                part(&mut hash, file.bytes.expose());
            }
            // Ends the list of files.
            part(&mut hash, &[]);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the answered turns, the latest first.
    #[must_use]
    pub fn turns(&self) -> Vec<AnsweredTurn> {
        let mut turns = Vec::new();
        let mut answered = self.messages.len();
        while answered > 0 && turns.len() < TURNS_SOUGHT_MAX {
            let last = self.messages.iter().take(answered).rposition(is_answer);
            let Some(last) = last else { break };
            let before = self.messages.iter().take(last).rposition(|message| !is_answer(message));
            let asked = before.map_or(0, |before| before + 1);
            let words = self.messages.iter().take(last + 1).skip(asked).map(|message| message.text.as_str());
            turns.push(AnsweredTurn { asked, answered: last + 1, answer: words.collect() });
            answered = asked;
        }
        turns.retain(|turn| turn.asked > 0);
        turns
    }

    /// Returns the results at its end: those of the last calls, and words of the user behind them. `None` where the last
    /// result was answered, and where words follow results of calls that are not ours.
    #[must_use]
    pub fn results(&self) -> Option<BroughtResults> {
        let last = self.messages.iter().rposition(|message| message.answers.is_some())?;
        let (block, behind) = self.messages.split_at(last + 1);
        if behind.iter().any(|message| is_claim(&message)) {
            return None;
        }
        let of_calls = |message: &&ClientMessage| message.answers.is_some() || !message.calls.is_empty();
        let mut results = BTreeMap::new();
        for message in block.iter().rev().take_while(of_calls) {
            let Some(call) = &message.answers else { continue };
            results.entry(call.clone()).or_insert(BroughtResult {
                output: message.text.clone(),
                has_files: !message.files.is_empty(),
                path: message.path.clone(),
            });
        }
        let last = self.messages.get(last)?.answers.clone()?;
        let brought = BroughtResults { results, last, upto: block.len() };
        (brought.call().is_some() || behind.is_empty()).then_some(brought)
    }

    /// Returns the words behind the first `known` messages, if there are any.
    #[must_use]
    pub fn words_after(&self, known: usize) -> Option<RunText> {
        if self.messages.len() > known { self.input_after(known).ok() } else { None }
    }

    /// Returns the input for what follows the first `known` messages.
    ///
    /// # Errors
    /// [`ErrorReply`] where nothing is asked.
    pub fn input_after(&self, known: usize) -> Result<RunText, ErrorReply> {
        let rest: Vec<&ClientMessage> = self.messages.iter().skip(known).collect();
        let claimed = rest.iter().rposition(is_claim).map_or(0, |last| last + 1);
        let (earlier, asked) = rest.split_at(claimed);
        let files = rest.iter().flat_map(|message| message.files.iter().cloned()).collect();
        let instructions = joined(rest.iter().filter(|message| message.role == MessageRole::Instruction));
        let words = joined(asked.iter().filter(|message| message.role == MessageRole::User));
        let asks = asked.iter().any(|message| message.role == MessageRole::User);
        if !asks && instructions.is_empty() {
            let path = self.messages.last().map_or("messages", |message| message.path.as_str());
            return Err(ErrorReply::invalid(path, "The last message must be one of the user."));
        }
        if !asks && claimed == 0 {
            return Ok(RunText { text: instructions, files });
        }
        let mut blocks = Vec::new();
        if !instructions.is_empty() {
            let name = "client_instructions";
            blocks.push(format!("<{name}>\n{}\n</{name}>", defused(&instructions, name)));
        }
        let claims: Vec<String> = earlier
            .iter()
            .filter(|message| message.role != MessageRole::Instruction)
            .map(|message| json!({ "role": message.role.as_str(), "content": message.text }).to_string())
            .collect();
        if !claims.is_empty() {
            let claims = defused(&claims.join("\n"), "earlier_messages");
            blocks.push(format!("<earlier_messages reported_by=\"client\">\n{claims}\n</earlier_messages>"));
        }
        blocks.push(words);
        Ok(RunText { text: blocks.join("\n\n"), files })
    }

    /// Returns the conversation with the words of messages that were named by their ids.
    ///
    /// # Errors
    /// What `find` returns.
    pub fn with_references<E>(mut self, mut find: impl FnMut(&str) -> Result<String, E>) -> Result<Self, E> {
        for message in &mut self.messages {
            if let Some(reference) = &message.reference {
                message.text = find(reference)?;
            }
        }
        Ok(self)
    }
}

/// Returns the SHA-256 of the bytes of a request, in hexadecimal.
#[must_use]
pub fn body_digest(body: &[u8]) -> Content<String> {
    Content::new(Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect())
}

fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
    hash.update(bytes);
}

fn is_answer(message: &ClientMessage) -> bool {
    message.role == MessageRole::Assistant && message.calls.is_empty()
}

fn is_claim(message: &&ClientMessage) -> bool {
    matches!(message.role, MessageRole::Assistant | MessageRole::Tool)
}

fn joined<'a>(messages: impl Iterator<Item = &'a &'a ClientMessage>) -> String {
    let words: Vec<&str> =
        messages.map(|message| message.text.as_str()).filter(|text| !text.is_empty()).collect();
    words.join("\n\n")
}

/// Returns a text that cannot end the block it is in.
fn defused(text: &str, block: &str) -> String {
    text.replace(&format!("</{block}"), &format!("<\\/{block}"))
}

/// Returns whether two answers have the same words; clients trim what they keep.
#[must_use]
pub fn same_words(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

#[cfg(test)]
mod tests;
