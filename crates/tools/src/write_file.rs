//! `write_file`: a whole file, new or instead of what it held.

use std::time::Duration;

use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::parse;
use crate::failure::ToolFailure;
use crate::workspace::Workspace;
use crate::writing::task::{Presence, Rule, Task, refuse_placeholders};
use crate::writing::{Purpose, WriteOrder};

pub(crate) const NAME: &str = "write_file";
const VERSION: u32 = 1;
const OUTPUT_BYTES_MAX: usize = 8 * 1024;
const DEADLINE: Duration = Duration::from_secs(60);

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(NAME),
        version: VERSION,
        description:
            "Writes a whole text file in the workspace: a new one, or instead of what it held. Folders that \
                      are missing are made. To change a part of a file, use edit_file."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string", "minLength": 1, "maxLength": 4095,
                    "description": "The file, from the workspace root, such as `src/main.rs`.",
                },
                "content": {"type": "string", "description": "All that the file will hold."},
                "mode": {
                    "type": "string", "enum": ["create", "overwrite"],
                    "description": "`create` fails when the file exists; `overwrite`, when left out, does not.",
                },
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Probe,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Prepared,
        capabilities: vec![Capability::WriteFiles],
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Medium,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
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
    let arguments: Arguments = parse(arguments)?;
    refuse_placeholders([arguments.content.as_str()])?;
    let presence = match arguments.mode {
        Some(Mode::Create) => Presence::Absent,
        Some(Mode::Overwrite) | None => Presence::Any,
    };
    let path = workspace.path(Some(&arguments.path))?;
    let task = Task::new(path, presence, Rule::Content(arguments.content.into_bytes()));
    Ok(WriteOrder::new(NAME, VERSION, vec![task], Purpose::Change))
}
