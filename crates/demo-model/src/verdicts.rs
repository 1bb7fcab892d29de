//! Answers that are a number, a yes or a no, made of the matches of a search or the names of a look.
//!
//! Pure. Invariant: a yes or a no is shown with the matches, so that a user can check it.

use std::collections::BTreeSet;

use super::extract::{
    ToolFinding, argument, count, describe, fenced, match_lines, quoted_matches, without_note,
};
use super::intent::AnswerView;

/// How a definition begins, in several languages.
const DEFINING: &[&str] = &[
    "pub ",
    "pub(crate) ",
    "async ",
    "export ",
    "def ",
    "fn ",
    "func ",
    "function ",
    "class ",
    "struct ",
    "const ",
    "static ",
    "let ",
    "var ",
];

/// Answers with a number, a yes or a no; `None` where the view is another.
pub(super) fn judged(finding: &ToolFinding, view: AnswerView) -> Option<String> {
    if finding.failed {
        return None;
    }
    match (view, finding.tool.as_str()) {
        (AnswerView::CountOf(noun), "search") => Some(counted(finding, noun)),
        (AnswerView::YesNo, "search" | "glob") => {
            let is_so = !match_lines(&finding.text).is_empty();
            Some(format!("{}. {}", if is_so { "Yes" } else { "No" }, describe(finding)))
        }
        (AnswerView::IsUsed, "search") => Some(used(finding)),
        (AnswerView::FirstLine, "read_file") => {
            let (text, _) = without_note(&finding.text);
            let line = fenced(text.lines().next().unwrap_or_default());
            Some(format!("The first line of {}:\n\n{line}", argument(finding, "path")))
        }
        _ => None,
    }
}

fn counted(finding: &ToolFinding, noun: &str) -> String {
    let found = match_lines(&finding.text);
    let least = if finding.text.contains("[stopped at") { "At least " } else { "" };
    let files: BTreeSet<&str> =
        found.iter().filter_map(|line| line.split_once(':')).map(|(file, _)| file).collect();
    let all = match (found.len(), noun) {
        (1, _) => noun.to_owned(),
        (_, "match" | "class") => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    if found.is_empty() {
        return format!("I found 0 {all}.");
    }
    let list = quoted_matches(&found);
    format!(
        "{least}{} {all} in {}, by how their lines begin:\n{list}",
        found.len(),
        count(files.len(), "file")
    )
}

/// Says whether a name is mentioned outside of its definition.
fn used(finding: &ToolFinding) -> String {
    let found = match_lines(&finding.text);
    let name =
        argument(finding, "pattern").trim_start_matches("\\b").trim_end_matches("\\b").replace('\\', "");
    let used: Vec<String> = found.iter().filter(|line| !defines(line, &name)).cloned().collect();
    match (found.is_empty(), used.is_empty()) {
        (true, _) => format!("No. {}", describe(finding)),
        (_, true) => format!("No, it is only defined:\n{}", quoted_matches(&found)),
        _ => format!(
            "Yes. Outside of its definition it is mentioned on {}, comments among them:\n{}",
            count(used.len(), "line"),
            quoted_matches(&used)
        ),
    }
}

/// Returns whether a match, as `path:line: text`, gives a name its meaning.
fn defines(line: &str, name: &str) -> bool {
    let text = line.splitn(3, ':').nth(2).unwrap_or_default().trim_start();
    let mut rest = text;
    while let Some(less) = DEFINING.iter().find_map(|begin| rest.strip_prefix(begin)) {
        rest = less;
    }
    let Some(behind) = rest.strip_prefix(name) else { return false };
    let behind = behind.trim_start();
    let assigns = behind.starts_with('=') && !behind.starts_with("==");
    rest.len() < text.len() || assigns
}

#[cfg(test)]
mod tests;
