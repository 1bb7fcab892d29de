//! One message of a conversation, as a client reports it, and the rule that calls have results.

use std::collections::BTreeSet;

use palyra_types::client_tool::ClientCallId;
use palyra_types::{Content, RunId};

use crate::error_reply::ErrorReply;

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// The program or person that wrote the client: `system` and `developer`.
    Instruction,
    /// The person.
    User,
    /// The model, as the client claims.
    Assistant,
    /// A tool, as the client claims.
    Tool,
}

impl MessageRole {
    /// Returns the name of the role.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// A file inside a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFile {
    /// What the client calls it.
    pub name: String,
    /// What the client says it is; empty leaves that to the bytes.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Content<Vec<u8>>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientMessage {
    /// Who said it.
    pub role: MessageRole,
    /// The words; calls and other items are JSON in them.
    pub text: String,
    /// Files in it.
    pub files: Vec<ClientFile>,
    /// Ids of calls that it makes.
    pub calls: Vec<String>,
    /// The id of the call that it answers.
    pub answers: Option<String>,
    /// The id of a message of ours, whose words replace this.
    pub reference: Option<String>,
    /// The member of the request that holds it.
    pub path: String,
}

impl ClientMessage {
    /// Makes a message of words alone.
    #[must_use]
    pub fn words(role: MessageRole, text: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            files: Vec::new(),
            calls: Vec::new(),
            answers: None,
            reference: None,
            path: path.into(),
        }
    }
}

/// Refuses a conversation in which a call has no result before the conversation goes on, or a result has no call. With a
/// previous response the calls can be its own.
///
/// # Errors
/// [`ErrorReply`] that names the message and the calls.
pub fn check_calls(messages: &[ClientMessage], previous: Option<RunId>) -> Result<(), ErrorReply> {
    let of_previous =
        |call: &str| previous.is_some() && ClientCallId::parse(call).map(|call| call.run) == previous;
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut caller = "";
    for message in messages {
        match (&message.answers, message.role) {
            (Some(call), _) => {
                if !open.remove(call.as_str()) && !of_previous(call) {
                    let text = format!("The result at `{}` answers no call: `{call}`.", message.path);
                    return Err(ErrorReply::invalid(message.path.clone(), text));
                }
            }
            // Calls of one answer can be several items.
            (None, MessageRole::Assistant) if !message.calls.is_empty() => {
                caller = &message.path;
                open.extend(message.calls.iter().map(String::as_str));
            }
            (None, _) if !open.is_empty() => return Err(unanswered(caller, &open)),
            (None, _) => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err(unanswered(caller, &open)) }
}

fn unanswered(path: &str, open: &BTreeSet<&str>) -> ErrorReply {
    let calls: Vec<&str> = open.iter().copied().collect();
    let text = format!("The calls at `{path}` have no result: {}.", calls.join(", "));
    ErrorReply::invalid(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(path: &str, ids: &[&str]) -> ClientMessage {
        let calls = ids.iter().map(|id| (*id).to_owned()).collect();
        ClientMessage { calls, ..ClientMessage::words(MessageRole::Assistant, "", path) }
    }

    fn result(id: &str) -> ClientMessage {
        let answers = Some(id.to_owned());
        ClientMessage { answers, ..ClientMessage::words(MessageRole::Tool, "ok", "messages[9]") }
    }

    fn user() -> ClientMessage {
        ClientMessage::words(MessageRole::User, "hi", "messages[0]")
    }

    #[test]
    fn results_come_in_any_order_and_before_the_conversation_goes_on() {
        let whole = [user(), call("messages[1]", &["a", "b"]), result("b"), result("a"), user()];
        assert_eq!(check_calls(&whole, None), Ok(()));
        assert_eq!(
            check_calls(
                &[call("input[0]", &["a"]), call("input[1]", &["b"]), result("a"), result("b")],
                None
            ),
            Ok(())
        );
    }

    #[test]
    fn a_call_without_a_result_is_refused_with_its_message_and_its_id() {
        for messages in [
            vec![user(), call("messages[1]", &["a", "b"]), result("a"), user()],
            vec![user(), call("messages[1]", &["b"])],
        ] {
            let error = check_calls(&messages, None).unwrap_err();
            assert_eq!((error.status(), error.param()), (400, Some("messages[1]")));
            assert!(error.message().contains(": b."), "{}", error.message());
        }
    }

    #[test]
    fn a_result_without_a_call_is_refused() {
        let error = check_calls(&[user(), result("a")], None).unwrap_err();
        assert_eq!(error.param(), Some("messages[9]"));
        let run = RunId::from_parts(1, 1);
        let own = ClientCallId { run, number: 1 }.to_string();
        assert_eq!(check_calls(&[result(&own)], Some(run)), Ok(()), "it is a call of the previous response");
        assert!(check_calls(&[result(&own)], None).is_err());
        assert!(check_calls(&[result(&own)], Some(RunId::from_parts(1, 2))).is_err());
    }
}
