//! Opens a stream, again and again until a deadline when the daemon was lost.

use std::time::{Duration, Instant};

use palyra_types::ErrorCode;

use super::opening::StreamOpening;
use super::run_stream::RunStream;
use crate::client::Client;
use crate::error::ClientError;
use crate::find::ModelRule;

/// A daemon that takes connections and drops the stream at once is asked again ever more slowly.
const PAUSES_MS: [u64; 6] = [10, 20, 50, 100, 250, 500];

/// How often a daemon whose model changed is looked for again.
const MISMATCHES_MAX: usize = 3;

fn is_mismatch(error: &ClientError) -> bool {
    matches!(error, ClientError::Refused { code: ErrorCode::ModelMismatch, .. })
}

/// Opens the stream that begins with `opening`.
///
/// `lost_since` is when an open stream was lost; then, or once this attempt meets a lost daemon, the
/// daemon is searched for (and started where that is allowed) for as long as the client's options say.
pub(super) async fn open_stream(
    client: Client,
    opening: StreamOpening,
    lost_since: Option<Instant>,
) -> Result<RunStream, ClientError> {
    let window = client.options().reattach_within;
    let mut give_up = lost_since.map(|since| since + window);
    let mut last: Option<ClientError> = None;
    let mut mismatches = 0;
    for attempt in 0_usize.. {
        if let Some(give_up) = give_up {
            if Instant::now() >= give_up {
                break;
            }
            let pause = Duration::from_millis(PAUSES_MS[attempt.min(PAUSES_MS.len() - 1)]);
            tokio::time::sleep(pause).await;
            // A run that nobody has heard of yet begins with the model that is meant, or not at all.
            let rule = if opening.starts_a_run() { ModelRule::Demand } else { ModelRule::Report };
            match client.reconnect(give_up, rule).await {
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
            // The daemon that was found made room for another since then, or reads another configuration.
            Err(error) if error.is_lost() || is_mismatch(&error) && mismatches < MISMATCHES_MAX => {
                mismatches += usize::from(is_mismatch(&error));
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
