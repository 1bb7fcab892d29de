//! A run whose tape brings texts of others: attached files, and results of tools.

use jiff::tz::TimeZone;
use palyra_context::transcript::Transcript;
use palyra_ports::NewEntry;
use palyra_testkit::journal_suite::samples::{SampleRun, principal, session};
use palyra_types::Redacted;
use palyra_types::attachment::{Attachment, AttachmentBody};
use palyra_types::data_delimiter::DATA_RULE;
use palyra_types::error_code::ErrorCode;
use palyra_types::event::{JournalEvent, RunEvent, TapeEvent, ToolEvent};
use palyra_types::model::ModelRequest;

use crate::support::Subject;

#[derive(Clone)]
pub(crate) struct HostileTape {
    tape: SampleRun,
    transcript: Transcript,
    effects: u32,
}

impl HostileTape {
    /// Begins a run whose salt is made of one byte.
    pub(crate) fn begun(salt: u8, files: Vec<Attachment>) -> Self {
        let mut tape = SampleRun::new(session(principal(1), 1), 1);
        let transcript = Transcript::new(tape.run);
        let mut entry = tape.started("Look at these.");
        let JournalEvent::Tape(TapeEvent::Run(RunEvent::Started(started))) = &mut entry.event else {
            panic!("a run starts with its input")
        };
        started.run_salt = Redacted::cleaned([salt; 32]);
        started.input.attachments = files;
        let mut run = Self { tape, transcript, effects: 0 };
        run.push(entry);
        run
    }

    /// Adds a result of a tool.
    pub(crate) fn result(self, tool: &str, output: &str) -> Self {
        self.answer("").call(tool, output, None)
    }

    /// Adds a result of a tool that did not succeed.
    pub(crate) fn failed(self, tool: &str, output: &str) -> Self {
        self.answer("").call(tool, output, Some(ErrorCode::ALL[0]))
    }

    /// Adds words of the model; a call follows.
    pub(crate) fn answer(mut self, words: &str) -> Self {
        let attempt = self.effects + 1;
        if !words.is_empty() {
            let text = self.tape.text(attempt, words);
            self.push(text);
        }
        let message = self.tape.message(attempt, 1);
        self.push(message);
        self
    }

    /// Adds the call that the model's latest words announced, and its result.
    pub(crate) fn call(mut self, tool: &str, output: &str, failure: Option<ErrorCode>) -> Self {
        self.effects += 1;
        for mut entry in self.tape.proposed(self.effects) {
            if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Proposed(proposed))) = &mut entry.event {
                proposed.tool = Redacted::cleaned(tool.to_owned());
            }
            self.push(entry);
        }
        let started = self.tape.tool_started(self.effects);
        self.push(started);
        let mut finished = self.tape.tool_finished(self.effects, output);
        if let JournalEvent::Tape(TapeEvent::Tool(ToolEvent::Finished(finished))) = &mut finished.event {
            finished.failure = failure;
        }
        self.push(finished);
        self
    }

    /// Returns the next request of the run.
    pub(crate) fn request(&self, subject: Subject) -> ModelRequest {
        let mut request = subject.request("");
        request.system = format!("Be brief.\n\n{DATA_RULE}").into();
        request.messages = self.transcript.messages(&TimeZone::UTC);
        request
    }

    fn push(&mut self, entry: NewEntry) {
        let JournalEvent::Tape(event) = entry.event else { panic!("an entry of a tape") };
        self.transcript.push(&event, entry.time);
    }
}

/// Returns a text file that is attached to the input.
pub(crate) fn text_file(name: &str, text: &str) -> Attachment {
    let body = AttachmentBody::Text(Redacted::cleaned(text.to_owned()));
    Attachment { body, ..other_file(name) }
}

/// Returns a file whose content is not shown.
pub(crate) fn other_file(name: &str) -> Attachment {
    Attachment {
        name: Redacted::cleaned(name.to_owned()),
        media_type: "application/zip".into(),
        bytes: 13,
        sha256: Redacted::cleaned([7; 32]),
        body: AttachmentBody::Blob { index: 0 },
    }
}
