//! What a person is shown before a call changes files: one line, and a unified diff.
//!
//! Invariant: a preview is bounded, says what it leaves out, and shows no character that could disguise another.

use std::time::Duration;

use palyra_types::effect::PREVIEW_BYTES_MAX;
use similar::{ChangeTag, TextDiff};

use super::change::FileChange;
use crate::quantity::quantity;
use crate::workspace::{SlotContent, WorkspacePath, show_text};

/// How long one diff may search for the smallest; then it is only correct.
const DIFF_TIME_MAX: Duration = Duration::from_millis(500);
const CONTEXT_LINES: usize = 3;
/// Files of which one line says what becomes of them, at most; the others are named.
const FILES_TOLD_MAX: usize = 6;
/// Names of the others, and of files that are not shown whole, in bytes.
const NAMES_BYTES_MAX: usize = 512;
/// Characters of one such name; of a longer one the end is shown.
const NAME_CHARS_MAX: usize = 160;
/// Kept for the end of a preview that is too long, in bytes.
const TAIL_BYTES: usize = PREVIEW_BYTES_MAX / 4;
/// Room for what is said of what was left out, in bytes.
const NOTE_BYTES: usize = NAMES_BYTES_MAX + 256;

/// What a person is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preview {
    /// One line.
    pub(crate) summary: String,
    /// The diff.
    pub(crate) diff: String,
}

/// Returns what a person is shown of some changes; `notes` go into the line.
pub(crate) fn preview(changes: &[FileChange], notes: &[String]) -> Preview {
    let mut diffs = Vec::new();
    let mut phrases = Vec::new();
    for change in changes {
        let is_old_name = changes.iter().any(|other| other.renamed_from.as_ref() == Some(&change.path));
        if is_old_name {
            continue;
        }
        let old =
            change.renamed_from.as_ref().and_then(|from| changes.iter().find(|other| other.path == *from));
        let from = old.unwrap_or(change).before_bytes();
        let shown = DiffBody::of(from, change.after.as_deref().unwrap_or_default());
        diffs.push(FileDiff { name: short(&change.path), text: headed(change, &shown) });
        phrases.push(phrase(change, &shown));
    }
    let summary = match phrases.len() {
        0 => "changes no file".to_owned(),
        1..=FILES_TOLD_MAX => phrases.join(", "),
        number => {
            let told = phrases[..FILES_TOLD_MAX].join(", ");
            let others = names(diffs[FILES_TOLD_MAX..].iter());
            format!("{}: {told}, and changes {others}", quantity(number as u64, "file"))
        }
    };
    let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
    Preview { summary: format!("{summary}{notes}"), diff: bounded(&diffs) }
}

/// Returns the difference between two texts as a unified diff with these names, bounded.
pub(crate) fn difference(from: &[u8], to: &[u8], from_name: &str, to_name: &str) -> String {
    let shown = DiffBody::of(from, to);
    let text = format!("--- {from_name}\n+++ {to_name}\n{}", shown.hunks);
    bounded(&[FileDiff { name: from_name.to_owned(), text }])
}

/// The diff of one file.
struct FileDiff {
    name: String,
    text: String,
}

/// Names files, and counts those for whose names there is no room.
fn names<'d>(diffs: impl Iterator<Item = &'d FileDiff>) -> String {
    let (mut named, mut left) = (String::new(), 0_usize);
    for diff in diffs {
        let next = format!("`{}`", diff.name);
        if left > 0 || named.len() + next.len() > NAMES_BYTES_MAX {
            left += 1;
        } else {
            let comma = if named.is_empty() { "" } else { ", " };
            named.push_str(comma);
            named.push_str(&next);
        }
    }
    if left > 0 { format!("{named} and {left} more") } else { named }
}

/// Returns a path for a line of text that names several.
fn short(path: &WorkspacePath) -> String {
    let shown = path.show();
    match shown.chars().count().checked_sub(NAME_CHARS_MAX) {
        None | Some(0) => shown,
        Some(beyond) => format!("…{}", shown.chars().skip(beyond).collect::<String>()),
    }
}

/// A diff without its head.
struct DiffBody {
    hunks: String,
    added: u64,
    removed: u64,
}

impl DiffBody {
    fn of(from: &[u8], to: &[u8]) -> Self {
        let (from, to) = (String::from_utf8_lossy(from), String::from_utf8_lossy(to));
        let diff = TextDiff::configure().timeout(DIFF_TIME_MAX).diff_lines(from.as_ref(), to.as_ref());
        let count =
            |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
        let hunks = show_text(&diff.unified_diff().context_radius(CONTEXT_LINES).to_string());
        Self { hunks, added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) }
    }
}

fn headed(change: &FileChange, shown: &DiffBody) -> String {
    let name = change.path.show();
    let run = if change.access.bits() & 0o100 == 0 { "" } else { "can be run\n" };
    let head = match (&change.before, &change.after, &change.renamed_from) {
        (_, _, Some(from)) => {
            format!("rename from {0}\nrename to {name}\n--- {0}\n+++ {name}\n", from.show())
        }
        (SlotContent::Absent, _, None) => format!("{run}--- /dev/null\n+++ {name}\n"),
        (SlotContent::File(_), None, None) => format!("--- {name}\n+++ /dev/null\n"),
        (SlotContent::File(_), Some(_), None) => format!("--- {name}\n+++ {name}\n"),
    };
    format!("{head}{}", shown.hunks)
}

