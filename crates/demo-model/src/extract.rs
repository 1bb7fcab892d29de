//! Makes sentences of a tool's output: quotes and counts, nothing else.
//!
//! Invariant: the sentences are bounded for any output.

use palyra_types::tool::ToolName;
use serde_json::Value;

use super::intent::{Call, View};
use super::markdown::outline;
use super::objects::has_extension;
use super::say::command_line;

/// A tool result with what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// The tool.
    pub(super) tool: ToolName,
    /// The arguments of the call.
    pub(super) arguments: Value,
    /// Its output, or the reason for its failure.
    pub(super) text: String,
    /// Whether it failed.
    pub(super) failed: bool,
}

const TITLE_CHARS_MAX: usize = 200;
const PARAGRAPH_CHARS_MAX: usize = 800;
const ERROR_CHARS_MAX: usize = 400;
const LINE_CHARS_MAX: usize = 160;
const NAMES_MAX: usize = 20;
pub(super) const MATCHES_MAX: usize = 20;
/// Of a text that is shown as it is.
const WHOLE_LINES_MAX: usize = 200;
const WHOLE_CHARS_MAX: usize = 12_000;
const CODE_LINES_MAX: usize = 5;

/// Describes a finding.
pub(super) fn describe(finding: &Finding) -> String {
    let of = subject(finding);
    if finding.is_denial() {
        return format!("`{}`{of} was not allowed: {}", finding.tool, clip(&finding.text, ERROR_CHARS_MAX));
    }
    if matches!(finding.tool.as_str(), "run_command" | "git") && finding.text.starts_with("e") {
        return ran(finding);
    }
    if let Some(way) = several_places(finding) {
        return way;
    }
    if finding.failed {
        let reason = clip(&finding.text, ERROR_CHARS_MAX);
        return format!("The tool `{}` did not succeed{of}: {reason}", finding.tool);
    }
    match finding.tool.as_str() {
        "read_file" => file(finding),
        "list_dir" => listing(&finding.text, argument(finding, "path")),
        "glob" => names(&finding.text, argument(finding, "pattern")),
        "search" => matches(&finding.text, argument(finding, "pattern")),
        "write_file" | "edit_file" | "apply_patch" => done(&finding.text),
        "ask_user" => format!("You answered: {}", clip(&finding.text, PARAGRAPH_CHARS_MAX)),
        tool => format!("The tool `{tool}` succeeded{of}: {}", clip(&finding.text, PARAGRAPH_CHARS_MAX)),
    }
}

/// Says what to type where a text that was to be replaced is there several times.
fn several_places(finding: &Finding) -> Option<String> {
    let is_so =
        finding.failed && finding.tool.as_str() == "edit_file" && finding.text.contains(" times in `");
    let (path, old, new) = (argument(finding, "path"), argument(finding, "old"), argument(finding, "new"));
    let mark = ['"', '\'', '`']
        .into_iter()
        .find(|mark| ![path, old, new].iter().any(|text| text.contains(*mark)))?;
    let count = finding.text.split(" times in `").next()?.rsplit(' ').next()?;
    let path = if path.contains(' ') { format!("{mark}{path}{mark}") } else { path.to_owned() };
    is_so.then(|| {
        format!(
            "I cannot tell which place you want: {mark}{}{mark} is {count} times in {path}, and nothing was changed. \
             To change every place, say: change all {mark}{old}{mark} to {mark}{new}{mark} in {path}",
            clip(old, LINE_CHARS_MAX)
        )
    })
}

