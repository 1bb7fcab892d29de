//! What running tools print, in lines.
//!
//! Owns the lines that are not complete yet, and how a line that was overwritten reads. Pure: knows no terminal.

use std::collections::BTreeMap;

use palyra_wire::v1;

/// A line that is longer is shown in parts.
const LINE_BYTES_MAX: usize = 2_048;

/// Said where no more of a call is shown while it runs.
const NOT_SHOWN: &str = "(what else it prints is only in its outcome)";

/// Lines of calls that still run.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrintedLines {
    open: BTreeMap<u32, String>,
}

impl PrintedLines {
    /// Takes what a call printed next; returns the lines that are complete.
    pub(crate) fn take(&mut self, output: &v1::ToolOutput) -> Vec<String> {
        let open = self.open.entry(output.effect_id).or_default();
        open.push_str(&output.text);
        let mut lines = Vec::new();
        while let Some((line, rest)) = next_line(open) {
            lines.push(line);
            *open = rest;
        }
        if output.rest() == v1::OutputRest::InOutcome {
            lines.extend(self.end(output.effect_id));
            lines.push(NOT_SHOWN.to_owned());
        }
        lines
    }

    /// Ends a call; returns the line that it left open.
    pub(crate) fn end(&mut self, effect: u32) -> Option<String> {
        self.open.remove(&effect).filter(|open| !open.is_empty()).map(|open| as_seen(&open))
    }
}

fn next_line(open: &str) -> Option<(String, String)> {
    if let Some((line, rest)) = open.split_once('\n') {
        return Some((as_seen(line), rest.to_owned()));
    }
    let (part, rest) = open.split_at_checked(open.floor_char_boundary(LINE_BYTES_MAX))?;
    (open.len() > LINE_BYTES_MAX).then(|| (as_seen(part), rest.to_owned()))
}

/// Returns what is seen of a line that a carriage return began again, such as a progress bar.
fn as_seen(line: &str) -> String {
    let mut written = line.split('\r').rev();
    written.find(|part| !part.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(effect_id: u32, text: &str) -> v1::ToolOutput {
        v1::ToolOutput {
            effect_id,
            text: text.to_owned(),
            rest: v1::OutputRest::Follows.into(),
            ..Default::default()
        }
    }

    #[test]
    fn lines_are_whole_wherever_the_pieces_are_cut() {
        let text = "one\n  two\n\n10%\r50%\r100%\r\nlast ü";
        let whole = ["one", "  two", "", "100%", "last ü"].map(str::to_owned);
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let mut lines = PrintedLines::default();
            let mut seen = lines.take(&output(1, &text[..at]));
            seen.extend(lines.take(&output(1, &text[at..])));
            seen.extend(lines.end(1));
            assert_eq!(seen, whole, "cut at {at}");
        }
    }

    #[test]
    fn each_call_has_its_own_line_and_a_long_one_is_shown_in_parts() {
        let mut lines = PrintedLines::default();
        assert_eq!(lines.take(&output(1, "of the ")), [""; 0]);
        assert_eq!(lines.take(&output(2, "other\n")), ["other"]);
        assert_eq!(lines.take(&output(1, "first\n")), ["of the first"]);
        assert_eq!((lines.end(1), lines.end(2)), (None, None));
        let long = lines.take(&output(1, &"ä".repeat(3_000)));
        assert_eq!(long.iter().map(String::len).collect::<Vec<_>>(), [LINE_BYTES_MAX; 2]);
        assert_eq!(lines.end(1).map(|line| line.len()), Some(6_000 - 2 * LINE_BYTES_MAX));
    }

    #[test]
    fn the_end_of_what_is_shown_is_said() {
        let mut lines = PrintedLines::default();
        let last = v1::ToolOutput { rest: v1::OutputRest::InOutcome.into(), ..output(1, "cut o") };
        assert_eq!(lines.take(&last), ["cut o", NOT_SHOWN]);
        assert_eq!(lines.end(1), None);
    }
}
