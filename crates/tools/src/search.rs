//! `search`: lines that match a regular expression.
//!
//! Owns which files are looked into and the count of all that was not. Binary files are passed over;
//! long files are read to their limit.

mod matches;

use std::path::Path;
use std::time::Duration;

use palyra_tool_kit::{ToolResult, WholeNumber, parse};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use regex::bytes::RegexBuilder;
use serde::Deserialize;
use serde_json::json;

use self::matches::{FileEnd, FileSearch, Query};
use crate::call::ToolCallContext;
use crate::credentials::CredentialFilter;
use crate::failure::ToolFailure;
use crate::glob::{PATTERN_CHARS_MAX, PathPattern};
use crate::lines::{FILE_BYTES_MAX, FileLines};
use crate::page::LinePage;
use crate::quantity::quantity;
use crate::workspace::{
    EntryKind, OpenFile, PathTarget, WalkEntry, WalkReport, WalkStep, WorkspacePath, show_path, walk,
};

const OUTPUT_BYTES_MAX: usize = 32 * 1024;
const DEADLINE: Duration = Duration::from_secs(60);
const MATCHES_DEFAULT: u64 = 200;
const MATCHES_MAX: u64 = 2000;
const CONTEXT_LINES_MAX: u64 = 10;
/// How much one search reads over all files, in bytes.
const SEARCH_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
/// How large a compiled expression may be, in bytes.
const REGEX_BYTES_MAX: usize = 1024 * 1024;
/// How large its cache may grow, in bytes.
const REGEX_CACHE_BYTES_MAX: usize = 4 * 1024 * 1024;
const REGEX_NESTING_MAX: u32 = 64;
/// Hidden names that a note lists, and the characters of a name in it.
const HIDDEN_NAMED_MAX: usize = 3;
const HIDDEN_CHARS_MAX: usize = 60;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("search"),
        version: 1,
        description: "Searches the text files of the workspace for a regular expression (Rust syntax, no \
                      look-around or back-references), line by line. Each match comes as `path:line: text`, \
                      context lines as `path-line- text`. Binary and ignored files, links, files that may hold \
                      credentials and, without `hidden`, hidden files are passed over; a file named as `path` is \
                      searched in any case."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": 1000,
                    "description": "What to look for, such as `fn \\w+_test` or `TODO`.",
                },
                "path": {
                    "type": "string", "x-palyra-meaning": "path", "maxLength": 4095,
                    "description": "The file or folder to search, from the workspace root; the root when left out.",
                },
                "glob": {
                    "type": "string", "x-palyra-meaning": "glob", "minLength": 1, "maxLength": PATTERN_CHARS_MAX,
                    "description": "Only files that match, such as `*.rs` or `src/**/*.md`; relative to `path`.",
                },
                "hidden": {"type": "boolean", "description": "Also look into names that begin with a dot."},
                "ignore_case": {"type": "boolean", "description": "Take upper and lower case as the same."},
                "context": {
                    "type": "integer", "minimum": 0, "maximum": CONTEXT_LINES_MAX,
                    "description": "Lines to show before and after each match; none when left out.",
                },
                "max": {
                    "type": "integer", "minimum": 1, "maximum": MATCHES_MAX,
                    "description": "Stop after this many matches; 200 when left out.",
                },
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
struct SearchArguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    ignore_case: bool,
    context: Option<WholeNumber>,
    max: Option<WholeNumber>,
}

