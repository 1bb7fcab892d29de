//! The ids that clients see: each names a run, so that nothing has to be stored to find it again.
//!
//! A response's id says how it may be used later: stored, in the background, or not stored. The id is not a secret
//! and gives no permission: a run of another principal is not found.

use std::fmt;

use palyra_types::RunId;

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
        Some(Self { run: rest.get(1..)?.parse().ok()?, retention })
    }
}

impl fmt::Display for ResponseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.retention {
            ResponseRetention::Stored => 's',
            ResponseRetention::Background => 'b',
            ResponseRetention::Unstored => 'u',
        };
        write!(f, "resp_{letter}{}", self.run)
    }
}

/// Returns the id of a chat completion.
#[must_use]
pub fn completion_id(run: RunId) -> String {
    format!("chatcmpl-{run}")
}

/// Returns the id of a message that a run says.
#[must_use]
pub fn message_id(run: RunId, index: u32) -> String {
    format!("msg_{run}_{index}")
}

/// Returns the id of an input that a run was given.
#[must_use]
pub fn input_id(run: RunId, index: u32) -> String {
    format!("msg_{run}_in{index}")
}

/// Reads the id of a message that a run said.
#[must_use]
pub fn parse_message_id(text: &str) -> Option<(RunId, u32)> {
    let (run, index) = text.strip_prefix("msg_")?.split_once('_')?;
    Some((run.parse().ok()?, index.parse().ok()?))
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
            let id = ResponseId { run, retention };
            assert_eq!(ResponseId::parse(&id.to_string()), Some(id));
        }
        assert_eq!(parse_message_id(&message_id(run, 3)), Some((run, 3)));
        assert_eq!(parse_message_id(&input_id(run, 3)), None);
    }

    #[test]
    fn other_ids_are_not_read() {
        let run = RunId::from_parts(1, 1);
        for text in ["", "resp_", "resp_s", &format!("resp_x{run}"), &format!("s{run}"), "resp_é", "resp_sé"]
        {
            assert_eq!(ResponseId::parse(text), None, "{text}");
        }
        assert_eq!(parse_message_id("msg_abc_0"), None);
    }
}
