//! `read_output`: what a command printed and its result left out, a page at a time.
//!
//! Owns where a page begins and ends. What it reads is what the tape has of the call: cleaned of
//! secrets, and no more of it than is kept. Invariant: a conversation reads its own outputs only.

use std::time::Duration;

use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries};
use palyra_ports::{ReadError, ReadTape};
use palyra_tool_kit::{ToolInvocation, ToolResult, parse};
use palyra_types::effect::{OutputRest, ToolOutput};
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::tape::{ContentState, OrchestratorTapeRecord};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use palyra_types::{EffectId, TapeSeq};
use serde::Deserialize;
use serde_json::json;

use crate::call::CommandParts;
use crate::failure::CommandFailure;
use crate::output_handle::OutputHandle;

pub(crate) const NAME: &str = "read_output";
const VERSION: u32 = 1;
const DEADLINE: Duration = Duration::from_secs(30);
const OUTPUT_BYTES_MAX: usize = 32 * 1024;
/// Bytes of a page that are left for the line above it.
const HEADING_BYTES_MAX: usize = 512;
/// Pages of a tape that are looked through for one call.
const TAPE_PAGES_MAX: usize = 256;

pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(NAME),
        version: VERSION,
        description: "Reads on where the result of a command left bytes out. `call` and `from` are what that result \
                      says; a page ends with the next `from`. The beginning of an output is kept, up to 256 KiB."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "call": {
                    "type": "string", "x-palyra-meaning": "handle", "minLength": 1, "maxLength": 64,
                    "description": "The call that printed it, as its result names it.",
                },
                "from": {
                    "type": "integer", "minimum": 0,
                    "description": "The byte to begin at; the beginning when left out.",
                },
            },
            "required": ["call"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![Capability::ReadFiles],
        taints: Taints::WORKSPACE.with(Taints::TOOL),
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputArguments {
    call: String,
    #[serde(default)]
    from: u64,
}

/// Reads one page.
pub(crate) async fn run(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<ToolResult, CommandFailure> {
    let OutputArguments { call, from } = parse(&invocation.arguments)?;
    let handle: OutputHandle = call.parse()?;
    let reader = parts.tapes.reader().ok_or(CommandFailure::Tape(ReadError::Busy))?;
    let room = invocation.limits.output_bytes_max.saturating_sub(HEADING_BYTES_MAX);
    let mut page = OutputPage::new(from, room);
    tokio::select! {
        biased;
        () = invocation.supervision.cancel.cancelled() => return Err(CommandFailure::Cancelled),
        found = fill(&mut page, &*reader, handle, invocation) => found?,
    }
    let text = page.describe(handle)?;
    Ok(ToolResult { text, ..ToolResult::default() })
}

/// Looks through a tape until the page is full or the call has ended; fails rather than take a part for the whole.
async fn fill(
    page: &mut OutputPage,
    reader: &dyn ReadTape,
    handle: OutputHandle,
    invocation: &ToolInvocation,
) -> Result<(), CommandFailure> {
    let mut after = TapeSeq::default();
    for _ in 0..TAPE_PAGES_MAX {
        let read = reader.tape(handle.run, after, MAX_TAPE_ENTRIES_PER_RESPONSE).await;
        let read = read.map_err(CommandFailure::Tape)?;
        for entry in &read.entries {
            after = entry.tape_seq;
            // Another's run is told apart from none by nothing.
            if (entry.session, entry.principal) != (invocation.session, invocation.used_by.principal) {
                return Ok(());
            }
            if page.take(entry, handle.effect) == ReadDone::Yes {
                return Ok(());
            }
        }
        if read.more == MoreEntries::None {
            return Ok(());
        }
    }
    Err(CommandFailure::Arguments(format!("the run of {handle} is too long to be looked through")))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadDone {
    Yes,
    No,
}

/// One page of an output while it is read.
struct OutputPage {
    from: u64,
    whole: usize,
    room: usize,
    text: String,
    /// Bytes of the output that were passed.
    kept: u64,
    /// Whether there was anything of this call.
    found: bool,
    erased: bool,
    rest: OutputRest,
}

impl OutputPage {
    fn new(from: u64, whole: usize) -> Self {
        let (rest, text) = (OutputRest::Follows, String::new());
        Self { from, whole, room: whole, text, kept: 0, found: false, erased: false, rest }
    }

    /// Takes what an entry has of the call.
    fn take(&mut self, entry: &OrchestratorTapeRecord, wanted: EffectId) -> ReadDone {
        if let TapeEvent::Tool(ToolEvent::Output(ToolOutput { effect, shown_bytes, rest, text })) =
            &entry.event
        {
            if *effect == wanted {
                self.found = true;
                self.erased |= entry.content != ContentState::Present;
                self.add(text.expose(), *shown_bytes, *rest);
            }
        } else if let TapeEvent::Tool(ToolEvent::Finished(finished)) = &entry.event
            && finished.effect == wanted
        {
            self.found = true;
            return ReadDone::Yes;
        }
        if self.room == 0 { ReadDone::Yes } else { ReadDone::No }
    }

    fn add(&mut self, text: &str, upto: u64, rest: OutputRest) {
        let begins = upto.saturating_sub(text.len() as u64);
        if begins < self.kept {
            // It was called again, and printed anew.
            (self.text, self.room) = (String::new(), self.whole);
        }
        (self.kept, self.rest) = (upto, rest);
        let skipped = usize::try_from(self.from.saturating_sub(begins)).unwrap_or(usize::MAX);
        let text = &text[text.ceil_char_boundary(skipped.min(text.len()))..];
        let fits = &text[..text.floor_char_boundary(self.room)];
        self.text.push_str(fits);
        self.room = if fits.len() < text.len() { 0 } else { self.room - fits.len() };
    }

    /// Returns the page with a line that says where it stands.
    fn describe(self, handle: OutputHandle) -> Result<String, CommandFailure> {
        if !self.found {
            return Err(CommandFailure::Arguments(format!(
                "this conversation has no call {handle}; take it from the result that left bytes out"
            )));
        }
        if self.erased {
            return Err(CommandFailure::Arguments(format!("the output of {handle} was erased")));
        }
        let next = self.from + self.text.len() as u64;
        let line = match (self.text.is_empty(), self.room == 0) {
            (true, _) => format!(
                "nothing is kept of this output from byte {} on; {} bytes are kept, and its end is in its result",
                self.from, self.kept
            ),
            (false, true) => format!("bytes {} to {next}; read on with \"from\": {next}", self.from),
            (false, false) => match self.rest {
                OutputRest::Follows => format!("bytes {} to {next}, which is the end", self.from),
                OutputRest::InOutcome => {
                    format!("bytes {} to {next}; no more is kept, and its end is in its result", self.from)
                }
            },
        };
        Ok(format!("[{line}]\n{}", self.text))
    }
}

#[cfg(test)]
mod tests;
