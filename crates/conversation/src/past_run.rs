//! One run of the past, read from its tape: what was said, and when it ended.
//!
//! Reads a tape or the beginning of one; knows nothing of sessions. A tape that is damaged is another error than one that
//! cannot be read now.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use jiff::tz::TimeZone;
use palyra_context::prompt::PastRun;
use palyra_context::taints_read::TaintsRead;
use palyra_context::transcript::Transcript;
use palyra_ports::ReadError;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_types::event::{AbandonCause, ContextSource, ModelEvent, ModelRequested, RunEvent, TapeEvent};
use palyra_types::model::{ModelFailureClass, ModelRef};
use palyra_types::tool::Taints;
use palyra_types::{RunId, Seq, SessionId, TapeSeq};

use crate::parts::ConversationPorts;

/// A tape, or the beginning of one.
#[derive(Debug, Clone)]
pub struct ReadRun {
    /// The run.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// What a model reads of it.
    pub past: PastRun,
    /// Where a model was asked first.
    pub begun_at: Option<Seq>,
    /// What it had read, with what came before it.
    pub taints: Taints,
    /// Its latest request to a model.
    pub asked: Option<AskedModel>,
    /// The models that it may ask, in order.
    pub chain: Vec<ModelRef>,
}

/// A request to a model, as far as it says how much of a window a session needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedModel {
    /// Which model.
    pub model: Option<ModelRef>,
    /// The tokens of the request, and of the part that was left out of it; those that the provider counted, if they are more.
    pub tokens: u64,
    /// Messages of earlier runs, those that were left out too.
    pub earlier_messages: usize,
    /// Whether the provider refused it as too large.
    pub refused: bool,
}

impl AskedModel {
    fn new(requested: &ModelRequested) -> Self {
        let context = &requested.context;
        let dropped: u64 = context.sources.iter().map(|source| source.tokens_dropped).sum();
        let tokens = context.tokens_estimated.saturating_add(dropped);
        let history = context.sources.iter().filter(|source| source.source == ContextSource::History);
        let earlier_messages = history.map(|source| source.kept as usize + source.dropped as usize).sum();
        Self { model: requested.model.expose().clone(), tokens, earlier_messages, refused: false }
    }

    /// Takes what became of the request; a later request replaces an earlier one, but a refusal stays.
    fn take(latest: &mut Option<Self>, event: &ModelEvent) {
        if let ModelEvent::Requested(requested) = event {
            let refused = latest.as_ref().is_some_and(|before| before.refused);
            *latest = Some(Self { refused, ..Self::new(requested) });
        }
        let Some(latest) = latest else { return };
        if let ModelEvent::Message(message) = event {
            latest.tokens = latest.tokens.max(message.usage.input_tokens);
        } else if let ModelEvent::AttemptAbandoned { cause, .. } = event {
            latest.refused |= matches!(cause, AbandonCause::Failure(ModelFailureClass::ContextExceeded));
        }
    }
}

/// Reads a tape up to and including an entry, or to its end.
///
/// # Errors
/// [`ReadError::Corrupt`] when it is empty, has a gap or cannot be rendered.
pub async fn read_run(
    ports: &ConversationPorts,
    run: RunId,
    upto: Option<TapeSeq>,
) -> Result<ReadRun, ReadError> {
    // What a damaged tape does to the rendering is that tape's fault alone.
    let reading = AssertUnwindSafe(read(ports, run, upto)).catch_unwind().await;
    reading.unwrap_or(Err(ReadError::Corrupt { seq: 0 }))
}

async fn read(ports: &ConversationPorts, run: RunId, upto: Option<TapeSeq>) -> Result<ReadRun, ReadError> {
    let mut transcript = Transcript::new(run);
    let mut first = None;
    let mut zone = None;
    let mut ended = Seq::default();
    let mut begun_at = None;
    let mut session = None;
    let mut asked = None;
    let mut chain = Vec::new();
    let mut taints = TaintsRead::default();
    let mut last = TapeSeq::default();
    'pages: loop {
        let left = upto.map_or(u32::MAX, |upto| upto.0.saturating_sub(last.0));
        let limit = MAX_TAPE_ENTRIES_PER_RESPONSE.min(usize::try_from(left).unwrap_or(usize::MAX));
        if limit == 0 {
            break;
        }
        let page = ports.tapes.tape(run, last, limit).await?;
        for entry in &page.entries {
            if entry.tape_seq != last.next() {
                return Err(ReadError::Corrupt { seq: entry.seq.0 });
            }
            last = entry.tape_seq;
            ended = entry.seq;
            first.get_or_insert(entry.seq);
            if entry.event.begins_run() {
                begun_at.get_or_insert(entry.seq);
            }
            session.get_or_insert(entry.session);
            if let TapeEvent::Model(event) = &entry.event {
                AskedModel::take(&mut asked, event);
            }
            if let TapeEvent::Run(RunEvent::Started(started)) = &entry.event {
                chain = started.model.expose().iter().chain(started.fallbacks.expose()).cloned().collect();
            }
            taints.take(&entry.event);
            transcript.push(&entry.event, entry.time);
            zone.get_or_insert_with(|| (ports.zone_of)(entry.principal));
        }
        if page.more == MoreEntries::None || page.entries.is_empty() {
            break 'pages;
        }
    }
    let (Some(first_seq), Some(session)) = (first, session) else {
        return Err(ReadError::Corrupt { seq: 0 });
    };
    let messages = transcript.messages(&zone.unwrap_or(TimeZone::UTC)).into();
    let past = PastRun { first_seq, ended, messages };
    Ok(ReadRun { run, session, past, begun_at, taints: taints.taints(), asked, chain })
}
