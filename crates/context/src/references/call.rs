//! From references to calls of tools.
//!
//! Owns the tool and the arguments of each kind, and what is refused before any call: paths that leave the workspace by
//! their spelling, and names of credentials. Everything else is decided by policy and by the tool itself. Begin at
//! [`plan_calls`].

use palyra_types::context_reference::{ReferenceError, ReferenceKind};
use palyra_types::event::{TapeEvent, ToolEvent};
use palyra_types::model::RawToolProposal;
use palyra_types::path_reading::{PathProblem, PathReading};
use palyra_types::places::{folded, is_credential};
use palyra_types::tool::{DecisionReason, ToolName};
use palyra_types::{EffectId, Redacted, TapeSeq};
use serde_json::{Value, json};

use super::{ContextReference, FOLDER_DEPTH, FoundReference, LineRange, scan_references};

const FILE_TOOL: &str = "read_file";
const FOLDER_TOOL: &str = "list_dir";
const GIT_TOOL: &str = "git";
const URL_TOOL: &str = "http_fetch";

/// The tool that searches memory. While the catalogue has none of this name, policy denies the call as that of an unknown
/// tool, and the item is [`ReferenceError::Unavailable`].
pub const MEMORY_TOOL: &str = "memory_search";

/// The tool that reads another run of the same principal; see [`MEMORY_TOOL`] for its absence.
pub const RUN_TOOL: &str = "read_run";

/// Returns whether a preview makes the calls of a tool: those that read a file or a folder of the workspace, or a run.
#[must_use]
pub fn is_made_by_preview(tool: &ToolName) -> bool {
    [FILE_TOOL, FOLDER_TOOL, RUN_TOOL].contains(&tool.as_str())
}

/// Returns the call that an event denies because no person can be asked.
#[must_use]
pub fn unasked_call(event: &TapeEvent) -> Option<EffectId> {
    match event {
        TapeEvent::Tool(ToolEvent::Decided(decided)) => {
            (decided.reason == DecisionReason::NoApprovalChannel).then_some(decided.effect)
        }
        TapeEvent::Tool(_)
        | TapeEvent::Run(_)
        | TapeEvent::Model(_)
        | TapeEvent::Approval(_)
        | TapeEvent::Unknown { .. } => None,
    }
}

/// A call that resolves a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceCall {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments: a JSON object.
    pub arguments: String,
}

/// What an item of the input's references needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedItem {
    /// A call.
    Call(ReferenceCall),
    /// Nothing: an earlier item, by its place from 0, is the same.
    SameAs(usize),
    /// Nothing: it has an error already.
    Refused(ReferenceError),
}

/// A reference of an input, with what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedReference {
    /// Its kind.
    pub kind: ReferenceKind,
    /// The reference as it is written.
    pub written: Redacted<String>,
    /// What it needs.
    pub item: PlannedItem,
}

/// The references of one input, with what they need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedInput {
    /// The entry of the input.
    pub input: TapeSeq,
    /// The references, in the order in which they are written; at least one.
    pub references: Vec<PlannedReference>,
    /// How many further references stay plain text.
    pub surplus: u32,
}

impl PlannedInput {
    /// Plans the references of an input; `None` when it has none. `root` is the workspace root.
    #[must_use]
    pub fn of(input: TapeSeq, text: &Redacted<String>, root: Option<&str>) -> Option<Self> {
        let scanned = scan_references(text.expose());
        let planned = plan_calls(&scanned.references, root);
        let written = text.clone().map(|text| written_references(&text)).into_elements();
        let references = scanned.references.iter().zip(planned).zip(written);
        let references: Vec<PlannedReference> = references
            .map(|((found, item), written)| PlannedReference { kind: found.kind, written, item })
            .collect();
        let surplus = scanned.surplus.map_or(0, |surplus| surplus.count);
        (!references.is_empty()).then_some(Self { input, references, surplus })
    }

    /// Returns the calls that the references need, in order, as proposals.
    pub fn proposals(&self) -> impl Iterator<Item = RawToolProposal> {
        (1..).zip(&self.references).filter_map(|(number, reference)| match &reference.item {
            PlannedItem::Call(call) => Some(call.proposal(number)),
            PlannedItem::SameAs(_) | PlannedItem::Refused(_) => None,
        })
    }
}

