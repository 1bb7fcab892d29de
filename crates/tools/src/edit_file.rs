//! `edit_file`: a text in a file becomes another.

use std::time::Duration;

use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::parse;
use crate::failure::ToolFailure;
use crate::workspace::Workspace;
use crate::writing::task::{Presence, Replacement, Rule, Task, Times, refuse_placeholders};
use crate::writing::{Purpose, WriteOrder};

pub(crate) const NAME: &str = "edit_file";
const VERSION: u32 = 1;
const OUTPUT_BYTES_MAX: usize = 8 * 1024;
const DEADLINE: Duration = Duration::from_secs(60);

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(NAME),
        version: VERSION,
        description:
            "Replaces a text in a file of the workspace by another. The text has to be there exactly, spaces \
                      and line ends included, and once; with `all`, every place is changed."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string", "minLength": 1, "maxLength": 4095,
                    "description": "The file, from the workspace root, such as `src/main.rs`.",
                },
                "old": {"type": "string", "minLength": 1, "description": "The text that is there, exactly."},
                "new": {"type": "string", "description": "The text that shall be there instead; may be empty."},
                "all": {"type": "boolean", "description": "Whether every place is changed; false when left out."},
            },
            "required": ["path", "old", "new"],
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
    old: String,
    new: String,
    #[serde(default)]
    all: bool,
}

/// Returns what the arguments want.
pub(crate) fn order(workspace: &Workspace, arguments: &str) -> Result<WriteOrder, ToolFailure> {
    let Arguments { path, old, new, all } = parse(arguments)?;
    refuse_placeholders([old.as_str(), new.as_str()])?;
    if old.is_empty() || old == new {
        let why = "`old` is the text to replace: it is not empty, and not the same as `new`";
        return Err(ToolFailure::Arguments(why.to_owned()));
    }
    let times = if all { Times::All } else { Times::Once };
    let path = workspace.path(Some(&path))?;
    let task = Task::new(path, Presence::Present, Rule::Replace(Replacement { old, new, times }));
    Ok(WriteOrder::new(NAME, VERSION, vec![task], Purpose::Change))
}
