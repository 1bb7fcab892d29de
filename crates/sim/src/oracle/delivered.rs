//! What people, models and tools are told, held against what is committed in that moment.

use palyra_run_core::Grant;
use palyra_types::RunId;
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::model::{ChatMessage, ModelRequest};
use palyra_types::tape::OrchestratorTapeRecord;
use palyra_types::tool::EffectContract;

use super::content::{OWNER, STRANGER, SpeakerKind};
use super::run_view::ModelInput;
use super::{Oracle, permission};
use crate::fault::Phase;

/// Begins an input in the request for a summary.
const PERSON: &str = "Person: ";

impl Oracle {
    /// An entry was shown to somebody.
    pub(crate) fn shown(&mut self, who: &str, entry: &OrchestratorTapeRecord) {
        let at = usize::try_from(entry.tape_seq.0).unwrap_or(usize::MAX).wrapping_sub(1);
        let run = entry.run;
        match self.runs.get(&run).and_then(|view| view.tape().get(at)) {
            None => {
                self.find(format!("{who} sees entry {} of {run} before it is committed", entry.tape_seq.0));
            }
            Some(_) if self.is_erased(run) => {}
            Some(committed) if committed != entry => {
                self.find(format!(
                    "entry {} of {run} as {who} sees it is not what the journal has",
                    entry.tape_seq.0
                ));
            }
            Some(_) => {}
        }
    }

    /// An input was acknowledged, with the run that has it.
    pub(crate) fn acknowledged(&mut self, who: &str, text: &str, run: RunId) {
        let places = self.inputs.get(text).map(Vec::as_slice).unwrap_or_default();
        if !places.iter().any(|(has, _)| *has == run) {
            let what = format!(
                "{who} was told that {run} has `{text}`, which is not in the journal there: {places:?}"
            );
            self.find(what);
        }
    }

    /// An input of which no attempt has an open outcome was refused.
    pub(crate) fn was_not_taken(&mut self, who: &str, text: &str) {
        if let Some(places) = self.inputs.get(text) {
            let what = format!("{who} was told that `{text}` is refused, but it was taken: {places:?}");
            self.find(what);
        }
    }

    /// It was refused, and is not said again: it must never appear.
    pub(crate) fn was_refused(&mut self, text: &str) {
        self.refused.insert(text.to_owned());
    }

    /// Somebody is about to ask a run to stop.
    pub(crate) fn on_cancel_requested(&mut self, run: RunId) {
        self.cancels.insert(run);
    }

    /// A wish to stop was acknowledged.
    pub(crate) fn stop_acknowledged(&mut self, who: &str, run: RunId) {
        let kept = self.runs.get(&run).is_some_and(|view| view.is_stopping() || view.state().is_terminal());
        if !kept {
            self.find(format!("{who} was told that {run} will stop, which is not in the journal"));
        }
    }

    /// A model was asked; returns where its run stands, as far as it can be told whose request it is.
    pub(crate) fn on_model_request(&mut self, request: &ModelRequest) -> Phase {
        let said = request.messages.iter().rev().find_map(|message| {
            let ChatMessage::User { text, .. } = message else { return None };
            self.inputs.get(text.expose()).and_then(|places| places.last()).map(|(run, _)| *run)
        });
        let Some(run) = said else {
            self.find("a model is shown words of a person that are not in the journal".to_owned());
            return Phase::ModelWaiting;
        };
        let Some(view) = self.runs.get(&run) else { return Phase::ModelWaiting };
        let (wanted, phase) = (view.last_request(), view.phase());
        let speaker = view.tape().first().map_or(SpeakerKind::Owner, speaker_of);
        let is_after_erasures = view.erasures() == self.erasures;
        let wrong = self.content.check_request(request, speaker);
        let wrong = wrong.or_else(|| is_after_erasures.then(|| self.content.check_data(request)).flatten());
        wrong.into_iter().for_each(|what| self.find(what));
        match wanted {
            ModelInput::Nobody => {
                self.find(format!("a model is asked for {run}, whose tape says that nobody is asked"));
            }
            ModelInput::Whole(messages) if !request.messages.ends_with(&messages) => {
                self.find(format!("what a model is shown of {run} is not what its tape says"));
            }
            ModelInput::Whole(_) | ModelInput::Part => {}
        }
        phase
    }

    /// A model was asked for a summary.
    pub(crate) fn on_summary_request(&mut self, request: &ModelRequest) {
        let texts = request.messages.iter().filter_map(|message| match message {
            ChatMessage::User { text, .. } => Some(text.expose()),
            ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => None,
        });
        // Text of a person may also be a note that something was erased.
        let said = texts.flat_map(|text| text.split(PERSON).skip(1));
        let mut said = said.filter(|said| said.starts_with([STRANGER, OWNER]));
        let Some(speaker) = said.next().map(SpeakerKind::of) else { return };
        let wrong = self.content.check_request(request, speaker);
        wrong.into_iter().for_each(|what| self.find(what));
    }

    /// A tool is about to act.
    pub(crate) fn tool_acts(&mut self, grant: &Grant) {
        let (run, effect) = (grant.run(), grant.effect());
        let times = self.executions.entry((run, effect)).or_default();
        *times += 1;
        let times = *times;
        if grant.contract() == EffectContract::Opaque && times > 1 {
            self.find(format!("the opaque call {effect} of {run} acted twice"));
        }
        let recorded = self.runs.get(&run).is_some_and(|view| view.machine().is_tool_running(effect));
        if !recorded {
            self.find(format!("call {effect} of {run} acts, which its tape does not say"));
        }
        let tape = self.runs.get(&run).map(super::RunView::tape).unwrap_or_default();
        if let Some(complaint) = permission::complaint(tape, grant) {
            self.find(format!("call {effect} of {run} {complaint}"));
        }
    }
}

/// Returns for whom a run works, by its first entry.
fn speaker_of(first: &OrchestratorTapeRecord) -> SpeakerKind {
    if let TapeEvent::Run(RunEvent::Started(started)) = &first.event {
        SpeakerKind::of(started.input.text.expose())
    } else {
        SpeakerKind::Owner
    }
}
