//! `list_dir`: what a folder holds.
//!
//! Shows everything, hidden and ignored names too; goes below a folder only when asked for depth, and
//! never into what is ignored.

use std::time::Duration;

use palyra_tool_kit::{ToolResult, WholeNumber, parse};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::ToolCallContext;
use crate::credentials::{CREDENTIALS_TOLD, CredentialFilter};
use crate::failure::ToolFailure;
use crate::page::LinePage;
use crate::quantity::quantity;
use crate::workspace::{EntryKind, WalkEntry, WalkStep, show_path, walk};

const OUTPUT_BYTES_MAX: usize = 32 * 1024;
const DEADLINE: Duration = Duration::from_secs(20);
const DEPTH_MAX: u64 = 16;
const LINK_TARGET_CHARS_MAX: usize = 200;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("list_dir"),
        version: 1,
        description: "Lists a folder in the workspace, sorted by name, one entry a line with its path from \
                      the workspace root: folders end in `/`, files show their size in bytes. Ignored folders, \
                      `.git` and what may hold credentials are shown but not entered."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string", "x-palyra-meaning": "path", "maxLength": 4095,
                    "description": "The folder, from the workspace root; the root itself when left out.",
                },
                "depth": {
                    "type": "integer", "minimum": 1, "maximum": DEPTH_MAX,
                    "description": "How many levels to list; 1 when left out.",
                },
            },
            "additionalProperties": false,
        }),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: vec![Capability::ReadFiles],
        taints: Taints::WORKSPACE,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    path: Option<String>,
    depth: Option<WholeNumber>,
}

/// Runs the tool.
pub(crate) fn run(call: &ToolCallContext<'_>, arguments: &str) -> Result<ToolResult, ToolFailure> {
    let arguments: ListArguments = parse(arguments)?;
    let depth = arguments.depth.map_or(1, |WholeNumber(depth)| depth.clamp(1, DEPTH_MAX));
    let depth = usize::try_from(depth).unwrap_or(usize::MAX);
    let path = call.workspace.path(arguments.path.as_deref())?;

    let mut page = LinePage::new(call.output_bytes_max);
    let filter = CredentialFilter::new(path.as_path(), None);
    let (mut folders, mut others) = (0_u64, 0_u64);
    let report = walk(call.workspace, &path, call.cancel, |entry| {
        match entry.kind {
            EntryKind::Folder => folders += 1,
            _ => others += 1,
        }
        if filter.hides(entry.path) {
            let slash = if entry.kind == EntryKind::Folder { "/" } else { "" };
            page.push(&format!("{}{slash}{CREDENTIALS_TOLD}\n", show_path(entry.path)));
            return WalkStep::Pass;
        }
        let next = match entry.kind {
            EntryKind::Folder if !entry.is_ignored && entry.depth < depth => WalkStep::Enter,
            _ => WalkStep::Pass,
        };
        page.push(&line(entry, next == WalkStep::Pass && depth > 1));
        next
    })?;

    let head = match folders + others {
        0 => format!("{} is empty", path.show()),
        _ => format!("{} holds {}, {}", path.show(), quantity(folders, "folder"), quantity(others, "file")),
    };
    let mut notes = report.notes();
    if page.is_full() {
        notes.push("the list is cut here; name a folder in it as `path`, or use glob".to_owned());
    }
    Ok(page.finish(&head, &notes))
}

fn line(entry: &WalkEntry<'_>, says_why_not_entered: bool) -> String {
    let path = show_path(entry.path);
    match entry.kind {
        EntryKind::File => match entry.bytes() {
            Some(bytes) => format!("{path} ({})\n", quantity(bytes, "byte")),
            None => format!("{path}\n"),
        },
        EntryKind::Folder if entry.is_ignored && says_why_not_entered => {
            format!("{path}/ (ignored, not entered)\n")
        }
        EntryKind::Folder => format!("{path}/\n"),
        EntryKind::Link => {
            let target = entry.link_target().map(|target| show_path(&target)).unwrap_or_default();
            let target: String = target.chars().take(LINK_TARGET_CHARS_MAX).collect();
            format!("{path} -> {target} (link, not followed)\n")
        }
        kind => format!("{path} ({})\n", kind.with_article()),
    }
}

#[cfg(test)]
mod tests;
