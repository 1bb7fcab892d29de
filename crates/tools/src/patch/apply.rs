//! Applies hunks to the bytes of a file.
//!
//! Invariant: kept and removed lines have to be there exactly; a hunk's line number only decides between several
//! places, and never makes it fit where its lines are not.

use std::collections::BTreeSet;

use super::file_patch::{Hunk, HunkLine};
use crate::failure::ToolFailure;

/// Lines that are compared to find the place of one hunk, at most.
const LINES_COMPARED_MAX: usize = 50_000_000;

/// Returns what the hunks make of `bytes`.
pub(crate) fn apply(bytes: &[u8], hunks: &[Hunk], shown: &str) -> Result<Vec<u8>, ToolFailure> {
    let old: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut made = Vec::with_capacity(bytes.len());
    let mut done = 0;
    let mut shift = 0_isize;
    for (at, hunk) in hunks.iter().enumerate() {
        let wanted = hunk.old_lines();
        let begin = hunk.old_from.saturating_sub(usize::from(!wanted.is_empty()));
        let expected = begin.saturating_add_signed(shift).max(done);
        let Some(found) =
            place(&old, &wanted, done, expected).map_err(|why| refused(shown, at, hunk, why))?
        else {
            return Err(refused(shown, at, hunk, misfit(&old, &wanted)));
        };
        shift = isize::try_from(found).unwrap_or(0) - isize::try_from(begin).unwrap_or(0);
        old[done..found].iter().for_each(|line| made.extend_from_slice(line));
        done = found + wanted.len();
        if hunk.new_ends_open && (done < old.len() || at + 1 < hunks.len()) {
            return Err(refused(shown, at, hunk, "leaves the last line open, and more follow"));
        }
        hunk.write_new(&old[found..done], &mut made);
    }
    old[done..].iter().for_each(|line| made.extend_from_slice(line));
    Ok(made)
}

/// Returns where `wanted` stands: where it is expected, else at the one other place.
fn place(
    old: &[&[u8]],
    wanted: &[Vec<u8>],
    from: usize,
    expected: usize,
) -> Result<Option<usize>, &'static str> {
    let fits = |at: usize| {
        let lines = at.checked_add(wanted.len()).and_then(|end| old.get(at..end));
        lines.is_some_and(|lines| lines.iter().zip(wanted).all(|(line, want)| line == want))
    };
    if fits(expected) {
        return Ok(Some(expected));
    }
    if wanted.is_empty() || wanted.len() > old.len() {
        return Ok(None);
    }
    if old.len().saturating_mul(wanted.len()) > LINES_COMPARED_MAX {
        return Err("is not at its line number, and the file is too long to look elsewhere");
    }
    let mut places = (from..=old.len() - wanted.len()).filter(|at| fits(*at));
    match (places.next(), places.next()) {
        (Some(_), Some(_)) => {
            Err("fits in several places and not at its line number; give more lines around it")
        }
        (found, _) => Ok(found),
    }
}

fn misfit(old: &[&[u8]], wanted: &[Vec<u8>]) -> &'static str {
    let there: BTreeSet<&[u8]> = old.iter().map(|line| line.trim_ascii_end()).collect();
    let alike = wanted.iter().all(|want| there.contains(want.trim_ascii_end()));
    if wanted.is_empty() {
        "adds lines behind the end of the file; read the file again"
    } else if alike {
        "differs from the file in spaces, line ends or order; read the file again and copy its lines exactly"
    } else {
        "names lines that are not in the file; read the file again"
    }
}

fn refused(shown: &str, at: usize, hunk: &Hunk, why: &str) -> ToolFailure {
    ToolFailure::Patch(format!("hunk {} of `{shown}` (line {}) {why}", at + 1, hunk.old_from))
}