/// Describes a finding as a sentence asked for it.
pub(super) fn show(finding: &Finding, view: View) -> String {
    let path = argument(finding, "path");
    if let (View::Size, true, Some((_, rest))) =
        (view, finding.failed, finding.text.split_once(" is a binary file of "))
    {
        let bytes = rest.split(' ').next().unwrap_or_default();
        return format!("{path} has {bytes} bytes.");
    }
    if finding.failed {
        return describe(finding);
    }
    let (text, note) = without_note(&finding.text);
    match (view, finding.tool.as_str()) {
        (View::Whole, "read_file") => match text.trim().is_empty() {
            true => format!("{path} is empty."),
            false => {
                let note = note.map(|note| format!(" ({})", without_way(note))).unwrap_or_default();
                format!("{path}{note}:\n\n{}", fenced(text))
            }
        },
        (View::Whole, "http_fetch") => whole(&finding.text).0,
        (View::Last(count), "read_file") if note.is_none() => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(count)..].join("\n");
            format!("The end of {path}:\n\n{}", fenced(&last))
        }
        (View::Counts, "read_file") if note.is_none() => {
            let (lines, words) = (text.lines().count(), text.split_whitespace().count());
            format!(
                "{path} has {}, {} and {}.",
                count(lines, "line"),
                count(words, "word"),
                count(text.chars().count(), "character")
            )
        }
        (View::Size, "read_file") if note.is_none() => format!("{path} has {}.", count(text.len(), "byte")),
        (View::Matches, "search") => {
            format!(
                "{} in {path}.",
                count(match_lines(&finding.text).len(), "match").replace("matchs", "matches")
            ) + "\n\n"
                + &describe(finding)
        }
        (View::Uses, "search") => uses(&finding.text, argument(finding, "pattern")),
        _ => describe(finding),
    }
}

/// Drops what a note says for models only: how to go on.
fn without_way(note: &str) -> String {
    clip(note.split("; continue with").next().unwrap_or(note), LINE_CHARS_MAX)
}

/// Shows what a program printed, as it printed it.
fn ran(finding: &Finding) -> String {
    let line = match finding.tool.as_str() {
        "git" => format!("git {}", argument(finding, "subcommand")),
        _ => command_line(&finding.arguments),
    };
    let how = finding.text.lines().next().unwrap_or_default();
    let succeeded = if finding.failed { "did not succeed" } else { "succeeded" };
    let text = printed(&finding.text);
    let told = format!("`{}` {succeeded}: {}", clip_line(&line), clip_line(how));
    let hint = if ["Please tell me who you are", "empty ident name", "unable to auto-detect"]
        .iter()
        .any(|sign| text.contains(sign))
    {
        "\n\nGit does not know who commits. Name the author in the configuration, then restart the daemon: commands.environment = \
         [\"GIT_AUTHOR_NAME=...\", \"GIT_AUTHOR_EMAIL=...\", \"GIT_COMMITTER_NAME=...\", \"GIT_COMMITTER_EMAIL=...\"]."
    } else {
        ""
    };
    if text.trim().is_empty() {
        format!("{told}. It printed nothing.{hint}")
    } else {
        format!("{told}\n\n{}{hint}", fenced(text))
    }
}

/// Returns what a program printed, without the line that says how it ended.
pub(super) fn printed(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest.strip_prefix('\n').unwrap_or(rest))
}

/// Returns the names in a listing, folders with a slash.
pub(super) fn listed_names(text: &str) -> Vec<String> {
    let entries = text.lines().filter(|line| !is_note(line) && !line.is_empty());
    entries.map(|line| without_remark(line).to_owned()).collect()
}

/// Sets a text off from the words around it; lines stay lines.
pub(super) fn fenced(text: &str) -> String {
    let (text, cut) = whole(text.trim_end_matches('\n'));
    let fence = if text.contains("```") { "````" } else { "```" };
    format!("{fence}\n{text}\n{fence}{cut}")
}

/// Returns a text within its bounds, without control characters, and what to say when something was left out.
fn whole(text: &str) -> (String, &'static str) {
    let mut out = String::new();
    let mut chars = 0;
    for (at, line) in text.lines().enumerate() {
        chars += line.chars().count() + 1;
        if at >= WHOLE_LINES_MAX || chars > WHOLE_CHARS_MAX {
            return (out, "\n\nThere is more; this is the beginning.");
        }
        if at > 0 {
            out.push('\n');
        }
        out.extend(line.chars().map(|c| if c.is_control() && c != '\t' { ' ' } else { c }));
    }
    (out, "")
}

