//! One run of the past, read from its tape: what was said, and when it ended.
//!
//! Reads a tape or the beginning of one; knows nothing of sessions. What cannot be read is told from what cannot
//! be read now.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use jiff::tz::TimeZone;
use palyra_context::prompt::PastRun;
use palyra_context::taints_read::TaintsRead;
use palyra_context::transcript::Transcript;
use palyra_ports::ReadError;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_run_core::RunStateMachine;
use palyra_types::tool::Taints;
use palyra_types::{RunId, Seq, TapeSeq};

use crate::engine::Engine;

/// A tape, or the beginning of one.
pub(super) struct ReadRun {
    pub(super) past: PastRun,
    pub(super) ended: Seq,
    /// Whether a model was asked.
    pub(super) begun_at: Option<Seq>,
    /// What it had read, with what came before it.
    pub(super) taints: Taints,
}

/// Reads a tape up to and including an entry, or to its end.
///
/// # Errors
/// [`ReadError::Corrupt`] when it is empty, has a gap or cannot be rendered.
pub(super) async fn read_run(
    engine: &Engine,
    run: RunId,
    upto: Option<TapeSeq>,
) -> Result<ReadRun, ReadError> {
    // What a damaged tape does to the rendering is that tape's fault alone.
    let reading = AssertUnwindSafe(read(engine, run, upto)).catch_unwind().await;
    reading.unwrap_or(Err(ReadError::Corrupt { seq: 0 }))
}

async fn read(engine: &Engine, run: RunId, upto: Option<TapeSeq>) -> Result<ReadRun, ReadError> {
    let mut transcript = Transcript::new(run);
    let mut first = None;
    let mut zone = None;
    let mut ended = Seq::default();
    let mut begun_at = None;
    let mut taints = TaintsRead::default();
    let mut last = TapeSeq::default();
    'pages: loop {
        let left = upto.map_or(u32::MAX, |upto| upto.0.saturating_sub(last.0));
        let limit = MAX_TAPE_ENTRIES_PER_RESPONSE.min(usize::try_from(left).unwrap_or(usize::MAX));
        if limit == 0 {
            break;
        }
        let page = engine.ports.tapes.tape(run, last, limit).await?;
        for entry in &page.entries {
            if entry.tape_seq != last.next() {
                return Err(ReadError::Corrupt { seq: entry.seq.0 });
            }
            last = entry.tape_seq;
            ended = entry.seq;
            first.get_or_insert(entry.seq);
            if RunStateMachine::is_begun_by(&entry.event) {
                begun_at.get_or_insert(entry.seq);
            }
            taints.take(&entry.event);
            transcript.push(&entry.event, entry.time);
            zone.get_or_insert_with(|| engine.runs.zone_of(entry.principal));
        }
        if page.more == MoreEntries::None || page.entries.is_empty() {
            break 'pages;
        }
    }
    let first_seq = first.ok_or(ReadError::Corrupt { seq: 0 })?;
    let messages = transcript.messages(&zone.unwrap_or(TimeZone::UTC)).into();
    let past = PastRun { first_seq, messages };
    Ok(ReadRun { past, ended, begun_at, taints: taints.taints() })
}
