//! Stored forms of what a call will do, what a person says of it, and how it is taken back.

use std::time::Duration;

use palyra_types::effect::{
    EffectPlan, EffectResolution, EffectSettled, FileBefore, KeptFileId, KeptPlacement, PreImage, ToolOutput,
    UndoRequested, UndoResult, UndoneFile,
};
use palyra_types::event::{ContentDigest, EffectEvent, JournalEvent, TapeEvent, ToolEvent, ToolStarted};
use palyra_types::{EffectId, PrincipalId, Redacted, RunId, UndoId};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, fixed, fixed_or_zero, micros, pair, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode_started(started: &ToolStarted) -> EncodedParts {
    let plan = &started.plan;
    pair(
        &store::ToolStartedFacts {
            version: VERSION,
            effect: started.effect.0,
            contract: started.contract.to_stored(),
            deadline: micros(started.deadline),
            binding: unless_zero(&plan.binding.0),
        },
        &store::ToolStartedPayload {
            plan: plan.body.expose().clone(),
            pre_images: plan.pre_images.iter().map(pre_image_to_stored).collect(),
            preview: plan.preview.expose().clone(),
        },
    )
}

pub(super) fn decode_started(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ToolStartedFacts::decode(facts)?;
    let payload = store::ToolStartedPayload::decode(payload)?;
    Ok(TapeEvent::Tool(ToolEvent::Started(ToolStarted {
        effect: EffectId(facts.effect),
        contract: StoredEnum::from_stored(facts.contract)?,
        deadline: Duration::from_micros(facts.deadline),
        plan: EffectPlan {
            binding: ContentDigest(fixed_or_zero(&facts.binding)?),
            body: Redacted::from_stored(payload.plan),
            pre_images: payload
                .pre_images
                .into_iter()
                .map(pre_image_from_stored)
                .collect::<ReadResult<_>>()?,
            preview: Redacted::from_stored(payload.preview),
        },
    })))
}

pub(super) fn encode_output(output: &ToolOutput) -> EncodedParts {
    pair(
        &store::ToolOutputFacts {
            version: VERSION,
            effect: output.effect.0,
            shown_bytes: output.shown_bytes,
            rest: output.rest.to_stored(),
        },
        &store::ToolOutputPayload { text: output.text.expose().clone() },
    )
}

pub(super) fn decode_output(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::ToolOutputFacts::decode(facts)?;
    let payload = store::ToolOutputPayload::decode(payload)?;
    Ok(TapeEvent::Tool(ToolEvent::Output(ToolOutput {
        effect: EffectId(facts.effect),
        shown_bytes: facts.shown_bytes,
        rest: StoredEnum::from_stored(facts.rest)?,
        text: Redacted::from_stored(payload.text),
    })))
}

fn pre_image_to_stored(image: &PreImage) -> store::PreImage {
    let (before, content, mode) = match &image.before {
        FileBefore::Absent => (store::Before::Absent, Vec::new(), 0),
        FileBefore::File { bytes, mode } => (store::Before::File, bytes.expose().clone(), *mode),
        FileBefore::Withheld { mode } => (store::Before::Withheld, Vec::new(), *mode),
    };
    store::PreImage {
        path: image.path.expose().clone(),
        before: before.into(),
        content,
        mode,
        after_sha256: image.after_sha256.map_or_else(Vec::new, |digest| digest.to_vec()),
    }
}

fn pre_image_from_stored(image: store::PreImage) -> ReadResult<PreImage> {
    let mode = image.mode;
    Ok(PreImage {
        path: Redacted::from_stored(image.path),
        before: match store::Before::try_from(image.before).map_err(|_| UnreadableEvent::Newer)? {
            store::Before::Unspecified => return Err(UnreadableEvent::Malformed),
            store::Before::Absent => FileBefore::Absent,
            store::Before::File => FileBefore::File { bytes: Redacted::from_stored(image.content), mode },
            store::Before::Withheld => FileBefore::Withheld { mode },
        },
        after_sha256: match image.after_sha256.as_slice() {
            [] => None,
            digest => Some(fixed(digest)?),
        },
    })
}

pub(super) fn encode_resolved(
    effect: EffectId,
    resolution: EffectResolution,
    by: PrincipalId,
    note: &Redacted<String>,
) -> EncodedParts {
    pair(
        &store::EffectResolvedFacts {
            version: VERSION,
            effect: effect.0,
            resolution: resolution.to_stored(),
            by: unless_zero(&by.to_bytes()),
        },
        &store::EffectResolvedPayload { note: note.expose().clone() },
    )
}

pub(super) fn decode_resolved(facts: &[u8], payload: &[u8]) -> ReadResult<TapeEvent> {
    let facts = store::EffectResolvedFacts::decode(facts)?;
    let payload = store::EffectResolvedPayload::decode(payload)?;
    Ok(TapeEvent::Tool(ToolEvent::EffectResolved {
        effect: EffectId(facts.effect),
        resolution: StoredEnum::from_stored(facts.resolution)?,
        by: PrincipalId::from_bytes(fixed_or_zero(&facts.by)?),
        note: Redacted::from_stored(payload.note),
    }))
}

pub(super) fn encode_settled(settled: &EffectSettled) -> EncodedParts {
    pair(
        &store::EffectSettledFacts {
            version: VERSION,
            run: unless_zero(&settled.run.to_bytes()),
            effect: settled.effect.0,
            resolution: settled.resolution.to_stored(),
            by: unless_zero(&settled.by.to_bytes()),
        },
        &store::EffectSettledPayload { note: settled.note.expose().clone() },
    )
}

