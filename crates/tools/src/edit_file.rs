//! `edit_file`: a text in a file becomes another.

use palyra_tool_kit::parse;
use palyra_types::tool::ToolSpec;
use serde::Deserialize;
use serde_json::json;

use crate::failure::ToolFailure;
use crate::workspace::Workspace;
use crate::writing::declaration::{ToolDeclaration, path_property};
use crate::writing::task::{FilePresence, MatchCount, Rule, Task, TextReplacement, refuse_placeholders};
use crate::writing::{WriteOrder, WritePurpose};

pub(crate) const NAME: &str = "edit_file";
const VERSION: u32 = 1;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolDeclaration {
        name: NAME,
        version: VERSION,
        description: "Replaces a text in a file of the workspace by another. The text has to be there exactly, spaces \
                      and line ends included, and once; with `all`, every place is changed.",
        properties: json!({
            "path": path_property(),
            "old": {"type": "string", "x-palyra-meaning": "text", "description": "The text that is there, exactly."},
            "new": {"type": "string", "x-palyra-meaning": "text", "description": "The text that shall be there instead; may be empty."},
            "all": {"type": "boolean", "description": "Whether every place is changed; false when left out."},
        }),
        required: &["path", "old", "new"],
        output_bytes_max: 8 * 1024,
    }
    .spec()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    path: String,
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

/// Returns what the arguments want.
pub(crate) fn order(workspace: &Workspace, arguments: &str) -> Result<WriteOrder, ToolFailure> {
    let EditArguments { path, old, new, all } = parse(arguments)?;
    refuse_placeholders([old.as_str(), new.as_str()])?;
    let why = match (old.is_empty(), old == new) {
        (true, _) => Some("`old` is empty, and it is the text to replace; to create a file use write_file"),
        (false, true) => Some("`old` and `new` are the same text, so nothing would change"),
        (false, false) => None,
    };
    if let Some(why) = why {
        return Err(ToolFailure::Arguments(why.to_owned()));
    }
    let times = if all { MatchCount::All } else { MatchCount::Once };
    let path = workspace.path(Some(&path))?;
    let task = Task::new(path, FilePresence::Present, Rule::Replace(TextReplacement { old, new, times }));
    Ok(WriteOrder::new(NAME, VERSION, vec![task], WritePurpose::Change))
}
