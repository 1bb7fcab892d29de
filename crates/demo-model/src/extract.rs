//! Makes sentences of a tool's output: quotes and counts, nothing else.
//!
//! Invariant: the sentences are bounded for any output.

use palyra_types::tool::ToolName;
use serde_json::Value;

use super::intent::{AnswerView, IntendedCall};
use super::lexicon::holds;
use super::markdown::outline;
use super::objects::has_extension;
use super::say::command_line;

/// A tool result with what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ToolFinding {
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
/// A refusal can end with a line to write into a file.
const ERROR_CHARS_MAX: usize = 1_200;
const LINE_CHARS_MAX: usize = 160;
const NAMES_MAX: usize = 20;
pub(super) const MATCHES_MAX: usize = 20;
/// Of a text that is shown as it is.
const WHOLE_LINES_MAX: usize = 200;
const WHOLE_CHARS_MAX: usize = 12_000;
const CODE_LINES_MAX: usize = 5;
/// Of what a program printed: more was seen while it ran, and is not repeated.
const RESULT_LINES_MAX: usize = 10;
/// Where a program says how its work ended.
const LAST_LINES: usize = 3;
/// Programs of whose output the beginning matters as much as the end.
const LISTING_PROGRAMS: &[&str] =
    &["ls", "cat", "du", "find", "grep", "rg", "sort", "head", "tail", "ps", "df", "env"];

/// Describes a finding.
pub(super) fn describe(finding: &ToolFinding) -> String {
    let of = subject(finding);
    if finding.is_denial() {
        let reason = clip(&finding.text, ERROR_CHARS_MAX);
        // A value to copy at its end stays as it is.
        let stop =
            if reason.ends_with(|c: char| c.is_alphanumeric() || "`)\"".contains(c)) { "." } else { "" };
        return format!("`{}`{of} was not allowed: {reason}{stop}", finding.tool);
    }
    if matches!(finding.tool.as_str(), "run_command" | "git") && finding.text.starts_with("e") {
        return ran(finding);
    }
    if let Some(way) = several_places(finding).or_else(|| no_place(finding)) {
        return way;
    }
    if finding.failed {
        let reason = clip(&finding.text, ERROR_CHARS_MAX);
        return format!(
            "The tool `{}` did not succeed{of}: {reason}{}",
            finding.tool,
            credential_way(finding.tool.as_str(), argument(finding, "url"), &finding.text)
        );
    }
    match finding.tool.as_str() {
        "read_file" => file(finding),
        "list_dir" => listing(&finding.text, argument(finding, "path")),
        "glob" => names(&finding.text, argument(finding, "pattern")),
        "search" => matches(finding),
        "write_file" | "edit_file" | "apply_patch" => done(&finding.text),
        "memory_write" | "memory_search" | "session_search" => clip(&finding.text, PARAGRAPH_CHARS_MAX),
        "ask_user" => format!("You answered: {}", clip(&finding.text, PARAGRAPH_CHARS_MAX)),
        tool => format!(
            "The tool `{tool}` succeeded{of}: {}",
            clip(&without_delimiters(&finding.text), PARAGRAPH_CHARS_MAX)
        ),
    }
}

/// Returns what a server said without the delimiters around it, which are for models.
fn without_delimiters(text: &str) -> String {
    let is_delimiter = |line: &str| line.starts_with("<fetched-") || line.starts_with("</fetched-");
    text.lines().filter(|line| !is_delimiter(line)).collect::<Vec<_>>().join("\n")
}

/// Says what to type where a server wants to know who asks.
fn credential_way(tool: &str, url: &str, text: &str) -> String {
    let is_refused = ["HTTP 401 ", "HTTP 403 "].iter().any(|status| text.contains(status));
    if tool != "http_fetch" || !is_refused || !url.starts_with("https://") {
        return String::new();
    }
    format!(
        "\n\nThe server wants to know who asks. `palyra admin vault put NAME --host HOST` saves a secret for it; then say: \
         fetch {} with the secret NAME",
        clip(url, LINE_CHARS_MAX)
    )
}