impl ReferenceCall {
    /// Returns the call as a proposal; the number of its reference takes the place of a model's id.
    fn proposal(&self, number: u32) -> RawToolProposal {
        RawToolProposal {
            model_call_id: format!("reference-{number}").into(),
            tool: ToolName::new(self.tool),
            arguments: self.arguments.clone().into(),
        }
    }
}

fn written_references(text: &str) -> Vec<String> {
    scan_references(text).references.into_iter().map(|found| found.written).collect()
}

/// Returns what each reference needs, in order. `root` is the workspace root, by which absolute paths are read.
#[must_use]
pub fn plan_calls(references: &[FoundReference], root: Option<&str>) -> Vec<PlannedItem> {
    let mut planned: Vec<PlannedItem> = Vec::with_capacity(references.len());
    for found in references {
        let item = match &found.reference {
            Err(error) => PlannedItem::Refused(*error),
            Ok(reference) => match refusal(reference, root) {
                Some(error) => PlannedItem::Refused(error),
                None => call_or_same(reference.call(), &planned),
            },
        };
        planned.push(item);
    }
    planned
}

fn call_or_same(call: ReferenceCall, earlier: &[PlannedItem]) -> PlannedItem {
    let call = PlannedItem::Call(call);
    earlier.iter().position(|item| *item == call).map_or(call, PlannedItem::SameAs)
}

/// Returns why a reference is not even proposed.
fn refusal(reference: &ContextReference, root: Option<&str>) -> Option<ReferenceError> {
    let reading = PathReading::read(reference.path()?, root);
    match reading.below_root() {
        Ok(names) => {
            let names: Vec<String> = names.iter().map(|name| folded(name)).collect();
            is_credential(&names).then_some(ReferenceError::LooksLikeASecret)
        }
        Err(PathProblem::TooLong | PathProblem::HoldsNul) => Some(ReferenceError::InvalidTarget),
        Err(PathProblem::HasParentStep | PathProblem::AbsoluteOutside) => {
            Some(ReferenceError::OutsideOfWorkspace)
        }
    }
}

impl ContextReference {
    /// Returns the call that resolves it.
    #[must_use]
    pub fn call(&self) -> ReferenceCall {
        let (tool, arguments) = match self {
            Self::File { path, lines: None } => (FILE_TOOL, json!({"path": path})),
            Self::File { path, lines: Some(LineRange { from, to: None }) } => {
                (FILE_TOOL, json!({"path": path, "from": from}))
            }
            Self::File { path, lines: Some(LineRange { from, to: Some(to) }) } => {
                (FILE_TOOL, json!({"path": path, "from": from, "to": to}))
            }
            Self::Folder { path } => (FOLDER_TOOL, json!({"path": path, "depth": FOLDER_DEPTH})),
            Self::Diff { path } => (GIT_TOOL, diff(&[], path.as_deref())),
            Self::Staged { path } => (GIT_TOOL, diff(&["--staged"], path.as_deref())),
            Self::Url { url } => (URL_TOOL, json!({"url": url})),
            Self::Memory { query } => (MEMORY_TOOL, json!({"query": query})),
            Self::Run { run, entries: None } => (RUN_TOOL, json!({"run": run})),
            Self::Run { run, entries: Some(LineRange { from, to: None }) } => {
                (RUN_TOOL, json!({"run": run, "from": from}))
            }
            Self::Run { run, entries: Some(LineRange { from, to: Some(to) }) } => {
                (RUN_TOOL, json!({"run": run, "from": from, "to": to}))
            }
        };
        ReferenceCall { tool, arguments: arguments.to_string() }
    }
}

/// Makes arguments of the git tool, which switches off what the repository would have git run, and has a deadline.
fn diff(options: &[&str], path: Option<&str>) -> Value {
    let paths: Vec<&str> = path.into_iter().collect();
    json!({"subcommand": "diff", "options": options, "paths": paths})
}
