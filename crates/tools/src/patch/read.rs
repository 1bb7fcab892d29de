//! Reads a unified diff, with or without the headers of git.
//!
//! Owns the grammar. A hunk has as many lines as its header says; where it stands in the file is only a hint.
//! Invariant: every file of a patch is named once, and what cannot be done to text (links, submodules, binary
//! patches, copies, other modes) is refused here, not skipped.

use super::file_patch::{FilePatch, Hunk, HunkLine};
use super::header::Headers;
use super::source::PatchLines;
use crate::failure::ToolFailure;

/// Files in one patch, at most.
const FILES_MAX: usize = 256;

/// Reads a patch.
pub(crate) fn read_patch(text: &str) -> Result<Vec<FilePatch>, ToolFailure> {
    let mut source = PatchLines::new(text);
    let mut files = Vec::new();
    loop {
        let headers = Headers::read(&mut source)?;
        let mut hunks = Vec::new();
        while let Some(rest) = source.take_after("@@ ") {
            let hunk = read_hunk(&mut source, rest)?;
            hunks.push(hunk);
        }
        match headers {
            None if !hunks.is_empty() => return Err(source.wrong("is in a hunk that belongs to no file")),
            None => break,
            Some(headers) => files.push(FilePatch { kind: headers.kind(&source, &hunks)?, hunks }),
        }
        if files.len() > FILES_MAX {
            return Err(ToolFailure::Patch(format!(
                "a patch changes at most {FILES_MAX} files; send it in parts"
            )));
        }
    }
    if files.is_empty() {
        return Err(ToolFailure::Patch(
            "the patch names no file; it has to be a unified diff, with `--- a/FILE`, `+++ b/FILE` and `@@` lines"
                .to_owned(),
        ));
    }
    Ok(files)
}

fn read_hunk(source: &mut PatchLines<'_>, head: &str) -> Result<Hunk, ToolFailure> {
    let Some((old_from, old_count, new_count)) = ranges(head) else {
        return Err(source.wrong("has to read `@@ -LINE,COUNT +LINE,COUNT @@`"));
    };
    let mut hunk = Hunk { old_from, lines: Vec::new(), old_ends_open: false, new_ends_open: false };
    let (mut old, mut new) = (old_count, new_count);
    while old > 0 || new > 0 {
        let Some(line) = source.take() else {
            return Err(source.wrong(&format!("ends in a hunk that lacks {old} old and {new} new lines")));
        };
        // Editors and models drop the space of an empty line.
        let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        let wanted = match sign {
            " " => old.checked_sub(1).zip(new.checked_sub(1)),
            "-" => old.checked_sub(1).zip(Some(new)),
            "+" => Some(old).zip(new.checked_sub(1)),
            "\\" => {
                hunk.end_open();
                continue;
            }
            _ => return Err(source.wrong("is neither kept (space), removed (-) nor added (+)")),
        };
        let Some(left) = wanted else {
            return Err(source.wrong("is one more than its hunk's header counts; correct the counts"));
        };
        (old, new) = left;
        hunk.lines.push(match sign {
            " " => HunkLine::Kept(text.to_owned()),
            "-" => HunkLine::Removed(text.to_owned()),
            _ => HunkLine::Added(text.to_owned()),
        });
    }
    if source.take_after("\\").is_some() {
        hunk.end_open();
    }
    // Behind the last hunk of a mailed patch stands a signature.
    let goes_on =
        |line: &str| line.starts_with(['+', '-', ' ']) && !line.starts_with("--- ") && line != "-- ";
    if source.peek().is_some_and(goes_on) {
        let _ = source.take();
        return Err(source.wrong("is one more than its hunk's header counts; correct the counts"));
    }
    Ok(hunk)
}

/// Reads `-LINE,COUNT +LINE,COUNT @@`.
fn ranges(head: &str) -> Option<(usize, usize, usize)> {
    let (ranges, _) = head.split_once(" @@")?;
    let (old, new) = ranges.split_once(' ')?;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (from, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((from.parse().ok()?, count.parse().ok()?))
    };
    let (old_from, old_count) = range(old.strip_prefix('-')?)?;
    let (_, new_count) = range(new.strip_prefix('+')?)?;
    Some((old_from, old_count, new_count))
}

#[cfg(test)]
mod tests;