/// Runs the tool.
pub(crate) fn run(call: &ToolCallContext<'_>, arguments: &str) -> Result<ToolResult, ToolFailure> {
    let arguments: SearchArguments = parse(arguments)?;
    let path = call.workspace.path(arguments.path.as_deref())?;
    let names = arguments.glob.as_deref().map(PathPattern::compile).transpose()?;
    let query = Query { regex: compile(&arguments)?, context: context_lines(&arguments) };
    let matches_max = arguments.max.map_or(MATCHES_DEFAULT, |WholeNumber(max)| max.clamp(1, MATCHES_MAX));

    let filter = CredentialFilter::new(path.as_path(), arguments.glob.as_deref());
    let mut search = TextSearch::new(call, filter, query, matches_max);
    let report = match call.workspace.place(&path)? {
        PathTarget::File(file) => {
            search.file(&path.show(), file)?;
            WalkReport::default()
        }
        PathTarget::Folder => {
            let hidden = if arguments.hidden { HiddenNames::Searched } else { HiddenNames::PassedOver };
            search.folder(&path, names.as_ref(), hidden)?
        }
    };
    Ok(search.finish(&report))
}

fn context_lines(arguments: &SearchArguments) -> usize {
    let lines = arguments.context.map_or(0, |WholeNumber(lines)| lines.min(CONTEXT_LINES_MAX));
    usize::try_from(lines).unwrap_or_default()
}

fn compile(arguments: &SearchArguments) -> Result<regex::bytes::Regex, ToolFailure> {
    RegexBuilder::new(&arguments.pattern)
        .case_insensitive(arguments.ignore_case)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_CACHE_BYTES_MAX)
        .nest_limit(REGEX_NESTING_MAX)
        .build()
        .map_err(|cause| {
            let reason = match cause {
                regex::Error::CompiledTooBig(_) => "it grows too large; use smaller repetitions".to_owned(),
                other => other.to_string().lines().last().unwrap_or_default().to_owned(),
            };
            ToolFailure::Pattern(format!(
                "the pattern does not compile: {reason}; to find it as plain text, put `\\` before each of \
                 `.+*?()|[]{{}}^$\\`"
            ))
        })
}

/// What becomes of names that begin with a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HiddenNames {
    /// They are searched like others.
    Searched,
    /// They are counted.
    PassedOver,
}

/// Hidden files and folders that were not searched.
#[derive(Debug, Default)]
struct HiddenCount {
    names: u64,
    /// The first of them.
    shown: Vec<String>,
}

impl HiddenCount {
    fn add(&mut self, path: &Path, kind: EntryKind) {
        let slash = if kind == EntryKind::Folder { "/" } else { "" };
        let name = format!("{}{slash}", show_path(path));
        self.names += 1;
        if self.shown.len() < HIDDEN_NAMED_MAX && name.chars().count() <= HIDDEN_CHARS_MAX {
            self.shown.push(name);
        }
    }

    /// Returns a sentence about them, when there are any.
    fn note(&self) -> Option<String> {
        let names = quantity(self.names, "hidden name");
        let more = if self.names > self.shown.len() as u64 && !self.shown.is_empty() { ", ..." } else { "" };
        let shown = match self.shown.join(", ") {
            shown if shown.is_empty() => shown,
            shown => format!(" ({shown}{more})"),
        };
        (self.names > 0).then(|| format!("{names}{shown} not searched: set `hidden`, or name one as `path`"))
    }
}

/// One search under way.
struct TextSearch<'c> {
    call: &'c ToolCallContext<'c>,
    credentials: CredentialFilter,
    hidden: HiddenCount,
    query: Query,
    matches_max: u64,
    page: LinePage,
    matches: u64,
    files_with_matches: u64,
    files: u64,
    files_binary: u64,
    files_unreadable: u64,
    files_long: u64,
    bytes: u64,
}

impl<'c> TextSearch<'c> {
    fn new(
        call: &'c ToolCallContext<'c>,
        credentials: CredentialFilter,
        query: Query,
        matches_max: u64,
    ) -> Self {
        Self {
            call,
            credentials,
            hidden: HiddenCount::default(),
            query,
            matches_max,
            page: LinePage::new(call.output_bytes_max),
            matches: 0,
            files_with_matches: 0,
            files: 0,
            files_binary: 0,
            files_unreadable: 0,
            files_long: 0,
            bytes: 0,
        }
    }

