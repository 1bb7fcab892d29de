//! `read_file`: the text of a file, whole or by lines.
//!
//! Owns the paging: what is shown whole comes exactly as it is; whatever is missing is named in a
//! last line in brackets, with the `from` to continue with. A hard link to a file outside is that file
//! and is read like any other; only links that name a path are refused.

use std::borrow::Cow;
use std::time::Duration;

use palyra_tool_kit::{ToolResult, WholeNumber, parse};
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::ToolCallContext;
use crate::failure::ToolFailure;
use crate::lines::{FileLines, TextLine, is_binary};
use crate::page::LinePage;
use crate::quantity::quantity;

const OUTPUT_BYTES_MAX: usize = 64 * 1024;
const DEADLINE: Duration = Duration::from_secs(20);
/// How names of pictures end that a model can be shown.
const PICTURE_ENDS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
/// Said of a picture: a model is shown it in another way.
const ATTACHED: &str = "; a picture is sent along with a question: /attach FILE in a chat, `palyra run --attach FILE QUESTION` in a shell";
/// How many lines pass between two looks at the cancel flag.
const LINES_PER_LOOK: u64 = 4096;

/// Returns what the tool declares.
pub(crate) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("read_file"),
        version: 1,
        description: "Reads a text file in the workspace and returns its text. A long file comes in parts: \
                      the last line, in brackets, then tells which lines were shown, how many there are, and \
                      the `from` to continue with. Folders, binary files and symbolic links are refused."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string", "x-palyra-meaning": "path", "minLength": 1, "maxLength": 4095,
                    "description": "The file, from the workspace root, such as `src/main.rs`.",
                },
                "from": {"type": "integer", "minimum": 1, "description": "First line to show, from 1."},
                "to": {"type": "integer", "minimum": 1, "description": "Last line to show, included."},
            },
            "required": ["path"],
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
struct ReadArguments {
    path: String,
    from: Option<WholeNumber>,
    to: Option<WholeNumber>,
}

fn is_picture(shown_path: &str) -> bool {
    let name = shown_path.trim_matches('"').to_ascii_lowercase();
    PICTURE_ENDS.iter().any(|end| name.ends_with(end))
}

/// Runs the tool.
pub(crate) fn run(call: &ToolCallContext<'_>, arguments: &str) -> Result<ToolResult, ToolFailure> {
    let arguments: ReadArguments = parse(arguments)?;
    let from = arguments.from.map_or(1, |WholeNumber(from)| from.max(1));
    let to = arguments.to.map_or(u64::MAX, |WholeNumber(to)| to);
    if to < from {
        return Err(ToolFailure::Arguments(format!("`to` ({to}) is before `from` ({from})")));
    }
    let path = call.workspace.path(Some(&arguments.path))?;
    let shown_path = path.show();
    let opened = call.workspace.file(&path)?;
    let unreadable = |cause| ToolFailure::System(format!("could not read `{shown_path}`: {cause}"));
    let binary = || {
        ToolFailure::Unsuitable(format!(
            "`{shown_path}` is a binary file of {} bytes, not text{}",
            opened.bytes,
            if is_picture(&shown_path) { ATTACHED } else { "" }
        ))
    };

    let mut lines = FileLines::new(opened.file);
    if lines.begin_binary().map_err(unreadable)? {
        return Err(binary());
    }
    let mut excerpt = FileExcerpt::new(call.output_bytes_max);
    while let Some(line) = lines.next().map_err(unreadable)? {
        if line.number % LINES_PER_LOOK == 0 {
            call.check_cancel()?;
        }
        if (from..=to).contains(&line.number) && !excerpt.page.is_full() {
            if is_binary(line.bytes) {
                return Err(binary());
            }
            excerpt.take(&line);
        }
    }
    let file = FileLength {
        bytes: opened.bytes.max(lines.bytes()),
        bytes_read: lines.bytes(),
        lines: lines.count(),
    };
    if from > file.lines.max(1) {
        return Err(ToolFailure::Arguments(format!(
            "`{shown_path}` has {}; ask for a `from` among them",
            file.count_lines()
        )));
    }
    Ok(excerpt.finish(from, &file))
}

/// How long a file is, as far as it was read.
struct FileLength {
    bytes: u64,
    bytes_read: u64,
    lines: u64,
}

impl FileLength {
    fn count_lines(&self) -> String {
        let lines = quantity(self.lines, "line");
        if self.bytes_read < self.bytes {
            return format!("{lines} in the first {} bytes, beyond which nothing was read", self.bytes_read);
        }
        lines
    }
}

/// The lines that are shown.
struct FileExcerpt {
    page: LinePage,
    last: u64,
    has_invalid: bool,
    cut_line_bytes: Option<u64>,
}

impl FileExcerpt {
    fn new(output_bytes_max: usize) -> Self {
        Self { page: LinePage::new(output_bytes_max), last: 0, has_invalid: false, cut_line_bytes: None }
    }

    fn take(&mut self, line: &TextLine<'_>) {
        let text = String::from_utf8_lossy(line.bytes);
        let fits_no_page = line.is_cut() || text.len() > self.page.bytes_max();
        if fits_no_page && !self.page.is_empty() {
            self.page.close();
        } else if fits_no_page {
            self.page.push_part(&text);
            self.last = line.number;
            self.cut_line_bytes = Some(line.bytes_total);
        } else {
            self.page.push(&text);
        }
        if !self.page.is_full() {
            self.last = line.number;
            self.has_invalid |= matches!(text, Cow::Owned(_));
        }
    }

    fn finish(self, from: u64, file: &FileLength) -> ToolResult {
        let mut notes = Vec::new();
        if file.lines == 0 {
            notes.push("the file is empty".to_owned());
        } else if from > 1 || self.last < file.lines || file.bytes_read < file.bytes {
            notes.push(format!(
                "lines {from}-{} of {}; the file has {} bytes",
                self.last,
                file.count_lines(),
                file.bytes
            ));
            if self.last < file.lines {
                notes.push(format!("continue with from={}", self.last + 1));
            }
        }
        if let Some(bytes) = self.cut_line_bytes {
            notes.push(format!("line {} is {bytes} bytes long and was cut", self.last));
        }
        if self.has_invalid {
            notes.push("bytes that are not UTF-8 are shown as \u{fffd}".to_owned());
        }
        self.page.finish("", &notes)
    }
}

#[cfg(test)]
mod tests;