/// Says what to type where a text that was to be replaced is there several times.
fn several_places(finding: &ToolFinding) -> Option<String> {
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

/// Says how to see what is in a file that lacks the text to replace; the tool's own advice is for models.
fn no_place(finding: &ToolFinding) -> Option<String> {
    let is_so = finding.failed
        && finding.tool.as_str() == "edit_file"
        && finding.text.contains("the text to replace is not in `")
        && finding.text.contains("; read the file again");
    let (path, old) = (argument(finding, "path"), argument(finding, "old"));
    let quoted = |mark: char| format!("{mark}{old}{mark}");
    let quoted = ['"', '\'', '`'].into_iter().find(|mark| !old.contains(*mark)).map(quoted)?;
    // A search would find nothing where the text is in no other file.
    let named = if path.contains(' ') { format!("\"{path}\"") } else { path.to_owned() };
    is_so.then(|| {
        format!(
            "I do not find {} in {path}, and nothing was changed. To see what is there, say: show me {named}",
            clip(&quoted, LINE_CHARS_MAX)
        )
    })
}

/// Describes a finding as a sentence asked for it.
pub(super) fn show(finding: &ToolFinding, view: AnswerView) -> String {
    let path = argument(finding, "path");
    if let (AnswerView::Size, true, Some((_, rest))) =
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
        (AnswerView::Whole, "read_file") => match text.trim().is_empty() {
            true => format!("{path} is empty."),
            false => {
                let note = note.map(|note| format!(" ({})", without_way(note))).unwrap_or_default();
                format!("{path}{note}:\n\n{}", fenced(text))
            }
        },
        (AnswerView::Whole, "http_fetch") => whole(&without_delimiters(&finding.text)).0,
        (AnswerView::Last(count), "read_file") if note.is_none() => {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(count)..].join("\n");
            format!("The end of {path}:\n\n{}", fenced(&last))
        }
        (AnswerView::Counts, "read_file") if note.is_none() => {
            let (lines, words) = (text.lines().count(), text.split_whitespace().count());
            format!(
                "{path} has {}, {} and {}.",
                count(lines, "line"),
                count(words, "word"),
                count(text.chars().count(), "character")
            )
        }
        (AnswerView::Size, "read_file") if note.is_none() => {
            format!("{path} has {}.", count(text.len(), "byte"))
        }
        (AnswerView::Matches, "search") => {
            format!(
                "{} in {path}.",
                count(match_lines(&finding.text).len(), "match").replace("matchs", "matches")
            ) + "\n\n"
                + &describe(finding)
        }
        (AnswerView::Uses, "search") => uses(&finding.text, argument(finding, "pattern")),
        _ => describe(finding),
    }
}

/// Drops what a note says for models only: how to go on.
fn without_way(note: &str) -> String {
    clip(note.split("; continue with").next().unwrap_or(note), LINE_CHARS_MAX)
}

/// Says how git learns who commits; the configuration of the person's home is not visible to commands.
const AUTHOR_HINT: &str = "\n\nGit does not know who commits: commands do not see the configuration of your home. In your shell, in \
    this folder, name the author of this repository:\n\n```\ngit config user.name \"Your Name\"\ngit config user.email \
    you@example.org\n```\n\nFor all folders, write this into the configuration file, which `palyra config check` names; where it has \
    a section `[commands]` already, write the second line there. Then `palyra admin stop`:\n\n```\n[commands]\nenvironment = \
    [\"GIT_AUTHOR_NAME=Your Name\", \"GIT_AUTHOR_EMAIL=you@example.org\", \"GIT_COMMITTER_NAME=Your Name\", \
    \"GIT_COMMITTER_EMAIL=you@example.org\"]\n```\n\n`commands.environment` counts more than the repository.";

/// Shows what a program printed, as it printed it.
fn ran(finding: &ToolFinding) -> String {
    let line = match finding.tool.as_str() {
        "git" => format!("git {}", argument(finding, "subcommand")),
        _ => command_line(&finding.arguments),
    };
    let how = finding.text.lines().next().unwrap_or_default();
    let succeeded = if finding.failed { "did not succeed" } else { "succeeded" };
    let text = printed(&finding.text);
    let outcome = format!("`{}` {succeeded}: {}", clip_line(&line), clip_line(how));
    let hint = if finding.failed && text.contains("not a git repository") {
        "\n\nThis folder is not in a git repository, so git knows no changes of it. `palyra runs list` lists what Palyra did, \
         `palyra runs undo RUN` takes back what a run changed."
    } else if ["Please tell me who you are", "empty ident name", "unable to auto-detect"]
        .iter()
        .any(|sign| text.contains(sign))
    {
        AUTHOR_HINT
    } else {
        ""
    };
    if text.trim().is_empty() {
        return format!("{outcome}. It printed nothing.{hint}");
    }
    let program = finding.arguments.pointer("/argv/0").and_then(Value::as_str).unwrap_or("git");
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        // A person has seen each line while the program ran.
        total if program != "git" && total > RESULT_LINES_MAX => {
            let (which, shown) = match holds(LISTING_PROGRAMS, program) {
                true => ("the first", &lines[..RESULT_LINES_MAX]),
                false => ("the last", &lines[total - LAST_LINES..]),
            };
            let shown_lines = count(shown.len(), "line");
            format!(
                "{outcome}. Of the {total} lines that it printed, {which} {shown_lines}:\n\n{}{hint}",
                fenced(&shown.join("\n"))
            )
        }
        _ => format!("{outcome}\n\n{}{hint}", fenced(text)),
    }
}

