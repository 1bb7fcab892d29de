//! `write_file`: a whole file, new or instead of what it held.

use palyra_tool_kit::parse;
use palyra_types::tool::ToolSpec;
use serde::Deserialize;
use serde_json::json;

use crate::failure::ToolFailure;
use crate::workspace::Workspace;
use crate::writing::declaration::{ToolDeclaration, path_property};
use crate::writing::task::{FilePresence, Rule, Task, refuse_placeholders};
use crate::writing::{WriteOrder, WritePurpose};

pub(crate) const NAME: &str = "write_file";
const VERSION: u32 = 1;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolDeclaration {
        name: NAME,
        version: VERSION,
        description: "Writes a whole text file in the workspace: a new file, or all of an existing one. Folders that \
                      are missing are made. To change a part of a file, use edit_file.",
        properties: json!({
            "path": path_property(),
            "content": {"type": "string", "x-palyra-meaning": "text", "description": "All that the file will hold."},
            "mode": {
                "type": "string", "enum": ["create", "overwrite"],
                "description": "`create` fails when the file exists; `overwrite`, when left out, does not.",
            },
        }),
        required: &["path", "content"],
        output_bytes_max: 8 * 1024,
    }
    .spec()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    path: String,
    content: String,
    mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Create,
    Overwrite,
}

/// Returns what the arguments want.
pub(crate) fn order(workspace: &Workspace, arguments: &str) -> Result<WriteOrder, ToolFailure> {
    let arguments: WriteArguments = parse(arguments)?;
    refuse_placeholders([arguments.content.as_str()])?;
    let presence = match arguments.mode {
        Some(Mode::Create) => FilePresence::Absent,
        Some(Mode::Overwrite) | None => FilePresence::Any,
    };
    let path = workspace.path(Some(&arguments.path))?;
    let task = Task::new(path, presence, Rule::Content(arguments.content.into_bytes()));
    Ok(WriteOrder::new(NAME, VERSION, vec![task], WritePurpose::Change))
}
