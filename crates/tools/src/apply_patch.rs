//! `apply_patch`: a unified diff over several files, all of it or nothing.

use std::collections::BTreeSet;

use palyra_tool_kit::parse;
use palyra_types::tool::ToolSpec;
use serde::Deserialize;
use serde_json::json;

use crate::failure::ToolFailure;
use crate::patch::{FilePatch, PatchKind, read_patch};
use crate::workspace::{Workspace, WorkspacePath};
use crate::writing::declaration::ToolDeclaration;
use crate::writing::task::{EXECUTABLE_BITS, FilePresence, PLAIN_BITS, Rule, Task, refuse_placeholders};
use crate::writing::{WriteOrder, WritePurpose};

pub(crate) const NAME: &str = "apply_patch";
const VERSION: u32 = 1;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolDeclaration {
        name: NAME,
        version: VERSION,
        description: "Applies a unified diff to files of the workspace: changes, new files (`--- /dev/null`), removed \
                      files (`+++ /dev/null`) and new names (`rename from`, `rename to`). Either all of it is done or \
                      nothing. Kept and removed lines have to be there exactly; line numbers may be off.",
        properties: json!({
            "patch": {
                "type": "string", "x-palyra-meaning": "patch", "minLength": 1,
                "description": "The diff, with `--- a/FILE`, `+++ b/FILE` and `@@ -1,3 +1,4 @@` lines.",
            },
            "dry_run": {
                "type": "boolean",
                "description": "Whether only to see if it applies; nothing is changed then.",
            },
        }),
        required: &["patch"],
        output_bytes_max: 16 * 1024,
    }
    .spec()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatchArguments {
    patch: String,
    #[serde(default)]
    dry_run: bool,
}

/// Returns what the arguments want.
pub(crate) fn order(workspace: &Workspace, arguments: &str) -> Result<WriteOrder, ToolFailure> {
    let PatchArguments { patch, dry_run } = parse(arguments)?;
    refuse_placeholders([patch.as_str()])?;
    let mut tasks = Vec::new();
    for file in read_patch(&patch)? {
        tasks.extend(tasks_of(workspace, file)?);
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = tasks.iter().find(|task| !seen.insert(task.path.as_path())) {
        let why = format!("the patch names `{}` twice; a file has one place in it", twice.path.show());
        return Err(ToolFailure::Patch(why));
    }
    let purpose = if dry_run { WritePurpose::Rehearse } else { WritePurpose::Change };
    Ok(WriteOrder::new(NAME, VERSION, tasks, purpose))
}

fn tasks_of(workspace: &Workspace, file: FilePatch) -> Result<Vec<Task>, ToolFailure> {
    let at = |path: &str| -> Result<WorkspacePath, ToolFailure> { workspace.path(Some(path)) };
    Ok(match file.kind {
        PatchKind::Create { path, is_executable } => {
            let new_bits = if is_executable { EXECUTABLE_BITS } else { PLAIN_BITS };
            vec![Task { new_bits, ..Task::new(at(&path)?, FilePresence::Absent, Rule::Hunks(file.hunks)) }]
        }
        PatchKind::Change { path } => {
            vec![Task::new(at(&path)?, FilePresence::Present, Rule::Hunks(file.hunks))]
        }
        PatchKind::Remove { path } => {
            vec![Task::new(at(&path)?, FilePresence::Present, Rule::Remove(file.hunks))]
        }
        PatchKind::Rename { from, to } => {
            let from = at(&from)?;
            let made = Task::new(at(&to)?, FilePresence::Absent, Rule::Hunks(file.hunks));
            vec![
                Task { source: from.clone(), ..made },
                Task::new(from, FilePresence::Present, Rule::Remove(Vec::new())),
            ]
        }
    })
}

#[cfg(test)]
mod tests;
