//! What was found, as a table and as JSON.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// One class on one kind of logs, as the example `tamper` prints it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TamperRow {
    pub(super) logs: String,
    pub(super) class: String,
    /// What has to be said.
    pub(super) answer: String,
    pub(super) tried: u64,
    pub(super) wrong: u64,
    /// Files that verified, as they should.
    pub(super) silent: u64,
    /// The first wrong answers.
    pub(super) told: Vec<String>,
    pub(super) millis: u64,
}

/// Returns the rows as a Markdown table.
pub(super) fn markdown(rows: &[TamperRow]) -> String {
    let mut text =
        String::from("| broken | answer demanded | logs | tried | wrong |\n|---|---|---|--:|--:|\n");
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            row.class, row.answer, row.logs, row.tried, row.wrong
        );
    }
    text
}

/// Returns the rows for a terminal, with wrong answers below.
pub(super) fn text(rows: &[TamperRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let TamperRow { logs, class, answer, tried, wrong, .. } = row;
        let _ = writeln!(text, "{tried:>6} {wrong:>4} wrong  {class} ({logs}): {answer}");
        for told in &row.told {
            let _ = writeln!(text, "               {told}");
        }
    }
    text
}

/// Returns everything as one object.
pub(super) fn json(rows: &[TamperRow], seconds: u64) -> String {
    serde_json::json!({ "rows": rows, "seconds": seconds }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_are_told() {
        let line = r#"{"logs":"l","class":"c","answer":"10","tried":5,"wrong":1,"silent":0,"told":["w"],"millis":3}"#;
        let rows: Vec<TamperRow> = vec![serde_json::from_str(line).expect("as the example prints it")];
        assert!(text(&rows).contains("1 wrong  c (l): 10\n               w\n"));
        assert!(markdown(&rows).ends_with("| c | 10 | l | 5 | 1 |\n"));
    }
}
