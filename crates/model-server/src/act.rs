//! What is done on the wire, one act after the other, and how a finished list of acts is disturbed.

use std::time::Duration;

use palyra_testkit::scripted_provider::Gate;

/// One thing done on the wire.
#[derive(Debug, Clone)]
pub(super) enum WireAction {
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

impl From<Cut> for WireAction {
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
pub(super) struct WireReply {
    /// Status and headers; `None` when not even they are sent.
    pub(super) head: Option<ReplyHead>,
    pub(super) acts: Vec<WireAction>,
}

/// The head of a reply.
#[derive(Debug)]
pub(super) struct ReplyHead {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
}

impl WireReply {
    /// Sends nothing of HTTP at all.
    pub(super) fn headless(act: WireAction) -> Self {
        Self { head: None, acts: vec![act] }
    }

    /// Sends a body that comes in one piece.
    pub(super) fn whole(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self::of(status, content_type, vec![WireAction::Send(body)])
    }

    /// Sends a head, and then does this.
    pub(super) fn of(status: u16, content_type: &str, acts: Vec<WireAction>) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self { head: Some(ReplyHead { status, headers }), acts }
    }
}

/// Cuts behind the first `bytes` bytes of the body; what is shorter stays whole.
pub(super) fn cut_at(acts: Vec<WireAction>, bytes: usize, cut: Cut) -> Vec<WireAction> {
    let mut left = bytes;
    let mut kept = Vec::with_capacity(acts.len() + 1);
    for act in acts {
        match act {
            WireAction::Send(body) if body.len() > left => {
                kept.push(WireAction::Send(body[..left].to_vec()));
                kept.push(cut.into());
                return kept;
            }
            WireAction::Send(body) => {
                left -= body.len();
                kept.push(WireAction::Send(body));
            }
            other => kept.push(other),
        }
    }
    kept
}

/// Sends everything in chunks of at most `bytes` bytes.
pub(super) fn in_chunks(acts: Vec<WireAction>, bytes: usize) -> Vec<WireAction> {
    let split = |act| match act {
        WireAction::Send(body) => {
            body.chunks(bytes.max(1)).map(|part| WireAction::Send(part.to_vec())).collect()
        }
        other => vec![other],
    };
    acts.into_iter().flat_map(split).collect()
}

/// Leaves out the second half of what is sent last.
pub(super) fn halve_last(acts: &mut [WireAction]) {
    if let Some(WireAction::Send(bytes)) = acts.last_mut() {
        bytes.truncate(bytes.len() / 2);
    }
}
