//! From references to calls of tools.
//!
//! Owns the tool and the arguments of each kind, and what is refused before any call: paths that leave the workspace by
//! their spelling, and names of credentials. Everything else is decided by policy and by the tool itself. Begin at
//! [`plan_calls`].

use palyra_types::context_reference::ReferenceError;
use palyra_types::path_reading::{PathProblem, PathReading};
use palyra_types::places::{folded, is_credential};
use serde_json::{Value, json};

use super::{ContextReference, FOLDER_DEPTH, FoundReference, LineRange};

const FILE_TOOL: &str = "read_file";
const FOLDER_TOOL: &str = "list_dir";
const GIT_TOOL: &str = "git";
const URL_TOOL: &str = "http_fetch";

/// The tool that searches memory. While the catalogue has none of this name, policy denies the call as that of an unknown
/// tool, and the item is [`ReferenceError::Unavailable`].
pub const MEMORY_TOOL: &str = "memory_search";

/// The tool that reads the answer of another run of the same principal; see [`MEMORY_TOOL`] for its absence.
pub const RUN_TOOL: &str = "read_run";

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
            Self::Run { run } => (RUN_TOOL, json!({"run": run})),
        };
        ReferenceCall { tool, arguments: arguments.to_string() }
    }
}

/// Makes arguments of the git tool, which switches off what the repository would have git run, and has a deadline.
fn diff(options: &[&str], path: Option<&str>) -> Value {
    let paths: Vec<&str> = path.into_iter().collect();
    json!({"subcommand": "diff", "options": options, "paths": paths})
}
