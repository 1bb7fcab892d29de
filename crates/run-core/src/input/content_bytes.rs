//! How many bytes of content an input brings to a run's tape.

use palyra_types::attachment::AttachmentBody;
use palyra_types::effect::{FileBefore, PreImage};

use crate::{PreparedEffect, RunInput};

impl RunInput {
    /// Returns how many bytes it brings that people, models and tools said.
    #[must_use]
    pub fn content_bytes(&self) -> usize {
        match self {
            Self::Input { input, .. } | RunInput::Steer { input, .. } => {
                let inline = input.attachments.iter().map(|attachment| match &attachment.body {
                    AttachmentBody::Text(text) => text.expose().len(),
                    AttachmentBody::Blob { .. } => 0,
                });
                input.text.expose().len() + inline.sum::<usize>()
            }
            Self::Text { text, .. } | Self::Reasoning { text, .. } | Self::ToolPrinted { text, .. } => {
                text.expose().len()
            }
            Self::Answered { answer, .. } => {
                let arguments = answer.proposals.iter().map(|call| call.arguments.expose().len());
                let kept = answer.continuation.as_ref().map_or(0, |kept| kept.body.expose().len());
                arguments.sum::<usize>() + kept
            }
            Self::ToolFinished { outcome, .. } => outcome.output.expose().len(),
            Self::ModelFailed { detail, .. } => detail.expose().len(),
            Self::ToolPrepared { prepared, .. } => prepared.as_ref().map_or(0, prepared_bytes),
            Self::ApprovalAnswered(stage) => {
                let answer = stage.answer();
                let edited = answer.edited.as_ref().map_or(0, |(arguments, _)| arguments.expose().len());
                let prepared = stage.prepared().and_then(|prepared| prepared.as_ref().ok());
                answer.note.expose().len() + edited + prepared.map_or(0, prepared_bytes)
            }
            Self::OverBudget(refusal) => refusal.explanation.expose().len(),
            Self::SoftLimitsPassed(passed) => passed.iter().map(|text| text.expose().len()).sum(),
            Self::EffectResolved { note, .. } => note.expose().len(),
            Self::OfferClientTools(offer) => offer.content_bytes(),
            Self::ClientToolsAnswered(results) => {
                let outputs: usize = results.outputs.iter().map(|output| output.expose().len()).sum();
                outputs + results.offer.as_ref().map_or(0, |offer| offer.content_bytes())
            }
            Self::Start(_)
            | Self::Begin
            | Self::ContextReady { .. }
            | Self::ContextTooLarge
            | Self::ReferencesExpanded(_)
            | Self::RetryDue { .. }
            | Self::BudgetDue(_)
            | Self::ToolOutcomeLost { .. }
            | Self::ApprovalExpired { .. }
            | Self::ClientWaitExpired
            | Self::Cancel { .. }
            | Self::Recovered
            | Self::Broken
            | Self::Judged(_) => 0,
        }
    }
}

fn prepared_bytes(prepared: &PreparedEffect) -> usize {
    let before = |image: &PreImage| match &image.before {
        FileBefore::File { bytes, .. } => bytes.expose().len(),
        FileBefore::Absent | FileBefore::Withheld { .. } => 0,
    };
    let images: usize = prepared.plan.pre_images.iter().map(before).sum();
    images + prepared.plan.body.expose().len() + prepared.preview.expose().len()
}