impl Finding {
    /// Returns whether it is the result of a call; what was redacted in between does not count.
    pub(super) fn came_of(&self, call: &Call) -> bool {
        let arguments = Value::Object(call.arguments.clone());
        self.tool.as_str() == call.ability.tool()
            && (self.arguments == arguments || self.arguments.to_string().contains("<secret:"))
    }

    /// Returns whether something that was to be changed was not.
    pub(super) fn is_failed_change(&self) -> bool {
        self.failed
            && matches!(self.tool.as_str(), "write_file" | "edit_file" | "apply_patch" | "run_command")
    }

    /// Returns whether a person, or policy, did not let the call run.
    pub(super) fn is_denial(&self) -> bool {
        let begins = [
            "a person denied this call",
            "no person answered the approval of this call",
            "this call did not run:",
            "policy denies",
            "policy forbids",
        ];
        let holds = ["needs a person by", "is disabled here", "` is denied"];
        let first = self.text.lines().next().unwrap_or_default();
        self.failed
            && (begins.iter().any(|begin| first.starts_with(begin))
                || holds.iter().any(|part| first.contains(part)))
    }
}

/// Tells what a tool changed; it says so itself, one file a line.
fn done(text: &str) -> String {
    let lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(clip_line).collect();
    format!("Done: {}.", some(&lines, MATCHES_MAX, "; "))
}

pub(super) fn argument<'a>(finding: &'a Finding, name: &str) -> &'a str {
    finding.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn subject(finding: &Finding) -> String {
    let named =
        ["path", "pattern", "url"].iter().map(|name| argument(finding, name)).find(|text| !text.is_empty());
    named.map(|text| format!(" for `{}`", clip(text, LINE_CHARS_MAX))).unwrap_or_default()
}

fn file(finding: &Finding) -> String {
    let path = match argument(finding, "path") {
        "" => "The file",
        path => path,
    };
    let (text, note) = without_note(&finding.text);
    if text.trim().is_empty() {
        return format!("{path} is empty.");
    }
    let lines = count(text.lines().count(), "line");
    let words = count(text.split_whitespace().count(), "word");
    let counts = match note {
        Some(note) => format!("{lines}, {words} ({})", clip(note, LINE_CHARS_MAX)),
        None => format!("{lines}, {words}"),
    };
    if !is_prose(path) {
        let lines: Vec<String> =
            text.lines().filter(|line| !line.trim().is_empty()).take(CODE_LINES_MAX).map(clip_line).collect();
        return format!("{path} has {counts}. It begins:\n\n    {}", lines.join("\n    "));
    }
    let found = outline(text);
    let title = found.title.map(|title| format!("{path} is titled \"{}\".", clip(&title, TITLE_CHARS_MAX)));
    let paragraph = found.paragraph.map(|paragraph| clip(&paragraph, PARAGRAPH_CHARS_MAX));
    let lead = match (title, paragraph) {
        (Some(title), Some(paragraph)) => format!("{title} It says: {paragraph}"),
        (Some(title), None) => title,
        (None, Some(paragraph)) => format!("{path} begins: {paragraph}"),
        (None, None) => format!("{path} has neither a heading nor a paragraph."),
    };
    format!("{lead}\n\n{path}: {counts}.")
}

/// Parts a file's text from the note in brackets in which the tool tells what is missing.
pub(super) fn without_note(text: &str) -> (&str, Option<&str>) {
    let (body, last) =
        text.rsplit_once('\n').map_or(("", text), |(_, last)| (&text[..text.len() - last.len()], last));
    let note = last.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let told = ["lines ", "line ", "the file is empty", "bytes that are not", "continue with"];
    match note.filter(|note| told.iter().any(|start| note.starts_with(start))) {
        Some(note) => (body, Some(note)),
        None => (text, None),
    }
}

/// Returns whether a file is written for people, as far as its name tells.
fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let known = ["md", "markdown", "mdx", "txt", "rst", "adoc", "org", "html", "htm"];
    match name.rsplit_once('.') {
        Some((_, extension)) if has_extension(&name) => known.contains(&extension),
        _ => !matches!(name.as_str(), "makefile" | "dockerfile" | "justfile") && !name.starts_with('.'),
    }
}

