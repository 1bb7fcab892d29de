//! Opens a stream, again and again until a deadline when the daemon was lost.

use std::time::{Duration, Instant};

use super::opening::Opening;
use super::run_stream::RunStream;
use crate::client::Client;
use crate::error::ClientError;

/// A daemon that takes connections and drops the stream at once is asked again ever more slowly.
const PAUSES_MS: [u64; 6] = [10, 20, 50, 100, 250, 500];

/// Opens the stream that begins with `opening`.
///
/// `lost_since` is when an open stream was lost; then, or once this attempt meets a lost daemon, the
/// daemon is searched for (and started where that is allowed) for as long as the client's options say.
pub(super) async fn open_stream(
    client: Client,
    opening: Opening,
    lost_since: Option<Instant>,
) -> Result<RunStream, ClientError> {
    let window = client.options().reattach_within;
    let mut give_up = lost_since.map(|since| since + window);
    let mut last: Option<ClientError> = None;
    for attempt in 0_usize.. {
        if let Some(give_up) = give_up {
            if Instant::now() >= give_up {
                break;
            }
            let pause = Duration::from_millis(PAUSES_MS[attempt.min(PAUSES_MS.len() - 1)]);
            tokio::time::sleep(pause).await;
            match client.reconnect(give_up).await {
                Ok(()) => {}
                Err(error) if error.is_lost() => {
                    last = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            }
        }
        match client.run_stream(&opening).await {
            Ok(stream) => return Ok(stream),
            Err(error) if error.is_lost() => {
                give_up.get_or_insert_with(|| Instant::now() + window);
                last = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    let last =
        last.unwrap_or(ClientError::Protocol { what: "the stream ends again and again without a word" });
    Err(ClientError::GaveUp { waited: window, last: Box::new(last) })
}