pub(super) fn decode_settled(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::EffectSettledFacts::decode(facts)?;
    let payload = store::EffectSettledPayload::decode(payload)?;
    Ok(JournalEvent::Effect(EffectEvent::Settled(EffectSettled {
        run: RunId::from_bytes(fixed_or_zero(&facts.run)?),
        effect: EffectId(facts.effect),
        resolution: StoredEnum::from_stored(facts.resolution)?,
        by: PrincipalId::from_bytes(fixed_or_zero(&facts.by)?),
        note: Redacted::from_stored(payload.note),
    })))
}

pub(super) fn encode_undo_requested(requested: &UndoRequested) -> EncodedParts {
    let run = unless_zero(&requested.run.to_bytes());
    let (run, kept_run) = if requested.kept.is_some() { (Vec::new(), run) } else { (run, Vec::new()) };
    pair(
        &store::UndoRequestedFacts {
            version: VERSION,
            undo: unless_zero(&requested.undo.to_bytes()),
            run,
            kept_run,
        },
        &store::UndoRequestedPayload {
            paths: requested.paths.iter().map(|path| path.expose().clone()).collect(),
            kept: requested.kept.as_ref().map(placement_to_stored),
        },
    )
}

fn placement_to_stored(placement: &KeptPlacement) -> store::KeptPlacement {
    let before = placement.before.iter().map(|digest| digest.map_or_else(Vec::new, Vec::from));
    store::KeptPlacement {
        file: placement.file.0.clone(),
        sha256: unless_zero(&placement.sha256),
        before: before.collect(),
    }
}

fn placement_from_stored(placement: store::KeptPlacement) -> ReadResult<KeptPlacement> {
    let before = |digest: &Vec<u8>| (!digest.is_empty()).then(|| fixed_or_zero(digest)).transpose();
    Ok(KeptPlacement {
        file: KeptFileId(placement.file),
        sha256: fixed_or_zero(&placement.sha256)?,
        before: placement.before.iter().map(before).collect::<Result<_, _>>()?,
    })
}

pub(super) fn decode_undo_requested(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::UndoRequestedFacts::decode(facts)?;
    let payload = store::UndoRequestedPayload::decode(payload)?;
    // An erased content leaves a placement of nothing: it stays one, and takes back no change of the run.
    let kept = match (payload.kept, facts.kept_run.is_empty()) {
        (_, true) => None,
        (kept, false) => Some(placement_from_stored(kept.unwrap_or_default())?),
    };
    let run = if kept.is_some() { &facts.kept_run } else { &facts.run };
    Ok(JournalEvent::Effect(EffectEvent::UndoRequested(UndoRequested {
        undo: UndoId::from_bytes(fixed_or_zero(&facts.undo)?),
        run: RunId::from_bytes(fixed_or_zero(run)?),
        paths: payload.paths.into_iter().map(Redacted::from_stored).collect(),
        kept,
    })))
}

pub(super) fn encode_undo_finished(undo: UndoId, run: RunId, files: &[UndoneFile]) -> EncodedParts {
    pair(
        &store::UndoFinishedFacts {
            version: VERSION,
            undo: unless_zero(&undo.to_bytes()),
            run: unless_zero(&run.to_bytes()),
        },
        &store::UndoFinishedPayload { files: files.iter().map(undone_to_stored).collect() },
    )
}

pub(super) fn decode_undo_finished(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::UndoFinishedFacts::decode(facts)?;
    let payload = store::UndoFinishedPayload::decode(payload)?;
    Ok(JournalEvent::Effect(EffectEvent::UndoFinished {
        undo: UndoId::from_bytes(fixed_or_zero(&facts.undo)?),
        run: RunId::from_bytes(fixed_or_zero(&facts.run)?),
        files: payload.files.into_iter().map(undone_from_stored).collect::<ReadResult<_>>()?,
    }))
}

fn undone_to_stored(file: &UndoneFile) -> store::UndoneFile {
    let (result, detail) = match &file.result {
        UndoResult::Restored => (store::UndoResult::Restored, String::new()),
        UndoResult::AlreadyRestored => (store::UndoResult::AlreadyRestored, String::new()),
        UndoResult::Conflict(diff) => (store::UndoResult::Conflict, diff.expose().clone()),
        UndoResult::Withheld => (store::UndoResult::Withheld, String::new()),
        UndoResult::Failed(why) => (store::UndoResult::Failed, why.expose().clone()),
    };
    store::UndoneFile { path: file.path.expose().clone(), result: result.into(), detail }
}

fn undone_from_stored(file: store::UndoneFile) -> ReadResult<UndoneFile> {
    let result = match store::UndoResult::try_from(file.result).map_err(|_| UnreadableEvent::Newer)? {
        store::UndoResult::Unspecified => return Err(UnreadableEvent::Malformed),
        store::UndoResult::Restored => UndoResult::Restored,
        store::UndoResult::AlreadyRestored => UndoResult::AlreadyRestored,
        store::UndoResult::Conflict => UndoResult::Conflict(Redacted::from_stored(file.detail)),
        store::UndoResult::Withheld => UndoResult::Withheld,
        store::UndoResult::Failed => UndoResult::Failed(Redacted::from_stored(file.detail)),
    };
    Ok(UndoneFile { path: Redacted::from_stored(file.path), result })
}