/// Returns what a program printed, without the lines that say how it ended.
pub(super) fn printed(text: &str) -> &str {
    text.split_once("\n\n").or_else(|| text.split_once('\n')).map_or("", |(_, rest)| rest)
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

impl ToolFinding {
    /// Returns whether it is the result of a call; what was redacted in between does not count.
    pub(super) fn came_of(&self, call: &IntendedCall) -> bool {
        let arguments = Value::Object(call.arguments.clone());
        self.tool.as_str() == call.ability.tool()
            && (self.arguments == arguments || self.arguments.to_string().contains("<secret:"))
    }

    /// Returns whether something that was to be changed was not.
    pub(super) fn is_failed_change(&self) -> bool {
        self.failed
            && matches!(self.tool.as_str(), "write_file" | "edit_file" | "apply_patch" | "run_command")
    }

    /// Returns whether policy did not let the call run, without a person's word.
    pub(super) fn is_denied_by_policy(&self) -> bool {
        let by_person =
            ["a person denied this call", "no person answered the approval", "this call did not run:"];
        self.is_denial() && !by_person.iter().any(|begin| self.text.starts_with(begin))
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

pub(super) fn argument<'a>(finding: &'a ToolFinding, name: &str) -> &'a str {
    finding.arguments.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn subject(finding: &ToolFinding) -> String {
    let named =
        ["path", "pattern", "url"].iter().map(|name| argument(finding, name)).find(|text| !text.is_empty());
    named.map(|text| format!(" for `{}`", clip(text, LINE_CHARS_MAX))).unwrap_or_default()
}

fn file(finding: &ToolFinding) -> String {
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
    let ListedOutput { head, entries, notes } =
        ListedOutput::read(text, |line| line.contains(" holds ") || line.ends_with(" is empty"));
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
    let ListedOutput { entries, notes, .. } = ListedOutput::read(text, is_count);
    if entries.is_empty() {
        return format!("Nothing matches `{pattern}`.{notes}");
    }
    let verb = if entries.len() == 1 { "name matches" } else { "names match" };
    format!("{} {verb} `{pattern}`: {}.{notes}", entries.len(), some(&entries, NAMES_MAX, ", "))
}

fn matches(finding: &ToolFinding) -> String {
    let pattern = argument(finding, "pattern");
    let files = match argument(finding, "glob") {
        "" => String::new(),
        glob => format!(" in files that match `{glob}`"),
    };
    let ListedOutput { head, entries, notes } = ListedOutput::read(&finding.text, is_count);
    if entries.is_empty() && is_long(pattern) {
        return format!("Nothing of that kind was found.{notes}");
    }
    if entries.is_empty() {
        return format!("Nothing matches `{pattern}`{files}.{notes}");
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
    let title = if is_long(pattern) { "Found".to_owned() } else { format!("`{pattern}`{files}") };
    let notes = notes.replace(ARGUMENTS_ADVICE, "");
    // A note below the last match, so that it is not read as text of the file.
    let notes = if notes.is_empty() { notes } else { format!("\n\n{}", notes.trim_start()) };
    format!("{title}: {total}.\n{}{notes}", quoted_matches(&entries))
}

/// What a note of a search says for models only.
const ARGUMENTS_ADVICE: &str = ": set `hidden`, or name one as `path`";

/// Returns whether a pattern is one of ours, for definitions or tests.
fn is_long(pattern: &str) -> bool {
    pattern.contains("|fn") || pattern.contains("(class|struct")
}

/// Returns the lines of matches, as `path:line: text`.
pub(super) fn match_lines(text: &str) -> Vec<String> {
    ListedOutput::read(text, is_count).entries
}

/// Returns the first matches as a list, the text of each as program text: nothing in it is a sign of this answer.
pub(super) fn quoted_matches(found: &[String]) -> String {
    let quoted = |line: &String| match line.splitn(3, ':').collect::<Vec<_>>().as_slice() {
        [file, number, text] if number.parse::<u32>().is_ok() && !text.trim().is_empty() => {
            format!("{file}:{number}: {}", code_span(text.trim()))
        }
        _ => line.clone(),
    };
    let quoted: Vec<String> = found.iter().map(quoted).collect();
    format!("- {}", some(&quoted, MATCHES_MAX, "\n- "))
}

/// Returns a text as program text within a line.
fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let signs = "`".repeat(longest + 1);
    let space = if longest > 0 { " " } else { "" };
    format!("{signs}{space}{text}{space}{signs}")
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
    format!("{}:\n{}", count(used.len(), "call"), quoted_matches(&used))
}

/// An output of one entry a line, which may begin with a summary and end with notes.
struct ListedOutput {
    head: Option<String>,
    entries: Vec<String>,
    notes: String,
}

impl ListedOutput {
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
mod tests;
