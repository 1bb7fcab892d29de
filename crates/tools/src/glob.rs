//! `glob`: files and folders by the shape of their path.

use std::path::Path;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};
use palyra_tool_kit::{ToolResult, parse};
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
use crate::workspace::{EntryKind, WalkStep, WorkspacePath, show_path, walk};

const OUTPUT_BYTES_MAX: usize = 32 * 1024;
const DEADLINE: Duration = Duration::from_secs(30);
/// How long a pattern may be, in characters.
pub(crate) const PATTERN_CHARS_MAX: usize = 500;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("glob"),
        version: 1,
        description: "Finds files and folders in the workspace by a pattern such as `**/*.rs`, `src/*/mod.rs` \
                      or `*.{md,txt}`, and returns their paths, sorted. A pattern without `/` matches names at \
                      any depth. Hidden names, and what .gitignore and .ignore leave out, are skipped unless \
                      asked for; `.git`, links and folders of credentials are never entered."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string", "x-palyra-meaning": "glob", "minLength": 1, "maxLength": PATTERN_CHARS_MAX,
                    "description": "`*` and `?` stay within a name, `**` crosses folders; relative to `path`.",
                },
                "path": {
                    "type": "string", "x-palyra-meaning": "path", "maxLength": 4095,
                    "description": "The folder to look in, from the workspace root; the root when left out.",
                },
                "hidden": {"type": "boolean", "description": "Also look at names that begin with a dot."},
                "ignored": {"type": "boolean", "description": "Also look at what ignore files leave out."},
            },
            "required": ["pattern"],
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
struct GlobArguments {
    pattern: String,
    path: Option<String>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    ignored: bool,
}

/// Runs the tool.
pub(crate) fn run(call: &ToolCallContext<'_>, arguments: &str) -> Result<ToolResult, ToolFailure> {
    let arguments: GlobArguments = parse(arguments)?;
    let start = call.workspace.path(arguments.path.as_deref())?;
    let pattern = PathPattern::compile(&arguments.pattern)?;

    let mut page = LinePage::new(call.output_bytes_max);
    let filter = CredentialFilter::new(start.as_path(), Some(&arguments.pattern));
    let mut found = 0_u64;
    let report = walk(call.workspace, &start, call.cancel, |entry| {
        if (entry.is_hidden() && !arguments.hidden) || (entry.is_ignored && !arguments.ignored) {
            return WalkStep::Pass;
        }
        let is_hidden = filter.hides(entry.path);
        if pattern.matches(entry.path, &start) {
            found += 1;
            let slash = if entry.kind == EntryKind::Folder { "/" } else { "" };
            let told = if is_hidden { CREDENTIALS_TOLD } else { "" };
            page.push(&format!("{}{slash}{told}\n", show_path(entry.path)));
        }
        if is_hidden { WalkStep::Pass } else { WalkStep::Enter }
    })?;

    let mut notes = report.notes();
    let head = match found {
        0 => {
            notes.push(skipped_note(&arguments));
            format!("no matches in {} ({} names looked at)", start.show(), report.entries)
        }
        _ => quantity(found, "match"),
    };
    if page.is_full() {
        notes.push("the list is cut here; narrow the pattern or name a folder as `path`".to_owned());
    }
    Ok(page.finish(&head, &notes))
}

fn skipped_note(arguments: &GlobArguments) -> String {
    match (arguments.hidden, arguments.ignored) {
        (true, true) => "links and .git were not entered".to_owned(),
        _ => "hidden and ignored names were skipped; `hidden` and `ignored` include them".to_owned(),
    }
}

/// A pattern for paths below a folder.
#[derive(Debug)]
pub(crate) struct PathPattern {
    matcher: GlobMatcher,
    is_for_names: bool,
}

impl PathPattern {
    /// Compiles a pattern; one without `/` is for names at any depth.
    pub(crate) fn compile(pattern: &str) -> Result<Self, ToolFailure> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
        if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
            return Err(ToolFailure::Pattern(
                "a pattern is relative and has no `..`; write it like `src/**/*.rs`".to_owned(),
            ));
        }
        if pattern.chars().count() > PATTERN_CHARS_MAX {
            return Err(ToolFailure::Pattern(format!(
                "a pattern has at most {PATTERN_CHARS_MAX} characters"
            )));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
        let matcher = glob.map(|glob| glob.compile_matcher()).map_err(|cause| {
            ToolFailure::Pattern(format!(
                "the pattern does not compile: {}; write it like `**/*.rs` or `*.{{md,txt}}`",
                cause.kind()
            ))
        })?;
        Ok(Self { matcher, is_for_names: !pattern.contains('/') })
    }

    /// Returns whether a path from the workspace root, found below `start`, fits.
    pub(crate) fn matches(&self, path: &Path, start: &WorkspacePath) -> bool {
        let relative = path.strip_prefix(start.as_path()).unwrap_or(path);
        match relative.file_name() {
            Some(name) if self.is_for_names => self.matcher.is_match(Path::new(name)),
            _ => self.matcher.is_match(relative),
        }
    }
}

#[cfg(test)]
mod tests;