fn listing(text: &str, path: &str) -> String {
    let Listed { head, entries, notes } =
        Listed::read(text, |line| line.contains(" holds ") || line.ends_with(" is empty"));
    let place = if matches!(path, "" | ".") { "This folder".to_owned() } else { format!("`{path}`") };
    let told = head.map(|head| match head.split_once(' ') {
        Some((_, rest)) => format!("{place} {rest}"),
        None => head,
    });
    if entries.is_empty() {
        return format!("{}.{notes}", told.unwrap_or_else(|| format!("{place} is empty")));
    }
    let names: Vec<String> = entries.iter().map(|entry| without_remark(entry).to_owned()).collect();
    let told = told.unwrap_or_else(|| format!("{place} holds {}", sorts(&names)));
    format!("{told}: {}.{notes}", some(&names, NAMES_MAX, ", "))
}

fn sorts(names: &[String]) -> String {
    let folders = names.iter().filter(|name| name.ends_with('/')).count();
    match (names.len() - folders, folders) {
        (files, 0) => count(files, "file"),
        (0, folders) => count(folders, "folder"),
        (files, folders) => format!("{} and {}", count(files, "file"), count(folders, "folder")),
    }
}

fn names(text: &str, pattern: &str) -> String {
    let Listed { entries, notes, .. } = Listed::read(text, is_count);
    if entries.is_empty() {
        return format!("Nothing matches `{pattern}`.{notes}");
    }
    let verb = if entries.len() == 1 { "name matches" } else { "names match" };
    format!("{} {verb} `{pattern}`: {}.{notes}", entries.len(), some(&entries, NAMES_MAX, ", "))
}

fn matches(text: &str, pattern: &str) -> String {
    let Listed { head, entries, notes } = Listed::read(text, is_count);
    if entries.is_empty() && is_long(pattern) {
        return format!("Nothing of that kind was found.{notes}");
    }
    if entries.is_empty() {
        return format!("Nothing matches `{pattern}`.{notes}");
    }
    let total = head.unwrap_or_else(|| {
        let mut files: Vec<&str> =
            entries.iter().filter_map(|line| line.split_once(':')).map(|(file, _)| file).collect();
        files.dedup();
        let matches =
            if entries.len() == 1 { "1 match".to_owned() } else { format!("{} matches", entries.len()) };
        format!("{matches} in {}", count(files.len(), "file"))
    });
    // A pattern of ours says nothing to a person.
    let title = if is_long(pattern) { "Found".to_owned() } else { format!("`{pattern}`") };
    // A note below the last match, so that it is not read as text of the file.
    let notes = if notes.is_empty() { notes } else { format!("\n\n{}", notes.trim_start()) };
    format!("{title}: {total}.\n- {}{notes}", some(&entries, MATCHES_MAX, "\n- "))
}

/// Returns whether a pattern is one of ours, for definitions or tests.
fn is_long(pattern: &str) -> bool {
    pattern.contains("|fn") || pattern.contains("(class|struct")
}

/// Returns the lines of matches, as `path:line: text`.
pub(super) fn match_lines(text: &str) -> Vec<String> {
    Listed::read(text, is_count).entries
}

/// Tells the matches that define nothing.
fn uses(text: &str, pattern: &str) -> String {
    let begins = ["def ", "fn ", "func ", "function ", "class ", "pub fn ", "async def ", "pub(crate) fn "];
    let defines = |line: &String| {
        let text = line.splitn(3, ':').nth(2).unwrap_or_default().trim_start();
        begins.iter().any(|begin| text.starts_with(begin))
    };
    let (_, used): (Vec<String>, Vec<String>) = match_lines(text).into_iter().partition(defines);
    if used.is_empty() {
        return format!("Nothing calls `{}`.", pattern.trim_start_matches("\\b").trim_end_matches("\\s*\\("));
    }
    format!("{}:\n- {}", count(used.len(), "call"), some(&used, MATCHES_MAX, "\n- "))
}

/// An output of one entry a line, which may begin with a summary and end with notes.
struct Listed {
    head: Option<String>,
    entries: Vec<String>,
    notes: String,
}

