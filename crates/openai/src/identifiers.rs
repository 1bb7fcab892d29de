//! The ids that clients see: each names a run, so that nothing has to be stored to find it again.
//!
//! A response's id says how it may be used later: stored, in the background, or not stored. Where the client performs
//! functions, one run makes several responses, which the id numbers. The id is not a secret and gives no permission: a
//! run of another principal is not found.

use std::fmt;

use palyra_types::RunId;
use palyra_types::client_tool::ClientCallId;

/// How a response may be used after it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponseRetention {
    /// It can be retrieved and continued.
    Stored,
    /// As stored; it goes on without a client, and can be cancelled.
    Background,
    /// It can be neither retrieved nor continued by its id.
    Unstored,
}

/// Names a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResponseId {
    /// The run that makes it.
    pub run: RunId,
    /// Which part of the run it is, from 0: a part ends where the client performs functions.
    pub part: u32,
    /// How it may be used later.
    pub retention: ResponseRetention,
}

impl ResponseId {
    /// Reads an id; `None` when it is not one of ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("resp_")?;
        let retention = match rest.chars().next()? {
            's' => ResponseRetention::Stored,
            'b' => ResponseRetention::Background,
            'u' => ResponseRetention::Unstored,
            _ => return None,
        };
        let (run, part) = run_and_part(rest.get(1..)?)?;
        Some(Self { run, part, retention })
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.retention {
            ResponseRetention::Stored => 's',
            ResponseRetention::Background => 'b',
            ResponseRetention::Unstored => 'u',
        };
        write!(f, "resp_{letter}{}{}", self.run, PartSuffix(self.part))
    }
}

/// The number of a part as it follows a run; the first part has none.
struct PartSuffix(u32);

impl fmt::Display for PartSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            part => write!(f, "-{part}"),
        }
    }
}

fn run_and_part(text: &str) -> Option<(RunId, u32)> {
    let (run, part) = text.split_once('-').map_or((text, 0), |(run, part)| (run, part.parse().unwrap_or(0)));
    let run: RunId = run.parse().ok()?;
    (format!("{run}{}", PartSuffix(part)) == text).then_some((run, part))
}

/// Returns the id of a chat completion.
#[must_use]
pub fn completion_id(run: RunId, part: u32) -> String {
    format!("chatcmpl-{run}{}", PartSuffix(part))
}

/// Returns the id of a message that a part of a run says.
#[must_use]
pub fn message_id(run: RunId, part: u32, index: u32) -> String {
    format!("msg_{run}{}_{index}", PartSuffix(part))
}

/// Returns the id of an item that calls a function of the client.
#[must_use]
pub fn call_item_id(call: ClientCallId) -> String {
    format!("fc_{}_c{}", call.run, call.number)
}

/// Reads the id of an item that calls a function of the client.
#[must_use]
pub fn parse_call_item_id(text: &str) -> Option<ClientCallId> {
    ClientCallId::parse(&format!("call_{}", text.strip_prefix("fc_")?))
}

/// Returns the id of an input that a part of a run was given.
#[must_use]
pub fn input_id(run: RunId, part: u32, index: u32) -> String {
    format!("msg_{run}{}_in{index}", PartSuffix(part))
}

/// Names a message that a run said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidMessage {
    /// The run.
    pub run: RunId,
    /// Which part of it.
    pub part: u32,
    /// Which item of that part.
    pub index: u32,
}

/// Reads the id of a message that a run said.
#[must_use]
pub fn parse_message_id(text: &str) -> Option<SaidMessage> {
    let (run, index) = text.strip_prefix("msg_")?.split_once('_')?;
    let (run, part) = run_and_part(run)?;
    Some(SaidMessage { run, part, index: index.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_run_and_how_it_may_be_used() {
        let run = RunId::from_parts(1_700_000_000_000, 42);
        for retention in
            [ResponseRetention::Stored, ResponseRetention::Background, ResponseRetention::Unstored]
        {
            for part in [0, 1, 12] {
                let id = ResponseId { run, part, retention };
                assert_eq!(ResponseId::parse(&id.to_string()), Some(id));
            }
        }
        for part in [0, 2] {
            let said = SaidMessage { run, part, index: 3 };
            assert_eq!(parse_message_id(&message_id(run, part, 3)), Some(said));
            assert_eq!(parse_message_id(&input_id(run, part, 3)), None);
        }
        let call = ClientCallId { run, number: 4 };
        assert_eq!(parse_call_item_id(&call_item_id(call)), Some(call));
        assert_eq!(parse_call_item_id(&call.to_string()), None);
    }

    #[test]
    fn other_ids_are_not_read() {
        let run = RunId::from_parts(1, 1);
        let parts = ["-", "-0", "-01", "-x", "-1-2"].map(|part| format!("resp_s{run}{part}"));
        let others =
            ["", "resp_", "resp_s", &format!("resp_x{run}"), &format!("s{run}"), "resp_é", "resp_sé"];
        for text in others.into_iter().chain(parts.iter().map(String::as_str)) {
            assert_eq!(ResponseId::parse(text), None, "{text}");
        }
        assert_eq!(parse_message_id("msg_abc_0"), None);
    }
}
