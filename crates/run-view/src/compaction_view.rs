//! Summaries of older runs, in lines.

use palyra_screen_text::{bytes, clean_line, count, short_id};
use palyra_wire::v1;

/// Characters of a line of a summary that are shown, at most.
const LINE_CHARS_MAX: usize = 1_000;

/// Returns what became of a session, in one line: where its history begins now.
#[must_use]
pub fn compaction_note(made: &v1::Compaction) -> String {
    let runs = count(made.runs.into(), "run");
    let last = short_id(&made.last_run_id);
    if made.reverted.is_some() {
        return format!("the summary of {runs} is taken back; they are read again from the next input on");
    }
    let sizes = format!("{} instead of {}", bytes(made.summary_bytes), bytes(made.source_bytes));
    let author = match (made.author(), made.refused.as_str()) {
        (v1::SummaryAuthor::Model, _) => format!("by {}", clean_line(&made.model, 100)),
        (_, "") => "by rule".to_owned(),
        (_, why) => format!("by rule, because {} and was not used", clean_line(why, 200)),
    };
    format!(
        "{runs} up to {last} are summed up, {sizes}, {author}; the next input is answered with the summary"
    )
}

/// Returns the lines of a summary, under one that says what it is.
pub fn compaction_lines(made: &v1::Compaction) -> impl Iterator<Item = String> {
    let standing = if made.in_force {
        "in force"
    } else if made.reverted.is_some() {
        "taken back"
    } else if made.summary.is_empty() {
        "erased"
    } else {
        "replaced"
    };
    let author = if made.author() == v1::SummaryAuthor::Model { made.model.as_str() } else { "rule" };
    let title = format!(
        "{}  {standing}  {} up to {}  {} of {}  {}",
        made.compaction,
        count(made.runs.into(), "run"),
        short_id(&made.last_run_id),
        bytes(made.summary_bytes),
        bytes(made.source_bytes),
        clean_line(author, 100),
    );
    let text: Vec<String> =
        made.summary.lines().map(|line| format!("  {}", clean_line(line, LINE_CHARS_MAX))).collect();
    std::iter::once(title).chain(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_says_where_it_ends_who_wrote_it_and_whether_it_is_read() {
        let made = v1::Compaction {
            compaction: 41,
            last_run_id: "01KB0000000000000000007XQ2".to_owned(),
            runs: 12,
            author: v1::SummaryAuthor::Fallback.into(),
            refused: "the model's summary is too long".to_owned(),
            source_bytes: 40_000,
            summary_bytes: 1_000,
            summary: "Done:\n- a\u{1b}[31m\n".to_owned(),
            in_force: true,
            ..Default::default()
        };
        let note = compaction_note(&made);
        assert!(
            note.starts_with("12 runs up to ")
                && note.contains("by rule, because the model's summary is too long and was not used"),
            "{note}"
        );
        let lines: Vec<String> = compaction_lines(&made).collect();
        assert!(lines[0].starts_with("41  in force  12 runs up to "), "{lines:?}");
        assert_eq!(lines[1], "  Done:");
        assert!(!lines[2].contains('\u{1b}'), "{lines:?}");
        let reverted = v1::Compaction { reverted: Some(Default::default()), in_force: false, ..made };
        assert!(compaction_note(&reverted).contains("taken back"));
    }
}