impl Listed {
    fn read(text: &str, is_head: impl Fn(&str) -> bool) -> Self {
        let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).peekable();
        let head = lines
            .next_if(|line| is_head(without_brackets(line)))
            .map(|line| clip_line(without_brackets(line)));
        let (notes, entries): (Vec<&str>, Vec<&str>) = lines.partition(|line| is_note(line));
        let notes: String = notes.into_iter().map(|note| format!(" {}", clip_line(note))).collect();
        Self { head, entries: entries.into_iter().map(clip_line).collect(), notes: clip_line(&notes) }
    }
}

/// The tools put their own words in brackets.
fn without_brackets(line: &str) -> &str {
    line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).unwrap_or(line)
}

/// Returns whether a line is a summary such as "3 matches in 2 files" or "no matches".
fn is_count(line: &str) -> bool {
    let mut words = line.split(' ');
    let number = words.next().is_some_and(|word| word == "no" || word.parse::<u64>().is_ok());
    number && words.next().is_some_and(|word| matches!(word, "match" | "matches"))
}

fn is_note(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}

/// Takes off what a listing says of an entry behind its name, such as its size.
fn without_remark(entry: &str) -> &str {
    match entry.rsplit_once(" (") {
        Some((name, remark)) if remark.ends_with(')') => name,
        _ => entry,
    }
}

pub(super) fn some(entries: &[String], entries_max: usize, joint: &str) -> String {
    let shown = entries.iter().take(entries_max).cloned().collect::<Vec<_>>().join(joint);
    match entries.len().saturating_sub(entries_max) {
        0 => shown,
        more => format!("{shown}{joint}and {more} more"),
    }
}

pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn clip_line(line: &str) -> String {
    clip_with(line, LINE_CHARS_MAX)
}

pub(super) fn clip(text: &str, chars_max: usize) -> String {
    clip_with(text.trim(), chars_max)
}