    fn folder(
        &mut self,
        path: &WorkspacePath,
        names: Option<&PathPattern>,
        hidden: HiddenNames,
    ) -> Result<WalkReport, ToolFailure> {
        let mut failure = None;
        let report = walk(self.call.workspace, path, self.call.cancel, |entry| {
            if entry.is_ignored {
                return WalkStep::Pass;
            }
            let is_wanted = names.is_none_or(|names| names.matches(entry.path, path));
            if self.credentials.hides(entry.path) {
                if is_wanted || entry.kind == EntryKind::Folder {
                    self.credentials.count();
                }
                return WalkStep::Pass;
            }
            if entry.is_hidden() && hidden == HiddenNames::PassedOver {
                let can_match = match entry.kind {
                    EntryKind::Folder => true,
                    EntryKind::File => is_wanted,
                    _ => false,
                };
                if can_match {
                    self.hidden.add(entry.path, entry.kind);
                }
                return WalkStep::Pass;
            }
            if entry.kind == EntryKind::File && is_wanted {
                failure = self.entry(entry).err();
            }
            if failure.is_some() || self.is_done() { WalkStep::Stop } else { WalkStep::Enter }
        })?;
        failure.map_or(Ok(report), Err)
    }

    fn entry(&mut self, entry: &WalkEntry<'_>) -> Result<(), ToolFailure> {
        match entry.file() {
            Some(file) => self.file(&show_path(entry.path), file),
            None => {
                self.files_unreadable += 1;
                Ok(())
            }
        }
    }

    fn file(&mut self, shown_path: &str, opened: OpenFile) -> Result<(), ToolFailure> {
        self.files += 1;
        self.files_long += u64::from(opened.bytes > FILE_BYTES_MAX);
        let mut lines = FileLines::new(opened.file);
        if lines.begin_binary().unwrap_or_default() {
            self.files_binary += 1;
            return Ok(());
        }
        let page = &mut self.page;
        let mut write = |text: &str| page.push(text);
        let left = self.matches_max - self.matches;
        let found = FileSearch::new(&self.query, shown_path, &mut write)
            .run(lines, left, || self.call.check_cancel())?;
        self.matches += found.matches;
        self.files_with_matches += u64::from(found.matches > 0);
        self.bytes += found.bytes;
        match found.end {
            FileEnd::Read => {}
            FileEnd::Binary => self.files_binary += 1,
            FileEnd::Unreadable => self.files_unreadable += 1,
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.matches >= self.matches_max || self.bytes >= SEARCH_BYTES_MAX || self.page.is_full()
    }

    fn finish(self, report: &WalkReport) -> ToolResult {
        let searched = format!("{} searched", quantity(self.files, "file"));
        let head = match self.matches {
            0 => format!("no matches ({searched})"),
            _ => format!(
                "{} in {} ({searched})",
                quantity(self.matches, "match"),
                quantity(self.files_with_matches, "file")
            ),
        };
        let mut notes = report.notes();
        if self.page.is_full() {
            notes.push("the list is cut here; narrow the pattern, or set `path` or `glob`".to_owned());
        } else if self.matches >= self.matches_max {
            notes.push(format!("stopped at max={}; there may be more", self.matches_max));
        } else if self.bytes >= SEARCH_BYTES_MAX {
            notes.push(format!("stopped after {SEARCH_BYTES_MAX} bytes; set `path` or `glob`"));
        }
        notes.extend(self.hidden.note());
        notes.extend(self.credentials.note());
        if self.files_binary > 0 {
            notes.push(format!("{} passed over", quantity(self.files_binary, "binary file")));
        }
        if self.files_unreadable > 0 {
            notes.push(format!("{} could not be read", quantity(self.files_unreadable, "file")));
        }
        if self.files_long > 0 {
            let long = quantity(self.files_long, "long file");
            notes.push(format!("{long} searched only up to {FILE_BYTES_MAX} bytes"));
        }
        self.page.finish(&head, &notes)
    }
}

#[cfg(test)]
mod tests;