fn phrase(change: &FileChange, shown: &DiffBody) -> String {
    let name = short(&change.path);
    let lines = format!("+{} -{}", shown.added, shown.removed);
    let bytes = quantity(change.after.as_ref().map_or(0, Vec::len) as u64, "byte");
    match (&change.before, &change.after, &change.renamed_from) {
        (_, _, Some(from)) => format!("renames `{}` to `{name}` ({lines})", short(from)),
        (SlotContent::Absent, _, None) => format!("creates `{name}` ({bytes})"),
        (SlotContent::File(_), None, None) => format!("removes `{name}` ({lines})"),
        (SlotContent::File(file), Some(after), None) if file.bytes == *after => {
            format!("leaves `{name}` as it is")
        }
        (SlotContent::File(_), Some(_), None) => format!("changes `{name}` ({lines} lines, {bytes})"),
    }
}

/// Keeps the head and the tail of diffs that are too long, and says what is between them.
fn bounded(diffs: &[FileDiff]) -> String {
    let diff: String = diffs.iter().map(|diff| diff.text.as_str()).collect();
    if diff.len() <= PREVIEW_BYTES_MAX {
        return diff;
    }
    let head_end = diff.floor_char_boundary(PREVIEW_BYTES_MAX - TAIL_BYTES - NOTE_BYTES);
    let head_end = diff[..head_end].rfind('\n').map_or(head_end, |at| at + 1);
    let tail_from = diff.ceil_char_boundary(diff.len() - TAIL_BYTES);
    let tail_from = diff[tail_from..].find('\n').map_or(tail_from, |at| tail_from + at + 1);
    let hidden = &diff[head_end..tail_from];
    let mut end = 0;
    let partly = diffs.iter().filter(|diff| {
        let begin = end;
        end += diff.text.len();
        begin < tail_from && end > head_end
    });
    let note = format!(
        "\n[... {} ({}) of this diff are not shown here; they are changed too: {} ...]\n\n",
        quantity(hidden.lines().count() as u64, "line"),
        quantity(hidden.len() as u64, "byte"),
        names(partly)
    );
    format!("{}{note}{}", &diff[..head_end], &diff[tail_from..])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::workspace::FileAccess;

    #[test]
    fn a_difference_shows_what_hides() {
        let shown = difference(b"a\nb\n", b"a\r\nb\xe2\x80\xae\n", "x", "y");
        assert_eq!(shown, "--- x\n+++ y\n@@ -1,2 +1,2 @@\n-a\n-b\n+a\\r\n+b\\u{202e}\n");
        let open = difference(b"a", b"a\n", "x", "y");
        assert_eq!(open, "--- x\n+++ y\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
    }

    #[test]
    fn no_file_hides_behind_the_length_of_others() {
        let made = |name: &str, lines: usize| FileChange {
            path: WorkspacePath::parse(name, Path::new("/r")).unwrap(),
            before: SlotContent::Absent,
            after: Some("a line of text\n".repeat(lines).into_bytes()),
            access: FileAccess::New(0o666),
            renamed_from: None,
        };
        let mut changes: Vec<FileChange> = (0..8).map(|n| made(&format!("f{n}.txt"), 2_000)).collect();
        changes.insert(6, made(".hidden/evil.sh", 2));
        let shown = preview(&changes, &[]);
        for name in [".hidden/evil.sh", "f6.txt", "f7.txt"] {
            assert!(shown.summary.contains(&format!("`{name}`")), "{}", shown.summary);
        }
        assert!(!shown.diff.contains("+++ .hidden/evil.sh"), "the control: its own lines are left out");
        assert!(
            shown.diff.contains("changed too: `f1.txt`, `f2.txt`, `f3.txt`, `f4.txt`, `f5.txt`, `.hidden/evil.sh`, `f6.txt`, `f7.txt` ...]")
        );
        assert!(shown.diff.len() <= PREVIEW_BYTES_MAX);

        let many: Vec<FileChange> = (0..256).map(|n| made(&format!("{n}{}", "n".repeat(200)), 200)).collect();
        let shown = preview(&many, &[]);
        assert!(
            shown.summary.len() <= palyra_types::effect::PREVIEW_BYTES_MAX / 32,
            "{}",
            shown.summary.len()
        );
        assert!(shown.summary.ends_with(" more") && shown.diff.contains(" more ...]"), "{}", shown.summary);
        assert!(shown.diff.len() <= PREVIEW_BYTES_MAX);
    }

    #[test]
    fn a_long_difference_says_what_it_leaves_out() {
        let long: String = (0..40_000).map(|n| format!("line {n}\n")).collect();
        for text in [long, "x".repeat(300_000), "\u{e9}".repeat(200_000), "\u{1b}".repeat(100_000)] {
            let shown = difference(b"", text.as_bytes(), "x", "y");
            assert!(shown.len() <= PREVIEW_BYTES_MAX, "{}", shown.len());
            assert!(shown.starts_with("--- x\n+++ y\n@@ -0,0 +1") && shown.contains("are not shown here"));
        }
    }
}
