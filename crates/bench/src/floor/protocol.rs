//! Frames between the floor and its client: a letter, a length, bytes.

use anyhow::Context;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// A question.
pub(super) const ASK: u8 = b'A';
/// Text of the answer, durable.
pub(super) const TEXT: u8 = b'T';
/// A call waits for a yes, durable.
pub(super) const CALL: u8 = b'C';
/// The yes.
pub(super) const YES: u8 = b'Y';
/// The answer is over, durable.
pub(super) const END: u8 = b'E';

const FRAME_BYTES_MAX: usize = 1024 * 1024;
const HEAD_BYTES: usize = 5;

/// Sends a frame.
pub(super) async fn send(to: &mut (impl AsyncWrite + Unpin), tag: u8, bytes: &[u8]) -> anyhow::Result<()> {
    let length = u32::try_from(bytes.len()).context("a frame too long")?;
    let mut frame = Vec::with_capacity(HEAD_BYTES + bytes.len());
    frame.push(tag);
    frame.extend(length.to_le_bytes());
    frame.extend(bytes);
    to.write_all(&frame).await.context("the other side hung up")
}

/// Takes frames off a socket.
#[derive(Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    /// Returns the next frame; `None` when the other side hung up.
    pub(super) async fn next(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
    ) -> anyhow::Result<Option<(u8, Vec<u8>)>> {
        loop {
            if let Some((head, rest)) = self.bytes.split_first_chunk::<HEAD_BYTES>() {
                let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
                anyhow::ensure!(length <= FRAME_BYTES_MAX, "a frame too long");
                if let Some(body) = rest.get(..length) {
                    let frame = (head[0], body.to_vec());
                    self.bytes.drain(..HEAD_BYTES + length);
                    return Ok(Some(frame));
                }
            }
            if from.read_buf(&mut self.bytes).await? == 0 {
                return Ok(None);
            }
        }
    }
}