/// Cuts at a number of characters; control characters become spaces.
fn clip_with(text: &str, chars_max: usize) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = chars.by_ref().take(chars_max).collect();
    if chars.next().is_some() {
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(tool: &str, arguments: Value, text: &str, expect: &str) {
        let finding = Finding { tool: ToolName::new(tool), arguments, text: text.to_owned(), failed: false };
        assert_eq!(describe(&finding), expect);
    }

    #[test]
    fn a_document_is_told_by_title_paragraph_and_counts() {
        check(
            "read_file",
            json!({"path": "README.md"}),
            "# Alpha\n\nIt does things.\n",
            "README.md is titled \"Alpha\". It says: It does things.\n\nREADME.md: 3 lines, 5 words.",
        );
        check("read_file", json!({"path": "a.md"}), " \n", "a.md is empty.");
        check("read_file", json!({"path": "a.md"}), "[the file is empty]", "a.md is empty.");
        check(
            "read_file",
            json!({"path": "a.md"}),
            "# A\nOne.\n[lines 1-2 of 9; the file has 99 bytes; continue with from=3]",
            "a.md is titled \"A\". It says: One.\n\n\
             a.md: 2 lines, 3 words (lines 1-2 of 9; the file has 99 bytes; continue with from=3).",
        );
        check(
            "read_file",
            json!({"path": "a.md"}),
            "One\n[x]",
            "a.md begins: One [x]\n\na.md: 2 lines, 2 words.",
        );
        check("read_file", json!({}), "x", "The file begins: x\n\nThe file: 1 line, 1 word.");
        check(
            "read_file",
            json!({"path": "a.rs"}),
            "//! Hi\n\nfn a() {}\n",
            "a.rs has 3 lines, 5 words. It begins:\n\n    //! Hi\n    fn a() {}",
        );
    }

    #[test]
    fn lists_are_counted_and_named() {
        check(
            "list_dir",
            json!({"path": "."}),
            "a.md\nb/\n",
            "This folder holds 1 file and 1 folder: a.md, b/.",
        );
        check("list_dir", json!({"path": "src"}), "", "`src` is empty.");
        check("list_dir", json!({"path": "src"}), "src is empty", "`src` is empty.");
        let told = "[. holds 9 folders, 1 file]\nb/\na.md (12 bytes)\nl -> x (link, not followed)\n[the list is cut here]";
        let expect = "This folder holds 9 folders, 1 file: b/, a.md, l -> x. [the list is cut here]";
        check("list_dir", json!({}), told, expect);
        let told = "1 match\nsrc/a.rs\n";
        check("glob", json!({"pattern": "*.rs"}), told, "1 name matches `*.rs`: src/a.rs.");
        let told = "no matches in . (7 names looked at)\n[hidden names were skipped]";
        check(
            "glob",
            json!({"pattern": "*.rs"}),
            told,
            "Nothing matches `*.rs`. [hidden names were skipped]",
        );
        check("glob", json!({"pattern": "*.rs"}), "a.rs\nb.rs", "2 names match `*.rs`: a.rs, b.rs.");
        check("glob", json!({"pattern": "*.rs"}), "", "Nothing matches `*.rs`.");
        let many = (0..30).map(|n| format!("f{n}\n")).collect::<String>();
        let finding =
            Finding { tool: ToolName::new("list_dir"), arguments: json!({}), text: many, failed: false };
        assert!(describe(&finding).ends_with("f19, and 10 more."));
    }

    #[test]
    fn matches_are_counted_and_the_first_are_shown() {
        check(
            "search",
            json!({"pattern": "x"}),
            "a.rs:1:x\na.rs:2:x\nb.rs:9:x",
            "`x`: 3 matches in 2 files.\n- a.rs:1:x\n- a.rs:2:x\n- b.rs:9:x",
        );
        check("search", json!({"pattern": "x"}), "\n", "Nothing matches `x`.");
        check("search", json!({"pattern": "x"}), "no matches (9 files searched)\n", "Nothing matches `x`.");
        let told =
            "250 matches in 9 files (10 files searched)\na.rs:1: x\n[stopped at max=200; there may be more]";
        let expect = "`x`: 250 matches in 9 files (10 files searched).\n- a.rs:1: x\n\n[stopped at max=200; there may be more]";
        check("search", json!({"pattern": "x"}), told, expect);
    }

    #[test]
    fn a_failure_is_told_plainly() {
        let failure = Finding {
            tool: ToolName::new("read_file"),
            arguments: json!({"path": "gone.md"}),
            text: "no such file\u{1b}[31m".to_owned(),
            failed: true,
        };
        assert_eq!(
            describe(&failure),
            "The tool `read_file` did not succeed for `gone.md`: no such file [31m"
        );
    }

    #[test]
    fn what_was_changed_answered_and_denied_is_told() {
        let text = "created notes.txt: 5 bytes, sha256 2cf24dba5fb0";
        let expect = "Done: created notes.txt: 5 bytes, sha256 2cf24dba5fb0.";
        check("write_file", json!({"path": "notes.txt"}), text, expect);
        check("ask_user", json!({"question": "Which?"}), "the red one", "You answered: the red one");
        let failed = |text: &str| {
            let arguments = json!({"path": "a.txt"});
            Finding { tool: ToolName::new("write_file"), arguments, text: text.to_owned(), failed: true }
        };
        let denied = failed("a person denied this call: not now");
        assert!(denied.is_denial());
        assert_eq!(
            describe(&denied),
            "`write_file` for `a.txt` was not allowed: a person denied this call: not now"
        );
        assert!(failed("policy denies this call of `write_file`, no rule permits it; go on").is_denial());
        assert!(!failed("`a.txt` does not exist").is_denial());
    }

    #[test]
    fn every_description_is_bounded() {
        for tool in ["read_file", "list_dir", "glob", "search", "write_file", "ask_user", "other"] {
            for text in ["x".repeat(100_000), "word ".repeat(50_000), "a:1:b\n".repeat(50_000)] {
                let finding = Finding {
                    tool: ToolName::new(tool),
                    arguments: json!({"path": "a.md"}),
                    text,
                    failed: false,
                };
                assert!(describe(&finding).len() < 4_000, "{tool}");
            }
        }
    }
}