impl Hunk {
    /// Returns the lines that have to be there, with their ends.
    fn old_lines(&self) -> Vec<Vec<u8>> {
        let mut lines: Vec<Vec<u8>> = self
            .lines
            .iter()
            .filter_map(|line| match line {
                HunkLine::Kept(text) | HunkLine::Removed(text) => Some(format!("{text}\n").into_bytes()),
                HunkLine::Added(_) => None,
            })
            .collect();
        if self.old_ends_open
            && let Some(last) = lines.last_mut()
        {
            last.pop();
        }
        lines
    }

    /// Writes the new lines; those that are kept come from the file.
    fn write_new(&self, there: &[&[u8]], made: &mut Vec<u8>) {
        let mut there = there.iter();
        let last = self.lines.iter().rposition(|line| !matches!(line, HunkLine::Removed(_)));
        for (at, line) in self.lines.iter().enumerate() {
            let text = match line {
                HunkLine::Removed(_) => {
                    there.next();
                    continue;
                }
                HunkLine::Kept(text) => {
                    there.next();
                    text
                }
                HunkLine::Added(text) => text,
            };
            made.extend_from_slice(text.as_bytes());
            if !(self.new_ends_open && Some(at) == last) {
                made.push(b'\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::read_patch;
    use super::*;

    fn patched(old: &str, hunks: &str) -> String {
        let patch = format!("--- a/f\n+++ b/f\n{hunks}");
        let files = read_patch(&patch).unwrap();
        match apply(old.as_bytes(), &files[0].hunks, "f") {
            Ok(made) => String::from_utf8(made).unwrap(),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn hunks_are_applied_where_their_lines_are() {
        assert_eq!(patched("1\n2\n3\n", "@@ -2 +2 @@\n-2\n+two\n"), "1\ntwo\n3\n");
        assert_eq!(patched("1\n2\n3\n", "@@ -2,0 +3 @@\n+new\n"), "1\n2\nnew\n3\n");
        assert_eq!(patched("", "@@ -0,0 +1,2 @@\n+a\n+b\n"), "a\nb\n");
        assert_eq!(patched("a\n", "@@ -1 +0,0 @@\n-a\n"), "");
        assert_eq!(
            patched("1\n2\n3\n4\n", "@@ -1,2 +1,3 @@\n 1\n+x\n 2\n@@ -4 +5 @@\n-4\n+y\n"),
            "1\nx\n2\n3\ny\n"
        );
    }

    #[test]
    fn a_wrong_line_number_does_no_harm_where_the_place_is_clear() {
        assert_eq!(patched("a\nb\nc\n", "@@ -90 +90 @@\n-b\n+B\n"), "a\nB\nc\n");
        assert_eq!(patched("0\na\nb\n0\na\nc\n", "@@ -1,2 +1,2 @@\n a\n-c\n+C\n"), "0\na\nb\n0\na\nC\n");
        assert_eq!(patched("x\ny\nx\ny\n", "@@ -3 +3 @@\n-x\n+z\n"), "x\ny\nz\ny\n");
        let told = patched("x\ny\nx\ny\n", "@@ -2 +2 @@\n-x\n+z\n");
        assert!(told.contains("fits in several places"), "{told}");
    }

    #[test]
    fn a_hunk_that_does_not_fit_says_why() {
        assert!(patched("a\n", "@@ -1 +1 @@\n-b\n+c\n").contains("names lines that are not in the file"));
        assert!(patched("a \n", "@@ -1 +1 @@\n-a\n+c\n").contains("differs from the file in spaces"));
        assert!(patched("a\r\n", "@@ -1 +1 @@\n-a\n+c\n").contains("line ends"));
        assert!(patched("a\n", "@@ -9,0 +9 @@\n+c\n").contains("behind the end"));
    }

    #[test]
    fn the_end_of_the_last_line_is_part_of_the_patch() {
        let open = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
        assert_eq!(patched("a", open), "b\n");
        assert!(patched("a\n", open).contains("line ends"));
        assert_eq!(patched("a\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"), "b");
        let both = "@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n";
        assert_eq!(patched("a\nc", both), "b\nc");
        let inside = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
        assert!(patched("a\nc\n", inside).contains("leaves the last line open, and more follow"));
    }
}
