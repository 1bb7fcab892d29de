//! Content fields of events on the tape of a run, one row each.
//!
//! Owns path and class of each field. Facts are bound to `_`.

use super::ContentClass::{Bytes, Fixed, Identity, Prose};
use super::walk::content_rows;
use crate::approval::{
    ApprovalPromptRecord, ApprovalRequested, ApprovalResolved, ApprovalVoted, ArgumentRule, ArgumentShape,
    GrantBounds, StoredGrant,
};
use crate::attachment::{Attachment, AttachmentBody};
use crate::effect::{Before, EffectPlan, PreImage, ToolOutput};
use crate::event::{
    ApprovalEvent, ModelEvent, ModelMessage, ModelRequested, RunEvent, RunFinished, RunStarted, TapeEvent,
    ToolDecided, ToolEvent, ToolFinished, ToolProposed, ToolStarted,
};
use crate::model::{ProviderContinuation, ResponseFormat};
use crate::run::UserInput;

content_rows! {
    fn tape_event(walk, event: TapeEvent) {
        match event {
            TapeEvent::Run(event) => walk.run_event(event),
            TapeEvent::Model(event) => walk.model_event(event),
            TapeEvent::Tool(event) => walk.tool_event(event),
            TapeEvent::Approval(event) => walk.approval_event(event),
            TapeEvent::Unknown { kind: _ } => {}
        }
    }

    fn run_event(walk, event: RunEvent) {
        match event {
            RunEvent::Started(started) => walk.run_started(started),
            RunEvent::InputReceived { input, delivery: _, idempotency: _ } => walk.user_input(input),
            RunEvent::LoopDetected { guard: _, repeats: _ }
            | RunEvent::Held { cause: _ }
            | RunEvent::CancelRequested { actor: _, reason: _ } => {}
            RunEvent::Finished(finished) => {
                let RunFinished {
                    state: _, reason: _, error: _, turns: _, tool_calls: _, usage: _, active_time: _, message,
                } = finished;
                walk.text(Prose, "message", message);
            }
        }
    }

    fn run_started(walk, started: RunStarted) {
        let RunStarted {
            agent: _, surface: _, limits: _, config_digest: _, idempotency: _, delivery: _, approvers: _,
            taints: _, skills: _, input, workspace_root, model, fallbacks, response_format, run_salt,
        } = started;
        walk.user_input(input);
        walk.path(Identity, "workspace_root", workspace_root);
        walk.within(model, |walk, model| {
            walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
        });
        walk.within(fallbacks, |walk, fallbacks| {
            walk.each(fallbacks, |walk, model| walk.model(Identity, "fallbacks", model));
        });
        walk.maybe(response_format, |walk, ResponseFormat { schema }| {
            walk.json(Identity, "response_format.schema", schema);
        });
        walk.within(run_salt, |walk, salt| walk.opaque(Fixed, "run_salt", salt));
    }

    fn user_input(walk, input: UserInput) {
        let UserInput { text, attachments } = input;
        walk.text(Prose, "input.text", text);
        walk.each(attachments, |walk, attachment| walk.attachment(attachment));
    }

    fn attachment(walk, attachment: Attachment) {
        let Attachment { name, media_type, bytes: _, sha256, body } = attachment;
        walk.text(Prose, "input.attachments.name", name);
        walk.text(Identity, "input.attachments.media_type", media_type);
        walk.within(sha256, |walk, digest| walk.opaque(Fixed, "input.attachments.sha256", digest));
        match body {
            AttachmentBody::Text(text) => walk.text(Prose, "input.attachments.text", text),
            AttachmentBody::Blob { index: _ } => {}
        }
    }

    fn model_event(walk, event: ModelEvent) {
        match event {
            ModelEvent::Requested(ModelRequested { attempt: _, turn: _, context: _, model }) => {
                walk.within(model, |walk, model| {
                    walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
                });
            }
            ModelEvent::Text { attempt: _, text } | ModelEvent::Reasoning { attempt: _, text } => {
                walk.text(Prose, "text", text);
            }
            ModelEvent::Message(message) => walk.model_message(message),
            ModelEvent::AttemptAbandoned {
                attempt: _, text_from: _, text_to: _, cause: _, next: _, retry_at: _, detail,
            } => walk.text(Prose, "detail", detail),
        }
    }

    fn model_message(walk, message: ModelMessage) {
        let ModelMessage {
            attempt: _, text_from: _, text_to: _, proposals: _, finish: _, usage: _, model, response_id,
            continuation,
        } = message;
        walk.within(model, |walk, model| {
            walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
        });
        walk.text(Identity, "response_id", response_id);
        walk.maybe(continuation, |walk, ProviderContinuation { model, format, body }| {
            walk.model(Identity, "continuation.model", model);
            walk.text(Fixed, "continuation.format", format);
            walk.json(Bytes, "continuation.body", body);
        });
    }

    fn tool_event(walk, event: ToolEvent) {
        match event {
            ToolEvent::Proposed(ToolProposed {
                effect: _, attempt: _, call_digest: _, tool, arguments, model_call_id,
            }) => {
                walk.text(Identity, "tool", tool);
                walk.json(Prose, "arguments", arguments);
                walk.text(Identity, "model_call_id", model_call_id);
            }
            ToolEvent::Decided(ToolDecided {
                effect: _, verdict: _, reason: _, decided_by: _, policy_digest: _, contract: _,
                parallelism: _, deadline: _, output_bytes_max: _, conduct: _, tool_version: _, risk: _,
                taints: _, ask: _, explanation, request,
            }) => {
                walk.text(Prose, "explanation", explanation);
                walk.json(Prose, "request", request);
            }
            ToolEvent::Started(ToolStarted { effect: _, contract: _, deadline: _, plan }) => {
                let EffectPlan { binding: _, body, pre_images } = plan;
                walk.json(Bytes, "plan.body", body);
                walk.each(pre_images, |walk, image| walk.pre_image(image));
            }
            ToolEvent::Output(ToolOutput { effect: _, shown_bytes: _, rest: _, text }) => {
                walk.text(Prose, "text", text);
            }
            ToolEvent::Finished(ToolFinished {
                effect: _, attested: _, failure: _, output_digest: _, output_bytes_total: _, duration: _,
                executor: _, isolation: _, output,
            }) => walk.text(Prose, "output", output),
            ToolEvent::OutcomeUnknown { effect: _, cause: _ } => {}
            ToolEvent::EffectResolved { effect: _, resolution: _, by: _, note } => {
                walk.text(Prose, "note", note);
            }
        }
    }

    fn pre_image(walk, image: PreImage) {
        let PreImage { path, before, after_sha256 } = image;
        walk.text(Identity, "plan.pre_images.path", path);
        match before {
            Before::File { bytes, mode: _ } => walk.bytes(Bytes, "plan.pre_images.before", bytes),
            Before::Absent | Before::Withheld { mode: _ } => {}
        }
        walk.maybe(after_sha256, |walk, digest| walk.opaque(Fixed, "plan.pre_images.after_sha256", digest));
    }

    fn approval_event(walk, event: ApprovalEvent) {
        match event {
            ApprovalEvent::Requested(requested) => walk.approval_requested(requested),
            ApprovalEvent::Voted(ApprovalVoted { approval: _, effect: _, by: _, via: _, note }) => {
                walk.text(Prose, "note", note);
            }
            ApprovalEvent::Resolved(ApprovalResolved {
                approval: _, effect: _, state: _, by: _, via: _, edited_digest: _, edited, note,
            }) => {
                walk.maybe(edited, |walk, edited| walk.json(Prose, "edited", edited));
                walk.text(Prose, "note", note);
            }
            ApprovalEvent::GrantStored(stored) => walk.stored_grant(stored),
        }
    }

    fn approval_requested(walk, requested: ApprovalRequested) {
        let ApprovalRequested {
            approval: _, effect: _, binding: _, risk: _, terms: _, expires: _, policy_digest: _, prompt,
        } = requested;
        let ApprovalPromptRecord { tool, arguments, summary, preview, reason, unbound, asked_again } = prompt;
        walk.text(Identity, "prompt.tool", tool);
        walk.json(Prose, "prompt.arguments", arguments);
        walk.text(Prose, "prompt.summary", summary);
        walk.text(Prose, "prompt.preview", preview);
        walk.text(Prose, "prompt.reason", reason);
        walk.text(Prose, "prompt.unbound", unbound);
        walk.text(Prose, "prompt.asked_again", asked_again);
    }

    fn stored_grant(walk, stored: StoredGrant) {
        let StoredGrant {
            grant: _, principal: _, approval: _, granted_by: _, scope: _, expires: _, uses_max: _, tool,
            matcher, bounds,
        } = stored;
        walk.text(Identity, "tool", tool);
        walk.each(matcher, |walk, ArgumentRule { argument, shape }| {
            walk.text(Identity, "matcher.argument", argument);
            match shape {
                ArgumentShape::Equal(value) => walk.json(Identity, "matcher.equal", value),
                ArgumentShape::Beneath(path) => walk.text(Identity, "matcher.beneath", path),
                ArgumentShape::Origin(origin) => walk.text(Identity, "matcher.origin", origin),
                ArgumentShape::Any => {}
            }
        });
        let GrantBounds { workspace, tool_version: _, programs } = bounds;
        walk.maybe(workspace, |walk, root| walk.path(Identity, "bounds.workspace", root));
        walk.maybe(programs, |walk, digest| walk.opaque(Fixed, "bounds.programs", digest));
    }
}
