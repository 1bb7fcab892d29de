//! What is done on the wire, one act after the other, and how a finished list of acts is disturbed.

use std::time::Duration;

use crate::scripted_provider::Gate;

/// One thing done on the wire.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Sends bytes as one chunk of the body.
    Send(Vec<u8>),
    /// Sends the same bytes again and again until the client goes away.
    Flood(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Waits for the test.
    Hold(Gate),
    /// Says nothing more and keeps the connection.
    Hang,
    /// Closes the connection without ending the body.
    Close,
    /// Resets the connection; what the client has not read yet is lost to it.
    Reset,
    /// Ends the body properly, whatever was still to come.
    End,
}

/// How a reply ends where it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The connection closes; the body is not ended.
    Close,
    /// The connection is reset. Text that came before may be lost to the client.
    Reset,
    /// The body ends properly, as if this were all.
    CleanEnd,
    /// Nothing more comes.
    Silence,
}

impl From<Cut> for Act {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::Close => Self::Close,
            Cut::Reset => Self::Reset,
            Cut::CleanEnd => Self::End,
            Cut::Silence => Self::Hang,
        }
    }
}

/// A reply, ready for the wire.
#[derive(Debug)]
pub(super) struct Performance {
    /// Status and headers; `None` when not even they are sent.
    pub(super) head: Option<Head>,
    pub(super) acts: Vec<Act>,
}

/// The head of a reply.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
}

impl Performance {
    /// Sends nothing of HTTP at all.
    pub(super) fn headless(act: Act) -> Self {
        Self { head: None, acts: vec![act] }
    }

    /// Sends a body that comes in one piece.
    pub(super) fn whole(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self::of(status, content_type, vec![Act::Send(body)])
    }

    /// Sends a head, and then does this.
    pub(super) fn of(status: u16, content_type: &str, acts: Vec<Act>) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self { head: Some(Head { status, headers }), acts }
    }
}

/// Cuts behind the first `bytes` bytes of the body; what is shorter stays whole.
pub(super) fn cut_at(acts: Vec<Act>, bytes: usize, cut: Cut) -> Vec<Act> {
    let mut left = bytes;
    let mut kept = Vec::with_capacity(acts.len() + 1);
    for act in acts {
        match act {
            Act::Send(body) if body.len() > left => {
                kept.push(Act::Send(body[..left].to_vec()));
                kept.push(cut.into());
                return kept;
            }
            Act::Send(body) => {
                left -= body.len();
                kept.push(Act::Send(body));
            }
            other => kept.push(other),
        }
    }
    kept
}

/// Sends everything in chunks of at most `bytes` bytes.
pub(super) fn in_chunks(acts: Vec<Act>, bytes: usize) -> Vec<Act> {
    let split = |act| match act {
        Act::Send(body) => body.chunks(bytes.max(1)).map(|part| Act::Send(part.to_vec())).collect(),
        other => vec![other],
    };
    acts.into_iter().flat_map(split).collect()
}

/// Leaves out the second half of what is sent last.
pub(super) fn halve_last(acts: &mut [Act]) {
    if let Some(Act::Send(bytes)) = acts.last_mut() {
        bytes.truncate(bytes.len() / 2);
    }
}
